/*
 * pstats: the table that Python's pstats prints of a cProfile, and the report of Lightning's
 * AdvancedProfiler, which has a table for each action.
 *
 * Prints a table for each action of each stage, in the order in which the actions first occurred.
 * If the scope is one action, prints only its table. If the trace has no actions and no stages,
 * prints one table without headings. `pstats:0.1` prints this share of the lines, --limit this
 * number of lines.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/order.h"
#include "layouts/python.h"
#include "model/time/function_calls.h"

#define ACTIONS (1u << DWELL_CATEGORY_ACTION)

/* ---- order ----------------------------------------------------------------------------------- */

struct line {
	const struct dw_function_row *row;
	const struct dw_symbol *symbol;
};

static const char *pstats_base_name(const struct dw_symbol *symbol)
{
	const char *slash = symbol->file ? strrchr(symbol->file, '/') : NULL;

	return slash ? slash + 1 : symbol->file ? symbol->file : "~";
}

DW_ORDER(pstats_compare_totals, struct line, DW_DOWN(row->total_ns))
DW_ORDER(pstats_compare_selfs, struct line, DW_DOWN(row->self_ns))
DW_ORDER(pstats_compare_calls, struct line, DW_DOWN(row->calls))
DW_ORDER(pstats_compare_primitive, struct line, DW_DOWN(row->primitive))
DW_ORDER(pstats_compare_names, struct line, DW_TEXT(symbol->name))
static int pstats_compare_files(const void *left, const void *right)
{
	return strcmp(pstats_base_name(((const struct line *)left)->symbol),
	              pstats_base_name(((const struct line *)right)->symbol));
}
DW_ORDER(pstats_compare_lines, struct line, DW_UP(symbol->line))

static const struct order {
	const char *name, *label;
	int (*compare)(const void *left, const void *right);
} orders[] = {
	{ "cumulative", "cumulative time", pstats_compare_totals },
	{ "cumtime", "cumulative time", pstats_compare_totals },
	{ "total", "cumulative time", pstats_compare_totals },
	{ "total_ns", "cumulative time", pstats_compare_totals },
	{ "time", "internal time", pstats_compare_selfs },
	{ "tottime", "internal time", pstats_compare_selfs },
	{ "self", "internal time", pstats_compare_selfs },
	{ "self_ns", "internal time", pstats_compare_selfs },
	{ "calls", "call count", pstats_compare_calls },
	{ "ncalls", "call count", pstats_compare_calls },
	{ "pcalls", "primitive call count", pstats_compare_primitive },
	{ "name", "function name", pstats_compare_names },
	{ "filename", "file name", pstats_compare_files },
	{ "line", "line number", pstats_compare_lines },
};

struct pstats_request {
	const struct order *order;
	bool has_share;
	size_t limit;
	double share;
};

static int pstats_take_options(struct pstats_request *request, const struct dw_layout_request *from,
                               struct dwell_error *error)
{
	const char *sort = from->options->sort ? from->options->sort : orders[0].name;
	struct dw_nearest nearest;
	char *end;

	*request = (struct pstats_request){ .limit = dw_layout_rows(from->options, SIZE_MAX) };
	if (from->version) {
		request->share = strtod(from->version, &end);
		request->has_share = true;
		if (!*from->version || *end || !(request->share >= 0 && request->share <= 1))
			return dw_error_set(error, DWELL_E_NAME,
			                    "no layout 'pstats:%.40s'; pstats:0.1 prints the first tenth of the "
			                    "lines", from->version);
		request->has_share = request->share < 1;
	}
	dw_nearest_init(&nearest, sort);
	for (size_t i = 0; i < sizeof orders / sizeof *orders && !request->order; i++) {
		dw_nearest_try(&nearest, orders[i].name);
		if (strcmp(orders[i].name, sort) == 0)
			request->order = &orders[i];
	}
	if (!request->order)
		return dw_error_set(error, DWELL_E_NAME,
		                    "pstats is not sorted by '%.40s'%s (there are cumulative, time, calls, "
		                    "pcalls, name, filename and line)", sort, dw_nearest_question(&nearest).at);
	return 0;
}

/* ---- a table --------------------------------------------------------------------------------- */

/* A function without a file has a name like "<built-in method len>" in Python. pstats prints it in
 * braces. */
static void pstats_put_function(FILE *file, const struct dw_symbol *symbol)
{
	const char *name = symbol->name;
	size_t length = strlen(name);

	if (symbol->file)
		fprintf(file, "%s:%u(%s)\n", pstats_base_name(symbol), symbol->line, name);
	else if (length > 1 && name[0] == '<' && name[length - 1] == '>')
		fprintf(file, "{%.*s}\n", (int)length - 2, name + 1);
	else
		fprintf(file, "%s\n", name);
}

static void pstats_put_line(FILE *file, const struct line *line)
{
	const struct dw_function_row *row = line->row;
	double self = (double)row->self_ns / 1e9, total = (double)row->total_ns / 1e9;
	char calls[48];

	if (row->calls == row->primitive)
		snprintf(calls, sizeof calls, "%" PRIu64, row->calls);
	else
		snprintf(calls, sizeof calls, "%" PRIu64 "/%" PRIu64, row->calls, row->primitive);
	fprintf(file, "%9s %8.3f %8.3f %8.3f ", calls, self, self / (double)row->calls, total);
	if (row->primitive)
		fprintf(file, "%8.3f ", total / (double)row->primitive);
	else
		fprintf(file, "%8s ", "");
	pstats_put_function(file, line->symbol);
}

static size_t pstats_restrict_lines(const struct pstats_request *request, size_t count, FILE *file)
{
	size_t shown = count;
	char sel[32];

	if (request->has_share) {
		shown = (size_t)((double)count * request->share + 0.5);
		dw_layout_python_real(sel, request->share, 16);
	}
	if (shown != count)
		fprintf(file, "   List reduced from %zu to %zu due to restriction <%s>\n", count, shown, sel);
	if (request->limit < shown) {
		fprintf(file, "   List reduced from %zu to %zu due to restriction <%zu>\n", shown,
		        request->limit, request->limit);
		shown = request->limit;
	}
	return shown;
}

static int pstats_put_table(struct dw_model *model, const struct pstats_request *request, FILE *file,
                            struct dwell_error *error)
{
	const struct dw_function_calls *calls = dw_model_function_calls(model, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct line *lines = calls ? calloc(calls->count + 1, sizeof *lines) : NULL;
	size_t shown;

	if (!calls)
		return DWELL_E_NOMEM;
	if (!lines)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the pstats layout");
	for (size_t i = 0; i < calls->count; i++)
		lines[i] = (struct line){ &calls->rows[i], &symbols[calls->rows[i].symbol] };
	if (request->order->compare != pstats_compare_totals) /* the rows have this order already */
		qsort(lines, calls->count, sizeof *lines, request->order->compare);
	fprintf(file, "         %" PRIu64 " function calls ", calls->calls);
	if (calls->calls != calls->primitive)
		fprintf(file, "(%" PRIu64 " primitive calls) ", calls->primitive);
	fprintf(file, "in %.3f seconds\n\n", (double)calls->self_ns / 1e9);
	if (calls->count) {
		fprintf(file, "   Ordered by: %s\n", request->order->label);
		shown = pstats_restrict_lines(request, calls->count, file);
		fputs("\n   ncalls  tottime  percall  cumtime  percall filename:lineno(function)\n", file);
		for (size_t i = 0; i < shown; i++)
			pstats_put_line(file, &lines[i]);
		fputs("\n\n", file);
	}
	free(lines);
	return 0;
}

/* ---- the report ------------------------------------------------------------------------------ */

DW_ORDER(pstats_compare_numbers, struct dw_flat_row, DW_UP(symbol))

static int pstats_put_action(struct dw_model *model, const char *action, const struct pstats_request *request,
                             FILE *file, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	struct dw_scope scope = *dw_model_scope(model);
	struct dw_model *part;
	int code;

	scope.action = action;
	code = dw_model_within(model, &scope, &part, error);
	if (code)
		return code;
	fprintf(file, "Profile stats for: %s", action);
	if (source->process_count == 1 && source->processes[0].local_rank >= 0)
		fprintf(file, " rank: %d", source->processes[0].local_rank);
	fputc('\n', file);
	code = pstats_put_table(part, request, file, error);
	if (part != model)
		dw_model_forget(part); /* frees memory: there may be many actions */
	return code;
}

static int pstats_print_stage(struct dw_model *model, const char *stage, FILE *file, void *context,
                              struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, ACTIONS, error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const char *only = dw_model_scope(model)->action;
	struct dw_flat_row *rows;
	int code = 0;

	if (!flat)
		return DWELL_E_NOMEM;
	if (only || flat->count || stage)
		dw_layout_put_stage(file, stage);
	if (only && !flat->count && stage)
		return 0; /* the action did not run in this stage */
	if (only)
		return pstats_put_action(model, only, context, file, error);
	if (!flat->count && !stage)
		return pstats_put_table(model, context, file, error);
	rows = calloc(flat->count + 1, sizeof *rows);
	if (!rows)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory for the pstats layout");
	memcpy(rows, flat->rows, flat->count * sizeof *rows);
	qsort(rows, flat->count, sizeof *rows, pstats_compare_numbers);
	for (size_t i = 0; i < flat->count && !code; i++) {
		if (i)
			fputc('\n', file);
		code = pstats_put_action(model, symbols[rows[i].symbol].name, context, file, error);
	}
	free(rows);
	return code;
}

static int pstats_print(struct dw_model *model, const struct dw_layout_request *from, FILE *file,
                        struct dwell_error *error)
{
	struct pstats_request request;
	int code = pstats_take_options(&request, from, error);

	return code ? code : dw_layout_stages(model, pstats_print_stage, file, &request, error);
}

const struct dw_layout dw_layout_pstats = {
	.name = "pstats", .what = "Python's cProfile and Lightning's AdvancedProfiler (pstats:0.1: its first tenth)",
	.print = pstats_print,
};
