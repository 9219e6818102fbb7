/*
 * async: how long did asynchronous ranges take, and how many were open at the same time?
 *
 * An asynchronous range may begin and end in different threads and overlap others of its name, as a
 * request or a transfer does.
 */

#include "base/grow.h"
#include "base/order.h"
#include "views/columns.h"

struct async_cells {
	struct dw_cell name, calls, total_ns, mean_ns, min_ns, p50_ns, p99_ns, max_ns, at_once, open;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct async_cells, name, "asynchronous range", NONE, TEXT),
	DW_FIELD(struct async_cells, calls, "calls", COUNT, INT),
	DW_FIELD(struct async_cells, total_ns, "total", NS, INT),
	DW_FIELD(struct async_cells, mean_ns, "mean", NS, REAL),
	DW_FIELD(struct async_cells, min_ns, "min", NS, INT),
	DW_FIELD(struct async_cells, p50_ns, "p50", NS, INT),
	DW_FIELD(struct async_cells, p99_ns, "p99", NS, INT),
	DW_FIELD(struct async_cells, max_ns, "max", NS, INT),
	DW_FIELD(struct async_cells, at_once, "at once", COUNT, INT),
	DW_FIELD(struct async_cells, open, "not ended", COUNT, INT),
};

struct async_range {
	uint32_t row, symbol;
	uint64_t start_ns, end_ns;
	bool open;
};

struct async {
	struct dw_model *model;
	struct async_range *ranges;
	size_t count, capacity;
};

static int async_see(void *context, const struct dw_event *event)
{
	struct async *async = context;

	if (event->type != DW_EVENT_ASYNC)
		return 0;
	return DW_APPEND(&async->ranges, &async->capacity, &async->count,
	                 (struct async_range){ dw_model_symbol_row(async->model, event->symbol), event->symbol,
		             event->start_ns, event->end_ns, event->open }) ? 0 : DWELL_E_NOMEM;
}

DW_ORDER(async_compare_starts, struct async_range, DW_UP(row) DW_UP(start_ns))

/* `ranges` are ordered by start, `times` has space for `count`. Returns the largest number that were
 * open at the same time. */
static size_t async_at_once(const struct async_range *ranges, size_t count, uint64_t *times)
{
	size_t most = 0, ended = 0;

	for (size_t i = 0; i < count; i++)
		times[i] = ranges[i].end_ns;
	qsort(times, count, sizeof *times, dw_compare_u64);
	for (size_t i = 0; i < count; i++) {
		while (ended < count && times[ended] <= ranges[i].start_ns && ended < i)
			ended++;
		most = i + 1 - ended > most ? i + 1 - ended : most;
	}
	return most;
}

static void async_put(struct dwell_table *table, const struct dw_symbol *symbol,
                      const struct async_range *ranges, size_t count, uint64_t *times)
{
	uint64_t total = 0, open = 0;
	size_t at_once = async_at_once(ranges, count, times);

	for (size_t i = 0; i < count; i++) {
		times[i] = ranges[i].end_ns - ranges[i].start_ns;
		total += times[i];
		open += ranges[i].open;
	}
	qsort(times, count, sizeof *times, dw_compare_u64);
	DW_TABLE_PUT(table, 0, struct async_cells, .name = DW_STRING(symbol->name), .calls = DW_INT(count),
	             .total_ns = DW_INT(total), .mean_ns = DW_PART(total, count), .min_ns = DW_INT(times[0]),
	             .p50_ns = DW_INT(times[(count - 1) / 2]), .p99_ns = DW_INT(times[(count * 99 + 99) / 100 - 1]),
	             .max_ns = DW_INT(times[count - 1]), .at_once = DW_INT(at_once),
	             .open = open ? DW_INT(open) : DW_EMPTY);
}

static struct dwell_table *async_fill(struct async *async, struct dwell_error *error)
{
	const struct dw_symbol *symbols = dw_model_symbols(async->model, NULL);
	struct dwell_table *table = DW_VIEW_CHOOSE("async", columns, 0, error);
	uint64_t *times = malloc((async->count + 1) * sizeof *times);

	qsort(async->ranges, async->count, sizeof *async->ranges, async_compare_starts);
	for (size_t from = 0, to; table && times && from < async->count; from = to) {
		to = from + 1;
		while (to < async->count && async->ranges[to].row == async->ranges[from].row)
			to++;
		async_put(table, &symbols[async->ranges[from].symbol], async->ranges + from, to - from, times);
	}
	if (table) {
		table->failed |= !times;
		dw_table_sort_by(table, "total_ns");
	}
	free(times);
	return table;
}

static struct dwell_table *async_view(struct dw_model *model, const struct dwell_view_options *options,
                                      struct dwell_error *error)
{
	struct async async = { .model = model };
	struct dwell_table *table = NULL;
	int code = dw_model_events(model, async_see, &async, error);

	if (!code)
		table = async_fill(&async, error);
	free(async.ranges);
	return table;
}

const struct dw_view dw_view_async = {
	.name = "async", .question = "how long did asynchronous ranges take, and how many were open at once?",
	.run = async_view, .row_name = "name", .row_ns = "total_ns", .limit = 20,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.categories = DW_CATEGORIES_ASYNC, .needs = "asynchronous ranges",
	.remedy = "DWELL_ASYNC_BEGIN() and DWELL_ASYNC_END() mark them",
};
