/* Shared parts of the views of engines: choice of the engine, columns of times; see engine.h. */
#include "views/engine.h"

#include "base/text.h"

static struct dw_cell engine_ns(double time_s)
{
	return isfinite(time_s) ? DW_INT(time_s * 1e9 + 0.5) : DW_EMPTY;
}

struct dw_view_times dw_view_times_of(const struct dw_time_stat *stat)
{
	if (!stat->count)
		return (struct dw_view_times){ .calls = DW_INT(0) };
	return (struct dw_view_times){
		.calls = DW_INT(stat->count),
		.total_ns = engine_ns(stat->total),
		.min_ns = engine_ns(stat->min),
		.min_index = DW_INT(stat->min_index),
		.max_ns = engine_ns(stat->max),
		.max_index = DW_INT(stat->max_index),
		.mean_ns = engine_ns(stat->mean),
		.std_ns = engine_ns(dw_time_stat_std(stat)),
	};
}

struct dw_view_device dw_view_engine_device(const struct dw_engine_row *row)
{
	if (!row->device_events)
		return (struct dw_view_device)DW_VIEW_NO_DEVICE;
	return (struct dw_view_device){ .self_ns = row->device_ns, .events = row->device_events };
}

static uint64_t engine_count_epochs(const struct dw_engine *engine)
{
	for (size_t i = 0; i < engine->event_count; i++)
		if (strcmp(engine->rows[DW_ENGINE_EVENTS + i].event, "EPOCH_STARTED") == 0)
			return engine->rows[DW_ENGINE_EVENTS + i].stat.count;
	return 0;
}

void dw_view_engine_state(struct dwell_table *table, struct dw_model *model, const struct dw_engine *engine)
{
	uint64_t iterations = engine->rows[DW_ENGINE_PROCESSING].stat.count;
	uint64_t epochs = engine_count_epochs(engine);
	size_t count, used = 0;
	const char *const *names = dw_model_engine_names(model, &count);
	char others[256] = "";

	dw_table_head(table, "%s: %s iteration%s in %s epoch%s of %s run%s%s.", engine->name,
	              dw_text_count((int64_t)iterations).at, dw_text_plural(iterations),
	              dw_text_count((int64_t)epochs).at, dw_text_plural(epochs),
	              dw_text_count((int64_t)engine->runs).at, dw_text_plural(engine->runs),
	              engine->run_ns || !engine->nested_runs ? "" : ", in another engine's");
	dw_table_note(table, "\"at\" is the iteration; of EPOCH_STARTED, EPOCH_COMPLETED, STARTED and "
	                     "COMPLETED the epoch.");
	if (engine->open)
		dw_table_note(table, "%s did not end and %s not counted.",
		              dw_text_count((int64_t)engine->open).at, engine->open == 1 ? "is" : "are");
	for (size_t i = 0; i < count && used < sizeof others - 1; i++)
		if (strcmp(names[i], engine->name) != 0)
			used += (size_t)snprintf(others + used, sizeof others - used, "%s%.60s", used ? ", " : "", names[i]);
	if (*others)
		dw_table_note(table, "Other engines: %s (--engine NAME).", others);
}
