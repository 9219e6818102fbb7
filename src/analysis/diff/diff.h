/*
 * Comparison of runs: did a change make a program faster or slower, and where?
 *
 * The sampling unit is the run. Steps of one run share its memory layout, its CPUs and the state of
 * the machine, so they do not say how much two runs of one program differ. With one run a side the
 * answer is only by how much these two runs differ. With several, Welch's interval of the
 * difference of the means is computed from the runs, and the verdict follows from it.
 *
 * What is compared is the time per step as all reports have it: the time of the loops divided by the number of
 * steps (struct dw_loop_parts). So steps times it are the loops, with warm-up, slow steps and what lies between
 * steps. Its parts are exclusive, so the differences of the parts sum to the difference of the whole. A run without
 * steps is one step: its wall time.
 *
 * On a machine that others use too, runs of one program differ more than most changes do. A second
 * quantity is steadier: the fast step of a run, and of the runs the least disturbed ones. It does
 * not see a change of rare steps, of waits that are sometimes short, or of the time outside the steps,
 * so it decides only if the caller asks for it, or if other programs had the CPUs, the time per step shows no
 * difference and the fast steps do. Of runs without steps in which one thread works, the CPU time does the same.
 */
#pragma once

#include "base/text.h"
#include "facts/facts.h"
#include "table/table.h"

enum { DW_DIFF_BEFORE, DW_DIFF_AFTER, DW_DIFF_SIDES };

/* Why runs may not be comparable. */
#define DW_DIFF_REASONS(X)                                                                \
	X(MACHINE, "machine")       /* processor, number of CPUs */                       \
	X(VERSIONS, "versions")     /* PyTorch, kernel */                                 \
	X(RANKS, "ranks")           /* processes and threads with steps */                \
	X(BATCH, "batch")           /* bytes of inputs at the peak of memory */           \
	X(SHAPES, "shapes")         /* arithmetic operations of a step */                 \
	X(RECORDING, "recording")   /* functions, shapes: recording them takes time */    \
	X(CONTENTION, "contention") /* waits for a CPU can explain the result */
enum dw_diff_reason {
#define X(name, label) DW_DIFF_##name,
	DW_DIFF_REASONS(X)
#undef X
	DW_DIFF_REASON_COUNT
};
const char *dw_diff_reason_name(enum dw_diff_reason reason);

/* A part of the time per step, or an operator. */
struct dw_diff_part {
	const char *name;
	double ns;
	double calls;            /* per step; operators only */
	double error_ns;         /* half of the 95% interval of one run; functions only */
};

#define DW_DIFF_NO_RANGE "in no range" /* name of a fast step's time in no range */

struct dw_diff_run {
	const char *path;
	double pace_ns;          /* step_ns + outside_ns */
	double step_ns;          /* the mean step */
	double outside_ns;       /* between the steps, per step */
	double fast_ns;          /* the fast step: model/steps/fast_step.h */
	double warm_up_ns;       /* what first steps take beyond usual ones, per step */
	double cpu_ns;           /* of all processes of the run; NaN: not known */
	size_t steps;            /* steps of all loops */
	struct dw_diff_part *parts; /* sum to pace_ns */
	size_t part_count;
	struct dw_diff_part *operators; /* self time of the loop's thread per step, descending */
	size_t operator_count;
	struct dw_diff_part *sampled; /* without steps: functions by CPU time, descending; a function is as a name */
	size_t sampled_count;
	struct dw_diff_part *fast; /* self time in the fast step, by name; sums to fast_ns unless names are very many */
	size_t fast_count;
	/* What makes runs comparable; NULL or NaN: not known. */
	const char *machine, *versions;
	double ranks, loops, input_bytes, activation_bytes, flops;
	double delay;          /* share of pace_ns for which the thread waited for a CPU */
	double others, stolen; /* facts cpu.others, cpu.stolen */
	bool functions, shapes;
};

struct dw_diff_side {
	struct dw_diff_run *runs;
	size_t count, capacity;
};

/* Means of both sides and their difference, in the unit of the values. */
struct dw_diff_estimate {
	double before, after, difference;
	double low, high;        /* 95% interval of the difference; NaN: one run a side */
	double detectable;       /* a difference of this size is found with 95% probability; or NaN */
};

enum dw_diff_verdict {
	DW_DIFF_TWO_RUNS, /* one run a side: only their difference is known */
	DW_DIFF_FASTER,
	DW_DIFF_SLOWER,
	DW_DIFF_NONE,       /* no difference at this sample, and the interval excludes a large one */
	DW_DIFF_NOT_PROVEN, /* the interval holds both none and a large one */
	DW_DIFF_NOT_COMPARABLE,
};

/* What decides. */
#define DW_DIFF_BYS(X) \
	X(PACE, "time per step") \
	X(FAST, "fast steps") \
	X(CPU, "processor time")
enum dw_diff_by {
#define X(name, label) DW_DIFF_BY_##name,
	DW_DIFF_BYS(X)
#undef X
};

struct dw_diff_row {
	const char *name;
	struct dw_diff_estimate time;
	double calls[DW_DIFF_SIDES]; /* per step, means of the runs */
};

struct dw_diff {
	struct dw_diff_side sides[DW_DIFF_SIDES];
	enum dw_iteration_kind iterations; /* what a step is, in all runs */
	unsigned accepted;       /* bits of reasons that do not matter to the caller */
	enum dw_diff_by by;      /* whose verdict it is: the caller may ask for that of the fast steps */
	bool asks_slower;        /* the question is whether the runs after are slower by `asked` (a ratio) or more; */
	double asked;            /* otherwise it is whether the runs differ */
	/* set by dw_diff_compare(): */
	enum dw_diff_verdict verdict;
	bool shared;                  /* other programs had much of the machine's CPUs */
	bool chosen;                  /* nobody asked for `by`: the time per step cannot tell, and it does */
	double warm_up;               /* of the difference: what first steps take beyond usual ones */
	struct dw_diff_estimate pace; /* `low` and `high` hold with and without the waits for a CPU */
	double contention;       /* what these waits are of the difference at most, in ns; NaN: not known */
	struct dw_diff_estimate fast; /* fast steps of the least disturbed runs; dw_diff_estimate_lowest() */
	struct dw_diff_estimate cpu;  /* CPU time of a run; NaN: not known */
	struct dw_diff_estimate ran; /* the same without the steps' waits for a CPU; NaN: not known */
	const char *reasons[DW_DIFF_REASON_COUNT]; /* "2 CPUs before, 4 CPUs after", or NULL */
	const char *waived[DW_DIFF_REASON_COUNT];  /* the same of those that are accepted */
	/* By size of the difference, descending. sampled_rows: functions, without steps. */
	struct dw_diff_row *parts, *operators, *sampled_rows;
	size_t part_count, operator_count, sampled_count;
	/* If the fast steps decide: the fast step by name, likewise; the last row is what the others do not have, without
	 * an interval. NULL: the runs are too few. */
	struct dw_diff_row *fast_rows;
	size_t fast_count;
	struct dw_diff_paths *paths; /* of dw_diff_add_paths(); NULL: none */
	struct dw_diff_settings *settings; /* of dw_diff_add_environment(); NULL: none */
	struct dw_arena arena;
};

/* Adds the run of a model to a side. Texts are copied, so that the trace may be closed. An error if
 * the run has no steady steps. */
int dw_diff_add(struct dw_diff *diff, unsigned side, const char *path, struct dw_model *model,
                struct dwell_error *error);
/* Adds the call paths of a run for the flame graph. Call it after dw_diff_add(), for each run or for
 * none. */
int dw_diff_add_paths(struct dw_diff *diff, unsigned side, struct dw_model *model, struct dwell_error *error);
/* Adds what a run says about where it ran, for dw_diff_environment_table(). */
int dw_diff_add_environment(struct dw_diff *diff, unsigned side, struct dw_model *model, struct dwell_error *error);
/* Compares the sides; each has at least one run. False: out of memory. */
bool dw_diff_compare(struct dw_diff *diff);
/* The estimate that decides. */
const struct dw_diff_estimate *dw_diff_deciding(const struct dw_diff *diff);
/* "step", or "run" of runs without steps. */
const char *dw_diff_unit(const struct dw_diff *diff);
/* "Faster", "No difference at this sample": how a sentence begins. */
const char *dw_diff_verdict_words(const struct dw_diff *diff);
void dw_diff_reset(struct dw_diff *diff);
/* The answer as tables: verdict, parts, operators, runs. The caller destroys them. NULL: out of
 * memory. */
struct dwell_table *dw_diff_table(const struct dw_diff *diff);

/* What the page has besides (page/comparison.h). The caller destroys them. NULL: out of memory. */
/* Of each reason for not comparing: whether it holds, and what was found. comparable.c */
struct dwell_table *dw_diff_comparable_table(const struct dw_diff *diff);
/* Self time, time and calls by name, on all threads; a table for each category. names.c */
struct dwell_table *dw_diff_names_table(const struct dw_diff *diff);
/* Where the runs of both sides ran, and what differs. environment.c */
struct dwell_table *dw_diff_environment_table(const struct dw_diff *diff);
void dw_diff_reset_settings(struct dw_diff_settings *settings);

/* ---- paths.c ----------------------------------------------------------------------------------- */

#define DW_DIFF_CLASSES 4 /* of slower, and of faster: quarters of the largest change */
void dw_diff_reset_paths(struct dw_diff_paths *paths);

/* ---- statistics.c ------------------------------------------------------------------------------ */

/* Welch's interval of the difference of two means. A side with one value is assumed to vary as the
 * other side does. No time becomes shorter by more than all of it, so no end is below that. */
struct dw_diff_estimate dw_diff_estimate(const double *before, size_t before_count,
                                         const double *after, size_t after_count);
/* Compares the mean of the lowest quarter of the values of each side (of their logarithms), and if `interval`,
 * adds an interval by permutations (permutation.c); `detectable` is NaN, and so is the interval where
 * dw_diff_can_permute() is false. False: out of memory. */
bool dw_diff_estimate_lowest(const double *before, size_t before_count, const double *after,
                             size_t after_count, bool interval, struct dw_diff_estimate *estimate);
/* Whether so many runs a side can be divided in enough ways for a 95% interval: 4 and 4, or more. */
bool dw_diff_can_permute(size_t before_count, size_t after_count);
/* The value that Student's t with `freedom` degrees exceeds with probability `tail`, which is below
 * a half. */
double dw_diff_student(double tail, double freedom);
