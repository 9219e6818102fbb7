/*
 * Which range of the host submitted which events of a device; see device_rows.h.
 *
 * Called by perfetto_device.c and xplane_device.c, whose arrows begin in the ranges: a range is found
 * among the calls by its thread, begin and name.
 */

#include "base/free.h"
#include "base/order.h"
#include "export/device_rows.h"

DW_ORDER(launches_compare, struct dw_launch, DW_UP(thread) DW_UP(start_ns) DW_UP(call))

static bool launches_wants(const struct dw_launches *launches, const struct dw_device_event *event)
{
	const struct dw_device_work *work = launches->work;

	return event->in_scope && event->call != DW_NO_INDEX && dw_device_row_kind(event->kind) != DW_ROW_KINDS &&
	       event->start_ns >= work->calls[event->call].start_ns &&
	       dw_export_wants(launches->filter, work->names[event->name].name, event->start_ns, event->end_ns);
}

/* Lists the events of each call, as a counting sort does. */
static void launches_fill(struct dw_launches *launches)
{
	const struct dw_device_work *work = launches->work;
	uint32_t *first = launches->first, count = 0;

	for (size_t i = 0; i < work->event_count; i++)
		if (launches_wants(launches, &work->events[i])) {
			first[work->events[i].call + 1]++;
			count++;
		}
	for (size_t c = 0; c < work->call_count; c++) {
		if (first[c + 1] || work->calls[c].synchronises)
			launches->order[launches->order_count++] = (struct dw_launch){
				work->calls[c].start_ns, work->calls[c].thread, (uint32_t)c };
		first[c + 1] += first[c];
	}
	for (size_t i = work->event_count; i-- > 0;)
		if (launches_wants(launches, &work->events[i]))
			launches->events[--first[work->events[i].call + 1]] = (uint32_t)i;
	/* Now first[c + 1] is where the events of call c begin. */
	memmove(first, first + 1, work->call_count * sizeof *first);
	first[work->call_count] = count;
	if (launches->order_count)
		qsort(launches->order, launches->order_count, sizeof *launches->order, launches_compare);
}

void dw_launches_make(struct dw_launches *launches, struct dw_timeline *timeline)
{
	const struct dw_device_work *work;

	if (!timeline->source->events_count || timeline->failed)
		return;
	work = dw_model_device_work(timeline->model, NULL);
	if (!work) {
		timeline->failed = true;
		return;
	}
	launches->work = work;
	launches->filter = &timeline->filter;
	launches->order = calloc(work->call_count + 1, sizeof *launches->order);
	launches->first = calloc(work->call_count + 2, sizeof *launches->first);
	launches->events = calloc(work->event_count + 1, sizeof *launches->events);
	launches->sent = calloc(work->event_count + 1, sizeof *launches->sent);
	timeline->failed |= !launches->order || !launches->first || !launches->events || !launches->sent;
	if (!timeline->failed)
		launches_fill(launches);
}

void dw_launches_reset(struct dw_launches *launches)
{
	DW_FREE(launches->order, launches->first, launches->events, launches->sent);
}

/* The place in `order` of the first call of the thread that begins at `start_ns` or later. */
static size_t launches_find(const struct dw_launches *launches, uint32_t thread, uint64_t start_ns)
{
	const struct dw_launch *order = launches->order;

	return DW_FIRST(i, 0, launches->order_count, order[i].thread > thread ||
	                                              (order[i].thread == thread && order[i].start_ns >= start_ns));
}

struct dw_launched dw_launches_of(struct dw_launches *launches, uint32_t thread, uint64_t start_ns, uint32_t symbol)
{
	struct dw_launched found = { .count = 0 };

	if (!launches->order_count)
		return found;
	for (size_t i = launches_find(launches, thread, start_ns); i < launches->order_count; i++) {
		const struct dw_launch *at = &launches->order[i];
		const struct dw_device_call *call = &launches->work->calls[at->call];
		const uint32_t *first = &launches->first[at->call];

		if (at->thread != thread || at->start_ns != start_ns)
			break;
		found.events = &launches->events[first[0]];
		found.count = first[1] - first[0];
		/* Of several calls at one moment each range takes one. */
		if (call->symbol != symbol || (found.count && launches->sent[found.events[0]]))
			continue;
		for (size_t k = 0; k < found.count; k++)
			launches->sent[found.events[k]] = true;
		found.correlation = call->correlation;
		return found;
	}
	found.count = 0;
	return found;
}
