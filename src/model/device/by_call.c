/*
 * Device time by the rows of calls; see sums.h.
 *
 * The rows are those of time/calls.h. A range around a call finds its row in the same way as the
 * rows were made: by the class of its symbol and the innermost frames of its stack.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "model/core/product.h"
#include "model/device/sums.h"
#include "model/time/call_groups.h"

struct by_call {
	struct dw_device_sum *rows;
};

struct join {
	struct dw_model *model;
	const struct dw_device_work *work;
	const struct dw_calls *calls;
	const struct dw_calls_ask *ask;
	struct dw_call_groups groups;
	struct dw_map map;   /* rows by class and stack */
	struct dw_device_sum *rows;
	uint32_t *last;      /* by row: index + 1 of the call that was added last */
};

static uint32_t join_hash(uint32_t class, const char *stack)
{
	return stack ? dw_map_hash_bytes(class + 1, stack, strlen(stack)) : dw_map_hash(class);
}

static bool join_same_stack(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool join_rows(struct join *join)
{
	for (uint32_t i = 0; i < join->calls->count; i++) {
		const struct dw_call_row *row = &join->calls->rows[i];

		if (row->symbol != DW_NO_INDEX && !row->is_async &&
		    !dw_map_add(&join->map, join_hash(join->groups.classes[row->symbol], row->stack), i))
			return false;
	}
	return true;
}

/* The row of a range, or DW_NO_INDEX. */
static uint32_t join_find(struct join *join, const struct dw_device_owner *owner)
{
	const struct dw_source *source = join->model->source;
	uint32_t file = source->processes[source->threads[owner->thread].process].file;
	uint32_t prefix = dw_call_prefix(&join->groups, file, owner->stack);
	uint32_t class = join->groups.classes[owner->symbol], found;
	const char *stack = prefix == DW_NO_INDEX ? NULL : join->groups.prefixes[prefix];

	found = DW_MAP_FIND(&join->map, join_hash(class, stack), i,
	                    join->groups.classes[join->calls->rows[i].symbol] == class &&
	                        join_same_stack(join->calls->rows[i].stack, stack));
	return found == DW_MAP_NONE ? DW_NO_INDEX : found;
}

static bool join_counts(const struct join *join, uint32_t symbol)
{
	uint32_t category = join->model->symbols[symbol].category;

	return category == DWELL_CATEGORY_OPERATOR ||
	       (join->ask->named && category == DWELL_CATEGORY_ZONE);
}

static void join_add_to(struct join *join, uint32_t row, uint32_t i, bool self)
{
	const struct dw_device_call *call = &join->work->calls[i];
	struct dw_device_sum *sum = &join->rows[row];

	sum->self_ns += self ? call->device_ns : 0;
	sum->self_events += self ? call->work : 0;
	sum->total_ns += join->last[row] != i + 1 ? call->device_ns : 0;
	sum->total_events += join->last[row] != i + 1 ? call->work : 0;
	join->last[row] = i + 1;
}

/* Adds call `i` to the rows of the ranges around it. With `top_level` only the outermost one has a
 * row. */
static void join_add(struct join *join, uint32_t i)
{
	const struct dw_device_call *call = &join->work->calls[i];
	uint32_t first = DW_NO_INDEX, outermost = DW_NO_INDEX;

	for (uint32_t at = dw_device_first_owner(call); at != DW_NO_INDEX;
	     at = dw_device_next_owner(join->work, call, at)) {
		uint32_t row;

		if (!join_counts(join, join->work->owners[at].symbol))
			continue;
		first = first == DW_NO_INDEX ? at : first;
		outermost = at;
		row = join->ask->top_level ? DW_NO_INDEX : join_find(join, &join->work->owners[at]);
		if (row != DW_NO_INDEX)
			join_add_to(join, row, i, at == first);
	}
	if (join->ask->top_level && outermost != DW_NO_INDEX) {
		uint32_t row = join_find(join, &join->work->owners[outermost]);

		if (row != DW_NO_INDEX)
			join_add_to(join, row, i, first == outermost);
	}
}

static bool join_add_steps(struct join *join)
{
	const struct dw_source *source = join->model->source;
	struct dw_device_sum *sum = NULL;

	for (size_t i = 0; i < join->calls->count; i++)
		if (join->calls->rows[i].symbol == DW_NO_INDEX)
			sum = &join->rows[i];
	for (size_t i = 0; sum && i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];
		struct dw_device_amount amount;

		if (!dw_model_has_step(join->model, step) || !step->recorded)
			continue;
		if (!dw_model_device_between(join->model, DW_DEVICE_OF_HOME, step->thread, step->start_ns,
		                             step->end_ns, &amount, NULL))
			return false;
		sum->total_ns += amount.ns;
		sum->total_events += amount.events;
	}
	return true;
}

static bool join_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_calls_ask *ask = request;
	struct by_call *by_call = result;
	struct join join = { .model = model, .ask = ask, .work = dw_model_device_work(model, NULL),
		                 .calls = dw_model_calls(model, ask, NULL) };
	bool good = join.work && join.calls && dw_call_groups_make(&join.groups, model, &ask->group);

	if (good) {
		join.rows = by_call->rows =
		    dw_arena_alloc(&model->arena, (join.calls->count + 1) * sizeof *join.rows);
		join.last = calloc(join.calls->count + 1, sizeof *join.last);
		good = join.rows && join.last && join_rows(&join);
	}
	for (uint32_t i = 0; good && i < join.work->call_count; i++)
		if (join.work->calls[i].work && join.work->calls[i].in_scope)
			join_add(&join, i);
	good = good && join_add_steps(&join);
	dw_call_groups_reset(&join.groups);
	dw_map_reset(&join.map);
	free(join.last);
	return good;
}

const struct dw_device_sum *dw_model_device_by_call(struct dw_model *model,
                                                    const struct dw_calls_ask *ask,
                                                    struct dwell_error *error)
{
	static const struct dw_product product = { sizeof(struct by_call), join_compute, NULL };
	const struct by_call *by_call = dw_product_get(model, &product, dw_calls_key(ask), ask, error);

	return by_call ? by_call->rows : NULL;
}
