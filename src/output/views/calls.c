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

/* What a table has. */
enum {
	OPERATORS = DW_HAS_OWN, /* its rows are operators alone, */
	NAMED = OPERATORS << 1, /* or named ranges too */
	OVERLOAD = OPERATORS << 2,
	SHAPES = OPERATORS << 3,
	STACKS = OPERATORS << 4,
	MEMORY = OPERATORS << 5,
	DEVICE_MEMORY = OPERATORS << 6,
	FLOPS = OPERATORS << 7,
};

struct calls_row {
	const char *name, *overload, *stack, *category;
	struct dw_cell shapes, source, input_shapes, share, self_bytes, total_bytes, device_bytes, device_total_bytes,
		flops;
	struct dw_view_stat stat;
	struct dw_view_device device;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct calls_row, name, "operator", NONE, TEXT, .only = OPERATORS, .total_text = "all"),
	DW_FIELD(struct calls_row, name, "name", NONE, TEXT, .only = NAMED, .total_text = "all"),
	DW_FIELD(struct calls_row, overload, "overload", NONE, TEXT, .only = OVERLOAD),
	DW_FIELD(struct calls_row, shapes, "shapes", NONE, TEXT, .only = SHAPES),
	DW_FIELD(struct calls_row, source, "called from", NONE, TEXT, .only = STACKS),
	DW_VIEW_STAT_FIELDS(struct calls_row, stat),
	DW_FIELD(struct calls_row, share, "of self time", RATIO, REAL, .bar = true, .sums = "self_ns"),
	DW_FIELD(struct calls_row, self_bytes, "self memory", BYTES, INT, .only = MEMORY),
	DW_FIELD(struct calls_row, total_bytes, "memory", BYTES, INT, .only = MEMORY),
	DW_FIELD(struct calls_row, device_bytes, "self device memory", BYTES, INT, .only = DEVICE_MEMORY),
	DW_FIELD(struct calls_row, device_total_bytes, "device memory", BYTES, INT, .only = DEVICE_MEMORY),
	DW_FIELD(struct calls_row, flops, "FLOPs", COUNT, INT, .only = FLOPS),
	DW_FIELD(struct calls_row, input_shapes, "input shapes", NONE, TEXT, .only = SHAPES, .data_only = true),
	DW_FIELD(struct calls_row, stack, "stack", NONE, TEXT, .only = STACKS, .data_only = true),
	DW_FIELD(struct calls_row, category, "category", NONE, TEXT, .only = NAMED, .data_only = true),
	DW_VIEW_DEVICE_FIELDS(struct calls_row, device),
};

struct filling {
	struct dwell_table *table;
	struct dw_model *model;
	const struct dw_calls *calls;
	const struct dw_symbol *symbols;
	bool python;                        /* a Python program: steps have torch.profiler's name */
	unsigned has;                       /* what the table has */
	const struct dw_device_sum *device; /* by row of `calls`; NULL: no events of devices */
};

static unsigned calls_find_columns(const struct filling *filling, const struct dw_grouping *group, bool named)
{
	const struct dw_calls *calls = filling->calls;

	return (named ? NAMED : OPERATORS) | (group->overload ? OVERLOAD : 0) | (group->shapes ? SHAPES : 0) |
	       (group->stack_frames > 0 ? STACKS : 0) | (calls->has_memory ? MEMORY : 0) |
	       (calls->has_device_memory ? DEVICE_MEMORY : 0) | (calls->has_flops ? FLOPS : 0) |
	       (filling->device ? DW_HAS_DEVICE : 0);
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
	bool step = from->symbol == DW_NO_INDEX;
	const char *overload = step ? NULL : filling->symbols[from->symbol].detail;
	struct calls_row row = {
		.name = step && !filling->python ? "step" : from->name,
		.overload = overload ? overload : "",
		.stack = from->stack,
		.category = from->is_async ? "async" : dw_view_category(from->category),
		.stat = dw_view_stat_of(&from->stat),
		.share = DW_PART(from->stat.self_ns, filling->calls->self_ns),
		.self_bytes = DW_INT(from->self_bytes),
		.total_bytes = DW_INT(from->total_bytes),
		.device_bytes = DW_INT(from->device_bytes),
		.device_total_bytes = DW_INT(from->device_total_bytes),
		.flops = from->flops ? DW_INT(dw_flops_shown(from->flops)) : DW_EMPTY,
		.device = dw_view_device_of(device),
	};

	if (filling->has & SHAPES) {
		calls_put_shapes(filling, &row.shapes, from, DW_SHAPES_FOR_PEOPLE);
		calls_put_shapes(filling, &row.input_shapes, from, DW_SHAPES_AS_TORCH);
	}
	if (filling->has & STACKS)
		calls_put_source(filling, &row.source, from->stack);
	dw_table_put(filling->table, 0, &row, sizeof row);
}

DW_ORDER_OF_POINTERS(calls_compare_selfs, struct dw_call_row, DW_DOWN(stat.self_ns) DW_UP_PLACE)

static void calls_put_rows(struct filling *filling)
{
	const struct dw_calls *calls = filling->calls;
	const struct dw_call_row **order = calloc(calls->count + 1, sizeof *order);
	struct dw_view_places places;

	filling->table->failed |= !order;
	dw_view_places_init(&places, filling->model);
	for (size_t i = 0; order && i < calls->count; i++)
		order[i] = &calls->rows[i];
	if (order && calls->count)
		qsort(order, calls->count, sizeof *order, calls_compare_selfs);
	for (size_t i = 0; order && i < calls->count; i++) {
		calls_put_row(filling, order[i], filling->device ? &filling->device[order[i] - calls->rows] : NULL);
		dw_view_places_take(&places, filling->table, order[i]->symbol);
	}
	free(order);
	DW_TABLE_PUT_TOTALS(filling->table, struct calls_row, .name = NULL);
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
	filling.has = calls_find_columns(&filling, &ask.group, named);
	filling.table = DW_VIEW_CHOOSE_DEVICE(model, view, columns, filling.has, error);
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
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns), &dw_view_places_columns),
	.row_ns = "total_ns", .limit = 30,
	.categories = DW_VIEW_CATEGORY(OPERATOR) | DW_VIEW_CATEGORY(ZONE), .needs = "operators or named ranges",
	.remedy = "mark them with DWELL_OP(\"name\") or DWELL_ZONE(\"name\")",
};
