/*
 * events: what do an engine's iterations, fetches and events take?
 *
 * An event's time is that of all its handlers in one firing. Where all rows are asked
 * for there is a second part with a row an iteration, in the columns and seconds of the
 * file that Ignite's BasicTimeProfiler writes; it is what CSV shows.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "views/engine.h"

static const struct dw_column columns[] = {
	DW_COLUMN("event", "event", NONE, TEXT),
	DW_VIEW_TIME_COLUMNS,
};
#define COLUMNS (1 + DW_VIEW_TIME_COUNT)

/* X(column, event): the columns of Ignite's file, in seconds. */
#define EVENT_COLUMNS(X)                                                            \
	X(STARTED) X(COMPLETED) X(EPOCH_STARTED) X(EPOCH_COMPLETED) X(ITERATION_STARTED) \
	X(ITERATION_COMPLETED) X(GET_BATCH_STARTED) X(GET_BATCH_COMPLETED)

static const struct dw_column iteration_columns[] = {
	DW_COLUMN("epoch", "epoch", NONE, INT),
	DW_COLUMN("iteration", "iteration", NONE, INT),
	DW_COLUMN("processing_stats", "processing", NONE, REAL),
	DW_COLUMN("dataflow_stats", "dataflow", NONE, REAL),
#define X(event) DW_COLUMN("Event_" #event, #event, NONE, REAL),
	EVENT_COLUMNS(X)
#undef X
};
#define ITERATION_COLUMNS (sizeof iteration_columns / sizeof *iteration_columns)

enum { PROCESSING, DATAFLOW, STARTED, COMPLETED, EPOCH_STARTED, EPOCH_COMPLETED, VALUES = 10 };
static const char *const events[VALUES] = { NULL, NULL,
#define X(event) #event,
	EVENT_COLUMNS(X)
#undef X
};

/* ---- a row an iteration ------------------------------------------------------------ */

struct iteration {
	uint64_t epoch, iteration;
	uint32_t run;
	bool happened; /* not a fetch that found the end */
	double values[VALUES];
};

struct iterations {
	const struct dw_engine *engine;
	struct iteration *rows;
	size_t count, capacity;
	/* Of what comes before the iterations it is told of with. */
	uint32_t run;
	uint64_t epoch;
	double started, epoch_started;
};

static int column_of(const struct dw_engine *engine, uint32_t row)
{
	if (row == DW_ENGINE_PROCESSING)
		return PROCESSING;
	if (row == DW_ENGINE_DATAFLOW)
		return DATAFLOW;
	for (int i = STARTED; i < VALUES && !engine->rows[row].handler; i++)
		if (strcmp(engine->rows[row].event, events[i]) == 0)
			return i;
	return -1;
}

/* The rows so far that are of this run, and of this epoch unless `whole_run`. */
static void put_back(struct iterations *all, const struct dw_engine_time *time, bool whole_run,
                     int column)
{
	for (size_t i = all->count; i-- > 0;) {
		struct iteration *row = &all->rows[i];

		if (row->run != time->run || (!whole_run && row->epoch != time->epoch))
			break;
		row->values[column] = (double)time->ns * 1e-9;
	}
}

static struct iteration *row_of(struct iterations *all, const struct dw_engine_time *time)
{
	struct iteration *row = all->count ? &all->rows[all->count - 1] : NULL;

	if (row && row->run == time->run && row->iteration == time->iteration)
		return row;
	row = DW_GROW(&all->rows, &all->capacity, all->count);
	if (!row)
		return NULL;
	all->count++;
	row->epoch = time->epoch;
	row->iteration = time->iteration;
	row->run = time->run;
	row->values[STARTED] = all->run == time->run ? all->started : 0;
	row->values[EPOCH_STARTED] =
	    all->run == time->run && all->epoch == time->epoch ? all->epoch_started : 0;
	return row;
}

static int take_time(void *context, const struct dw_engine_time *time)
{
	struct iterations *all = context;
	int column = column_of(all->engine, time->row);
	struct iteration *row;

	switch (column) {
	case -1: return 0;
	case STARTED:
		all->run = time->run;
		all->started = (double)time->ns * 1e-9;
		return 0;
	case EPOCH_STARTED:
		all->run = time->run;
		all->epoch = time->epoch;
		all->epoch_started = (double)time->ns * 1e-9;
		return 0;
	case EPOCH_COMPLETED:
	case COMPLETED: put_back(all, time, column == COMPLETED, column); return 0;
	default: break;
	}
	row = row_of(all, time);
	if (!row)
		return DWELL_E_NOMEM;
	row->happened |= column == PROCESSING || column == DATAFLOW;
	row->values[column] += (double)time->ns * 1e-9;
	return 0;
}

static struct dw_table *iterations_table(struct dw_model *model, const struct dw_engine *engine,
                                         struct dwell_error *error)
{
	struct dw_table *table = dw_view_table("events", iteration_columns, ITERATION_COLUMNS, error);
	struct iterations all = { .engine = engine };
	int code = table ? dw_model_engine_times(model, engine, take_time, &all, error) : -1;

	for (size_t i = 0; i < all.count && !code; i++) {
		struct dw_cell *row;

		if (!all.rows[i].happened)
			continue;
		row = dw_table_row(table, 0);
		dw_cell_int(&row[0], (int64_t)all.rows[i].epoch);
		dw_cell_int(&row[1], (int64_t)all.rows[i].iteration);
		for (int v = 0; v < VALUES; v++)
			dw_cell_real(&row[2 + v], all.rows[i].values[v]);
	}
	free(all.rows);
	if (table && code) {
		dw_error_set(error, DWELL_E_NOMEM, "out of memory for the iterations of %s", engine->name);
		dw_table_destroy(table);
		return NULL;
	}
	if (table) {
		table->part = "iterations";
		table->told = true;
	}
	return table;
}

/* ---- a row an event ------------------------------------------------------------------ */

static bool has_handlers(const struct dw_engine *engine, const char *event)
{
	const struct dw_engine_row *handlers = dw_engine_handlers(engine);

	for (size_t i = 0; i < engine->handler_count; i++)
		if (strcmp(handlers[i].event, event) == 0)
			return true;
	return false;
}

struct dw_table *dw_view_events(struct dw_model *model, const struct dw_view_options *options,
                                struct dwell_error *error)
{
	const struct dw_engine *engine =
	    dw_model_engine(model, options->engine, DW_ENGINE_ALL_RUNS, error);
	struct dw_table *table = engine ? dw_view_table("events", columns, COLUMNS, error) : NULL;

	if (!table)
		return NULL;
	for (size_t i = 0; i < DW_ENGINE_EVENTS + engine->event_count; i++) {
		const struct dw_engine_row *from = &engine->rows[i];
		struct dw_cell *row;

		if (from->event && !from->stat.count && !has_handlers(engine, from->event))
			continue;
		row = dw_table_row(table, 0);
		dw_cell_text(table, &row[0],
		             i == DW_ENGINE_PROCESSING ? "processing"
		             : i == DW_ENGINE_DATAFLOW ? "dataflow"
		                                       : from->event);
		dw_view_time(&row[1], &from->stat);
	}
	dw_view_engine_state(table, model, engine);
	if (dw_view_wants_times(options)) {
		table->summary = true;
		table->next = iterations_table(model, engine, error);
		if (!table->next) {
			dw_table_destroy(table);
			return NULL;
		}
	}
	return table;
}
