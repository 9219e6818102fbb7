/*
 * The profiles by name of several scopes, the outermost ranges, the threads and the steps, in one
 * walk; see joint.h.
 *
 * The records of a chunk are decoded once, and each range is pushed once. The code of the products
 * is inlined from profile_by_name_pass.h, outermost_pass.h, threads_pass.h and shares_pass.h.
 *
 * The division of a step needs the times in which threads without steps communicated and ran
 * operators. So the streams of such threads are walked first. Threads with and without steps can
 * hand on one stream to each other. Such a stream is walked once more, before all others.
 */
#include "model/joint/joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "dwell/probe.h"
#include "model/core/scope.h"
#include "model/memory/memory.h"
#include "model/steps/shares_pass.h"
#include "model/steps/steps_build.h"
#include "model/time/outermost_pass.h"
#include "model/time/profile_by_name_pass.h"
#include "model/time/threads_pass.h"

struct joint_frame {
	struct dw_frame frame;
	struct dw_profile_frame profile;
};

struct joint_steps_frame {
	struct joint_frame joint;
	struct dw_shares_frame shares;
};

struct joint_state {
	struct dw_pass pass;
	struct dw_profile profile;
	struct dw_outermost_worker *outermost;
	struct dw_outermost_sums *sums;
	double ratio;
	struct dw_threads_count count; /* used if the threads are computed too */
	struct dw_division division;   /* used if the steps are computed too */
};

/* ---- the hooks ---------------------------------------------------------------------------- */

DW_INLINE void joint_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct joint_state *at = state;
	struct joint_frame *frame = place;

	dw_profile_enter(&at->profile, &at->pass, &frame->frame, &frame->profile, ticks,
	                 dw_walk_op(&at->pass.walk, id), false);
	dw_outermost_enter(&at->pass, &frame->frame);
}

DW_INLINE void joint_enter_counted(void *state, void *place, uint64_t ticks, uint32_t id)
{
	joint_enter(state, place, ticks, id);
	dw_threads_enter(&((struct joint_state *)state)->count, ticks);
}

DW_INLINE void joint_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct joint_state *at = state;
	const struct joint_frame *frame = place;

	dw_profile_leave(&at->profile, &frame->frame, &frame->profile, ticks, how, false);
	dw_outermost_leave(at->outermost, &frame->frame, frame->profile.row, ticks);
}

DW_INLINE void joint_leave_counted(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	joint_leave(state, place, ticks, how);
	dw_threads_leave(&((struct joint_state *)state)->count, ticks, how);
}

static void joint_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	dw_profile_note(&((struct joint_state *)state)->profile, record);
}

static void joint_note_counted(void *state, uint64_t ticks, const struct dw_record *record)
{
	joint_note(state, ticks, record);
	dw_threads_note(&((struct joint_state *)state)->count, ticks);
}

static void joint_orphan(void *state, uint64_t ticks, uint32_t n)
{
	dw_threads_note(&((struct joint_state *)state)->count, ticks);
}

static void joint_unnest(void *state, uint32_t place)
{
	struct joint_state *at = state;

	dw_profile_unnest(&at->profile, &at->pass, place, sizeof(struct joint_frame),
	                  offsetof(struct joint_frame, profile));
}

static void joint_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	struct joint_state *at = state;

	dw_profile_flushed(&at->profile);
	if (why != DW_FLUSH_GAP)
		dw_outermost_close(at->outermost, at->sums, at->pass.walk.thread, at->ratio);
}

static void joint_flushed_counted(void *state, uint64_t ticks, enum dw_flush why)
{
	joint_flushed(state, ticks, why);
	dw_threads_flushed(&((struct joint_state *)state)->count, ticks, why);
}

static void joint_after_break(void *state, uint64_t ticks, const struct dw_record *record)
{
	dw_threads_after_break(&((struct joint_state *)state)->count, ticks, record);
}

static void joint_carry(void *state, void *place)
{
	const struct joint_frame *frame = place;

	dw_profile_carry(&((struct joint_state *)state)->profile, &frame->profile, frame->frame.child,
	                 false);
}

static void joint_carried(void *state)
{
	struct joint_state *at = state;

	dw_outermost_close(at->outermost, at->sums, at->pass.walk.thread, at->ratio);
}

static void joint_carried_counted(void *state)
{
	joint_carried(state);
	dw_threads_carry(&((struct joint_state *)state)->count);
}

/* ---- the hooks with steps ----------------------------------------------------------------- */

DW_INLINE void joint_settle_steps(void *state, uint64_t ticks)
{
	dw_shares_settle(&((struct joint_state *)state)->division, ticks);
}

DW_INLINE void joint_enter_steps(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct joint_state *at = state;
	struct joint_steps_frame *frame = place;

	joint_enter_counted(state, place, ticks, id);
	dw_shares_enter(&at->division, &frame->shares, ticks, frame->joint.profile.row);
}

DW_INLINE void joint_leave_steps(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	const struct joint_steps_frame *frame = place;

	joint_leave_counted(state, place, ticks, how);
	dw_shares_leave(&((struct joint_state *)state)->division, &frame->shares, ticks, how);
}

static void joint_unnest_steps(void *state, uint32_t place)
{
	struct joint_state *at = state;

	dw_profile_unnest(&at->profile, &at->pass, place, sizeof(struct joint_steps_frame),
	                  offsetof(struct joint_steps_frame, joint.profile));
	dw_shares_unnest(&at->division, place);
}

static void joint_flushed_steps(void *state, uint64_t ticks, enum dw_flush why)
{
	joint_flushed_counted(state, ticks, why);
	dw_shares_flushed(&((struct joint_state *)state)->division, ticks, why);
}

static void joint_carried_steps(void *state)
{
	joint_carried_counted(state);
	dw_shares_carry(&((struct joint_state *)state)->division);
}

/* ---- the loops ---------------------------------------------------------------------------- */

static const struct dw_pass_hooks joint_hooks = {
	.frame_bytes = sizeof(struct joint_frame), .deepest = DW_DEEPEST, .chains = true,
	.all_linked = true, .enter = joint_enter, .leave = joint_leave, .note = joint_note,
	.unnest = joint_unnest, .flushed = joint_flushed, .carry = joint_carry,
	.carried = joint_carried,
};
static const struct dw_pass_hooks joint_hooks_counted = {
	.frame_bytes = sizeof(struct joint_frame), .deepest = DW_DEEPEST, .chains = true,
	.all_linked = true, .enter = joint_enter_counted, .leave = joint_leave_counted,
	.note = joint_note_counted, .orphan = joint_orphan, .unnest = joint_unnest,
	.flushed = joint_flushed_counted, .after_break = joint_after_break, .carry = joint_carry,
	.carried = joint_carried_counted,
};
static const struct dw_pass_hooks joint_hooks_steps = {
	.frame_bytes = sizeof(struct joint_steps_frame), .deepest = DW_DEEPEST, .chains = true,
	.all_linked = true, .enter = joint_enter_steps, .leave = joint_leave_steps,
	.note = joint_note_counted, .settle = joint_settle_steps, .orphan = joint_orphan,
	.unnest = joint_unnest_steps, .flushed = joint_flushed_steps,
	.after_break = joint_after_break, .carry = joint_carry, .carried = joint_carried_steps,
};
DW_PASS_DEFINE(joint, joint_hooks)
DW_PASS_DEFINE(joint_counted, joint_hooks_counted)
DW_PASS_DEFINE(joint_steps, joint_hooks_steps)

/* ---- parallel walk ------------------------------------------------------------------------ */

struct joint {
	struct dw_model *models[DW_JOINT_MOST]; /* the first model, and those whose profile is not
	                                         * computed yet */
	struct dw_flat_all *profiles[DW_JOINT_MOST];
	unsigned count;
	bool counted;             /* compute the threads too */
	struct dw_threads_sums threads;
	struct dw_outermost_sums outermost;
	const struct dw_op **ops; /* by file */
	const struct dw_segments *segments;
	uint32_t file;
	bool stepped;             /* compute the steps too */
	struct dw_steps_work steps;
	enum joint_round { JOINT_ALL, JOINT_OTHERS, JOINT_STEPS } round;
	bool *stream_has_steps;   /* by stream */
	struct joint_walker {
		struct dw_profile_worker profile;
		struct dw_outermost_worker outermost;
		struct dw_shares_worker shares;
		struct dw_frames frames;
		void *buffer;
	} *walkers;
};

static void joint_walk_segment(void *context, unsigned index, size_t at)
{
	struct joint *joint = context;
	struct joint_walker *walker = &joint->walkers[index];
	const struct dw_segment *segment = &joint->segments->items[at];
	const struct dw_model *model = joint->models[0];
	const struct dw_source_stream *stream = &model->source->streams[segment->stream];
	struct joint_state state;

	if (stream->file != joint->file ||
	    (joint->round != JOINT_ALL &&
	     joint->stream_has_steps[segment->stream] != (joint->round == JOINT_STEPS)) ||
	    !dw_profile_worker_init(&walker->profile, joint->profiles[0]->row_count))
		return;
	memset(&state, 0, sizeof state);
	dw_pass_init(&state.pass, model, segment->stream, &walker->frames, walker->buffer);
	dw_profile_begin_stream(&state.profile, &walker->profile,
	                        (const struct dw_model *const *)joint->models, joint->count,
	                        stream->process);
	state.outermost = &walker->outermost;
	state.sums = &joint->outermost;
	state.ratio = dw_file_ratio(model->source, joint->file);
	if (joint->counted)
		dw_threads_begin(&state.count, &joint->threads, &state.pass, segment);
	if (joint->stepped) {
		struct dw_shares *shares = &joint->steps.shares;

		dw_shares_begin(&state.division, shares, &walker->shares, &state.pass, segment,
		                sizeof(struct joint_steps_frame),
		                offsetof(struct joint_steps_frame, shares),
		                joint->round == JOINT_OTHERS &&
		                    dw_others_wants(&shares->others, segment->stream));
		joint_steps_segment(&state.pass, segment);
		dw_shares_end(&state.division);
	} else if (joint->counted) {
		joint_counted_segment(&state.pass, segment);
	} else {
		joint_segment(&state.pass, segment);
	}
	dw_profile_end_stream(&state.profile, &state.pass);
}

static bool joint_start_workers(struct joint *joint, unsigned workers)
{
	uint32_t rows = joint->models[0]->row_count;
	bool good;

	joint->walkers = calloc(workers, sizeof *joint->walkers);
	good = joint->walkers != NULL;
	for (unsigned i = 0; good && i < workers; i++)
		good = (joint->walkers[i].buffer = malloc(DW_BLOCK_BYTES)) != NULL &&
		       dw_outermost_worker_init(&joint->walkers[i].outermost, rows) &&
		       (!joint->stepped || dw_shares_worker_init(&joint->walkers[i].shares, rows));
	return good;
}

static void joint_end_workers(struct joint *joint, unsigned workers)
{
	for (unsigned i = 0; joint->walkers && i < workers; i++) {
		dw_frames_reset(&joint->walkers[i].frames);
		dw_outermost_worker_reset(&joint->walkers[i].outermost);
		dw_shares_worker_reset(&joint->walkers[i].shares);
		free(joint->walkers[i].buffer);
	}
	free(joint->walkers);
}

/* Walks the streams of a file: with steps, first those of other threads. */
static bool joint_run_file(struct joint *joint, unsigned workers)
{
	struct dw_shares *shares = &joint->steps.shares;

	joint->round = joint->stepped ? JOINT_OTHERS : JOINT_ALL;
	dw_pool_run(joint->segments->count, workers, joint_walk_segment, joint);
	if (!joint->stepped)
		return true;
	joint->round = JOINT_STEPS;
	shares->times = dw_others_finish(&shares->others);
	if (shares->times)
		dw_pool_run(joint->segments->count, workers, joint_walk_segment, joint);
	return shares->times != NULL;
}

/* Finds the streams with steps, and walks those that other threads write to as well. */
static bool joint_find_streams(struct joint *joint)
{
	size_t count = joint->models[0]->source->stream_count;
	struct dw_shares *shares = &joint->steps.shares;

	joint->stream_has_steps = calloc(count + 1, sizeof *joint->stream_has_steps);
	for (size_t i = 0; joint->stream_has_steps && i < count; i++) {
		joint->stream_has_steps[i] = dw_shares_has_steps(shares, i);
		if (joint->stream_has_steps[i] && dw_others_wants(&shares->others, i))
			dw_others_walk(&shares->others, i);
	}
	return joint->stream_has_steps != NULL;
}

static bool joint_run(struct joint *joint)
{
	const struct dw_source *source = joint->models[0]->source;
	unsigned workers = dw_pool_workers(joint->segments->count);
	bool good = (!joint->stepped || joint_find_streams(joint)) &&
	            joint_start_workers(joint, workers);

	for (uint32_t f = 0; good && f < source->file_count; f++) {
		joint->file = f;
		good = joint_run_file(joint, workers);
		for (unsigned i = 0; i < workers; i++) {
			good = good && !joint->walkers[i].profile.failed;
			dw_profile_merge(joint->profiles, joint->models, joint->count,
			                 &joint->walkers[i].profile, dw_file_ratio(source, f));
		}
	}
	joint_end_workers(joint, workers);
	free(joint->stream_has_steps);
	return good;
}

/* ---- the products ------------------------------------------------------------------------- */

/* Stores the steps, unless the walk found that records are missing although the file did not report
 * it. In that case the steps were divided as if they were whole: a later request computes them
 * again. False: out of memory. */
static bool joint_keep_steps(struct joint *joint, const struct dw_threads *threads)
{
	struct dw_model *model = joint->models[0];
	struct dw_steps *kept;

	for (size_t p = 0; p < model->source->process_count; p++)
		if (threads->process_missing[p]->start_ticks != UINT64_MAX)
			return true;
	if (!dw_steps_end(&joint->steps, threads))
		return false;
	kept = dw_product_put(model, &dw_steps_product, 0);
	if (kept)
		*kept = *joint->steps.steps;
	return kept != NULL;
}

/* Stores the results in the models. Called when everything has been computed. */
static bool joint_keep(struct joint *joint, const struct dw_threads *threads)
{
	struct dw_model *model = joint->models[0];
	struct dw_threads *kept_threads;
	struct dw_tree *outermost = dw_product_put(model, &dw_outermost_product, 0);

	if (!outermost || !dw_outermost_finish(model, &joint->outermost, outermost))
		return false;
	for (unsigned i = 0; i < joint->count; i++) {
		struct dw_flat_all *kept =
			dw_product_put(joint->models[i], &dw_profile_product, DW_BY_NAME);

		if (!kept)
			return false;
		dw_profile_finish(joint->models[i], joint->profiles[i]);
		*kept = *joint->profiles[i];
	}
	if (!joint->counted)
		return true;
	kept_threads = dw_product_put(model, &dw_threads_product, 0);
	if (kept_threads)
		*kept_threads = *threads;
	return kept_threads != NULL && (!joint->stepped || joint_keep_steps(joint, threads));
}

static bool joint_prepare(struct joint *joint, struct dw_steps *steps)
{
	struct dw_model *model = joint->models[0];
	bool good = true;

	for (unsigned i = 0; good && i < joint->count; i++) {
		joint->profiles[i] = dw_arena_alloc(&joint->models[i]->arena, sizeof **joint->profiles);
		good = joint->profiles[i] && (joint->ops = dw_profile_prepare(joint->models[i],
		                                                            joint->profiles[i], DW_BY_NAME));
	}
	if (joint->counted)
		good = dw_threads_sums_init(&joint->threads, model) && good;
	if (joint->stepped)
		good = dw_steps_begin(&joint->steps, model, steps, NULL) && good;
	return good;
}

static bool joint_compute(struct joint *joint)
{
	struct dw_threads threads = { .rows = NULL };
	struct dw_steps steps = { .steps = NULL };
	bool good = joint_prepare(joint, &steps) && joint_run(joint) &&
	            (!joint->counted || dw_threads_finish(&joint->threads, &threads)) &&
	            joint_keep(joint, &threads);

	if (joint->counted)
		dw_threads_sums_reset(&joint->threads);
	if (joint->stepped)
		dw_steps_reset(&joint->steps);
	free(joint->outermost.items);
	return good;
}

/* Whether the facts of a run with steps include its memory. */
static bool joint_wants_memory(const struct dw_model *model)
{
	if (!model->source->step_count || !dw_scope_is_all(model))
		return false;
	for (uint32_t i = 0; i < model->symbol_count; i++)
		if (model->symbols[i].category == DWELL_CATEGORY_ALLOCATION)
			return true;
	return false;
}

int dw_model_compute_together(struct dw_model *const *models, unsigned count,
                              struct dwell_error *error)
{
	struct dw_model *first = models[0];
	struct joint joint = { .outermost = { .lock = PTHREAD_MUTEX_INITIALIZER } };

	if (first->intervals || dw_product_has(first, &dw_profile_product, DW_BY_NAME))
		return 0;
	for (unsigned i = 0; i < count; i++) {
		bool again = dw_product_has(models[i], &dw_profile_product, DW_BY_NAME);

		for (unsigned k = 0; k < joint.count; k++)
			again |= joint.models[k] == models[i];
		if (!again)
			joint.models[joint.count++] = models[i];
	}
	/* Memory comes first, because its walk over the streams also finds the segments. */
	if (joint_wants_memory(first) && !dw_model_memory(first, error))
		return DWELL_E_NOMEM;
	joint.counted = !dw_product_has(first, &dw_threads_product, 0) && dw_threads_are_whole(first);
	joint.stepped = joint.counted && dw_scope_is_all(first) && first->source->step_count &&
	                !dw_product_has(first, &dw_steps_product, 0);
	joint.segments = dw_model_segments(first);
	return joint.segments && joint_compute(&joint) ? 0 : dw_model_no_memory(first, error);
}
