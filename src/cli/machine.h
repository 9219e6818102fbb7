/*
 * Watches the machine while a program runs under `dwell run`: how much processor time everything on
 * the machine used, and how much of it the program with its child processes.
 *
 * A thread of `dwell run` reads this from /proc twice a second, and more rarely in long runs, and
 * writes it to the trace (USAGE entries without a thread, doc/format.md). The program itself pays
 * nothing. Both functions are called by the thread that waits for the program.
 */
#ifndef DW_CLI_MACHINE_H
#define DW_CLI_MACHINE_H

#include <sys/types.h>

/* Starts to watch. Does nothing if /proc cannot be read or no thread can be made. */
void dw_machine_watch(pid_t program);
/* Ends the thread; call it before the trace is finished. Does nothing if none was started. */
void dw_machine_end(void);

#endif
