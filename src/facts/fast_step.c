/* The fast step of all loops: of the same steady steps as the other facts. */
#include <stdlib.h>

#include "facts/work.h"
#include "model/core/product.h"
#include "model/steps/fast_step.h"

static bool fast_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_facts *facts = malloc(sizeof *facts);
	double sum = 0, *ns = result;
	size_t loops = 1, steps = 0;
	bool good = facts != NULL;

	for (size_t loop = 0; good && loop < loops; loop++) {
		struct dw_facts_work work;

		good = dw_facts_begin(&work, model, loop, facts);
		loops = facts->loop_count;
		if (good && work.loop) {
			double of_loop;

			dw_facts_choose_steady(&work);
			of_loop = dw_model_fast_step_ns(model, work.loop->thread, work.steady, work.steady_count);
			good = of_loop >= 0 && !work.failed;
			sum += of_loop * (double)work.steady_count;
			steps += work.steady_count;
		}
		dw_facts_end(&work);
	}
	*ns = steps ? sum / (double)steps : 0;
	free(facts);
	return good;
}

const double *dw_facts_fast_step_ns(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(double), fast_compute, NULL };

	return dw_product_get(model, &product, 0, NULL, error);
}
