/*
 * functions: which functions take the time?
 *
 * The view shows calls that the functions probe recorded, and Python functions if the Python probe
 * ran. They are counted as in cProfile: `primitive` calls are those that are not inside a call of
 * the same function, and total time is the time of primitive calls. Self time excludes called
 * functions but includes operators and zones.
 */
#include <string.h>

#include "base/text.h"
#include "model/time/function_calls.h"
#include "views/common.h"

static const struct dw_column columns[] = {
	DW_COLUMN("name", "function", NONE, TEXT),
	DW_COLUMN("file", "file", NONE, TEXT, .wide_only = true),
	DW_COLUMN("line", "line", NONE, INT, .wide_only = true),
	DW_COLUMN("calls", "calls", COUNT, INT),
	DW_COLUMN("primitive", "primitive", COUNT, INT, .wide_only = true),
	DW_COLUMN("self_ns", "self", NS, INT),
	DW_COLUMN("total_ns", "total", NS, INT),
	DW_COLUMN("mean_ns", "total/call", NS, INT),
	DW_COLUMN("share", "of functions", RATIO, REAL, .bar = true),
};
enum { NAME, FILE_, LINE, CALLS, PRIMITIVE, SELF, TOTAL, MEAN, SHARE, COLUMNS };

/* Returns the name of the file without its folder, which is enough to tell functions apart. */
static const char *functions_base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash && slash[1] ? slash + 1 : file;
}

static void functions_fill_row(struct dwell_table *table, const struct dw_symbol *symbol,
                               const struct dw_function_row *from, uint64_t all_ns)
{
	struct dw_cell *row = dw_table_row(table, 0);

	dw_cell_text(table, &row[NAME], symbol->name);
	if (symbol->file)
		dw_cell_text(table, &row[FILE_], functions_base_name(symbol->file));
	if (symbol->line)
		dw_cell_int(&row[LINE], symbol->line);
	dw_cell_int(&row[CALLS], (int64_t)from->calls);
	dw_cell_int(&row[PRIMITIVE], (int64_t)from->primitive);
	dw_cell_int(&row[SELF], (int64_t)from->self_ns);
	dw_cell_int(&row[TOTAL], (int64_t)from->total_ns);
	if (from->primitive)
		dw_cell_int(&row[MEAN], (int64_t)(from->total_ns / from->primitive));
	if (all_ns)
		dw_cell_real(&row[SHARE], (double)from->self_ns / (double)all_ns);
}

static struct dwell_table *functions_view(struct dw_model *model,
                                          const struct dwell_view_options *options,
                                          struct dwell_error *error)
{
	const struct dw_function_calls *calls = dw_model_function_calls(model, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct dwell_table *table = calls ? dw_view_table("functions", columns, COLUMNS, error) : NULL;
	struct dw_cell *totals;

	if (!table)
		return NULL;
	for (size_t i = 0; i < calls->count; i++)
		functions_fill_row(table, &symbols[calls->rows[i].symbol], &calls->rows[i], calls->self_ns);
	dw_table_sort(table, SELF);
	totals = dw_table_totals(table);
	dw_cell_text(table, &totals[NAME], "all functions");
	dw_cell_int(&totals[CALLS], (int64_t)calls->calls);
	dw_cell_int(&totals[PRIMITIVE], (int64_t)calls->primitive);
	dw_cell_int(&totals[SELF], (int64_t)calls->self_ns);
	if (calls->open)
		dw_table_note(table, "%s call%s did not end; counted until the end of %s process.",
		              dw_text_count((int64_t)calls->open).at, dw_text_plural(calls->open),
		              calls->open == 1 ? "its" : "their");
	return table;
}

const struct dw_view dw_view_functions = {
	.name = "functions",
	.question = "which functions take the time?",
	.run = functions_view,
	.row_name = "name",
	.row_ns = "total_ns",
	.limit = 30,
	.categories = DW_VIEW_CATEGORY(FUNCTION),
	.needs = "function calls",
	.remedy = "record with --functions a program that carries the functions probe",
};
