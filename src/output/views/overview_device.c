/*
 * What an overview says of devices: with steps how a step divides for the device, without steps how busy each device
 * was and with which kernels and copies.
 */
#include <stdlib.h>

#include "base/text.h"
#include "model/device/times.h"
#include "views/device.h"
#include "views/overview_parts.h"

struct overview_device_part {
	struct dw_cell name, per_step_ns, share;
};

static const struct dw_column part_columns[] = {
	DW_FIELD(struct overview_device_part, name, "the device", NONE, TEXT),
	DW_FIELD(struct overview_device_part, per_step_ns, "", NS, REAL, .one_unit = true),
	DW_FIELD(struct overview_device_part, share, "of a steady step", RATIO, REAL, .bar = true, .sums = "per_step_ns"),
};
const struct dw_column_list dw_overview_device_columns = DW_COLUMN_LIST(part_columns);

/* The device's division of the same steps, if the work of a device was recorded. */
struct dwell_table *dw_overview_device(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_facts *facts = dw_facts(overview->model, error);
	struct dwell_table *table = NULL;

	if (facts && facts->at[DW_FACT_DEVICE_BUSY].measured && !(facts->at[DW_FACT_TRACE_DEVICE_UNSEEN].value > 0))
		table = DW_VIEW_CHOOSE("overview", part_columns, 0, error);
	if (!table)
		return NULL;
	table->part = "device";
	for (unsigned part = 0; part < DW_DEVICE_PART_COUNT; part++) {
		double share = facts->at[DW_FACT_DEVICE_COMPUTE + part].value;

		if (share < DW_OVERVIEW_NOTHING)
			continue;
		DW_TABLE_PUT(table, 0, struct overview_device_part, .name = DW_STRING(dw_device_part_name(part)),
		             .per_step_ns = DW_REAL(share * facts->at[DW_FACT_DEVICE_STEP].value), .share = DW_REAL(share));
	}
	return table;
}

void dw_overview_head_bursts(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_device_work *work = dw_model_has_device(overview->model) ? dw_model_device_work(overview->model, NULL) : NULL;

	if (work)
		dw_view_head_bursts(table, work);
}

/* ---- a run without steps -------------------------------------------------------------------- */

#define MOST_DEVICES 4u

struct device_sum {
	uint64_t count, ns;
};

/* Where the driver has no times, as after a fault of the device, the begin and the end of an event are equal. */
static bool overview_is_work(const struct dw_device_work *work, const struct dw_device_event *event)
{
	return event->in_scope && work->names[event->name].class != DW_CLASS_COUNT && event->end_ns > event->start_ns;
}

/* Appends "; 95 kernels take 19.1 ms". */
static void overview_write_events(char *to, size_t size, const struct device_sum *sum, const char *one, const char *many)
{
	size_t used = strlen(to);

	if (sum->count)
		snprintf(to + used, size - used, "; %s %s %s", dw_text_count((int64_t)sum->count).at,
		         sum->count == 1 ? one : many, dw_text_ns((double)sum->ns, " ").at);
}

static void overview_head_device(struct dwell_table *table, const struct dw_overview *overview,
                                 const struct dw_device_work *work, const struct dw_device_time *time)
{
	struct device_sum kernels = { 0 }, copies = { 0 };
	/* The device may still work when the host has ended. */
	bool after = !dw_model_is_partial(overview->model) && time->last_ns > overview->wall_ns;
	double run_ns = (double)(after ? time->last_ns : overview->wall_ns);
	uint64_t busy_ns = 0;
	char name[256], rest[160] = "";

	for (unsigned part = 0; part < DW_DEVICE_PART_FIRST_IDLE; part++)
		busy_ns += time->part_ns[part];
	for (size_t i = 0; i < work->event_count; i++) {
		const struct dw_device_event *event = &work->events[i];
		struct device_sum *sum = event->kind == DW_DEVICE_COPY ? &copies : &kernels;

		if (!overview_is_work(work, event) || event->kind == DW_DEVICE_SET ||
		    overview->source->queues[event->queue].device != time->device)
			continue;
		sum->count++;
		sum->ns += event->end_ns - event->start_ns;
	}
	dw_view_device_name(overview->model, time->device, name);
	overview_write_events(rest, sizeof rest, &kernels, "kernel takes", "kernels take");
	overview_write_events(rest, sizeof rest, &copies, "copy takes", "copies take");
	if (!busy_ns)
		dw_table_say(table, DW_LABEL_ALSO, "%s: the driver did not say how long its work took.", name);
	else
		dw_table_say(table, DW_LABEL_ALSO, "%s: busy for %s, %s of the run%s%s.", name, dw_text_ns((double)busy_ns, " ").at,
		              dw_text_percent((double)busy_ns / run_ns / work->recorded).at,
		              work->recorded < 1 ? " by what was recorded" : "", rest);
}

void dw_overview_head_devices(struct dwell_table *table, const struct dw_overview *overview)
{
	const struct dw_device_work *work = NULL;
	const struct dw_device_times *times = NULL;

	if (dw_model_has_device(overview->model) && overview->wall_ns) {
		work = dw_model_device_work(overview->model, NULL);
		times = dw_model_device_times(overview->model, NULL);
		table->failed |= !work || !times;
	}
	if (work)
		dw_view_head_bursts(table, work);
	for (size_t i = 0; work && times && i < times->device_count && i < MOST_DEVICES; i++)
		overview_head_device(table, overview, work, &times->devices[i]);
	if (times && times->device_count > MOST_DEVICES)
		dw_table_say(table, DW_LABEL_LOOK, "dwell report --view device has %zu more devices", times->device_count - MOST_DEVICES);
}

struct overview_kernel {
	struct dw_cell name, family, events, total_ns, share, mean_ns;
};

static const struct dw_column kernel_columns[] = {
	DW_FIELD(struct overview_kernel, name, "kernels and copies by time", NONE, TEXT),
	DW_FIELD(struct overview_kernel, family, "family", NONE, TEXT),
	DW_FIELD(struct overview_kernel, events, "events", COUNT, INT),
	DW_FIELD(struct overview_kernel, total_ns, "total", NS, INT),
	DW_FIELD(struct overview_kernel, share, "of all", RATIO, REAL, .sums = "total_ns"),
	DW_FIELD(struct overview_kernel, mean_ns, "mean", NS, REAL),
};
const struct dw_column_list dw_overview_kernels_columns = DW_COLUMN_LIST(kernel_columns);

struct dwell_table *dw_overview_kernels(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_device_work *work;
	struct dwell_table *table = NULL;
	struct device_sum *sums;
	uint64_t all_ns = 0;

	if (!dw_model_has_device(overview->model))
		return NULL;
	work = dw_model_device_work(overview->model, error);
	sums = work ? calloc(work->name_count + 1, sizeof *sums) : NULL;
	for (size_t i = 0; sums && i < work->event_count; i++)
		if (overview_is_work(work, &work->events[i])) {
			sums[work->events[i].name].count++;
			sums[work->events[i].name].ns += work->events[i].end_ns - work->events[i].start_ns;
			all_ns += work->events[i].end_ns - work->events[i].start_ns;
		}
	if (sums && all_ns)
		table = DW_VIEW_CHOOSE("overview", kernel_columns, 0, error);
	for (size_t i = 0; table && i < work->name_count; i++) {
		char name[DW_VIEW_KERNEL_NAME];

		if (!sums[i].count)
			continue;
		dw_view_kernel_name(&work->names[i], name);
		DW_TABLE_PUT(table, 0, struct overview_kernel, .name = DW_STRING(name),
		             .family = DW_STRING(dw_family_name(work->names[i].family)), .events = DW_INT(sums[i].count),
		             .total_ns = DW_INT(sums[i].ns), .share = DW_PART(sums[i].ns, all_ns),
		             .mean_ns = DW_PART(sums[i].ns, sums[i].count));
	}
	free(sums);
	if (!table)
		return NULL;
	table->part = "kernels";
	table->rows_shown = DW_OVERVIEW_ROWS;
	dw_table_sort_by(table, "total_ns");
	return table;
}
