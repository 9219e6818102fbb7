/*
 * Sums of device time by name, by call path and by time; see sums.h.
 */
#include "model/device/sums.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/order.h"
#include "model/core/product.h"
#include "model/time/profiles.h"

/* ---- by name ------------------------------------------------------------------------------------ */

struct by_row {
	struct dw_device_sum *rows;
};

static bool sums_compute_rows(struct dw_model *model, const void *request, void *result)
{
	const struct dw_device_work *work = dw_model_device_work(model, NULL);
	uint32_t categories = *(const uint32_t *)request;
	struct by_row *by_row = result;
	uint32_t *last = calloc(model->row_count + (size_t)1, sizeof *last); /* call + 1 */

	by_row->rows = dw_arena_alloc(&model->arena, (model->row_count + (size_t)1) * sizeof *by_row->rows);
	for (uint32_t i = 0; last && by_row->rows && work && i < work->call_count; i++) {
		const struct dw_device_call *call = &work->calls[i];
		bool inner = true;

		if (!call->work || !call->in_scope)
			continue;
		for (uint32_t at = dw_device_first_owner(call); at != DW_NO_INDEX;
		     at = dw_device_next_owner(work, call, at)) {
			uint32_t symbol = work->owners[at].symbol, row = model->symbol_row[symbol];
			struct dw_device_sum *sum = &by_row->rows[row];

			if (!(categories >> model->symbols[symbol].category & 1))
				continue;
			sum->self_ns += inner ? call->device_ns : 0;
			sum->self_events += inner ? call->work : 0;
			sum->total_ns += last[row] != i + 1 ? call->device_ns : 0;
			sum->total_events += last[row] != i + 1 ? call->work : 0;
			last[row] = i + 1;
			inner = false;
		}
	}
	free(last);
	return last && by_row->rows && work;
}

DW_PRODUCT(device_by_row, struct by_row, sums_compute_rows, NULL);

const struct dw_device_sum *dw_model_device_by_row(struct dw_model *model, uint32_t categories,
                                                   struct dwell_error *error)
{
	const struct by_row *by_row = dw_product_get(model, &dw_product_device_by_row, categories, &categories, error);

	return by_row ? by_row->rows : NULL;
}

/* ---- by call path --------------------------------------------------------------------------------- */

struct by_path {
	struct dw_device_sum *nodes;
};

struct paths {
	const struct dw_tree *tree;
	struct dw_map map;   /* nodes by parent and symbol */
	uint32_t *roots;     /* by thread: its node, or DW_NO_INDEX */
	uint32_t *by_owner;  /* its node; DW_NO_INDEX: none */
};

static uint32_t sums_child(const struct paths *paths, uint32_t parent, uint32_t symbol)
{
	uint32_t found;

	if (parent == DW_NO_INDEX)
		return DW_NO_INDEX;
	found = DW_MAP_FIND(&paths->map, dw_map_hash((uint64_t)parent << 32 | symbol), i,
	                    paths->tree->nodes[i].parent == parent &&
	                        paths->tree->nodes[i].symbol == symbol);
	return found == DW_MAP_NONE ? parent : found;
}

static bool sums_find_nodes(struct paths *paths, const struct dw_model *model,
                            const struct dw_device_work *work)
{
	const struct dw_tree *tree = paths->tree;

	paths->roots = malloc((model->source->thread_count + 1) * sizeof *paths->roots);
	paths->by_owner = malloc((work->owner_count + 1) * sizeof *paths->by_owner);
	if (!paths->roots || !paths->by_owner)
		return false;
	for (size_t i = 0; i < model->source->thread_count; i++)
		paths->roots[i] = DW_NO_INDEX;
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];

		if (node->symbol == DW_NO_INDEX)
			paths->roots[node->thread] = i;
		else if (!dw_map_add(&paths->map,
		                     dw_map_hash((uint64_t)node->parent << 32 | node->symbol), i))
			return false;
	}
	for (size_t i = 0; i < work->owner_count; i++) { /* parents come first */
		const struct dw_device_owner *owner = &work->owners[i];

		paths->by_owner[i] =
		    sums_child(paths, owner->parent == DW_NO_INDEX ? paths->roots[owner->thread]
		                                                   : paths->by_owner[owner->parent],
		               model->row_symbol[model->symbol_row[owner->symbol]]);
	}
	return true;
}

static bool sums_compute_paths(struct dw_model *model, const void *request, void *result)
{
	const struct dw_device_work *work = dw_model_device_work(model, NULL);
	struct paths paths = { .tree = dw_model_tree(model, NULL) };
	struct by_path *by_path = result;
	bool good;

	if (!work || !paths.tree)
		return false;
	by_path->nodes = dw_arena_alloc(&model->arena, (paths.tree->count + 1) * sizeof *by_path->nodes);
	good = by_path->nodes && sums_find_nodes(&paths, model, work);
	for (size_t i = 0; good && i < work->call_count; i++) {
		const struct dw_device_call *call = &work->calls[i];
		uint32_t node = call->owner == DW_NO_INDEX ? paths.roots[call->thread]
		                                           : paths.by_owner[call->owner];

		node = sums_child(&paths, node, model->row_symbol[model->symbol_row[call->symbol]]);
		if (node == DW_NO_INDEX || !call->in_scope)
			continue;
		by_path->nodes[node].self_ns += call->device_ns;
		by_path->nodes[node].self_events += call->work;
	}
	for (size_t i = good ? paths.tree->count : 0; i-- > 0;) { /* children come after their parents */
		struct dw_device_sum *sum = &by_path->nodes[i], *parent;

		sum->total_ns += sum->self_ns;
		sum->total_events += sum->self_events;
		if (paths.tree->nodes[i].parent == DW_NO_INDEX)
			continue;
		parent = &by_path->nodes[paths.tree->nodes[i].parent];
		parent->total_ns += sum->total_ns;
		parent->total_events += sum->total_events;
	}
	dw_map_reset(&paths.map);
	free(paths.roots);
	free(paths.by_owner);
	return good;
}

DW_PRODUCT(device_by_path, struct by_path, sums_compute_paths, NULL);

const struct dw_device_sum *dw_model_device_by_path(struct dw_model *model, struct dwell_error *error)
{
	const struct by_path *by_path = dw_product_get(model, &dw_product_device_by_path, 0, NULL, error);

	return by_path ? by_path->nodes : NULL;
}

/* ---- by time ---------------------------------------------------------------------------------------- */

struct by_time {
	struct dw_device_moment *moments; /* by thread and begin; one more at the end */
	size_t count;
};

DW_ORDER(sums_compare_moments, struct dw_device_moment, DW_UP(thread) DW_UP(start_ns))

static bool sums_compute_time(struct dw_model *model, const void *request, void *result)
{
	const struct dw_device_work *work = dw_model_device_work(model, NULL);
	enum dw_device_whose whose = *(const enum dw_device_whose *)request;
	struct by_time *by_time = result;
	uint64_t ns = 0, events = 0;

	by_time->moments = work ? dw_arena_alloc(&model->arena, (work->call_count + 1) *
	                                                            sizeof *by_time->moments) : NULL;
	if (!by_time->moments)
		return false;
	for (uint32_t i = 0; i < work->call_count; i++) {
		const struct dw_device_call *call = &work->calls[i];

		if (call->work && call->in_scope)
			by_time->moments[by_time->count++] = (struct dw_device_moment){
				.start_ns = call->start_ns, .call = i,
				.thread = whose == DW_DEVICE_OF_HOME ? call->home : call->thread,
			};
	}
	if (by_time->count)
		qsort(by_time->moments, by_time->count, sizeof *by_time->moments, sums_compare_moments);
	for (size_t i = 0; i < by_time->count; i++) {
		by_time->moments[i].before_ns = ns;
		by_time->moments[i].before_events = events;
		ns += work->calls[by_time->moments[i].call].device_ns;
		events += work->calls[by_time->moments[i].call].work;
	}
	by_time->moments[by_time->count] = (struct dw_device_moment){ .before_ns = ns, .before_events = events };
	return true;
}

/* The first call of the thread, or of a later thread, that began at that time or later. */
static const struct dw_device_moment *sums_first_from(const struct by_time *by_time, uint32_t thread,
                                            uint64_t ns)
{
	size_t from = 0, to = by_time->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		const struct dw_device_moment *at = &by_time->moments[middle];

		if (at->thread < thread || (at->thread == thread && at->start_ns < ns))
			from = middle + 1;
		else
			to = middle;
	}
	return &by_time->moments[from];
}

DW_PRODUCT(device_between, struct by_time, sums_compute_time, NULL);

static const struct by_time *sums_by_time(struct dw_model *model, enum dw_device_whose whose,
                                          struct dwell_error *error)
{
	return dw_product_get(model, &dw_product_device_between, whose, &whose, error);
}

const struct dw_device_moment *dw_model_device_moments(struct dw_model *model,
                                                       enum dw_device_whose whose, uint32_t thread,
                                                       size_t *count, struct dwell_error *error)
{
	const struct by_time *by_time = sums_by_time(model, whose, error);
	const struct dw_device_moment *from;

	if (!by_time)
		return NULL;
	from = sums_first_from(by_time, thread, 0);
	*count = (size_t)(sums_first_from(by_time, thread, UINT64_MAX) - from);
	return from;
}

bool dw_model_device_between(struct dw_model *model, enum dw_device_whose whose, uint32_t thread,
                             uint64_t from_ns, uint64_t to_ns, struct dw_device_amount *amount,
                             struct dwell_error *error)
{
	const struct by_time *by_time = sums_by_time(model, whose, error);
	const struct dw_device_moment *from, *to;

	*amount = (struct dw_device_amount){ 0, 0 };
	if (!by_time || to_ns <= from_ns)
		return by_time != NULL;
	from = sums_first_from(by_time, thread, from_ns);
	to = sums_first_from(by_time, thread, to_ns);
	*amount = (struct dw_device_amount){ to->before_ns - from->before_ns,
		                                to->before_events - from->before_events };
	return true;
}
