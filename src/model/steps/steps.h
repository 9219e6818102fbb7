/*
 * Steps: each with its breakdown, and the time outside them.
 */
#pragma once

#include "model/core/model.h"
#include "model/core/share_names.h"
#include "model/steps/roles.h"

/* Time under a name that the program gave. */
struct dw_step_part {
	uint32_t symbol;
	uint64_t ns;
};

/* Phases that are also measured as a whole, from begin to end. */
enum dw_whole { DW_WHOLE_OPTIMIZER, DW_WHOLE_BACKWARD, DW_WHOLE_FORWARD, DW_WHOLE_COUNT };

struct dw_step {
	uint32_t thread; /* index into the source's threads */
	uint64_t number, start_ns, end_ns, cpu_ns;
	uint64_t next_ns;              /* where the thread's next step begins, in scope or not; 0: it has no later one */
	enum dw_iteration_class class; /* of the iteration that it begins */
	bool open;                     /* no end was recorded: not in the percentiles */
	bool recorded;                 /* its gate was open; otherwise all of its time is OTHER */
	bool reduced;                  /* not recorded are only its operators and layers */
	bool brief;                    /* with `reduced`: nor its phases */
	bool whole;                    /* no records of its process are missing in it */
	bool counted;                  /* included in the figures over steps: recorded, whole and ended;
	                                * if no step ended, recorded and whole */
	uint64_t share_ns[DW_SHARE_COUNT]; /* sums to end_ns - start_ns exactly */
	uint64_t before_ns;                /* communication between the step before it and this one */
	const struct dw_step_part *parts;  /* sum to share_ns[DW_SHARE_NAMED] exactly */
	uint32_t part_count;
	uint64_t whole_ns[DW_WHOLE_COUNT];      /* while such a phase is open, with all that is in it; of the optimizer,
	                                         * without forward and backward in its closure */
	uint64_t operator_ns;    /* in operators of the thread, outside data loading */
	uint32_t operator_count; /* of these, those that began in the step */
	uint32_t called_count;                        /* of operator_count, not in another operator and not in backward */
	uint32_t optimizer_count;                     /* of operator_count, in the optimizer */
	bool closure;                                 /* the optimizer ran forward or backward */
	uint64_t helped_ns;                           /* backward waited for operators of other threads */
	/* The row that took most time beyond its median over usual steps: why the step was slow. */
	uint32_t slow_symbol; /* DW_NO_INDEX: no symbol explains it */
	uint64_t slow_extra_ns;
};

/* Whether all phases that the program had in it were recorded. */
static inline bool dw_step_has_phases(const struct dw_step *step)
{
	return step->recorded || (step->reduced && !step->brief);
}

/*
 * How long iterations take. An iteration lasts from the begin of a step to the begin of the thread's next one: what
 * the loop does between them, as getting a batch, logging, evaluation, is in it. A thread's last iteration ends with
 * its step. Steps that did not end are left out, unless none did. So `mean_ns` times the number of steps is what the
 * loop takes.
 */
struct dw_iteration_times {
	size_t steps;     /* their number */
	uint64_t loop_ns; /* their sum */
	uint64_t mean_ns;
	size_t count;                    /* of these, how many have a next begin in the trace. Of them: */
	uint64_t p50_ns, p95_ns, p99_ns; /* if there is none, of the steps themselves */
};

/* The name in dw_steps.besides for steps that the trace has only as sums. */
#define DW_STEPS_SUMMED "summarised steps"

struct dw_beside {    /* named time of the step threads outside steps */
	const char *name; /* label of a share, "start-up", "after the last step" or
	                   * DW_STEPS_SUMMED */
	uint64_t ns, count;
};

/* An operator or a named range of a loop. */
struct dw_loop_row {
	uint32_t symbol; /* the first with its name */
	uint64_t ns, count;
	uint64_t moved_ns; /* in steps: self time of operators that copied or cleared memory for it, or without one for whom its own */
	uint64_t class_ns[DW_ITERATION_CLASSES]; /* of `ns` between steps: by the class of the iteration */
};

/*
 * A loop: a thread with steps, from the begin of its first step to the end of its last one. Its
 * operators are those of at most 128 of its steady steps (roles.h), spread over the run. Operators of data loading
 * are left out.
 */
struct dw_loop {
	uint32_t thread;
	size_t first_step, count; /* its steps in dw_steps.steps */
	size_t ended_count; /* of these, without a last one that did not end; if none ended, all */
	uint64_t start_ns, end_ns; /* of those */
	struct dw_iteration_times iterations;    /* of its steps */
	uint64_t outside_ns[DW_SHARE_COUNT];     /* the time between its steps, by share; they sum to
	                                          * it. Empty if only part of the time is in scope */
	uint64_t outside_counts[DW_SHARE_COUNT]; /* times that a share began there */
	uint64_t outside_class_ns[DW_ITERATION_CLASSES][DW_SHARE_COUNT]; /* outside_ns by the class of the iteration */
	struct dw_loop_row *outside_rows; /* of the shares OPERATORS and NAMED, descending; with the
	                                   * calls of operators, and no other counts */
	size_t outside_row_count;
	struct dw_loop_row *operators; /* self times and calls in the usual steps,
	                                * descending */
	size_t operator_count, usual_count;
	uint64_t usual_ns; /* length of the usual steps */
};

struct dw_steps {
	struct dw_step *steps; /* of the threads with steps, by process, thread and begin */
	size_t count;
	size_t open_count;    /* how many of `count` did not end */
	size_t reduced_count; /* how many were recorded without operators and layers; */
	size_t brief_count;   /* of these, without phases */
	struct dw_beside *besides;
	size_t beside_count;
	/* Sums over the counted steps. If no step ended, steps without an end are counted too. */
	uint64_t share_ns[DW_SHARE_COUNT];
	struct dw_step_part *parts; /* of share_ns[DW_SHARE_NAMED], descending */
	size_t part_count;
	uint64_t recorded_ns; /* sum of share_ns */
	size_t recorded_count;
	uint64_t helped_ns;         /* time in all steps in which backward waited for operators of
	                             * other threads */
	struct dw_loop *loops;      /* by index of `threads` */
	bool *counted;              /* by index of the source's steps */
	size_t cut_count;           /* recorded steps in which records are missing */
	uint64_t steps_ns, wall_ns; /* steps + besides = wall time of the step threads; there
	                             * are no besides if only part of the time is in scope */
	uint64_t missing_ns;        /* part of wall_ns that was not recorded or in which records are
	                             * missing */
	/* Of the steps that ended; if none did, of all. */
	size_t ended_count;
	uint64_t p50_ns;                      /* median length */
	struct dw_iteration_times iterations; /* of all loops; `steps` and `loop_ns` with the summed steps */
	uint32_t *threads;                    /* the threads with steps; the first one of a process has the most
	                                       * steps */
	size_t thread_count, process_count;
	/* Steps that the trace has only as sums, because the part of the file for single steps was
	 * full. They are before all single steps or after them. They are not included above, except in
	 * `besides`, `iterations` and wall_ns. */
	uint64_t summed_count, summed_ns, summed_from; /* `summed_from`: number of the first step */
};

const struct dw_steps *dw_model_steps(struct dw_model *model, struct dwell_error *error);

/* What is known of the steps without walking the records. */
struct dw_step_outline {
	const bool *counted; /* by index of the source's steps: see struct dw_step */
	size_t count;        /* number of steps in scope */
	size_t counted_count;
	bool other_threads;                  /* some threads have no steps */
	uint64_t loop_start_ns, loop_end_ns; /* of the loop with the most steps */
};

const struct dw_step_outline *dw_model_step_outline(struct dw_model *model, struct dwell_error *error);

/*
 * The model of the counted steps only. DW_COUNTED_STEP_THREADS restricts it to the threads that have
 * steps, so that times are parts of the steps' own time. NULL if there are no such steps, or with
 * `error` if memory is out. `model` owns it.
 */
enum dw_counted_threads { DW_COUNTED_ALL_THREADS, DW_COUNTED_STEP_THREADS };
struct dw_model *dw_model_counted(struct dw_model *model, enum dw_counted_threads which, struct dwell_error *error);

/* By process: the thread in scope with the most steps, or DW_NO_INDEX. NULL: out of memory. */
const uint32_t *dw_model_step_threads(struct dw_model *model);

/* Share of the scope's time that was recorded: of the step threads' time; without steps, of all
 * threads' time. */
double dw_model_coverage(struct dw_model *model);
/* Whether it is 1 as far as this is known without a walk. */
bool dw_model_is_covered(const struct dw_model *model);
