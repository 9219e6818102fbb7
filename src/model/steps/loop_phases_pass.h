/*
 * What the walk collects for the phases of loops; see loop_phases.h.
 */
#pragma once

#include "model/steps/loop_phases.h"

/* A sequence of events with one purpose. */
struct dw_phase_run {
	enum dw_phase_kind kind;   /* a run without learning is INFERENCE until an evaluation is in it */
	uint64_t start_ticks, end_ticks;
	uint64_t ticks;            /* in events */
	uint64_t calls, batches, updates;
	uint64_t evaluations;      /* of the calls */
	bool soft;                 /* only the border of a step separates it from the run before it, of its purpose */
};

struct dw_phase_runs {
	struct dw_phase_run *list;
	size_t count, capacity;
};

/* A loop while its stream is walked. */
struct dw_phase_loop {
	const struct dw_source_clock *clock;
	const struct dw_step *steps;
	size_t count;
	uint32_t *counts;          /* by step and event kind; malloc'ed */
	uint64_t ticks[DW_LOOP_EVENT_KINDS], totals[DW_LOOP_EVENT_KINDS], between[DW_LOOP_EVENT_KINDS];
	uint64_t updates_of[DW_LOOP_OPTIMIZERS];
	uint64_t epochs, learned;  /* learned: events of learning */
	struct dw_phase_runs runs, checkpoints; /* malloc'ed */

	size_t next;               /* the first step that does not end before the latest event began, with what follows it */
	size_t seen;               /* steps before this one are in a run or have events */
	size_t without;            /* steps that had begun at the last call without learning */
	size_t saving;             /* 1 + steps that had begun at the last checkpoint; 0: something has happened since */
	/* Data that was got since the last event of another kind: it belongs to the next one. */
	struct {
		uint64_t count, ticks, start_ticks, end_ticks;
		bool begins;           /* a loader was begun */
		size_t step;           /* of the latest iteration with some: which, and how many, and of them between steps */
		uint32_t counted, between;
	} pending;
};

/* Collects what happens in the loops, by index of the steps' loops. False: out of memory. */
bool dw_phase_loops_walk(struct dw_model *model, const struct dw_steps *steps, struct dw_phase_loop *loops);

/* Where the iteration of a step ends, as far as the trace says. */
static inline uint64_t dw_phase_iteration_end(const struct dw_step *step)
{
	return step->next_ns ? step->next_ns : step->end_ns;
}
