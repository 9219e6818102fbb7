/* The fast step of all loops: of the same steady steps as the other facts. */
#include <stdlib.h>

#include "facts/work.h"
#include "model/core/product.h"
#include "model/steps/fast_step.h"

/* Adds the fast step of a loop, times the number of its steps. */
static bool fast_add_loop(struct dw_facts_work *work, struct dw_model *model, struct dw_fast_step *fast, size_t symbol_count,
                          size_t *steps)
{
	double *of_symbols = calloc(symbol_count + 1, sizeof *of_symbols), ns = -1;

	dw_facts_choose_steady(work);
	if (of_symbols)
		ns = dw_model_fast_step_ns(model, work->loop->thread, work->steady, work->steady_count, of_symbols);
	for (size_t i = 0; ns > 0 && i <= symbol_count; i++)
		fast->of_symbols[i] += of_symbols[i] * (double)work->steady_count;
	if (ns > 0)
		fast->ns += ns * (double)work->steady_count;
	*steps += work->steady_count;
	free(of_symbols);
	return ns >= 0;
}

static bool fast_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_facts *facts = malloc(sizeof *facts);
	struct dw_fast_step *fast = result;
	size_t symbol_count, loops = 1, steps = 0;
	bool good;

	dw_model_symbols(model, &symbol_count);
	fast->of_symbols = dw_arena_alloc(&model->arena, (symbol_count + 1) * sizeof *fast->of_symbols);
	good = facts && fast->of_symbols;
	for (size_t loop = 0; good && loop < loops; loop++) {
		struct dw_facts_work work;

		good = dw_facts_begin(&work, model, loop, facts);
		loops = facts->loop_count;
		if (good && work.loop)
			good = fast_add_loop(&work, model, fast, symbol_count, &steps) && !work.failed;
		dw_facts_end(&work);
	}
	for (size_t i = 0; good && steps && i <= symbol_count; i++)
		fast->of_symbols[i] /= (double)steps;
	fast->ns = steps ? fast->ns / (double)steps : 0;
	free(facts);
	return good;
}

const struct dw_fast_step *dw_facts_fast_step(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_fast_step), .compute = fast_compute };

	return dw_product_get(model, &product, 0, NULL, error);
}
