/*
 * What each queue of a device did: busy time, overlap with other queues, gaps, and its depth.
 *
 * The depth is the work that was submitted and has not begun: an event counts from the begin of
 * its call to its own begin. Events without a known call do not count.
 */
#include <math.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/device/sweep.h"

struct point {
	uint64_t ns;
	int64_t change;
};

/* Begins of calls first. */
DW_ORDER(queues_compare_points, struct point, DW_UP(ns) DW_DOWN(change))

static int queues_compare_values(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* The quantile q (0 to 1) of sorted values, interpolated linearly. */
static double queues_quantile(const int64_t *values, size_t count, double q)
{
	double place = q * (double)(count - 1);
	size_t low = (size_t)place, high = low + 1 < count ? low + 1 : low;

	return (double)values[low] + (place - (double)low) * (double)(values[high] - values[low]);
}

static void queues_sum_points(struct point *points, size_t count, int64_t *values, struct dw_device_depth *depth)
{
	double sum = 0, squares = 0, area = 0;
	int64_t value = 0;

	qsort(points, count, sizeof *points, queues_compare_points);
	for (size_t i = 0; i < count; i++) {
		value += points[i].change;
		values[i] = value;
		sum += (double)value;
		if (i + 1 < count)
			area += (double)value * (double)(points[i + 1].ns - points[i].ns);
	}
	depth->points = count;
	depth->mean = sum / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += ((double)values[i] - depth->mean) * ((double)values[i] - depth->mean);
	depth->deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
	if (points[count - 1].ns > points[0].ns)
		depth->mean_over_time = area / (double)(points[count - 1].ns - points[0].ns);
	qsort(values, count, sizeof *values, queues_compare_values);
	depth->least = values[0];
	depth->most = values[count - 1];
	depth->p25 = queues_quantile(values, count, 0.25);
	depth->p50 = queues_quantile(values, count, 0.5);
	depth->p75 = queues_quantile(values, count, 0.75);
}

static bool queues_counts(const struct dw_device_work *work, const struct dw_device_event *event)
{
	return event->in_scope && work->names[event->name].class != DW_CLASS_COUNT;
}

static bool queues_depth(const struct dw_device_work *work, const struct dw_device_queue *queue,
                         struct dw_device_depth *depth)
{
	struct point *points = malloc((queue->count * 2 + 1) * sizeof *points);
	int64_t *values = malloc((queue->count * 2 + 1) * sizeof *values);
	bool good = points && values;
	size_t count = 0;

	for (size_t i = queue->first; i < queue->first + queue->count && good; i++) {
		const struct dw_device_event *event = &work->events[i];

		if (!queues_counts(work, event) || event->call == DW_NO_INDEX)
			continue;
		points[count++] = (struct point){ work->calls[event->call].start_ns, 1 };
		points[count++] = (struct point){ event->start_ns, -1 };
	}
	if (count && good)
		queues_sum_points(points, count, values, depth);
	DW_FREE(points, values);
	return good;
}

static void queues_gap(const struct dw_device_work *work, const struct dw_device_event *event, uint32_t process,
                       struct dw_queue_time *to)
{
	const struct dw_device_gap *unknown = dw_device_gap_after(work, process, to->last_ns);
	uint64_t ns = event->start_ns - to->last_ns;
	enum dw_gap gap = ns < DW_SHORT_GAP_NS ? DW_GAP_SHORT : DW_GAP_OTHER;

	if (unknown && unknown->start_ns < event->start_ns)
		return;
	if (event->call != DW_NO_INDEX && work->calls[event->call].start_ns > to->last_ns)
		gap = DW_GAP_HOST_LATE;
	to->gap_ns[gap] += ns;
	to->gap_count[gap]++;
}

static void queues_times(const struct dw_device_work *work, const struct dw_device_queue *queue, uint32_t process,
                         struct dw_queue_time *to)
{
	for (size_t i = queue->first; i < queue->first + queue->count; i++) {
		const struct dw_device_event *event = &work->events[i];

		if (!queues_counts(work, event))
			continue;
		if (!to->event_count) {
			to->first_ns = to->last_ns = event->start_ns;
		} else if (event->start_ns > to->last_ns) {
			queues_gap(work, event, process, to);
			to->last_ns = event->start_ns;
		}
		to->event_count++;
		if (event->end_ns > to->last_ns) {
			to->busy_ns += event->end_ns - to->last_ns;
			to->last_ns = event->end_ns;
		}
	}
}

/* ---- overlap ------------------------------------------------------------------------------ */

struct busy {
	uint64_t ns;
	uint32_t queue;  /* index in times->queues */
	int32_t change;
};

DW_ORDER(queues_compare_busy, struct busy, DW_UP(ns) DW_UP(change) DW_UP(queue))

/* Computes the time in which a queue and another queue of its device are busy: the queue's busy
 * time less the time in which only this queue is busy. */
static void queues_sum_overlap(struct dw_device_times *times, const struct busy *edges, size_t count, uint32_t *running)
{
	uint64_t queues = 0, ids = 0; /* number of busy queues, and the sum of their indices */

	for (size_t i = 0; i < count; i++) {
		uint32_t queue = edges[i].queue, before = running[queue];

		running[queue] += (uint32_t)edges[i].change;
		if (!before && running[queue]) {
			queues++;
			ids += queue;
		} else if (before && !running[queue]) {
			queues--;
			ids -= queue;
		}
		if (queues == 1 && i + 1 < count) /* `ids` is then the index of this queue */
			times->queues[ids].overlap_ns -= edges[i + 1].ns - edges[i].ns;
	}
}

static bool queues_overlap(const struct dw_device_work *work, struct dw_device_times *times, size_t from, size_t to)
{
	size_t most = 0, count = 0;
	struct busy *edges;
	uint32_t *running = calloc(times->queue_count + 1, sizeof *running);

	for (size_t q = from; q < to; q++)
		most += 2 * times->queues[q].event_count;
	edges = malloc((most + 1) * sizeof *edges);
	for (size_t q = from; q < to && edges; q++) {
		const struct dw_device_queue *queue = &work->queues[times->queues[q].queue];

		times->queues[q].overlap_ns = times->queues[q].busy_ns;
		for (size_t i = queue->first; i < queue->first + queue->count; i++) {
			const struct dw_device_event *event = &work->events[i];

			if (!queues_counts(work, event) || event->end_ns <= event->start_ns)
				continue;
			edges[count++] = (struct busy){ event->start_ns, (uint32_t)q, 1 };
			edges[count++] = (struct busy){ event->end_ns, (uint32_t)q, -1 };
		}
	}
	if (edges && running && count) {
		qsort(edges, count, sizeof *edges, queues_compare_busy);
		queues_sum_overlap(times, edges, count, running);
	}
	DW_FREE(running, edges);
	return edges && running;
}

bool dw_device_queue_times(struct dw_model *model, const struct dw_device_work *work, struct dw_device_times *times)
{
	const struct dw_source *source = model->source;
	bool good = true;

	times->queues = calloc(work->queue_count + 1, sizeof *times->queues);
	if (!times->queues)
		return false;
	for (size_t q = 0; q < work->queue_count && good; q++) {
		struct dw_queue_time *to = &times->queues[times->queue_count];

		*to = (struct dw_queue_time){ .queue = (uint32_t)q };
		queues_times(work, &work->queues[q], source->devices[source->queues[work->queues[q].queue].device].process, to);
		if (!to->event_count)
			continue;
		good = queues_depth(work, &work->queues[q], &to->depth);
		times->queue_count++;
	}
	for (size_t from = 0, to; from < times->queue_count && good; from = to) {
		uint32_t device = source->queues[work->queues[times->queues[from].queue].queue].device;

		for (to = from + 1; to < times->queue_count &&
		                    source->queues[work->queues[times->queues[to].queue].queue].device == device;)
			to++;
		good = queues_overlap(work, times, from, to);
	}
	return good;
}
