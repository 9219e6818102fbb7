/*
 * The steps as a row among the calls; see calls_inside.h.
 *
 * A step's own time is what no call in it took. A step that lies inside a range which
 * counts is no call: it would count the range's time again.
 */
#include <stdlib.h>

#include "model/time/call_groups.h"

bool dw_call_steps_make(struct dw_call_steps *steps, struct dw_model *model)
{
	steps->model = model;
	steps->inner = calloc(model->source->step_count + 1, sizeof *steps->inner);
	return steps->inner != NULL;
}

void dw_call_steps_reset(struct dw_call_steps *steps)
{
	free(steps->inner);
}

void dw_call_steps_seek(const struct dw_call_steps *steps, uint32_t process,
                        struct dw_call_steps_at *at)
{
	const struct dw_source *source = steps->model->source;

	*at = (struct dw_call_steps_at){ 0 };
	while (at->step < source->step_count &&
	       source->threads[source->steps[at->step].thread].process != process)
		at->step++;
	at->next = at->end = at->step;
	while (at->end < source->step_count &&
	       source->threads[source->steps[at->end].thread].process == process)
		at->end++;
}

/* Its time, where a step is around it. */
static void cover(struct dw_call_steps *steps, struct dw_call_steps_at *at,
                  const struct dw_call_span *call)
{
	const struct dw_source_step *step = steps->model->source->steps;

	while (at->step < at->end &&
	       (step[at->step].thread != call->thread || step[at->step].end_ticks <= call->start))
		at->step++;
	if (at->step < at->end && call->start >= step[at->step].start_ticks)
		steps->covered_ticks += (uint64_t)((double)(call->end - call->start) * call->ratio);
}

static void mark_inner(struct dw_call_steps *steps, struct dw_call_steps_at *at,
                       const struct dw_call_span *call)
{
	const struct dw_source *source = steps->model->source;

	while (at->next < at->end && source->steps[at->next].end_ticks <= call->start)
		at->next++;
	for (size_t i = at->next; i < at->end; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (step->start_ticks >= call->end)
			break;
		if (step->start_ticks >= call->start && step->end_ticks <= call->end &&
		    step->thread == call->thread)
			steps->inner[i] = true;
	}
}

void dw_call_steps_call(struct dw_call_steps *steps, struct dw_call_steps_at *at,
                        const struct dw_call_span *call)
{
	mark_inner(steps, at, call);
	cover(steps, at, call);
}

bool dw_call_steps_take(struct dw_call_steps *steps, struct dw_call_sums *sums)
{
	struct dw_model *model = steps->model;
	const struct dw_source *source = model->source;
	struct dw_call_sum *row = NULL;
	uint64_t all_ticks = 0;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		uint64_t ticks = dw_call_ticks(model, step->end_ns - step->start_ns);

		if (!dw_model_has_step(model, step) || !step->recorded || steps->inner[i] ||
		    (model->wanted_threads && !model->wanted_threads[step->thread]))
			continue;
		row = dw_call_sum_of(sums, DW_NO_INDEX, 0, DW_NO_INDEX, false);
		if (!row)
			return false;
		dw_call_sum_add(row, &model->arena, step->start_ns, ticks, 0);
		row->tally.open += step->open;
		all_ticks += ticks;
	}
	if (all_ticks > steps->covered_ticks)
		steps->self_ticks = all_ticks - steps->covered_ticks;
	if (row)
		row->tally.self = steps->self_ticks;
	return true;
}
