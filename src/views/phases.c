/*
 * phases: how much of the run is forward, backward, optimizer, data?
 *
 * The rows are the exclusive shares of the steps, the program's own names, and the time outside the
 * steps. Together they are the wall time of the threads with steps.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/common.h"

static const struct dw_column columns[] = {
	DW_COLUMN("phase", "phase", NONE, TEXT),
	DW_COLUMN("where", "where", NONE, TEXT),
	DW_COLUMN("total_ns", "total", NS, INT, .one_unit = true),
	DW_COLUMN("per_step_ns", "per step", NS, REAL, .one_unit = true),
	DW_COLUMN("share", "of wall", RATIO, REAL, .bar = true),
};
enum { PHASE, WHERE, TOTAL, PER_STEP, SHARE, COLUMNS };

static void phases_fill_row(struct dwell_table *table, const char *phase, const char *where,
                            uint64_t ns,
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

/* Returns false if out of memory. */
static bool phases_fill_shares(struct dwell_table *table, const struct dw_steps *steps,
                               const struct dw_symbol *symbols)
{
	struct dw_view_part *parts = calloc(DW_SHARE_COUNT + steps->part_count, sizeof *parts);
	size_t count = parts ? dw_view_parts(steps->parts, steps->part_count, steps->share_ns, symbols,
	                                     parts) : 0;

	for (size_t i = 0; i < count; i++)
		phases_fill_row(table, parts[i].name, "steps", parts[i].ns, steps->recorded_count,
		                steps->wall_ns);
	free(parts);
	return parts != NULL;
}

static void phases_put_total(struct dwell_table *table, const struct dw_steps *steps)
{
	struct dw_cell *totals = dw_table_totals(table);

	dw_cell_text(table, &totals[PHASE], "all");
	dw_cell_int(&totals[TOTAL], (int64_t)steps->wall_ns);
	if (steps->recorded_count)
		dw_cell_real(&totals[PER_STEP], (double)steps->recorded_ns / (double)steps->recorded_count);
	dw_cell_real(&totals[SHARE], 1);
}

static struct dwell_table *phases_view(struct dw_model *model,
                                       const struct dwell_view_options *options,
                                       struct dwell_error *error)
{
	const struct dw_steps *steps = dw_model_steps(model, error);
	struct dwell_table *table = steps ? dw_view_table("phases", columns, COLUMNS, error) : NULL;

	if (!table)
		return NULL;
	table->failed |= !phases_fill_shares(table, steps, dw_model_symbols(model, NULL));
	/* Steps with missing records are not counted. */
	if (steps->steps_ns > steps->recorded_ns)
		phases_fill_row(table, "not recorded", "steps", steps->steps_ns - steps->recorded_ns, 0,
		                steps->wall_ns);
	for (size_t i = 0; i < steps->beside_count; i++)
		phases_fill_row(table, steps->besides[i].name,
		                strcmp(steps->besides[i].name, DW_STEPS_SUMMED) == 0 ? "steps" : "outside",
		                steps->besides[i].ns, 0, steps->wall_ns);
	phases_put_total(table, steps);
	if (steps->share_ns[DW_SHARE_PYTHON])
		dw_table_note(table, "python: the interpreter inside forward, backward, optimizer or "
		                     "evaluation, where no operator ran.");
	if (steps->thread_count > steps->process_count)
		dw_table_note(table, "Sums over %zu threads with steps.", steps->thread_count);
	else if (steps->thread_count > 1)
		dw_table_note(table, "Sums over %zu processes with steps.", steps->thread_count);
	return table;
}

const struct dw_view dw_view_phases = {
	.name = "phases",
	.question = "how much of the run is forward, backward, optimizer, data?",
	.run = phases_view,
	.limit = SIZE_MAX,
	.needs_steps = true,
	.needs = "steps",
	.remedy = "mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step()",
};
