/*
 * phases: how much of the run is forward, backward, optimizer, data?
 *
 * The rows are the exclusive shares of the steps, the program's own names, and the time outside the
 * steps. Together they are the wall time of the threads with steps. Work of devices belongs to the
 * phase in which it was submitted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/device/sums.h"
#include "views/columns.h"

/* Places of rows, and the rows outside the loop. */
static const char in_steps[] = "steps", outside_steps[] = "outside", before_loop[] = "start-up",
				  after_loop[] = "after the last step";

struct phases_row {
	const char *phase, *where;
	struct dw_cell total_ns, per_step_ns, share, loop_share;
	struct dw_view_device device; /* of the calls that began in the phase */
};

static const struct dw_column columns[] = {
	DW_FIELD(struct phases_row, phase, "phase", NONE, TEXT, .total_text = "all"),
	DW_FIELD(struct phases_row, where, "where", NONE, TEXT),
	DW_FIELD(struct phases_row, total_ns, "total", NS, INT, .one_unit = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct phases_row, per_step_ns, "per step", NS, REAL, .one_unit = true, .total = DW_TOTAL_OWN),
	DW_FIELD(struct phases_row, share, "of wall", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN, .sums = "total_ns"),
	DW_FIELD(struct phases_row, loop_share, "of the loop", RATIO, REAL, .sums = "per_step_ns"),
	DW_VIEW_DEVICE_WORK_FIELDS(struct phases_row, device, .total = DW_TOTAL_SUM),
};

static void phases_fill_row(struct dwell_table *table, const char *phase, const char *where, uint64_t ns,
                            size_t steps, uint64_t wall_ns)
{
	DW_TABLE_PUT(table, 0, struct phases_row, .phase = phase, .where = where, .total_ns = DW_INT(ns),
	             .per_step_ns = DW_PART(ns, steps), .share = DW_PART(ns, wall_ns), .device = DW_VIEW_NO_DEVICE);
}

/* ---- work of devices -------------------------------------------------------------------- */

/* Calls that were made for threads with steps, by the part of the step in which they began. The part of a call is the
 * part of the step that had the host's time when the call began, by the precedence of core/share_names.h over the ranges
 * around the call. The host's time is divided at each instant (steps/division.c); here one instant a call is enough. */
struct phases_device {
	struct dw_device_amount shares[DW_SHARE_COUNT];  /* in counted steps; NAMED: none, see `rows` */
	struct dw_device_amount *rows;                   /* by row: under names of the program */
	struct dw_device_amount not_counted;             /* in steps that are not counted */
	struct dw_device_amount outside[DW_SHARE_COUNT]; /* between steps */
	struct dw_device_amount before, after;           /* before the first step, after the last */
};

#define BIT(share) (1u << DW_SHARE_##share)

struct phases_walk {
	struct dw_model *model;
	const struct dw_device_work *work;
	const struct dw_steps *steps;
	struct phases_device *phases;
};

/* What is open around a call. */
struct around {
	uint32_t set;                     /* bits: 1 << enum dw_share */
	uint32_t phase, own, outer;       /* symbols or DW_NO_INDEX: outermost phase and outermost other
	                                   * named range that began in the step; the innermost one that
	                                   * began before it */
	bool operator, layer, function;
};

static void phases_add_range(struct around *around, const struct dw_symbol *symbol, uint32_t index, bool in_step)
{
	enum dw_share share = dw_share_of(symbol);
	const uint32_t passes = BIT(OPTIMIZER) | BIT(BACKWARD) | BIT(FORWARD);

	if (share < DW_SHARE_COUNT) {
		/* Of an optimizer and a forward or backward, the innermost one counts. */
		if (!(1u << share & passes) || !(around->set & passes) ||
		    (share != DW_SHARE_OPTIMIZER && !(around->set & BIT(OPTIMIZER))))
			around->set |= 1u << share;
		return;
	}
	around->operator |= symbol->category == DWELL_CATEGORY_OPERATOR;
	around->layer |= symbol->category == DWELL_CATEGORY_LAYER;
	around->function |= symbol->category == DWELL_CATEGORY_FUNCTION;
	switch (symbol->category) {
	case DWELL_CATEGORY_PHASE:
	case DWELL_CATEGORY_ZONE:
	case DWELL_CATEGORY_ACTION:
	case DWELL_CATEGORY_EVENT:
	case DWELL_CATEGORY_HANDLER:
		if (!in_step)
			around->outer = around->outer == DW_NO_INDEX ? index : around->outer;
		else if (symbol->category == DWELL_CATEGORY_PHASE)
			around->phase = index;
		else
			around->own = index;
		break;
	default: break;
	}
}

static struct around phases_around(const struct phases_walk *phases, const struct dw_device_call *call,
                                   uint64_t step_start_ns)
{
	struct around around = { .phase = DW_NO_INDEX, .own = DW_NO_INDEX, .outer = DW_NO_INDEX };

	for (uint32_t at = dw_device_first_owner(call); at != DW_NO_INDEX;
	     at = dw_device_next_owner(phases->work, call, at)) {
		const struct dw_device_owner *owner = &phases->work->owners[at];

		phases_add_range(&around, &dw_model_symbols(phases->model, NULL)[owner->symbol], owner->symbol,
		                 owner->start_ns >= step_start_ns);
	}
	return around;
}

static void phases_add(struct dw_device_amount *to, const struct dw_device_call *call)
{
	to->ns += call->device_ns;
	to->events += call->work;
}

static void phases_add_in_step(struct phases_walk *phases, const struct dw_device_call *call,
                               const struct dw_step *step)
{
	struct around around = phases_around(phases, call, step->start_ns);
	uint32_t named = around.phase != DW_NO_INDEX ? around.phase : around.own;

	if (!step->counted) {
		phases_add(&phases->phases->not_counted, call);
		return;
	}
	if (!around.operator && !around.layer && !around.function && named == DW_NO_INDEX)
		named = around.outer;
	if (around.set)
		phases_add(&phases->phases->shares[__builtin_ctz(around.set)], call);
	else if (named != DW_NO_INDEX)
		phases_add(&phases->phases->rows[dw_model_symbol_row(phases->model, named)], call);
	else
		phases_add(&phases->phases->shares[around.operator   ? DW_SHARE_OPERATORS
		                                   : around.layer    ? DW_SHARE_LAYERS
		                                   : around.function ? DW_SHARE_FUNCTIONS
		                                                     : DW_SHARE_OTHER], call);
}

static void phases_add_outside(struct phases_walk *phases, const struct dw_device_call *call, bool before, bool after)
{
	struct around around = phases_around(phases, call, 0);
	uint32_t set = around.set & (BIT(PROFILER) | BIT(COLLECTOR) | BIT(DATA) | BIT(COMMUNICATION) | BIT(DEVICE));
	struct phases_device *to = phases->phases;

	if (around.set & BIT(EVALUATION))
		phases_add(&to->outside[DW_SHARE_EVALUATION], call);
	else if (around.set & BIT(CHECKPOINT))
		phases_add(&to->outside[DW_SHARE_CHECKPOINT], call);
	else if (before || after)
		phases_add(before ? &to->before : &to->after, call);
	else
		phases_add(&to->outside[set ? (unsigned)__builtin_ctz(set) : DW_SHARE_OTHER], call);
}

/* Steps of a thread are consecutive and ascending, and so are its calls. */
static bool phases_add_thread(struct phases_walk *phases, size_t first, size_t end)
{
	const struct dw_step *steps = phases->steps->steps;
	const struct dw_device_moment *moments;
	size_t count, at = first;

	moments = dw_model_device_moments(phases->model, DW_DEVICE_FOR_THREAD, steps[first].thread, &count, NULL);
	for (size_t i = 0; moments && i < count; i++) {
		const struct dw_device_call *call = &phases->work->calls[moments[i].call];

		while (at < end && steps[at].end_ns <= call->start_ns)
			at++;
		if (at < end && steps[at].start_ns <= call->start_ns)
			phases_add_in_step(phases, call, &steps[at]);
		else
			phases_add_outside(phases, call, at == first, at == end);
	}
	return moments != NULL;
}

/* Returns false with `error` if out of memory. The caller frees `to->rows`. */
static bool phases_find_device(struct dw_model *model, const struct dw_steps *steps, struct phases_device *to,
                               struct dwell_error *error)
{
	struct phases_walk phases = { model, dw_model_device_work(model, error), steps, to };
	bool good;
	size_t count, end;

	dw_model_symbols(model, &count);
	to->rows = calloc(count + 1, sizeof *to->rows);
	good = phases.work && to->rows;
	for (size_t first = 0; good && first < steps->count; first = end) {
		for (end = first; end < steps->count && steps->steps[end].thread == steps->steps[first].thread;)
			end++;
		good = phases_add_thread(&phases, first, end);
	}
	if (!good)
		dw_error_set(error, DWELL_E_NOMEM, "out of memory for the phases view");
	return good;
}

static const char *phases_name(const struct dwell_table *table, size_t row)
{
	return dw_table_cell(table, row, "phase")->text;
}

static const char *phases_place(const struct dwell_table *table, size_t row)
{
	return dw_table_cell(table, row, "where")->text;
}

/* The row of this phase. If the host has no time in it, adds a row. */
static size_t phases_find_row(struct dwell_table *table, const char *phase, const char *where)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (strcmp(phases_name(table, i), phase) == 0 && strcmp(phases_place(table, i), where) == 0)
			return i;
	phases_fill_row(table, phase, where, 0, 0, 0);
	return table->row_count - 1;
}

static void phases_add_to(struct dw_cell *cell, uint64_t value)
{
	dw_cell_int(cell, (int64_t)value + (cell->type ? cell->integer : 0));
}

static void phases_put_device(struct dwell_table *table, const char *phase, const char *where,
                              struct dw_device_amount amount)
{
	size_t row;

	if (!amount.events || table->failed)
		return;
	row = phases_find_row(table, phase, where);
	if (table->failed)
		return;
	phases_add_to(dw_table_cell(table, row, "device_ns"), amount.ns);
	phases_add_to(dw_table_cell(table, row, "device_events"), amount.events);
}

static void phases_put_devices(struct dwell_table *table, struct dw_model *model, const struct phases_device *from)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	size_t count;

	dw_model_symbols(model, &count);
	for (unsigned i = 0; i < DW_SHARE_COUNT; i++) {
		phases_put_device(table, dw_share_label(i), in_steps, from->shares[i]);
		phases_put_device(table, i == DW_SHARE_OTHER ? DW_PART_BETWEEN_STEPS : dw_share_label(i), outside_steps,
		                  from->outside[i]);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = dw_model_symbol_row(model, i);

		if (from->rows[row].events && dw_model_row_symbol(model, row) == i)
			phases_put_device(table, symbols[i].name, in_steps, from->rows[row]);
	}
	phases_put_device(table, "not recorded", in_steps, from->not_counted);
	phases_put_device(table, before_loop, outside_steps, from->before);
	phases_put_device(table, after_loop, outside_steps, from->after);
}

/* ---- time of the host --------------------------------------------------------------------- */

/* In a step of a Python program the interpreter has what is in no operator, wait or other named part, as in the overview. */
static const enum dw_share of_python[] = { DW_SHARE_LAYERS, DW_SHARE_FUNCTIONS, DW_SHARE_OTHER };

static bool phases_are_python(const struct dw_source *source, const struct dw_steps *steps)
{
	return steps->thread_count && source->processes[source->threads[steps->threads[0]].process].flags & DW_PROCESS_PYTHON;
}

/* Returns false if out of memory. */
static bool phases_fill_shares(struct dwell_table *table, const struct dw_steps *steps, const struct dw_symbol *symbols, bool python)
{
	struct dw_view_part *parts = calloc(DW_SHARE_COUNT + steps->part_count, sizeof *parts);
	uint64_t share_ns[DW_SHARE_COUNT];
	size_t count;

	memcpy(share_ns, steps->share_ns, sizeof share_ns);
	for (size_t i = 0; python && i < sizeof of_python / sizeof *of_python; i++) {
		share_ns[DW_SHARE_PYTHON] += share_ns[of_python[i]];
		share_ns[of_python[i]] = 0;
	}
	count = parts ? dw_view_parts(steps->parts, steps->part_count, share_ns, symbols, parts) : 0;
	for (size_t i = 0; i < count; i++)
		phases_fill_row(table, parts[i].name, in_steps, parts[i].ns, steps->recorded_count, steps->wall_ns);
	free(parts);
	return parts != NULL;
}

/* Whether the rows are of all steps, so that they and the parts of the loop are the same time. */
static bool phases_has_all_steps(const struct dwell_table *table, const struct dw_steps *steps)
{
	static const char *const apart[] = { "not recorded", "recorded without operators", "records are missing",
		                                 DW_STEPS_SUMMED };

	for (size_t row = 0; row < table->row_count; row++)
		for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
			if (strcmp(phases_name(table, row), apart[i]) == 0)
				return false;
	return steps->ended_count == steps->count && !steps->summed_count && steps->recorded_count;
}

static bool phases_is_loop(const struct dwell_table *table, size_t row)
{
	const char *name = phases_name(table, row);

	return strcmp(name, before_loop) != 0 && strcmp(name, after_loop) != 0;
}

static size_t phases_find(const struct dwell_table *table, const char *name, const char *where)
{
	size_t row = 0;

	while (row < table->row_count &&
	       (strcmp(phases_name(table, row), name) != 0 || strcmp(phases_place(table, row), where) != 0))
		row++;
	return row;
}

/* What a row has; 0: there is none. */
static double phases_ns(const struct dwell_table *table, const char *name, const char *where)
{
	size_t row = phases_find(table, name, where);

	return row < table->row_count ? (double)dw_table_cell(table, row, "total_ns")->integer : 0;
}

/* Sets what a row has. If it has nothing, it is removed. */
static void phases_set(struct dwell_table *table, const char *name, const char *where, double ns)
{
	size_t row = phases_find(table, name, where), size = table->column_count * sizeof *table->cells;

	if (row == table->row_count)
		return;
	dw_table_cell(table, row, "total_ns")->integer = (int64_t)(ns + 0.5);
	if (ns >= 0.5)
		return;
	memmove(dw_table_at(table, row), dw_table_at(table, row + 1), (table->row_count - row - 1) * size);
	table->row_count--;
}

static double phases_part_ns(const struct dw_loop_parts *parts, const char *name)
{
	for (size_t i = 0; i < parts->part_count; i++)
		if (strcmp(parts->parts[i].name, name) == 0)
			return parts->parts[i].ns * (double)parts->steps;
	return 0;
}

/* Makes the rows in steps no longer than the parts of the loop. Returns what they had more. */
static double phases_shorten(struct dwell_table *table, const struct dw_loop_parts *parts)
{
	double left_ns = 0;

	for (size_t row = table->row_count; row--;) {
		const char *name = phases_name(table, row);
		double ns = (double)dw_table_cell(table, row, "total_ns")->integer, most_ns = phases_part_ns(parts, name);

		if (strcmp(phases_place(table, row), in_steps) != 0 || ns <= most_ns + 1)
			continue;
		left_ns += ns - most_ns;
		phases_set(table, name, in_steps, most_ns);
	}
	return left_ns;
}

/* Adds a row behind those of the same place. */
static void phases_add_row(struct dwell_table *table, const char *phase, const char *where, double ns,
                           const struct dw_steps *steps)
{
	size_t size = table->column_count, at = 0;
	struct dw_cell kept[32];

	while (at < table->row_count && strcmp(where, in_steps) == 0 && strcmp(phases_place(table, at), in_steps) == 0)
		at++;
	at = strcmp(where, in_steps) == 0 ? at : table->row_count;
	phases_fill_row(table, phase, where, (uint64_t)(ns + 0.5), steps->recorded_count, steps->wall_ns);
	if (table->failed || size > sizeof kept / sizeof *kept)
		return;
	memcpy(kept, dw_table_at(table, table->row_count - 1), size * sizeof *kept);
	memmove(dw_table_at(table, at + 1), dw_table_at(table, at), (table->row_count - 1 - at) * size * sizeof *kept);
	memcpy(dw_table_at(table, at), kept, size * sizeof *kept);
}

/* The program's names between steps are parts, and here they are in the row of that time. What the rows in steps had
 * too much is of parts without a row: waits, and time without a CPU. */
static void phases_add_parts(struct dwell_table *table, const struct dw_loop_parts *parts, const struct dw_steps *steps,
                             double left_ns)
{
	double between_ns = phases_ns(table, DW_PART_BETWEEN_STEPS, outside_steps);

	for (size_t i = 0; i < parts->part_count; i++) {
		const char *name = parts->parts[i].name;
		double lacks_ns = parts->parts[i].ns * (double)parts->steps - phases_ns(table, name, in_steps) -
		                  phases_ns(table, name, outside_steps);
		bool between = parts->parts[i].own && lacks_ns <= between_ns + 1;

		if (lacks_ns < 1 || (!between && lacks_ns > left_ns + (double)parts->steps))
			continue;
		phases_add_row(table, name, between || strcmp(name, DW_PART_BETWEEN_STEPS) == 0 ? outside_steps : in_steps,
		               lacks_ns, steps);
		left_ns -= between ? 0 : lacks_ns;
		between_ns -= between ? lacks_ns : 0;
	}
	phases_set(table, DW_PART_BETWEEN_STEPS, outside_steps, fmax(0, between_ns));
	if (left_ns >= (double)parts->steps)
		phases_add_row(table,
		               parts->no_cpu_ns > 0 ? dw_account_state_name(DW_ACCOUNT_NO_CPU) : dw_share_label(DW_SHARE_OTHER),
		               in_steps, left_ns, steps);
}

/* Of what the totals are: `mean_ns` of an iteration; NaN: of the recorded steps. */
struct phases_whole {
	double mean_ns;
	uint64_t wall_ns;
};

/* What the loop has of a row, for a step and of the loop. A row outside the steps can have more than that: an
 * evaluation before the first step. */
static void phases_put_part(struct dwell_table *table, size_t row, const struct dw_loop_parts *parts)
{
	const char *name = phases_name(table, row);
	double ns = (double)dw_table_cell(table, row, "total_ns")->integer, count = (double)parts->steps;
	double part_ns = phases_part_ns(parts, name);

	if (strcmp(phases_place(table, row), in_steps) != 0)
		ns = fmin(ns, fmax(0, part_ns - phases_ns(table, name, in_steps)));
	if (!phases_is_loop(table, row) || !(ns > 0))
		return;
	*dw_table_cell(table, row, "per_step_ns") = DW_REAL(ns / count);
	if (part_ns > 0)
		*dw_table_cell(table, row, "loop_share") = DW_REAL(ns / ((parts->ns - parts->no_cpu_ns) * count));
}

/* The parts of the overview are without the time in which the thread had no CPU, know waits where a phase has "python",
 * and the program's names between steps. The same names have the same times here, unless the rows are of other steps.
 */
static struct phases_whole phases_agree(struct dwell_table *table, const struct dw_loop_parts *parts,
                                        const struct dw_steps *steps)
{
	double count = (double)parts->steps, lacks_ns = parts->ns * count;
	struct phases_whole whole = { NAN, steps->wall_ns };

	if (!phases_has_all_steps(table, steps) || !(parts->ns > parts->no_cpu_ns))
		return whole;
	whole.mean_ns = parts->ns;
	for (size_t row = 0; row < table->row_count; row++)
		lacks_ns -= phases_is_loop(table, row) ? (double)dw_table_cell(table, row, "total_ns")->integer : 0;
	lacks_ns = lacks_ns >= count ? lacks_ns : 0; /* of a part of the run, there are no rows of the time between steps */
	whole.wall_ns += (uint64_t)lacks_ns;
	phases_add_parts(table, parts, steps, phases_shorten(table, parts) + lacks_ns);
	for (size_t row = 0; row < table->row_count; row++) {
		*dw_table_cell(table, row, "share") = DW_PART(dw_table_cell(table, row, "total_ns")->integer, whole.wall_ns);
		phases_put_part(table, row, parts);
	}
	return whole;
}

static void phases_move(struct dw_device_amount *from, struct dw_device_amount *to)
{
	to->ns += from->ns;
	to->events += from->events;
	*from = (struct dw_device_amount){ .ns = 0 };
}

static void phases_put_total(struct dwell_table *table, const struct dw_steps *steps, struct phases_whole whole)
{
	DW_TABLE_PUT_TOTALS(table, struct phases_row, .total_ns = DW_INT(whole.wall_ns),
	                    .per_step_ns = isnan(whole.mean_ns) ? DW_PART(steps->recorded_ns, steps->recorded_count)
	                                                        : DW_REAL(whole.mean_ns),
	                    .share = DW_REAL(1));
}

static struct dwell_table *phases_view(struct dw_model *model, const struct dwell_view_options *options,
                                       struct dwell_error *error)
{
	const struct dw_steps *steps = dw_model_steps(model, error);
	bool device = dw_model_has_device(model);
	const struct dw_loop_parts *parts = steps ? dw_facts_loop_parts(model, error) : NULL;
	struct phases_device phases = { .rows = NULL };
	struct dwell_table *table = NULL;
	struct phases_whole whole;
	bool python;

	if (parts && (!device || phases_find_device(model, steps, &phases, error)))
		table = DW_VIEW_CHOOSE("phases", columns, device ? DW_HAS_DEVICE : 0, error);
	if (!table) {
		free(phases.rows);
		return NULL;
	}
	python = phases_are_python(dw_model_source(model), steps);
	table->failed |= !phases_fill_shares(table, steps, dw_model_symbols(model, NULL), python);
	/* Steps with missing records are not counted. */
	if (steps->steps_ns > steps->recorded_ns)
		phases_fill_row(table, steps->reduced_count ? "recorded without operators" : "not recorded", in_steps,
		                steps->steps_ns - steps->recorded_ns, 0, steps->wall_ns);
	for (size_t i = 0; i < steps->beside_count; i++)
		phases_fill_row(table,
		                strcmp(steps->besides[i].name, dw_share_label(DW_SHARE_OTHER)) == 0 ? DW_PART_BETWEEN_STEPS
		                                                                                    : steps->besides[i].name,
		                strcmp(steps->besides[i].name, DW_STEPS_SUMMED) == 0 ? in_steps : outside_steps,
		                steps->besides[i].ns, 0, steps->wall_ns);
	whole = phases_agree(table, parts, steps);
	for (size_t i = 0; python && i < sizeof of_python / sizeof *of_python; i++)
		phases_move(&phases.shares[of_python[i]], &phases.shares[DW_SHARE_PYTHON]);
	if (device)
		phases_put_devices(table, model, &phases);
	free(phases.rows);
	phases_put_total(table, steps, whole);
	if (python)
		dw_table_note(table, "python: the interpreter, where no operator ran.");
	if (steps->thread_count > steps->process_count)
		dw_table_note(table, "Sums over %zu threads with steps.", steps->thread_count);
	else if (steps->thread_count > 1)
		dw_table_note(table, "Sums over %zu processes with steps.", steps->thread_count);
	return table;
}

const struct dw_view dw_view_phases = {
	.name = "phases", .question = "how much of the run is forward, backward, optimizer, data?",
	.run = phases_view, .row_name = "phase", .row_ns = "total_ns",
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.limit = 40, /* a program may use any number of names */
	DW_VIEW_NEEDS_STEPS,
};
