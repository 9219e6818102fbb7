/*
 * What recording devices costs a step, from the run itself.
 *
 * To bound the cost, devices are recorded in bursts (probes/cuda/bursts.c): the run has steps that were recorded and, at other
 * times, steps that were not. Their difference is the cost: CUPTI's own, and that of operators and layers, which are recorded at
 * the same times. Both kinds come in stretches, whose steps are alike, so a stretch is one observation: its median step.
 * Each recorded stretch is compared with those before and after it, so that a run that becomes slower or faster does not count.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/numbers.h"
#include "facts/facts.h"
#include "model/core/product.h"
#include "model/device/device.h"
#include "model/steps/steps.h"

#define LEAST_STRETCHES 5u /* with fewer there is no interval */

enum bursts_kind { BURSTS_NEITHER, BURSTS_RECORDED, BURSTS_OTHER };

/* Steps of one kind, one after the other. */
struct bursts_stretch {
	enum bursts_kind kind;
	uint32_t thread;
	double median_ns;
	size_t steps;
};

static enum bursts_kind bursts_kind_of(struct dw_model *model, const struct dw_device_work *work, const struct dw_step *step)
{
	uint32_t process = dw_model_source(model)->threads[step->thread].process;
	const struct dw_device_gap *gap = dw_device_gap_after(work, process, step->start_ns);

	if (step->open || (gap && gap->start_ns > step->start_ns && gap->start_ns < step->end_ns))
		return BURSTS_NEITHER;
	if (!gap || gap->start_ns >= step->end_ns)
		return BURSTS_RECORDED;
	return gap->end_ns >= step->end_ns ? BURSTS_OTHER : BURSTS_NEITHER;
}

static int bursts_compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Divides the steps, which are ordered by thread and begin. Returns how many stretches there are. */
static size_t bursts_divide(struct dw_model *model, const struct dw_device_work *work, const struct dw_steps *steps,
                            struct bursts_stretch *stretches, double *lengths)
{
	size_t count = 0, from = 0;

	for (size_t i = 0; i <= steps->count; i++) {
		const struct dw_step *step = i < steps->count ? &steps->steps[i] : NULL;
		enum bursts_kind kind = step ? bursts_kind_of(model, work, step) : BURSTS_NEITHER;
		struct bursts_stretch *last = count ? &stretches[count - 1] : NULL;
		bool goes_on = last && step && kind == last->kind && step->thread == last->thread;

		if (last && !goes_on && i > from) {
			qsort(lengths, i - from, sizeof *lengths, bursts_compare);
			last->median_ns = (lengths[(i - from) / 2] + lengths[(i - from - 1) / 2]) / 2;
			last->steps = i - from;
		}
		if (step && !goes_on) {
			stretches[count++] = (struct bursts_stretch){ .kind = kind, .thread = step->thread };
			from = i;
		}
		if (step)
			lengths[i - from] = (double)(step->end_ns - step->start_ns);
	}
	return count;
}

/* The nearest stretch of the other kind in a direction, over one that is of neither. NULL: there is none. */
static const struct bursts_stretch *bursts_beside(const struct bursts_stretch *all, size_t count, size_t at, int direction)
{
	for (size_t i = at + (size_t)direction; i < count && all[i].thread == all[at].thread; i += (size_t)direction)
		if (all[i].kind != BURSTS_NEITHER)
			return all[i].kind == BURSTS_OTHER ? &all[i] : NULL;
	return NULL;
}

static void bursts_sum(const struct bursts_stretch *all, size_t count, struct dw_facts_bursts *to)
{
	double sum = 0, squares = 0, n, half;

	for (size_t i = 0; i < count; i++) {
		const struct bursts_stretch *before = bursts_beside(all, count, i, -1), *after = bursts_beside(all, count, i, 1);
		double other_ns, difference;

		to->recorded_steps += all[i].kind == BURSTS_RECORDED ? all[i].steps : 0;
		to->other_steps += all[i].kind == BURSTS_OTHER ? all[i].steps : 0;
		if (all[i].kind != BURSTS_RECORDED || (!before && !after))
			continue;
		other_ns = before && after ? (before->median_ns + after->median_ns) / 2 : (before ? before : after)->median_ns;
		difference = all[i].median_ns - other_ns;
		sum += difference;
		squares += difference * difference;
		to->stretches++;
	}
	n = (double)to->stretches;
	if (to->stretches < LEAST_STRETCHES)
		return;
	to->ns = sum / n;
	half = dw_student(n) * sqrt(fmax(0, squares / n - to->ns * to->ns) / (n - 1));
	to->low_ns = to->ns - half;
	to->high_ns = to->ns + half;
	to->known = true;
}

static bool bursts_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	const struct dw_device_work *work = dw_model_has_device(model) ? dw_model_device_work(model, NULL) : NULL;
	struct bursts_stretch *stretches;
	struct dw_facts_bursts *to = result;
	double *lengths;

	(void)request;
	*to = (struct dw_facts_bursts){ .known = false };
	if (!steps || !work || !work->gap_count)
		return steps != NULL && (work || !dw_model_has_device(model));
	stretches = calloc(steps->count + 1, sizeof *stretches);
	lengths = calloc(steps->count + 1, sizeof *lengths);
	if (stretches && lengths)
		bursts_sum(stretches, bursts_divide(model, work, steps, stretches, lengths), to);
	free(lengths);
	free(stretches);
	return stretches && lengths;
}

bool dw_facts_bursts_add(const struct dw_facts_bursts *bursts, double idle_ns)
{
	return bursts->known && bursts->low_ns > 0 && bursts->high_ns <= idle_ns;
}

const struct dw_facts_bursts *dw_facts_bursts(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_facts_bursts), .compute = bursts_compute };

	return dw_product_get(model, &product, 0, NULL, error);
}
