/*
 * The account of processor time: of each process and kind of thread, what the kernel counted and for how much of it samples
 * stand.
 *
 * Samples are counted: n threads differ from the kernel's count by chance. A process has a finding only if more of its
 * time is missing than that explains, and than is worth a word.
 */
#pragma once

#include "model/core/model.h"

/* Why time stands in no sample. X(name, the word in data, the clause in a sentence) */
#define DW_CPU_WHYS(X)                                                                                              \
	X(NONE, "", "")                                                                                                   \
	X(NO_SAMPLES, "no samples", "the process has no samples, and it is not known why")                                \
	X(LACKS, "not sampled", "")                                                                                       \
	X(SHORT_THREADS, "short threads", "threads that used the CPU for less than the period of samples")                \
	X(OTHER_THREADS, "other threads", "threads that the sampler does not know, as those of clone()")                  \
	X(KILLED, "killed", "the process was killed: it is not known which of its threads used this")                      \
	X(BLOCKED, "signal blocked", "threads that blocked the signal of samples") \
	X(STOPPED, "samples ended", "samples ended before their threads did, and it is not known why")                    \
	X(LOST, "records lost", "records of samples were lost")                                                           \
	X(LATE, "timers late", "samples were fewer than the CPU time, as where timers are late or samples would cost too much")

enum dw_cpu_why {
#define X(name, word, clause) DW_CPU_##name,
	DW_CPU_WHYS(X)
#undef X
	DW_CPU_WHY_COUNT
};

/* Threads of a process that have a name in common. */
struct dw_cpu_row {
	uint32_t process;
	const char *threads;  /* "main thread", "worker", "threads that are not in the trace" */
	uint64_t count;       /* of these threads; 0: not known */
	uint64_t kernel_ns;   /* CPU time by the kernel's account, as far as it is known */
	uint64_t sampled_ns;  /* for which their samples stand */
	uint64_t ranges_ns;   /* in a process without samples: wall time in ranges */
	uint64_t missing_ns;  /* of kernel_ns: what no sample stands for; 0: nothing, or chance explains it */
	enum dw_cpu_why why;
	const char *lacks;    /* the reason that the trace has (DW_CPU_LACKS), or NULL */
};

struct dw_cpu_account {
	struct dw_cpu_row *rows; /* by process, then missing time, descending */
	size_t count;
	uint64_t kernel_ns, sampled_ns, missing_ns; /* sums of all rows */
	uint64_t unknown_ns;  /* the part of missing_ns whose cause is not known */
	size_t open;          /* processes that were sampled and whose end is not in the trace: known up to the last sample */
	uint64_t period_ns;   /* of the first process */
};

/* Of the whole run, whatever the model's scope. NULL with `error`: out of memory. */
const struct dw_cpu_account *dw_model_cpu_account(struct dw_model *model, struct dwell_error *error);
/* "short threads"; the clause for people. */
const char *dw_cpu_why_word(enum dw_cpu_why why);
const char *dw_cpu_why_clause(const struct dw_cpu_row *row);
