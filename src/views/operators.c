/*
 * operators: which operators take the time?
 *
 * Self excludes operators called within. Shares are of all operators' self time, so
 * they add up to all of it. With steps there is also what a mean step has of each,
 * counted inside the steps only: validation's operators do not blur it.
 */
#include <stdlib.h>

#include "base/text.h"
#include "views/views.h"

static const struct dw_column columns[] = {
	DW_COLUMN("name", "operator", NONE, TEXT),
	DW_VIEW_STAT_COLUMNS,
	DW_COLUMN("share", "share", RATIO, REAL, .bar = true),
	DW_COLUMN("self_per_step_ns", "self/step", NS, REAL),
};
enum { NAME, STAT, SHARE = STAT + DW_VIEW_STAT_COUNT, PER_STEP, COLUMNS };

/* Self time inside the steps by symbol. Both products come from one source, so that a
 * row's symbol is the same in both. NULL: out of memory. */
static uint64_t *selfs_inside(struct dw_model *model, const struct dw_flat *inside)
{
	size_t count;
	uint64_t *selfs;

	dw_model_symbols(model, &count);
	selfs = calloc(count + 1, sizeof *selfs);
	for (size_t i = 0; selfs && i < inside->count; i++)
		selfs[inside->rows[i].symbol] = inside->rows[i].stat.self_ns;
	return selfs;
}

static void fill(struct dw_table *table, struct dw_model *model, const struct dw_flat *flat,
                 const uint64_t *inside, uint64_t steps)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct dw_cell *totals = dw_table_totals(table);
	uint64_t self_ns = 0, calls = 0, inside_ns = 0;

	for (size_t i = 0; i < flat->count; i++) {
		self_ns += flat->rows[i].stat.self_ns;
		calls += flat->rows[i].stat.count;
	}
	for (size_t i = 0; i < flat->count; i++) {
		const struct dw_flat_row *from = &flat->rows[i];
		struct dw_cell *row = dw_table_row(table, 0);

		dw_cell_text(table, &row[NAME], symbols[from->symbol].name);
		dw_view_stat(&row[STAT], &from->stat);
		if (self_ns)
			dw_cell_real(&row[SHARE], (double)from->stat.self_ns / (double)self_ns);
		if (steps) {
			uint64_t ns = inside[from->symbol];

			inside_ns += ns;
			dw_cell_real(&row[PER_STEP], (double)ns / (double)steps);
		}
	}
	dw_cell_text(table, &totals[NAME], "all operators");
	dw_cell_int(&totals[STAT], (int64_t)calls);
	dw_cell_int(&totals[STAT + 1], (int64_t)self_ns);
	if (steps)
		dw_cell_real(&totals[PER_STEP], (double)inside_ns / (double)steps);
}

static struct dw_table *by_name(struct dw_model *model, struct dwell_error *error)
{
	uint32_t wanted = DW_VIEW_CATEGORY(OPERATOR);
	const struct dw_flat *flat = dw_model_flat(model, wanted, error), *inside_flat = NULL;
	const struct dw_steps *steps = NULL;
	struct dw_model *inside = flat ? dw_view_inside(model, error) : NULL;
	struct dw_table *table = NULL;
	uint64_t *selfs = NULL;

	if (inside) {
		steps = dw_model_steps(model, error);
		inside_flat = dw_model_flat(inside, wanted, error);
		selfs = inside_flat ? selfs_inside(model, inside_flat) : NULL;
	}
	if (flat && (!inside || (steps && selfs))) {
		bool per_step = steps && steps->recorded_count;

		table = dw_view_table("operators", columns, COLUMNS - !per_step, error);
		if (table) {
			fill(table, model, flat, selfs, per_step ? steps->recorded_count : 0);
			dw_view_note_calls(table, flat);
		}
	}
	free(selfs);
	dw_view_inside_done(model, inside);
	return table;
}

struct dw_table *dw_view_operators(struct dw_model *model, const struct dw_view_options *options,
                                   struct dwell_error *error)
{
	const struct dw_grouping *group = &options->group;

	if (group->shapes || group->overload || group->stack_frames || options->top_level)
		return dw_view_grouped(model, "operators", false, options, error);
	return by_name(model, error);
}
