/*
 * The profiles by name of several scopes, the outermost ranges, the threads and the steps, in one
 * walk; see joint.h.
 *
 * The division of a step needs the times in which threads without steps communicated and ran
 * operators. So the streams of such threads are walked first. Threads with and without steps can
 * hand on one stream to each other. Such a stream is walked once more, before all others.
 */
#include "model/joint/joint.h"

#include "model/collectives/collectives_pass.h"
#include "model/core/scope.h"
#include "model/device/calls_pass.h"
#include "model/memory/memory.h"
#include "model/steps/division.h"
#include "model/steps/iterations.h"
#include "model/steps/periods.h"
#include "model/steps/steps_build.h"
#include "model/time/flops_pass.h"
#include "model/time/loading_pass.h"
#include "model/time/outermost_pass.h"
#include "model/time/profile_by_name_pass.h"
#include "model/time/threads_pass.h"

/* ---- the loops ---------------------------------------------------------------------------- */

/* Several, so that a walk has no cost for products that it does not compute. */
#define LOOP joint_plain
#define LOOP_HOOKS .chains = true, .all_linked = true
#define LOOP_PARTS(PART) PART(profile, ALWAYS) PART(outermost, ALWAYS)
#include "model/core/loop.h"

#define LOOP joint_counted
#define LOOP_HOOKS .chains = true, .all_linked = true
#define LOOP_PARTS(PART) PART(profile, ALWAYS) PART(outermost, ALWAYS) PART(threads, ALWAYS)
#include "model/core/loop.h"

/* Of a run without marked steps: all of it is one scope. */
#define LOOP joint_whole
#define LOOP_HOOKS .chains = true, .all_linked = true
#define LOOP_PARTS(PART) PART(profile, ALWAYS) PART(outermost, ALWAYS) PART(threads, ALWAYS) PART(shares, ALWAYS)
#define LOOP_EVERYTHING
#define LOOP_BURSTS
#include "model/core/loop.h"

#define LOOP joint_steps
#define LOOP_HOOKS .chains = true, .all_linked = true
#define LOOP_PARTS(PART) PART(profile, ALWAYS) PART(outermost, ALWAYS) PART(threads, ALWAYS) PART(shares, ALWAYS)
#include "model/core/loop.h"

#define LOOP joint_facts
#define LOOP_HOOKS .chains = true, .all_linked = true
#define LOOP_PARTS(PART)                                                                     \
	PART(profile, ALWAYS) PART(outermost, ALWAYS) PART(threads, ALWAYS) PART(shares, ALWAYS) \
	PART(loading, PERHAPS) PART(flops, PERHAPS) PART(calls, PERHAPS)
#include "model/core/loop.h"

#define LOOP joint_ranks
#define LOOP_HOOKS
#define LOOP_PARTS(PART) PART(threads, ALWAYS) PART(shares, ALWAYS) PART(collectives, ALWAYS)
#define LOOP_DROPS_ROWS
#define LOOP_EVERYTHING
#include "model/core/loop.h"

/* ---- the walk ----------------------------------------------------------------------------- */

struct joint {
	struct dw_model *models[DW_JOINT_MOST]; /* the first model, and those whose profile is not
	                                         * computed yet */
	struct dw_flat_all *profiles[DW_JOINT_MOST];
	const struct dw_threads *known;     /* the threads if they are known before; NULL: they are not */
	const struct dw_threads *known_now; /* those that the walk has found */
	const struct dw_segments *segments;
	struct dw_part_sums sums;           /* which products are computed, each in one of these */
	struct dw_profile_sums profile;
	struct dw_outermost_sums outermost;
	struct dw_threads_sums threads;
	struct dw_steps_work steps;
	struct dw_steps steps_made;
	struct dw_loading_sums loading;
	struct dw_flops_sums flops;
	struct dw_device_build device;
	struct dw_device_work device_work;
	struct dw_collectives_sums collectives;
};

static bool joint_walk(struct joint *joint)
{
	struct dw_model *model = joint->models[0];
	struct dw_part_sums *sums = &joint->sums;

	if (sums->collectives)
		return joint_ranks_walk_all(model, sums, NULL, NULL);
	if (sums->loading || sums->flops || sums->calls)
		return joint_facts_walk_all(model, sums, joint->segments, NULL);
	if (sums->shares && joint->profile.count == 1 && dw_scope_is_all(model))
		return joint_whole_walk_all(model, sums, joint->segments, NULL);
	if (sums->shares)
		return joint_steps_walk_all(model, sums, joint->segments, NULL);
	if (sums->threads)
		return joint_counted_walk_all(model, sums, joint->segments, NULL);
	return joint_plain_walk_all(model, sums, joint->segments, NULL);
}

/* ---- before the walk ---------------------------------------------------------------------- */

static bool joint_begin_profiles(struct joint *joint)
{
	struct dw_profile_sums *sums = &joint->profile;

	joint->sums.profile = sums;
	joint->sums.outermost = &joint->outermost;
	joint->outermost.model = joint->models[0];
	sums->models = joint->models;
	sums->profiles = joint->profiles;
	sums->row_count = joint->models[0]->row_count;
	for (unsigned i = 0; i < sums->count; i++) {
		joint->profiles[i] = dw_arena_alloc(&joint->models[i]->arena, sizeof **joint->profiles);
		sums->ops = joint->profiles[i] ? dw_profile_prepare(joint->models[i], joint->profiles[i], DW_BY_NAME) : NULL;
		if (!sums->ops)
			return false;
	}
	return true;
}

static bool joint_begin_threads(struct joint *joint)
{
	joint->sums.threads = &joint->threads;
	return dw_threads_sums_init(&joint->threads, joint->models[0]);
}

static bool joint_begin_steps(struct joint *joint)
{
	joint->sums.shares = &joint->steps.shares;
	return dw_steps_begin(&joint->steps, joint->models[0], &joint->steps_made, joint->known);
}

/* The products of facts that the run has and that do not exist yet. */
static bool joint_begin_facts(struct joint *joint)
{
	struct dw_model *model = joint->models[0];

	if (!dw_product_has(model, &dw_product_loading, 0)) {
		if (!dw_loading_sums_init(&joint->loading, model))
			return false;
		joint->sums.loading = joint->loading.any ? &joint->loading : NULL;
	}
	if (dw_flops_are_facts(model) && !dw_product_has(model, &dw_product_flops, 0)) {
		joint->sums.flops = &joint->flops;
		if (!dw_flops_sums_init(&joint->flops, model))
			return false;
	}
	if (!model->source->events_count || dw_product_has(model, &dw_product_device_work, 0))
		return true;
	joint->sums.calls = &joint->device;
	joint->segments = dw_model_whole_streams(model);
	return joint->segments && dw_device_begin(&joint->device, model, &joint->device_work);
}

static void joint_reset(struct joint *joint)
{
	if (joint->sums.threads)
		dw_threads_sums_reset(&joint->threads);
	if (joint->sums.shares)
		dw_steps_reset(&joint->steps);
	dw_loading_sums_reset(&joint->loading);
	dw_flops_sums_reset(&joint->flops);
	if (joint->sums.calls) {
		dw_device_reset(&joint->device);
		dw_product_device_work.free(&joint->device_work);
	}
	if (joint->sums.collectives)
		dw_collectives_sums_reset(&joint->collectives);
	free(joint->outermost.items);
}

/* ---- after the walk: the results are stored in the models. False: out of memory ------------- */

static bool joint_keep_profiles(struct joint *joint)
{
	struct dw_tree *outermost = dw_product_put(joint->models[0], &dw_product_outermost, 0);

	if (!outermost || !dw_outermost_finish(joint->models[0], &joint->outermost, outermost))
		return false;
	for (unsigned i = 0; i < joint->profile.count; i++) {
		struct dw_flat_all *kept = dw_product_put(joint->models[i], &dw_product_profile, DW_BY_NAME);

		if (!kept)
			return false;
		dw_profile_finish(joint->models[i], joint->profiles[i]);
		*kept = *joint->profiles[i];
	}
	return true;
}

static bool joint_keep_threads(struct joint *joint)
{
	struct dw_threads *kept;

	if (joint->known)
		return true;
	kept = dw_product_put(joint->models[0], &dw_product_threads, 0);
	joint->known_now = kept;
	return kept && dw_threads_finish(&joint->threads, kept);
}

/* Stores the steps, unless the walk found that records are missing although the file did not report
 * it. In that case the steps were divided as if they were whole: a later request computes them
 * again. */
static bool joint_keep_steps(struct joint *joint)
{
	struct dw_model *model = joint->models[0];
	const struct dw_threads *threads = joint->known ? joint->known : joint->known_now;
	struct dw_steps *kept;

	for (size_t p = 0; !joint->known && p < model->source->process_count; p++)
		if (threads->process_missing[p]->start_ticks != UINT64_MAX)
			return true;
	if (!dw_steps_end(&joint->steps, threads))
		return false;
	kept = dw_product_put(model, &dw_product_steps, 0);
	if (kept)
		*kept = joint->steps_made;
	return kept != NULL;
}

static bool joint_keep_facts(struct joint *joint)
{
	struct dw_model *model = joint->models[0];
	struct dw_loading_all *loading;
	struct dw_flops_sum *flops;
	struct dw_device_work *device;

	if (joint->sums.loading &&
	    (!(loading = dw_product_put(model, &dw_product_loading, 0)) || !dw_loading_finish(&joint->loading, loading)))
		return false;
	if (joint->sums.flops) {
		flops = dw_product_put(model, &dw_product_flops, 0);
		if (!flops)
			return false;
		dw_flops_finish(&joint->flops, flops);
	}
	if (!joint->sums.calls)
		return true;
	if (!dw_device_end(&joint->device) || !(device = dw_product_put(model, &dw_product_device_work, 0)))
		return false;
	*device = joint->device_work;
	joint->device_work = (struct dw_device_work){ .events = NULL };
	return true;
}

static bool joint_keep_collectives(struct joint *joint)
{
	void *kept = dw_product_put(joint->models[0], &dw_product_collectives, 0);

	return kept && dw_collectives_finish(&joint->collectives, kept);
}

static bool joint_keep(struct joint *joint)
{
	const struct dw_part_sums *sums = &joint->sums;

	return (!sums->profile || joint_keep_profiles(joint)) && (!sums->threads || joint_keep_threads(joint)) &&
	       (!sums->collectives || joint_keep_collectives(joint)) && (!sums->shares || joint_keep_steps(joint)) &&
	       joint_keep_facts(joint);
}

/* ---- for facts ------------------------------------------------------------------------------ */

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

static void joint_choose_models(struct joint *joint, struct dw_model *const *models, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		bool again = dw_product_has(models[i], &dw_product_profile, DW_BY_NAME);

		for (unsigned k = 0; k < joint->profile.count; k++)
			again |= joint->models[k] == models[i];
		if (!again)
			joint->models[joint->profile.count++] = models[i];
	}
}

static bool joint_compute(struct joint *joint, bool stepped, bool facts)
{
	bool good = joint_begin_profiles(joint) && ((joint->known && !stepped) || joint_begin_threads(joint)) &&
	            (!stepped || joint_begin_steps(joint)) && (!stepped || !facts || joint_begin_facts(joint));

	if (good && !joint->segments)
		joint->segments = dw_model_segments(joint->models[0]);
	good = good && joint->segments && joint_walk(joint) && joint_keep(joint);
	joint_reset(joint);
	return good;
}

static int joint_compute_models(struct dw_model *const *models, unsigned count, bool facts, struct dwell_error *error)
{
	struct dw_model *first = models[0];
	struct joint joint = { .outermost = { .lock = PTHREAD_MUTEX_INITIALIZER } };
	bool stepped;

	joint_choose_models(&joint, models, count);
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
	stepped = dw_scope_is_all(first) && first->source->step_count && !dw_product_has(first, &dw_product_steps, 0);
	if (!facts && !stepped && !joint.known && count == 1) /* one product is a walk of its own */
		return 0;
	return joint_compute(&joint, stepped, facts) ? 0 : dw_model_no_memory(first, error);
}

/* The model whose steps are the iterations of a run that marks none. The model itself if they are marked, or if it takes a walk
 * over all threads to know which of them repeats something. */
static struct dw_model *joint_iterated(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_iterated *iterated;

	if (!dw_scope_is_all(model) || model->source->step_count || dw_period_only_thread(model->source) == DW_NO_INDEX)
		return model;
	iterated = dw_model_iterated(model, error);
	return iterated ? iterated->model : NULL;
}

int dw_model_compute_together(struct dw_model *const *models, unsigned count, bool facts, struct dwell_error *error)
{
	struct dw_model *first = models[0], *iterated = first;
	int result;

	if (first->intervals || dw_product_has(first, &dw_product_profile, DW_BY_NAME))
		return 0;
	if (facts && count == 1 && !(iterated = joint_iterated(first, error)))
		return DWELL_E_NOMEM;
	if (iterated == first)
		return joint_compute_models(models, count, facts, error);
	result = joint_compute_models(&iterated, 1, true, error);
	dw_products_lend(iterated, first);
	return result;
}

/* ---- for summaries of ranks ------------------------------------------------------------------ */

int dw_model_compute_ranks_together(struct dw_model *model, struct dwell_error *error)
{
	struct joint joint = { .models = { model } };
	bool good;

	if (!dw_scope_is_all(model) || !model->source->step_count || !dw_threads_are_whole(model) ||
	    dw_product_has(model, &dw_product_threads, 0) || dw_product_has(model, &dw_product_steps, 0) ||
	    dw_product_has(model, &dw_product_collectives, 0))
		return 0;
	joint.sums.collectives = &joint.collectives;
	good = dw_collectives_sums_init(&joint.collectives, model) && joint_begin_threads(&joint) &&
	       joint_begin_steps(&joint) && joint_walk(&joint) && joint_keep(&joint);
	joint_reset(&joint);
	return good ? 0 : dw_model_no_memory(model, error);
}
