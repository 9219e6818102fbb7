/*
 * What a thread with steps used, by the kernel's account: CPU time, time without a CPU, context
 * switches, page faults, and the processor's counters with --counters. And what the processors of the whole machine did
 * in that time.
 *
 * The recorder reads these at the begin and the end of steps, at most every 10 ms (USAGE entries in
 * doc/reference/format.md). So a long step has a reading of its own, and short steps share one. Each step gets
 * its part of a reading by time.
 */
#pragma once

#include "model/core/model.h"

struct dw_usage_of {
	double known;              /* part of the time that readings cover, 0 to 1; the rest of this is of
	                            * that part only */
	bool delay_known;          /* the kernel counts the time without a CPU */
	size_t reading;            /* index of the source's usage that covers most of it; short steps share one */
	double wall_ns;            /* of the covered time */
	double cpu_ns;             /* the thread ran */
	double delay_ns;           /* the thread was ready to run and had no CPU */
	double system_ns;          /* of cpu_ns, in the kernel; 0: not known */
	double process_cpu_ns;     /* all threads of the process ran; may exceed wall_ns */
	double waits, preemptions; /* voluntary and involuntary context switches of the thread */
	double minor_faults, major_faults;
	double counted_ns;                         /* the part of wall_ns in which the processor's counters were read */
	double cycles, instructions, cache_misses; /* of the thread in user space, in that part */
};

/* The index of the first reading of the thread that ends after `ticks`. Those of a thread follow each other. */
size_t dw_usage_first(const struct dw_source *source, uint32_t thread, uint64_t ticks);

/* What a thread used from start_ticks to end_ticks of its file's clock. `thread` is an index into
 * the source's threads. `known` is 0 if nothing was read. */
struct dw_usage_of dw_usage_between(const struct dw_model *model, uint32_t thread, uint64_t start_ticks,
                                    uint64_t end_ticks);

#define DW_USAGE_TEAM 0.1 /* CPUs: if the other threads of the process use so much, they work, too */

/* Whether the other threads of the process used almost no CPU, as far as it is known. */
bool dw_usage_is_alone(const struct dw_usage_of *usage);
/* Short steps share a reading. If the other threads used almost no CPU, the CPU time of the process, which is exact for
 * a step of a length, is the thread's: sets it, and its part of the time without a CPU. False: it is not known. */
bool dw_usage_take_cpu(struct dw_usage_of *usage, uint64_t cpu_ns, uint64_t length_ns);

/* What the machine's processors did from start_ns to end_ns of the run's time line. */
struct dw_machine_of {
	double known;     /* part of the time that readings cover, 0 to 1 */
	double wall_ns;   /* of the covered time; the machine had host.cpus times as much to give */
	double own_ns;    /* for the program that `dwell run` started, with its child processes */
	double others_ns; /* for all other programs */
	double stolen_ns; /* in which they had work and the hypervisor ran other virtual machines on them */
	bool knows_stolen;
	/* How often the program's main thread was looked up, and was blocked by a lock, by a file, a
	 * pipe or a socket, or slept. */
	double looks, at_lock, at_file, asleep;
	double blocked; /* looks in which something blocked it; 0 if an older version looked */
	/* How often the program's threads were counted that ran or waited for a CPU; the sum of 1 - c / n over these,
	 * with n threads, if these are more than the c CPUs that the program may use. */
	double crowd_looks, crowded;
	uint64_t program; /* its process id; 0: not known */
};
struct dw_machine_of dw_machine_between(const struct dw_model *model, uint64_t start_ns, uint64_t end_ns);
/* Whether readings cover most of a time: `known` is the part that they cover. */
static inline bool dw_usage_is_known(double known)
{
	return known > 0.5;
}

/* Wall time of a CPU for a ns for which a thread runs: more than 1 if a hypervisor took some. */
double dw_machine_per_cpu(const struct dw_machine_of *machine);

/* Whether a process is a fork of its parent that runs the same program, as those of a pool. */
bool dw_process_is_fork(const struct dw_source *source, uint32_t process);
/* The CPU time of a process at its end, by the kernel's account. 0: not known. */
double dw_process_cpu_ns(const struct dw_source *source, uint32_t process);
/* How many CPUs the program might use; 0: not known. */
long dw_machine_cpus(const struct dw_source *source);
