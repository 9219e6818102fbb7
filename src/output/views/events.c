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

struct events_row {
	const char *event;
	struct dw_view_times times;
	struct dw_view_device device;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct events_row, event, "event", NONE, TEXT),
	DW_VIEW_TIME_FIELDS(struct events_row, times),
	DW_VIEW_DEVICE_WORK_FIELDS(struct events_row, device),
};

static const struct dw_column iteration_columns[] = {
	DW_FIELD(struct dw_iteration, epoch, "epoch", NONE, INT),
	DW_FIELD(struct dw_iteration, iteration, "iteration", NONE, INT),
	DW_FIELD_AS(struct dw_iteration, times_s[DW_ITERATION_PROCESSING], "processing_stats", "processing", NONE, REAL),
	DW_FIELD_AS(struct dw_iteration, times_s[DW_ITERATION_DATAFLOW], "dataflow_stats", "dataflow", NONE, REAL),
#define X(event) DW_FIELD_AS(struct dw_iteration, times_s[DW_ITERATION_##event], "Event_" #event, #event, NONE, REAL),
	DW_ITERATION_EVENTS(X)
#undef X
};

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
	struct dwell_table *table = DW_VIEW_CHOOSE("events", iteration_columns, 0, error);
	struct context context = { .engine = engine };
	int code = table ? dw_model_engine_times(model, engine, events_take_time, &context, error) : -1;

	for (size_t i = 0; i < context.all.count && !code; i++)
		if (context.all.rows[i].happened)
			dw_table_put(table, 0, &context.all.rows[i], sizeof *context.all.rows);
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
	struct dwell_table *table = engine ? DW_VIEW_CHOOSE("events", columns, device ? DW_HAS_DEVICE : 0, error) : NULL;

	if (!table)
		return NULL;
	for (size_t i = 0; i < DW_ENGINE_EVENTS + engine->event_count; i++) {
		const struct dw_engine_row *from = &engine->rows[i];

		if (from->event && !from->stat.count && !events_has_handlers(engine, from->event))
			continue;
		DW_TABLE_PUT(table, 0, struct events_row,
		             .event = i == DW_ENGINE_PROCESSING ? "processing"
		                      : i == DW_ENGINE_DATAFLOW ? "dataflow"
		                                                : from->event,
		             .times = dw_view_times_of(&from->stat), .device = dw_view_engine_device(from));
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
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns), DW_VIEW_TABLE(iteration_columns)),
	.categories = DW_VIEW_ENGINE, .needs = "events of a training engine", .remedy = DW_ENGINE_REMEDY,
};
