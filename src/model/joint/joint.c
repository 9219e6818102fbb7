/*
 * The profiles by name of several scopes, the outermost ranges, the threads and the steps, in one
 * walk; see joint.h.
 *
 * The records of a chunk are decoded once, and each range is pushed once (joint_loops.h). The code
 * of the products is inlined from their *_pass.h.
 *
 * The division of a step needs the times in which threads without steps communicated and ran
 * operators. So the streams of such threads are walked first. Threads with and without steps can
 * hand on one stream to each other. Such a stream is walked once more, before all others.
 */
#include "model/joint/joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "model/core/scope.h"
#include "model/joint/joint_loops.h"
#include "model/memory/memory.h"
#include "model/steps/steps_build.h"

/* ---- parallel walk ------------------------------------------------------------------------ */

struct joint {
	struct dw_model *models[DW_JOINT_MOST]; /* the first model, and those whose profile is not
	                                         * computed yet */
	struct dw_flat_all *profiles[DW_JOINT_MOST];
	unsigned count;
	bool counted;             /* compute the threads too */
	const struct dw_threads *known; /* the threads if they are known before; NULL: they are not */
	struct dw_threads_sums threads;
	struct dw_outermost_sums outermost;
	const struct dw_op **ops; /* by file */
	const struct dw_segments *segments;
	uint32_t file;
	bool stepped;             /* compute the steps too */
	bool facts;               /* with the steps, compute the products of facts too */
	struct dw_steps_work steps;
	uint32_t more;            /* bits of enum joint_more: only with the steps */
	struct dw_loading_sums loading;
	struct dw_flops_sums flops;
	struct dw_device_build device;
	struct dw_device_work device_work;
	enum joint_round { JOINT_ALL, JOINT_OTHERS, JOINT_STEPS } round;
	bool *stream_has_steps;   /* by stream */
	struct joint_walker {
		struct dw_profile_worker profile;
		struct dw_outermost_worker outermost;
		struct dw_shares_worker shares;
		struct dw_loading_worker loading;
		struct dw_flops_tally *flops;
		struct dw_frames frames;
	} *walkers;
};

/* Walks a segment for the products of facts too. */
static void joint_walk_more(struct joint *joint, struct joint_walker *walker,
                            struct joint_state *state, const struct dw_segment *segment)
{
	const size_t bytes = sizeof(struct joint_more_frame);

	state->more = joint->more;
	if (state->more & JOINT_LOADING)
		dw_loading_begin(&state->loading, &joint->loading, &walker->loading, &state->pass, segment,
		                 bytes, offsetof(struct joint_more_frame, loading));
	if (state->more & JOINT_FLOPS)
		dw_flops_begin(&state->flops, &joint->flops, walker->flops, &state->pass);
	if (state->more & JOINT_DEVICE)
		dw_calls_begin(&state->calls, &joint->device, &joint->device.parts[segment->stream],
		               &state->pass, bytes, offsetof(struct joint_more_frame, calls));
	joint_more_segment(&state->pass, segment);
	if (state->more & JOINT_DEVICE)
		dw_calls_end(&state->calls);
}

static void joint_walk_steps(struct joint *joint, struct joint_walker *walker,
                             struct joint_state *state, const struct dw_segment *segment)
{
	struct dw_shares *shares = &joint->steps.shares;

	dw_shares_begin(&state->division, shares, &walker->shares, &state->pass, segment,
	                joint->more ? sizeof(struct joint_more_frame) : sizeof(struct joint_steps_frame),
	                joint->more ? offsetof(struct joint_more_frame, steps.shares)
	                            : offsetof(struct joint_steps_frame, shares),
	                joint->round == JOINT_OTHERS && dw_others_wants(&shares->others, segment->stream));
	if (joint->more)
		joint_walk_more(joint, walker, state, segment);
	else
		joint_steps_segment(&state->pass, segment);
	dw_shares_end(&state->division);
}

static void joint_walk_segment(void *context, unsigned index, size_t at)
{
	struct joint *joint = context;
	struct joint_walker *walker = &joint->walkers[index];
	const struct dw_segment *segment = &joint->segments->items[at];
	const struct dw_model *model = joint->models[0];
	const struct dw_source_stream *stream = &model->source->streams[segment->stream];
	struct joint_state state;

	if (stream->file != joint->file ||
	    (joint->round != JOINT_ALL && joint->stream_has_steps[segment->stream] != (joint->round == JOINT_STEPS)) ||
	    !dw_profile_worker_init(&walker->profile, joint->profiles[0]->row_count))
		return;
	memset(&state, 0, sizeof state);
	dw_pass_init(&state.pass, model, segment->stream, &walker->frames);
	dw_profile_begin_stream(&state.profile, &walker->profile,
	                        (const struct dw_model *const *)joint->models, joint->count, stream->process);
	state.outermost = &walker->outermost;
	state.sums = &joint->outermost;
	state.ratio = dw_file_ratio(model->source, joint->file);
	if (joint->counted)
		dw_threads_begin(&state.count, &joint->threads, &state.pass, segment);
	if (joint->stepped)
		joint_walk_steps(joint, walker, &state, segment);
	else if (joint->counted)
		joint_counted_segment(&state.pass, segment);
	else
		joint_segment(&state.pass, segment);
	dw_profile_end_stream(&state.profile, &state.pass);
}

static bool joint_start_workers(struct joint *joint, unsigned workers)
{
	uint32_t rows = joint->models[0]->row_count;
	bool good;

	joint->walkers = calloc(workers, sizeof *joint->walkers);
	good = joint->walkers != NULL;
	for (unsigned i = 0; good && i < workers; i++)
		good = dw_outermost_worker_init(&joint->walkers[i].outermost, rows) &&
		       (!joint->stepped || dw_shares_worker_init(&joint->walkers[i].shares, rows)) &&
		       (!(joint->more & JOINT_LOADING) || dw_loading_worker_init(&joint->walkers[i].loading, rows)) &&
		       (!(joint->more & JOINT_FLOPS) ||
		        (joint->walkers[i].flops = dw_flops_tallies_create(joint->models[0])) != NULL);
	return good;
}

static void joint_end_workers(struct joint *joint, unsigned workers)
{
	for (unsigned i = 0; joint->walkers && i < workers; i++) {
		dw_frames_reset(&joint->walkers[i].frames);
		dw_outermost_worker_reset(&joint->walkers[i].outermost);
		dw_shares_worker_reset(&joint->walkers[i].shares);
		dw_loading_worker_reset(&joint->walkers[i].loading);
		free(joint->walkers[i].flops);
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

/* Adds what the workers have of a file to the sums. */
static void joint_end_file(struct joint *joint, unsigned workers)
{
	struct joint_walker *walkers = joint->walkers;

	for (unsigned i = 0; i < workers; i++) {
		dw_profile_merge(joint->profiles, joint->models, joint->count, &walkers[i].profile,
		                 dw_file_ratio(joint->models[0]->source, joint->file));
		if (joint->more & JOINT_LOADING)
			dw_loading_merge(&joint->loading, &walkers[i].loading);
		if (joint->more & JOINT_FLOPS && i)
			dw_flops_fold(&joint->flops, walkers[0].flops, walkers[i].flops);
	}
	if (joint->more & JOINT_LOADING)
		dw_loading_end_file(&joint->loading, joint->file);
	if (joint->more & JOINT_FLOPS)
		dw_flops_end_file(&joint->flops, walkers[0].flops, joint->file);
}

static bool joint_run(struct joint *joint)
{
	const struct dw_source *source = joint->models[0]->source;
	unsigned workers = dw_pool_workers(joint->segments->count);
	bool good = (!joint->stepped || joint_find_streams(joint)) && joint_start_workers(joint, workers);

	for (uint32_t f = 0; good && f < source->file_count; f++) {
		joint->file = f;
		good = joint_run_file(joint, workers);
		for (unsigned i = 0; i < workers; i++)
			good = good && !joint->walkers[i].profile.failed;
		joint_end_file(joint, workers);
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

	for (size_t p = 0; !joint->known && p < model->source->process_count; p++)
		if (threads->process_missing[p]->start_ticks != UINT64_MAX)
			return true;
	if (!dw_steps_end(&joint->steps, threads))
		return false;
	kept = dw_product_put(model, &dw_product_steps, 0);
	if (kept)
		*kept = *joint->steps.steps;
	return kept != NULL;
}

/* Stores the products of facts. False: out of memory. */
static bool joint_keep_more(struct joint *joint)
{
	struct dw_model *model = joint->models[0];
	struct dw_loading_all *loading = NULL;
	struct dw_flops_sum *flops = NULL;
	struct dw_device_work *device;

	if (joint->more & JOINT_LOADING &&
	    (!(loading = dw_product_put(model, &dw_product_loading, 0)) || !dw_loading_finish(&joint->loading, loading)))
		return false;
	if (joint->more & JOINT_FLOPS) {
		flops = dw_product_put(model, &dw_product_flops, 0);
		if (!flops)
			return false;
		dw_flops_finish(&joint->flops, flops);
	}
	if (!(joint->more & JOINT_DEVICE))
		return true;
	if (!dw_device_end(&joint->device) || !(device = dw_product_put(model, &dw_product_device_work, 0)))
		return false;
	*device = joint->device_work;
	joint->device_work = (struct dw_device_work){ .events = NULL };
	return true;
}

/* Stores the results in the models. Called when everything has been computed. */
static bool joint_keep(struct joint *joint, const struct dw_threads *threads)
{
	struct dw_model *model = joint->models[0];
	struct dw_threads *kept_threads;
	struct dw_tree *outermost = dw_product_put(model, &dw_product_outermost, 0);

	if (!outermost || !dw_outermost_finish(model, &joint->outermost, outermost))
		return false;
	for (unsigned i = 0; i < joint->count; i++) {
		struct dw_flat_all *kept = dw_product_put(joint->models[i], &dw_product_profile, DW_BY_NAME);

		if (!kept)
			return false;
		dw_profile_finish(joint->models[i], joint->profiles[i]);
		*kept = *joint->profiles[i];
	}
	if (joint->counted && !joint->known) {
		kept_threads = dw_product_put(model, &dw_product_threads, 0);
		if (!kept_threads)
			return false;
		*kept_threads = *threads;
	}
	return (!joint->stepped ||
	        joint_keep_steps(joint, joint->known ? joint->known : threads)) && joint_keep_more(joint);
}

/* Finds the products of facts that the run has and that do not exist yet. False: out of memory. */
static bool joint_prepare_more(struct joint *joint)
{
	struct dw_model *model = joint->models[0];

	if (!dw_product_has(model, &dw_product_loading, 0)) {
		if (!dw_loading_sums_init(&joint->loading, model))
			return false;
		joint->more |= joint->loading.any ? JOINT_LOADING : 0;
	}
	if (dw_flops_are_facts(model) && !dw_product_has(model, &dw_product_flops, 0)) {
		joint->more |= JOINT_FLOPS;
		if (!dw_flops_sums_init(&joint->flops, model))
			return false;
	}
	if (!model->source->events_count || dw_product_has(model, &dw_product_device_work, 0))
		return true;
	joint->more |= JOINT_DEVICE;
	joint->segments = dw_model_whole_streams(model);
	return joint->segments && dw_device_begin(&joint->device, model, &joint->device_work);
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
		good = dw_steps_begin(&joint->steps, model, steps, joint->known) && good;
	if (joint->stepped && joint->facts)
		good = good && joint_prepare_more(joint);
	if (good && !joint->segments)
		joint->segments = dw_model_segments(model);
	return good && joint->segments;
}

static bool joint_compute(struct joint *joint)
{
	struct dw_threads threads = { .rows = NULL };
	struct dw_steps steps = { .steps = NULL };
	bool good = joint_prepare(joint, &steps) && joint_run(joint) &&
	            (!joint->counted || joint->known || dw_threads_finish(&joint->threads, &threads)) &&
	            joint_keep(joint, &threads);

	if (joint->counted)
		dw_threads_sums_reset(&joint->threads);
	if (joint->stepped)
		dw_steps_reset(&joint->steps);
	dw_loading_sums_reset(&joint->loading);
	dw_flops_sums_reset(&joint->flops);
	if (joint->more & JOINT_DEVICE) {
		dw_device_reset(&joint->device);
		dw_product_device_work.free(&joint->device_work);
	}
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

int dw_model_compute_together(struct dw_model *const *models, unsigned count, bool facts, struct dwell_error *error)
{
	struct dw_model *first = models[0];
	struct joint joint = { .outermost = { .lock = PTHREAD_MUTEX_INITIALIZER }, .facts = facts };

	if (first->intervals || dw_product_has(first, &dw_product_profile, DW_BY_NAME))
		return 0;
	for (unsigned i = 0; i < count; i++) {
		bool again = dw_product_has(models[i], &dw_product_profile, DW_BY_NAME);

		for (unsigned k = 0; k < joint.count; k++)
			again |= joint.models[k] == models[i];
		if (!again)
			joint.models[joint.count++] = models[i];
	}
	/* Memory comes first, because its walk over the streams also finds the segments. */
	if (facts && joint_wants_memory(first) && !dw_model_memory(first, error))
		return DWELL_E_NOMEM;
	if (!dw_threads_are_whole(first)) {
		joint.known = dw_model_threads(first, error);
		joint.segments = joint.known ? dw_model_whole_streams(first) : NULL;
		if (!joint.segments)
			return dw_model_no_memory(first, error);
	} else if (dw_product_has(first, &dw_product_threads, 0)) {
		joint.known = dw_model_threads(first, error);
	}
	joint.stepped = dw_scope_is_all(first) && first->source->step_count && !dw_product_has(first, &dw_product_steps, 0);
	joint.counted = joint.stepped || !joint.known;
	if (!facts && !joint.stepped && !joint.known && count == 1) /* one product is a walk of its own */
		return 0;
	return joint_compute(&joint) ? 0 : dw_model_no_memory(first, error);
}
