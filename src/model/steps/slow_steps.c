/*
 * Why a step was slow: which rows took most time beyond their medians over usual steps.
 *
 * Called by steps_product.c. The steps' lengths, and so the slow ones, are known before the walk. Therefore
 * the walk collects the times of rows only for slow steps and for a sample of steady ones. After the
 * walk, the times in slow steps are compared with their medians in the sample.
 */
#include "base/free.h"
#include "base/order.h"
#include "model/steps/roles.h"
#include "model/steps/steps_build.h"

#define SLOW_RATIO 1.5
#define MOST_SLOW 256u  /* steps that get an explanation */
#define SAMPLE 128u     /* usual steps in the sample */
#define MOST_SUSPECTS 4096u
#define LEAST_PART 0.2  /* least part of a step's excess that a row must explain */

uint64_t dw_steps_quantile(const uint64_t *sorted, size_t count, double q)
{
	size_t rank = (size_t)(q * (double)count);

	rank += (double)rank < q * (double)count;
	return count ? sorted[rank ? rank - 1 : 0] : 0;
}

static bool slow_is_slow(const struct dw_steps *steps, const struct dw_step *step)
{
	return (double)dw_step_length(step) > SLOW_RATIO * (double)steps->p50_ns && step->recorded && step->whole;
}

/* Long steps that recur belong to the loop: what they compute is part of its mean (roles.h). */
static bool slow_is_steady(const struct dw_steps_work *work, size_t i)
{
	const struct dw_step *step = &work->steps->steps[i];

	return step->recorded && step->whole && work->classes->roles[work->from[i]] & DW_ROLE_STEADY;
}

/* The least length of steps that are explained, so that at most MOST_SLOW are. */
static uint64_t slow_find_bar(const struct dw_steps *steps)
{
	uint64_t *lengths = malloc((steps->count + 1) * sizeof *lengths), bar = 0;
	size_t count = 0;

	for (size_t i = 0; lengths && i < steps->count; i++)
		if (slow_is_slow(steps, &steps->steps[i]))
			lengths[count++] = dw_step_length(&steps->steps[i]);
	if (count > MOST_SLOW) {
		qsort(lengths, count, sizeof *lengths, dw_compare_u64);
		bar = lengths[count - MOST_SLOW] + 1;
	}
	free(lengths);
	return bar;
}

void dw_steps_sample(struct dw_steps_work *work)
{
	const struct dw_steps *steps = work->steps;
	uint64_t bar = slow_find_bar(steps);
	size_t steady = 0, seen = 0, taken = 0;
	bool any = false; /* without a slow step there is nothing to explain */

	for (size_t i = 0; i < steps->count; i++) {
		steady += slow_is_steady(work, i);
		any |= slow_is_slow(steps, &steps->steps[i]);
	}
	for (size_t i = 0; i < steps->count; i++) {
		struct dw_pace_step *to = &work->ticks[i];

		to->sampled = slow_is_slow(steps, &steps->steps[i]) && dw_step_length(&steps->steps[i]) >= bar;
		if (!slow_is_steady(work, i))
			continue;
		/* spread evenly over the run */
		if (taken < SAMPLE && (steady <= SAMPLE || seen * SAMPLE / steady >= taken)) {
			to->sampled = any;
			to->usual = true;
			taken++;
		}
		seen++;
	}
}

struct suspects {
	uint32_t *index;   /* by row: number of the suspect, from 1; 0: none */
	uint32_t count;
	uint64_t *times;   /* SAMPLE entries for each suspect, of which `steps` are used */
	size_t steps;
};

static void slow_find_culprit(struct suspects *suspects, const struct dw_pace_step *step)
{
	for (uint32_t i = 0; i < step->self_count; i++)
		if (!suspects->index[step->selfs[i].row] && suspects->count < MOST_SUSPECTS)
			suspects->index[step->selfs[i].row] = ++suspects->count;
}

static void slow_collect_selfs(struct suspects *suspects, const struct dw_pace_step *step)
{
	for (uint32_t i = 0; i < step->self_count; i++) {
		uint32_t index = suspects->index[step->selfs[i].row];

		if (index)
			suspects->times[(index - 1) * (size_t)SAMPLE + suspects->steps] = step->selfs[i].ticks;
	}
	suspects->steps++;
}

static void slow_compare_step(struct dw_model *model, const struct suspects *suspects,
                              const struct dw_steps *steps, const struct dw_pace_step *ticks,
                              struct dw_step *step, double ns_per_tick)
{
	double excess = (double)dw_step_length(step) - (double)steps->p50_ns, worst = 0;

	for (uint32_t i = 0; i < ticks->self_count; i++) {
		uint32_t index = suspects->index[ticks->selfs[i].row];
		uint64_t usual;
		double extra;

		if (!index)
			continue;
		usual = dw_steps_quantile(suspects->times + (index - 1) * (size_t)SAMPLE, suspects->steps, 0.5);
		extra = ((double)ticks->selfs[i].ticks - (double)usual) * ns_per_tick;
		if (extra <= worst || extra < LEAST_PART * excess)
			continue;
		worst = extra;
		step->slow_symbol = model->row_symbol[ticks->selfs[i].row];
		step->slow_extra_ns = (uint64_t)(extra + 0.5);
	}
}

int dw_steps_explain(struct dw_model *model, struct dw_steps *steps,
                     const struct dw_pace_step *ticks, const double *ns_per_tick)
{
	struct suspects suspects = { calloc(model->row_count + 1, sizeof *suspects.index), 0, NULL, 0 };
	int result = 0;

	for (size_t i = 0; suspects.index && i < steps->count; i++)
		if (slow_is_slow(steps, &steps->steps[i]))
			slow_find_culprit(&suspects, &ticks[i]);
	if (suspects.count)
		suspects.times = calloc((size_t)suspects.count * SAMPLE, sizeof *suspects.times);
	if (!suspects.index || (suspects.count && !suspects.times))
		result = -1;
	for (size_t i = 0; suspects.times && i < steps->count && suspects.steps < SAMPLE; i++)
		if (ticks[i].sampled && !slow_is_slow(steps, &steps->steps[i]))
			slow_collect_selfs(&suspects, &ticks[i]);
	for (uint32_t i = 0; suspects.times && i < suspects.count; i++)
		qsort(suspects.times + i * (size_t)SAMPLE, suspects.steps, sizeof *suspects.times, dw_compare_u64);
	for (size_t i = 0; suspects.times && i < steps->count; i++)
		if (slow_is_slow(steps, &steps->steps[i]))
			slow_compare_step(model, &suspects, steps, &ticks[i], &steps->steps[i], ns_per_tick[i]);
	DW_FREE(suspects.index, suspects.times);
	return result;
}
