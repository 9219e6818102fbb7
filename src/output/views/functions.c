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
#include "views/columns.h"

struct functions_cells {
	struct dw_cell name, file, line, calls, primitive, self_ns, total_ns, mean_ns, share;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct functions_cells, name, "function", NONE, TEXT, .total_text = "all functions"),
	DW_FIELD(struct functions_cells, file, "file", NONE, TEXT, .wide_only = true),
	DW_FIELD(struct functions_cells, line, "line", NONE, INT, .wide_only = true),
	DW_FIELD(struct functions_cells, calls, "calls", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct functions_cells, primitive, "primitive", COUNT, INT, .wide_only = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct functions_cells, self_ns, "self", NS, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct functions_cells, total_ns, "total", NS, INT),
	DW_FIELD(struct functions_cells, mean_ns, "total/call", NS, INT),
	DW_FIELD(struct functions_cells, share, "of functions", RATIO, REAL, .bar = true, .sums = "self_ns"),
};

static void functions_fill_row(struct dwell_table *table, const struct dw_symbol *symbol,
                               const struct dw_function_row *from, uint64_t all_ns)
{
	DW_TABLE_PUT(table, 0, struct functions_cells, .name = DW_STRING(symbol->name),
	             .file = DW_STRING(symbol->file ? dw_text_base_name(symbol->file) : NULL),
	             .line = symbol->line ? DW_INT(symbol->line) : DW_EMPTY, .calls = DW_INT(from->calls),
	             .primitive = DW_INT(from->primitive), .self_ns = DW_INT(from->self_ns),
	             .total_ns = DW_INT(from->total_ns),
	             .mean_ns = from->primitive ? DW_INT(from->total_ns / from->primitive) : DW_EMPTY,
	             .share = DW_PART(from->self_ns, all_ns));
}

static struct dwell_table *functions_view(struct dw_model *model, const struct dwell_view_options *options,
                                          struct dwell_error *error)
{
	const struct dw_function_calls *calls = dw_model_function_calls(model, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct dwell_table *table = calls ? DW_VIEW_CHOOSE("functions", columns, 0, error) : NULL;

	if (!table)
		return NULL;
	for (size_t i = 0; i < calls->count; i++)
		functions_fill_row(table, &symbols[calls->rows[i].symbol], &calls->rows[i], calls->self_ns);
	dw_table_sort_by(table, "self_ns");
	DW_TABLE_PUT_TOTALS(table, struct functions_cells, .calls = DW_INT(calls->calls),
	                    .primitive = DW_INT(calls->primitive), .self_ns = DW_INT(calls->self_ns));
	dw_view_note_open(table, calls->open);
	return table;
}

const struct dw_view dw_view_functions = {
	.name = "functions", .question = "which functions take the time?",
	.run = functions_view, .row_name = "name", .row_ns = "total_ns", .limit = 30,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.categories = DW_VIEW_CATEGORY(FUNCTION), .needs = "function calls",
	.remedy = "record with --functions a program that carries the functions probe",
};
