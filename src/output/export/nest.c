/*
 * Finds out which ranges and steps of a track nest; see nest.h.
 *
 * Called by timeline.c for every range. Memory is bounded by the depth of open ranges as long as
 * ranges end in order.
 */

#include "base/grow.h"
#include "base/order.h"
#include "export/nest.h"

void dw_nest_start(struct dw_nest *nest)
{
	nest->count = 0;
	nest->apart = true;
}

/* Returns the number of spans that begin before `start_ns`. */
static size_t nest_spans_before(const struct dw_nest *nest, uint64_t start_ns)
{
	size_t count = nest->count;

	if (count == 0 || nest->spans[count - 1].start_ns < start_ns)
		return count;
	return DW_FIRST(i, 0, count, nest->spans[i].start_ns >= start_ns);
}

/*
 * Spans inside the new one are removed, because a range that encloses the new span encloses them
 * too. Spans before the new one are kept while a range is open that may begin after them. Two
 * neighbours of the same depth are inside the same open ranges, so no open range begins between
 * them, and they are merged into one span: this bounds memory by the depth. Two spans must not be
 * merged if a range between them was not added (never_joined) or did not nest (apart).
 */
int dw_nest_add(struct dw_nest *nest, uint64_t start_ns, uint64_t end_ns, uint32_t depth)
{
	size_t before = nest_spans_before(nest, start_ns);

	if (before && nest->spans[before - 1].end_ns > start_ns) {
		nest->apart = true;
		return 0;
	}
	nest->count = before;
	if (depth == 0) {
		nest->count = 0; /* no range is open */
		nest->apart = true;
		return 1;
	}
	if (before && !nest->apart && !nest->never_joined && nest->spans[before - 1].depth == depth) {
		nest->spans[before - 1].end_ns = end_ns;
		return 1;
	}
	if (!DW_APPEND(&nest->spans, &nest->capacity, &nest->count, (struct dw_nest_span){ start_ns, end_ns, depth }))
		return -1;
	nest->apart = false;
	return 1;
}

void dw_nest_reset(struct dw_nest *nest)
{
	free(nest->spans);
	memset(nest, 0, sizeof *nest);
}

/* ---- steps -------------------------------------------------------------------------- */

DW_ORDER(nest_compare_steps, struct dw_nest_step, DW_UP(track) DW_UP(start_ns) DW_UP(step))

/* Moves steps that overlap an earlier one to the end, so that searches do not find them. Only
 * damaged traces have such steps. Returns -1 if out of memory. */
static int nest_set_apart(struct dw_nest_steps *steps)
{
	struct dw_nest_step *overlapping = calloc(steps->count + 1, sizeof *overlapping);
	size_t kept = 0, others = 0;

	if (!overlapping)
		return -1;
	for (size_t i = 0; i < steps->count; i++) {
		struct dw_nest_step *step = &steps->steps[i];

		step->overlaps = kept && steps->steps[kept - 1].track == step->track &&
		                 step->start_ns < steps->steps[kept - 1].end_ns;
		if (step->overlaps)
			overlapping[others++] = *step;
		else
			steps->steps[kept++] = *step;
	}
	memcpy(steps->steps + kept, overlapping, others * sizeof *overlapping);
	free(overlapping);
	steps->apart = kept;
	return 0;
}

int dw_nest_steps_make(struct dw_nest_steps *steps, const struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	size_t at = 0;

	steps->steps = calloc(source->step_count + 1, sizeof *steps->steps);
	steps->first = calloc(source->thread_count + 1, sizeof *steps->first);
	if (!steps->steps || !steps->first)
		return -1;
	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		struct dw_nest_step *to;

		if (!dw_model_has_step(model, step))
			continue;
		to = &steps->steps[steps->count++];
		to->step = step;
		to->track = step->thread * 2;
		to->start_ns = step->start_ns;
		to->end_ns = step->end_ns > step->start_ns ? step->end_ns : step->start_ns;
	}
	qsort(steps->steps, steps->count, sizeof *steps->steps, nest_compare_steps);
	if (nest_set_apart(steps))
		return -1;
	for (size_t thread = 0; thread <= source->thread_count; thread++) {
		while (at < steps->apart && steps->steps[at].track < thread * 2)
			at++;
		steps->first[thread] = at;
	}
	return 0;
}

void dw_nest_steps_reset(struct dw_nest_steps *steps)
{
	free(steps->steps);
	free(steps->first);
	memset(steps, 0, sizeof *steps);
}

/* Returns the last step of a thread that began before `ns`, or NULL. */
static struct dw_nest_step *nest_step_before(struct dw_nest_steps *steps, uint32_t thread, uint64_t ns)
{
	size_t from = steps->first[thread];
	size_t low = DW_FIRST(i, from, steps->first[thread + 1], steps->steps[i].start_ns >= ns);

	steps->at = low > from ? low - 1 : steps->at;
	return low > from ? &steps->steps[low - 1] : NULL;
}

void dw_nest_steps_add_range(struct dw_nest_steps *steps, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	struct dw_nest_step *step = &steps->steps[steps->at];

	if (steps->first[thread] == steps->first[thread + 1])
		return;
	if (step->track == thread * 2 && step->start_ns <= start_ns && end_ns <= step->end_ns)
		return;
	step = nest_step_before(steps, thread, end_ns);
	if (step && end_ns < step->end_ns && start_ns < step->start_ns)
		step->overlaps = true;
	step = nest_step_before(steps, thread, start_ns);
	if (step && start_ns < step->end_ns && end_ns > step->end_ns)
		step->overlaps = true;
}
