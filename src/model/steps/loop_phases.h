/*
 * What happens in a loop, decided by the reader when all of the run is known.
 *
 * Events are ranges of the loop's thread that say what it does: a batch is got, a module is called, a backward runs,
 * an optimizer updates parameters, a checkpoint is written. A range within another of its kind is a part of that one.
 * How many of each kind an iteration has tells what the loop is: several updates are a GAN or several epochs over
 * one rollout, several backwards for one update accumulate gradients.
 *
 * Phases are what the thread does for some time, from event to event:
 *
 *     learning     gradients are computed or parameters are updated
 *     evaluation   modules are called without learning from them; at least one call was named evaluation
 *     acting       the same, when each learning follows such calls, which get no batches: what an agent experiences
 *     inference    the same otherwise: samples are generated, a target or a teacher is asked
 *     checkpoint   something is saved or loaded; does not end the phase around it
 *
 * A phase lasts until one of another purpose begins, so that an evaluation is one, however many batches it has.
 * Steps in which nothing of this is recorded are learning. Phases of all of the thread's time count, because the
 * first rollout comes before the first step, and the last evaluation after the last one; `loop` has those that begin
 * in the loop.
 */
#pragma once

#include "model/steps/steps.h"

enum dw_loop_event_kind {
	DW_LOOP_DATA,       /* the loop gets data to learn from */
	DW_LOOP_FORWARD,    /* calls of modules from outside of any. Modules without parameters, as a loss, are left out, if
	                     * the trace says which they are */
	DW_LOOP_BACKWARD,
	DW_LOOP_UPDATE,     /* steps of optimizers; zero_grad is none */
	DW_LOOP_INFERENCE,  /* calls without gradients that are no evaluation of the trained model */
	DW_LOOP_EVALUATION, /* calls that are named evaluation */
	DW_LOOP_CHECKPOINT,
	DW_LOOP_EVENT_KINDS
};

enum { DW_LOOP_OPTIMIZERS = 16 };

struct dw_loop_event {
	uint64_t count, between; /* in the iterations of the loop; of these, between steps */
	uint64_t ns;             /* while no other event is open in it; for updates also zero_grad */
	/* How many an iteration has, of dw_loop_phases.iterations. */
	uint32_t least, p50, most;
	double mean;
};

enum dw_phase_kind {
	DW_PHASE_LEARNING,
	DW_PHASE_EVALUATION,
	DW_PHASE_ACTING,
	DW_PHASE_INFERENCE,
	DW_PHASE_CHECKPOINT,
	DW_PHASE_KINDS
};

/* All phases of a kind. */
struct dw_phase_sums {
	uint64_t times;
	uint64_t ns;       /* in events */
	uint64_t run_ns;   /* from the begin of the first event to the end of the last one of each */
	uint64_t until_ns; /* from the begin of each to the begin of the next phase, or of the last one to the end of the
	                    * loop or its own end; of checkpoints run_ns */
};

struct dw_phase {
	struct dw_phase_sums all, loop; /* loop: that begin in the loop; they end with it at the latest */
	uint64_t calls;   /* of modules; of an evaluation those that are named so; what a checkpoint saves or loads */
	uint64_t batches; /* data got; the last request of a loader, which finds nothing, is none */
	uint64_t updates;
	/* Of each: calls; for learning updates. */
	uint64_t least, p50, most;
};

struct dw_loop_phases {
	size_t iterations;  /* whose events are all known: recorded, with the begin of the next one */
	struct dw_loop_event events[DW_LOOP_EVENT_KINDS];
	struct dw_phase phases[DW_PHASE_KINDS];
	uint64_t epochs;    /* times that a loader was begun to learn from it */
	/* Updates of the whole run by the optimizer's number. Older traces, and other frameworks, have only one. */
	uint64_t updates_of[DW_LOOP_OPTIMIZERS];
	double accumulated; /* backwards for each update; 0: no parameters are updated. Below 1, one backward serves
	                     * several optimizers */
};

/* By index of dw_steps.loops. NULL with `error`: out of memory. The phases of a model in which only part of the time is
 * in scope are those of the whole run. */
const struct dw_loop_phases *dw_model_loop_phases(struct dw_model *model, struct dwell_error *error);

/* "acting". */
const char *dw_phase_name(enum dw_phase_kind kind);
