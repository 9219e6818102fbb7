/*
 * The outline of the steps: what is known of them without walking the records.
 *
 * A caller that needs figures of the counted steps only makes its scope from the outline. Then one
 * walk over the records can serve that scope and others. If records are missing, the outline needs
 * the threads product, which knows the steps in which they are missing.
 */
#include <stdlib.h>

#include "model/core/scope.h"
#include "model/steps/steps_build.h"
#include "model/time/threads_pass.h"

static bool outline_has(const struct dw_model *model, const struct dw_source_step *step)
{
	return (!model->wanted_threads || model->wanted_threads[step->thread]) && dw_model_has_step(model, step);
}

/* Finds the thread with the most steps in scope. False: out of memory. */
static bool outline_find_loop(const struct dw_model *model, struct dw_step_outline *outline)
{
	const struct dw_source *source = model->source;
	size_t *counts = calloc(source->thread_count + 1, sizeof *counts);
	uint32_t most = 0;
	bool ended = false;

	for (size_t i = 0; counts && i < source->step_count; i++)
		counts[source->steps[i].thread] += outline_has(model, &source->steps[i]);
	for (uint32_t t = 1; counts && t < source->thread_count; t++)
		most = counts[t] > counts[most] ? t : most;
	outline->loop_start_ns = UINT64_MAX;
	for (size_t i = 0; counts && i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		uint64_t end_ns;

		if (step->thread != most || !outline_has(model, step))
			continue;
		if (step->start_ns < outline->loop_start_ns)
			outline->loop_start_ns = step->start_ns;
		/* As struct dw_loop: a last step that did not end is not in the loop. */
		end_ns = step->open && ended ? step->start_ns : step->end_ns;
		outline->loop_end_ns = end_ns > outline->loop_end_ns ? end_ns : outline->loop_end_ns;
		ended |= !step->open;
	}
	free(counts);
	return counts != NULL;
}

static bool outline_compute(struct dw_model *model, const void *request, void *result)
{
	static const struct dw_interval none = { UINT64_MAX, UINT64_MAX };
	const struct dw_source *source = model->source;
	bool all_here = dw_threads_are_whole(model);
	const struct dw_threads *threads = all_here ? NULL : dw_model_threads(model, NULL);
	bool *counted = dw_arena_alloc(&model->arena, source->step_count + 1);
	bool *steps = dw_arena_alloc(&model->arena, source->thread_count + 1);
	struct dw_step_outline *outline = result;
	const struct dw_interval *missing = &none;
	uint32_t process = DW_NO_INDEX;
	size_t open = 0;

	if (!counted || !steps || (!all_here && !threads))
		return false;
	for (size_t i = 0; i < source->step_count; i++)
		if (outline_has(model, &source->steps[i])) {
			outline->count++;
			open += source->steps[i].open;
			steps[source->steps[i].thread] = true;
		}
	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (!outline_has(model, step))
			continue;
		if (threads && source->threads[step->thread].process != process) {
			process = source->threads[step->thread].process;
			missing = threads->process_missing[process];
		}
		/* Steps without an end count only if no step has one. */
		counted[i] = step->recorded && dw_step_is_whole(step, &missing) && (!step->open || open == outline->count);
		outline->counted_count += counted[i];
	}
	for (size_t i = 0; i < source->thread_count; i++)
		outline->other_threads |=
			!steps[i] && !(source->processes[source->threads[i].process].flags & DW_PROCESS_RUNNER);
	outline->counted = counted;
	return outline_find_loop(model, outline);
}

DW_PRODUCT(step_outline, struct dw_step_outline, outline_compute, NULL);

DW_PRODUCT_GETTER(step_outline, struct dw_step_outline)

struct dw_model *dw_model_counted(struct dw_model *model, enum dw_counted_threads which, struct dwell_error *error)
{
	struct dw_scope scope = *dw_model_scope(model);
	const struct dw_step_outline *steps;
	struct dw_model *inside = NULL;

	if (!dw_model_source(model)->step_count)
		return NULL;
	steps = dw_model_step_outline(model, error);
	if (!steps)
		return NULL;
	scope.step_threads = which == DW_COUNTED_STEP_THREADS && steps->other_threads;
	if (scope.has_steps && !scope.step_threads && steps->counted_count == steps->count)
		return model;
	if (!scope.has_steps) {
		scope.has_steps = true;
		scope.steps_from = 0;
		scope.steps_to = UINT64_MAX;
	}
	scope.steps_counted = steps->counted_count ? steps->counted : NULL;
	dw_model_within(model, &scope, &inside, error);
	return inside;
}
