/* The facts of a loop, computed once for each loop of a model. */
#include "facts/facts.h"

#include "model/core/product.h"

static bool facts_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_facts *facts = result;

	dw_facts_init(facts);
	return true;
}

const struct dw_facts *dw_facts_of_loop(struct dw_model *model, size_t loop,
                                        struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct dw_facts), facts_compute, NULL };

	return dw_product_get(model, &product, loop, &loop, error);
}

const struct dw_facts *dw_facts(struct dw_model *model, struct dwell_error *error)
{
	return dw_facts_of_loop(model, 0, error);
}
