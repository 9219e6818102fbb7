/*
 * phases: how much of the run is forward, backward, optimizer, data?
 *
 * The rows are the exclusive shares of the steps, the program's own names, and the time outside the
 * steps. Together they are the wall time of the threads with steps. Work of devices belongs to the
 * phase in which it was submitted.
 */
#include <stdlib.h>
#include <string.h>

#include "views/common.h"
#include "views/device.h"

static const struct dw_column columns[] = {
	DW_COLUMN("phase", "phase", NONE, TEXT),
	DW_COLUMN("where", "where", NONE, TEXT),
	DW_COLUMN("total_ns", "total", NS, INT, .one_unit = true),
	DW_COLUMN("per_step_ns", "per step", NS, REAL, .one_unit = true),
	DW_COLUMN("share", "of wall", RATIO, REAL, .bar = true),
	/* only if the run has events of devices: of the calls that began in the phase */
	DW_COLUMN("device_ns", "device", NS, INT),
	DW_COLUMN("device_events", "device events", COUNT, INT, .wide_only = true),
};
enum { PHASE, WHERE, COLUMNS = 5, DEVICE = COLUMNS, DEVICE_EVENTS, ALL_COLUMNS };

static void phases_fill_row(struct dwell_table *table, const char *phase, const char *where,
                            uint64_t ns,
                            size_t steps, uint64_t wall_ns)
{
	DW_TABLE_ROW(table, 0, DW_STRING(phase), DW_STRING(where), DW_INT(ns), DW_PART(ns, steps), DW_PART(ns, wall_ns));
}

/* ---- work of devices -------------------------------------------------------------------- */

/* The row of this phase. If the host has no time in it, adds a row. */
static struct dw_cell *phases_find_row(struct dwell_table *table, const char *phase,
                                       const char *where)
{
	for (size_t i = 0; i < table->row_count; i++) {
		struct dw_cell *row = dw_table_at(table, i);

		if (strcmp(row[PHASE].text, phase) == 0 && strcmp(row[WHERE].text, where) == 0)
			return row;
	}
	phases_fill_row(table, phase, where, 0, 0, 0);
	return dw_table_at(table, table->row_count - 1);
}

static void phases_put_device(struct dwell_table *table, const char *phase, const char *where,
                              struct dw_device_amount amount)
{
	struct dw_cell *row;

	if (!amount.events || table->failed)
		return;
	row = phases_find_row(table, phase, where);
	dw_cell_int(&row[DEVICE], (int64_t)amount.ns + (row[DEVICE].type ? row[DEVICE].integer : 0));
	dw_cell_int(&row[DEVICE_EVENTS], (int64_t)amount.events +
	                                     (row[DEVICE_EVENTS].type ? row[DEVICE_EVENTS].integer : 0));
}

static void phases_put_devices(struct dwell_table *table, struct dw_model *model,
                               const struct dw_device_phases *from)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	size_t count;

	dw_model_symbols(model, &count);
	for (unsigned i = 0; i < DW_SHARE_COUNT; i++) {
		phases_put_device(table, dw_view_share(i), "steps", from->shares[i]);
		phases_put_device(table, dw_view_share(i), "outside", from->outside[i]);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = dw_model_symbol_row(model, i);

		if (from->rows[row].events && dw_model_row_symbol(model, row) == i)
			phases_put_device(table, symbols[i].name, "steps", from->rows[row]);
	}
	phases_put_device(table, "not recorded", "steps", from->not_counted);
	phases_put_device(table, "start-up", "outside", from->before);
	phases_put_device(table, "after the last step", "outside", from->after);
}

/* ---- time of the host --------------------------------------------------------------------- */

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
	struct dw_cell *totals = DW_TABLE_TOTALS(table, DW_STRING("all"), DW_EMPTY, DW_INT(steps->wall_ns),
	                                         DW_PART(steps->recorded_ns, steps->recorded_count), DW_REAL(1));
	for (size_t column = DEVICE; column < table->column_count; column++) {
		int64_t sum = 0;

		for (size_t i = 0; i < table->row_count; i++) {
			const struct dw_cell *cell = &dw_table_at(table, i)[column];

			sum += cell->type ? cell->integer : 0;
		}
		dw_cell_int(&totals[column], sum);
	}
}

static struct dwell_table *phases_view(struct dw_model *model,
                                       const struct dwell_view_options *options,
                                       struct dwell_error *error)
{
	const struct dw_steps *steps = dw_model_steps(model, error);
	bool device = dw_model_has_device(model);
	const struct dw_device_phases *phases = device ? dw_model_device_by_phase(model, error) : NULL;
	struct dwell_table *table = NULL;

	if (steps && (phases || !device))
		table = dw_view_table("phases", columns, device ? ALL_COLUMNS : COLUMNS, error);

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
	if (phases)
		phases_put_devices(table, model, phases);
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
	.row_name = "phase",
	.row_ns = "total_ns",
	.limit = 40, /* a program may use any number of names */
	.needs_steps = true,
	.needs = "steps",
	.remedy = "mark each iteration with DWELL_STEP() or dwell_step(), in Python dwell.step()",
};
