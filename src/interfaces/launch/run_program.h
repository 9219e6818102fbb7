/*
 * The program of `dwell run` as a child process that behaves as if it had been started alone: it inherits what `dwell run`
 * was started with, gets the signals that are sent to `dwell run`, is stopped and killed with it, and `dwell run` ends as it
 * ended. Not thread-safe.
 *
 * From dw_program_start() to dw_program_release() signals are blocked in the calling thread: none interrupts the end of the
 * trace. Threads that are started meanwhile block them too (base/system/background.h).
 */
#pragma once

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* To be called before anything else: remembers what the program inherits. Opens /dev/null at each of the descriptors 0, 1
 * and 2 that is closed, so that no file of this process gets its number, and messages in it. The program finds them closed. */
void dw_program_begin(void);

/* Starts a child process, in which `execute` executes the program and does not return. Returns its pid, or -1 after a
 * message. */
pid_t dw_program_start(const char *name, void (*execute)(const void *context), const void *context);

/* Waits until the program has ended, and meanwhile passes on signals and stops when it is stopped. `ended` is called before
 * the process is reaped. Returns its status as waitpid() does, and what it and the child processes that it waited for used;
 * -1 if it is not known how it ended. */
int dw_program_wait(pid_t program, void (*ended)(pid_t program), struct rusage *usage);

/* Whether a file was cut that this process had mapped, as the trace: what it read of it since was zeros. */
bool dw_program_saw_cut(void);

/* Drops the signals that came since the program's end, and lets further ones end this process. */
void dw_program_release(void);

/* The exit status that belongs to a status of waitpid(). If a signal ended the program, the same signal ends this process,
 * without a core, and the call does not return. */
int dw_program_end(int status);
