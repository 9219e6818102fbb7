/*
 * The profiles by name of several scopes, and the threads, in one walk; see joint.h.
 *
 * The records of a chunk are decoded once, and each range is pushed once. The code of the products
 * is inlined from profile_by_name_pass.h and threads_pass.h.
 */
#include "model/time/joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "model/core/scope.h"
#include "model/time/profile_by_name_pass.h"
#include "model/time/threads_pass.h"

struct joint_frame {
	struct dw_frame frame;
	struct dw_profile_frame profile;
};

struct joint_state {
	struct dw_pass pass;
	struct dw_profile profile;
	struct dw_threads_count count; /* used if the threads are computed too */
};

/* ---- the hooks ---------------------------------------------------------------------------- */

DW_INLINE void joint_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct joint_state *at = state;
	struct joint_frame *frame = place;

	dw_profile_enter(&at->profile, &at->pass, &frame->frame, &frame->profile, ticks,
	                 dw_walk_op(&at->pass.walk, id), false);
}

DW_INLINE void joint_enter_counted(void *state, void *place, uint64_t ticks, uint32_t id)
{
	joint_enter(state, place, ticks, id);
	dw_threads_enter(&((struct joint_state *)state)->count, ticks);
}

DW_INLINE void joint_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	const struct joint_frame *frame = place;

	dw_profile_leave(&((struct joint_state *)state)->profile, &frame->frame, &frame->profile,
	                 ticks, how, false);
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
	dw_profile_flushed(&((struct joint_state *)state)->profile);
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
	dw_threads_carry(&((struct joint_state *)state)->count);
}

static const struct dw_pass_hooks joint_hooks = {
	.frame_bytes = sizeof(struct joint_frame), .deepest = DW_DEEPEST, .chains = true,
	.all_linked = true, .enter = joint_enter, .leave = joint_leave, .note = joint_note,
	.unnest = joint_unnest, .flushed = joint_flushed, .carry = joint_carry,
};
static const struct dw_pass_hooks joint_hooks_counted = {
	.frame_bytes = sizeof(struct joint_frame), .deepest = DW_DEEPEST, .chains = true,
	.all_linked = true, .enter = joint_enter_counted, .leave = joint_leave_counted,
	.note = joint_note_counted, .orphan = joint_orphan, .unnest = joint_unnest,
	.flushed = joint_flushed_counted, .after_break = joint_after_break, .carry = joint_carry,
	.carried = joint_carried,
};
DW_PASS_DEFINE(joint, joint_hooks)
DW_PASS_DEFINE(joint_counted, joint_hooks_counted)

/* ---- parallel walk ------------------------------------------------------------------------ */

struct joint {
	struct dw_model *models[DW_JOINT_MOST]; /* the first model, and those whose profile is not
	                                         * computed yet */
	struct dw_flat_all *profiles[DW_JOINT_MOST];
	unsigned count;
	bool counted;             /* compute the threads too */
	struct dw_threads_sums threads;
	const struct dw_op **ops; /* by file */
	const struct dw_segments *segments;
	uint32_t file;
	struct joint_walker {
		struct dw_profile_worker profile;
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
	    !dw_profile_worker_init(&walker->profile, joint->profiles[0]->row_count))
		return;
	memset(&state, 0, sizeof state);
	dw_pass_init(&state.pass, model, segment->stream, &walker->frames, walker->buffer);
	dw_profile_begin_stream(&state.profile, &walker->profile,
	                        (const struct dw_model *const *)joint->models, joint->count,
	                        stream->process);
	if (joint->counted) {
		dw_threads_begin(&state.count, &joint->threads, &state.pass, segment);
		joint_counted_segment(&state.pass, segment);
	} else {
		joint_segment(&state.pass, segment);
	}
	dw_profile_end_stream(&state.profile, &state.pass);
}

static bool joint_run(struct joint *joint)
{
	const struct dw_source *source = joint->models[0]->source;
	unsigned workers = dw_pool_workers(joint->segments->count);
	bool good;

	joint->walkers = calloc(workers, sizeof *joint->walkers);
	good = joint->walkers != NULL;
	for (unsigned i = 0; good && i < workers; i++)
		good = (joint->walkers[i].buffer = malloc(DW_BLOCK_BYTES)) != NULL;
	for (uint32_t f = 0; good && f < source->file_count; f++) {
		joint->file = f;
		dw_pool_run(joint->segments->count, workers, joint_walk_segment, joint);
		for (unsigned i = 0; i < workers; i++) {
			good = good && !joint->walkers[i].profile.failed;
			dw_profile_merge(joint->profiles, joint->models, joint->count,
			                 &joint->walkers[i].profile, dw_file_ratio(source, f));
		}
	}
	for (unsigned i = 0; joint->walkers && i < workers; i++) {
		dw_frames_reset(&joint->walkers[i].frames);
		free(joint->walkers[i].buffer);
	}
	free(joint->walkers);
	return good;
}

/* ---- the products ------------------------------------------------------------------------- */

/* Stores the results in the models. Called when everything has been computed. */
static bool joint_keep(struct joint *joint)
{
	for (unsigned i = 0; i < joint->count; i++) {
		struct dw_flat_all *kept =
			dw_product_put(joint->models[i], &dw_profile_product, DW_BY_NAME);

		if (!kept)
			return false;
		dw_profile_finish(joint->models[i], joint->profiles[i]);
		*kept = *joint->profiles[i];
	}
	return true;
}

static bool joint_compute(struct joint *joint)
{
	struct dw_model *model = joint->models[0];
	struct dw_threads threads = { .rows = NULL };
	struct dw_threads *kept;
	bool good = true;

	for (unsigned i = 0; good && i < joint->count; i++) {
		joint->profiles[i] = dw_arena_alloc(&joint->models[i]->arena, sizeof **joint->profiles);
		good = joint->profiles[i] && (joint->ops = dw_profile_prepare(joint->models[i],
		                                                            joint->profiles[i], DW_BY_NAME));
	}
	if (joint->counted)
		good = dw_threads_sums_init(&joint->threads, model) && good;
	good = good && joint_run(joint) &&
	       (!joint->counted || dw_threads_finish(&joint->threads, &threads)) && joint_keep(joint);
	if (joint->counted)
		dw_threads_sums_reset(&joint->threads);
	if (!good || !joint->counted)
		return good;
	kept = dw_product_put(model, &dw_threads_product, 0);
	if (kept)
		*kept = threads;
	return kept != NULL;
}

int dw_model_compute_together(struct dw_model *const *models, unsigned count,
                              struct dwell_error *error)
{
	struct dw_model *first = models[0];
	struct joint joint = { .segments = NULL };

	if (first->intervals || dw_product_has(first, &dw_profile_product, DW_BY_NAME))
		return 0;
	for (unsigned i = 0; i < count; i++) {
		bool again = dw_product_has(models[i], &dw_profile_product, DW_BY_NAME);

		for (unsigned k = 0; k < joint.count; k++)
			again |= joint.models[k] == models[i];
		if (!again)
			joint.models[joint.count++] = models[i];
	}
	joint.counted = !dw_product_has(first, &dw_threads_product, 0) && dw_threads_are_whole(first);
	joint.segments = dw_model_segments(first);
	return joint.segments && joint_compute(&joint) ? 0 : dw_model_no_memory(first, error);
}
