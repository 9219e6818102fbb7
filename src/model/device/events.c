/*
 * Reads the events of device chunks, and joins them with their calls.
 *
 * Called once for a model, at the first request. The file has events in any order. They are sorted
 * by queue and begin. Each event has the number of its call; calls_pass.c searches the host's streams
 * for the calls with these numbers.
 */

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "format/decode.h"
#include "format/device.h"
#include "model/device/build.h"

/* ---- keys and names --------------------------------------------------------------------- */

static enum dw_device_class events_class(uint32_t kind, enum dw_family family)
{
	switch (kind) {
	case DW_DEVICE_KERNEL:
	case DW_DEVICE_GRAPH: return family == DW_FAMILY_COMMUNICATION ? DW_CLASS_COMMUNICATION : DW_CLASS_COMPUTE;
	case DW_DEVICE_COPY:
	case DW_DEVICE_SET: return DW_CLASS_COPY;
	default: return DW_CLASS_COUNT;
	}
}

/* The index of the name that `key` identifies. Adds a new name with the given text. -1: out of
 * memory. */
static uint32_t events_put_name(struct dw_device_build *build, uint64_t key, uint32_t kind, const char *text, bool copy)
{
	struct dw_device_work *work = build->work;
	uint32_t hash = dw_map_hash(key);
	uint32_t found = DW_MAP_FIND(&build->name_map, hash, i, build->name_keys[i] == key);
	struct dw_device_name *name;
	uint64_t *place;

	if (found != DW_MAP_NONE)
		return found;
	name = DW_GROW(&work->names, &build->name_capacity, work->name_count);
	place = DW_GROW(&build->name_keys, &build->name_key_capacity, work->name_count);
	if (copy)
		text = dw_arena_text(&build->model->arena, text, strlen(text));
	if (!name || !place || !text || !dw_map_add(&build->name_map, hash, (uint32_t)work->name_count))
		return DW_NO_INDEX;
	*place = key;
	name->name = text;
	name->kind = kind;
	name->family = dw_device_family(kind, text);
	name->class = events_class(kind, name->family);
	return (uint32_t)work->name_count++;
}

static bool events_has_name(uint32_t kind)
{
	return kind == DW_DEVICE_KERNEL || kind == DW_DEVICE_GRAPH || kind == DW_DEVICE_OVERHEAD || kind == DW_DEVICE_RANGE;
}

static uint32_t events_name(struct dw_device_build *build, uint32_t file, const struct dw_device_record_wide *record)
{
	const struct dw_model *model = build->model;
	uint32_t kind = dw_device_kind(&record->record), detail = dw_device_detail(&record->record);
	uint32_t id = events_has_name(kind) ? record->record.name.id : record->name;
	char text[DW_DEVICE_NAME_BYTES];
	uint32_t row;

	if (!id || id >= model->source->files[file].symbol_count)
		return events_put_name(build, (uint64_t)kind << 48 | detail, kind,
		                       dw_device_usual_name(kind, detail & 0x2ff, text), true);
	row = model->symbol_row[model->symbol_by_id[file][id]];
	return events_put_name(build, (uint64_t)1 << 60 | (uint64_t)kind << 48 | row, kind,
	                       model->symbols[model->row_symbol[row]].name, false);
}

/* ---- records ------------------------------------------------------------------------------ */

static bool events_keep_late(struct dw_device_build *build, const struct dw_source_events *chunk,
                             const struct dw_device_record_wide *wide)
{
	const struct dw_device_record *record = &wide->record;
	uint64_t node = record->correlation ? 0 : wide->external;
	uint64_t end_ticks = dw_source_device_ticks(&chunk->clock, record->start_ticks + dw_device_duration(record));
	const struct dw_source_file *file = &build->model->source->files[chunk->file];
	uint32_t id = dw_device_queue(record);

	if (id >= file->symbol_count || file->thread_by_id[id] == DW_NO_INDEX)
		return true;
	return DW_APPEND(&build->lates, &build->late_capacity, &build->late_count,
	                 (struct dw_late_call){ dw_source_device_ticks(&chunk->clock, record->start_ticks), end_ticks,
	                     file->thread_by_id[id], chunk->file, record->name.id, record->correlation, node,
	                     node ? end_ticks : dw_source_device_ticks(&chunk->clock, record->start_ticks) });
}

static bool events_set_key(struct dw_device_build *build, const struct dw_source_events *chunk,
                           const struct dw_device_record_wide *record, struct dw_device_event *event)
{
	bool has_external = record->external && event->kind != DW_DEVICE_MEMORY;
	struct dw_device_key *key = NULL;

	event->call = event->node = DW_NO_INDEX;
	if (event->correlation && has_external) {
		key = dw_device_key_at(build, chunk->process, record->external, DW_KEY_OF_NODE, true);
		if (!key)
			return false;
		event->node = (uint32_t)(key - build->keys);
	}
	if (event->correlation)
		key = dw_device_key_at(build, chunk->process, event->correlation, DW_KEY_OF_DRIVER, true);
	else if (has_external)
		key = dw_device_key_at(build, chunk->process, record->external, DW_KEY_OF_PROGRAM, true);
	else
		return true;
	if (key)
		event->call = (uint32_t)(key - build->keys);
	return key != NULL;
}

/* A record that has been copied. False: out of memory. */
static bool events_take(void *context, const struct dw_source_events *chunk, const struct dw_device_record_wide *record)
{
	struct dw_device_build *build = context;
	const struct dw_source_file *file = &build->model->source->files[chunk->file];
	uint32_t kind = dw_device_kind(&record->record);
	struct dw_device_event *event;
	uint64_t start, end;

	if (record->record.start_ticks > DW_TICKS_MAX || !kind || kind > DW_DEVICE_GAP)
		return true; /* damage, or of a later version */
	if (kind == DW_DEVICE_CALL)
		return events_keep_late(build, chunk, record);
	start = dw_source_device_ticks(&chunk->clock, record->record.start_ticks);
	end = dw_source_device_ticks(&chunk->clock, record->record.start_ticks + dw_device_duration(&record->record));
	if (kind == DW_DEVICE_GAP)
		return dw_device_add_gap(build, chunk->process, dw_source_ns(&file->clock, start), dw_source_ns(&file->clock, end));
	event = DW_GROW(&build->work->events, &build->event_capacity, build->work->event_count);
	if (!event)
		return false;
	event->start_ns = dw_source_ns(&file->clock, start);
	event->end_ns = dw_source_ns(&file->clock, end);
	event->kind = (uint16_t)kind;
	event->detail = (uint16_t)dw_device_detail(&record->record);
	event->correlation = record->record.correlation;
	event->wait_queue = DW_NO_INDEX;
	event->queue = file->queue_by_id[dw_device_queue(&record->record) < file->symbol_count
	                                     ? dw_device_queue(&record->record) : 0];
	if (kind == DW_DEVICE_COPY || kind == DW_DEVICE_SET || kind == DW_DEVICE_MEMORY)
		event->bytes = record->record.bytes;
	if (kind == DW_DEVICE_SYNC && record->record.wait.queue && record->record.wait.queue < file->symbol_count)
		event->wait_queue = file->queue_by_id[record->record.wait.queue];
	if (kind == DW_DEVICE_KERNEL && file->launches && record->record.name.id < file->symbol_count)
		event->launch = file->launches[record->record.name.id];
	event->name = events_name(build, chunk->file, record);
	if (event->name == DW_NO_INDEX || !events_set_key(build, chunk, record, event))
		return false;
	build->work->event_count++;
	if (chunk->clock.error_ns > build->work->clock_error_ns)
		build->work->clock_error_ns = chunk->clock.error_ns;
	return true;
}

DW_ORDER(events_compare_lates, struct dw_late_call, DW_UP(thread) DW_UP(at_ticks))

bool dw_device_read_events(struct dw_device_build *build)
{
	bool good = dw_source_visit_devices(build->model->source, events_take, build);

	DW_SORT(build->lates, build->late_count, events_compare_lates);
	return good;
}

/* ---- order ---------------------------------------------------------------------------------- */

DW_ORDER(events_compare, struct dw_device_event, DW_UP(queue) DW_UP(start_ns) DW_UP(end_ns) DW_UP(correlation))

struct queue_order {
	const struct dw_source *source;
	struct dw_device_queue queue;
};

static int events_compare_queues(const void *left, const void *right)
{
	const struct queue_order *a = left, *b = right;
	const struct dw_source_queue *p = &a->source->queues[a->queue.queue];
	const struct dw_source_queue *q = &b->source->queues[b->queue.queue];
	const struct dw_source_device *d = &a->source->devices[p->device];
	const struct dw_source_device *e = &a->source->devices[q->device];

	if (d->process != e->process)
		return d->process < e->process ? -1 : 1;
	if (p->device != q->device)
		return d->number != e->number ? (d->number < e->number ? -1 : 1) : p->device < q->device ? -1 : 1;
	if (p->number != q->number)
		return p->number < q->number ? -1 : 1;
	return (a->queue.queue > b->queue.queue) - (a->queue.queue < b->queue.queue);
}

static bool events_sort(struct dw_device_build *build)
{
	struct dw_device_work *work = build->work;
	struct queue_order *order = calloc(build->model->source->queue_count + 1, sizeof *order);
	size_t count = 0;

	if (!order)
		return false;
	DW_SORT(work->events, work->event_count, events_compare);
	for (size_t i = 0; i < work->event_count; i++) {
		if (!i || work->events[i].queue != work->events[i - 1].queue)
			order[count++] = (struct queue_order){ build->model->source, { work->events[i].queue, i, 0 } };
		order[count - 1].queue.count++;
	}
	DW_SORT(order, count, events_compare_queues);
	work->queues = dw_arena_alloc(&build->model->arena, (count + 1) * sizeof *work->queues);
	for (size_t i = 0; work->queues && i < count; i++)
		work->queues[i] = order[i].queue;
	work->queue_count = count;
	free(order);
	return work->queues != NULL;
}

/* ---- joining ---------------------------------------------------------------------------------- */

/* Whether an event without a call began in scope. `*at` is the interval of the event before in the
 * same queue, where the search continues; NULL if this event is the first of its queue. */
static bool events_time_in_scope(const struct dw_model *model, const struct dw_device_event *event,
                                 const struct dw_interval **at)
{
	const struct dw_source *source = model->source;
	uint32_t process = source->devices[source->queues[event->queue].device].process;
	uint64_t ticks;

	if (!model->intervals || !model->intervals[process])
		return true;
	if (!*at)
		*at = model->intervals[process];
	ticks = dw_source_ticks(&source->files[source->processes[process].file].clock, event->start_ns);
	while ((*at)->start_ticks != UINT64_MAX && (*at)->end_ticks <= ticks)
		++*at;
	return (*at)->start_ticks <= ticks;
}

/* The first further call of a key. */
static size_t events_first_again(const struct dw_device_build *build, uint32_t key)
{
	return DW_FIRST(i, 0, build->again_count, build->agains[i].key >= key);
}

/* The call of an event: of those with its number the last one before it. A device begins a little before its call by clocks that
 * differ. */
static uint32_t events_call(const struct dw_device_build *build, const struct dw_device_event *event)
{
	const struct dw_device_call *calls = build->work->calls;
	const uint32_t key = event->call;
	uint64_t until_ns = event->start_ns + DW_NUMBERS_AGAIN_NS / 10;
	uint32_t found = key == DW_NO_INDEX ? DW_NO_INDEX : build->keys[key].call;

	if (found == DW_NO_INDEX)
		return found;
	for (size_t i = events_first_again(build, key); i < build->again_count && build->agains[i].key == key; i++)
		if (build->agains[i].start_ns <= until_ns &&
		    (calls[found].start_ns > until_ns || build->agains[i].start_ns > calls[found].start_ns))
			found = build->agains[i].call;
	/* A driver's number of so long ago, or of later, is that of a call which is not in the trace. */
	return calls[found].late && (calls[found].start_ns > until_ns || calls[found].start_ns + DW_NUMBERS_AGAIN_NS < event->start_ns)
	           ? DW_NO_INDEX : found;
}

/* False: out of memory. */
static bool events_join(struct dw_device_build *build)
{
	struct dw_device_work *work = build->work;
	const struct dw_interval *at = NULL;

	for (size_t i = 0; i < work->event_count; i++) {
		struct dw_device_event *event = &work->events[i];
		struct dw_device_call *call;
		bool counts = work->names[event->name].class != DW_CLASS_COUNT;

		event->call = events_call(build, event);
		if (event->call != DW_NO_INDEX && event->node != DW_NO_INDEX && !dw_device_find_node_call(build, event->node, &event->call))
			return false;
		call = event->call != DW_NO_INDEX ? &work->calls[event->call] : NULL;
		if (!i || event->queue != work->events[i - 1].queue)
			at = NULL;
		event->in_scope = call ? call->in_scope : events_time_in_scope(build->model, event, &at);
		work->without_call += !call && counts;
		if (!call)
			continue;
		work->before_call += counts && event->start_ns < call->start_ns;
		call->events++;
		if (!counts)
			continue;
		call->work++;
		call->device_ns += event->end_ns - event->start_ns;
		/* It returned when the copy had ended: the host waited. A short one may have ended meanwhile by chance. */
		call->synchronises |= event->kind == DW_DEVICE_COPY && event->end_ns <= call->end_ns &&
		                      call->end_ns > call->start_ns + DW_LAUNCH_NS;
		if (call->owner != DW_NO_INDEX && event->in_scope)
			work->owners[call->owner].self_ns += event->end_ns - event->start_ns;
	}
	/* Parents have smaller indices. */
	for (size_t i = work->owner_count; i-- > 0;) {
		struct dw_device_owner *owner = &work->owners[i];

		owner->total_ns += owner->self_ns;
		if (owner->parent != DW_NO_INDEX)
			work->owners[owner->parent].total_ns += owner->total_ns;
	}
	return true;
}

/* Finds the forward operator of each backward operator: a backward operator has the sequence number
 * of its forward operator and names its thread. */
static bool events_link(struct dw_device_build *build)
{
	struct dw_device_work *work = build->work;
	struct dw_map map = { NULL, 0, 0 };
	bool good = true;

	for (uint32_t i = 0; i < work->owner_count && good; i++)
		if (work->owners[i].sequence != UINT64_MAX && work->owners[i].forward_thread == DW_NO_INDEX)
			good = dw_map_add(&map, dw_map_hash(work->owners[i].sequence ^ (uint64_t)work->owners[i].thread << 40), i);
	for (uint32_t i = 0; i < work->owner_count && good; i++) {
		struct dw_device_owner *owner = &work->owners[i];
		uint32_t found;

		owner->forward = DW_NO_INDEX;
		if (owner->sequence == UINT64_MAX || owner->forward_thread == DW_NO_INDEX)
			continue;
		found = DW_MAP_FIND(&map, dw_map_hash(owner->sequence ^ (uint64_t)owner->forward_thread << 40), f,
		                    work->owners[f].sequence == owner->sequence &&
		                        work->owners[f].thread == owner->forward_thread);
		owner->forward = found == DW_MAP_NONE ? DW_NO_INDEX : found;
	}
	dw_map_reset(&map);
	return good;
}

uint32_t dw_device_owner_of(const struct dw_model *model, const struct dw_device_work *work,
                            uint32_t owner, uint32_t categories)
{
	uint32_t forward = DW_NO_INDEX;

	for (uint32_t at = owner; at != DW_NO_INDEX; at = work->owners[at].parent) {
		uint32_t category = model->symbols[work->owners[at].symbol].category;

		if (category < 32 && categories >> category & 1)
			return at;
		if (forward == DW_NO_INDEX)
			forward = work->owners[at].forward;
	}
	/* A forward operator's owner has no forward of its own. */
	return forward == DW_NO_INDEX ? DW_NO_INDEX : dw_device_owner_of(model, work, forward, categories);
}

/* ---- the product --------------------------------------------------------------------------------- */

bool dw_device_begin(struct dw_device_build *build, struct dw_model *model, struct dw_device_work *work)
{
	*build = (struct dw_device_build){ .model = model, .work = work };
	build->waits = calloc(model->symbol_count + (size_t)1, sizeof *build->waits);
	build->parts = calloc(model->source->stream_count + 1, sizeof *build->parts);
	if (!build->waits || !build->parts)
		return false;
	for (uint32_t i = 0; i < model->symbol_count; i++)
		build->waits[i] = model->symbols[i].category == DWELL_CATEGORY_RUNTIME &&
		                  dw_device_call_waits(model->symbols[i].name);
	return dw_device_read_events(build) && events_sort(build) && dw_device_end_gaps(build);
}

bool dw_device_end(struct dw_device_build *build)
{
	if (!dw_device_take_parts(build))
		return false;
	return events_join(build) && events_link(build) && dw_device_find_call_threads(build);
}

void dw_device_reset(struct dw_device_build *build)
{
	for (size_t i = 0; build->parts && i < build->model->source->stream_count; i++)
		dw_device_part_reset(&build->parts[i]);
	DW_FREE(build->parts, build->waits, build->keys, build->name_keys, build->lates, build->agains);
	dw_device_nodes_reset(build);
	dw_map_reset(&build->key_map);
	dw_map_reset(&build->name_map);
}

static bool device_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_device_build build;
	bool good;

	if (!model->source->events_count)
		return true;
	good = dw_device_begin(&build, model, result) && dw_device_find_calls(&build) && dw_device_end(&build);
	dw_device_reset(&build);
	return good;
}

static void device_free(void *result)
{
	struct dw_device_work *work = result;

	DW_FREE(work->events, work->names, work->calls, work->owners, work->gaps, work->ranges);
}

DW_PRODUCT(device_work, struct dw_device_work, device_compute, device_free);

DW_PRODUCT_GETTER(device_work, struct dw_device_work)

void dw_device_memories(const struct dw_device_event *event, uint32_t *from, uint32_t *to)
{
	*from = dw_device_source(event->detail);
	*to = dw_device_destination(event->detail);
}
