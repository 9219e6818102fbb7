/*
 * Products: what the model computes from the records of its scope, each once.
 *
 * A product is one static const struct dw_product: how large its result is and a function that
 * fills it. dw_product_get() calls that function at the first request and returns the same
 * result from then on. A product that depends on what the caller wants (categories, a number of
 * steps to leave out) is computed once for each `key`. Results live in the model's memory and
 * end with it; a product that needs memory of its own has `free`.
 *
 * A narrower scope is no matter of a product: dw_model_within() returns the model of that scope,
 * which has results of its own.
 *
 * Only dw_model_*() functions of the products call this. Not thread-safe.
 */
#ifndef DW_MODEL_CORE_PRODUCT_H
#define DW_MODEL_CORE_PRODUCT_H

#include "model/core/model_data.h"

struct dw_product {
	size_t bytes; /* of the result */
	/* Fills the zeroed result. False: out of memory. It may ask for other products. */
	bool (*compute)(struct dw_model *model, const void *request, void *result);
	void (*free)(void *result); /* what is not the model's arena's; NULL: nothing */
};

/* `request` is handed to compute(); requests for the same result have the same key. NULL with
 * `error` when out of memory: nothing is kept then, and the next request computes again. */
const void *dw_product_get(struct dw_model *model, const struct dw_product *product, uint64_t key,
                           const void *request, struct dwell_error *error);
/* Frees all results, for the model's end. */
void dw_products_reset(struct dw_model *model);

#endif
