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

struct streams_stream {
	struct dw_cell device, stream, events, busy_ns, busy_share, overlap_ns, late_ns, short_ns, waiting_ns, late_gaps,
		short_gaps, waiting_gaps, depth, depth_max, depth_points, depth_point_mean, depth_point_deviation, depth_min,
		depth_p25, depth_p50, depth_p75;
};

enum { SEVERAL_DEVICES = DW_HAS_OWN };

static const struct dw_column stream_columns[] = {
	DW_FIELD(struct streams_stream, device, "device", NONE, TEXT, .text_only = SEVERAL_DEVICES),
	DW_FIELD(struct streams_stream, stream, "stream", NONE, TEXT),
	DW_FIELD(struct streams_stream, events, "events", COUNT, INT),
	DW_FIELD(struct streams_stream, busy_ns, "busy", NS, INT),
	DW_FIELD(struct streams_stream, busy_share, "busy share", RATIO, REAL, .of = "the stream's time", .bar = true),
	DW_FIELD(struct streams_stream, overlap_ns, "with others", NS, INT),
	DW_FIELD(struct streams_stream, late_ns, "host late", NS, INT),
	DW_FIELD(struct streams_stream, short_ns, "short gaps", NS, INT),
	DW_FIELD(struct streams_stream, waiting_ns, "waiting", NS, INT),
	DW_FIELD(struct streams_stream, late_gaps, "late gaps", COUNT, INT, .data_only = true),
	DW_FIELD(struct streams_stream, short_gaps, "short gaps", COUNT, INT, .data_only = true),
	DW_FIELD(struct streams_stream, waiting_gaps, "waiting gaps", COUNT, INT, .data_only = true),
	DW_FIELD(struct streams_stream, depth, "mean depth", NONE, REAL),
	DW_FIELD(struct streams_stream, depth_max, "most", COUNT, INT),
	DW_FIELD(struct streams_stream, depth_points, "points", COUNT, INT, .data_only = true),
	DW_FIELD(struct streams_stream, depth_point_mean, "mean of points", NONE, REAL, .data_only = true),
	DW_FIELD(struct streams_stream, depth_point_deviation, "deviation of points", NONE, REAL, .data_only = true),
	DW_FIELD(struct streams_stream, depth_min, "least", COUNT, INT, .data_only = true),
	DW_FIELD(struct streams_stream, depth_p25, "p25", NONE, REAL, .data_only = true),
	DW_FIELD(struct streams_stream, depth_p50, "p50", NONE, REAL, .data_only = true),
	DW_FIELD(struct streams_stream, depth_p75, "p75", NONE, REAL, .data_only = true),
};

struct streams_launch {
	struct dw_cell call, calls, events, call_ns, call_mean_ns, call_p50_ns, call_max_ns, device_ns, device_p50_ns,
		device_max_ns, delay_ns, delay_mean_ns, delay_p50_ns, delay_max_ns, longer_than_device, slow_calls, late_starts;
};

static const struct dw_column launch_columns[] = {
	DW_FIELD(struct streams_launch, call, "call", NONE, TEXT),
	DW_FIELD(struct streams_launch, calls, "calls", COUNT, INT),
	DW_FIELD(struct streams_launch, events, "events", COUNT, INT),
	DW_FIELD(struct streams_launch, call_ns, "in the call", NS, INT),
	DW_FIELD(struct streams_launch, call_mean_ns, "mean", NS, REAL),
	DW_FIELD(struct streams_launch, call_p50_ns, "p50", NS, REAL, .wide_only = true),
	DW_FIELD(struct streams_launch, call_max_ns, "max", NS, INT, .wide_only = true),
	DW_FIELD(struct streams_launch, device_ns, "device", NS, INT),
	DW_FIELD(struct streams_launch, device_p50_ns, "device p50", NS, REAL, .data_only = true),
	DW_FIELD(struct streams_launch, device_max_ns, "device max", NS, INT, .data_only = true),
	DW_FIELD(struct streams_launch, delay_ns, "delay sum", NS, INT, .data_only = true),
	DW_FIELD(struct streams_launch, delay_mean_ns, "delay", NS, REAL),
	DW_FIELD(struct streams_launch, delay_p50_ns, "delay p50", NS, REAL),
	DW_FIELD(struct streams_launch, delay_max_ns, "delay max", NS, INT, .wide_only = true),
	DW_FIELD(struct streams_launch, longer_than_device, "longer than its work", COUNT, INT),
	DW_FIELD(struct streams_launch, slow_calls, "calls over 50 us", COUNT, INT, .data_only = true),
	DW_FIELD(struct streams_launch, late_starts, "delays over 100 us", COUNT, INT, .data_only = true),
};

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
	struct streams_stream row;
	char name[256], number[64];

	row = (struct streams_stream){ .device = DW_STRING(dw_view_device_name(model, queue->device, name)),
		                           .stream = DW_STRING(streams_name(queue, number)),
		                           .events = DW_INT(from->event_count),
		                           .busy_ns = DW_INT(from->busy_ns),
		                           .busy_share = DW_PART(from->busy_ns, span_ns),
		                           .overlap_ns = DW_INT(from->overlap_ns),
		                           .late_ns = DW_INT(gap_ns[0]),
		                           .short_ns = DW_INT(gap_ns[1]),
		                           .waiting_ns = DW_INT(gap_ns[2]),
		                           .late_gaps = DW_INT(gaps[0]),
		                           .short_gaps = DW_INT(gaps[1]),
		                           .waiting_gaps = DW_INT(gaps[2]) };
	if (from->depth.points) {
		row.depth = DW_REAL(from->depth.mean_over_time);
		row.depth_max = DW_INT(from->depth.most);
		row.depth_points = DW_INT(from->depth.points);
		row.depth_point_mean = DW_REAL(from->depth.mean);
		row.depth_point_deviation = DW_REAL(from->depth.deviation);
		row.depth_min = DW_INT(from->depth.least);
		row.depth_p25 = DW_REAL(from->depth.p25);
		row.depth_p50 = DW_REAL(from->depth.p50);
		row.depth_p75 = DW_REAL(from->depth.p75);
	}
	dw_table_put(table, 0, &row, sizeof row);
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
	DW_TABLE_PUT(table, 0, struct streams_launch, .call = DW_STRING(name), .calls = DW_INT(calls),
	             .events = DW_INT(count), .call_ns = DW_INT(call.total), .call_mean_ns = DW_PART(call.total, count),
	             .call_p50_ns = DW_REAL(call.median), .call_max_ns = DW_INT(call.most),
	             .device_ns = DW_INT(device.total), .device_p50_ns = DW_REAL(device.median),
	             .device_max_ns = DW_INT(device.most), .delay_ns = DW_INT(delay.total),
	             .delay_mean_ns = DW_PART(delay.total, count), .delay_p50_ns = DW_REAL(delay.median),
	             .delay_max_ns = DW_INT(delay.most), .longer_than_device = DW_INT(longer), .slow_calls = DW_INT(slow),
	             .late_starts = DW_INT(late));
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
	struct dwell_table *table = DW_VIEW_CHOOSE("streams", launch_columns, 0, error);
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
		dw_table_sort_by(table, "call_ns");
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
	table =
		times ? DW_VIEW_CHOOSE("streams", stream_columns, times->device_count > 1 ? SEVERAL_DEVICES : 0, error) : NULL;
	if (!table)
		return NULL;
	table->part = "streams";
	dw_view_head_bursts(table, work);
	for (size_t i = 0; i < times->queue_count; i++)
		streams_fill_row(table, model, work, &times->queues[i]);
	dw_view_note_device(table, work);
	return dw_view_chain(table, streams_launches(model, work, error));
}

const struct dw_view dw_view_streams = {
	.name = "streams", .question = "how busy was each stream, and was its work submitted in time?",
	.run = streams_view, .limit = 30,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(stream_columns), DW_VIEW_TABLE(launch_columns)),
	.needs_device = true, DW_VIEW_NEEDS_DEVICE,
};
