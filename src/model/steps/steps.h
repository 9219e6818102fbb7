/*
 * Steps: each with its breakdown, and the time outside them.
 */
#ifndef DW_MODEL_STEPS_STEPS_H
#define DW_MODEL_STEPS_STEPS_H

#include "model/core/model.h"
#include "model/core/share_names.h"

/* Time under a name of the program's own. */
struct dw_step_part {
	uint32_t symbol;
	uint64_t ns;
};

struct dw_step {
	uint32_t thread;           /* index into source threads */
	uint64_t number;
	uint64_t start_ns, end_ns;
	uint64_t cpu_ns;
	bool open;                 /* it did not end: not in the percentiles */
	bool recorded;             /* its gate was open; else all of it is OTHER */
	bool whole;                /* no records of its process are missing in it */
	bool counted;              /* it is part of figures a step: recorded, whole and ended */
	uint64_t share_ns[DW_SHARE_COUNT]; /* sums to end_ns - start_ns exactly */
	const struct dw_step_part *parts;  /* sum to share_ns[DW_SHARE_NAMED] exactly */
	uint32_t part_count;
	/* what took longest beyond its median over all steps, for "why was it slow" */
	uint32_t slow_symbol;      /* DW_NO_INDEX: nothing stands out */
	uint64_t slow_extra_ns;
};

/* The name among dw_steps.besides of steps that the trace has as sums only. */
#define DW_STEPS_SUMMED "summarised steps"

struct dw_beside {             /* time of the step thread outside steps, named */
	const char *name;          /* "start-up", "evaluation", "checkpoint", "data", "other", "after the last step" */
	uint64_t ns;
	uint64_t count;
};

struct dw_steps {
	struct dw_step *steps;     /* of the step threads, by process, thread and start */
	size_t count;
	size_t open_count;         /* of `count`, those that did not end */
	struct dw_beside *besides;
	size_t beside_count;
	/* Over the counted steps; where none ended, those that did not count too. */
	uint64_t share_ns[DW_SHARE_COUNT];
	struct dw_step_part *parts;        /* of share_ns[DW_SHARE_NAMED], descending */
	size_t part_count;
	uint64_t recorded_ns;              /* what share_ns sums to */
	size_t recorded_count;
	uint64_t helped_ns;        /* of all steps: backward waited for operators of other threads */
	bool *counted;             /* by step of the source */
	size_t cut_count;          /* recorded steps in which records are missing */
	uint64_t steps_ns, wall_ns;        /* steps + besides = wall of the step threads; with a
	                                    * scope of steps there are no besides */
	uint64_t missing_ns;       /* of the wall: not recorded, or records are missing */
	/* Of the steps that ended; of all when none did. */
	uint64_t ended_ns;
	size_t ended_count;
	uint64_t p50_ns, p95_ns, p99_ns, mean_ns;
	uint32_t *threads;         /* the step threads: the first one of a process has most steps */
	size_t thread_count, process_count;
	/* Steps that the trace has as sums only, because the part of the file that holds
	 * steps one by one was full: they are in none of the above. */
	uint64_t summed_count, summed_ns, summed_from; /* `summed_from`: number of the first */
};

const struct dw_steps *dw_model_steps(struct dw_model *model, struct dwell_error *error);

/* By process: the thread that has most steps of those in scope, or DW_NO_INDEX. NULL: out of
 * memory. */
const uint32_t *dw_model_step_threads(struct dw_model *model);

/* Share of the scope's time (of the step threads, else of all threads) that was recorded. */
double dw_model_coverage(struct dw_model *model);

#endif
