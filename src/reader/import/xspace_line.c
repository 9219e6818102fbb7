/*
 * The events of one thread in order, as records of a stream.
 *
 * Called by xspace_planes.c when the lines of a plane were read. ranges.h describes how overlapping events
 * are written.
 */

#include "base/grow.h"
#include "base/order.h"
#include "import/xspace.h"

#define MOST_TEXTS 100000u
#define SPARE_TEXT_BYTES ((size_t)16 << 20) /* of texts of events, beyond the size of the file */

static bool line_has(const struct xs_stats *stats, enum xs_stat stat)
{
	return stats->has >> stat & 1;
}

static struct xs_text line_text(const struct xs_stats *stats, enum xs_stat stat)
{
	return line_has(stats, stat) && stats->values[stat].is_text ? stats->values[stat].text : (struct xs_text){ "", 0 };
}

DW_ORDER(line_compare_events, struct xs_event, DW_UP(start_ns) DW_DOWN(end_ns) DW_UP(bytes))

static void line_sort(struct xs_thread *thread)
{
	for (size_t i = 1; i < thread->count; i++)
		if (line_compare_events(&thread->events[i - 1], &thread->events[i]) > 0) {
			qsort(thread->events, thread->count, sizeof *thread->events, line_compare_events);
			return;
		}
}

/* ---- records ------------------------------------------------------------------------ */

static void line_put_u64s(struct xs_thread *to, uint64_t ns, enum dw_kind kind, uint32_t op,
                          const uint64_t *values, unsigned count)
{
	dw_encode_record(&to->stream, ns, kind, op, values, count * 2);
}

static void line_put_memory(struct xspace *space, struct xs_thread *to, const struct xs_event *event,
                            const struct xs_stats *stats, enum xs_role role)
{
	static const struct xs_text memory = { "memory", 6 };
	struct xs_text region = line_text(stats, XS_REGION);
	enum xs_stat bytes = line_has(stats, XS_ALLOCATION) ? XS_ALLOCATION : XS_REQUESTED;
	uint64_t values[2] = { stats->values[XS_ADDRESS].number,
		                   line_has(stats, bytes) ? stats->values[bytes].number : 0 };
	uint32_t op = xs_op_text(space, DWELL_CATEGORY_ALLOCATION, region.length ? region : memory,
	                         line_text(stats, XS_ALLOCATOR));

	line_put_u64s(to, event->start_ns, role == XS_ALLOC ? DW_ALLOC : DW_FREE, op, values, role == XS_ALLOC ? 2 : 1);
}

static void line_put_flows(struct xspace *space, struct xs_thread *to, const struct xs_event *event,
                           const struct xs_stats *stats)
{
	static const struct xs_text context = { "XLA context", 11 }, none = { "", 0 };
	uint64_t handle;
	uint32_t op;

	/* A number joins a call with the events of devices; their arrow says the same. */
	if (line_has(stats, XS_FLOW) && !line_has(stats, XS_CORRELATION)) {
		uint64_t flow = stats->values[XS_FLOW].number;

		handle = flow >> 2 & 0xffffffffffffff;
		op = xs_op(space, event->name, DWELL_CATEGORY_FLOW, none);
		if (flow & 2)
			line_put_u64s(to, event->start_ns, DW_FLOW_OUT, op, &handle, 1);
		if (flow & 1)
			line_put_u64s(to, event->start_ns, DW_FLOW_IN, op, &handle, 1);
	}
	for (unsigned in = 0; in < 2; in++) {
		enum xs_stat id = in ? XS_CONSUMER : XS_PRODUCER;
		enum xs_stat type = in ? XS_CONSUMER_TYPE : XS_PRODUCER_TYPE;
		uint64_t key[2];

		if (!line_has(stats, id) || (line_has(stats, type) && stats->values[type].number == DW_XSPACE_STEP_CONTEXT))
			continue;
		key[0] = stats->values[id].number;
		key[1] = line_has(stats, type) ? stats->values[type].number : 0;
		handle = xs_hash(0, key, sizeof key);
		op = xs_op_text(space, DWELL_CATEGORY_FLOW, context, none);
		line_put_u64s(to, event->start_ns, in ? DW_FLOW_IN : DW_FLOW_OUT, op, &handle, 1);
	}
}

static void line_put_args(struct xspace *space, struct xs_thread *to, const struct xs_event *event,
                          const struct xs_stats *stats)
{
	size_t length = strlen(stats->args), count = space->texts.count;
	uint32_t id;

	if (!length)
		return;
	if (space->args_count >= MOST_TEXTS || space->args_bytes > space->size + SPARE_TEXT_BYTES) {
		space->texts_dropped++;
		return;
	}
	id = xs_string(space, stats->args);
	if (space->texts.count > count) {
		space->args_count++;
		space->args_bytes += length;
	}
	dw_encode_record(&to->stream, event->start_ns, DW_ARGS, id, NULL, 0);
}

static void line_put_range(struct xspace *space, struct xs_thread *to, const struct xs_event *event,
                           const struct xs_stats *stats, uint32_t category, struct xs_text detail)
{
	uint32_t op = xs_op(space, event->name, category, detail), link[3] = { 0, 0, 0 };
	uint64_t handle;

	if (line_has(stats, XS_ASYNC)) {
		/* ASYNC_END takes the OP id of its range from the low bits of the handle. */
		handle = (uint64_t)++space->async_count << 28 | op;
		line_put_u64s(to, event->start_ns, DW_ASYNC_BEGIN, op, &handle, 1);
		if (!line_has(stats, XS_OPEN))
			dw_ranges_push(&space->ranges, event->end_ns, handle);
		return;
	}
	dw_encode_begin(&to->stream, event->start_ns, op);
	if (category == DWELL_CATEGORY_RUNTIME && line_has(stats, XS_CORRELATION))
		dw_encode_correlation(&to->stream, (uint32_t)stats->values[XS_CORRELATION].number);
	if (line_has(stats, XS_SEQUENCE)) {
		memcpy(link, &stats->values[XS_SEQUENCE].number, 8);
		dw_encode_record(&to->stream, event->start_ns, DW_LINK, 0, link, 3);
	}
	line_put_args(space, to, event, stats);
	dw_ranges_push(&space->ranges, event->end_ns, 0);
	line_put_flows(space, to, event, stats);
}

/* A step of a TPU: the name of its event is the number. */
static bool line_put_device_step(struct xspace *space, struct xs_thread *to,
                                 const struct xs_event *event, uint64_t *step_end_ns)
{
	struct xs_text name = event->name == UINT32_MAX ? (struct xs_text){ "", 0 } : space->names[event->name].name;
	uint64_t number = 0;

	if (!name.length || name.length > 18 || event->end_ns == event->start_ns || event->start_ns < *step_end_ns)
		return false;
	for (size_t i = 0; i < name.length; i++) {
		if (name.bytes[i] < '0' || name.bytes[i] > '9')
			return false;
		number = number * 10 + (uint64_t)(name.bytes[i] - '0');
	}
	*step_end_ns = event->end_ns;
	dw_encode_step(&space->processes[to->process].journal, to->thread, number, event->start_ns,
	               event->end_ns, 0, DW_STEP_RECORDED);
	return true;
}

/* Writes an event as a step if it is one and does not begin within another step. */
static bool line_put_step(struct xspace *space, struct xs_thread *to, const struct xs_event *event,
                          const struct xs_stats *stats, uint64_t *step_end_ns)
{
	if (to->steps)
		return line_put_device_step(space, to, event, step_end_ns);
	if (!line_has(stats, XS_STEP_NUM) || stats->values[XS_STEP_NUM].is_text ||
	    stats->values[XS_STEP_NUM].number > INT64_MAX || event->end_ns == event->start_ns ||
	    event->start_ns < *step_end_ns || space->device)
		return false;
	*step_end_ns = event->end_ns;
	dw_encode_step(&space->processes[to->process].journal, to->thread,
	               stats->values[XS_STEP_NUM].number, event->start_ns, event->end_ns, 0, DW_STEP_RECORDED);
	return true;
}

static void line_put_event(struct xspace *space, struct xs_thread *to, const struct xs_event *event,
                           uint64_t *step_end_ns)
{
	static const struct xs_name unknown = { .name = { "", 0 }, .category = -1 };
	const struct xs_name *name = event->name == UINT32_MAX ? &unknown : &space->names[event->name];
	bool moment = event->end_ns == event->start_ns;
	int category = name->category;
	struct xs_text detail = { "", 0 };
	struct xs_stats stats;

	xs_read_stats(space, event->bytes, event->length, &stats);
	if (stats.bad)
		xspace_count_damage(space, event->bytes);
	if ((name->role == XS_ALLOC || name->role == XS_FREE) && line_has(&stats, XS_ADDRESS)) {
		line_put_memory(space, to, event, &stats, name->role);
	} else if (to->counters) {
		if (line_has(&stats, XS_VALUE))
			dw_encode_record(&to->stream, event->start_ns, DW_COUNTER,
			                 xs_op(space, event->name, DWELL_CATEGORY_COUNTER, detail),
			                 stats.values[XS_VALUE].is_double
			                     ? (const void *)&stats.values[XS_VALUE].real
			                     : (const void *)&(double){ (double)(int64_t)stats.values[XS_VALUE].number },
			                 2);
	} else if (line_put_step(space, to, event, &stats, step_end_ns)) {
		line_put_flows(space, to, event, &stats);
	} else if (name->role == XS_LINK && line_has(&stats, XS_FLOW)) {
		return; /* the sequence numbers of the ranges link them already */
	} else if ((moment && line_has(&stats, XS_FLOW) && !line_has(&stats, XS_CORRELATION)) ||
	           (line_has(&stats, XS_CONSUMER) && xs_begins(name->name, "end: "))) {
		line_put_flows(space, to, event, &stats);
	} else if (category == DWELL_CATEGORY_MARK || (category < 0 && moment)) {
		dw_encode_record(&to->stream, event->start_ns, DW_MARK,
		                 xs_op(space, event->name, DWELL_CATEGORY_MARK, detail), NULL, 0);
		line_put_flows(space, to, event, &stats);
	} else {
		if (category < 0)
			category = line_has(&stats, XS_HLO_OP) || line_has(&stats, XS_TF_OP) ? DWELL_CATEGORY_OPERATOR
			                                                          : DWELL_CATEGORY_ZONE;
		if (!space->device && name->category < 0 && line_has(&stats, XS_CORRELATION) &&
		    stats.values[XS_CORRELATION].number <= UINT32_MAX)
			category = DWELL_CATEGORY_RUNTIME;
		if (line_has(&stats, XS_HLO_OP))
			detail = line_text(&stats, XS_HLO_MODULE);
		line_put_range(space, to, event, &stats, (uint32_t)category, detail);
	}
}

void xs_put_thread(struct xspace *space, struct xs_thread *thread)
{
	uint64_t step_end_ns = 0;

	line_sort(thread);
	for (size_t i = 0; i < thread->count && !space->failed; i++) {
		dw_ranges_close_until(&space->ranges, &thread->stream, thread->events[i].start_ns);
		line_put_event(space, thread, &thread->events[i], &step_end_ns);
	}
	dw_ranges_close_until(&space->ranges, &thread->stream, UINT64_MAX);
	space->failed |= space->ranges.failed;
	dw_encode_close(&thread->stream);
	space->events += thread->count;
	free(thread->events);
	thread->events = NULL;
	thread->count = thread->capacity = 0;
}
