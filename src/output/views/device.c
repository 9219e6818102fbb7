/*
 * device: what does a step's wall time look like from the device, and why was it idle?
 *
 * A second division of the wall time that the overview divides for the host; the two are never
 * added. Without marked steps, it is that of the iterations that the facts are of: what repeats, or the whole run. So a share
 * here and in a sentence is of one whole; but where devices are recorded in bursts, a sentence is about a step without what recording
 * adds, and the rows are those of the recorded steps, so a line above them says both. Where iterations have little of the
 * devices' work, the time from the first event of a device to its last is divided.
 */
#include <stdlib.h>

#include "base/text.h"
#include "facts/facts.h"
#include "model/device/times.h"
#include "model/steps/energy.h"
#include "model/steps/iterations.h"
#include "views/device.h"

struct device_division {
	struct dw_cell part, device, ns, step_ns, share, host;
};

enum { SEVERAL_DEVICES = DW_HAS_OWN };

static const struct dw_column division_columns[] = {
	DW_FIELD(struct device_division, part, "part", NONE, TEXT),
	DW_FIELD(struct device_division, device, "device", NONE, TEXT, .text_only = SEVERAL_DEVICES),
	DW_FIELD(struct device_division, ns, "time", NS, INT),
	DW_FIELD(struct device_division, step_ns, "a step", NS, REAL, .text_only = DW_HAS_STEPS, .one_unit = true),
	DW_FIELD(struct device_division, share, "share", RATIO, REAL, .bar = true, .sums = "ns"),
	DW_FIELD(struct device_division, host, "the host is mostly in", NONE, TEXT),
};

struct device_device {
	struct dw_cell device, events, first_ns, last_ns, span_ns, compute_ns, communication_ns, copy_ns, idle_ns,
		hidden_ns, only_compute_ns, only_communication_ns, compute_communication_ns, only_copy_ns, compute_copy_ns,
		communication_copy_ns, all_classes_ns;
};

static const struct dw_column device_columns[] = {
	DW_FIELD(struct device_device, device, "device", NONE, TEXT),
	DW_FIELD(struct device_device, events, "events", COUNT, INT),
	DW_FIELD(struct device_device, first_ns, "first", NS, INT, .wide_only = true),
	DW_FIELD(struct device_device, last_ns, "last", NS, INT, .wide_only = true),
	DW_FIELD(struct device_device, span_ns, "span", NS, INT),
	DW_FIELD(struct device_device, compute_ns, "compute", NS, INT),
	DW_FIELD(struct device_device, communication_ns, "communication", NS, INT),
	DW_FIELD(struct device_device, copy_ns, "copy", NS, INT),
	DW_FIELD(struct device_device, idle_ns, "idle", NS, INT),
	DW_FIELD(struct device_device, hidden_ns, "communication hidden", NS, INT),
	DW_FIELD(struct device_device, only_compute_ns, "only compute", NS, INT, .data_only = true),
	DW_FIELD(struct device_device, only_communication_ns, "only communication", NS, INT, .data_only = true),
	DW_FIELD(struct device_device, compute_communication_ns, "compute, communication", NS, INT, .data_only = true),
	DW_FIELD(struct device_device, only_copy_ns, "only copy", NS, INT, .data_only = true),
	DW_FIELD(struct device_device, compute_copy_ns, "compute, copy", NS, INT, .data_only = true),
	DW_FIELD(struct device_device, communication_copy_ns, "communication, copy", NS, INT, .data_only = true),
	DW_FIELD(struct device_device, all_classes_ns, "all", NS, INT, .data_only = true),
};

struct device_cause {
	struct dw_cell call, operator, times, idle_ns, share;
};

static const struct dw_column cause_columns[] = {
	DW_FIELD(struct device_cause, call, "synchronising call", NONE, TEXT),
	DW_FIELD(struct device_cause, operator, "in operator", NONE, TEXT),
	DW_FIELD(struct device_cause, times, "times", COUNT, INT),
	DW_FIELD(struct device_cause, idle_ns, "device idle", NS, INT),
	DW_FIELD(struct device_cause, share, "of the wall time", RATIO, REAL),
};

const char *dw_view_device_name(const struct dw_model *model, uint32_t device, char buffer[256])
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_source_device *from = &source->devices[device];
	const struct dw_source_process *process = &source->processes[from->process];
	int used = 0;

	*buffer = '\0';
	if (process->rank >= 0 && source->process_count > 1)
		used = snprintf(buffer, 256, "rank %d ", process->rank);
	snprintf(buffer + used, (size_t)(256 - used), "%s%s%u", *from->name ? from->name : "device", " ", from->number);
	return buffer;
}

void dw_view_head_bursts(struct dwell_table *table, const struct dw_device_work *work)
{
	bool bursts = false;

	for (size_t i = 0; i < work->gap_count; i++)
		bursts |= work->gaps[i].start_ns > 0; /* one that begins with the run was lost later */
	if (bursts)
		dw_table_say(table, DW_LABEL_NOTE, "The work of devices was recorded in %s of the time, in bursts chosen at random so that "
		              "recording costs little (--cost full: all the time); its figures are of these.",
		              dw_text_percent(work->recorded).at);
}

struct dwell_table *dw_view_choose_device(struct dw_model *model, const char *view, const struct dw_column *columns,
                                          size_t count, unsigned has, struct dwell_error *error)
{
	struct dwell_table *table = dw_view_choose(view, columns, count, has, error);

	if (table && has & DW_HAS_DEVICE && dw_model_device_work(model, NULL))
		dw_view_head_bursts(table, dw_model_device_work(model, NULL));
	return table;
}

static void device_sum_parts(const struct dw_device_times *times, size_t device, uint64_t *part_ns, size_t *steps)
{
	*steps = 0;
	for (size_t i = 0; i < times->step_count; i++) {
		if (times->steps[i].device != device)
			continue;
		++*steps;
		for (unsigned p = 0; p < DW_DEVICE_PART_COUNT; p++)
			part_ns[p] += times->steps[i].part_ns[p];
	}
	for (unsigned p = 0; p < DW_DEVICE_PART_COUNT && !*steps; p++)
		part_ns[p] = times->devices[device].part_ns[p];
}

/* Where the host was in the idle time of each part: of the steps, or of the span. False: out of memory. */
static bool device_find_host(struct dw_model *model, const struct dw_device_times *times, size_t device, struct dw_device_host *hosts)
{
	struct dw_device_interval *intervals = calloc(times->step_count + 1, sizeof *intervals);
	size_t count = 0;
	bool good;

	for (size_t i = 0; intervals && i < times->step_count; i++)
		if (times->steps[i].device == device)
			intervals[count++] = (struct dw_device_interval){ times->steps[i].start_ns, times->steps[i].end_ns };
	if (intervals && !count)
		intervals[count++] = (struct dw_device_interval){ times->devices[device].first_ns, times->devices[device].last_ns };
	good = intervals && dw_model_device_host(model, device, intervals, count, hosts, NULL);
	free(intervals);
	return good;
}

/* What the steps would be without the cost of recording them, where devices are recorded in bursts and that cost is known. */
static void device_head_cost(struct dwell_table *table, struct dw_model *model, double busy_ns, double step_ns)
{
	const struct dw_facts_bursts *bursts = dw_facts_bursts(model, NULL);

	table->failed |= !bursts;
	if (!bursts || !dw_facts_bursts_add(bursts, step_ns - busy_ns))
		return;
	dw_table_head(table, "Without what recording adds (%s a step, 95%% interval %s to %s) a step takes %s, and the device is busy "
	              "%.1f%% of it (%.1f%% to %.1f%%).", dw_text_ns(bursts->ns, " ").at, dw_text_ns(bursts->low_ns, " ").at,
	              dw_text_ns(bursts->high_ns, " ").at, dw_text_ns(step_ns - bursts->ns, " ").at,
	              100 * busy_ns / (step_ns - bursts->ns),
	              100 * busy_ns / (step_ns - bursts->low_ns), 100 * busy_ns / (step_ns - bursts->high_ns));
}

/* Returns the wall time that is divided. */
static uint64_t device_fill_division(struct dwell_table *table, struct dw_model *model, enum dw_iteration_kind kind,
                                     const struct dw_device_times *times, size_t device)
{
	uint64_t part_ns[DW_DEVICE_PART_COUNT] = { 0 }, all_ns = 0, busy_ns = 0;
	struct dw_device_host hosts[DW_DEVICE_PART_COUNT];
	char name[256], place[DW_DEVICE_PLACE];
	size_t steps;

	table->failed |= !device_find_host(model, times, device, hosts);
	if (table->failed)
		return 0;
	device_sum_parts(times, device, part_ns, &steps);
	for (unsigned p = 0; p < DW_DEVICE_PART_COUNT; p++) {
		all_ns += part_ns[p];
		busy_ns += p < DW_DEVICE_PART_FIRST_IDLE ? part_ns[p] : 0;
	}
	dw_view_device_name(model, times->devices[device].device, name);
	if (all_ns && steps && kind == DW_ITERATIONS_RUN)
		dw_table_head(table, "%s: busy %.1f%% of the run, %s.", name, 100.0 * (double)busy_ns / (double)all_ns,
		              dw_text_ns((double)all_ns, " ").at);
	else if (all_ns && steps && kind == DW_ITERATIONS_PERIOD)
		dw_table_head(table, "%s: busy %.1f%% of %s iteration%s that nobody marked, %s an iteration on the wall clock.", name,
		              100.0 * (double)busy_ns / (double)all_ns, dw_text_count((int64_t)steps).at,
		              dw_text_plural(steps), dw_text_ns((double)all_ns / (double)steps, " ").at);
	else if (all_ns && steps)
		dw_table_head(table, "%s: busy %.1f%% of %s step%s, %s a step on the wall clock.", name,
		              100.0 * (double)busy_ns / (double)all_ns, dw_text_count((int64_t)steps).at,
		              dw_text_plural(steps), dw_text_ns((double)all_ns / (double)steps, " ").at);
	else if (all_ns)
		dw_table_head(table, "%s: busy %.1f%% of the %s from its first event to its last; the trace "
		              "has no steps.", name, 100.0 * (double)busy_ns / (double)all_ns,
		              dw_text_ns((double)all_ns, " ").at);
	if (steps && kind == DW_ITERATIONS_MARKED)
		device_head_cost(table, model, (double)busy_ns / (double)steps, (double)all_ns / (double)steps);
	for (unsigned p = 0; p < DW_DEVICE_PART_COUNT; p++)
		if (part_ns[p]) {
			bool known = *dw_device_place(model, &hosts[p], place);

			dw_table_named(table, "host")->data_only &= !known;
			DW_TABLE_PUT(table, 0, struct device_division, .part = DW_STRING(dw_device_part_name(p)),
			             .device = DW_STRING(name), .ns = DW_INT(part_ns[p]),
			             .step_ns = DW_PART(part_ns[p], kind == DW_ITERATIONS_RUN ? 0 : steps),
			             .share = DW_PART(part_ns[p], all_ns), .host = known ? DW_STRING(place) : DW_EMPTY);
		}
	return all_ns;
}

static struct dwell_table *device_devices(struct dw_model *model, const struct dw_device_times *times,
                                          struct dwell_error *error)
{
	struct dwell_table *table = DW_VIEW_CHOOSE("device", device_columns, 0, error);

	if (!table)
		return NULL;
	table->part = "devices";
	for (size_t i = 0; i < times->device_count; i++) {
		const struct dw_device_time *from = &times->devices[i];
		const uint64_t *class_ns = from->class_ns, *sets = from->set_ns;
		char name[256];

		DW_TABLE_PUT(
			table, 0, struct device_device, .device = DW_STRING(dw_view_device_name(model, from->device, name)),
			.events = DW_INT(from->event_count), .first_ns = DW_INT(from->first_ns), .last_ns = DW_INT(from->last_ns),
			.span_ns = DW_INT(from->last_ns - from->first_ns), .compute_ns = DW_INT(class_ns[0]),
			.communication_ns = DW_INT(class_ns[1]), .copy_ns = DW_INT(class_ns[2]), .idle_ns = DW_INT(sets[0]),
			.hidden_ns = DW_INT(sets[3] + sets[7]), .only_compute_ns = DW_INT(sets[1]),
			.only_communication_ns = DW_INT(sets[2]), .compute_communication_ns = DW_INT(sets[3]),
			.only_copy_ns = DW_INT(sets[4]), .compute_copy_ns = DW_INT(sets[5]),
			.communication_copy_ns = DW_INT(sets[6]), .all_classes_ns = DW_INT(sets[7]));
	}
	return table;
}

static struct dwell_table *device_causes(struct dw_model *model, const struct dw_device_times *times, uint64_t wall_ns,
                                         struct dwell_error *error)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct dwell_table *table = DW_VIEW_CHOOSE("device", cause_columns, 0, error);

	if (!table)
		return NULL;
	table->part = "synchronising calls";
	for (size_t i = 0; i < times->cause_count; i++) {
		const struct dw_device_cause *from = &times->causes[i];
		uint32_t operator = from->operator_symbol;

		DW_TABLE_PUT(table, 0, struct device_cause, .call = DW_STRING(symbols[from->call_symbol].name),
		             .operator = DW_STRING(operator != DW_NO_INDEX ? symbols[operator].name : NULL),
		             .times = DW_INT(from->count), .idle_ns = DW_INT(from->ns),
		             .share = DW_PART(from->ns, wall_ns));
	}
	return table;
}

void dw_view_note_device(struct dwell_table *table, const struct dw_device_work *work)
{
	if (work->without_call)
		dw_table_note(table, "%s event%s: the call that submitted %s is not in the trace.",
		              dw_text_count((int64_t)work->without_call).at, dw_text_plural(work->without_call),
		              work->without_call == 1 ? "it" : "them");
	if (work->before_call)
		dw_table_note(table, "%s event%s began before the call that submitted %s: the clocks of host "
		              "and device differ.", dw_text_count((int64_t)work->before_call).at,
		              dw_text_plural(work->before_call), work->before_call == 1 ? "it" : "them");
	if (work->duplicates)
		dw_table_note(table, "%s call%s had the number of an earlier call; events belong to the "
		              "earlier one.", dw_text_count((int64_t)work->duplicates).at, dw_text_plural(work->duplicates));
	if (work->clock_error_ns)
		dw_table_note(table, "Times of devices and of the host may differ by %s.",
		              dw_text_ns((double)work->clock_error_ns, " ").at);
}

static uint64_t device_busy_ns(const uint64_t part_ns[DW_DEVICE_PART_COUNT])
{
	uint64_t ns = 0;

	for (unsigned p = 0; p < DW_DEVICE_PART_FIRST_IDLE; p++)
		ns += part_ns[p];
	return ns;
}

/* The model whose steps are divided: the one with iterations, if they have most of the work of the devices. NULL with `error`: out of
 * memory. */
static struct dw_model *device_choose_model(struct dw_model *model, enum dw_iteration_kind *kind, struct dwell_error *error)
{
	const struct dw_iterated *iterated = dw_model_iterated(model, error);
	const struct dw_device_times *times = iterated ? dw_model_device_times(iterated->model, error) : NULL;
	uint64_t all_ns = 0, steps_ns = 0;

	if (!times)
		return NULL;
	for (size_t i = 0; i < times->device_count; i++)
		all_ns += device_busy_ns(times->devices[i].part_ns);
	for (size_t i = 0; i < times->step_count; i++)
		steps_ns += device_busy_ns(times->steps[i].part_ns);
	*kind = iterated->kind;
	return iterated->kind == DW_ITERATIONS_MARKED || steps_ns < all_ns / 2 ? model : iterated->model;
}

static void device_head_energy(struct dwell_table *table, struct dw_model *model)
{
	const struct dw_energy *energy = dw_model_energy(model, NULL);

	table->failed |= !energy;
	if (energy && energy->known)
		dw_table_head(table, "Energy: %s J a step, +-%s (95%%), %s W: of the whole device, over %zu window%s of 10 s or more.",
		              dw_text_number(energy->joules).at, dw_text_number(energy->error).at, dw_text_number(energy->watts).at,
		              energy->windows, energy->windows > 1 ? "s" : "");
	else if (energy && energy->samples)
		dw_table_head(table, "Energy: not known for a step: it needs steps in 10 s or more of one device.");
}

static struct dwell_table *device_view(struct dw_model *model, const struct dwell_view_options *options,
                                       struct dwell_error *error)
{
	enum dw_iteration_kind kind;
	const struct dw_device_work *work;
	const struct dw_device_times *times;
	struct dwell_table *table;
	uint64_t wall_ns = 0;
	unsigned has;

	model = device_choose_model(model, &kind, error);
	work = model ? dw_model_device_work(model, error) : NULL;
	times = work ? dw_model_device_times(model, error) : NULL;
	if (!times)
		return NULL;
	has = (times->device_count > 1 ? SEVERAL_DEVICES : 0) |
	      (times->step_count && kind != DW_ITERATIONS_RUN ? DW_HAS_STEPS : 0);
	table = DW_VIEW_CHOOSE("device", division_columns, has, error);
	if (!table)
		return NULL;
	dw_view_head_bursts(table, work);
	dw_table_named(table, "host")->data_only = true;
	for (size_t i = 0; i < times->device_count; i++)
		wall_ns += device_fill_division(table, model, kind, times, i);
	device_head_energy(table, model);
	table->part = "division";
	dw_view_note_device(table, work);
	table = dw_view_chain(table, device_devices(model, times, error));
	return table && times->cause_count ? dw_view_chain(table, device_causes(model, times, wall_ns, error)) : table;
}

const struct dw_view dw_view_device = {
	.name = "device", .question = "how busy was the device in a step, and why was it idle?",
	.run = device_view, .limit = 20,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(device_columns), DW_VIEW_TABLE(cause_columns), DW_VIEW_TABLE(division_columns)),
	.needs_device = true, DW_VIEW_NEEDS_DEVICE,
};
