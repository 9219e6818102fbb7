/*
 * counters: how do the values that the program reports, as a loss or a learning rate, change?
 *
 * A counter has a row with the values of the whole scope, and rows for its parts: the steps in their
 * order, divided into ten parts; without steps, the time divided into ten parts. Values that are no
 * numbers (NaN) are counted and otherwise left out.
 */
#include <math.h>
#include <stdlib.h>

#include "base/text.h"
#include "views/columns.h"

#define COUNTERS_PARTS 10

struct counters_cells {
	struct dw_cell row, counter, unit, samples, first, last, mean, min, max, nan;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct counters_cells, row, "counter", NONE, TEXT),
	DW_FIELD(struct counters_cells, counter, "counter", NONE, TEXT, .data_only = true),
	DW_FIELD(struct counters_cells, unit, "unit", NONE, TEXT),
	DW_FIELD(struct counters_cells, samples, "samples", COUNT, INT),
	DW_FIELD(struct counters_cells, first, "first", NONE, REAL),
	DW_FIELD(struct counters_cells, last, "last", NONE, REAL),
	DW_FIELD(struct counters_cells, mean, "mean", NONE, REAL),
	DW_FIELD(struct counters_cells, min, "min", NONE, REAL),
	DW_FIELD(struct counters_cells, max, "max", NONE, REAL),
	DW_FIELD(struct counters_cells, nan, "not a number", COUNT, INT),
};

struct counters_part {
	uint64_t samples, nan, first_ns, last_ns;
	uint64_t from, to; /* numbers of steps */
	double first, last, sum, min, max;
};

struct counters_row {
	uint32_t symbol;
	struct counters_part all, parts[COUNTERS_PARTS];
};

struct counters {
	struct dw_model *model;
	const struct dw_source *source;
	struct counters_row **rows; /* by row of the symbols; NULL: no sample */
	size_t row_count;
	bool by_step;
	uint64_t first, count;      /* steps by number, or ns */
	size_t step;
	uint64_t nan;
};

static void counters_add(struct counters_part *part, uint64_t ns, double value)
{
	if (isnan(value)) {
		part->nan++;
		return;
	}
	if (!part->samples || ns < part->first_ns) {
		part->first_ns = ns;
		part->first = value;
	}
	if (!part->samples || ns >= part->last_ns) {
		part->last_ns = ns;
		part->last = value;
	}
	part->min = part->samples && part->min < value ? part->min : value;
	part->max = part->samples && part->max > value ? part->max : value;
	part->sum += value;
	part->samples++;
}

/* The part of the run that a moment belongs to; NULL: it is outside the steps. */
static struct counters_part *counters_find_part(struct counters *counters, struct counters_row *row,
                                                const struct dw_event *event)
{
	uint32_t process = counters->source->threads[event->thread].process;
	uint64_t at = event->start_ns;
	struct counters_part *part;
	size_t index;

	if (counters->by_step) {
		const struct dw_source_step *step = dw_source_step_at(counters->source, process, at, &counters->step);

		if (!step || step->number < counters->first)
			return NULL;
		at = step->number;
	}
	index = (size_t)((double)(at - counters->first) / (double)counters->count * COUNTERS_PARTS);
	part = &row->parts[index < COUNTERS_PARTS ? index : COUNTERS_PARTS - 1];
	part->from = part->samples + part->nan && part->from < at ? part->from : at;
	part->to = part->samples + part->nan && part->to > at ? part->to : at;
	return part;
}

static int counters_see(void *context, const struct dw_event *event)
{
	struct counters *counters = context;
	struct counters_row **row;
	struct counters_part *part;

	if (event->type != DW_EVENT_COUNTER)
		return 0;
	row = &counters->rows[dw_model_symbol_row(counters->model, event->symbol)];
	if (!*row) {
		*row = calloc(1, sizeof **row);
		if (!*row)
			return DWELL_E_NOMEM;
		(*row)->symbol = event->symbol;
	}
	part = counters_find_part(counters, *row, event);
	if (part)
		counters_add(part, event->start_ns, event->value);
	counters_add(&(*row)->all, event->start_ns, event->value);
	counters->nan += isnan(event->value);
	return 0;
}

/* The steps of the scope, or its time. */
static void counters_divide(struct counters *counters)
{
	uint64_t last = 0;

	counters->first = UINT64_MAX;
	for (size_t i = 0; i < counters->source->step_count; i++) {
		const struct dw_source_step *step = &counters->source->steps[i];

		if (!dw_model_has_step(counters->model, step))
			continue;
		counters->first = step->number < counters->first ? step->number : counters->first;
		last = step->number > last ? step->number : last;
	}
	counters->by_step = counters->first != UINT64_MAX;
	if (!counters->by_step) {
		counters->first = 0;
		last = counters->source->end_ns;
	}
	counters->count = last - counters->first + 1;
}

static void counters_put(struct dwell_table *table, int depth, const char *name,
                         const struct dw_symbol *symbol, const struct counters_part *part)
{
	bool any = part->samples > 0;

	DW_TABLE_PUT(table, depth, struct counters_cells, .row = DW_STRING(name), .counter = DW_STRING(symbol->name),
	             .unit = DW_STRING(depth ? NULL : symbol->detail), .samples = DW_INT(part->samples),
	             .first = any ? DW_REAL(part->first) : DW_EMPTY, .last = any ? DW_REAL(part->last) : DW_EMPTY,
	             .mean = DW_PART(part->sum, part->samples), .min = any ? DW_REAL(part->min) : DW_EMPTY,
	             .max = any ? DW_REAL(part->max) : DW_EMPTY, .nan = part->nan ? DW_INT(part->nan) : DW_EMPTY);
}

static void counters_put_row(struct counters *counters, struct dwell_table *table, const struct counters_row *from)
{
	const struct dw_symbol *symbol = &dw_model_symbols(counters->model, NULL)[from->symbol];
	char name[96];

	counters_put(table, 0, symbol->name, symbol, &from->all);
	for (size_t i = 0; i < COUNTERS_PARTS; i++) {
		const struct counters_part *part = &from->parts[i];

		if (!part->samples && !part->nan)
			continue;
		if (!counters->by_step)
			snprintf(name, sizeof name, "from %s", dw_text_ns((double)part->from, " ").at);
		else if (part->from == part->to)
			snprintf(name, sizeof name, "step %llu", (unsigned long long)part->from);
		else
			snprintf(name, sizeof name, "steps %llu..%llu", (unsigned long long)part->from,
			         (unsigned long long)part->to);
		counters_put(table, 1, name, symbol, part);
	}
}

static struct dwell_table *counters_view(struct dw_model *model, const struct dwell_view_options *options,
                                         struct dwell_error *error)
{
	struct counters counters = { .model = model, .source = dw_model_source(model) };
	struct dwell_table *table = NULL;
	int code;

	dw_model_symbols(model, &counters.row_count);
	counters.rows = calloc(counters.row_count + 1, sizeof *counters.rows);
	counters_divide(&counters);
	code = counters.rows ? dw_model_events(model, counters_see, &counters, error) : DWELL_E_NOMEM;
	if (!code)
		table = DW_VIEW_CHOOSE("counters", columns, 0, error);
	if (table)
		dw_table_named(table, "nan")->data_only = !counters.nan;
	for (size_t i = 0; counters.rows && i < counters.row_count; i++) {
		if (table && counters.rows[i])
			counters_put_row(&counters, table, counters.rows[i]);
		free(counters.rows[i]);
	}
	free(counters.rows);
	return table;
}

const struct dw_view dw_view_counters = {
	.name = "counters", .question = "how do values change that the program reports, as a loss?",
	.run = counters_view, .row_name = "counter", .limit = SIZE_MAX,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.categories = DW_VIEW_CATEGORY(COUNTER), .needs = "counters",
	.remedy = "DWELL_COUNTER(\"loss\", value), in Python dwell.counter(\"loss\", value), reports one",
};
