/* Why a step took longer than others: a range that took longer, or no CPU for its thread. */
#include "views/common.h"

#include "model/steps/step_usages.h"

#define SLOW_RATIO 1.5
#define LEAST_PART 0.5 /* of what a step takes beyond the median, without a CPU */

static double slow_delay(const struct dw_view_slow *slow, const struct dw_step *step)
{
	const struct dw_usage_of *usage = slow->usages ? &slow->usages[step - slow->steps->steps] : NULL;

	if (!usage || !usage->delay_known || !(usage->wall_ns > 0))
		return 0;
	return usage->delay_ns * (double)(step->end_ns - step->start_ns) / usage->wall_ns;
}

static bool slow_is_slow(const struct dw_view_slow *slow, const struct dw_step *step)
{
	return (double)(step->end_ns - step->start_ns) > SLOW_RATIO * (double)slow->steps->p50_ns;
}

void dw_view_slow_begin(struct dw_view_slow *slow, struct dw_model *model, const struct dw_steps *steps)
{
	size_t count = 0;

	*slow = (struct dw_view_slow){ .steps = steps,
		                           .symbols = dw_model_symbols(model, NULL),
		                           .usages = dw_model_step_usages(model, NULL) };
	for (size_t i = 0; i < steps->count; i++)
		if (!slow_is_slow(slow, &steps->steps[i])) {
			slow->usual_delay_ns += slow_delay(slow, &steps->steps[i]);
			count++;
		}
	slow->usual_delay_ns /= count ? (double)count : 1;
}

const char *dw_view_step_lacks(const struct dw_step *step)
{
	if (step->brief)
		return "only begin and end were recorded";
	if (step->reduced)
		return "recorded without operators";
	return !step->recorded ? "not recorded" : !step->whole ? "records are missing" : NULL;
}

const char *dw_view_slow_reason(const struct dw_view_slow *slow, const struct dw_step *step, double *extra_ns)
{
	double beyond = (double)(step->end_ns - step->start_ns) - (double)slow->steps->p50_ns;
	double delay = slow_delay(slow, step) - slow->usual_delay_ns;

	if (!step->open && slow_is_slow(slow, step) && delay >= LEAST_PART * beyond) {
		*extra_ns = delay;
		return "waiting for a CPU";
	}
	*extra_ns = (double)step->slow_extra_ns;
	return step->slow_symbol == DW_NO_INDEX ? NULL : slow->symbols[step->slow_symbol].name;
}
