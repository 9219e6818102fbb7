/* What `dwell run` stores in the trace about the machine and the program. Not thread-safe. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* The machine, and what a range costs on it. */
void dw_run_note_machine(void);
/* The peaks that FLOPs and bytes are compared with. */
void dw_run_note_peaks(void);
/* Lets the program's threads read the processor's counters, if the kernel permits it. */
void dw_run_allow_counters(void);
/* Says how stacks are sampled. Without the permission the program's sampler uses timers. */
void dw_run_note_perf(void);
/* How the program ended, by its status of waitpid(). */
void dw_run_note_status(int status, pid_t program);
/* Before and after: whether the kernel killed the program because memory ran out. */
void dw_run_note_kills_before(void);
void dw_run_note_kills(int status);
/* How long the program's main thread was ready to run and had no core. Without it a busy machine looks like a program that
 * waits. To be called after the program ended and before it is reaped. */
void dw_run_note_delay(pid_t program);
/* How long the program ran: it may have recorded little of it. */
void dw_run_note_wall(uint64_t wall_ns);
