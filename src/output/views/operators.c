/*
 * operators: which operators take the time?
 *
 * Self time excludes called operators. Shares are of the self time of all operators, so they add up
 * to 100%. If there are steps, further columns show each operator's part of a mean step; only
 * operators inside the counted steps are included, so that validation does not change the figures.
 * Operators that threads without steps ran during the steps have a separate column, because their
 * time is not part of a step.
 */
#include <stdlib.h>

#include "views/device.h"
#include "views/places.h"

static const struct dw_column columns[] = {
	DW_COLUMN("name", "operator", NONE, TEXT),
	DW_VIEW_STAT_COLUMNS,
	DW_COLUMN("share", "of operators", RATIO, REAL, .bar = true),
	DW_COLUMN("self_per_step_ns", "self/step", NS, REAL),
	DW_COLUMN("other_threads_per_step_ns", "other threads/step", NS, REAL, .not_narrow = true),
};
enum { STAT = 1, SHARE = STAT + DW_VIEW_STAT_COUNT, PER_STEP, OTHERS, COLUMNS };

/* Self times inside the steps by symbol: in the threads with steps, and in all threads. */
struct selfs {
	uint64_t *own_ns, *all_ns;
	size_t steps; /* 0 if there are no steps */
	const struct dw_device_sum *device; /* by row; NULL: no events of devices */
	size_t device_column;
};

/* Returns self times by symbol, or NULL if out of memory. Both models have the same source, so a
 * symbol has the same index in both. */
static uint64_t *operators_selfs_of(struct dw_model *model, enum dw_view_threads threads, struct dwell_error *error)
{
	struct dw_model *inside = dw_view_inside(model, threads, error);
	const struct dw_flat *flat = inside ? dw_model_flat(inside, DW_VIEW_CATEGORY(OPERATOR), error) : NULL;
	uint64_t *selfs = NULL;
	size_t count;

	dw_model_symbols(model, &count);
	if (flat)
		selfs = calloc(count + 1, sizeof *selfs);
	for (size_t i = 0; selfs && i < flat->count; i++)
		selfs[flat->rows[i].symbol] = flat->rows[i].stat.self_ns;
	return selfs;
}

static void operators_fill_rows(struct dwell_table *table, struct dw_model *model, const struct dw_flat *flat,
                                const struct selfs *inside)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct dw_cell *totals = dw_table_totals(table);
	uint64_t self_ns = 0, calls = 0, inside_ns = 0, others_ns = 0;
	double steps = (double)inside->steps;
	struct dw_view_places places;

	dw_view_places_init(&places, model);
	for (size_t i = 0; i < flat->count; i++) {
		self_ns += flat->rows[i].stat.self_ns;
		calls += flat->rows[i].stat.count;
	}
	for (size_t i = 0; i < flat->count; i++) {
		const struct dw_flat_row *from = &flat->rows[i];
		struct dw_cell *row = DW_TABLE_ROW(table, 0, DW_STRING(symbols[from->symbol].name));

		dw_view_stat(&row[STAT], &from->stat);
		row[SHARE] = DW_PART(from->stat.self_ns, self_ns);
		if (inside->device)
			dw_view_device_cells(&row[inside->device_column],
			                     &inside->device[dw_model_symbol_row(model, from->symbol)]);
		if (inside->steps) {
			uint64_t own_ns = inside->own_ns[from->symbol], all_ns = inside->all_ns[from->symbol];

			inside_ns += own_ns;
			others_ns += all_ns > own_ns ? all_ns - own_ns : 0;
			row[PER_STEP] = DW_REAL((double)own_ns / steps);
			if (all_ns > own_ns)
				row[OTHERS] = DW_REAL((double)(all_ns - own_ns) / steps);
		}
		dw_view_places_take(&places, table, from->symbol);
	}
	DW_TABLE_FILL(table, totals, DW_STRING("all operators"), DW_INT(calls), DW_INT(self_ns));
	if (inside->device)
		table->failed |= !dw_view_device_totals(model, &totals[inside->device_column]);
	if (inside->steps) {
		dw_cell_real(&totals[PER_STEP], (double)inside_ns / steps);
		dw_cell_real(&totals[OTHERS], (double)others_ns / steps);
		table->columns[OTHERS].data_only = !others_ns;
	}
	dw_view_places_finish(&places, table);
}

static struct dwell_table *operators_by_name(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, DW_VIEW_CATEGORY(OPERATOR), error);
	const struct dw_steps *steps = flat ? dw_model_steps(model, error) : NULL;
	struct dwell_table *table = NULL;
	struct selfs selfs = { .steps = 0 };
	bool device = dw_model_has_device(model);

	if (!steps)
		return NULL;
	selfs.steps = steps->recorded_count;
	if (selfs.steps) {
		selfs.own_ns = operators_selfs_of(model, DW_VIEW_STEP_THREADS, error);
		selfs.all_ns = operators_selfs_of(model, DW_VIEW_ALL_THREADS, error);
	}
	if (device)
		selfs.device = dw_model_device_by_row(model, DW_VIEW_CATEGORY(OPERATOR), error);
	selfs.device_column = selfs.steps ? COLUMNS : PER_STEP;
	if ((!selfs.steps || (selfs.own_ns && selfs.all_ns)) && (!device || selfs.device))
		table = dw_view_table_with_device(model, "operators", columns, selfs.device_column, error);
	if (table) {
		operators_fill_rows(table, model, flat, &selfs);
		dw_view_note_calls(table, flat);
	}
	free(selfs.own_ns);
	free(selfs.all_ns);
	return table;
}

static struct dwell_table *operators_view(struct dw_model *model, const struct dwell_view_options *options,
                                          struct dwell_error *error)
{
	if ((options->group_by && *options->group_by) || options->top_level)
		return dw_view_grouped(model, "operators", false, options, error);
	return operators_by_name(model, error);
}

const struct dw_view dw_view_operators = {
	.name = "operators", .question = "which operators take the time?",
	.run = operators_view, .takes = DW_VIEW_TAKES(group_by) | DW_VIEW_TAKES(top_level), .row_name = "name",
	.row_ns = "total_ns", .limit = 30,
	.categories = DW_VIEW_CATEGORY(OPERATOR), .reads_steps = true, .needs = "operators",
	.remedy = "mark them with DWELL_OP(\"name\"), or see --view actions",
};
