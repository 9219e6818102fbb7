/*
 * Converts an event of a device to a record of the image, at once, because these records need no
 * order.
 *
 * Called by chrome_host.c. In Kineto's files a device is written as a process and a stream as a
 * thread. Most records are short. An event with a name or ids of its own goes to a second writer
 * with long records. The process of the devices is known only at the end: it is the process with
 * the runtime calls.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "format/device.h"
#include "import/chrome_match.h"

#define MOST_DEVICES ((size_t)4096)
#define MOST_QUEUES ((size_t)1 << 16)
#define MOST_LAUNCHES ((size_t)1 << 18)

void chrome_devices_reset(struct chrome_devices *devices)
{
	free(devices->devices);
	free(devices->queues);
	free(devices->launches);
	dw_map_reset(&devices->queues_by_key);
	dw_map_reset(&devices->launches_by_key);
	memset(devices, 0, sizeof *devices);
}

/* ---- devices and queues ---------------------------------------------------------------------- */

static uint32_t device_find(struct chrome *chrome, uint32_t number)
{
	struct chrome_devices *all = &chrome->devices;
	struct chrome_device *device;

	for (size_t i = 0; i < all->count; i++)
		if (all->devices[i].number == number)
			return all->devices[i].id;
	device = all->count < MOST_DEVICES ? DW_GROW(&all->devices, &all->capacity, all->count) : NULL;
	if (!device)
		return 0;
	*device = (struct chrome_device){ number, dw_encode_new_id(&chrome->encode) };
	all->count++;
	return device->id;
}

static uint32_t device_queue(struct chrome *chrome, uint32_t number, int64_t stream, uint32_t context)
{
	struct chrome_devices *all = &chrome->devices;
	struct chrome_queue *queue;
	uint32_t hash = dw_map_hash((uint64_t)number << 40 ^ (uint64_t)stream), found, device;

	found = DW_MAP_FIND(&all->queues_by_key, hash, i,
	                    all->queues[i].device == number && all->queues[i].stream == stream);
	if (found != DW_MAP_NONE)
		return all->queues[found].id;
	if (all->queue_count >= MOST_QUEUES)
		return 0;
	device = device_find(chrome, number);
	queue = DW_GROW(&all->queues, &all->queue_capacity, all->queue_count);
	if (!queue || !dw_map_add(&all->queues_by_key, hash, (uint32_t)all->queue_count)) {
		chrome->failed = true;
		return 0;
	}
	all->queue_count++;
	*queue = (struct chrome_queue){ number, stream,
		dw_encode_queue(chrome_journal(chrome), device,
		                stream < 0 ? DW_QUEUE_NONE : (uint64_t)stream, context, NULL) };
	return queue->id;
}

static uint32_t device_number(const struct chrome_event *event)
{
	int64_t number = event->pid.given && !event->pid.is_text ? event->pid.number : 0;

	return (uint32_t)chrome_integer(event, CHROME_DEVICE, number);
}

static uint32_t device_queue_of(struct chrome *chrome, const struct chrome_event *event)
{
	return device_queue(chrome, device_number(event), chrome_stream_of(event),
	                    (uint32_t)chrome_integer(event, CHROME_CONTEXT, 0));
}

/* ---- kernels ----------------------------------------------------------------------------------- */

/* Reads "[8, 16, 5]". */
static bool device_read_size(const struct chrome *chrome, const struct chrome_event *event,
                             enum chrome_arg arg, uint32_t size[3])
{
	struct dw_json json = { .end = chrome->json.end, .last = true };
	struct dw_json_number number;
	const char *at;
	uint64_t value;

	if (!chrome_has(event, arg) || event->values[arg].kind != CHROME_OTHER ||
	    *event->values[arg].text.at != '[')
		return false;
	at = event->values[arg].text.at;
	for (unsigned i = 0; i < 3; i++) {
		at = dw_json_read_number(&json, dw_json_space(at + 1), &number);
		if (!at || !dw_json_u64(&number, &value) || value > UINT32_MAX)
			return false;
		size[i] = (uint32_t)value;
		at = dw_json_space(at);
		if (*at != (i < 2 ? ',' : ']'))
			return false;
	}
	return true;
}

static uint32_t device_launch(struct chrome *chrome, const struct chrome_event *event, uint32_t op)
{
	struct chrome_devices *all = &chrome->devices;
	struct chrome_launch key = { .op = op }, *launch;
	uint32_t hash, found;

	if (event->shape) {
		key.shape = *event->shape;
	} else {
		if (!device_read_size(chrome, event, CHROME_GRID, key.shape.grid) ||
		    !device_read_size(chrome, event, CHROME_BLOCK, key.shape.block))
			return op;
		key.shape.registers = (uint32_t)chrome_integer(event, CHROME_REGISTERS, 0);
		key.shape.dynamic_shared_bytes = (uint32_t)chrome_integer(event, CHROME_SHARED, 0);
	}
	hash = (uint32_t)chrome_hash(chrome->names.seed, &key, sizeof key);
	found = DW_MAP_FIND(&all->launches_by_key, hash, i,
	                    memcmp(&all->launches[i], &key, offsetof(struct chrome_launch, id)) == 0);
	if (found != DW_MAP_NONE)
		return all->launches[found].id;
	if (all->launch_count >= MOST_LAUNCHES)
		return op;
	launch = DW_GROW(&all->launches, &all->launch_capacity, all->launch_count);
	if (!launch || !dw_map_add(&all->launches_by_key, hash, (uint32_t)all->launch_count)) {
		chrome->failed = true;
		return op;
	}
	all->launch_count++;
	*launch = key;
	launch->id = dw_encode_launch(chrome_journal(chrome), op, &key.shape);
	return launch->id;
}

/* ---- copies and waits --------------------------------------------------------------------------- */

/* The memory that a name begins with. */
static uint32_t device_memory(const char *name, size_t length)
{
	static const struct { const char *name; uint32_t memory; } known[] = {
		{ "Pageable", DW_MEMORY_PAGEABLE }, { "Pinned", DW_MEMORY_PINNED },
		{ "Device Static", DW_MEMORY_DEVICE_STATIC }, { "Device", DW_MEMORY_DEVICE },
		{ "Array", DW_MEMORY_ARRAY }, { "Managed Static", DW_MEMORY_MANAGED_STATIC },
		{ "Managed", DW_MEMORY_MANAGED }, { "Host", DW_MEMORY_HOST },
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (length >= strlen(known[i].name) && memcmp(name, known[i].name, strlen(known[i].name)) == 0)
			return known[i].memory;
	return DW_MEMORY_UNKNOWN;
}

/* The detail of "Memcpy HtoD (Pageable -> Device)" or "Memset (Device)". */
static uint32_t device_memories(const struct dw_json_string *name, bool copy)
{
	const char *open = memchr(name->at, '(', name->length), *end = name->at + name->length, *arrow;
	uint32_t detail = 0;

	if (!open)
		return 0;
	arrow = copy ? memmem(open, (size_t)(end - open), " -> ", 4) : NULL;
	if (copy && arrow)
		detail = device_memory(open + 1, (size_t)(arrow - open - 1)) |
		         device_memory(arrow + 4, (size_t)(end - arrow - 4)) << 4;
	else if (!copy)
		detail = device_memory(open + 1, (size_t)(end - open - 1)) << 4;
	if (copy && memmem(name->at, (size_t)(open - name->at), "PtoP", 4))
		detail |= DW_COPY_PEER;
	return detail;
}

static void device_fill_sync(struct chrome *chrome, const struct chrome_event *event,
                             struct dw_device_event_in *record)
{
	static const struct { const char *name; uint32_t detail; } kinds[] = {
		{ "Event Sync", DW_SYNC_EVENT }, { "Stream Wait Event", DW_SYNC_QUEUE_WAIT },
		{ "Stream Sync", DW_SYNC_QUEUE }, { "Context Sync", DW_SYNC_CONTEXT },
		{ "Device Sync", DW_SYNC_DEVICE },
	};
	const struct chrome_value *kind = &event->values[CHROME_SYNC_KIND];
	const struct dw_json_string *name =
	    chrome_has(event, CHROME_SYNC_KIND) && kind->kind == CHROME_TEXT ? &kind->text : &event->name;
	int64_t stream = chrome_integer(event, CHROME_WAIT_STREAM, -1);
	int64_t recorded_by = chrome_integer(event, CHROME_WAIT_CORRELATION, 0);

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (dw_json_is(name, kinds[i].name, strlen(kinds[i].name)))
			record->detail = kinds[i].detail;
	record->event = (uint32_t)chrome_integer(event, CHROME_WAIT_EVENT, 0);
	if (stream >= 0)
		record->wait_queue = device_queue(chrome, device_number(event), stream,
		                                  (uint32_t)chrome_integer(event, CHROME_CONTEXT, 0));
	if (recorded_by > 0 && recorded_by <= UINT32_MAX)
		record->recorded_by = (uint32_t)recorded_by;
}

/* The OP id of the event's name; 0 if the name is the usual one for its kind. */
static uint32_t device_other_name(struct chrome *chrome, const struct chrome_event *event,
                                  const struct dw_device_event_in *record)
{
	char usual[DW_DEVICE_NAME_BYTES];

	dw_device_usual_name(record->kind, record->detail, usual);
	if (dw_json_is(&event->name, usual, strlen(usual)))
		return 0;
	return chrome_op_of(chrome, DWELL_CATEGORY_DEVICE, chrome_text_of(chrome, &event->name), 0, 0, 0, 0);
}

/* ---- events -------------------------------------------------------------------------------------- */

static enum dw_device_kind device_kind(enum chrome_category category)
{
	switch (category) {
	case CHROME_IS_COPY: return DW_DEVICE_COPY;
	case CHROME_IS_SET: return DW_DEVICE_SET;
	case CHROME_IS_SYNC: return DW_DEVICE_SYNC;
	case CHROME_IS_DEVICE_ANNOTATION: return DW_DEVICE_RANGE;
	case CHROME_IS_GRAPH: return DW_DEVICE_GRAPH;
	default: return DW_DEVICE_KERNEL;
	}
}

static void device_put(struct chrome *chrome, const struct dw_device_event_in *record)
{
	bool wide = record->external || record->other_name || record->recorded_by;
	struct dw_encode_events *events = &chrome->devices.events[wide];

	if (!events->encode) {
		/* Members about the file's time may follow, so the clock is tied to the trace's later. */
		if (chrome->file_count > 1 && !chrome->devices.clock)
			chrome->devices.clock = dw_encode_new_id(&chrome->encode);
		dw_encode_events_init(events, chrome_journal(chrome), wide, chrome->devices.clock, wide);
	}
	dw_encode_event(events, record);
}

void chrome_take_device(struct chrome *chrome, const struct chrome_event *event)
{
	uint64_t correlation = chrome_unsigned(event, CHROME_CORRELATION, 0);
	struct dw_device_event_in record = { .kind = device_kind(event->category),
		.duration_ticks = (uint64_t)event->length_ns };

	record.start_ticks = chrome_start_ns(chrome, event);
	record.queue = device_queue_of(chrome, event);
	if (correlation <= UINT32_MAX)
		record.correlation = (uint32_t)correlation;
	else
		record.external = correlation;
	switch (record.kind) {
	case DW_DEVICE_COPY:
	case DW_DEVICE_SET:
		record.detail = device_memories(&event->name, record.kind == DW_DEVICE_COPY);
		record.bytes = chrome_unsigned(event, CHROME_BYTES, 0);
		record.other_name = device_other_name(chrome, event, &record);
		break;
	case DW_DEVICE_SYNC:
		device_fill_sync(chrome, event, &record);
		record.other_name = device_other_name(chrome, event, &record);
		break;
	default:
		record.name = chrome_op_of(chrome, DWELL_CATEGORY_DEVICE, chrome_text_of(chrome, &event->name), 0,
		                           0, 0, 0);
		if (record.kind == DW_DEVICE_KERNEL)
			record.name = device_launch(chrome, event, record.name);
		record.node = (uint32_t)chrome_unsigned(event, CHROME_GRAPH_NODE, 0);
	}
	if (record.kind == DW_DEVICE_KERNEL || record.kind == DW_DEVICE_COPY || record.kind == DW_DEVICE_SET)
		record.external |= chrome_graphs_node(chrome, event);
	device_put(chrome, &record);
}

void chrome_put_node(struct chrome *chrome, const struct chrome_node *node)
{
	device_put(chrome, &(struct dw_device_event_in){ .kind = DW_DEVICE_CALL, .queue = chrome->threads[node->thread].id,
		.start_ticks = (uint64_t)node->begin_ns, .duration_ticks = (uint64_t)(node->made_ns - node->begin_ns),
		.external = node->node });
}

/* ---- at the end ----------------------------------------------------------------------------------- */

/* Reads the members of an element of deviceProperties; returns the place behind it. */
static const char *device_read_properties(struct dw_json *json, const char *at, int64_t *id,
                                          struct dw_json_string *name, int64_t *bytes,
                                          int64_t *processors)
{
	struct dw_json_string key;
	struct dw_json_number number;

	for (at = dw_json_space(at + 1); *at == '"';) {
		int64_t *to;

		at = dw_json_read_string(json, at, &key);
		at = at ? dw_json_space(at) : NULL;
		if (!at || *at != ':')
			return NULL;
		at = dw_json_space(at + 1);
		to = DW_JSON_IS(&key, "id") ? id : DW_JSON_IS(&key, "totalGlobalMem") ? bytes
		     : DW_JSON_IS(&key, "numSms") ? processors : NULL;
		if (to && *at >= '0' && *at <= '9')
			at = dw_json_read_number(json, at, &number), (void)(at && dw_json_i64(&number, to));
		else
			at = DW_JSON_IS(&key, "name") && *at == '"' ? dw_json_read_string(json, at, name)
			                                             : dw_json_skip(json, at);
		at = at ? dw_json_space(at) : NULL;
		if (!at)
			return NULL;
		if (*at == ',')
			at = dw_json_space(at + 1);
	}
	return *at == '}' ? at + 1 : NULL;
}

/* Writes the DEVICE entry of a number, with its members of deviceProperties. */
static void device_write(struct chrome *chrome, const struct chrome_device *device, uint32_t process)
{
	struct chrome_devices *all = &chrome->devices;
	const char *properties = all->properties ? all->properties : "";
	struct dw_json json = { .end = properties + all->properties_length, .last = true };
	struct dw_json_string name = { "", 0, false };
	int64_t bytes = 0, processors = 0;
	const char *at = *properties ? dw_json_space(properties + 1) : "";
	struct dw_entry_device *entry;
	uint32_t text;

	while (*at == '{') {
		struct dw_json_string found = { "", 0, false };
		int64_t id = -1, found_bytes = 0, found_processors = 0;

		at = device_read_properties(&json, at, &id, &found, &found_bytes, &found_processors);
		if (id == device->number) {
			name = found;
			bytes = found_bytes;
			processors = found_processors;
		}
		if (!at)
			break;
		at = dw_json_space(at);
		if (*at == ',')
			at = dw_json_space(at + 1);
	}
	text = chrome_string(chrome, chrome_text_of(chrome, &name));
	entry = dw_encode_entry(chrome_journal(chrome), DW_ENTRY_DEVICE, device->id, process, sizeof *entry);
	if (!entry)
		return;
	entry->number = device->number;
	entry->name = text;
	entry->api = all->hip ? DW_API_HIP : DW_API_CUDA;
	entry->processors = processors > 0 ? (uint32_t)processors : 0;
	entry->memory_bytes = bytes > 0 ? (uint64_t)bytes : 0;
}

void chrome_devices_finish(struct chrome *chrome)
{
	struct chrome_devices *all = &chrome->devices;
	uint64_t ticks = (uint64_t)chrome->first_ns;
	size_t owner = chrome->first_process;

	for (size_t i = owner; i < chrome->process_count; i++)
		if (chrome->processes[i].calls > chrome->processes[owner].calls)
			owner = i;
	if (all->clock)
		dw_encode_device_clock(chrome_journal(chrome), all->clock, ticks, ticks + chrome->offset_ns,
		                       1000000000, 0);
	for (size_t i = 0; i < all->count; i++)
		device_write(chrome, &all->devices[i], chrome->processes[owner].journal.id);
	for (unsigned i = 0; i < 2; i++)
		if (all->events[i].encode)
			dw_encode_events_close(&all->events[i]);
	for (uint32_t block = chrome->first_block; owner && block < chrome->encode.blocks; block++)
		if (dw_encode_chunk(&chrome->encode, block)->type == DW_CHUNK_DEVICE)
			dw_encode_chunk(&chrome->encode, block)->process = chrome->processes[owner].journal.id;
}
