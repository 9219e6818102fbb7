/*
 * heap: which places of the code allocate the heap's memory, at the peak and at the end, and which let it grow?
 *
 * From blocks of malloc that were recorded by samples. The columns "+-" are half of the 95% interval of the column before.
 */
#include <math.h>

#include "base/error.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/memory/memory.h"
#include "views/columns.h"

#define MOST_SAID 3u /* processes, each with a sentence */

struct heap_cells {
	struct dw_cell name, place, caller, peak_bytes, peak_error_bytes, live_bytes, live_error_bytes, growth_bytes,
		growth_error_bytes, allocated_bytes, samples, file, line, pid;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct heap_cells, name, "allocated by", NONE, TEXT),
	DW_FIELD(struct heap_cells, place, "line", NONE, TEXT),
	DW_FIELD(struct heap_cells, caller, "called by", NONE, TEXT, .not_narrow = true),
	DW_FIELD(struct heap_cells, peak_bytes, "at the peak", BYTES, INT),
	DW_FIELD(struct heap_cells, peak_error_bytes, "+-", BYTES, INT),
	DW_FIELD(struct heap_cells, live_bytes, "at the end", BYTES, INT),
	DW_FIELD(struct heap_cells, live_error_bytes, "+-", BYTES, INT, .wide_only = true),
	DW_FIELD(struct heap_cells, growth_bytes, "growth a step", BYTES, REAL),
	DW_FIELD(struct heap_cells, growth_error_bytes, "+-", BYTES, REAL),
	DW_FIELD(struct heap_cells, allocated_bytes, "allocated", BYTES, INT, .wide_only = true),
	DW_FIELD(struct heap_cells, samples, "samples", COUNT, INT, .wide_only = true),
	DW_FIELD(struct heap_cells, file, "file", NONE, TEXT, .data_only = true),
	DW_FIELD(struct heap_cells, line, "line number", NONE, INT, .data_only = true),
	DW_FIELD(struct heap_cells, pid, "process", NONE, INT, .data_only = true),
};

/* "net.c:120", or "" */
static const char *heap_line(const struct dw_source_function *function, char text[300])
{
	*text = '\0';
	if (function->file)
		snprintf(text, 300, "%.280s:%u", dw_text_base_name(function->file), function->line);
	return text;
}

/* The row of a place, or of a thread, which has a name. */
static void heap_fill_row(struct dwell_table *table, const struct dw_memory_pool *pool, const struct dw_memory_place *place,
                          const char *thread, uint32_t pid)
{
	const struct dw_source_function *from = place->function, *caller = place->caller;
	double steps = (double)pool->growth_steps;
	char line[300] = "", at[300], called[400] = "";

	if (caller)
		snprintf(called, sizeof called, "%.80s %s", caller->name, heap_line(caller, at));
	if (from)
		heap_line(from, line);
	DW_TABLE_PUT(table, 0, struct heap_cells, .name = DW_STRING(from ? from->name : thread), .place = DW_STRING(*line ? line : NULL),
	             .caller = DW_STRING(*called ? called : NULL), .peak_bytes = DW_INT(place->use.at_peak_bytes),
	             .peak_error_bytes = DW_INT(dw_memory_error(place->peak_variance)),
	             .live_bytes = DW_INT(place->use.live_bytes),
	             .live_error_bytes = DW_INT(dw_memory_error(place->live_variance)),
	             .growth_bytes = DW_PART(place->growth_bytes, steps),
	             .growth_error_bytes = DW_PART(dw_memory_error(place->growth_variance), steps),
	             .allocated_bytes = DW_INT(place->use.allocated_bytes), .samples = DW_INT(place->samples),
	             .file = DW_STRING(from ? from->file : NULL), .line = from && from->line ? DW_INT(from->line) : DW_EMPTY,
	             .pid = DW_INT(pid));
}

static void heap_fill_pool(struct dwell_table *table, const struct dw_model *model, const struct dw_memory_pool *pool, bool by_thread)
{
	uint32_t pid = dw_model_source(model)->processes[pool->process].pid;
	char name[256];

	for (size_t n = 0; !by_thread && n < pool->place_count; n++)
		heap_fill_row(table, pool, &pool->places[n], NULL, pid);
	for (size_t n = 0; by_thread && n < pool->thread_count; n++)
		heap_fill_row(table, pool, &pool->threads[n], dw_view_thread_name(model, pool->threads[n].thread, false, name), pid);
}

/* --group-by. */
static int heap_parse_groups(const char *list, bool *by_thread, struct dwell_error *error)
{
	*by_thread = dw_text_same(list, "thread");
	if (!list || !*list || *by_thread)
		return 0;
	return dw_error_set(error, DWELL_E_ARGUMENT, "the view heap has no group '%.40s': it has thread", list);
}

/* The places that grow, the largest first. */
static void heap_say_growth(struct dwell_table *table, const struct dw_memory_pool *pool)
{
	double below = INFINITY, steps = (double)pool->growth_steps;

	for (unsigned n = 0; n < 3 && steps > 0; n++) {
		const struct dw_memory_place *most = NULL;
		char line[300], name[256];

		for (size_t i = 0; i < pool->place_count; i++)
			if (pool->places[i].grows && pool->places[i].growth_bytes < below &&
			    (!most || pool->places[i].growth_bytes > most->growth_bytes))
				most = &pool->places[i];
		if (!most)
			return;
		below = most->growth_bytes;
		heap_line(most->function, line);
		dw_table_head(table, "Grows by %s +- %s a step: %.100s%s%s.", dw_text_bytes(most->growth_bytes / steps, " ").at,
		              dw_text_bytes(dw_memory_error(most->growth_variance) / steps, " ").at,
		              dw_view_function_name(most->function->name, name), *line ? " at " : "", line);
	}
}

static void heap_say_pool(struct dwell_table *table, const struct dw_memory_pool *pool, const struct dw_source_process *process,
                          bool several)
{
	char who[120] = "";

	if (several)
		snprintf(who, sizeof who, "%.80s[%u]: ", process->label, process->pid);
	dw_table_head(table, "%s%s +- %s at the peak, %s +- %s at the end.", who,
	              dw_text_bytes((double)pool->all.at_peak_bytes, " ").at,
	              dw_text_bytes(dw_memory_error(pool->peak_variance), " ").at,
	              dw_text_bytes((double)pool->all.live_bytes, " ").at,
	              dw_text_bytes(dw_memory_error(pool->live_variance), " ").at);
	heap_say_growth(table, pool);
}

static struct dwell_table *heap_view(struct dw_model *model, const struct dwell_view_options *options,
                                     struct dwell_error *error)
{
	const struct dw_memory *memory = dw_model_memory(model, error);
	const struct dw_source *source = dw_model_source(model);
	const char *lacks = dw_view_meta(source, DW_KEY_HEAP_LACKS);
	struct dwell_table *table;
	size_t pools = 0, said = 0;
	bool by_thread;
	char name[256];

	if (!memory || heap_parse_groups(options->group_by, &by_thread, error))
		return NULL;
	for (size_t i = 0; i < memory->pool_count; i++)
		pools += memory->pools[i].sampled;
	if (!pools) {
		dw_error_set(error, DWELL_E_NO_DATA, "%s has no blocks of malloc%s%s", dw_view_trace_name(model, name),
		             lacks ? ": " : " in these steps, this thread or this time", lacks ? lacks : "");
		return NULL;
	}
	table = DW_VIEW_CHOOSE("heap", columns, 0, error);
	for (size_t i = 0; table && i < memory->pool_count; i++) {
		const struct dw_memory_pool *pool = &memory->pools[i];

		if (!pool->sampled)
			continue;
		if (said++ < MOST_SAID)
			heap_say_pool(table, pool, &source->processes[pool->process], pools > 1);
		heap_fill_pool(table, model, pool, by_thread);
	}
	if (!table)
		return NULL;
	if (said > MOST_SAID)
		dw_table_head(table, "%zu more processes have less at the peak.", said - MOST_SAID);
	dw_table_sort_by(table, "peak_bytes");
	dw_table_note(table, "Bytes that the program asked for, estimated from samples; +- is half of the 95%% interval.");
	if (lacks)
		dw_table_note(table, "Incomplete: %s.", lacks);
	return table;
}

const struct dw_view dw_view_heap = {
	.name = "heap", .question = "which places of the code allocate the heap's memory, and which let it grow?",
	.run = heap_view, .takes = DW_VIEW_TAKES(group_by), .row_name = "name", .limit = 20,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.needs_heap = true, .needs = "blocks of malloc", .remedy = "record with dwell run --memory=malloc",
};
