/*
 * The processes of a program that runs: the one that `dwell run` started and its child processes, as /proc
 * shows them. Not thread-safe.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DW_PROCESSES_MOST 512u /* more processes are not read */

struct dw_processes {
	pid_t at[DW_PROCESSES_MOST]; /* parents before their children */
	uint64_t own_ns[DW_PROCESSES_MOST]; /* CPU time of each */
	uint64_t birth[DW_PROCESSES_MOST];  /* in ticks of the kernel since the machine started; 0: it has ended */
	size_t count;
};

/* Finds the processes and returns the sum of their CPU times, in ns, with those of child processes that have
 * ended. A kernel that does not list the children of a thread shows the program's first process only. */
uint64_t dw_processes_read(struct dw_processes *processes, pid_t program);
/* How many of their threads run or wait for a CPU at this moment. Threads that were started since the processes
 * were read count, processes do not. Lowers *cpus to the number of CPUs that these threads may use together: a program
 * may bind its threads to fewer than it was given. */
unsigned dw_processes_count_ready(const struct dw_processes *processes, unsigned *cpus);
