/*
 * Lines of a device's plane: streams of a GPU and cores of a TPU become events of devices.
 *
 * Called by xspace_planes.c for planes /device:GPU:N and /device:TPU:N. A line of a GPU is a stream whose
 * number is the line's id. Lines that XLA derives from others (modules, steps, framework operators)
 * overlap the kernels; they become ranges of the device in no stream. Planes that dwell's export
 * wrote from threads are threads again: their events have a category of dwell. Those that it wrote from
 * streams name the process in each line, and kind and detail in a stat.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "import/xspace.h"

#define DERIVED_LINE 0xdeadbeefu /* ids from here on are of lines that were derived */
#define MOST_DETAILS 512u

bool xs_is_device_plane(const struct xspace *space)
{
	bool gpu = xs_begins(space->plane_name, "/device:GPU:"), tpu = xs_begins(space->plane_name, "/device:TPU:");

	if (!gpu && !tpu)
		return false;
	for (size_t i = 0; i < space->stat_count; i++)
		if (space->stat_names[i].stat == XS_CATEGORY)
			return false;
	return true;
}

/* The DEVICE id of the current plane, which is a device of the process. */
static uint32_t device_find(struct xspace *space, uint32_t process)
{
	bool tpu = xs_begins(space->plane_name, "/device:TPU:");
	struct xs_text type = space->device_type;
	char plane[64], name[128];

	if (space->device_id && space->device_process == process)
		return space->device_id;
	snprintf(plane, sizeof plane, "%.*s", xspace_at_most(space->plane_name.length, sizeof plane - 1),
	         space->plane_name.bytes);
	snprintf(name, sizeof name, "%.*s", xspace_at_most(type.length, sizeof name - 1), type.bytes);
	space->device_process = process;
	space->device_id = dw_encode_device(&space->processes[process].journal,
	    (uint32_t)strtoul(plane + strlen("/device:GPU:"), NULL, 10), *name ? name : tpu ? "TPU" : "GPU",
	    tpu ? DW_API_TPU : DW_API_CUDA);
	return space->device_id;
}

/* ---- details ------------------------------------------------------------------------------------- */

/* The number behind "WHAT:" in "regs:32 static_shared:0 ..."; false: it is not there. */
static bool device_number(const char *text, const char *what, uint32_t *number)
{
	const char *at = strstr(text, what);
	unsigned long value;

	while (at && at != text && at[-1] != ' ')
		at = strstr(at + 1, what);
	if (!at)
		return false;
	value = strtoul(at + strlen(what), NULL, 10);
	*number = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
	return true;
}

static bool device_size(const char *text, const char *what, uint32_t size[3])
{
	const char *at = strstr(text, what);

	return at && sscanf(at + strlen(what), "%9" SCNu32 ",%9" SCNu32 ",%9" SCNu32, &size[0], &size[1], &size[2]) == 3;
}

static bool device_text(const struct xs_stats *stats, enum xs_stat stat, char *to)
{
	if (!(stats->has >> stat & 1) || !stats->values[stat].is_text)
		return false;
	snprintf(to, MOST_DETAILS, "%.*s", xspace_at_most(stats->values[stat].text.length, MOST_DETAILS - 1),
	         stats->values[stat].text.bytes);
	return true;
}

static uint32_t device_launch(struct xspace *space, const struct xs_stats *stats, uint32_t op)
{
	struct dw_launch_shape shape = { .registers = 0 };
	char text[MOST_DETAILS];
	uint32_t *place, id;
	uint64_t key;

	if (!device_text(stats, XS_KERNEL_DETAILS, text) || !device_size(text, "grid:", shape.grid) ||
	    !device_size(text, "block:", shape.block) || !shape.grid[0])
		return op;
	device_number(text, "regs:", &shape.registers);
	device_number(text, "static_shared:", &shape.static_shared_bytes);
	device_number(text, "dynamic_shared:", &shape.dynamic_shared_bytes);
	key = xs_hash(xs_hash(op, "launch", 6), &shape, sizeof shape);
	place = xs_map_at(&space->launches, key);
	if (!place) {
		space->failed = true;
		return op;
	}
	if (!*place) {
		id = dw_encode_launch(&space->processes[0].journal, op, &shape);
		*place = id;
	}
	return *place;
}

static uint32_t device_memory(const char *text, const char *what)
{
	static const struct { const char *name; uint32_t memory; } known[] = {
		{ "pageable", DW_MEMORY_PAGEABLE }, { "pinned", DW_MEMORY_PINNED }, { "device", DW_MEMORY_DEVICE },
		{ "array", DW_MEMORY_ARRAY }, { "managed", DW_MEMORY_MANAGED }, { "host", DW_MEMORY_HOST },
	};
	const char *at = strstr(text, what);

	for (size_t i = 0; at && i < sizeof known / sizeof *known; i++)
		if (strncmp(at + strlen(what), known[i].name, strlen(known[i].name)) == 0)
			return known[i].memory;
	return DW_MEMORY_UNKNOWN;
}

/* Reads "kind_src:pinned kind_dst:device size:4096" of a copy, or "kind:device size:64" of a set. */
static void device_copy(const struct xs_stats *stats, struct dw_device_event_in *record)
{
	char text[MOST_DETAILS];
	const char *size;

	if (device_text(stats, XS_COPY_DETAILS, text)) {
		record->kind = DW_DEVICE_COPY;
		record->detail = device_memory(text, "kind_src:") | device_memory(text, "kind_dst:") << 4;
	} else if (device_text(stats, XS_SET_DETAILS, text)) {
		record->kind = DW_DEVICE_SET;
		record->detail = device_memory(text, "kind:") << 4;
	} else {
		return;
	}
	size = strstr(text, "size:");
	record->bytes = size ? strtoull(size + strlen("size:"), NULL, 10) : 0;
}

/* Reads what dwell's export says of an event that is no kernel: kind, detail, correlation. */
static void device_said(const struct xs_stats *stats, struct dw_device_event_in *record)
{
	char text[MOST_DETAILS];
	uint32_t kind, detail, correlation;

	if (!device_text(stats, XS_DEVICE_EVENT, text) ||
	    sscanf(text, "%9" SCNu32 " %9" SCNu32 " %10" SCNu32, &kind, &detail, &correlation) != 3 ||
	    kind <= DW_DEVICE_KERNEL || kind > DW_DEVICE_RANGE || kind == DW_DEVICE_MEMORY || detail > UINT16_MAX)
		return;
	record->kind = kind;
	record->detail = detail;
	record->correlation = correlation;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static void device_put(struct xspace *space, const struct xs_event *event, uint32_t queue, bool derived)
{
	static const struct xs_text none = { "", 0 };
	struct dw_device_event_in record = { .kind = derived ? DW_DEVICE_RANGE : DW_DEVICE_KERNEL,
		.queue = queue, .start_ticks = event->start_ns, .duration_ticks = event->end_ns - event->start_ns };
	struct xs_process *process = &space->processes[space->device_process];
	struct xs_stats stats;

	xs_read_stats(space, event->bytes, event->length, &stats);
	if (stats.bad || event->name == UINT32_MAX)
		xspace_count_damage(space, event->bytes);
	if (stats.has >> XS_CORRELATION & 1 && stats.values[XS_CORRELATION].number <= UINT32_MAX)
		record.correlation = (uint32_t)stats.values[XS_CORRELATION].number;
	if (!derived)
		device_copy(&stats, &record);
	device_said(&stats, &record);
	if (record.kind != DW_DEVICE_COPY && record.kind != DW_DEVICE_SET && record.kind != DW_DEVICE_SYNC) {
		record.name = xs_op(space, event->name, DWELL_CATEGORY_DEVICE, none);
		if (record.kind == DW_DEVICE_KERNEL)
			record.name = device_launch(space, &stats, record.name);
	}
	if (!process->device_events.encode)
		dw_encode_events_init(&process->device_events, &process->journal, 0, 0, false);
	dw_encode_event(&process->device_events, &record);
	space->events++;
}

static bool device_is_derived(struct xs_text name, uint64_t id)
{
	static const char *const known[] = { "XLA Modules", "Steps", "Framework Ops", "TensorFlow Ops",
		"Framework Name Scope", "TensorFlow Name Scope", "Source code", "XLA TraceMe", "Step",
		"Launch Stats", "Scalar unit", "XLA Ops Overlay" };

	if (id >= DERIVED_LINE)
		return true;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (xs_is(name, known[i]))
			return true;
	return false;
}

/* The QUEUE id of a line. "Stream #7(Compute)" has the stream's number; lines of the same stream, into
 * which dwell's export divides events that overlap, are one queue. */
static uint32_t device_queue(struct xspace *space, struct xs_text line_name, uint64_t number)
{
	struct { uint64_t device, number; } key;
	char text[256];
	const char *name = text;
	uint32_t process, *place, id;
	int end = 0;

	snprintf(text, sizeof text, "%.*s", xspace_at_most(line_name.length, sizeof text - 1), line_name.bytes);
	process = xs_read_process(space, &name);
	key.device = device_find(space, process);
	if (number != DW_QUEUE_NONE && strncmp(name, "no stream", 9) == 0)
		number = DW_QUEUE_NONE;
	else if (number != DW_QUEUE_NONE && sscanf(name, "Stream #%" SCNu64 "%n", &number, &end) == 1)
		name = name[end] == '\0' || name[end] == ',' ? NULL : name;
	key.number = number;
	if (number == DW_QUEUE_NONE)
		return dw_encode_queue(&space->processes[process].journal, (uint32_t)key.device, number, 0, name);
	place = xs_map_at(&space->queues, xs_hash(0, &key, sizeof key));
	if (!place) {
		space->failed = true;
		return 0;
	}
	if (!*place) {
		id = dw_encode_queue(&space->processes[process].journal, (uint32_t)key.device, number, 0, name);
		*place = id;
	}
	return *place;
}

void xs_put_device_events(struct xspace *space, struct xs_text line_name, uint64_t line, struct xs_thread *events)
{
	bool derived = device_is_derived(line_name, line) ||
	               (xs_is(line_name, "XLA Ops") && xs_begins(space->plane_name, "/device:GPU:"));
	uint32_t queue;

	if (space->lines_kept >= XS_SPARE_LINES + space->size / XS_BYTES_A_LINE) {
		space->lines_dropped++;
		return;
	}
	space->lines_kept++;
	queue = device_queue(space, line_name, derived ? DW_QUEUE_NONE : line);
	for (size_t i = 0; i < events->count && !space->failed; i++)
		device_put(space, &events->events[i], queue, derived);
}
