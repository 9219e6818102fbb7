/*
 * Device time by the rows of calls; see sums.h.
 *
 * The rows are those of time/calls.h. A range around a call finds its row in the same way as the
 * rows were made: by the class of its symbol and the innermost frames of its stack.
 */

#include "base/free.h"
#include "base/order.h"
#include "base/text.h"
#include "format/device.h"
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
	uint32_t *steps;     /* steps in scope, by thread and begin */
	size_t step_count;
};

bool dw_device_is_torch_event(uint32_t kind)
{
	return kind == DW_DEVICE_KERNEL || kind == DW_DEVICE_COPY || kind == DW_DEVICE_SET ||
	       kind == DW_DEVICE_SYNC || kind == DW_DEVICE_GRAPH;
}

static uint32_t calls_hash(uint32_t class, const char *stack)
{
	return stack ? dw_map_hash_bytes(class + 1, stack, strlen(stack)) : dw_map_hash(class);
}

static bool join_rows(struct join *join)
{
	for (uint32_t i = 0; i < join->calls->count; i++) {
		const struct dw_call_row *row = &join->calls->rows[i];

		if (row->symbol != DW_NO_INDEX && !row->is_async &&
		    !dw_map_add(&join->map, calls_hash(join->groups.classes[row->symbol], row->stack), i))
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

	found = DW_MAP_FIND(&join->map, calls_hash(class, stack), i,
	                    join->groups.classes[join->calls->rows[i].symbol] == class &&
	                        dw_text_same(join->calls->rows[i].stack, stack));
	return found == DW_MAP_NONE ? DW_NO_INDEX : found;
}

/* Whether a call began in a step of its own thread. */
static bool join_in_step(const struct join *join, const struct dw_device_call *call)
{
	const struct dw_source *source = join->model->source;
	const struct dw_source_step *step;
	size_t from = DW_FIRST(i, 0, join->step_count, (step = &source->steps[join->steps[i]])->thread > call->thread ||
	                       (step->thread == call->thread && step->end_ns > call->start_ns));

	return from < join->step_count && source->steps[join->steps[from]].thread == call->thread &&
	       source->steps[join->steps[from]].start_ns <= call->start_ns;
}

static int calls_compare_steps(const void *left, const void *right, void *context)
{
	const struct dw_source_step *steps = context, *a = &steps[*(const uint32_t *)left];
	const struct dw_source_step *b = &steps[*(const uint32_t *)right];

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bool join_order_steps(struct join *join)
{
	const struct dw_source *source = join->model->source;

	join->steps = malloc((source->step_count + 1) * sizeof *join->steps);
	if (!join->steps)
		return false;
	for (uint32_t i = 0; i < source->step_count; i++)
		if (dw_model_has_step(join->model, &source->steps[i]) && source->steps[i].recorded)
			join->steps[join->step_count++] = i;
	qsort_r(join->steps, join->step_count, sizeof *join->steps, calls_compare_steps, source->steps);
	return true;
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

		if (!dw_calls_count(join->ask, &join->model->symbols[join->work->owners[at].symbol]))
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

static void join_add_event(struct join *join, uint32_t row, uint64_t ns, bool self)
{
	if (row == DW_NO_INDEX)
		return;
	join->rows[row].self_ns += self ? ns : 0;
	join->rows[row].self_events += self;
	join->rows[row].total_ns += ns;
	join->rows[row].total_events++;
}

/*
 * As torch.profiler does: an event of a device, also a wait, belongs to the operator around its call
 * and to the ranges of the same thread around that operator, to each of them. Without an operator
 * it belongs to none. With `top_level` only the outermost one has a row, which may be the step.
 */
static void join_add_as_torch(struct join *join, const struct dw_device_event *event, uint32_t step)
{
	const struct dw_device_call *call = &join->work->calls[event->call];
	uint64_t ns = event->end_ns - event->start_ns;
	uint32_t inner = DW_NO_INDEX, outermost = DW_NO_INDEX;
	bool in_step;

	for (uint32_t at = call->owner; at != DW_NO_INDEX; at = join->work->owners[at].parent) {
		const struct dw_symbol *symbol = &join->model->symbols[join->work->owners[at].symbol];

		if (!dw_calls_count(join->ask, symbol) || (inner == DW_NO_INDEX && symbol->category != DWELL_CATEGORY_OPERATOR))
			continue;
		inner = inner == DW_NO_INDEX ? at : inner;
		outermost = at;
		if (!join->ask->top_level)
			join_add_event(join, join_find(join, &join->work->owners[at]), ns, at == inner);
	}
	if (inner == DW_NO_INDEX)
		return;
	in_step = step != DW_NO_INDEX && join_in_step(join, call);
	if (join->ask->top_level && !in_step)
		join_add_event(join, join_find(join, &join->work->owners[outermost]), ns, inner == outermost);
	if (in_step)
		join_add_event(join, step, ns, false);
}

static void join_add_events(struct join *join)
{
	uint32_t step = DW_NO_INDEX;

	for (uint32_t i = 0; i < join->calls->count; i++)
		if (join->calls->rows[i].symbol == DW_NO_INDEX)
			step = i;
	for (size_t i = 0; i < join->work->event_count; i++) {
		const struct dw_device_event *event = &join->work->events[i];

		if (event->call != DW_NO_INDEX && event->in_scope && dw_device_is_torch_event(event->kind))
			join_add_as_torch(join, event, step);
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
		if (!dw_model_device_between(join->model, DW_DEVICE_FOR_THREAD, step->thread, step->start_ns,
		                             step->end_ns, &amount, NULL))
			return false;
		sum->total_ns += amount.ns;
		sum->total_events += amount.events;
	}
	return true;
}

static bool calls_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_calls_ask *ask = request;
	struct by_call *by_call = result;
	struct join join = { .model = model, .ask = ask, .work = dw_model_device_work(model, NULL),
		                 .calls = dw_model_calls(model, ask, NULL) };
	bool good = join.work && join.calls && dw_call_groups_make(&join.groups, model, &ask->group);

	if (good) {
		join.rows = by_call->rows = dw_arena_alloc(&model->arena, (join.calls->count + 1) * sizeof *join.rows);
		join.last = calloc(join.calls->count + 1, sizeof *join.last);
		good = join.rows && join.last && join_rows(&join);
	}
	if (good && ask->all_ranges) {
		good = join_order_steps(&join);
		if (good)
			join_add_events(&join);
	} else {
		for (uint32_t i = 0; good && i < join.work->call_count; i++)
			if (join.work->calls[i].work && join.work->calls[i].in_scope)
				join_add(&join, i);
		good = good && join_add_steps(&join);
	}
	dw_call_groups_reset(&join.groups);
	dw_map_reset(&join.map);
	DW_FREE(join.last, join.steps);
	return good;
}

DW_PRODUCT(device_by_call, struct by_call, calls_compute, NULL);

const struct dw_device_sum *dw_model_device_by_call(struct dw_model *model, const struct dw_calls_ask *ask,
                                                    struct dwell_error *error)
{
	const struct by_call *by_call = dw_product_get(model, &dw_product_device_by_call, dw_calls_key(ask), ask, error);

	return by_call ? by_call->rows : NULL;
}
