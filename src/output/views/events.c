/*
 * events: what do an engine's iterations, fetches and events take?
 *
 * The time of an event is the time of all its handlers in one firing. If the caller asks for all
 * rows, a second part has one row per iteration, with the columns and the unit (seconds) of the
 * file that Ignite's BasicTimeProfiler writes. CSV output contains this part.
 */
#include <string.h>

#include "base/error.h"
#include "ignite_results/rows.h"
#include "views/engine.h"

static const struct dw_column columns[] = {
	DW_COLUMN("event", "event", NONE, TEXT),
	DW_VIEW_TIME_COLUMNS,
	DW_VIEW_ENGINE_DEVICE_COLUMNS,
};
#define COLUMNS (1 + DW_VIEW_TIME_COUNT)
#define ALL_COLUMNS (COLUMNS + DW_VIEW_ENGINE_DEVICE_COUNT)

static const struct dw_column iteration_columns[] = {
	DW_COLUMN("epoch", "epoch", NONE, INT),
	DW_COLUMN("iteration", "iteration", NONE, INT),
	DW_COLUMN("processing_stats", "processing", NONE, REAL),
	DW_COLUMN("dataflow_stats", "dataflow", NONE, REAL),
#define X(event) DW_COLUMN("Event_" #event, #event, NONE, REAL),
	DW_ITERATION_EVENTS(X)
#undef X
};
#define ITERATION_COLUMNS (sizeof iteration_columns / sizeof *iteration_columns)

/* ---- one row per iteration --------------------------------------------------------- */

struct context {
	const struct dw_engine *engine;
	struct dw_iterations all;
};

static int events_column_of(const struct dw_engine *engine, uint32_t row)
{
	if (row == DW_ENGINE_PROCESSING)
		return DW_ITERATION_PROCESSING;
	if (row == DW_ENGINE_DATAFLOW)
		return DW_ITERATION_DATAFLOW;
	return engine->rows[row].handler ? -1 : dw_iteration_column(engine->rows[row].event);
}

static int events_take_time(void *pointer, const struct dw_engine_time *time)
{
	struct context *context = pointer;
	struct dw_moment moment = { time->run, time->epoch, time->iteration, (double)time->ns * 1e-9 };
	int column = events_column_of(context->engine, time->row);

	if (column < 0)
		return 0;
	return dw_iterations_add(&context->all, (enum dw_iteration_column)column, &moment) ? DWELL_E_NOMEM : 0;
}

static struct dwell_table *events_iterations_table(struct dw_model *model, const struct dw_engine *engine,
                                                   struct dwell_error *error)
{
	struct dwell_table *table = dw_view_table("events", iteration_columns, ITERATION_COLUMNS, error);
	struct context context = { .engine = engine };
	int code = table ? dw_model_engine_times(model, engine, events_take_time, &context, error) : -1;

	for (size_t i = 0; i < context.all.count && !code; i++) {
		const struct dw_iteration *from = &context.all.rows[i];
		struct dw_cell *row;

		if (!from->happened)
			continue;
		row = DW_TABLE_ROW(table, 0, DW_INT(from->epoch), DW_INT(from->iteration));
		for (int v = 0; v < DW_ITERATION_COLUMNS; v++)
			dw_cell_real(&row[2 + v], from->times_s[v]);
	}
	dw_iterations_reset(&context.all);
	if (table && code) {
		dw_error_set(error, DWELL_E_NOMEM, "out of memory for the iterations of %s", engine->name);
		dw_table_destroy(table);
		return NULL;
	}
	if (table) {
		table->part = "iterations";
		table->heads_only = true;
	}
	return table;
}

/* ---- one row per event --------------------------------------------------------------- */

static bool events_has_handlers(const struct dw_engine *engine, const char *event)
{
	const struct dw_engine_row *handlers = dw_engine_handlers(engine);

	for (size_t i = 0; i < engine->handler_count; i++)
		if (strcmp(handlers[i].event, event) == 0)
			return true;
	return false;
}

static struct dwell_table *events_view(struct dw_model *model, const struct dwell_view_options *options,
                                       struct dwell_error *error)
{
	const struct dw_engine *engine = dw_model_engine(model, options->engine, DW_ENGINE_ALL_RUNS, error);
	bool device = dw_model_has_device(model);
	struct dwell_table *table = engine ? dw_view_table("events", columns, device ? ALL_COLUMNS : COLUMNS, error) : NULL;

	if (!table)
		return NULL;
	for (size_t i = 0; i < DW_ENGINE_EVENTS + engine->event_count; i++) {
		const struct dw_engine_row *from = &engine->rows[i];
		struct dw_cell *row;

		if (from->event && !from->stat.count && !events_has_handlers(engine, from->event))
			continue;
		row = DW_TABLE_ROW(table, 0, DW_STRING(i == DW_ENGINE_PROCESSING ? "processing"
		                                       : i == DW_ENGINE_DATAFLOW ? "dataflow" : from->event));
		dw_view_time(&row[1], &from->stat);
		if (device)
			dw_view_engine_device(&row[COLUMNS], from);
	}
	dw_view_engine_state(table, model, engine);
	if (dw_view_wants_times(options)) {
		table->summary = true;
		table = dw_view_chain(table, events_iterations_table(model, engine, error));
	}
	return table;
}

const struct dw_view dw_view_events = {
	.name = "events", .question = "what do an engine's events, iterations and fetches take?",
	.run = events_view, .takes = DW_VIEW_TAKES(engine), .row_name = "event", .row_ns = "total_ns", .limit = SIZE_MAX,
	.categories = DW_VIEW_ENGINE, .needs = "events of a training engine", .remedy = DW_ENGINE_REMEDY,
};
