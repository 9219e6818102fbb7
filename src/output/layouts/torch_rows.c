/*
 * The rows of the torch layout: those of calls, and if the run has devices those of their events.
 *
 * Called by torch.c. PyTorch's table of a run with devices has a row for each name of a kernel, a
 * copy, a wait and an annotation on the device, and rows for the calls of the driver.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "frameworks/torch.h"
#include "layouts/torch_parts.h"
#include "model/device/sums.h"

/* By begin of the first call; of those that begin together, the one that ends last; then by name:
 * PyTorch's own order of these is that of the file. */
DW_ORDER(torch_rows_compare, struct dw_torch_row, DW_UP(call->first_ns) DW_DOWN(call->first_end_ns) DW_TEXT(call->name))

/* The name of an annotation of a step is the same for all steps. */
static const char *torch_rows_name(const struct dw_device_name *name)
{
	return name->kind == DW_DEVICE_RANGE &&
	               strncmp(name->name, DW_TORCH_STEP, sizeof DW_TORCH_STEP - 1) == 0
	           ? DW_TORCH_STEPS : name->name;
}

static void torch_rows_add_event(struct dw_call_row *call, struct dw_torch_row *row,
                                 const struct dw_device_event *event, const char *name)
{
	if (!call->stat.count || event->start_ns < call->first_ns ||
	    (event->start_ns == call->first_ns && event->end_ns > call->first_end_ns)) {
		call->first_ns = event->start_ns;
		call->first_end_ns = event->end_ns;
	}
	call->name = name;
	call->symbol = DW_NO_INDEX;
	call->stat.count++;
	row->call = call;
	row->on_device = true;
	row->annotation = event->kind == DW_DEVICE_RANGE;
	row->device_ns += event->end_ns - event->start_ns;
	row->self_device_ns = row->device_ns;
}

/* Adds a row for each name of events, and the base of percentages: `old` counts annotations in it, as
 * PyTorch 1.13 does. */
static bool torch_rows_add_events(struct dw_torch_rows *rows, const struct dw_device_work *work, bool old)
{
	struct dw_torch_row *added = &rows->rows[rows->count];
	uint32_t *steps = calloc(work->name_count + 1, sizeof *steps); /* by name: its row */
	size_t count = 0;

	rows->events = calloc(work->name_count + 1, sizeof *rows->events);
	if (!steps || !rows->events) {
		free(steps);
		return false;
	}
	for (uint32_t i = 0, first = DW_NO_INDEX; i < work->name_count; i++) {
		steps[i] = i;
		if (strcmp(torch_rows_name(&work->names[i]), DW_TORCH_STEPS) != 0)
			continue;
		first = first == DW_NO_INDEX ? i : first;
		steps[i] = first;
	}
	for (size_t i = 0; i < work->event_count; i++) {
		const struct dw_device_event *event = &work->events[i];
		uint32_t name = steps[event->name];

		if (event->in_scope && (dw_device_is_torch_event(event->kind) || event->kind == DW_DEVICE_RANGE))
			torch_rows_add_event(&rows->events[name], &added[name], event, torch_rows_name(&work->names[name]));
	}
	for (size_t i = 0; i < work->name_count; i++) {
		if (!added[i].call)
			continue;
		rows->has_device |= added[i].device_ns > 0;
		rows->device_ns += added[i].annotation && !old ? 0 : added[i].device_ns;
		added[count++] = added[i];
	}
	rows->count += count;
	free(steps);
	return true;
}

int dw_torch_rows_make(struct dw_torch_rows *rows, struct dw_model *model,
                       const struct dw_calls *calls, const struct dw_calls_ask *ask, bool old,
                       struct dwell_error *error)
{
	const struct dw_device_work *work = NULL;
	const struct dw_device_sum *sums = NULL;
	bool device = ask->all_ranges, good = true;

	if (device) {
		work = dw_model_device_work(model, error);
		sums = work ? dw_model_device_by_call(model, ask, error) : NULL;
		if (!sums)
			return DWELL_E_NOMEM;
	}
	rows->rows = calloc(calls->count + (work ? work->name_count : 0) + 1, sizeof *rows->rows);
	if (!rows->rows)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory printing a table");
	for (size_t i = 0; i < calls->count; i++) {
		rows->rows[i].call = &calls->rows[i];
		rows->rows[i].self_device_ns = sums ? sums[i].self_ns : 0;
		rows->rows[i].device_ns = sums ? sums[i].total_ns : 0;
	}
	rows->count = calls->count;
	if (device)
		good = torch_rows_add_events(rows, work, old);
	if (device && good && rows->count)
		qsort(rows->rows, rows->count, sizeof *rows->rows, torch_rows_compare);
	return good ? 0 : dw_error_set(error, DWELL_E_NOMEM, "out of memory printing a table");
}

void dw_torch_rows_reset(struct dw_torch_rows *rows)
{
	free(rows->rows);
	free(rows->events);
}
