/* The results of a model's products; see product.h. */
#include "model/core/product.h"

struct dw_product_result {
	struct dw_product_result *next;
	const struct dw_product *product;
	uint64_t key;
	void *result;
};

const void *dw_product_get(struct dw_model *model, const struct dw_product *product, uint64_t key,
                           const void *request, struct dwell_error *error)
{
	struct dw_product_result *kept;

	for (kept = model->results; kept; kept = kept->next)
		if (kept->product == product && kept->key == key)
			return kept->result;
	kept = dw_arena_alloc(&model->arena, sizeof *kept);
	if (kept)
		kept->result = dw_arena_alloc(&model->arena, product->bytes);
	if (!kept || !kept->result) {
		dw_model_no_memory(model, error);
		return NULL;
	}
	if (!product->compute(model, request, kept->result)) {
		if (product->free)
			product->free(kept->result);
		dw_model_no_memory(model, error);
		return NULL;
	}
	kept->product = product;
	kept->key = key;
	kept->next = model->results;
	model->results = kept;
	return kept->result;
}

void dw_products_reset(struct dw_model *model)
{
	for (struct dw_product_result *kept = model->results; kept; kept = kept->next)
		if (kept->product->free)
			kept->product->free(kept->result);
	model->results = NULL;
}
