/* Operators of the mean iteration of all loops; see struct dw_loop_operators. */
#include "facts/facts.h"
#include "facts/work.h"
#include "model/core/product.h"
#include "model/time/profiles.h"

/* Between the steps each call is known, and of some of the steps. */
static void operators_add_between(const struct dw_steps *steps, const struct dw_symbol *symbols, double iterations,
                                  struct dw_loop_operators *to)
{
	for (size_t loop = 0; loop < steps->thread_count; loop++)
		for (size_t i = 0; i < steps->loops[loop].outside_row_count; i++) {
			const struct dw_loop_row *row = &steps->loops[loop].outside_rows[i];

			if (symbols[row->symbol].category != DWELL_CATEGORY_OPERATOR)
				continue;
			to->calls[row->symbol] += (double)row->count / iterations;
			to->ns[row->symbol] += (double)row->ns / iterations;
		}
}

static bool operators_fill(struct dw_model *model, struct dw_loop_operators *to)
{
	const struct dw_loop_parts *parts = dw_facts_loop_parts(model, NULL);
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	struct dw_model *inside = dw_model_counted(model, DW_COUNTED_STEP_THREADS, NULL);
	const struct dw_flat *flat = inside ? dw_model_flat(inside, DW_FACTS_CATEGORY(OPERATOR), NULL) : NULL;
	double iterations, counted;

	if (!parts || !steps || !flat)
		return false;
	if (!parts->steps || !steps->recorded_count || !(parts->ns > 0))
		return true;
	iterations = (double)parts->steps;
	counted = (double)steps->recorded_count;
	for (size_t i = 0; i < flat->count; i++) {
		to->calls[flat->rows[i].symbol] = (double)flat->rows[i].stat.count / counted;
		to->ns[flat->rows[i].symbol] = (double)flat->rows[i].stat.self_ns * parts->scale / iterations;
	}
	operators_add_between(steps, dw_model_symbols(model, NULL), iterations, to);
	to->whole_ns = parts->ns - parts->no_cpu_ns;
	for (size_t i = 0; i < to->count; i++)
		to->ns[i] *= to->whole_ns / parts->ns;
	return true;
}

static bool operators_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_loop_operators *to = result;

	(void)request;
	*to = (struct dw_loop_operators){ .whole_ns = 0 };
	dw_model_symbols(model, &to->count);
	to->ns = dw_arena_alloc(&model->arena, (to->count + 1) * sizeof *to->ns);
	to->calls = dw_arena_alloc(&model->arena, (to->count + 1) * sizeof *to->calls);
	return to->ns && to->calls && (!dw_model_source(model)->step_count || operators_fill(model, to));
}

const struct dw_loop_operators *dw_facts_loop_operators(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_loop_operators), .compute = operators_compute };

	return dw_product_get(model, &product, 0, NULL, error);
}
