/*
 * marks: when and how often did the program report that something happened?
 */
#include <stdlib.h>

#include "views/columns.h"

struct marks_cells {
	struct dw_cell mark, count, per_step, first_ns, last_ns, apart_ns, threads;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct marks_cells, mark, "mark", NONE, TEXT),
	DW_FIELD(struct marks_cells, count, "count", COUNT, INT),
	DW_FIELD(struct marks_cells, per_step, "per step", COUNT, REAL),
	DW_FIELD(struct marks_cells, first_ns, "first", NS, INT),
	DW_FIELD(struct marks_cells, last_ns, "last", NS, INT),
	DW_FIELD(struct marks_cells, apart_ns, "apart", NS, REAL),
	DW_FIELD(struct marks_cells, threads, "threads", COUNT, INT),
};

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
	DW_TABLE_PUT(table, 0, struct marks_cells, .mark = DW_STRING(symbol->name), .count = DW_INT(from->count),
	             .per_step = DW_PART(from->count, steps), .first_ns = DW_INT(from->first_ns),
	             .last_ns = DW_INT(from->last_ns), .apart_ns = DW_PART(from->last_ns - from->first_ns, from->count - 1),
	             .threads = DW_INT(from->threads));
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
		table = DW_VIEW_CHOOSE("marks", columns, 0, error);
	for (size_t i = 0; table && i < rows; i++)
		if (marks.rows[i].count)
			marks_put_row(table, &symbols[marks.rows[i].symbol], &marks.rows[i], steps);
	if (table)
		dw_table_sort_by(table, "count");
	free(marks.rows);
	return table;
}

const struct dw_view dw_view_marks = {
	.name = "marks", .question = "when and how often did the program report that something happened?",
	.run = marks_view, .row_name = "mark", .limit = 20,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.categories = DW_VIEW_CATEGORY(MARK), .needs = "marks",
	.remedy = "DWELL_MARK(\"name\"), in Python dwell.mark(\"name\"), reports one",
};
