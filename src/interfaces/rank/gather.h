/*
 * `dwell run --gather FOLDER`: the trace is recorded on a local disk and moved to a folder that other machines see.
 *
 *     begin     makes the folder if there is none, and reserves the trace's name in the folder, by a file NAME.where that says
 *               where the trace is
 *     during    each summary is copied there, and `dwell capture` asks there
 *     end       trace, summary and the traces of slow steps are moved there, and NAME.where is removed
 *
 * No file of the folder is replaced except the own summary: if the name is taken, it becomes NAME-2. A file is copied
 * under another name, forced to the disk and renamed, and only then the local one is removed. What cannot be moved
 * stays where it is, and is named.
 */
#pragma once

#include <stdbool.h>

/* `folder` NULL: nothing is gathered, and the functions below do nothing. */
/* False after a message: nothing can be written there, and the program should not start. */
bool dw_gather_begin(const char *folder, const char *trace);
/* Where the trace will be, or NULL. */
const char *dw_gather_place(void);
/* Copies the summary that is next to the trace. */
void dw_gather_summary(void);
/* Processes still record to the trace, which must stay where it is. */
void dw_gather_hold(void);
/* At the end of the run. `trace` (4096 bytes) is the trace's path, or "" if there is none; it becomes the new one. */
void dw_gather_end(char *trace);
