/*
 * Processes of a program into which no library of dwell can be loaded, as those that are linked statically: they are
 * seen from outside, and named.
 */
#ifndef DW_CLI_RUN_APART_H
#define DW_CLI_RUN_APART_H

#include "cli/processes.h"

/* Looks for them among the processes that run; one that has used little CPU time is not looked at. */
void dw_apart_look(const struct dw_processes *processes);
/* Says which were seen, and stores it in the trace. `program`, which `dwell run` started, has been named if it is one. */
void dw_apart_note(const char *program);

#endif
