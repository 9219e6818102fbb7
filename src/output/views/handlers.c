/*
 * handlers: what does each handler of an engine take?
 *
 * If the caller asks for all rows, a second part has a row for the n-th call of each handler, with
 * the columns and the unit (seconds) of the file that Ignite's HandlersTimeProfiler writes. CSV
 * output contains this part.
 */
#include <stdlib.h>

#include "base/error.h"
#include "ignite_results/rows.h"
#include "views/engine.h"

struct handlers_row {
	const char *handler, *event;
	struct dw_view_times times;
	struct dw_view_device device;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct handlers_row, handler, "handler", NONE, TEXT, .total_text = "all handlers"),
	DW_FIELD(struct handlers_row, event, "event", NONE, TEXT),
	DW_VIEW_TIME_FIELDS(struct handlers_row, times),
	DW_VIEW_DEVICE_WORK_FIELDS(struct handlers_row, device),
};

/* ---- one row per call ----------------------------------------------------------------- */

struct all_calls {
	const struct dw_engine *engine;
	struct dw_calls *columns; /* processing, dataflow, handlers */
};

static int handlers_take_time(void *context, const struct dw_engine_time *time)
{
	struct all_calls *all = context;
	struct dw_calls *calls;

	if (time->row < DW_ENGINE_EVENTS)
		calls = &all->columns[time->row];
	else if (all->engine->rows[time->row].handler)
		calls = &all->columns[time->row - all->engine->event_count];
	else
		return 0;
	return dw_calls_add(calls, (double)time->ns * 1e-9) ? DWELL_E_NOMEM : 0;
}

static struct dwell_table *handlers_make_table(const struct dw_engine *engine, struct dwell_error *error)
{
	const struct dw_engine_row *handlers = dw_engine_handlers(engine);
	size_t count = 1 + DW_ENGINE_EVENTS + engine->handler_count;
	struct dw_column *made = calloc(count, sizeof *made);
	struct dwell_table *table;

	if (!made) {
		dw_error_set(error, DWELL_E_NOMEM, "out of memory for the handlers view");
		return NULL;
	}
	made[0] = (struct dw_column)DW_COLUMN("#", "#", NONE, INT);
	made[1] = (struct dw_column)DW_COLUMN("processing_stats", "processing", NONE, REAL);
	made[2] = (struct dw_column)DW_COLUMN("dataflow_stats", "dataflow", NONE, REAL);
	table = dw_view_table("handlers", made, count, error);
	free(made);
	for (size_t i = 0; table && i < engine->handler_count; i++) {
		const char *name = dw_arena_printf(&table->arena, "%s (%s)", handlers[i].handler, handlers[i].event);

		table->failed |= !name;
		table->columns[i + 3] = (struct dw_column){ .name = name ? name : "", .type = DW_CELL_REAL,
			                                        .label = name ? name : "" };
	}
	return table;
}

static void handlers_fill_rows(struct dwell_table *table, const struct dw_calls *calls, size_t count)
{
	size_t longest = 0;

	for (size_t c = 0; c < count; c++)
		longest = calls[c].count > longest ? calls[c].count : longest;
	for (size_t i = 0; i < longest; i++) {
		struct dw_cell *row = dw_table_row(table, 0);

		dw_cell_int(&row[0], (int64_t)i + 1);
		for (size_t c = 0; c < count; c++)
			dw_cell_real(&row[1 + c], i < calls[c].count ? calls[c].times_s[i] : 0);
	}
}

static struct dwell_table *handlers_calls_table(struct dw_model *model, const struct dw_engine *engine,
                                                struct dwell_error *error)
{
	size_t count = DW_ENGINE_EVENTS + engine->handler_count;
	struct all_calls all = { engine, calloc(count, sizeof *all.columns) };
	struct dwell_table *table = all.columns ? handlers_make_table(engine, error) : NULL;
	int code = table ? dw_model_engine_times(model, engine, handlers_take_time, &all, error) : -1;

	if (!code) {
		handlers_fill_rows(table, all.columns, count);
		table->part = "calls";
		table->heads_only = true;
	} else {
		dw_error_set(error, DWELL_E_NOMEM, "out of memory for the calls of %s's handlers", engine->name);
		dw_table_destroy(table);
		table = NULL;
	}
	for (size_t c = 0; all.columns && c < count; c++)
		free(all.columns[c].times_s);
	free(all.columns);
	return table;
}

/* ---- one row per handler ----------------------------------------------------------------- */

static struct dwell_table *handlers_view(struct dw_model *model, const struct dwell_view_options *options,
                                         struct dwell_error *error)
{
	const struct dw_engine *engine = dw_model_engine(model, options->engine, DW_ENGINE_ALL_RUNS, error);
	bool device = dw_model_has_device(model);
	struct dwell_table *table = engine ? DW_VIEW_CHOOSE("handlers", columns, device ? DW_HAS_DEVICE : 0, error) : NULL;
	uint64_t calls = 0;
	double total_s = 0;

	if (!table)
		return NULL;
	for (size_t i = 0; i < engine->handler_count; i++) {
		const struct dw_engine_row *from = dw_engine_handlers(engine) + i;

		DW_TABLE_PUT(table, 0, struct handlers_row, .handler = from->handler, .event = from->event,
		             .times = dw_view_times_of(&from->stat), .device = dw_view_engine_device(from));
		calls += from->stat.count;
		total_s += from->stat.total;
	}
	DW_TABLE_PUT_TOTALS(table, struct handlers_row,
	                    .times = { .calls = DW_INT(calls), .total_ns = DW_INT(total_s * 1e9 + 0.5) });
	dw_view_engine_state(table, model, engine);
	if (!engine->handler_count)
		dw_table_head(table, "It has no handlers.");
	if (dw_view_wants_times(options)) {
		table->summary = true;
		table = dw_view_chain(table, handlers_calls_table(model, engine, error));
	}
	return table;
}

const struct dw_view dw_view_handlers = {
	.name = "handlers", .question = "what does each handler of an engine take?",
	.run = handlers_view, .takes = DW_VIEW_TAKES(engine), .row_name = "handler", .row_ns = "total_ns",
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.limit = SIZE_MAX,
	.categories = DW_VIEW_ENGINE, .needs = "events of a training engine", .remedy = DW_ENGINE_REMEDY,
};
