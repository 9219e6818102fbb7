/*
 * Rooflines of operators; see roofline.h.
 */
#include "model/device/roofline.h"

#include "base/free.h"
#include "base/order.h"
#include "model/core/product.h"
#include "model/device/device.h"
#include "model/time/flops.h"

struct roof {
	struct dw_model *model;
	const struct dw_device_work *work;
	uint32_t *device;    /* by call: the device of its first event */
	uint64_t *owner_ns;  /* by owner: the work that belongs to it */
	uint64_t *device_ns; /* by device */
	uint8_t *cost;       /* by symbol: 0: not asked yet, 1: unknown, 2: known */
	uint32_t *row;       /* by symbol: of its row, + 1 */
	struct dw_roofline *to;
};

static const char *roof_name(const struct roof *roof, uint32_t device)
{
	return roof->model->source->devices[device].name;
}

/* The devices of calls, and the name of the device with the most work. */
static void roof_find_devices(struct roof *roof)
{
	const struct dw_source *source = roof->model->source;
	const struct dw_device_work *work = roof->work;
	uint64_t most = 0;

	for (size_t i = 0; i < work->event_count; i++) {
		const struct dw_device_event *event = &work->events[i];
		uint32_t device = source->queues[event->queue].device;

		if (work->names[event->name].class == DW_CLASS_COUNT || !event->in_scope)
			continue;
		roof->device_ns[device] += event->end_ns - event->start_ns;
		if (event->call != DW_NO_INDEX)
			roof->device[event->call] = device;
	}
	for (uint32_t i = 0; i < source->device_count; i++)
		if (roof->device_ns[i] > most) {
			most = roof->device_ns[i];
			roof->to->device = roof_name(roof, i);
		}
	for (uint32_t i = 0; roof->to->device && i < source->device_count; i++) {
		bool same = strcmp(roof_name(roof, i), roof->to->device) == 0;

		roof->to->devices += roof->device_ns[i] && same;
		roof->to->other_ns += same ? 0 : roof->device_ns[i];
	}
	roof->to->peaks = roof->to->device ? dw_device_peaks(roof->to->device) : NULL;
}

/* An operator that computes nothing and of which nobody knows how much it moves, such as a view, is not known. */
static bool roof_is_known(struct roof *roof, uint32_t symbol)
{
	const struct dw_symbol *at = &roof->model->symbols[symbol];
	enum dw_flops_why why;
	uint8_t type;

	if (!roof->cost[symbol])
		roof->cost[symbol] = dw_flops(at->name, at->shapes, &why) || dw_flops_bytes(at->name, at->shapes, &type) >= 0 ? 2 : 1;
	return roof->cost[symbol] == 2;
}

/* Gives the work of a call to an operator around it. */
static void roof_take_call(struct roof *roof, const struct dw_device_call *call)
{
	uint32_t innermost = DW_NO_INDEX;

	for (uint32_t at = dw_device_first_owner(call); at != DW_NO_INDEX; at = dw_device_next_owner(roof->work, call, at)) {
		uint32_t symbol = roof->work->owners[at].symbol;

		if (roof->model->symbols[symbol].category != DWELL_CATEGORY_OPERATOR)
			continue;
		innermost = innermost == DW_NO_INDEX ? at : innermost;
		if (roof_is_known(roof, symbol)) {
			roof->owner_ns[at] += call->device_ns;
			return;
		}
	}
	if (innermost != DW_NO_INDEX)
		roof->owner_ns[innermost] += call->device_ns;
	else
		roof->to->alone_ns += call->device_ns;
}

static void roof_add_row(struct roof *roof, uint32_t symbol, uint64_t ns)
{
	const struct dw_symbol *at = &roof->model->symbols[symbol];
	struct dw_roofline *to = roof->to;
	struct dw_roof_row *row;
	enum dw_flops_why why;

	if (!roof->row[symbol]) {
		roof->row[symbol] = (uint32_t)++to->count;
		row = &to->rows[to->count - 1];
		*row = (struct dw_roof_row){ .symbol = symbol, .known = roof_is_known(roof, symbol), .bytes = -1 };
		if (row->known) {
			row->flops = dw_flops(at->name, at->shapes, &why);
			row->bytes = dw_flops_bytes(at->name, at->shapes, &row->type);
			row->product = dw_flops_is_product(at->name);
		}
	}
	row = &to->rows[roof->row[symbol] - 1];
	row->calls++;
	row->ns += ns;
	to->ns += ns;
	to->known_ns += row->known ? ns : 0;
}

DW_ORDER(roof_compare, struct dw_roof_row, DW_DOWN(ns) DW_UP(symbol))

static bool roofline_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_device_work *work = dw_model_device_work(model, NULL);
	struct roof roof = { .model = model, .work = work, .to = result };
	bool good;

	(void)request;
	if (!work)
		return false;
	roof.device = calloc(work->call_count + 1, sizeof *roof.device);
	roof.owner_ns = calloc(work->owner_count + 1, sizeof *roof.owner_ns);
	roof.device_ns = calloc(model->source->device_count + 1, sizeof *roof.device_ns);
	roof.cost = calloc(model->symbol_count + (size_t)1, sizeof *roof.cost);
	roof.row = calloc(model->symbol_count + (size_t)1, sizeof *roof.row);
	roof.to->rows = dw_arena_alloc(&model->arena, (model->symbol_count + (size_t)1) * sizeof *roof.to->rows);
	good = roof.device && roof.owner_ns && roof.device_ns && roof.cost && roof.row && roof.to->rows;
	if (good)
		roof_find_devices(&roof);
	for (size_t i = 0; good && roof.to->device && i < work->call_count; i++)
		if (work->calls[i].work && work->calls[i].in_scope && strcmp(roof_name(&roof, roof.device[i]), roof.to->device) == 0)
			roof_take_call(&roof, &work->calls[i]);
	for (size_t i = 0; good && i < work->owner_count; i++)
		if (roof.owner_ns[i])
			roof_add_row(&roof, work->owners[i].symbol, roof.owner_ns[i]);
	DW_FREE(roof.device, roof.owner_ns, roof.device_ns, roof.cost, roof.row);
	if (good)
		DW_SORT(roof.to->rows, roof.to->count, roof_compare);
	return good;
}

DW_PRODUCT(roofline, struct dw_roofline, roofline_compute, NULL);

DW_PRODUCT_GETTER(roofline, struct dw_roofline)
