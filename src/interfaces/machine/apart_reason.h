/* Why a process that runs below `dwell run` is not recorded, as /proc shows it. Not thread-safe. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#define DW_APART_REASON_BYTES 256

/* Writes the reason and what to do, or "" if a recorder is in the process: it records, or has not begun to. False: the process
 * ended meanwhile. */
bool dw_apart_reason(pid_t pid, char reason[DW_APART_REASON_BYTES]);

/* Writes the name of the process's program. False: the process ended meanwhile. */
bool dw_apart_name(pid_t pid, char *name, size_t size);
