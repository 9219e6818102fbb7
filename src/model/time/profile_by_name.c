/*
 * The profile by name: number of calls and times.
 *
 * Most views need this pass, and it is the fastest one (profile_by_name_walk.c). All categories are
 * counted at once and stored; a request selects rows from there and sorts them.
 */
#include <stdlib.h>

#include "model/core/product.h"
#include "model/time/profile_by_name.h"
#include "model/core/scope.h"
#include "model/time/profiles.h"

/* The ops of a file with one row for each symbol. NULL: out of memory. */
static const struct dw_op *ops_by_symbol(struct dw_model *model, size_t file)
{
	uint32_t count = model->source->files[file].symbol_count;
	struct dw_op *ops = dw_arena_alloc(&model->arena, (count + 1) * sizeof *ops);

	for (uint32_t id = 0; ops && id < count; id++) {
		ops[id].row = model->symbol_by_id[file][id];
		ops[id].kind = model->ops[file][id].kind;
	}
	return ops;
}

/* Sets the rows of `all`. Returns the row and kind of each id, by file. NULL: out of memory. */
static const struct dw_op **choose_rows(struct dw_model *model, struct dw_flat_all *all,
                                        enum dw_by by)
{
	size_t file_count = model->source->file_count;
	const struct dw_op **ops = dw_arena_alloc(&model->arena, file_count * sizeof *ops);
	uint32_t *identity;

	for (size_t f = 0; ops && f < file_count; f++) {
		ops[f] = by == DW_BY_NAME ? model->ops[f] : ops_by_symbol(model, f);
		if (!ops[f])
			return NULL;
	}
	if (by == DW_BY_NAME) {
		all->row_symbol = model->row_symbol;
		all->row_count = model->row_count;
		return ops;
	}
	identity = dw_arena_alloc(&model->arena, model->symbol_count * sizeof *identity);
	for (uint32_t i = 0; identity && i < model->symbol_count; i++)
		identity[i] = i;
	all->row_symbol = identity;
	all->row_count = model->symbol_count;
	return identity ? ops : NULL;
}

const struct dw_op **dw_profile_prepare(struct dw_model *model, struct dw_flat_all *all,
                                        enum dw_by by)
{
	const struct dw_op **ops = choose_rows(model, all, by);

	all->tallies = dw_arena_alloc(&model->arena, (all->row_count + 1) * sizeof *all->tallies);
	all->nested = dw_arena_alloc(&model->arena, (all->row_count + 1) * sizeof *all->nested);
	return all->tallies && all->nested ? ops : NULL;
}

void dw_profile_finish(const struct dw_model *model, struct dw_flat_all *all)
{
	if (!dw_scope_is_all(model))
		all->orphans = 0; /* skipped chunks cause ends without a begin */
	for (uint32_t row = 0; row < all->row_count; row++) {
		uint32_t category = model->symbols[all->row_symbol[row]].category;

		all->ranges += all->tallies[row].count;
		if (all->tallies[row].count && category < 32)
			all->categories |= 1u << category;
	}
}

/* Counts all categories. The request is an enum dw_by. */
static bool profile_compute_all(struct dw_model *model, const void *request, void *result)
{
	const enum dw_by *by = request;
	const struct dw_op **ops = dw_profile_prepare(model, result, *by);

	if (!ops || dw_flat_walk(model, ops, result))
		return false;
	dw_profile_finish(model, result);
	return true;
}

const struct dw_product dw_profile_product = { sizeof(struct dw_flat_all), profile_compute_all, NULL };

static const struct dw_flat_all *profile_get_all(struct dw_model *model, enum dw_by by)
{
	return dw_product_get(model, &dw_profile_product, by, &by, NULL);
}

uint32_t dw_model_categories(struct dw_model *model)
{
	const struct dw_flat_all *all = profile_get_all(model, DW_BY_NAME);

	return all ? all->categories : 0;
}

static int compare_rows(const void *left, const void *right)
{
	const struct dw_flat_row *a = left, *b = right;

	if (a->stat.self_ns != b->stat.self_ns)
		return a->stat.self_ns < b->stat.self_ns ? 1 : -1;
	if (a->stat.total_ns != b->stat.total_ns)
		return a->stat.total_ns < b->stat.total_ns ? 1 : -1;
	return (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static bool profile_chosen(const struct dw_model *model, const struct dw_flat_all *all, uint32_t row,
                           uint32_t categories)
{
	uint32_t category = model->symbols[all->row_symbol[row]].category;

	return all->tallies[row].count &&
	       (category < 32 ? categories >> category & 1 : categories == UINT32_MAX);
}

struct profile_request {
	uint32_t categories;
	enum dw_by by;
};

/* Selects the rows of the requested categories and sorts them. */
static bool profile_choose(struct dw_model *model, const void *pointer, void *result)
{
	const struct profile_request *request = pointer;
	const struct dw_flat_all *all = profile_get_all(model, request->by);
	struct dw_flat *flat = result;
	double ns_per_tick = model->source->files[0].clock.ns_per_tick;
	size_t count = 0;

	for (uint32_t row = 0; all && row < all->row_count; row++)
		count += profile_chosen(model, all, row, request->categories);
	flat->rows = dw_arena_alloc(&model->arena, (count + 1) * sizeof *flat->rows);
	if (!all || !flat->rows)
		return false;
	for (uint32_t row = 0; row < all->row_count; row++) {
		if (!profile_chosen(model, all, row, request->categories))
			continue;
		flat->rows[flat->count].symbol = all->row_symbol[row];
		dw_tally_stat_nested(&all->tallies[row], all->nested[row], ns_per_tick,
		                     &flat->rows[flat->count++].stat);
	}
	if (count)
		qsort(flat->rows, count, sizeof *flat->rows, compare_rows);
	flat->wall_ns = dw_scope_wall_ns(model);
	flat->records = all->records;
	flat->ranges = all->ranges;
	flat->open = all->open;
	flat->orphans = all->orphans;
	flat->last_ns = all->last_ns;
	return true;
}

const struct dw_flat *dw_model_flat_by(struct dw_model *model, uint32_t categories, enum dw_by by,
                                       struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct dw_flat), profile_choose, NULL };
	const struct profile_request request = { categories, by };

	return dw_product_get(model, &product, (uint64_t)by << 32 | categories, &request, error);
}

const struct dw_flat *dw_model_flat(struct dw_model *model, uint32_t categories,
                                    struct dwell_error *error)
{
	return dw_model_flat_by(model, categories, DW_BY_NAME, error);
}
