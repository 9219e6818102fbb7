/*
 * Watches the machine while a program runs under `dwell run`. It measures how much processor time
 * was used on the whole machine, and how much of it the program and its child processes used.
 *
 * A thread of `dwell run` reads this from /proc two to four times a second, and more rarely in long runs, and
 * writes it to the trace (USAGE entries without a thread, doc/reference/format.md). In between, it looks up
 * whether a lock, a file or a sleep blocks the program's main thread, and how many more threads of the
 * program want a CPU than it has CPUs. The program itself pays nothing. The functions below are called by the
 * thread that waits for the program.
 */
#pragma once

#include <sys/types.h>

#include "machine/processes.h"

/* Stores what the machine can do: the time of a page fault, and instructions for bfloat16. */
void dw_machine_note(void);
/* Starts the thread that watches. `program` is the pid of the program. The thread calls `look` with the program's processes
 * each time that it has read them. Does nothing if /proc cannot be read or no thread can be created. */
void dw_machine_watch(pid_t program, void (*look)(const struct dw_processes *processes));
/* Ends the thread; call it before the trace is finished. Does nothing if none was started. */
void dw_machine_end(void);
