/*
 * An XSpace file, translated into a trace in memory; see xspace.h.
 *
 * Called by import_any.c. Lines become threads of one process, or of several processes if dwell's
 * export wrote the file. The name of a line contains the name and number of the thread. Invariant:
 * only bytes of the file are read, and memory is bounded by their number.
 */
#include "import/xspace.h"

#include <stdio.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"

#define LATEST_NS ((uint64_t)1 << 61)

/* ---- recognising the format -------------------------------------------------------------- */

/* Whether all bytes have the form of an XSpace; if not, `bad_at` is where they stop having it. */
static bool xspace_has_form(const unsigned char *bytes, size_t size, size_t *bad_at)
{
	struct dw_proto_reader reader = dw_proto_read(bytes, size);
	struct dw_proto_field field;
	const unsigned char *at = reader.at;

	while (dw_proto_next(&reader, &field)) {
		if (field.field > XS_SPACE_HOST || field.wire != DW_PROTO_BYTES)
			break;
		if (field.field == XS_SPACE_PLANE) {
			struct dw_proto_reader plane = dw_proto_read(field.bytes, field.length);
			struct dw_proto_field inside;

			while (dw_proto_next(&plane, &inside))
				if (inside.field >= XS_PLANE_NAME && inside.field <= XS_PLANE_STAT && inside.wire != DW_PROTO_BYTES)
					plane.bad = true;
			if (plane.bad) {
				*bad_at = (size_t)(plane.at - bytes);
				return false;
			}
		}
		at = reader.at;
	}
	*bad_at = (size_t)(at - bytes);
	return !reader.bad && at == reader.end;
}

static bool xspace_ends_in(const char *path, const char *what)
{
	size_t length = strlen(path), tail = strlen(what);

	return length >= tail && strcmp(path + length - tail, what) == 0;
}

/* ---- lines -------------------------------------------------------------------------- */

static void xspace_add_event(struct xspace *space, struct xs_thread *thread, uint64_t line_ns,
                             const struct dw_proto_field *message)
{
	struct dw_proto_reader reader = dw_proto_read(message->bytes, message->length);
	uint64_t name = 0, offset_ps = 0, duration_ps = 0, start_ns;
	struct dw_proto_field field;
	bool aggregated = false;

	while (dw_proto_next(&reader, &field)) {
		if (field.wire != DW_PROTO_VARINT)
			continue;
		switch (field.field) {
		case XS_EVENT_META: name = field.number; break;
		case XS_EVENT_OFFSET_PS: offset_ps = field.number; break;
		case XS_EVENT_DURATION_PS: duration_ps = field.number; break;
		case XS_EVENT_OCCURRENCES: aggregated = true; break;
		}
	}
	space->aggregated += aggregated;
	/* A negative time is a large unsigned one. */
	if (reader.bad || !message->length || message->length > UINT32_MAX || duration_ps > INT64_MAX || offset_ps > INT64_MAX) {
		xspace_count_damage(space, message->bytes);
		return;
	}
	start_ns = line_ns + offset_ps / 1000;
	if (aggregated || start_ns > LATEST_NS) {
		if (!aggregated)
			xspace_count_damage(space, message->bytes);
		return;
	}
	space->failed |= !DW_APPEND(&thread->events, &thread->capacity, &thread->count,
	                            (struct xs_event){ start_ns, line_ns + (offset_ps + duration_ps) / 1000, message->bytes,
	                                (uint32_t)message->length, xs_find_name(space, name) });
}

struct line {
	uint64_t id, timestamp_ns;
	struct xs_text name;
	bool has_events;
};

static struct line xspace_read_line(const struct dw_proto_field *message)
{
	struct dw_proto_reader reader = dw_proto_read(message->bytes, message->length);
	struct line line = { .name = { "", 0 } };
	struct dw_proto_field field;

	while (dw_proto_next(&reader, &field)) {
		if (field.field == XS_LINE_ID && field.wire == DW_PROTO_VARINT)
			line.id = field.number;
		else if (field.field == XS_LINE_TIMESTAMP_NS && field.wire == DW_PROTO_VARINT)
			line.timestamp_ns = field.number <= INT64_MAX ? field.number : 0;
		else if (field.wire == DW_PROTO_BYTES && field.field == XS_LINE_EVENT)
			line.has_events = true;
		else if (field.wire == DW_PROTO_BYTES &&
		         (field.field == XS_LINE_DISPLAY || (field.field == XS_LINE_NAME && !line.name.length)))
			line.name = xs_text_of(&field);
	}
	return line;
}

/* dwell's export writes all allocations on one line, each with the name of its thread's line. */
static struct xs_thread *xspace_memory_thread(struct xspace *space, const struct dw_proto_field *message)
{
	struct xs_stats stats;
	struct xs_text name;
	char line[512];

	xs_read_stats(space, message->bytes, message->length, &stats);
	if (!(stats.has >> XS_THREAD & 1) || !stats.values[XS_THREAD].is_text) {
		xspace_count_damage(space, message->bytes);
		return NULL;
	}
	name = stats.values[XS_THREAD].text;
	snprintf(line, sizeof line, "%.*s (overlapping 0)", xspace_at_most(name.length, 400), name.bytes);
	return xs_find_thread(space, (struct xs_text){ line, strlen(line) }, 0);
}

static void xspace_add_line(struct xspace *space, const struct dw_proto_field *message)
{
	struct dw_proto_reader reader = dw_proto_read(message->bytes, message->length);
	struct line line = xspace_read_line(message);
	struct dw_proto_field field;
	bool memory = line.id == DW_XSPACE_MEMORY_LINE;
	bool steps = space->has_streams && xs_is(line.name, "Steps") && xs_begins(space->plane_name, "/device:TPU:");
	struct xs_thread stream = { .events = NULL }, *thread = NULL;

	if (space->has_streams && !steps)
		thread = &stream;
	else if (line.has_events && !memory)
		thread = xs_find_thread(space, line.name, line.id);
	if (thread)
		thread->steps = steps;

	while (line.has_events && !space->failed && dw_proto_next(&reader, &field)) {
		if (field.field != XS_LINE_EVENT || field.wire != DW_PROTO_BYTES)
			continue;
		if (memory && !space->has_streams)
			thread = xspace_memory_thread(space, &field);
		if (thread)
			xspace_add_event(space, thread, line.timestamp_ns - space->base_ns, &field);
	}
	if (reader.bad)
		xspace_count_damage(space, reader.at);
	if (thread == &stream && stream.count)
		xs_put_device_events(space, line.name, line.id, &stream);
	free(stream.events);
}

/* ---- planes ------------------------------------------------------------------------- */

static struct xs_text xspace_plane_name(struct xs_text plane)
{
	struct dw_proto_reader reader = dw_proto_read(plane.bytes, plane.length);
	struct dw_proto_field field;
	struct xs_text name = { "", 0 };

	while (dw_proto_next(&reader, &field))
		if (field.field == XS_PLANE_NAME)
			name = xs_text_of(&field);
	return name;
}

/* The name of a device, which its plane has as a stat. */
static struct xs_text xspace_device_type(const struct xspace *space, struct xs_text plane)
{
	struct dw_proto_reader reader = dw_proto_read(plane.bytes, plane.length);
	struct dw_proto_field field;
	struct xs_value value;
	struct xs_text text;
	enum xs_stat stat;

	while (dw_proto_next(&reader, &field))
		if (field.field == XS_PLANE_STAT && xs_read_stat(space, xs_text_of(&field), &stat, &text, &value) &&
		    stat == XS_DEVICE_TYPE && value.is_text)
			return value.text;
	return (struct xs_text){ "", 0 };
}

static void xspace_put_plane(struct xspace *space, struct xs_text plane)
{
	struct dw_proto_reader reader = dw_proto_read(plane.bytes, plane.length);
	struct dw_proto_field field;

	space->plane_name = xspace_plane_name(plane);
	space->device = xs_begins(space->plane_name, "/device:") && !xs_begins(space->plane_name, "/device:CUSTOM:");
	xs_read_names(space, plane);
	space->has_streams = xs_is_device_plane(space);
	space->device_id = 0;
	if (space->has_streams)
		space->device_type = xspace_device_type(space, plane);
	while (!space->failed && dw_proto_next(&reader, &field))
		if (field.field == XS_PLANE_LINE)
			xspace_add_line(space, &field);
	for (size_t i = 0; i < space->thread_count && !space->failed; i++)
		xs_put_thread(space, &space->threads[i]);
	for (size_t i = 0; i < space->thread_count; i++)
		free(space->threads[i].events);
	space->thread_count = 0;
	xs_map_reset(&space->keys);
}

/* Finds the start of the first event and the process id, which are needed before the first line. */
static void xspace_scan_plane(struct xspace *space, struct xs_text plane)
{
	struct dw_proto_reader reader = dw_proto_read(plane.bytes, plane.length);
	struct dw_proto_field field;
	struct xs_value value;
	struct xs_text text;
	enum xs_stat stat;

	xs_read_names(space, plane);
	while (dw_proto_next(&reader, &field)) {
		if (field.field == XS_PLANE_LINE) {
			struct line line = xspace_read_line(&field);

			if (line.has_events && line.timestamp_ns < space->base_ns)
				space->base_ns = line.timestamp_ns;
		} else if (field.field == XS_PLANE_STAT &&
		           xs_read_stat(space, xs_text_of(&field), &stat, &text, &value)) {
			if (stat == XS_START_TIME)
				space->start_time_ns = value.number;
			else if (stat == XS_PROCESS_ID && value.number <= INT32_MAX)
				space->pid = (uint32_t)value.number;
		}
	}
}

static void xspace_each_plane(struct xspace *space, void (*task)(struct xspace *, struct xs_text))
{
	struct dw_proto_reader reader = dw_proto_read(space->bytes, space->size);
	struct dw_proto_field field;

	while (!space->failed && dw_proto_next(&reader, &field)) {
		if (field.field == XS_SPACE_PLANE)
			task(space, xs_text_of(&field));
		else if (field.field == XS_SPACE_HOST && !space->host.length)
			space->host = xs_text_of(&field);
	}
}

/* ---- the image ---------------------------------------------------------------------- */

static void xspace_finish(struct xspace *space)
{
	const char *slash = strrchr(space->path, '/');
	uint32_t name = dw_encode_string(&space->processes[0].journal, slash ? slash + 1 : space->path);

	if (space->encode.failed)
		return;
	for (size_t i = 0; i < space->process_count; i++) {
		struct dw_entry_process *entry = dw_encode_process_entry(&space->processes[i].journal);

		if (!entry)
			continue;
		entry->pid = space->processes[i].pid;
		entry->rank = (int32_t)space->processes[i].rank;
		entry->name = name;
		entry->flags = space->python ? DW_PROCESS_PYTHON : 0;
	}
}

static void xspace_translate(struct xspace *space)
{
	struct dw_head *head;

	dw_encode_init(&space->encode, DW_CLOCK_MONOTONIC, 1000000000);
	xs_add_process(space);
	if (space->failed || space->encode.failed)
		return;
	space->base_ns = UINT64_MAX;
	xspace_each_plane(space, xspace_scan_plane);
	if (space->base_ns == UINT64_MAX)
		space->base_ns = 0;
	space->processes[0].pid = space->pid;
	xspace_each_plane(space, xspace_put_plane);
	for (size_t i = 0; i < space->process_count; i++)
		if (space->processes[i].device_events.encode)
			dw_encode_events_close(&space->processes[i].device_events);
	xspace_finish(space);
	if (space->encode.failed)
		return;
	head = dw_encode_head(&space->encode);
	/* The times of some files count from the epoch, of others from the start of the capture. */
	head->start_realtime_ns = space->base_ns > LATEST_NS / 2 ? space->base_ns : space->start_time_ns + space->base_ns;
	snprintf(head->hostname, sizeof head->hostname, "%.*s",
	         xspace_at_most(space->host.length, sizeof head->hostname - 1), space->host.bytes);
	snprintf(head->writer, sizeof head->writer, "XSpace");
}

/* Takes the image, which is mapped like a file. */
static int xspace_finish_result(struct xspace *space, struct dw_import_result *result, struct dwell_error *error)
{
	struct dw_import_result lost = { .note = NULL };

	dw_import_note(&lost, space->arena, space->aggregated, "events are sums without a time, and are left out");
	dw_import_note(&lost, space->arena, space->damaged,
	               dw_arena_printf(space->arena, "events or lines have parts that make no sense and "
	                               "are left out (the first at byte %zu)", space->damaged_at));
	dw_import_note(&lost, space->arena, space->lines_dropped,
	               "lines are left out: there are more than threads of a file of this size");
	dw_import_note(result, space->arena, space->ranges.overlaps, "events overlap others of their line partly");
	dw_import_note(result, space->arena, space->ranges.cut, "of them end where what is around them ends");
	dw_import_note(result, space->arena, space->texts_dropped, "events have more to say than is kept");
	if (!space->failed && !space->encode.failed)
		dw_import_put_losses(&space->processes[0].journal, space->aggregated + space->damaged + space->lines_dropped,
		                     lost.note, result->note);
	if (lost.note)
		result->note = dw_arena_printf(space->arena, "%s%s%s", result->note ? result->note : "", result->note ? "; " : "",
		                               lost.note);
	result->image = space->failed ? NULL : dw_encode_take(&space->encode, &result->image_bytes);
	if (!result->image)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory translating %s (an XSpace of %zu MB)",
		                    space->path, space->size >> 20);
	return 0;
}

static void xspace_reset(struct xspace *space)
{
	dw_encode_reset(&space->encode);
	for (size_t i = 0; i < space->thread_count; i++)
		free(space->threads[i].events);
	DW_FREE(space->threads, space->processes, space->names, space->stat_names);
	dw_ranges_reset(&space->ranges);
	xs_map_reset(&space->ops);
	xs_map_reset(&space->texts);
	xs_map_reset(&space->keys);
	xs_map_reset(&space->owners);
	xs_map_reset(&space->launches);
	xs_map_reset(&space->queues);
}

static int xspace_read_bytes(const struct dw_import_file *file, struct dw_arena *arena,
                             const void *bytes, size_t size, bool packed,
                             struct dw_import_result *result, struct dwell_error *error)
{
	struct xspace space = { .path = file->path, .bytes = bytes, .size = size, .arena = arena, .host = { "", 0 } };
	size_t bad_at = 0;
	int code;

	if (dw_form_is_perfetto(bytes, size))
		return 0;
	if (!xspace_has_form(bytes, size, &bad_at)) {
		if (!xspace_ends_in(file->path, ".xplane.pb") && !xspace_ends_in(file->path, ".xplane.pb.gz"))
			return 0;
		return dw_error_set(error, DWELL_E_CORRUPT,
		                    "%s is a damaged XSpace: byte %zu of %zu%s begins what ends beyond it, or "
		                    "makes no sense; copy it again in binary mode, or capture again",
		                    file->path, bad_at, size, packed ? " (unpacked)" : "");
	}
	xspace_translate(&space);
	code = xspace_finish_result(&space, result, error);
	xspace_reset(&space);
	return code;
}

/* Reads a copy of the file if it has the form of an XSpace: texts are read more than once, and
 * another process may change the file meanwhile. */
static int xspace_read_copy(const struct dw_import_file *file, struct dw_arena *arena,
                            struct dw_import_result *result, struct dwell_error *error)
{
	size_t bad_at = 0, size = file->size_bytes;
	unsigned char *copy;
	int code;

	if (!xspace_has_form((const unsigned char *)file->data, size, &bad_at))
		return xspace_read_bytes(file, arena, file->data, size, false, result, error);
	copy = malloc(size);
	if (!copy)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading %s", file->path);
	dw_copy_shared(copy, file->data, size);
	code = xspace_read_bytes(file, arena, copy, size, false, result, error);
	free(copy);
	return code;
}

int dw_import_xspace(const struct dw_import_file *file, struct dw_arena *arena,
                     struct dw_import_result *result, struct dwell_error *error)
{
	const unsigned char *bytes = (const unsigned char *)file->data;
	unsigned char *unpacked;
	size_t size;
	int code;

	if (file->size_bytes < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b)
		return xspace_read_copy(file, arena, result, error);
	if (!xspace_ends_in(file->path, ".pb.gz"))
		return 0;
	code = dw_import_gunzip(file->path, bytes, file->size_bytes, &unpacked, &size, error);
	if (code)
		return code;
	code = xspace_read_bytes(file, arena, unpacked, size, true, result, error);
	free(unpacked);
	return code;
}
