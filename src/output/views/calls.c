/*
 * calls: what was called, grouped as asked? The operators view uses the same tables when it is
 * grouped.
 *
 * The rows are those of torch.profiler's key_averages(): operators, and in the calls view also
 * named ranges and steps. The options separate calls by input shapes, overload or stack. Self time
 * excludes everything that has a row of its own, so self times add up.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "base/text.h"
#include "model/time/calls.h"
#include "model/time/flops.h"
#include "views/device.h"
#include "views/places.h"

/* All possible columns, in order. */
enum { NAME, OVERLOAD, SHAPES, SOURCE, STAT, SHARE, SELF_BYTES, TOTAL_BYTES, DEVICE_BYTES,
       DEVICE_TOTAL_BYTES, FLOPS, INPUT_SHAPES, STACK, CATEGORY, KINDS };
#define MOST_COLUMNS (KINDS + DW_VIEW_STAT_COUNT + DW_VIEW_DEVICE_COUNT)

struct filling {
	struct dwell_table *table;
	struct dw_model *model;
	const struct dw_calls *calls;
	const struct dw_symbol *symbols;
	bool python;   /* a Python program: steps have torch.profiler's name */
	const struct dw_device_sum *device; /* by row of `calls`; NULL: no events of devices */
	int at[KINDS]; /* index of each column, -1 if the table does not have it */
	size_t own;    /* number of columns before those of devices */
};

static size_t calls_choose_columns(struct filling *filling, const struct dw_grouping *group, bool named,
                                   struct dw_column columns[MOST_COLUMNS])
{
	static const struct dw_column stat[] = { DW_VIEW_STAT_COLUMNS };
	const struct dw_calls *calls = filling->calls;
	const struct { int kind; bool there; struct dw_column column; } all[] = {
		{ NAME, true, DW_COLUMN("name", named ? "name" : "operator", NONE, TEXT) },
		{ OVERLOAD, group->overload, DW_COLUMN("overload", "overload", NONE, TEXT) },
		{ SHAPES, group->shapes, DW_COLUMN("shapes", "shapes", NONE, TEXT) },
		{ SOURCE, group->stack_frames > 0, DW_COLUMN("source", "called from", NONE, TEXT) },
		{ STAT, true, DW_COLUMN("", "", NONE, INT) }, /* several columns, see below */
		{ SHARE, true, DW_COLUMN("share", "of self time", RATIO, REAL, .bar = true) },
		{ SELF_BYTES, calls->has_memory, DW_COLUMN("self_bytes", "self memory", BYTES, INT) },
		{ TOTAL_BYTES, calls->has_memory, DW_COLUMN("total_bytes", "memory", BYTES, INT) },
		{ DEVICE_BYTES, calls->has_device_memory,
		  DW_COLUMN("device_bytes", "self device memory", BYTES, INT) },
		{ DEVICE_TOTAL_BYTES, calls->has_device_memory,
		  DW_COLUMN("device_total_bytes", "device memory", BYTES, INT) },
		{ FLOPS, calls->has_flops, DW_COLUMN("flops", "FLOPs", COUNT, INT) },
		{ INPUT_SHAPES, group->shapes,
		  DW_COLUMN("input_shapes", "input shapes", NONE, TEXT, .data_only = true) },
		{ STACK, group->stack_frames > 0,
		  DW_COLUMN("stack", "stack", NONE, TEXT, .data_only = true) },
		{ CATEGORY, named, DW_COLUMN("category", "category", NONE, TEXT, .data_only = true) },
	};
	size_t count = 0;

	for (size_t i = 0; i < KINDS; i++) {
		filling->at[all[i].kind] = all[i].there ? (int)count : -1;
		if (all[i].kind == STAT)
			for (size_t s = 0; s < DW_VIEW_STAT_COUNT; s++)
				columns[count++] = stat[s];
		else if (all[i].there)
			columns[count++] = all[i].column;
	}
	return count;
}

static void calls_put_shapes(struct filling *filling, struct dw_cell *cell, const struct dw_call_row *from,
                             enum dw_shapes_style style)
{
	const struct dw_entry_shapes *shapes = from->symbol == DW_NO_INDEX ? NULL : filling->symbols[from->symbol].shapes;
	char *text = dw_shapes_text(shapes, style);

	filling->table->failed |= !text;
	if (text)
		dw_cell_text(filling->table, cell, text);
	free(text);
}

/* Formats a stack as recorded, innermost frame first: "forward (net.py:7) < main (main.py:3)". */
static void calls_put_source(struct filling *filling, struct dw_cell *cell, const char *stack)
{
	char *text = stack ? malloc(strlen(stack) * 3 + 1) : NULL, *to = text;

	filling->table->failed |= stack && !text;
	if (!text)
		return;
	for (const char *at = stack; *at; at++) {
		if (*at == '\n') {
			memcpy(to, " < ", 3);
			to += 3;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	dw_cell_text(filling->table, cell, text);
	free(text);
}

static void calls_put_row(struct filling *filling, const struct dw_call_row *from, const struct dw_device_sum *device)
{
	struct dwell_table *table = filling->table;
	struct dw_cell *row = dw_table_row(table, 0);
	const int *at = filling->at;
	const char *overload = from->symbol == DW_NO_INDEX ? NULL : filling->symbols[from->symbol].detail;

	dw_cell_text(table, &row[at[NAME]], from->symbol == DW_NO_INDEX && !filling->python ? "step" : from->name);
	if (at[OVERLOAD] >= 0)
		dw_cell_text(table, &row[at[OVERLOAD]], overload ? overload : "");
	if (at[SHAPES] >= 0)
		calls_put_shapes(filling, &row[at[SHAPES]], from, DW_SHAPES_FOR_PEOPLE);
	if (at[INPUT_SHAPES] >= 0)
		calls_put_shapes(filling, &row[at[INPUT_SHAPES]], from, DW_SHAPES_AS_TORCH);
	if (at[SOURCE] >= 0)
		calls_put_source(filling, &row[at[SOURCE]], from->stack);
	if (at[STACK] >= 0 && from->stack)
		dw_cell_text(table, &row[at[STACK]], from->stack);
	dw_view_stat(&row[at[STAT]], &from->stat);
	if (filling->calls->self_ns)
		dw_cell_real(&row[at[SHARE]], (double)from->stat.self_ns / (double)filling->calls->self_ns);
	if (at[SELF_BYTES] >= 0) {
		dw_cell_int(&row[at[SELF_BYTES]], from->self_bytes);
		dw_cell_int(&row[at[TOTAL_BYTES]], from->total_bytes);
	}
	if (at[DEVICE_BYTES] >= 0) {
		dw_cell_int(&row[at[DEVICE_BYTES]], from->device_bytes);
		dw_cell_int(&row[at[DEVICE_TOTAL_BYTES]], from->device_total_bytes);
	}
	if (at[FLOPS] >= 0 && from->flops)
		dw_cell_int(&row[at[FLOPS]], dw_flops_shown(from->flops));
	if (device)
		dw_view_device_cells(&row[filling->own], device);
	if (at[CATEGORY] >= 0)
		dw_cell_text(table, &row[at[CATEGORY]], from->is_async ? "async" : dw_view_category(from->category));
}

DW_ORDER_OF_POINTERS(calls_compare_selfs, struct dw_call_row, DW_DOWN(stat.self_ns) DW_UP_PLACE)

static void calls_put_rows(struct filling *filling)
{
	const struct dw_calls *calls = filling->calls;
	const struct dw_call_row **order = calloc(calls->count + 1, sizeof *order);
	uint64_t count = 0, self_ns = 0;
	struct dw_view_places places;
	struct dw_cell *totals;

	filling->table->failed |= !order;
	dw_view_places_init(&places, filling->model);
	for (size_t i = 0; order && i < calls->count; i++) {
		order[i] = &calls->rows[i];
		count += calls->rows[i].stat.count;
		self_ns += calls->rows[i].stat.self_ns;
	}
	if (order && calls->count)
		qsort(order, calls->count, sizeof *order, calls_compare_selfs);
	for (size_t i = 0; order && i < calls->count; i++) {
		calls_put_row(filling, order[i], filling->device ? &filling->device[order[i] - calls->rows] : NULL);
		dw_view_places_take(&places, filling->table, order[i]->symbol);
	}
	free(order);
	totals = dw_table_totals(filling->table);
	dw_cell_text(filling->table, &totals[0], "all");
	dw_cell_int(&totals[filling->at[STAT]], (int64_t)count);
	dw_cell_int(&totals[filling->at[STAT] + 1], (int64_t)self_ns);
	if (calls->overlapping)
		dw_table_note(filling->table, "%s call%s overlapped others without nesting: neither counts as "
		              "part of the other.", dw_text_count((int64_t)calls->overlapping).at,
		              dw_text_plural(calls->overlapping));
	dw_view_places_finish(&places, filling->table);
}

static int calls_check_recorded(struct dw_model *model, const struct dw_grouping *group,
                                bool has_shapes, bool has_stacks, struct dwell_error *error)
{
	char name[256];

	if (group->shapes && !has_shapes)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "%s has no shapes: record with dwell run --shapes, or with record_shapes of "
		                    "a profile", dw_view_trace_name(model, name));
	if (group->stack_frames && !has_stacks)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "%s has no stacks: record with dwell run --stacks, or with with_stack of a "
		                    "profile", dw_view_trace_name(model, name));
	return 0;
}

/* Whether anything at all has shapes or a stack: if not, no walk is needed to say so. */
static int calls_check_any(struct dw_model *model, const struct dw_grouping *group, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_symbol *symbols;
	bool shapes = false, stacks = false;
	size_t count;

	symbols = dw_model_symbols(model, &count);
	for (size_t i = 0; i < count && !shapes; i++)
		shapes = symbols[i].shapes != NULL;
	for (size_t i = 0; i < source->file_count && !stacks; i++)
		stacks = source->files[i].stacks != NULL;
	return calls_check_recorded(model, group, shapes, stacks, error);
}

struct dwell_table *dw_view_grouped(struct dw_model *model, const char *view, bool named,
                                    const struct dwell_view_options *options, struct dwell_error *error)
{
	struct dw_calls_ask ask = { .top_level = options->top_level, .memory = true };
	struct filling filling = { .model = model, .symbols = dw_model_symbols(model, NULL) };
	struct dw_column columns[MOST_COLUMNS];

	if (dw_grouping_parse(options->group_by, &ask.group, error) ||
	    dw_calls_parse_ranges(named ? options->ranges : "none", &ask, error) ||
	    calls_check_any(model, &ask.group, error))
		return NULL;
	filling.calls = dw_model_calls(model, &ask, error);
	filling.python = dw_view_is_python(dw_model_source(model));
	if (!filling.calls || calls_check_recorded(model, &ask.group, filling.calls->has_shapes,
	                                            filling.calls->has_stacks, error))
		return NULL;
	if (dw_model_has_device(model)) {
		filling.device = dw_model_device_by_call(model, &ask, error);
		if (!filling.device)
			return NULL;
	}
	filling.own = calls_choose_columns(&filling, &ask.group, named, columns);
	filling.table = dw_view_table_with_device(model, view, columns, filling.own, error);
	if (filling.table)
		calls_put_rows(&filling);
	return filling.table;
}

static struct dwell_table *calls_view(struct dw_model *model, const struct dwell_view_options *options,
                                      struct dwell_error *error)
{
	return dw_view_grouped(model, "calls", true, options, error);
}

const struct dw_view dw_view_calls = {
	.name = "calls", .question = "what was called, operators and named ranges, grouped as asked?",
	.run = calls_view, .takes = DW_VIEW_TAKES(group_by) | DW_VIEW_TAKES(top_level) | DW_VIEW_TAKES(ranges), .row_name = "name",
	.row_ns = "total_ns", .limit = 30,
	.categories = DW_VIEW_CATEGORY(OPERATOR) | DW_VIEW_CATEGORY(ZONE), .needs = "operators or named ranges",
	.remedy = "mark them with DWELL_OP(\"name\") or DWELL_ZONE(\"name\")",
};
