/*
 * A process beside `dwell run` that learns what signals alone do not say.
 *
 * It is in the process group of `dwell run`, and all signals are blocked in it. A signal that somebody sends to the whole
 * group is pending in it too: then the program has received it, and it must not be passed on, or the program would be
 * interrupted twice. And SIGSTOP, which stops `dwell run` before it can do anything, is seen from outside: the witness stops
 * the program. It continues `dwell run` if the program alone was continued. It ends with `dwell run`, and has none of its
 * files. Not thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* Starts it. To be called when the program has been started, so that the program is the first child process. Without a
 * further process, signals are passed on that the program got already. */
void dw_witness_begin(pid_t program);
/* Whether a signal that this process received was sent to the process group: 1 or 0, -1 if that is not known. To be asked of
 * each one that is received. */
int dw_witness_saw(int signal);
/* Whether the sender of a signal is the witness: it continues this process when the program was continued. */
bool dw_witness_sent(pid_t sender);
void dw_witness_end(void);
