/*
 * The packets of a Perfetto trace; see perfetto_packets.h.
 *
 * Called by perfetto.c and perfetto_device.c. Interned names are numbered by symbol and category,
 * from 1, then by name and kind of devices' events. Field numbers are those of Perfetto's trace protos.
 */

#include "base/grow.h"
#include "export/perfetto_packets.h"

#define SEQUENCE 1u
#define CLOCK_REALTIME 1u
#define CLOCK_BOOTTIME 6u /* the default clock of timestamps */
#define UNIT_BYTES 3u
#define DEVICE 0x80000000u
#define LINK_IDS ((uint64_t)1 << 62) /* ids of links differ from those of other arrows */
#define LAUNCH_IDS ((uint64_t)1 << 61)
#define DEVICE_CATEGORIES 65u /* ids of devices' categories follow those of the host's */

enum { TRACE_PACKET = 1 };
enum { CLOCK_SNAPSHOT = 6, TIMESTAMP = 8, SEQUENCE_ID = 10, TRACK_EVENT = 11, INTERNED_DATA = 12,
	   SEQUENCE_FLAGS = 13, TRACK_DESCRIPTOR = 60 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { UUID = 1, NAME = 2, PROCESS = 3, THREAD = 4, PARENT_UUID = 5, COUNTER = 8 };
enum { PID = 1, PROCESS_NAME = 6, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, COUNTER_UNIT_NAME = 6 };
enum { EVENT_CATEGORIES = 3, EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_NAME_ID = 10,
	   EVENT_TRACK = 11, EVENT_NAME = 23, EVENT_VALUE = 30, EVENT_DOUBLE = 44, EVENT_FLOW = 47,
	   EVENT_FLOW_END = 48 };
enum { ANNOTATION_UINT = 3, ANNOTATION_STRING = 6, ANNOTATION_JSON = 9, ANNOTATION_NAME = 10 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2 };

struct dw_perfetto_counter {
	uint64_t track;
	uint32_t process, key; /* what it counts: a symbol, or the number of a device | DEVICE */
};

void dw_perfetto_init(struct dw_perfetto *perfetto, struct dw_timeline *timeline)
{
	*perfetto = (struct dw_perfetto){ .timeline = timeline };
	perfetto->interned = calloc(timeline->symbol_count + 1, sizeof *perfetto->interned);
	timeline->failed |= !perfetto->interned;
}

void dw_perfetto_reset(struct dw_perfetto *perfetto)
{
	dw_proto_reset(&perfetto->message);
	dw_map_reset(&perfetto->counter_map);
	free(perfetto->interned);
	free(perfetto->counters);
}

/* ---- packets ----------------------------------------------------------------------------- */

static size_t perfetto_open_packet(struct dw_perfetto *perfetto)
{
	size_t at = dw_proto_open(&perfetto->message, TRACE_PACKET);

	dw_proto_u64(&perfetto->message, SEQUENCE_ID, SEQUENCE);
	dw_proto_u64(&perfetto->message, SEQUENCE_FLAGS, perfetto->cleared ? NEEDS_STATE : STATE_CLEARED);
	perfetto->cleared = true;
	return at;
}

static void perfetto_close_packet(struct dw_perfetto *perfetto, size_t at)
{
	struct dw_proto *message = &perfetto->message;

	dw_proto_close(message, at);
	perfetto->timeline->failed |= message->failed;
	dw_out_bytes(perfetto->timeline->out, (const char *)message->bytes, message->failed ? 0 : message->used);
	message->used = 0;
}

/* ---- tracks ------------------------------------------------------------------------- */

static void perfetto_put_clock(struct dw_perfetto *perfetto)
{
	const uint64_t clocks[][2] = {
		{ CLOCK_REALTIME, perfetto->timeline->source->realtime_start_ns }, { CLOCK_BOOTTIME, 0 }
	};
	size_t packet = perfetto_open_packet(perfetto);
	size_t snapshot = dw_proto_open(&perfetto->message, CLOCK_SNAPSHOT);

	for (size_t i = 0; i < 2; i++) {
		size_t clock = dw_proto_open(&perfetto->message, 1);

		dw_proto_u64(&perfetto->message, 1, clocks[i][0]);
		dw_proto_u64(&perfetto->message, 2, clocks[i][1]);
		dw_proto_close(&perfetto->message, clock);
	}
	dw_proto_close(&perfetto->message, snapshot);
	perfetto_close_packet(perfetto, packet);
}

static void perfetto_put_process(struct dw_perfetto *perfetto, uint32_t index)
{
	struct dw_proto *message = &perfetto->message;
	size_t packet = perfetto_open_packet(perfetto);
	size_t track = dw_proto_open(message, TRACK_DESCRIPTOR), at;
	char name[128];

	dw_timeline_process_name(perfetto->timeline->source, index, name);
	dw_proto_u64(message, UUID, perfetto->first_process_track + index);
	at = dw_proto_open(message, PROCESS);
	dw_proto_u64(message, PID, perfetto->timeline->pids[index]);
	dw_proto_text(message, PROCESS_NAME, name);
	dw_proto_close(message, at);
	dw_proto_close(message, track);
	perfetto_close_packet(perfetto, packet);
}

static void perfetto_put_thread(struct dw_perfetto *perfetto, uint32_t number)
{
	const struct dw_source *source = perfetto->timeline->source;
	const struct dw_timeline_track *numbers = &perfetto->timeline->tracks[number];
	struct dw_proto *message = &perfetto->message;
	size_t packet = perfetto_open_packet(perfetto);
	size_t track = dw_proto_open(message, TRACK_DESCRIPTOR), at;
	char name[256];

	dw_timeline_track_name(source, number, name);
	dw_proto_u64(message, UUID, 1 + (uint64_t)number);
	dw_proto_u64(message, PARENT_UUID, perfetto->first_process_track + source->threads[number / 2].process);
	at = dw_proto_open(message, THREAD);
	dw_proto_u64(message, PID, numbers->pid);
	dw_proto_u64(message, THREAD_TID, numbers->tid);
	dw_proto_text(message, THREAD_NAME, name);
	dw_proto_close(message, at);
	dw_proto_close(message, track);
	perfetto_close_packet(perfetto, packet);
}

void dw_perfetto_put_tracks(struct dw_perfetto *perfetto)
{
	const struct dw_source *source = perfetto->timeline->source;

	perfetto->first_process_track = 1 + (uint64_t)source->thread_count * 2;
	perfetto->next_track = perfetto->first_process_track + source->process_count;
	perfetto_put_clock(perfetto);
	for (uint32_t i = 0; i < source->process_count; i++)
		if (!dw_timeline_is_silent(source, i))
			perfetto_put_process(perfetto, i);
	for (uint32_t i = 0; i < source->thread_count; i++) {
		if (dw_timeline_is_silent(source, source->threads[i].process))
			continue;
		perfetto_put_thread(perfetto, i * 2);
		if (dw_timeline_has_handlers(source, i))
			perfetto_put_thread(perfetto, i * 2 + 1);
	}
}

/* Opens the descriptor of a track and writes its name. */
static struct dw_perfetto_event perfetto_open_track(struct dw_perfetto *perfetto, uint64_t uuid,
                                           uint64_t parent, const char *name)
{
	struct dw_perfetto_event opened = { perfetto_open_packet(perfetto), 0 };

	opened.event = dw_proto_open(&perfetto->message, TRACK_DESCRIPTOR);
	dw_proto_u64(&perfetto->message, UUID, uuid);
	dw_proto_u64(&perfetto->message, PARENT_UUID, parent);
	dw_proto_text(&perfetto->message, NAME, name);
	return opened;
}

uint64_t dw_perfetto_new_track(struct dw_perfetto *perfetto, uint64_t parent, const char *name)
{
	uint64_t track = perfetto->next_track++;

	dw_perfetto_close(perfetto, perfetto_open_track(perfetto, track, parent, name));
	return track;
}

/* ---- events ------------------------------------------------------------------------- */

void dw_perfetto_intern(struct dw_perfetto *perfetto, uint32_t index)
{
	const struct dw_symbol *symbol = &perfetto->timeline->symbols[index];
	uint64_t category = (uint64_t)1 << (symbol->category & 63);
	struct dw_proto *message = &perfetto->message;
	size_t packet, data, at;
	char buffer[24];

	if (perfetto->interned[index])
		return;
	perfetto->interned[index] = true;
	packet = perfetto_open_packet(perfetto);
	data = dw_proto_open(message, INTERNED_DATA);
	if (!(perfetto->categories & category)) {
		perfetto->categories |= category;
		at = dw_proto_open(message, INTERNED_CATEGORY);
		dw_proto_u64(message, 1, 1 + (symbol->category & 63));
		dw_proto_text(message, 2, dw_label_category(symbol->category, buffer));
		dw_proto_close(message, at);
	}
	at = dw_proto_open(message, INTERNED_NAME);
	dw_proto_u64(message, 1, 1 + (uint64_t)index);
	dw_proto_text(message, 2, symbol->name);
	dw_proto_close(message, at);
	dw_proto_close(message, data);
	perfetto_close_packet(perfetto, packet);
}

void dw_perfetto_intern_device(struct dw_perfetto *perfetto, uint32_t name, const char *text,
                               uint32_t kind, const char *category)
{
	struct dw_proto *message = &perfetto->message;
	size_t packet = perfetto_open_packet(perfetto), data = dw_proto_open(message, INTERNED_DATA), at;

	at = dw_proto_open(message, INTERNED_CATEGORY);
	dw_proto_u64(message, 1, DEVICE_CATEGORIES + kind);
	dw_proto_text(message, 2, category);
	dw_proto_close(message, at);
	at = dw_proto_open(message, INTERNED_NAME);
	dw_proto_u64(message, 1, 1 + perfetto->timeline->symbol_count + (uint64_t)name);
	dw_proto_text(message, 2, text);
	dw_proto_close(message, at);
	dw_proto_close(message, data);
	perfetto_close_packet(perfetto, packet);
}

struct dw_perfetto_event dw_perfetto_open(struct dw_perfetto *perfetto,
                                          enum dw_perfetto_type type, uint64_t track, uint64_t ns)
{
	struct dw_perfetto_event opened = { perfetto_open_packet(perfetto), 0 };

	dw_proto_u64(&perfetto->message, TIMESTAMP, ns);
	opened.event = dw_proto_open(&perfetto->message, TRACK_EVENT);
	dw_proto_u64(&perfetto->message, EVENT_TYPE, type);
	dw_proto_u64(&perfetto->message, EVENT_TRACK, track);
	return opened;
}

void dw_perfetto_close(struct dw_perfetto *perfetto, struct dw_perfetto_event opened)
{
	dw_proto_close(&perfetto->message, opened.event);
	perfetto_close_packet(perfetto, opened.packet);
}

void dw_perfetto_name(struct dw_perfetto *perfetto, uint32_t symbol)
{
	dw_proto_u64(&perfetto->message, EVENT_CATEGORIES, 1 + (perfetto->timeline->symbols[symbol].category & 63));
	dw_proto_u64(&perfetto->message, EVENT_NAME_ID, 1 + (uint64_t)symbol);
}

void dw_perfetto_name_device(struct dw_perfetto *perfetto, uint32_t name, uint32_t kind)
{
	dw_proto_u64(&perfetto->message, EVENT_CATEGORIES, DEVICE_CATEGORIES + kind);
	dw_proto_u64(&perfetto->message, EVENT_NAME_ID, 1 + perfetto->timeline->symbol_count + (uint64_t)name);
}

void dw_perfetto_launch(struct dw_perfetto *perfetto, uint32_t event, bool arrives)
{
	dw_proto_fixed64(&perfetto->message, arrives ? EVENT_FLOW_END : EVENT_FLOW, LAUNCH_IDS | event);
}

void dw_perfetto_name_text(struct dw_perfetto *perfetto, const char *name)
{
	dw_proto_text(&perfetto->message, EVENT_NAME, name);
}

static size_t perfetto_open_annotation(struct dw_perfetto *perfetto, const char *name)
{
	size_t at = dw_proto_open(&perfetto->message, EVENT_ANNOTATION);

	dw_proto_text(&perfetto->message, ANNOTATION_NAME, name);
	return at;
}

/* The members need braces to be the value of an annotation. */
void dw_perfetto_args(struct dw_perfetto *perfetto, uint32_t symbol)
{
	const struct dw_label args = dw_label_args(perfetto->timeline, symbol);
	struct dw_writer_out *text = &perfetto->timeline->scratch;
	size_t at;

	if (!args.length)
		return;
	text->used = 0;
	dw_out_text(text, "{");
	dw_out_bytes(text, args.text, args.length);
	dw_out_text(text, "}");
	perfetto->timeline->failed |= text->error != 0;
	if (text->error)
		return;
	at = perfetto_open_annotation(perfetto, "operator");
	dw_proto_bytes(&perfetto->message, ANNOTATION_JSON, text->buffer, text->used);
	dw_proto_close(&perfetto->message, at);
	text->used = 0;
}

void dw_perfetto_annotate(struct dw_perfetto *perfetto, const char *name, const char *value, bool json)
{
	size_t at = perfetto_open_annotation(perfetto, name);

	dw_proto_text(&perfetto->message, json ? ANNOTATION_JSON : ANNOTATION_STRING, value);
	dw_proto_close(&perfetto->message, at);
}

void dw_perfetto_annotate_u64(struct dw_perfetto *perfetto, const char *name, uint64_t value)
{
	size_t at = perfetto_open_annotation(perfetto, name);

	dw_proto_u64(&perfetto->message, ANNOTATION_UINT, value);
	dw_proto_close(&perfetto->message, at);
}

/* ---- whole events ------------------------------------------------------------------------ */

void dw_perfetto_put_arrow(struct dw_perfetto *perfetto, const struct dw_arrow_end *end)
{
	struct dw_perfetto_event event;

	if (!end->link)
		dw_perfetto_intern(perfetto, end->symbol);
	event = dw_perfetto_open(perfetto, DW_PERFETTO_INSTANT, 1 + (uint64_t)end->track, end->ns);
	if (end->link)
		dw_perfetto_name_text(perfetto, "fwdbwd");
	else
		dw_perfetto_name(perfetto, end->symbol);
	dw_proto_fixed64(&perfetto->message, end->arrives ? EVENT_FLOW_END : EVENT_FLOW,
	                 end->link ? LINK_IDS | end->id : end->id);
	dw_perfetto_close(perfetto, event);
}

/* Returns the track of a process's counter, which is created at the first use. Returns 0 if out of
 * memory. */
static uint64_t perfetto_counter_track(struct dw_perfetto *perfetto, uint32_t process,
                                       uint32_t key, const char *name, const char *unit)
{
	uint32_t hash = dw_map_hash((uint64_t)process << 32 | key), found;
	struct dw_perfetto_counter *counter;
	struct dw_perfetto_event opened;
	size_t at;

	found = DW_MAP_FIND(&perfetto->counter_map, hash, i, perfetto->counters[i].process == process &&
	                    perfetto->counters[i].key == key);
	if (found != DW_MAP_NONE)
		return perfetto->counters[found].track;
	counter = DW_GROW(&perfetto->counters, &perfetto->counter_capacity, perfetto->counter_count);
	if (!counter || !dw_map_add(&perfetto->counter_map, hash, (uint32_t)perfetto->counter_count)) {
		perfetto->timeline->failed = true;
		return 0;
	}
	perfetto->counter_count++;
	*counter = (struct dw_perfetto_counter){ perfetto->next_track++, process, key };
	opened = perfetto_open_track(perfetto, counter->track, perfetto->first_process_track + process, name);
	at = dw_proto_open(&perfetto->message, COUNTER);
	if (key & DEVICE)
		dw_proto_u64(&perfetto->message, COUNTER_UNIT, UNIT_BYTES);
	else if (unit)
		dw_proto_text(&perfetto->message, COUNTER_UNIT_NAME, unit);
	dw_proto_close(&perfetto->message, at);
	dw_perfetto_close(perfetto, opened);
	return counter->track;
}

void dw_perfetto_put_counter(struct dw_perfetto *perfetto, const struct dw_event *event)
{
	const struct dw_symbol *symbol = &perfetto->timeline->symbols[event->symbol];
	uint32_t process = perfetto->timeline->source->threads[event->thread].process;
	uint64_t track = perfetto_counter_track(perfetto, process, event->symbol, symbol->name, symbol->detail);
	struct dw_perfetto_event opened = dw_perfetto_open(perfetto, DW_PERFETTO_COUNTER, track, event->start_ns);

	dw_proto_double(&perfetto->message, EVENT_DOUBLE, event->value);
	dw_perfetto_close(perfetto, opened);
}

void dw_perfetto_put_memory(struct dw_perfetto *perfetto, const struct dw_memory_total *at)
{
	struct dw_perfetto_event opened;
	uint64_t track;
	char name[128];

	snprintf(name, sizeof name, "memory %.100s", at->device_name);
	track = perfetto_counter_track(perfetto, at->process, at->device | DEVICE, name, NULL);
	opened = dw_perfetto_open(perfetto, DW_PERFETTO_COUNTER, track, at->ns);
	dw_proto_u64(&perfetto->message, EVENT_VALUE, (uint64_t)at->total);
	dw_perfetto_close(perfetto, opened);
}
