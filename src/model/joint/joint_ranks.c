/*
 * The threads, the steps and the collectives in one walk, for summaries of ranks; see joint.h.
 *
 * Whole streams are walked, in parallel. The division of a step needs the times in which threads without
 * steps communicated and ran operators. So the streams of such threads are walked first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "model/collectives/collectives_pass.h"
#include "model/core/scope.h"
#include "model/joint/joint.h"
#include "model/steps/division.h"
#include "model/steps/steps_build.h"
#include "model/time/threads_pass.h"

/* ---- the pass --------------------------------------------------------------------------- */

struct frame {
	struct dw_frame frame;
	struct dw_shares_frame shares;
	struct dw_collectives_frame collective;
};

struct joint_ranks_state {
	struct dw_pass pass;
	struct dw_threads_count count;
	struct dw_division division;
	struct dw_collectives_walk collectives;
	bool collects; /* the stream may have collectives */
};

DW_INLINE void joint_ranks_settle(void *state, uint64_t ticks)
{
	dw_shares_settle(&((struct joint_ranks_state *)state)->division, ticks);
}

DW_INLINE void joint_ranks_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct joint_ranks_state *at = state;
	struct frame *frame = place;

	dw_threads_enter(&at->count, ticks);
	dw_shares_enter(&at->division, &frame->shares, ticks, dw_walk_op(&at->pass.walk, id).row);
	dw_collectives_enter(&at->collectives, &frame->collective, id);
}

static void joint_ranks_unnest(void *state, uint32_t place, uint64_t ticks)
{
	dw_shares_unnest(&((struct joint_ranks_state *)state)->division, place);
}

DW_INLINE void joint_ranks_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct joint_ranks_state *at = state;
	const struct frame *frame = place;

	dw_threads_leave(&at->count, ticks, how);
	dw_shares_leave(&at->division, &frame->shares, ticks, how);
	dw_collectives_leave(&at->collectives, &frame->frame, &frame->collective, ticks, how);
}

static void joint_ranks_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct joint_ranks_state *at = state;
	struct frame *frame = DW_PASS_INNERMOST(&at->pass, struct frame);

	dw_threads_note(&at->count, ticks);
	if (frame && at->collects)
		dw_collectives_note(&at->collectives, &frame->collective, record);
}

static void joint_ranks_orphan(void *state, uint64_t ticks, uint32_t n)
{
	dw_threads_note(&((struct joint_ranks_state *)state)->count, ticks);
}

static void joint_ranks_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	struct joint_ranks_state *at = state;

	dw_threads_flushed(&at->count, ticks, why);
	dw_shares_flushed(&at->division, ticks, why);
}

static void joint_ranks_after_break(void *state, uint64_t ticks, const struct dw_record *record)
{
	dw_threads_after_break(&((struct joint_ranks_state *)state)->count, ticks, record);
}

static const struct dw_pass_hooks joint_ranks_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST, .enter = joint_ranks_enter,
	.leave = joint_ranks_leave, .note = joint_ranks_note, .settle = joint_ranks_settle,
	.orphan = joint_ranks_orphan, .unnest = joint_ranks_unnest, .flushed = joint_ranks_flushed,
	.after_break = joint_ranks_after_break,
};
DW_PASS_DEFINE(joint_ranks, joint_ranks_hooks)

/* ---- the streams ------------------------------------------------------------------------- */

struct joint_ranks {
	struct dw_model *model;
	struct dw_threads_sums threads;
	struct dw_steps_work steps;
	struct dw_collectives_stream *collectives; /* by stream */
	bool with_steps;                           /* the streams with steps are walked now */
	bool failed;                               /* atomic */
	struct joint_ranks_walker {
		struct dw_shares_worker shares;
		struct dw_frames frames;
	} *walkers;
};

static void joint_ranks_walk_stream(void *context, unsigned worker, size_t at)
{
	struct joint_ranks *joint = context;
	struct joint_ranks_walker *walker = &joint->walkers[worker];
	struct dw_model *model = joint->model;
	struct dw_shares *shares = &joint->steps.shares;
	size_t stream = model->stream_order[at];
	const struct dw_segment whole = { .stream = stream };
	struct joint_ranks_state state;

	if (dw_shares_has_steps(shares, stream) != joint->with_steps)
		return;
	memset(&state, 0, sizeof state);
	dw_pass_init(&state.pass, model, stream, &walker->frames);
	dw_threads_begin(&state.count, &joint->threads, &state.pass, &whole);
	dw_shares_begin(&state.division, shares, &walker->shares, &state.pass, &whole, sizeof(struct frame),
	                offsetof(struct frame, shares), !joint->with_steps && dw_others_wants(&shares->others, stream));
	dw_collectives_begin(&state.collectives, &joint->collectives[stream], model, stream);
	state.collects = dw_collectives_has_stream(model, stream);
	joint_ranks_walk(&state.pass);
	dw_shares_end(&state.division);
	if (state.pass.walk.failed)
		__atomic_store_n(&joint->failed, true, __ATOMIC_RELAXED);
}

static bool joint_ranks_walk_all(struct joint_ranks *joint, unsigned workers)
{
	size_t count = joint->model->source->stream_count;
	struct dw_shares *shares = &joint->steps.shares;

	/* A stream that threads with and without steps hand on to each other is walked once more. */
	for (size_t i = 0; i < count; i++)
		if (dw_shares_has_steps(shares, i) && dw_others_wants(&shares->others, i))
			dw_others_walk(&shares->others, i);
	dw_pool_run(count, workers, joint_ranks_walk_stream, joint);
	shares->times = dw_others_finish(&shares->others);
	if (!shares->times)
		return false;
	joint->with_steps = true;
	dw_pool_run(count, workers, joint_ranks_walk_stream, joint);
	return !joint->failed && !shares->failed;
}

static bool joint_ranks_run(struct joint_ranks *joint)
{
	unsigned workers = dw_pool_workers(joint->model->source->stream_count);
	bool good;

	joint->walkers = calloc(workers, sizeof *joint->walkers);
	good = joint->walkers != NULL;
	for (unsigned i = 0; good && i < workers; i++)
		good = dw_shares_worker_init(&joint->walkers[i].shares, joint->model->row_count);
	good = good && joint_ranks_walk_all(joint, workers);
	for (unsigned i = 0; joint->walkers && i < workers; i++) {
		dw_frames_reset(&joint->walkers[i].frames);
		dw_shares_worker_reset(&joint->walkers[i].shares);
	}
	free(joint->walkers);
	return good;
}

/* ---- the products ------------------------------------------------------------------------ */

/* Stores the results, but not the steps if the walk found that records are missing although the file did not
 * report it: they were divided as if they were whole, and a later request computes them again. */
static bool joint_ranks_keep(struct joint_ranks *joint)
{
	struct dw_model *model = joint->model;
	struct dw_threads *threads = dw_product_put(model, &dw_product_threads, 0);
	struct dw_steps *steps;
	void *collectives;

	if (!threads || !dw_threads_finish(&joint->threads, threads))
		return false;
	collectives = dw_product_put(model, &dw_product_collectives, 0);
	if (!collectives || !dw_collectives_finish(model, joint->collectives, collectives))
		return false;
	for (size_t p = 0; p < model->source->process_count; p++)
		if (threads->process_missing[p]->start_ticks != UINT64_MAX)
			return true;
	if (!dw_steps_end(&joint->steps, threads))
		return false;
	steps = dw_product_put(model, &dw_product_steps, 0);
	if (steps)
		*steps = *joint->steps.steps;
	return steps != NULL;
}

int dw_model_compute_ranks_together(struct dw_model *model, struct dwell_error *error)
{
	struct joint_ranks joint = { .model = model };
	struct dw_steps steps = { .steps = NULL };
	size_t count = model->source->stream_count;
	bool good;

	if (!dw_scope_is_all(model) || !model->source->step_count || !dw_threads_are_whole(model) ||
	    dw_product_has(model, &dw_product_threads, 0) || dw_product_has(model, &dw_product_steps, 0) ||
	    dw_product_has(model, &dw_product_collectives, 0))
		return 0;
	joint.collectives = calloc(count + 1, sizeof *joint.collectives);
	good = dw_threads_sums_init(&joint.threads, model) && joint.collectives;
	good = dw_steps_begin(&joint.steps, model, &steps, NULL) && good;
	good = good && joint_ranks_run(&joint) && joint_ranks_keep(&joint);
	dw_threads_sums_reset(&joint.threads);
	dw_steps_reset(&joint.steps);
	for (size_t i = 0; joint.collectives && i < count; i++)
		free(joint.collectives[i].noted);
	free(joint.collectives);
	return good ? 0 : dw_model_no_memory(model, error);
}
