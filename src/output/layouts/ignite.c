/*
 * Ignite: the printouts of BasicTimeProfiler and HandlersTimeProfiler.
 *
 * `ignite` prints both, `ignite:basic` and `ignite:handlers` one of them. Like Ignite's they show
 * the engine's last run. libdwell-ignite prints with the same functions (ignite_results).
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ignite_results/results.h"
#include "layouts/layouts.h"
#include "model/engine/engine.h"

/* The names of an event's handlers. The last entry is NULL. */
static const char **ignite_names_of(const struct dw_engine *engine, const char *event)
{
	const struct dw_engine_row *handlers = dw_engine_handlers(engine);
	const char **names = calloc(engine->handler_count + 1, sizeof *names);
	size_t count = 0;

	for (size_t i = 0; names && i < engine->handler_count; i++)
		if (strcmp(handlers[i].event, event) == 0)
			names[count++] = handlers[i].handler;
	return names;
}

static int ignite_print_basic(const struct dw_engine *engine, FILE *file)
{
	struct dwell_ignite_basic_results results = {
		.processing = dw_ignite_time_stat(&engine->rows[DW_ENGINE_PROCESSING].stat, 1),
		.dataflow = dw_ignite_time_stat(&engine->rows[DW_ENGINE_DATAFLOW].stat, 1),
	};
	const char **names[DWELL_IGNITE_EVENT_COUNT];
	bool failed = false;

	for (int e = 0; e < DWELL_IGNITE_EVENT_COUNT; e++) {
		results.handlers[e] = names[e] = ignite_names_of(engine, dw_ignite_event_names[e]);
		failed |= !names[e];
		for (size_t i = 0; i < engine->event_count; i++)
			if (strcmp(engine->rows[DW_ENGINE_EVENTS + i].event, dw_ignite_event_names[e]) == 0)
				results.events[e] = dw_ignite_time_stat(&engine->rows[DW_ENGINE_EVENTS + i].stat, 1);
	}
	if (!failed)
		dw_ignite_print_basic(&results, file);
	for (int e = 0; e < DWELL_IGNITE_EVENT_COUNT; e++)
		free(names[e]);
	return failed ? -1 : 0;
}

static int ignite_print_handlers(const struct dw_engine *engine, FILE *file)
{
	const struct dw_engine_row *from = dw_engine_handlers(engine);
	struct dwell_ignite_handler_time *rows = calloc(engine->handler_count + 1, sizeof *rows);
	struct dwell_ignite_handlers_results results = {
		.processing = dw_ignite_time_stat(&engine->rows[DW_ENGINE_PROCESSING].stat, 1),
		.dataflow = dw_ignite_time_stat(&engine->rows[DW_ENGINE_DATAFLOW].stat, 1),
		.handlers = rows,
		.count = engine->handler_count,
	};

	for (size_t i = 0; rows && i < engine->handler_count; i++)
		rows[i] = (struct dwell_ignite_handler_time){
			from[i].handler, from[i].event, dw_ignite_time_stat(&from[i].stat, 1) };
	if (rows)
		dw_ignite_print_handlers(&results, file);
	free(rows);
	return rows ? 0 : -1;
}

static int ignite_print(struct dw_model *model, const struct dw_layout_request *request, FILE *file,
                        struct dwell_error *error)
{
	const char *part = request->version;
	bool basic = !part || strcmp(part, "basic") == 0;
	bool handlers = !part || strcmp(part, "handlers") == 0;
	const struct dw_engine *engine;
	int result = 0;

	if (!basic && !handlers)
		return dw_error_set(error, DWELL_E_NAME, "no layout 'ignite:%.40s'; there are ignite, ignite:basic and "
		                    "ignite:handlers", part);
	engine = dw_model_engine(model, request->options->engine, DW_ENGINE_LAST_RUN, error);
	if (!engine)
		return error ? error->code : DWELL_E_NO_DATA;
	if (basic)
		result = ignite_print_basic(engine, file);
	if (handlers && !result)
		result = ignite_print_handlers(engine, file);
	return result ? dw_error_set(error, DWELL_E_NOMEM, "out of memory for the ignite layout") : 0;
}

const struct dw_layout dw_layout_ignite = {
	.name = "ignite", .what = "PyTorch-Ignite's time profilers (ignite:basic, ignite:handlers)", .print = ignite_print,
};
