/*
 * Shares: a step thread's time, divided.
 *
 * steps.c prepares one dw_pace for each thread that steps; dw_pace_walk() goes once
 * through the records of a stream and gives every tick of its threads to one share of
 * one step, or to the time outside the steps.
 */
#ifndef DW_MODEL_STEPS_SHARES_H
#define DW_MODEL_STEPS_SHARES_H

#include "model/core/model_data.h"
#include "model/core/share_names.h"

/* What a step spent in the innermost range of one row. */
struct dw_self {
	uint32_t row;
	uint64_t ticks;
};

struct dw_pace_step {
	uint64_t start_ticks, end_ticks; /* ascending, apart */
	uint64_t share_ticks[DW_SHARE_COUNT];
	size_t own_first;                /* into dw_pace.owns: what DW_SHARE_NAMED consists of */
	uint32_t own_count;
	bool sampled;                    /* selfs are wanted */
	struct dw_self *selfs;           /* malloc'ed, or NULL */
	uint32_t self_count;
};

enum { DW_BESIDE_START = DW_SHARE_COUNT, DW_BESIDE_AFTER, DW_BESIDE_SUMMED, DW_BESIDE_COUNT };

/* A thread that steps. */
struct dw_pace {
	uint32_t process, thread;
	size_t stream;                   /* index; the source's stream_count: it wrote nothing */
	uint64_t start_ticks, end_ticks; /* of its wall time */
	struct dw_pace_step *steps;
	size_t count, first_step;        /* `first_step`: index of steps[0] among all steps */
	uint64_t beside_ticks[DW_BESIDE_COUNT], beside_counts[DW_BESIDE_COUNT];
	struct dw_self *owns;            /* step after step; malloc'ed */
	size_t own_count, own_capacity;
	/* When threads of the process that do not step communicated and ran operators. */
	const struct dw_interval *communication, *operators;
	uint64_t helped_ticks;           /* of the steps: backward waited for such an operator */
	/* While walked. */
	uint64_t last;                   /* all before this has been given away */
	size_t next;                     /* the step that time is in or before */
	bool inside;
	int beside;                      /* where the instant before went, -1: into a step */
};

/* Walks the stream of `paces`, which is the same for all of them. -1: out of memory. */
int dw_pace_walk(struct dw_model *model, struct dw_pace *paces, size_t count);

/* What threads that do not step did (other_threads.c). */
struct dw_helpers {
	const struct dw_interval *communication, *operators; /* ended by UINT64_MAX */
};
/* By process, in the model's arena; `steps` says by thread whether it steps. NULL: out of
 * memory. */
struct dw_helpers *dw_helpers_find(struct dw_model *model, const bool *steps);

#endif
