/*
 * Devices as rows of a viewer; see device_rows.h.
 *
 * Called by chrome_device.c, perfetto_device.c and xplane_device.c. The row of an event is the first
 * one of its stream that is free. A tree over the rows, each node with the earliest end below it,
 * finds that row in few steps even if a stream has very many.
 */

#include "base/free.h"
#include "export/device_rows.h"

#define FURTHER_ROWS 1000000000ull /* numbers of further rows; those of streams are smaller */

struct rows {
	struct dw_timeline *timeline;
	const struct dw_device_rows_format *format;
	void *to;
	const struct dw_device_work *work;
	uint64_t *next;   /* by device: the number of its next further row */
	uint64_t *ends;   /* the tree: ends[1] is the root, ends[leaves + i] the end of row i */
	uint64_t *places; /* by row */
	size_t leaves, used;
};

enum dw_device_row_kind dw_device_row_kind(uint32_t event_kind)
{
	switch (event_kind) {
	case DW_DEVICE_KERNEL:
	case DW_DEVICE_GRAPH:
	case DW_DEVICE_COPY:
	case DW_DEVICE_SET:
	case DW_DEVICE_OVERHEAD: return DW_ROW_WORK;
	case DW_DEVICE_SYNC: return DW_ROW_WAITS;
	case DW_DEVICE_RANGE: return DW_ROW_RANGES;
	default: return DW_ROW_KINDS;
	}
}

void dw_device_row_title(const struct dw_source *source, uint32_t device, char name[160])
{
	const struct dw_source_device *from = &source->devices[device];

	snprintf(name, 160, "%.120s %u", *from->name ? from->name : "GPU", from->number);
}

/* ---- rows of a stream ------------------------------------------------------------------------ */

/* Doubles the tree. */
static bool rows_grow(struct rows *rows)
{
	size_t leaves = rows->leaves ? rows->leaves * 2 : 1;
	uint64_t *ends = calloc(leaves * 2, sizeof *ends);
	uint64_t *places = realloc(rows->places, leaves * sizeof *places);

	if (places)
		rows->places = places;
	if (!ends || !places) {
		free(ends);
		rows->timeline->failed = true;
		return false;
	}
	if (rows->leaves)
		memcpy(ends + leaves, rows->ends + rows->leaves, rows->leaves * sizeof *ends);
	for (size_t i = leaves - 1; i > 0; i--)
		ends[i] = ends[2 * i] < ends[2 * i + 1] ? ends[2 * i] : ends[2 * i + 1];
	free(rows->ends);
	rows->ends = ends;
	rows->leaves = leaves;
	return true;
}

/* The first row that is free at `start_ns`, which is taken until `end_ns`. SIZE_MAX: out of memory. */
static size_t rows_take(struct rows *rows, uint64_t start_ns, uint64_t end_ns)
{
	size_t at = 1;

	if ((!rows->leaves || rows->ends[1] > start_ns) && !rows_grow(rows))
		return SIZE_MAX;
	while (at < rows->leaves)
		at = 2 * at + (rows->ends[2 * at] > start_ns);
	rows->ends[at] = end_ns;
	for (size_t up = at / 2; up > 0; up /= 2)
		rows->ends[up] = rows->ends[2 * up] < rows->ends[2 * up + 1] ? rows->ends[2 * up] : rows->ends[2 * up + 1];
	return at - rows->leaves;
}

/* Whether an earlier queue of the device has the same number: equal ones are neighbours. */
static bool rows_number_is_used(const struct rows *rows, size_t q)
{
	const struct dw_source_queue *queues = rows->timeline->source->queues;
	const struct dw_source_queue *queue = &queues[rows->work->queues[q].queue], *before;

	before = q ? &queues[rows->work->queues[q - 1].queue] : NULL;
	return before && before->device == queue->device && before->number == queue->number;
}

static void rows_begin(struct rows *rows, size_t q, enum dw_device_row_kind kind, size_t index)
{
	static const char *const kinds[DW_ROW_KINDS] = { "", ", waits", ", ranges" };
	uint32_t at = rows->work->queues[q].queue;
	const struct dw_source_queue *queue = &rows->timeline->source->queues[at];
	struct dw_device_row row = { .device = queue->device, .queue = at, .kind = kind };
	size_t used;

	row.number = index || kind || queue->number == DW_QUEUE_NONE || rows_number_is_used(rows, q)
	                 ? rows->next[queue->device]++
	                 : queue->number;
	if (queue->number == DW_QUEUE_NONE)
		snprintf(row.name, sizeof row.name, "no stream%s", kinds[kind]);
	else
		snprintf(row.name, sizeof row.name, "stream %llu%s", (unsigned long long)queue->number, kinds[kind]);
	used = strlen(row.name);
	if (index)
		snprintf(row.name + used, sizeof row.name - used, ", at the same time (%zu)", index + 1);
	rows->places[index] = rows->format->put_row(rows->to, &row);
	rows->used = index + 1;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void rows_put_queue(struct rows *rows, size_t q, enum dw_device_row_kind kind)
{
	const struct dw_device_queue *queue = &rows->work->queues[q];

	if (rows->leaves)
		memset(rows->ends, 0, rows->leaves * 2 * sizeof *rows->ends);
	rows->used = 0;
	for (size_t i = queue->first; i < queue->first + queue->count; i++) {
		const struct dw_device_event *event = &rows->work->events[i];
		size_t row;

		if (!event->in_scope || dw_device_row_kind(event->kind) != kind ||
		    !dw_export_wants(&rows->timeline->filter, rows->work->names[event->name].name,
		                     event->start_ns, event->end_ns))
			continue;
		row = rows_take(rows, event->start_ns, event->end_ns);
		if (row == SIZE_MAX)
			return;
		if (row >= rows->used)
			rows_begin(rows, q, kind, row);
		rows->format->put_event(rows->to, event, i, rows->places[row]);
	}
}

void dw_device_rows(struct dw_timeline *timeline, const struct dw_device_rows_format *format, void *to)
{
	const struct dw_source *source = timeline->source;
	struct rows rows = { .timeline = timeline, .format = format, .to = to };

	if (!source->events_count || timeline->failed)
		return;
	rows.work = dw_model_device_work(timeline->model, NULL);
	rows.next = calloc(source->device_count + 1, sizeof *rows.next);
	timeline->failed |= !rows.work || !rows.next;
	for (size_t i = 0; !timeline->failed && i < source->device_count; i++)
		rows.next[i] = FURTHER_ROWS;
	for (size_t i = 0; !timeline->failed && i < source->queue_count; i++) {
		const struct dw_source_queue *queue = &source->queues[i];

		if (queue->number != DW_QUEUE_NONE && queue->number >= rows.next[queue->device])
			rows.next[queue->device] = queue->number + 1;
	}
	for (size_t q = 0; !timeline->failed && q < rows.work->queue_count; q++)
		for (enum dw_device_row_kind kind = 0; kind < DW_ROW_KINDS && !timeline->failed; kind++)
			rows_put_queue(&rows, q, kind);
	DW_FREE(rows.next, rows.ends, rows.places);
}
