/*
 * phases: how much of the run is forward, backward, optimizer, data?
 *
 * The steps' exclusive shares, then what lies beside the steps; all rows together are
 * the wall time of the processes that step.
 */
#include "base/text.h"
#include "views/views.h"

static const struct dw_column columns[] = {
	DW_COLUMN("phase", "phase", NONE, TEXT),
	DW_COLUMN("where", "where", NONE, TEXT),
	DW_COLUMN("total_ns", "total", NS, INT, .one_unit = true),
	DW_COLUMN("per_step_ns", "per step", NS, REAL, .one_unit = true),
	DW_COLUMN("share", "share", RATIO, REAL, .bar = true),
};
enum { PHASE, WHERE, TOTAL, PER_STEP, SHARE, COLUMNS };

static void fill(struct dw_table *table, const char *phase, const char *where, uint64_t ns,
                 size_t steps, uint64_t wall_ns)
{
	struct dw_cell *row = dw_table_row(table, 0);

	dw_cell_text(table, &row[PHASE], phase);
	dw_cell_text(table, &row[WHERE], where);
	dw_cell_int(&row[TOTAL], (int64_t)ns);
	if (steps)
		dw_cell_real(&row[PER_STEP], (double)ns / (double)steps);
	if (wall_ns)
		dw_cell_real(&row[SHARE], (double)ns / (double)wall_ns);
}

/* Large ones first, as everywhere; what has no name last. */
static void fill_shares(struct dw_table *table, const struct dw_steps *steps)
{
	uint32_t done = 1u << DW_SHARE_OTHER;

	for (unsigned n = 0; n < DW_SHARE_COUNT; n++) {
		unsigned best = DW_SHARE_OTHER;

		for (unsigned i = 0; i < DW_SHARE_COUNT; i++)
			if (!(done >> i & 1) &&
			    (best == DW_SHARE_OTHER || steps->share_ns[i] > steps->share_ns[best]))
				best = i;
		done |= 1u << best;
		if (steps->share_ns[best])
			fill(table, dw_view_share((enum dw_share)best), "steps", steps->share_ns[best],
			     steps->recorded_count, steps->wall_ns);
	}
}

static void total(struct dw_table *table, const struct dw_steps *steps)
{
	struct dw_cell *totals = dw_table_totals(table);

	dw_cell_text(table, &totals[PHASE], "all");
	dw_cell_int(&totals[TOTAL], (int64_t)steps->wall_ns);
	if (steps->recorded_count)
		dw_cell_real(&totals[PER_STEP], (double)steps->recorded_ns / (double)steps->recorded_count);
	dw_cell_real(&totals[SHARE], 1);
}

struct dw_table *dw_view_phases(struct dw_model *model, const struct dw_view_options *options,
                                struct dwell_error *error)
{
	const struct dw_steps *steps = dw_model_steps(model, error);
	struct dw_table *table = steps ? dw_view_table("phases", columns, COLUMNS, error) : NULL;

	if (!table)
		return NULL;
	fill_shares(table, steps);
	if (steps->steps_ns > steps->recorded_ns)
		fill(table, "not recorded", "steps", steps->steps_ns - steps->recorded_ns, 0,
		     steps->wall_ns);
	for (size_t i = 0; i < steps->beside_count; i++)
		fill(table, steps->besides[i].name, "beside", steps->besides[i].ns, 0, steps->wall_ns);
	total(table, steps);
	if (steps->share_ns[DW_SHARE_PYTHON])
		dw_table_note(table, "python: the interpreter inside forward, backward, optimizer or "
		                     "evaluation, where no operator ran.");
	if (steps->thread_count > 1)
		dw_table_note(table, "Sums over %zu processes that step.", steps->thread_count);
	return table;
}
