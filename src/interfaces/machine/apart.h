/*
 * Processes below `dwell run` that used CPU time and are not in the trace: they are seen from outside, and named with the
 * reason. A process that ends soon may be too short to be seen: what the kernel counts and nobody else is such processes'.
 * Not thread-safe: a thread looks while the program runs, and another one says it when that one has ended.
 */
#pragma once

#include "machine/processes.h"
#include "read/source.h"

/* To be called before the first look, if dwell's libraries are loaded into what the program starts. */
void dw_apart_begin(pid_t program);
/* Looks for them among the processes that run; one that has used little CPU time is not looked at. */
void dw_apart_look(const struct dw_processes *processes);
/* The program's first process has ended and is not reaped: its CPU time is looked at for the last time. */
void dw_apart_last_look(pid_t program);
/* Says which were seen, and stores it in the trace. `cpu_ns`: of all processes, by the kernel's account of the program;
 * `source`: the trace, or NULL. The program itself is left out if `named`: its reason has been said. */
void dw_apart_note(const struct dw_source *source, uint64_t cpu_ns, bool named);
