/*
 * functions: which functions take the time?
 *
 * The view shows calls that the functions probe recorded, and Python functions if the Python probe
 * ran. They are counted as in cProfile: `primitive` calls are those that are not inside a call of
 * the same function, and total time is the time of primitive calls. Self time excludes called
 * functions but includes operators and zones.
 */

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
enum { SELF = 5, COLUMNS = sizeof columns / sizeof *columns };

static void functions_fill_row(struct dwell_table *table, const struct dw_symbol *symbol,
                               const struct dw_function_row *from, uint64_t all_ns)
{
	DW_TABLE_ROW(table, 0, DW_STRING(symbol->name), DW_STRING(symbol->file ? dw_text_base_name(symbol->file) : NULL),
	             symbol->line ? DW_INT(symbol->line) : DW_EMPTY, DW_INT(from->calls), DW_INT(from->primitive),
	             DW_INT(from->self_ns), DW_INT(from->total_ns),
	             from->primitive ? DW_INT(from->total_ns / from->primitive) : DW_EMPTY, DW_PART(from->self_ns, all_ns));
}

static struct dwell_table *functions_view(struct dw_model *model, const struct dwell_view_options *options,
                                          struct dwell_error *error)
{
	const struct dw_function_calls *calls = dw_model_function_calls(model, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct dwell_table *table = calls ? dw_view_table("functions", columns, COLUMNS, error) : NULL;

	if (!table)
		return NULL;
	for (size_t i = 0; i < calls->count; i++)
		functions_fill_row(table, &symbols[calls->rows[i].symbol], &calls->rows[i], calls->self_ns);
	dw_table_sort(table, SELF);
	DW_TABLE_TOTALS(table, DW_STRING("all functions"), DW_EMPTY, DW_EMPTY, DW_INT(calls->calls),
	                DW_INT(calls->primitive), DW_INT(calls->self_ns));
	dw_view_note_open(table, calls->open);
	return table;
}

const struct dw_view dw_view_functions = {
	.name = "functions", .question = "which functions take the time?",
	.run = functions_view, .row_name = "name", .row_ns = "total_ns", .limit = 30,
	.categories = DW_VIEW_CATEGORY(FUNCTION), .needs = "function calls",
	.remedy = "record with --functions a program that carries the functions probe",
};
