/*
 * What nests. "X" events of one thread must lie in each other or apart; viewers
 * draw anything else wrong or drop it.
 *
 * Ranges come as they end. Almost all nest; one that dwell_end_of() ended out of
 * order may not, and steps are set by other calls than ranges are. What does not
 * nest is written as "b" and "e", which may overlap.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "export/chrome.h"

void dw_chrome_nest_start(struct dw_chrome_nest *nest, uint32_t track)
{
	nest->track = track;
	nest->count = 0;
	nest->apart = true;
}

/* How many spans begin before `start_ns`. */
static size_t spans_before(const struct dw_chrome_nest *nest, uint64_t start_ns)
{
	size_t low = 0, high = nest->count;

	if (high == 0 || nest->spans[high - 1].start_ns < start_ns)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (nest->spans[middle].start_ns < start_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Spans that the new one encloses are forgotten, for what encloses the new one
 * encloses them. Those in front of it stay while anything is open that may begin
 * behind them. Two neighbours of one depth lie in the same open ranges, so nothing
 * open begins between them and they can be kept as one: that holds memory to the
 * depth. It needs every end to come here, which is not so within a scope of steps
 * (never_together) and behind a range that did not nest (apart).
 */
int dw_chrome_nest_add(struct dw_chrome_nest *nest, uint64_t start_ns, uint64_t end_ns,
                       uint32_t depth)
{
	size_t before = spans_before(nest, start_ns);
	struct dw_chrome_span *span;

	if (before && nest->spans[before - 1].end_ns > start_ns) {
		nest->apart = true;
		return 0;
	}
	nest->count = before;
	if (depth == 0) {
		nest->count = 0; /* nothing is open */
		nest->apart = true;
		return 1;
	}
	if (before && !nest->apart && !nest->never_together && nest->spans[before - 1].depth == depth) {
		nest->spans[before - 1].end_ns = end_ns;
		return 1;
	}
	span = DW_GROW(&nest->spans, &nest->capacity, nest->count);
	if (!span)
		return -1;
	nest->count++;
	*span = (struct dw_chrome_span){ start_ns, end_ns, depth };
	nest->apart = false;
	return 1;
}

/* ---- steps -------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct dw_chrome_step *a = left, *b = right;

	if (a->track != b->track)
		return a->track < b->track ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->step < b->step ? -1 : 1;
}

/* Those that overlap the one before go behind the others, out of the searches' way: no
 * trace has any unless it is damaged. -1: out of memory. */
static int set_apart(struct dw_chrome_steps *steps)
{
	struct dw_chrome_step *overlapping = calloc(steps->count + 1, sizeof *overlapping);
	size_t kept = 0, others = 0;

	if (!overlapping)
		return -1;
	for (size_t i = 0; i < steps->count; i++) {
		struct dw_chrome_step *step = &steps->steps[i];

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

int dw_chrome_steps_make(struct dw_chrome_steps *steps, const struct dw_model *model)
{
	const struct dw_source *source = dw_model_source(model);
	size_t at = 0;

	steps->steps = calloc(source->step_count + 1, sizeof *steps->steps);
	steps->from = calloc(source->thread_count + 1, sizeof *steps->from);
	if (!steps->steps || !steps->from)
		return -1;
	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		struct dw_chrome_step *to;

		if (!dw_model_has_step(model, step))
			continue;
		to = &steps->steps[steps->count++];
		to->step = step;
		to->track = step->thread * 2;
		to->start_ns = step->start_ns;
		to->end_ns = step->end_ns > step->start_ns ? step->end_ns : step->start_ns;
	}
	qsort(steps->steps, steps->count, sizeof *steps->steps, compare);
	if (set_apart(steps))
		return -1;
	for (size_t thread = 0; thread <= source->thread_count; thread++) {
		while (at < steps->apart && steps->steps[at].track < thread * 2)
			at++;
		steps->from[thread] = at;
	}
	return 0;
}

void dw_chrome_steps_reset(struct dw_chrome_steps *steps)
{
	free(steps->steps);
	free(steps->from);
}

/* The step that began last before `ns`, or NULL. */
static struct dw_chrome_step *step_before(struct dw_chrome_steps *steps, uint32_t thread,
                                          uint64_t ns)
{
	size_t from = steps->from[thread], low = from, high = steps->from[thread + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (steps->steps[middle].start_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	steps->at = low > from ? low - 1 : steps->at;
	return low > from ? &steps->steps[low - 1] : NULL;
}

void dw_chrome_steps_meet(struct dw_chrome_steps *steps, uint32_t thread, uint64_t start_ns,
                          uint64_t end_ns)
{
	struct dw_chrome_step *step = &steps->steps[steps->at];

	if (steps->from[thread] == steps->from[thread + 1])
		return;
	if (step->track == thread * 2 && step->start_ns <= start_ns && end_ns <= step->end_ns)
		return;
	step = step_before(steps, thread, end_ns);
	if (step && end_ns < step->end_ns && start_ns < step->start_ns)
		step->overlaps = true;
	step = step_before(steps, thread, start_ns);
	if (step && start_ns < step->end_ns && end_ns > step->end_ns)
		step->overlaps = true;
}
