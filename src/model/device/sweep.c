/*
 * The segments of a device: intervals in which the same classes run.
 *
 * Begins and ends of all events are sorted by time. A counter for each class shows which classes
 * run. An event of zero length makes no segment, but it ends the idle time before it.
 */

#include "base/order.h"
#include "model/device/sweep.h"

struct edge {
	uint64_t ns;
	uint32_t event;
	int32_t change; /* 1: a begin, -1: an end */
};

DW_ORDER(sweep_compare, struct edge, DW_UP(ns) DW_UP(change) DW_UP(event))

static bool sweep_counts(const struct dw_device_work *work, const struct dw_device_event *event, bool in_scope)
{
	return work->names[event->name].class != DW_CLASS_COUNT && (!in_scope || event->in_scope) &&
	       event->end_ns > event->start_ns;
}

static size_t sweep_edges(const struct dw_device_work *work, const struct dw_model *model,
                          uint32_t device, bool in_scope, struct edge *edges)
{
	size_t count = 0;

	for (size_t q = 0; q < work->queue_count; q++) {
		const struct dw_device_queue *queue = &work->queues[q];

		if (model->source->queues[queue->queue].device != device)
			continue;
		for (size_t i = queue->first; i < queue->first + queue->count; i++) {
			const struct dw_device_event *event = &work->events[i];

			if (!sweep_counts(work, event, in_scope))
				continue;
			if (edges) {
				edges[count] = (struct edge){ event->start_ns, (uint32_t)i, 1 };
				edges[count + 1] = (struct edge){ event->end_ns, (uint32_t)i, -1 };
			}
			count += 2;
		}
	}
	return count;
}

static void sweep_mark_gaps(const struct dw_device_work *work, uint32_t process, struct dw_device_segment *segments, size_t count)
{
	for (size_t i = 0; i + 1 < count && work->gap_count; i++) {
		const struct dw_device_gap *gap = dw_device_gap_after(work, process, segments[i].start_ns);

		segments[i].unknown = !segments[i].classes && gap && gap->start_ns < segments[i + 1].start_ns;
	}
}

bool dw_device_sweep(const struct dw_device_work *work, const struct dw_model *model,
                     uint32_t device, bool in_scope, struct dw_device_segment **segments, size_t *count)
{
	size_t edge_count = sweep_edges(work, model, device, in_scope, NULL);
	struct edge *edges = malloc((edge_count + 1) * sizeof *edges);
	struct dw_device_segment *to = malloc((edge_count + 1) * sizeof *to);
	uint32_t running[DW_CLASS_COUNT] = { 0 }, classes = 0;
	size_t kept = 0;

	*segments = to;
	*count = 0;
	if (!edges || !to) {
		free(edges);
		return false;
	}
	sweep_edges(work, model, device, in_scope, edges);
	DW_SORT(edges, edge_count, sweep_compare);
	for (size_t i = 0; i < edge_count; i++) {
		const struct edge *edge = &edges[i];
		enum dw_device_class class = work->names[work->events[edge->event].name].class;

		running[class] += (uint32_t)edge->change;
		if (!classes && kept && edge->change > 0 && to[kept - 1].next == DW_NO_INDEX)
			to[kept - 1].next = edge->event; /* the event after the idle time */
		classes = (classes & ~(1u << class)) | (uint32_t)(running[class] > 0) << class;
		if (i + 1 < edge_count && edges[i + 1].ns == edge->ns)
			continue;
		if (kept && to[kept - 1].classes == classes)
			continue;
		to[kept++] = (struct dw_device_segment){ edge->ns, DW_NO_INDEX, classes, false };
	}
	free(edges);
	*count = kept;
	sweep_mark_gaps(work, model->source->devices[device].process, to, kept);
	return true;
}
