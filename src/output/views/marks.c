/*
 * marks: when and how often did the program report that something happened?
 */
#include <stdlib.h>

#include "views/common.h"

static const struct dw_column columns[] = {
	DW_COLUMN("mark", "mark", NONE, TEXT),
	DW_COLUMN("count", "count", COUNT, INT),
	DW_COLUMN("per_step", "per step", COUNT, REAL),
	DW_COLUMN("first_ns", "first", NS, INT),
	DW_COLUMN("last_ns", "last", NS, INT),
	DW_COLUMN("apart_ns", "apart", NS, REAL),
	DW_COLUMN("threads", "threads", COUNT, INT),
};
enum { COUNT = 1, COLUMNS = sizeof columns / sizeof *columns };

struct marks_row {
	uint32_t symbol, thread;  /* the thread that wrote the latest one that was seen */
	uint64_t count, first_ns, last_ns, threads;
};

struct marks {
	struct dw_model *model;
	struct marks_row *rows;   /* by row of the symbols */
};

static int marks_see(void *context, const struct dw_event *event)
{
	struct marks *marks = context;
	struct marks_row *row;

	if (event->type != DW_EVENT_MARK)
		return 0;
	row = &marks->rows[dw_model_symbol_row(marks->model, event->symbol)];
	/* Events come stream by stream, so a thread is counted when the writer changes. */
	row->threads += !row->count || row->thread != event->thread;
	row->first_ns = row->count && row->first_ns < event->start_ns ? row->first_ns : event->start_ns;
	row->last_ns = row->count && row->last_ns > event->start_ns ? row->last_ns : event->start_ns;
	row->symbol = event->symbol;
	row->thread = event->thread;
	row->count++;
	return 0;
}

static void marks_put_row(struct dwell_table *table, const struct dw_symbol *symbol,
                          const struct marks_row *from, size_t steps)
{
	DW_TABLE_ROW(table, 0, DW_STRING(symbol->name), DW_INT(from->count), DW_PART(from->count, steps),
	             DW_INT(from->first_ns), DW_INT(from->last_ns),
	             DW_PART(from->last_ns - from->first_ns, from->count - 1), DW_INT(from->threads));
}

static struct dwell_table *marks_view(struct dw_model *model, const struct dwell_view_options *options,
                                      struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	struct marks marks = { .model = model };
	struct dwell_table *table = NULL;
	const struct dw_symbol *symbols;
	size_t rows, steps = 0;
	int code;

	symbols = dw_model_symbols(model, &rows);
	marks.rows = calloc(rows + 1, sizeof *marks.rows);
	code = marks.rows ? dw_model_events(model, marks_see, &marks, error) : DWELL_E_NOMEM;
	for (size_t i = 0; i < source->step_count; i++)
		steps += dw_model_has_step(model, &source->steps[i]);
	if (!code)
		table = dw_view_table("marks", columns, COLUMNS, error);
	for (size_t i = 0; table && i < rows; i++)
		if (marks.rows[i].count)
			marks_put_row(table, &symbols[marks.rows[i].symbol], &marks.rows[i], steps);
	if (table)
		dw_table_sort(table, COUNT);
	free(marks.rows);
	return table;
}

const struct dw_view dw_view_marks = {
	.name = "marks", .question = "when and how often did the program report that something happened?",
	.run = marks_view, .row_name = "mark", .limit = 20,
	.categories = DW_VIEW_CATEGORY(MARK), .needs = "marks",
	.remedy = "DWELL_MARK(\"name\"), in Python dwell.mark(\"name\"), reports one",
};
