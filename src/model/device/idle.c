/*
 * Why a device is idle: cuts its time into pieces with one cause each; see idle.h and times.h.
 */
#include "model/device/idle.h"

#include "base/free.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "format/device.h"

/* Most calls, and most events of a queue, that are searched for one idle interval. Real programs
 * need a few. A file that was made to harm its reader may have any number. */
#define MOST_CALLS 256u

/* A wait of a queue for an event of another queue. Its time is that of the call that requested
 * it. */
struct dw_queue_wait {
	uint32_t queue;
	uint64_t ns;
};

/* ---- calls that wait for a device ---------------------------------------------------------- */

static uint32_t idle_process(const struct dw_idle *idle, const struct dw_device_call *call)
{
	return idle->model->source->threads[call->thread].process;
}

static int idle_compare_syncs(const void *left, const void *right, void *context)
{
	const struct dw_idle *idle = context;
	const struct dw_device_call *a = &idle->work->calls[*(const uint32_t *)left];
	const struct dw_device_call *b = &idle->work->calls[*(const uint32_t *)right];
	uint32_t p = idle_process(idle, a), q = idle_process(idle, b);

	if (p != q)
		return p < q ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static bool idle_find_syncs(struct dw_idle *idle)
{
	const struct dw_device_work *work = idle->work;
	size_t processes = idle->model->source->process_count;

	idle->syncs = malloc((work->call_count + 1) * sizeof *idle->syncs);
	idle->sync_end = malloc((work->call_count + 1) * sizeof *idle->sync_end);
	idle->process_syncs = calloc(processes + 1, sizeof *idle->process_syncs);
	if (!idle->syncs || !idle->process_syncs || !idle->sync_end)
		return false;
	for (size_t i = 0; i < work->call_count; i++)
		if (work->calls[i].synchronises)
			idle->syncs[idle->sync_count++] = (uint32_t)i;
	if (idle->sync_count)
		qsort_r(idle->syncs, idle->sync_count, sizeof *idle->syncs, idle_compare_syncs, idle);
	for (size_t i = 0; i < idle->sync_count; i++) {
		const struct dw_device_call *call = &work->calls[idle->syncs[i]];
		uint32_t process = idle_process(idle, call);
		bool first = !i || idle_process(idle, &work->calls[idle->syncs[i - 1]]) != process;

		idle->process_syncs[process + 1]++;
		idle->sync_end[i] = first || idle->sync_end[i - 1] < call->end_ns ? call->end_ns : idle->sync_end[i - 1];
	}
	for (size_t i = 0; i < processes; i++)
		idle->process_syncs[i + 1] += idle->process_syncs[i];
	return true;
}

/* Index in `syncs` of the first one of the process that may end after `ns`. */
static size_t idle_first_sync(const struct dw_idle *idle, uint32_t process, uint64_t ns)
{
	return DW_FIRST(i, idle->process_syncs[process], idle->process_syncs[process + 1], idle->sync_end[i] > ns);
}

/* ---- waits for other queues ------------------------------------------------------------------ */

DW_ORDER(idle_compare_waits, struct dw_queue_wait, DW_UP(queue) DW_UP(ns))

static bool idle_find_waits(struct dw_idle *idle)
{
	const struct dw_device_work *work = idle->work;

	idle->waits = malloc((work->event_count + 1) * sizeof *idle->waits);
	if (!idle->waits)
		return false;
	for (size_t i = 0; i < work->event_count; i++) {
		const struct dw_device_event *event = &work->events[i];

		if (event->kind == DW_DEVICE_SYNC && event->detail == DW_SYNC_QUEUE_WAIT)
			idle->waits[idle->wait_count++] = (struct dw_queue_wait){
				event->queue, event->call != DW_NO_INDEX ? work->calls[event->call].start_ns
				                                         : event->start_ns };
	}
	DW_SORT(idle->waits, idle->wait_count, idle_compare_waits);
	return true;
}

/* Whether the queue was told to wait between the submission of the event before and of this one. */
static bool idle_waited(const struct dw_idle *idle, const struct dw_device_event *event)
{
	const struct dw_device_work *work = idle->work;
	const struct dw_queue_wait *waits = idle->waits;
	uint64_t submitted_ns = work->calls[event->call].start_ns, before_ns = 0;
	size_t low = DW_FIRST(i, 0, idle->wait_count, waits[i].queue > event->queue ||
	                      (waits[i].queue == event->queue && waits[i].ns > submitted_ns));

	if (!low || waits[low - 1].queue != event->queue)
		return false;
	for (const struct dw_device_event *at = event;
	     at > work->events && at[-1].queue == event->queue && event - at < (ptrdiff_t)MOST_CALLS;) {
		at--;
		if (at->call != DW_NO_INDEX && at->call != event->call && work->names[at->name].class != DW_CLASS_COUNT) {
			before_ns = work->calls[at->call].start_ns;
			break;
		}
	}
	return waits[low - 1].ns > before_ns;
}

/* ---- first calls ------------------------------------------------------------------------------- */

/* A call that launches a kernel: of which runtime function, or which kernel, the first one is wanted. */
struct idle_first {
	uint32_t process, what, call;
	bool kernel;
};

struct idle_firsts {
	struct idle_first *at;
	size_t count, capacity;
	struct dw_map map;
};

/* Keeps the earliest call. False: out of memory. */
static bool idle_add_first(const struct dw_idle *idle, struct idle_firsts *firsts, const struct idle_first *from)
{
	const struct dw_device_call *calls = idle->work->calls;
	uint32_t hash = dw_map_hash((uint64_t)from->process << 40 ^ (uint64_t)from->what << 1 ^ from->kernel);
	uint32_t found = DW_MAP_FIND(&firsts->map, hash, i, firsts->at[i].process == from->process &&
	                             firsts->at[i].what == from->what && firsts->at[i].kernel == from->kernel);

	if (found == DW_MAP_NONE)
		return DW_APPEND(&firsts->at, &firsts->capacity, &firsts->count, *from) &&
		       dw_map_add(&firsts->map, hash, (uint32_t)firsts->count - 1);
	if (calls[from->call].start_ns < calls[firsts->at[found].call].start_ns)
		firsts->at[found].call = from->call;
	return true;
}

static bool idle_find_firsts(struct dw_idle *idle)
{
	const struct dw_device_work *work = idle->work;
	struct idle_firsts firsts = { NULL, 0, 0, { NULL, 0, 0 } };
	bool good;

	idle->first = calloc(work->call_count + 1, sizeof *idle->first);
	good = idle->first != NULL;
	for (size_t i = 0; i < work->event_count && good; i++) {
		const struct dw_device_event *event = &work->events[i];
		const struct dw_device_call *call = event->call != DW_NO_INDEX ? &work->calls[event->call] : NULL;
		struct idle_first first = { .call = event->call };

		if (!call || (event->kind != DW_DEVICE_KERNEL && event->kind != DW_DEVICE_GRAPH))
			continue;
		first.process = idle_process(idle, call);
		first.what = idle->model->symbol_row[call->symbol];
		good = idle_add_first(idle, &firsts, &first);
		first.what = event->name;
		first.kernel = true;
		good = good && idle_add_first(idle, &firsts, &first);
	}
	for (size_t i = 0; i < firsts.count && good; i++) {
		const struct dw_device_call *call = &work->calls[firsts.at[i].call];

		idle->first[firsts.at[i].call] = !call->synchronises && call->end_ns > call->start_ns + DW_LAUNCH_NS;
	}
	free(firsts.at);
	dw_map_reset(&firsts.map);
	return good;
}

/* ---- pieces -------------------------------------------------------------------------------------- */

/* The pieces that are made, and the idle time that is cut. */
struct idle_cut {
	const struct dw_idle *idle;
	struct dw_device_pieces *pieces;
	uint32_t first_call; /* which submitted the device's first work */
	bool unknown, failed;
};

static void idle_put(struct idle_cut *cut, uint64_t start, uint64_t end, enum dw_device_part part, uint32_t call)
{
	struct dw_device_pieces *pieces = cut->pieces;

	if (start < end)
		cut->failed |= !DW_APPEND(&pieces->at, &pieces->capacity, &pieces->count,
		                          (struct dw_device_piece){ start, call, part, cut->unknown });
}

/* Cuts the idle time from `from` to `to`, which lies before `next`, the call that submits the next work. */
static void idle_cut_late(struct idle_cut *cut, uint64_t from, uint64_t to, uint32_t next)
{
	const struct dw_idle *idle = cut->idle;
	uint32_t process = idle_process(idle, &idle->work->calls[next]);
	uint64_t idle_ns = from;
	size_t first = idle_first_sync(idle, process, idle_ns), last = idle->process_syncs[process + 1];

	if (last - first > MOST_CALLS)
		last = first + MOST_CALLS;
	for (size_t i = first; i < last && from < to; i++) {
		const struct dw_device_call *call = &idle->work->calls[idle->syncs[i]];
		uint64_t start = call->start_ns > from ? call->start_ns : from, end = call->end_ns;

		if (call->start_ns >= to)
			break;
		if (call->end_ns <= from)
			continue;
		/* The host waited when the device ran out of work. Without the wait it would have come earlier by as much. */
		if (call->start_ns <= idle_ns)
			end = idle_ns + (call->end_ns - call->start_ns);
		end = end < to ? end : to;
		idle_put(cut, from, start, DW_DEVICE_PART_HOST_LATE, next);
		idle_put(cut, start, end, DW_DEVICE_PART_SYNC, idle->syncs[i]);
		from = end;
	}
	idle_put(cut, from, to, DW_DEVICE_PART_HOST_LATE, next);
}

/* Cuts the idle time from `from` to `to`, in which the call that submits the event is made or has been made. */
static void idle_cut_submitted(struct idle_cut *cut, uint64_t from, uint64_t to, const struct dw_device_event *event)
{
	const struct dw_device_call *call = &cut->idle->work->calls[event->call];
	uint64_t end = call->end_ns < to ? call->end_ns : to;

	if (to - from > DW_LAUNCH_NS && end > from) {
		idle_put(cut, from, end, cut->idle->first[event->call] ? DW_DEVICE_PART_FIRST
		                         : call->synchronises          ? DW_DEVICE_PART_SYNC
		                                                       : DW_DEVICE_PART_HOST_LATE, event->call);
		from = end;
	}
	idle_put(cut, from, to, idle_waited(cut->idle, event) ? DW_DEVICE_PART_WAIT
	                        : to - from > DW_LAUNCH_NS    ? DW_DEVICE_PART_QUEUED
	                                                      : DW_DEVICE_PART_LATENCY, event->call);
}

/* Cuts an idle time that the event ends. */
static void idle_cut_gap(struct idle_cut *cut, uint64_t from, uint64_t to, uint32_t next)
{
	const struct dw_device_event *event = next != DW_NO_INDEX ? &cut->idle->work->events[next] : NULL;
	uint64_t submitted;

	if (!event || event->call == DW_NO_INDEX) {
		idle_put(cut, from, to, DW_DEVICE_PART_UNKNOWN, DW_NO_INDEX);
		return;
	}
	submitted = cut->idle->work->calls[event->call].start_ns;
	submitted = submitted < from ? from : submitted > to ? to : submitted;
	idle_cut_late(cut, from, submitted, event->call);
	if (submitted < to)
		idle_cut_submitted(cut, submitted, to, event);
}

static enum dw_device_part idle_busy_part(uint32_t classes)
{
	if (classes & 1u << DW_CLASS_COMPUTE)
		return DW_DEVICE_PART_COMPUTE;
	return classes & 1u << DW_CLASS_COMMUNICATION ? DW_DEVICE_PART_COMMUNICATION : DW_DEVICE_PART_COPY;
}

/* The event that begins first on a device, or NULL. */
static const struct dw_device_event *idle_first_event(const struct dw_idle *idle, uint32_t device, uint64_t start_ns)
{
	const struct dw_device_work *work = idle->work;

	for (size_t q = 0; q < work->queue_count; q++)
		for (size_t i = work->queues[q].first; i < work->queues[q].first + work->queues[q].count; i++) {
			const struct dw_device_event *event = &work->events[i];

			if (event->start_ns > start_ns || idle->model->source->queues[event->queue].device != device)
				break;
			if (event->start_ns == start_ns && work->names[event->name].class != DW_CLASS_COUNT)
				return event;
		}
	return NULL;
}

/* Cuts the time before the device's first work, which may begin late because the device still works for what was submitted before the
 * trace began. */
static void idle_cut_start(struct idle_cut *cut, uint32_t device, uint64_t to)
{
	const struct dw_device_event *event = idle_first_event(cut->idle, device, to);
	uint32_t call = event ? event->call : DW_NO_INDEX;
	const struct dw_device_call *first = call != DW_NO_INDEX && cut->idle->first[call] ? &cut->idle->work->calls[call] : NULL;
	uint64_t start = first && first->start_ns < to ? first->start_ns : to, end = first && first->end_ns < to ? first->end_ns : to;

	cut->first_call = call;
	idle_put(cut, 0, start, DW_DEVICE_PART_START, call);
	idle_put(cut, start, end, DW_DEVICE_PART_FIRST, call);
	idle_put(cut, end, to, DW_DEVICE_PART_START, call);
}

bool dw_idle_cut(const struct dw_idle *idle, uint32_t device, const struct dw_device_segment *segments, size_t count,
                 struct dw_device_pieces *pieces)
{
	struct idle_cut cut = { .idle = idle, .pieces = pieces, .first_call = DW_NO_INDEX };

	if (count)
		idle_cut_start(&cut, device, segments[0].start_ns);
	for (size_t i = 0; i < count; i++) {
		uint64_t end = i + 1 < count ? segments[i + 1].start_ns : UINT64_MAX;

		cut.unknown = segments[i].unknown;
		if (segments[i].classes)
			idle_put(&cut, segments[i].start_ns, end, idle_busy_part(segments[i].classes), DW_NO_INDEX);
		else if (i + 1 == count)
			idle_put(&cut, segments[i].start_ns, end, DW_DEVICE_PART_NOTHING, cut.first_call);
		else
			idle_cut_gap(&cut, segments[i].start_ns, end, segments[i].next);
	}
	return !cut.failed;
}

struct dw_piece_walk dw_device_walk(const struct dw_device_pieces *pieces, uint64_t from_ns, uint64_t to_ns)
{
	struct dw_piece_walk walk = { pieces, from_ns, from_ns, to_ns, 0, { .call = DW_NO_INDEX } };

	walk.next = DW_FIRST(i, 0, pieces->count, pieces->at[i].start_ns > from_ns);
	return walk;
}

bool dw_device_next_piece(struct dw_piece_walk *walk)
{
	const struct dw_device_pieces *pieces = walk->pieces;
	bool more = walk->next < pieces->count;

	walk->from_ns = walk->to_ns;
	if (walk->from_ns >= walk->end_ns)
		return false;
	walk->piece = walk->next ? pieces->at[walk->next - 1] : (struct dw_device_piece){ 0, DW_NO_INDEX, DW_DEVICE_PART_NOTHING, false };
	walk->to_ns = more && pieces->at[walk->next].start_ns < walk->end_ns ? pieces->at[walk->next].start_ns : walk->end_ns;
	walk->next++;
	return true;
}

bool dw_idle_begin(struct dw_idle *idle, const struct dw_model *model, const struct dw_device_work *work)
{
	idle->model = model;
	idle->work = work;
	return idle_find_syncs(idle) && idle_find_waits(idle) && idle_find_firsts(idle);
}

void dw_idle_reset(struct dw_idle *idle)
{
	DW_FREE(idle->syncs, idle->sync_end, idle->process_syncs, idle->waits, idle->first);
}
