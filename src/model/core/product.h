/*
 * Products: what the model computes from the records of its scope, each once.
 *
 * A product is a line of products.def and, in the file that makes it, DW_PRODUCT(): the size of its
 * result and a function that fills it. dw_product_get() calls that function at the first request and
 * returns the same result from then on. A product that depends on the request (categories, a number
 * of steps to leave out) is computed once for each `key`. Results are in the model's memory and are
 * freed with it; a product that needs memory of its own has `free`.
 *
 * A product always covers the whole scope of its model. For a narrower scope, use
 * dw_model_within(): the model that it returns has results of its own.
 *
 * Called only by the dw_model_*() functions of the products. Not thread-safe.
 */
#pragma once

#include "model/core/model_data.h"

struct dw_product {
	size_t bytes; /* size of the result */
	/* Fills the zeroed result. False: out of memory. It may request other products. */
	bool (*compute)(struct dw_model *model, const void *request, void *result);
	void (*free)(void *result); /* frees memory that is not in the model's arena; NULL: there is
	                             * none */
	const char *name;           /* in products.def; NULL: of another module */
	bool of_records;            /* it is the same whatever the run's steps are */
};

#define DW_PRODUCT(name, type, compute, free) \
	const struct dw_product dw_product_##name = { sizeof(type), compute, free, #name, false }
/* Of one that no step changes. */
#define DW_PRODUCT_OF_RECORDS(name, type, compute, free) \
	const struct dw_product dw_product_##name = { sizeof(type), compute, free, #name, true }

/* dw_model_NAME() of a product that has no request. */
#define DW_PRODUCT_GETTER(name, type)                                                      \
	const type *dw_model_##name(struct dw_model *model, struct dwell_error *error)         \
	{                                                                                      \
		return dw_product_get(model, &dw_product_##name, 0, NULL, error);                  \
	}

#define PRODUCT(name, walks, inputs, what) extern const struct dw_product dw_product_##name;
#include "model/core/products.def"
#undef PRODUCT

/* A line of products.def. */
struct dw_product_line {
	const char *name, *inputs, *what;
	unsigned walks;
};

extern const struct dw_product_line dw_product_lines[];
extern const size_t dw_product_count;

/* `request` is passed to compute(); requests for the same result have the same key. NULL with
 * `error` if memory ran out: then nothing is stored, and the next request computes again. */
const void *dw_product_get(struct dw_model *model, const struct dw_product *product, uint64_t key,
                           const void *request, struct dwell_error *error);
/* For products that are computed together: adds a zeroed result that the caller fills at once and
 * that dw_product_get() returns from then on. NULL: out of memory, or the result exists already
 * (dw_product_has()). */
void *dw_product_put(struct dw_model *model, const struct dw_product *product, uint64_t key);
bool dw_product_has(const struct dw_model *model, const struct dw_product *product, uint64_t key);
/* Lends what `from` has computed that no step changes to a model of the same scope with other steps. `from` must outlive it. */
void dw_products_lend(const struct dw_model *from, struct dw_model *to);
/* Frees all results when the model is destroyed. */
void dw_products_reset(struct dw_model *model);
