/*
 * Divides the time of devices; see times.h.
 *
 * Computed from the events of device.h, the counted steps, and the calls of the host that wait for
 * a device. All sums are exact in ns.
 */

#include "base/bisect.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "base/text.h"
#include "dwell/probe.h"
#include "format/device.h"
#include "model/core/product.h"
#include "model/device/sweep.h"
#include "model/steps/steps.h"

const char *dw_device_part_name(enum dw_device_part part)
{
	static const char *const names[] = { DW_DEVICE_PARTS(DW_LIST_TEXT) };

	return names[part];
}

/* Most calls, and most events of a queue, that are searched for one idle interval. Real programs
 * need a few. A file that was made to harm its reader may have any number. */
#define MOST_CALLS 256u

/* A wait of a queue for an event of another queue. Its time is that of the call that requested
 * it. */
struct queue_wait {
	uint32_t queue;
	uint64_t ns;
};

struct times {
	struct dw_model *model;
	const struct dw_device_work *work;
	struct dw_device_times *result;
	uint32_t *syncs;        /* calls that wait for a device, by process and begin */
	size_t sync_count;
	size_t *process_syncs;  /* by process: index of its first one */
	struct queue_wait *waits; /* by queue and begin */
	size_t wait_count;
	uint64_t *sync_end;     /* by sync: the latest end of this one and earlier ones of its process */
	struct dw_map cause_map;
	size_t cause_capacity, step_capacity, device_capacity;
	bool failed;
};

/* ---- calls that wait for a device ---------------------------------------------------------- */

static uint32_t times_process(const struct times *times, const struct dw_device_call *call)
{
	return times->model->source->threads[call->thread].process;
}

static int times_compare_syncs(const void *left, const void *right, void *context)
{
	const struct times *times = context;
	const struct dw_device_call *a = &times->work->calls[*(const uint32_t *)left];
	const struct dw_device_call *b = &times->work->calls[*(const uint32_t *)right];
	uint32_t p = times_process(times, a), q = times_process(times, b);

	if (p != q)
		return p < q ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bool times_find_syncs(struct times *times)
{
	const struct dw_device_work *work = times->work;
	size_t processes = times->model->source->process_count;

	times->syncs = malloc((work->call_count + 1) * sizeof *times->syncs);
	times->sync_end = malloc((work->call_count + 1) * sizeof *times->sync_end);
	times->process_syncs = calloc(processes + 1, sizeof *times->process_syncs);
	if (!times->syncs || !times->process_syncs || !times->sync_end)
		return false;
	for (size_t i = 0; i < work->call_count; i++)
		if (work->calls[i].synchronises)
			times->syncs[times->sync_count++] = (uint32_t)i;
	if (times->sync_count)
		qsort_r(times->syncs, times->sync_count, sizeof *times->syncs, times_compare_syncs, times);
	for (size_t i = 0; i < times->sync_count; i++) {
		const struct dw_device_call *call = &work->calls[times->syncs[i]];
		uint32_t process = times_process(times, call);
		bool first = !i || times_process(times, &work->calls[times->syncs[i - 1]]) != process;

		times->process_syncs[process + 1]++;
		times->sync_end[i] = first || times->sync_end[i - 1] < call->end_ns ? call->end_ns : times->sync_end[i - 1];
	}
	for (size_t i = 0; i < processes; i++)
		times->process_syncs[i + 1] += times->process_syncs[i];
	return true;
}

/* Index in `syncs` of the first one of the process that may end after `ns`. */
static size_t times_first_sync(const struct times *times, uint32_t process, uint64_t ns)
{
	return DW_BISECT(times->process_syncs[process], times->process_syncs[process + 1], i, times->sync_end[i] <= ns);
}

/* The first symbol with the same name, so that shapes and call sites are not distinguished. */
static uint32_t times_first_symbol(const struct times *times, uint32_t symbol)
{
	return times->model->row_symbol[times->model->symbol_row[symbol]];
}

static void times_add_cause(struct times *times, uint32_t call_index, uint64_t ns)
{
	const struct dw_device_call *call = &times->work->calls[call_index];
	struct dw_device_times *result = times->result;
	uint32_t owner = dw_device_owner_of(times->model, times->work, call->owner, 1u << DWELL_CATEGORY_OPERATOR);
	uint32_t call_symbol = times_first_symbol(times, call->symbol);
	uint32_t operator_symbol =
	    owner == DW_NO_INDEX ? DW_NO_INDEX : times_first_symbol(times, times->work->owners[owner].symbol);
	uint32_t hash = dw_map_hash((uint64_t)call_symbol << 32 | operator_symbol);
	uint32_t found = DW_MAP_FIND(&times->cause_map, hash, i,
	                             result->causes[i].call_symbol == call_symbol &&
	                                 result->causes[i].operator_symbol == operator_symbol);

	if (found == DW_MAP_NONE) {
		struct dw_device_cause *cause = DW_GROW(&result->causes, &times->cause_capacity, result->cause_count);

		if (!cause || !dw_map_add(&times->cause_map, hash, (uint32_t)result->cause_count)) {
			times->failed = true;
			return;
		}
		*cause = (struct dw_device_cause){ call_symbol, operator_symbol, 0, 0 };
		found = (uint32_t)result->cause_count++;
	}
	result->causes[found].ns += ns;
	result->causes[found].count++;
}

/* ---- waits for other queues ------------------------------------------------------------------ */

DW_ORDER(times_compare_waits, struct queue_wait, DW_UP(queue) DW_UP(ns))

static bool times_find_waits(struct times *times)
{
	const struct dw_device_work *work = times->work;

	times->waits = malloc((work->event_count + 1) * sizeof *times->waits);
	if (!times->waits)
		return false;
	for (size_t i = 0; i < work->event_count; i++) {
		const struct dw_device_event *event = &work->events[i];

		if (event->kind == DW_DEVICE_SYNC && event->detail == DW_SYNC_QUEUE_WAIT)
			times->waits[times->wait_count++] = (struct queue_wait){
				event->queue, event->call != DW_NO_INDEX ? work->calls[event->call].start_ns
				                                         : event->start_ns };
	}
	DW_SORT(times->waits, times->wait_count, times_compare_waits);
	return true;
}

/* Whether the queue was told to wait between the submission of the event before and of this one. */
static bool times_waited(const struct times *times, const struct dw_device_event *event)
{
	const struct dw_device_work *work = times->work;
	const struct queue_wait *waits = times->waits;
	uint64_t submitted_ns = work->calls[event->call].start_ns, before_ns = 0;
	size_t low = DW_FIRST(i, 0, times->wait_count, waits[i].queue > event->queue ||
	                      (waits[i].queue == event->queue && waits[i].ns > submitted_ns));

	if (!low || times->waits[low - 1].queue != event->queue)
		return false;
	for (const struct dw_device_event *at = event;
	     at > work->events && at[-1].queue == event->queue && event - at < (ptrdiff_t)MOST_CALLS;) {
		at--;
		if (at->call != DW_NO_INDEX && at->call != event->call && work->names[at->name].class != DW_CLASS_COUNT) {
			before_ns = work->calls[at->call].start_ns;
			break;
		}
	}
	return times->waits[low - 1].ns > before_ns;
}

/* ---- dividing an interval ----------------------------------------------------------------------- */

/* An interval that is divided: a step, or a device's span. */
struct interval {
	uint64_t from_ns, to_ns, *part_ns;
	bool is_step;
	bool causes; /* add calls that wait to the causes */
};

/* Divides the idle time from `from` to `to`, which lies before the next work was submitted. */
static void times_divide_late(struct times *times, const struct interval *in, uint32_t process,
                              uint64_t idle_ns, uint64_t from, uint64_t to)
{
	size_t first = times_first_sync(times, process, idle_ns);
	size_t last = times->process_syncs[process + 1];

	if (last - first > MOST_CALLS)
		last = first + MOST_CALLS;
	for (size_t i = first; i < last && from < to; i++) {
		const struct dw_device_call *call = &times->work->calls[times->syncs[i]];
		uint64_t start = call->start_ns > from ? call->start_ns : from, end;

		if (call->start_ns >= to)
			break;
		if (call->end_ns <= from && call->end_ns <= idle_ns)
			continue;
		/* If the host waited when the device ran out of work, no work was left in the queue. */
		end = call->start_ns <= idle_ns && call->end_ns > idle_ns ? to : call->end_ns < to ? call->end_ns : to;
		if (end <= start)
			continue;
		in->part_ns[DW_DEVICE_PART_HOST_LATE] += start - from;
		in->part_ns[DW_DEVICE_PART_SYNC] += end - start;
		if (in->causes)
			times_add_cause(times, times->syncs[i], end - start);
		from = end;
	}
	in->part_ns[DW_DEVICE_PART_HOST_LATE] += to - from;
}

/* Divides the part from `from` to `to` of an idle segment that began at `idle_ns`. */
static void times_divide_idle(struct times *times, const struct interval *in, uint64_t idle_ns,
                              uint32_t next, uint64_t from, uint64_t to)
{
	const struct dw_device_event *event = next != DW_NO_INDEX ? &times->work->events[next] : NULL;
	const struct dw_device_call *call = event && event->call != DW_NO_INDEX ? &times->work->calls[event->call] : NULL;
	uint64_t submitted_ns;

	if (!call || (in->is_step && call->start_ns >= in->to_ns)) {
		in->part_ns[DW_DEVICE_PART_NOTHING] += to - from;
		return;
	}
	submitted_ns = call->start_ns < from ? from : call->start_ns > to ? to : call->start_ns;
	times_divide_late(times, in, times_process(times, call), idle_ns, from, submitted_ns);
	if (submitted_ns < to)
		in->part_ns[times_waited(times, event) ? DW_DEVICE_PART_WAIT : DW_DEVICE_PART_LATENCY] += to - submitted_ns;
}

static enum dw_device_part times_busy_part(uint32_t classes)
{
	if (classes & 1u << DW_CLASS_COMPUTE)
		return DW_DEVICE_PART_COMPUTE;
	return classes & 1u << DW_CLASS_COMMUNICATION ? DW_DEVICE_PART_COMMUNICATION : DW_DEVICE_PART_COPY;
}

/* Gives every ns of the interval to one part. */
static void times_divide(struct times *times, const struct dw_device_segment *segments, size_t count,
                         const struct interval *in)
{
	uint64_t at = in->from_ns;
	/* The first segment that begins after the interval does. */
	size_t low = DW_BISECT(0, count, i, segments[i].start_ns <= at);

	if (!low && count) { /* the interval begins before the first event */
		uint64_t to = segments[0].start_ns < in->to_ns ? segments[0].start_ns : in->to_ns;

		in->part_ns[DW_DEVICE_PART_NOTHING] += to - at;
		at = to;
		low = 1;
	}
	for (size_t i = low - (count != 0); i < count && at < in->to_ns; i++) {
		const struct dw_device_segment *segment = &segments[i];
		uint64_t to = i + 1 < count && segments[i + 1].start_ns < in->to_ns ? segments[i + 1].start_ns : in->to_ns;

		if (segment->classes)
			in->part_ns[times_busy_part(segment->classes)] += to - at;
		else if (in->is_step || !segment->unknown)
			times_divide_idle(times, in, segment->start_ns, segment->next, at, to);
		at = to;
	}
	if (!count)
		in->part_ns[DW_DEVICE_PART_NOTHING] += in->to_ns - at;
}

/* ---- devices and steps ------------------------------------------------------------------------------ */

static void times_sum_segments(struct dw_device_time *device, const struct dw_device_segment *segments, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		uint64_t ns = segments[i].unknown ? 0 : segments[i + 1].start_ns - segments[i].start_ns;

		device->set_ns[segments[i].classes] += ns;
		for (unsigned class = 0; class < DW_CLASS_COUNT; class++)
			if (segments[i].classes >> class & 1)
				device->class_ns[class] += ns;
	}
	if (count) {
		device->first_ns = segments[0].start_ns;
		device->last_ns = segments[count - 1].start_ns;
	}
}

static bool times_add_device(struct times *times, uint32_t index, size_t event_count, bool has_steps)
{
	struct dw_device_times *result = times->result;
	struct dw_device_time *device = DW_GROW(&result->devices, &times->device_capacity, result->device_count);
	struct dw_device_segment *scoped = NULL;
	size_t scoped_count = 0;
	bool partial = dw_model_is_partial(times->model) || times->model->wanted_threads, good;

	if (!device)
		return false;
	result->device_count++;
	device->device = index;
	device->event_count = event_count;
	good = dw_device_sweep(times->work, times->model, index, false, &device->segments, &device->segment_count);
	if (good && partial)
		good = dw_device_sweep(times->work, times->model, index, true, &scoped, &scoped_count);
	if (good) {
		const struct dw_device_segment *segments = partial ? scoped : device->segments;
		size_t count = partial ? scoped_count : device->segment_count;

		times_sum_segments(device, segments, count);
		times_divide(times, segments, count, &(struct interval){ device->first_ns, device->last_ns,
			device->part_ns, false, !has_steps });
	}
	free(scoped);
	return good;
}

/* Events of a class in scope of a device. */
static size_t times_count_events(const struct times *times, uint32_t device)
{
	const struct dw_device_work *work = times->work;
	size_t count = 0;

	for (size_t q = 0; q < work->queue_count; q++) {
		const struct dw_device_queue *queue = &work->queues[q];

		if (times->model->source->queues[queue->queue].device != device)
			continue;
		for (size_t i = queue->first; i < queue->first + queue->count; i++)
			count += work->events[i].in_scope && work->names[work->events[i].name].class != DW_CLASS_COUNT;
	}
	return count;
}

/* A step of the thread that steps, for one device. */
struct device_step {
	uint64_t start_ns, end_ns; /* of the host's step */
	uint64_t done_ns;          /* when the device had ended the work that was submitted in it; 0: there was none */
	uint32_t step;             /* index in the source */
};

DW_ORDER(times_compare_steps, struct device_step, DW_UP(start_ns) DW_UP(step))

/* All steps of the thread, counted or not, in order. The caller frees them. NULL: out of memory. */
static struct device_step *times_list_steps(const struct times *times, uint32_t thread, size_t *count)
{
	const struct dw_source *source = times->model->source;
	struct device_step *steps = calloc(source->step_count + 1, sizeof *steps);

	*count = 0;
	for (size_t i = 0; steps && i < source->step_count; i++)
		if (source->steps[i].thread == thread)
			steps[(*count)++] = (struct device_step){ source->steps[i].start_ns, source->steps[i].end_ns, 0,
				                                      (uint32_t)i };
	DW_SORT(steps, *count, times_compare_steps);
	return steps;
}

/* The queue of the device with most time in events of a class; NULL: none. */
static const struct dw_device_queue *times_busiest_queue(const struct times *times, uint32_t device)
{
	const struct dw_device_work *work = times->work;
	const struct dw_device_queue *busiest = NULL;
	uint64_t most_ns = 0;

	for (size_t q = 0; q < work->queue_count; q++) {
		const struct dw_device_queue *queue = &work->queues[q];
		uint64_t ns = 0;

		if (times->model->source->queues[queue->queue].device != device)
			continue;
		for (size_t i = queue->first; i < queue->first + queue->count; i++)
			if (work->names[work->events[i].name].class != DW_CLASS_COUNT)
				ns += work->events[i].end_ns - work->events[i].start_ns;
		if (ns > most_ns) {
			most_ns = ns;
			busiest = queue;
		}
	}
	return busiest;
}

/* Sets when the device had ended the work of each step. */
static void times_find_done(const struct times *times, uint32_t device, struct device_step *steps, size_t count)
{
	const struct dw_device_work *work = times->work;
	const struct dw_device_queue *queue = times_busiest_queue(times, device);

	for (size_t i = 0; i < count; i++)
		steps[i].done_ns = 0;
	for (size_t i = 0; queue && i < queue->count; i++) {
		const struct dw_device_event *event = &work->events[queue->first + i];
		uint64_t called_ns = event->call != DW_NO_INDEX ? work->calls[event->call].start_ns : 0;
		size_t at = DW_BISECT(0, count, s, steps[s].start_ns <= called_ns);

		if (event->call == DW_NO_INDEX || !at || called_ns >= steps[at - 1].end_ns ||
		    work->names[event->name].class == DW_CLASS_COUNT)
			continue;
		if (event->end_ns > steps[at - 1].done_ns)
			steps[at - 1].done_ns = event->end_ns;
	}
}

/* Whether all that the device did from `from_ns` on, for the step, is recorded. */
static bool times_knows_step(const struct times *times, const struct dw_device_time *device,
                             const struct device_step *step, uint64_t from_ns)
{
	uint32_t process = times->model->source->devices[device->device].process;
	const struct dw_device_gap *gaps = times->work->gaps;
	const struct dw_device_segment *segments = device->segments;
	/* The first gap that ends after the step has begun. */
	size_t next = DW_FIRST(i, 0, times->work->gap_count, gaps[i].process > process ||
	                       (gaps[i].process == process && gaps[i].end_ns > step->start_ns)), at;

	if (next < times->work->gap_count && gaps[next].process == process && gaps[next].start_ns < step->end_ns)
		return false;
	if (!next || gaps[next - 1].process != process)
		return true;
	at = DW_BISECT(0, device->segment_count, i, segments[i].start_ns < gaps[next - 1].end_ns);
	while (at < device->segment_count && !segments[at].classes)
		at++;
	return at < device->segment_count && segments[at].start_ns <= from_ns;
}

static bool times_add_steps_of(struct times *times, const struct dw_step_outline *outline, size_t device,
                               struct device_step *steps, size_t count)
{
	struct dw_device_times *result = times->result;
	uint64_t before_ns = 0;

	times_find_done(times, result->devices[device].device, steps, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t from = steps[i].start_ns > before_ns ? steps[i].start_ns : before_ns;
		uint64_t to = steps[i].done_ns > steps[i].end_ns ? steps[i].done_ns : steps[i].end_ns;

		before_ns = to = to > from ? to : from;
		if (!outline->counted[steps[i].step] || !times_knows_step(times, &result->devices[device], &steps[i], from))
			continue;
		if (!DW_APPEND(&result->steps, &times->step_capacity, &result->step_count,
		               (struct dw_device_step){ steps[i].step, (uint32_t)device, .start_ns = from, .end_ns = to }))
			return false;
		times_divide(times, result->devices[device].segments, result->devices[device].segment_count,
		             &(struct interval){ from, to, result->steps[result->step_count - 1].part_ns, true, true });
	}
	return true;
}

static bool times_add_steps(struct times *times, const struct dw_step_outline *outline)
{
	const struct dw_source *source = times->model->source;
	const uint32_t *threads = dw_model_step_threads(times->model);
	bool good = threads != NULL;

	for (size_t d = 0; d < times->result->device_count && outline->counted_count && good; d++) {
		uint32_t process = source->devices[times->result->devices[d].device].process;
		size_t count;
		struct device_step *steps = times_list_steps(times, threads[process], &count);

		good = steps && times_add_steps_of(times, outline, d, steps, count);
		free(steps);
	}
	return good;
}

DW_ORDER(times_compare_causes, struct dw_device_cause, DW_DOWN(ns) DW_UP(call_symbol) DW_UP(operator_symbol))

static bool times_fill(struct times *times)
{
	const struct dw_device_work *work = times->work;
	const struct dw_source *source = times->model->source;
	const struct dw_step_outline *outline = dw_model_step_outline(times->model, NULL);
	bool good = outline && times_find_syncs(times) && times_find_waits(times);

	for (size_t q = 0; q < work->queue_count && good; q++) {
		uint32_t device = source->queues[work->queues[q].queue].device;
		size_t count;

		if (q && source->queues[work->queues[q - 1].queue].device == device)
			continue;
		count = times_count_events(times, device);
		if (count)
			good = times_add_device(times, device, count, outline->counted_count > 0);
	}
	good = good && times_add_steps(times, outline) && dw_device_queue_times(times->model, work, times->result);
	DW_SORT(times->result->causes, times->result->cause_count, times_compare_causes);
	return good && !times->failed;
}

static bool times_compute(struct dw_model *model, const void *request, void *result)
{
	struct times times = { .model = model, .result = result };
	bool good;

	times.work = dw_model_device_work(model, NULL);
	if (!times.work)
		return false;
	good = !times.work->event_count || times_fill(&times);
	DW_FREE(times.syncs, times.sync_end, times.process_syncs, times.waits);
	dw_map_reset(&times.cause_map);
	return good;
}

static void times_free(void *result)
{
	struct dw_device_times *times = result;

	for (size_t i = 0; i < times->device_count; i++)
		free(times->devices[i].segments);
	DW_FREE(times->devices, times->steps, times->causes, times->queues);
}

DW_PRODUCT(device_times, struct dw_device_times, times_compute, times_free);

DW_PRODUCT_GETTER(device_times, struct dw_device_times)
