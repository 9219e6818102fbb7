/*
 * steps: how long does each step take, and why are slow ones slow?
 *
 * The slowest steps come first. Each is compared with the median of all steps, and the table names
 * the parts that took longer than usual. --limit all shows every step, ordered by number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "views/device.h"

struct steps_row {
	struct dw_cell step, thread, start_ns, duration_ns, until_next_ns, of_median, cpu_share, most, why, cpu_ns;
	uint64_t shares[DW_SHARE_COUNT];
	struct dw_view_device device; /* of calls that were made for the step */
};

enum { SEVERAL_THREADS = DW_HAS_OWN };

static const struct dw_column columns[] = {
	DW_FIELD(struct steps_row, step, "step", NONE, INT),
	DW_FIELD(struct steps_row, thread, "thread", NONE, TEXT, .text_only = SEVERAL_THREADS),
	DW_FIELD(struct steps_row, start_ns, "start", NS, INT, .wide_only = true),
	DW_FIELD(struct steps_row, duration_ns, "duration", NS, INT, .bar = true),
	/* from its begin to the next step's */
	DW_FIELD(struct steps_row, until_next_ns, "until next", NS, INT, .wide_only = true),
	DW_FIELD(struct steps_row, of_median, "of median", TIMES, REAL, .wide_only = true),
	DW_FIELD(struct steps_row, cpu_share, "cpu", RATIO, REAL, .of = "the step", .wide_only = true),
	DW_FIELD(struct steps_row, most, "most of it", NONE, TEXT),
	DW_FIELD(struct steps_row, why, "what took longer", NONE, TEXT),
/* What the thread waits for a device is another time than the device's work for the step, which has the name in all views. */
#define IS_WAIT(name_) (DW_SHARE_##name_ == DW_SHARE_DEVICE)
#define X(name_, label_) \
	DW_FIELD_AS(struct steps_row, shares[DW_SHARE_##name_], IS_WAIT(name_) ? "device_wait_ns" : label_ "_ns", \
	            IS_WAIT(name_) ? "device wait" : label_, NS, INT, .data_only = true),
	DW_SHARES(X)
#undef X
	DW_FIELD(struct steps_row, cpu_ns, "cpu", NS, INT, .data_only = true),
	DW_VIEW_DEVICE_WORK_FIELDS(struct steps_row, device),
};

/* Writes the largest parts of a step: "backward 42%, forward 31%". */
static void steps_put_most(struct dwell_table *table, struct dw_cell *cell, const struct dw_step *step,
                           const struct dw_symbol *symbols)
{
	struct dw_view_part *parts = calloc(DW_SHARE_COUNT + step->part_count, sizeof *parts);
	double ns = (double)(step->end_ns - step->start_ns);
	char text[256];
	size_t count;
	int used;

	table->failed |= !parts;
	count = parts ? dw_view_parts(step->parts, step->part_count, step->share_ns, symbols, parts) : 0;
	/* In this list the time in no range is sorted by size like all other parts. */
	for (size_t at = count; at > 1 && parts[at - 1].ns > parts[at - 2].ns; at--) {
		struct dw_view_part part = parts[at - 1];

		parts[at - 1] = parts[at - 2];
		parts[at - 2] = part;
	}
	if (count && ns > 0 && step->recorded && step->whole) {
		used = snprintf(text, sizeof text, "%.100s %.0f%%", parts[0].name, (double)parts[0].ns / ns * 100);
		if (count > 1 && (double)parts[1].ns / ns >= 0.005)
			snprintf(text + used, sizeof text - (size_t)used, ", %.100s %.0f%%", parts[1].name,
			         (double)parts[1].ns / ns * 100);
		dw_cell_text(table, cell, text);
	}
	free(parts);
}

static void steps_put_why(struct dwell_table *table, struct dw_cell *cell, const struct dw_step *step,
                          const struct dw_view_slow *slow)
{
	double extra_ns;
	const char *reason = dw_view_slow_reason(slow, step, &extra_ns), *lacks = dw_view_step_lacks(step);
	char text[512];

	if (step->open)
		snprintf(text, sizeof text, "it did not end");
	else if (reason)
		snprintf(text, sizeof text, "+%s in %s%s%s", dw_text_ns(extra_ns, " ").at, reason, lacks ? "; " : "", lacks ? lacks : "");
	else if (lacks)
		snprintf(text, sizeof text, "%s", lacks);
	else
		return;
	dw_cell_text(table, cell, text);
}

/* Whether the work of devices is not recorded in a part of the step. */
static bool steps_touch_gap(struct dw_model *model, const struct dw_step *step)
{
	const struct dw_device_work *work = dw_model_device_work(model, NULL);
	uint32_t process = dw_model_source(model)->threads[step->thread].process;
	const struct dw_device_gap *gap = work ? dw_device_gap_after(work, process, step->start_ns) : NULL;

	return gap && gap->start_ns < step->end_ns;
}

static void steps_fill_row(struct dwell_table *table, struct dw_model *model, const struct dw_view_slow *slow,
                           const struct dw_step *step)
{
	uint64_t ns = step->end_ns - step->start_ns;
	char name[256];
	struct steps_row row = {
		.step = DW_INT(step->number),
		.thread = DW_STRING(dw_view_thread_name(model, step->thread, false, name)),
		.start_ns = DW_INT(step->start_ns),
		.duration_ns = DW_INT(ns),
		.until_next_ns = step->next_ns ? DW_INT(step->next_ns - step->start_ns) : DW_EMPTY,
		.of_median = DW_PART(ns, slow->steps->p50_ns),
		.cpu_share = step->cpu_ns ? DW_PART(step->cpu_ns, ns) : DW_EMPTY,
		.cpu_ns = DW_INT(step->cpu_ns),
		.device = DW_VIEW_NO_DEVICE,
	};

	steps_put_most(table, &row.most, step, dw_model_symbols(model, NULL));
	steps_put_why(table, &row.why, step, slow);
	memcpy(row.shares, step->share_ns, sizeof row.shares);
	if (dw_model_has_device(model) && !steps_touch_gap(model, step)) {
		struct dw_device_amount amount;

		table->failed |= !dw_model_device_between(model, DW_DEVICE_FOR_THREAD, step->thread, step->start_ns,
		                                          step->end_ns, &amount, NULL);
		row.device = (struct dw_view_device){ .self_ns = amount.ns, .events = amount.events };
	}
	dw_table_put(table, 0, &row, sizeof row);
}

static struct dwell_table *steps_view(struct dw_model *model, const struct dwell_view_options *options,
                                      struct dwell_error *error)
{
	const struct dw_steps *steps = dw_model_steps(model, error);
	struct dwell_table *table;
	struct dw_view_slow slow;

	if (!steps)
		return NULL;
	table = DW_VIEW_CHOOSE(
		"steps", columns,
		(steps->thread_count > 1 ? SEVERAL_THREADS : 0) | (dw_model_has_device(model) ? DW_HAS_DEVICE : 0), error);
	if (!table)
		return NULL;
	dw_view_slow_begin(&slow, model, steps);
	for (size_t i = 0; i < steps->count; i++)
		steps_fill_row(table, model, &slow, &steps->steps[i]);
	if (options->limit != SIZE_MAX && !options->sort)
		dw_table_sort_by(table, "duration_ns");
	dw_view_head_steps(table, steps, "", 0, 0);
	if (dw_model_has_device(model) && dw_model_device_work(model, NULL))
		dw_view_head_bursts(table, dw_model_device_work(model, NULL));
	return table;
}

const struct dw_view dw_view_steps = {
	.name = "steps", .question = "how long does each step take, and why are slow ones slow?",
	.run = steps_view, .row_ns = "duration_ns", .limit = 20,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	DW_VIEW_NEEDS_STEPS,
};
