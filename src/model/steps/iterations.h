/*
 * Iterations: what a run repeats, decided by the reader.
 *
 * Steps that the program or a probe marked are the iterations. Where none is marked, they are what a thread
 * repeats (periods.h), and where nothing repeats, the run of the busiest process is one iteration of its main
 * thread. So whatever is computed of steps can be computed of every run.
 */
#pragma once

#include "model/core/model.h"

enum dw_iteration_kind {
	DW_ITERATIONS_MARKED, /* the steps of the source */
	DW_ITERATIONS_PERIOD, /* what a thread repeats */
	DW_ITERATIONS_RUN,    /* one: the whole run, or that of its busiest process */
};

struct dw_iterated {
	enum dw_iteration_kind kind;
	/* A model of the same run and scope. Its steps are the iterations. The model itself, if they are marked. */
	struct dw_model *model;
	const char *name;     /* of a period: what begins each iteration; otherwise NULL */
	bool one_process;     /* of a whole run: others began before it, or go on after it, so that its time is not the run's */
	bool follows;         /* they are those of what follows the last marked step */
};

/* For how long the main thread of a process was ready to run and had no CPU, in all, by the kernel. Negative: not
 * known. */
double dw_iterations_delay_ns(const struct dw_source *source, uint32_t process);

/* Valid as long as `model`. NULL with `error` if memory ran out. */
const struct dw_iterated *dw_model_iterated(struct dw_model *model, struct dwell_error *error);

/* What a thread does after its last marked step. */
struct dw_iterations_after {
	uint32_t thread;
	uint64_t from_ns, to_ns;
	struct dw_source_usage used; /* what the thread used then; wholly 0: not known */
};

/* The iterations of it, as those of a run that marks none. Of no iterations the model is NULL. Computed once. NULL with `error` if
 * memory ran out. */
const struct dw_iterated *dw_model_iterated_after(struct dw_model *model, const struct dw_iterations_after *after,
                                                  struct dwell_error *error);
