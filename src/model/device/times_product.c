/*
 * Divides the time of devices; see times.h.
 *
 * A device's time is cut into pieces, each with one part (idle.h); steps and spans are sums of them. All sums are exact
 * in ns.
 */

#include "base/free.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "base/text.h"
#include "dwell/probe.h"
#include "format/device.h"
#include "model/core/product.h"
#include "model/device/idle.h"
#include "model/device/sweep.h"
#include "model/steps/steps.h"

const char *dw_device_part_name(enum dw_device_part part)
{
	static const char *const names[] = { DW_DEVICE_PARTS(DW_LIST_TEXT) };

	return names[part];
}

struct times {
	struct dw_model *model;
	const struct dw_device_work *work;
	struct dw_device_times *result;
	struct dw_idle *idle;
	struct dw_map cause_map;
	size_t cause_capacity, step_capacity, device_capacity;
	bool failed;
};

/* ---- calls that wait for a device ---------------------------------------------------------- */

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

/* ---- dividing an interval ----------------------------------------------------------------------- */

/* An interval that is divided: a step, or a device's span. */
struct interval {
	uint64_t from_ns, to_ns, *part_ns;
	bool is_step;
	bool causes; /* add calls that wait to the causes */
};

/* Gives every ns of the interval to one part. */
static void times_divide(struct times *times, const struct dw_device_pieces *pieces, const struct interval *in)
{
	struct dw_piece_walk walk = dw_device_walk(pieces, in->from_ns, in->to_ns);

	while (dw_device_next_piece(&walk)) {
		uint64_t ns = walk.to_ns - walk.from_ns;

		if (walk.piece.unknown && !in->is_step)
			continue;
		in->part_ns[walk.piece.part] += ns;
		if (in->causes && walk.piece.part == DW_DEVICE_PART_SYNC)
			times_add_cause(times, walk.piece.call, ns);
	}
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
	struct dw_device_pieces scoped_pieces = { .count = 0 };
	bool partial = dw_model_is_partial(times->model) || times->model->wanted_threads, good;

	if (!device)
		return false;
	result->device_count++;
	device->device = index;
	device->event_count = event_count;
	good = dw_device_sweep(times->work, times->model, index, false, &device->segments, &device->segment_count);
	good = good && dw_idle_cut(times->idle, index, device->segments, device->segment_count, &device->pieces);
	if (good && partial)
		good = dw_device_sweep(times->work, times->model, index, true, &scoped, &scoped_count) &&
		       dw_idle_cut(times->idle, index, scoped, scoped_count, &scoped_pieces);
	if (good) {
		times_sum_segments(device, partial ? scoped : device->segments, partial ? scoped_count : device->segment_count);
		times_divide(times, partial ? &scoped_pieces : &device->pieces,
		             &(struct interval){ device->first_ns, device->last_ns, device->part_ns, false, !has_steps });
	}
	DW_FREE(scoped, scoped_pieces.at);
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
		size_t at = DW_FIRST(s, 0, count, steps[s].start_ns > called_ns);

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
	at = DW_FIRST(i, 0, device->segment_count, segments[i].start_ns >= gaps[next - 1].end_ns);
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
		times_divide(times, &result->devices[device].pieces,
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
	bool good = outline && dw_idle_begin(times->idle, times->model, work);

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
	struct dw_idle idle = { .model = NULL };
	struct times times = { .model = model, .result = result, .idle = &idle };
	bool good;

	times.work = dw_model_device_work(model, NULL);
	if (!times.work)
		return false;
	good = !times.work->event_count || times_fill(&times);
	dw_idle_reset(&idle);
	dw_map_reset(&times.cause_map);
	return good;
}

static void times_free(void *result)
{
	struct dw_device_times *times = result;

	for (size_t i = 0; i < times->device_count; i++)
		DW_FREE(times->devices[i].segments, times->devices[i].pieces.at);
	DW_FREE(times->devices, times->steps, times->causes, times->queues);
}

DW_PRODUCT(device_times, struct dw_device_times, times_compute, times_free);

DW_PRODUCT_GETTER(device_times, struct dw_device_times)
