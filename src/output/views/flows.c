/*
 * flows: how long did it take from where something was handed on to where it was taken?
 *
 * A flow leaves one thread and arrives in another under the same name and handle. An arrival belongs
 * to the latest departure of its handle before it; a departure may have several arrivals.
 */

#include "base/grow.h"
#include "base/order.h"
#include "views/columns.h"

struct flows_cells {
	struct dw_cell flow, out, in, mean_ns, min_ns, max_ns, other_thread, without_out;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct flows_cells, flow, "flow", NONE, TEXT),
	DW_FIELD(struct flows_cells, out, "out", COUNT, INT),
	DW_FIELD(struct flows_cells, in, "in", COUNT, INT),
	DW_FIELD(struct flows_cells, mean_ns, "mean", NS, REAL),
	DW_FIELD(struct flows_cells, min_ns, "min", NS, INT),
	DW_FIELD(struct flows_cells, max_ns, "max", NS, INT),
	DW_FIELD(struct flows_cells, other_thread, "to another thread", RATIO, REAL, .of = "the flows"),
	DW_FIELD(struct flows_cells, without_out, "in without out", COUNT, INT),
};

struct flows_end {
	uint32_t row, symbol, thread;
	bool in;
	uint64_t handle, ns;
};

struct flows {
	struct dw_model *model;
	struct flows_end *ends;
	size_t count, capacity;
};

struct flows_sums {
	uint64_t outs, ins, without, others, matched, total_ns, min_ns, max_ns;
};

static int flows_see(void *context, const struct dw_event *event)
{
	struct flows *flows = context;

	if (event->type != DW_EVENT_FLOW_OUT && event->type != DW_EVENT_FLOW_IN)
		return 0;
	return DW_APPEND(&flows->ends, &flows->capacity, &flows->count,
	                 (struct flows_end){ dw_model_symbol_row(flows->model, event->symbol), event->symbol, event->thread,
		             event->type == DW_EVENT_FLOW_IN, event->handle, event->start_ns }) ? 0 : DWELL_E_NOMEM;
}

/* By name, handle and time; at the same time departures come first. */
DW_ORDER(flows_compare, struct flows_end, DW_UP(row) DW_UP(handle) DW_UP(ns) DW_UP(in))

static struct flows_sums flows_sum(const struct flows_end *ends, size_t count)
{
	struct flows_sums sums = { .min_ns = UINT64_MAX };
	const struct flows_end *out = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct flows_end *end = &ends[i];

		if (!end->in) {
			sums.outs++;
			out = end;
			continue;
		}
		sums.ins++;
		if (!out || out->handle != end->handle) {
			sums.without++;
			continue;
		}
		sums.matched++;
		sums.others += out->thread != end->thread;
		sums.total_ns += end->ns - out->ns;
		sums.min_ns = end->ns - out->ns < sums.min_ns ? end->ns - out->ns : sums.min_ns;
		sums.max_ns = end->ns - out->ns > sums.max_ns ? end->ns - out->ns : sums.max_ns;
	}
	return sums;
}

static void flows_put(struct dwell_table *table, const char *name, const struct flows_sums *sums)
{
	DW_TABLE_PUT(
		table, 0, struct flows_cells, .flow = DW_STRING(name), .out = DW_INT(sums->outs), .in = DW_INT(sums->ins),
		.mean_ns = DW_PART(sums->total_ns, sums->matched), .min_ns = sums->matched ? DW_INT(sums->min_ns) : DW_EMPTY,
		.max_ns = sums->matched ? DW_INT(sums->max_ns) : DW_EMPTY, .other_thread = DW_PART(sums->others, sums->matched),
		.without_out = sums->without ? DW_INT(sums->without) : DW_EMPTY);
}

static struct dwell_table *flows_fill(struct flows *flows, struct dwell_error *error)
{
	const struct dw_symbol *symbols = dw_model_symbols(flows->model, NULL);
	struct dwell_table *table = DW_VIEW_CHOOSE("flows", columns, 0, error);

	qsort(flows->ends, flows->count, sizeof *flows->ends, flows_compare);
	for (size_t from = 0, to; table && from < flows->count; from = to) {
		struct flows_sums sums;

		to = from + 1;
		while (to < flows->count && flows->ends[to].row == flows->ends[from].row)
			to++;
		sums = flows_sum(flows->ends + from, to - from);
		flows_put(table, symbols[flows->ends[from].symbol].name, &sums);
	}
	if (table)
		dw_table_sort_by(table, "mean_ns");
	return table;
}

static struct dwell_table *flows_view(struct dw_model *model, const struct dwell_view_options *options,
                                      struct dwell_error *error)
{
	struct flows flows = { .model = model };
	struct dwell_table *table = NULL;
	int code = dw_model_events(model, flows_see, &flows, error);

	if (!code)
		table = flows_fill(&flows, error);
	free(flows.ends);
	return table;
}

const struct dw_view dw_view_flows = {
	.name = "flows", .question = "how long did it take to hand things on to another thread?",
	.run = flows_view, .row_name = "flow", .limit = 20,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.categories = DW_VIEW_CATEGORY(FLOW), .needs = "flows", .remedy = "DWELL_FLOW_OUT() and DWELL_FLOW_IN() mark them",
};
