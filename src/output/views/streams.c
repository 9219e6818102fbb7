/*
 * streams: how busy was each stream of a device, and was work submitted in time?
 *
 * A gap of a stream is the time from the latest end so far to the next begin. It is "host late" if
 * the call that submitted the next event began after the gap did, "short" if it is below 30 us and
 * "waiting" otherwise. The second table has the calls that submitted the work.
 */
#include <stdlib.h>

#include "base/order.h"
#include "model/device/times.h"
#include "views/device.h"

static const struct dw_column stream_columns[] = {
	DW_COLUMN("device", "device", NONE, TEXT),
	DW_COLUMN("stream", "stream", NONE, TEXT),
	DW_COLUMN("events", "events", COUNT, INT),
	DW_COLUMN("busy_ns", "busy", NS, INT),
	DW_COLUMN("busy_share", "busy share", RATIO, REAL, .bar = true),
	DW_COLUMN("overlap_ns", "with others", NS, INT),
	DW_COLUMN("late_ns", "host late", NS, INT),
	DW_COLUMN("short_ns", "short gaps", NS, INT),
	DW_COLUMN("waiting_ns", "waiting", NS, INT),
	DW_COLUMN("late_gaps", "late gaps", COUNT, INT, .data_only = true),
	DW_COLUMN("short_gaps", "short gaps", COUNT, INT, .data_only = true),
	DW_COLUMN("waiting_gaps", "waiting gaps", COUNT, INT, .data_only = true),
	DW_COLUMN("depth", "mean depth", NONE, REAL),
	DW_COLUMN("depth_max", "most", COUNT, INT),
	DW_COLUMN("depth_points", "points", COUNT, INT, .data_only = true),
	DW_COLUMN("depth_point_mean", "mean of points", NONE, REAL, .data_only = true),
	DW_COLUMN("depth_point_deviation", "deviation of points", NONE, REAL, .data_only = true),
	DW_COLUMN("depth_min", "least", COUNT, INT, .data_only = true),
	DW_COLUMN("depth_p25", "p25", NONE, REAL, .data_only = true),
	DW_COLUMN("depth_p50", "p50", NONE, REAL, .data_only = true),
	DW_COLUMN("depth_p75", "p75", NONE, REAL, .data_only = true),
};
enum { S_DEVICE, S_DEPTH = 12, S_COLUMNS = sizeof stream_columns / sizeof *stream_columns };

static const struct dw_column launch_columns[] = {
	DW_COLUMN("call", "call", NONE, TEXT),
	DW_COLUMN("calls", "calls", COUNT, INT),
	DW_COLUMN("events", "events", COUNT, INT),
	DW_COLUMN("call_ns", "in the call", NS, INT),
	DW_COLUMN("call_mean_ns", "mean", NS, REAL),
	DW_COLUMN("call_p50_ns", "p50", NS, REAL, .wide_only = true),
	DW_COLUMN("call_max_ns", "max", NS, INT, .wide_only = true),
	DW_COLUMN("device_ns", "device", NS, INT),
	DW_COLUMN("device_p50_ns", "device p50", NS, REAL, .data_only = true),
	DW_COLUMN("device_max_ns", "device max", NS, INT, .data_only = true),
	DW_COLUMN("delay_ns", "delay sum", NS, INT, .data_only = true),
	DW_COLUMN("delay_mean_ns", "delay", NS, REAL),
	DW_COLUMN("delay_p50_ns", "delay p50", NS, REAL),
	DW_COLUMN("delay_max_ns", "delay max", NS, INT, .wide_only = true),
	DW_COLUMN("longer_than_device", "longer than its work", COUNT, INT),
	DW_COLUMN("slow_calls", "calls over 50 us", COUNT, INT, .data_only = true),
	DW_COLUMN("late_starts", "delays over 100 us", COUNT, INT, .data_only = true),
};
enum { L_NS = 3, L_COLUMNS = sizeof launch_columns / sizeof *launch_columns };

#define SHORT_CALL_NS 50000u  /* a call up to this is short; longer ones are slow */
#define LATE_START_NS 100000u

static const char *streams_name(const struct dw_source_queue *queue, char buffer[64])
{
	if (queue->name)
		return queue->name;
	if (queue->number == DW_QUEUE_NONE)
		return "(none)";
	snprintf(buffer, 64, "%llu", (unsigned long long)queue->number);
	return buffer;
}

static void streams_fill_row(struct dwell_table *table, struct dw_model *model,
                             const struct dw_device_work *work, const struct dw_queue_time *from)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_source_queue *queue = &source->queues[work->queues[from->queue].queue];
	uint64_t span_ns = from->last_ns > from->first_ns ? from->last_ns - from->first_ns : 0;
	const uint64_t *gap_ns = from->gap_ns, *gaps = from->gap_count;
	struct dw_cell *row;
	char name[256], number[64];

	row = DW_TABLE_ROW(table, 0, DW_STRING(dw_view_device_name(model, queue->device, name)),
	                   DW_STRING(streams_name(queue, number)), DW_INT(from->event_count), DW_INT(from->busy_ns),
	                   DW_PART(from->busy_ns, span_ns), DW_INT(from->overlap_ns), DW_INT(gap_ns[0]),
	                   DW_INT(gap_ns[1]), DW_INT(gap_ns[2]), DW_INT(gaps[0]), DW_INT(gaps[1]), DW_INT(gaps[2]));
	if (from->depth.points)
		DW_TABLE_FILL(table, row + S_DEPTH, DW_REAL(from->depth.mean_over_time), DW_INT(from->depth.most),
		              DW_INT(from->depth.points), DW_REAL(from->depth.mean), DW_REAL(from->depth.deviation),
		              DW_INT(from->depth.least), DW_REAL(from->depth.p25), DW_REAL(from->depth.p50),
		              DW_REAL(from->depth.p75));
}

/* ---- launches ------------------------------------------------------------------------------ */

/* One event with its call. */
struct launch {
	uint32_t row;                        /* of the call's name */
	uint32_t call;
	uint64_t call_ns, device_ns, delay_ns; /* delay: from the end of the call to the event's begin */
};

DW_ORDER(streams_compare_launches, struct launch, DW_UP(row) DW_UP(call))

struct sums {
	uint64_t total, most;
	double median;
};

/* Sums the field at `offset` of the launches; `values` has space for one each. */
static struct sums streams_sum(const struct launch *launches, size_t count, size_t offset, uint64_t *values)
{
	struct sums sums = { 0, 0, 0 };

	for (size_t i = 0; i < count; i++) {
		values[i] = *(const uint64_t *)(const void *)((const char *)&launches[i] + offset);
		sums.total += values[i];
	}
	qsort(values, count, sizeof *values, dw_compare_u64);
	sums.most = values[count - 1];
	sums.median = ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
	return sums;
}

static void streams_fill_launch(struct dwell_table *table, const char *name,
                                const struct launch *launches, size_t count, uint64_t *values)
{
	struct sums call = streams_sum(launches, count, offsetof(struct launch, call_ns), values);
	struct sums device = streams_sum(launches, count, offsetof(struct launch, device_ns), values);
	struct sums delay = streams_sum(launches, count, offsetof(struct launch, delay_ns), values);
	int64_t calls = 0, longer = 0, slow = 0, late = 0;

	for (size_t i = 0; i < count; i++) {
		const struct launch *at = &launches[i];

		calls += !i || at->call != at[-1].call;
		longer += at->call_ns <= SHORT_CALL_NS && at->device_ns < at->call_ns;
		slow += at->call_ns > SHORT_CALL_NS;
		late += at->delay_ns > LATE_START_NS;
	}
	DW_TABLE_ROW(table, 0, DW_STRING(name), DW_INT(calls), DW_INT(count),
	             DW_INT(call.total), DW_PART(call.total, count), DW_REAL(call.median), DW_INT(call.most),
	             DW_INT(device.total), DW_REAL(device.median), DW_INT(device.most),
	             DW_INT(delay.total), DW_PART(delay.total, count), DW_REAL(delay.median), DW_INT(delay.most),
	             DW_INT(longer), DW_INT(slow), DW_INT(late));
}

static size_t streams_collect(struct dw_model *model, const struct dw_device_work *work, struct launch *launches)
{
	size_t count = 0;

	for (size_t i = 0; i < work->event_count; i++) {
		const struct dw_device_event *event = &work->events[i];
		const struct dw_device_call *call;

		if (event->call == DW_NO_INDEX || !event->in_scope || work->names[event->name].class == DW_CLASS_COUNT)
			continue;
		call = &work->calls[event->call];
		launches[count++] = (struct launch){
			dw_model_symbol_row(model, call->symbol), event->call, call->end_ns - call->start_ns,
			event->end_ns - event->start_ns,
			event->start_ns > call->end_ns ? event->start_ns - call->end_ns : 0,
		};
	}
	return count;
}

static struct dwell_table *streams_launches(struct dw_model *model, const struct dw_device_work *work,
                                            struct dwell_error *error)
{
	struct dwell_table *table = dw_view_table("streams", launch_columns, L_COLUMNS, error);
	struct launch *launches = malloc((work->event_count + 1) * sizeof *launches);
	uint64_t *values = malloc((work->event_count + 1) * sizeof *values);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	size_t count, to;

	if (table && launches && values) {
		table->part = "launches";
		count = streams_collect(model, work, launches);
		if (count)
			qsort(launches, count, sizeof *launches, streams_compare_launches);
		for (size_t from = 0; from < count; from = to) {
			for (to = from + 1; to < count && launches[to].row == launches[from].row;)
				to++;
			streams_fill_launch(table, symbols[work->calls[launches[from].call].symbol].name,
			                    &launches[from], to - from, values);
		}
		dw_table_sort(table, L_NS);
	} else if (table) {
		table->failed = true;
	}
	free(launches);
	free(values);
	return table;
}

static struct dwell_table *streams_view(struct dw_model *model, const struct dwell_view_options *options,
                                        struct dwell_error *error)
{
	const struct dw_device_work *work;
	const struct dw_device_times *times;
	struct dwell_table *table;

	work = dw_model_device_work(model, error);
	times = work ? dw_model_device_times(model, error) : NULL;
	table = times ? dw_view_table("streams", stream_columns, S_COLUMNS, error) : NULL;
	if (!table)
		return NULL;
	table->part = "streams";
	dw_view_head_bursts(table, work);
	for (size_t i = 0; i < times->queue_count; i++)
		streams_fill_row(table, model, work, &times->queues[i]);
	table->columns[S_DEVICE].data_only = times->device_count < 2;
	dw_view_note_device(table, work);
	return dw_view_chain(table, streams_launches(model, work, error));
}

const struct dw_view dw_view_streams = {
	.name = "streams", .question = "how busy was each stream, and was its work submitted in time?",
	.run = streams_view, .limit = 30,
	.needs_device = true, DW_VIEW_NEEDS_DEVICE,
};
