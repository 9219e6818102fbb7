/*
 * gc: what do the pauses of a garbage collector take, and whom do they hit?
 *
 * A row for each kind of collection (Python: its generations) and thread, with the step
 * in which the longest pause lay.
 */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/text.h"
#include "views/views.h"

static const struct dw_column columns[] = {
	DW_COLUMN("name", "name", NONE, TEXT),
	DW_COLUMN("thread", "thread", NONE, TEXT),
	DW_COLUMN("pauses", "pauses", COUNT, INT),
	DW_COLUMN("total_ns", "total", NS, INT),
	DW_COLUMN("mean_ns", "mean", NS, INT),
	DW_COLUMN("max_ns", "longest", NS, INT),
	DW_COLUMN("max_at_ns", "at", NS, INT),
	DW_COLUMN("max_step", "in step", NONE, INT),
};
enum { NAME, THREAD, PAUSES, TOTAL, MEAN, MAX, MAX_AT, MAX_STEP, COLUMNS };

struct pauses {
	uint32_t symbol, thread;
	uint64_t count, total_ns, max_ns, max_at_ns;
};

struct pass {
	const struct dw_symbol *symbols;
	struct pauses *rows;
	size_t count, capacity;
};

static int take(void *context, const struct dw_event *event)
{
	uint64_t ns = event->end_ns - event->start_ns;
	struct pass *pass = context;
	struct pauses *row = NULL;

	if (event->type != DW_EVENT_RANGE ||
	    pass->symbols[event->symbol].category != DWELL_CATEGORY_COLLECTOR)
		return 0;
	for (size_t i = 0; i < pass->count && !row; i++)
		if (pass->rows[i].symbol == event->symbol && pass->rows[i].thread == event->thread)
			row = &pass->rows[i];
	if (!row) {
		row = DW_GROW(&pass->rows, &pass->capacity, pass->count);
		if (!row)
			return -1;
		pass->count++;
		row->symbol = event->symbol;
		row->thread = event->thread;
	}
	row->count++;
	row->total_ns += ns;
	if (ns >= row->max_ns) {
		row->max_ns = ns;
		row->max_at_ns = event->start_ns;
	}
	return 0;
}

/* The step of its process in which a moment lies; NULL: in none. */
static const struct dw_source_step *step_at(const struct dw_source *source, uint32_t thread,
                                            uint64_t ns)
{
	uint32_t process = source->threads[thread].process;

	for (size_t i = 0; i < source->step_count; i++)
		if (source->threads[source->steps[i].thread].process == process &&
		    source->steps[i].start_ns <= ns && ns < source->steps[i].end_ns)
			return &source->steps[i];
	return NULL;
}

static void fill(struct dw_table *table, struct dw_model *model, const struct pauses *from)
{
	const struct dw_source_step *step =
	    step_at(dw_model_source(model), from->thread, from->max_at_ns);
	struct dw_cell *row = dw_table_row(table, 0);
	char name[256];

	dw_cell_text(table, &row[NAME], dw_model_symbols(model, NULL)[from->symbol].name);
	dw_cell_text(table, &row[THREAD], dw_view_thread_name(model, from->thread, false, name));
	dw_cell_int(&row[PAUSES], (int64_t)from->count);
	dw_cell_int(&row[TOTAL], (int64_t)from->total_ns);
	dw_cell_int(&row[MEAN], (int64_t)(from->total_ns / from->count));
	dw_cell_int(&row[MAX], (int64_t)from->max_ns);
	dw_cell_int(&row[MAX_AT], (int64_t)from->max_at_ns);
	if (step)
		dw_cell_int(&row[MAX_STEP], (int64_t)step->number);
}

static void total(struct dw_table *table, const struct pass *pass)
{
	uint64_t count = 0, total_ns = 0, max_ns = 0;
	struct dw_cell *row;

	for (size_t i = 0; i < pass->count; i++) {
		count += pass->rows[i].count;
		total_ns += pass->rows[i].total_ns;
		max_ns = pass->rows[i].max_ns > max_ns ? pass->rows[i].max_ns : max_ns;
	}
	row = dw_table_totals(table);
	dw_cell_text(table, &row[NAME], "all");
	dw_cell_int(&row[PAUSES], (int64_t)count);
	dw_cell_int(&row[TOTAL], (int64_t)total_ns);
	dw_cell_int(&row[MEAN], (int64_t)(count ? total_ns / count : 0));
	dw_cell_int(&row[MAX], (int64_t)max_ns);
}

static void head(struct dw_table *table, struct dw_model *model, struct dwell_error *error)
{
	const struct dw_steps *steps =
	    dw_model_source(model)->step_count ? dw_model_steps(model, error) : NULL;

	if (steps && steps->recorded_ns)
		dw_table_head(table, "Garbage collection takes %s of each step.",
		              dw_text_percent((double)steps->share_ns[DW_SHARE_COLLECTOR] /
		                              (double)steps->recorded_ns).at);
}

struct dw_table *dw_view_gc(struct dw_model *model, const struct dw_view_options *options,
                            struct dwell_error *error)
{
	struct pass pass = { .symbols = dw_model_symbols(model, NULL) };
	int result = dw_model_events(model, take, &pass, error);
	struct dw_table *table = NULL;

	if (result == 0)
		table = dw_view_table("gc", columns, COLUMNS, error);
	else
		dw_error_set(error, DWELL_E_NOMEM, "out of memory for the collector's pauses");
	if (table) {
		head(table, model, error);
		for (size_t i = 0; i < pass.count; i++)
			fill(table, model, &pass.rows[i]);
		dw_table_sort(table, TOTAL);
		total(table, &pass);
	}
	free(pass.rows);
	return table;
}
