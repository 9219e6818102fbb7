/* What each step used; see step_usages.h. */
#include "model/steps/step_usages.h"

#include "model/core/product.h"
#include "model/steps/steps.h"

struct usages {
	struct dw_usage_of *steps;
};

static bool usages_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	struct usages *usages = result;

	if (steps)
		usages->steps = dw_arena_alloc(&model->arena, (steps->count + 1) * sizeof *usages->steps);
	/* Without a reading they stay zero, and the memory untouched. */
	for (size_t i = 0; usages->steps && source->usage_count && i < steps->count; i++) {
		const struct dw_step *step = &steps->steps[i];
		uint32_t process = source->threads[step->thread].process;
		const struct dw_source_clock *clock = &source->files[source->processes[process].file].clock;

		usages->steps[i] = dw_usage_between(model, step->thread, dw_source_ticks(clock, step->start_ns),
		                                    dw_source_ticks(clock, step->end_ns));
	}
	return usages->steps != NULL;
}

DW_PRODUCT(step_usages, struct usages, usages_compute, NULL);

const struct dw_usage_of *dw_model_step_usages(struct dw_model *model, struct dwell_error *error)
{
	const struct usages *usages = dw_product_get(model, &dw_product_step_usages, 0, NULL, error);

	return usages ? usages->steps : NULL;
}
