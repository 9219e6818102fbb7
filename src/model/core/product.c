/* The results of a model's products; see product.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/core/product.h"

const struct dw_product_line dw_product_lines[] = {
#define PRODUCT(name, walks, inputs, what) { #name, inputs, what, walks },
#include "model/core/products.def"
#undef PRODUCT
};
const size_t dw_product_count = sizeof dw_product_lines / sizeof *dw_product_lines;

struct dw_product_result {
	struct dw_product_result *next;
	const struct dw_product *product;
	uint64_t key;
	void *result;
};

static const struct dw_product_result *product_find(const struct dw_model *model,
                                                    const struct dw_product *product, uint64_t key)
{
	const struct dw_product_result *const lists[] = { model->results, model->lent };

	for (unsigned i = 0; i < 2; i++)
		for (const struct dw_product_result *kept = lists[i]; kept; kept = kept->next)
			if (kept->product == product && kept->key == key && (!i || !model->lent_of_records || product->of_records))
				return kept;
	return NULL;
}

#ifdef NDEBUG
#define product_check(product, wanted) ((void)0)
#else
/* The product's place in products.def; dw_product_count if it is not there. */
static size_t product_place(const struct dw_product *product)
{
	size_t i = 0;

	while (i < dw_product_count && strcmp(dw_product_lines[i].name, product->name) != 0)
		i++;
	return i;
}

static bool product_lists(const char *inputs, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = inputs; (at = strstr(at, name)); at += length)
		if ((at == inputs || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

/* Both must have a line in products.def, and that of `product` must list `wanted` as an input. Otherwise the process ends, and
 * says which line to write. */
static void product_check(const struct dw_product *product, const struct dw_product *wanted)
{
	const struct dw_product *const both[] = { product, wanted };
	const struct dw_product_line *line;

	for (unsigned i = 0; i < 2; i++)
		if (both[i] && both[i]->name && product_place(both[i]) == dw_product_count) {
			fprintf(stderr, "%s has no line in src/model/core/products.def. Add below the products that it requests:\n"
			                "PRODUCT(%s, 0, \"\", \"what it says\")\n", both[i]->name, both[i]->name);
			abort();
		}
	if (!product || !product->name || !wanted->name)
		return;
	line = &dw_product_lines[product_place(product)];
	if (product_lists(line->inputs, wanted->name))
		return;
	fprintf(stderr, "%s requests %s, which its line in src/model/core/products.def does not list. Write below the line of %s:\n"
	                "PRODUCT(%s, %u, \"%s%s%s\", \"%s\")\n",
	        product->name, wanted->name, wanted->name, product->name, line->walks, line->inputs, *line->inputs ? " " : "", wanted->name,
	        line->what);
	abort();
}
#endif

const void *dw_product_get(struct dw_model *model, const struct dw_product *product, uint64_t key,
                           const void *request, struct dwell_error *error)
{
	const struct dw_product_result *known = product_find(model, product, key);
	const struct dw_product **now = &model->whole->computing, *asks = *now;
	struct dw_product_result *kept;
	bool good;

	product_check(asks, product);
	if (known)
		return known->result;
	kept = dw_arena_alloc(&model->arena, sizeof *kept);
	if (kept)
		kept->result = dw_arena_alloc(&model->arena, product->bytes);
	if (!kept || !kept->result) {
		dw_model_no_memory(model, error);
		return NULL;
	}
	*now = product;
	good = product->compute(model, request, kept->result);
	*now = asks;
	if (!good) {
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

bool dw_product_has(const struct dw_model *model, const struct dw_product *product, uint64_t key)
{
	return product_find(model, product, key) != NULL;
}

void *dw_product_put(struct dw_model *model, const struct dw_product *product, uint64_t key)
{
	struct dw_product_result *kept = dw_arena_alloc(&model->arena, sizeof *kept);

	if (!kept || dw_product_has(model, product, key))
		return NULL;
	*kept = (struct dw_product_result){ model->results, product, key, dw_arena_alloc(&model->arena, product->bytes) };
	if (!kept->result)
		return NULL;
	model->results = kept;
	return kept->result;
}

void dw_products_lend(const struct dw_model *from, struct dw_model *to)
{
	to->lent = from->results;
	to->lent_of_records = true;
	to->met_gap |= from->whole->met_gap;
}

void dw_products_reset(struct dw_model *model)
{
	for (struct dw_product_result *kept = model->results; kept; kept = kept->next)
		if (kept->product->free)
			kept->product->free(kept->result);
	model->results = NULL;
}
