/*
 * Perfetto's packets: the clock, tracks, events, interned names, annotations.
 *
 * Called by perfetto.c. All packets are of one sequence, whose interned names are the
 * symbols' and the categories' numbers + 1. A packet is in the output when it is
 * closed. Field numbers are those of Perfetto's trace protos.
 */
#include <stdio.h>

#include "base/grow.h"
#include "export/perfetto.h"

#define SEQUENCE 1u
#define CLOCK_REALTIME 1u
#define CLOCK_BOOTTIME 6u /* what timestamps count in by default */
#define UNIT_BYTES 3u
#define DEVICE 0x80000000u
#define LINK_IDS ((uint64_t)1 << 62) /* apart from other arrows' */

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

static size_t open_packet(struct dw_perfetto *perfetto)
{
	size_t at = dw_proto_open(&perfetto->message, TRACE_PACKET);

	dw_proto_u64(&perfetto->message, SEQUENCE_ID, SEQUENCE);
	dw_proto_u64(&perfetto->message, SEQUENCE_FLAGS,
	             perfetto->cleared ? NEEDS_STATE : STATE_CLEARED);
	perfetto->cleared = true;
	return at;
}

static void close_packet(struct dw_perfetto *perfetto, size_t at)
{
	struct dw_proto *message = &perfetto->message;

	dw_proto_close(message, at);
	perfetto->chrome.failed |= message->failed;
	dw_out_bytes(perfetto->chrome.out, (const char *)message->bytes,
	             message->failed ? 0 : message->used);
	message->used = 0;
}

/* ---- tracks ------------------------------------------------------------------------- */

static void put_clock(struct dw_perfetto *perfetto)
{
	const uint64_t clocks[][2] = {
		{ CLOCK_REALTIME, perfetto->chrome.source->realtime_start_ns }, { CLOCK_BOOTTIME, 0 }
	};
	size_t packet = open_packet(perfetto);
	size_t snapshot = dw_proto_open(&perfetto->message, CLOCK_SNAPSHOT);

	for (size_t i = 0; i < 2; i++) {
		size_t clock = dw_proto_open(&perfetto->message, 1);

		dw_proto_u64(&perfetto->message, 1, clocks[i][0]);
		dw_proto_u64(&perfetto->message, 2, clocks[i][1]);
		dw_proto_close(&perfetto->message, clock);
	}
	dw_proto_close(&perfetto->message, snapshot);
	close_packet(perfetto, packet);
}

static void put_process(struct dw_perfetto *perfetto, uint32_t index)
{
	const struct dw_source_process *process = &perfetto->chrome.source->processes[index];
	struct dw_proto *message = &perfetto->message;
	size_t packet = open_packet(perfetto), track = dw_proto_open(message, TRACK_DESCRIPTOR), at;
	char name[128];

	snprintf(name, sizeof name, "%.100s", process->label);
	if (process->rank >= 0)
		snprintf(name, sizeof name, "rank %d: %.100s", (int)process->rank, process->label);
	dw_proto_u64(message, UUID, perfetto->first_process_track + index);
	at = dw_proto_open(message, PROCESS);
	dw_proto_u64(message, PID, perfetto->chrome.pids[index]);
	dw_proto_text(message, PROCESS_NAME, name);
	dw_proto_close(message, at);
	dw_proto_close(message, track);
	close_packet(perfetto, packet);
}

static void put_thread(struct dw_perfetto *perfetto, uint32_t index, bool nested)
{
	const struct dw_chrome_track *numbers = &perfetto->chrome.tracks[index * 2 + nested];
	const struct dw_source_thread *thread = &perfetto->chrome.source->threads[index];
	struct dw_proto *message = &perfetto->message;
	size_t packet = open_packet(perfetto), track = dw_proto_open(message, TRACK_DESCRIPTOR), at;
	char name[256];

	snprintf(name, sizeof name, nested ? "%.200s (signal handlers)" : "%.200s", thread->name);
	dw_proto_u64(message, UUID, 1 + (uint64_t)index * 2 + nested);
	dw_proto_u64(message, PARENT_UUID, perfetto->first_process_track + thread->process);
	at = dw_proto_open(message, THREAD);
	dw_proto_u64(message, PID, numbers->pid);
	dw_proto_u64(message, THREAD_TID, numbers->tid);
	dw_proto_text(message, THREAD_NAME, name);
	dw_proto_close(message, at);
	dw_proto_close(message, track);
	close_packet(perfetto, packet);
}

static bool has_nested(const struct dw_source *source, uint32_t thread)
{
	for (size_t i = 0; i < source->stream_count; i++)
		for (size_t k = 0; source->streams[i].nested && k < source->streams[i].chunk_count; k++)
			if (source->streams[i].chunks[k].thread == thread)
				return true;
	return false;
}

void dw_perfetto_head(struct dw_perfetto *perfetto)
{
	const struct dw_source *source = perfetto->chrome.source;

	perfetto->first_process_track = 1 + (uint64_t)source->thread_count * 2;
	perfetto->next_track = perfetto->first_process_track + source->process_count;
	put_clock(perfetto);
	for (uint32_t i = 0; i < source->process_count; i++)
		if (!dw_chrome_is_silent(source, i))
			put_process(perfetto, i);
	for (uint32_t i = 0; i < source->thread_count; i++) {
		if (dw_chrome_is_silent(source, source->threads[i].process))
			continue;
		put_thread(perfetto, i, false);
		if (has_nested(source, i))
			put_thread(perfetto, i, true);
	}
}

/* Leaves the descriptor open behind its name. */
static struct dw_perfetto_event open_track(struct dw_perfetto *perfetto, uint64_t uuid,
                                           uint64_t parent, const char *name)
{
	struct dw_perfetto_event opened = { open_packet(perfetto), 0 };

	opened.event = dw_proto_open(&perfetto->message, TRACK_DESCRIPTOR);
	dw_proto_u64(&perfetto->message, UUID, uuid);
	dw_proto_u64(&perfetto->message, PARENT_UUID, parent);
	dw_proto_text(&perfetto->message, NAME, name);
	return opened;
}

uint64_t dw_perfetto_new_track(struct dw_perfetto *perfetto, uint64_t parent, const char *name)
{
	uint64_t track = perfetto->next_track++;

	dw_perfetto_close(perfetto, open_track(perfetto, track, parent, name));
	return track;
}

/* ---- events ------------------------------------------------------------------------- */

void dw_perfetto_intern(struct dw_perfetto *perfetto, uint32_t index)
{
	const struct dw_symbol *symbol = &perfetto->chrome.symbols[index];
	uint64_t category = (uint64_t)1 << (symbol->category & 63);
	struct dw_proto *message = &perfetto->message;
	size_t packet, data, at;
	char buffer[24];

	if (perfetto->interned[index])
		return;
	perfetto->interned[index] = true;
	packet = open_packet(perfetto);
	data = dw_proto_open(message, INTERNED_DATA);
	if (!(perfetto->categories & category)) {
		perfetto->categories |= category;
		at = dw_proto_open(message, INTERNED_CATEGORY);
		dw_proto_u64(message, 1, 1 + (symbol->category & 63));
		dw_proto_text(message, 2, dw_chrome_category(symbol->category, buffer));
		dw_proto_close(message, at);
	}
	at = dw_proto_open(message, INTERNED_NAME);
	dw_proto_u64(message, 1, 1 + (uint64_t)index);
	dw_proto_text(message, 2, symbol->name);
	dw_proto_close(message, at);
	dw_proto_close(message, data);
	close_packet(perfetto, packet);
}

struct dw_perfetto_event dw_perfetto_open(struct dw_perfetto *perfetto,
                                          enum dw_perfetto_type type, uint64_t track, uint64_t ns)
{
	struct dw_perfetto_event opened = { open_packet(perfetto), 0 };

	dw_proto_u64(&perfetto->message, TIMESTAMP, ns);
	opened.event = dw_proto_open(&perfetto->message, TRACK_EVENT);
	dw_proto_u64(&perfetto->message, EVENT_TYPE, type);
	dw_proto_u64(&perfetto->message, EVENT_TRACK, track);
	return opened;
}

void dw_perfetto_close(struct dw_perfetto *perfetto, struct dw_perfetto_event opened)
{
	dw_proto_close(&perfetto->message, opened.event);
	close_packet(perfetto, opened.packet);
}

void dw_perfetto_name(struct dw_perfetto *perfetto, uint32_t symbol)
{
	dw_proto_u64(&perfetto->message, EVENT_CATEGORIES,
	             1 + (perfetto->chrome.symbols[symbol].category & 63));
	dw_proto_u64(&perfetto->message, EVENT_NAME_ID, 1 + (uint64_t)symbol);
}

void dw_perfetto_name_text(struct dw_perfetto *perfetto, const char *name)
{
	dw_proto_text(&perfetto->message, EVENT_NAME, name);
}

static size_t open_annotation(struct dw_perfetto *perfetto, const char *name)
{
	size_t at = dw_proto_open(&perfetto->message, EVENT_ANNOTATION);

	dw_proto_text(&perfetto->message, ANNOTATION_NAME, name);
	return at;
}

/* "Input Dims" and the like, the JSON that the Chrome trace has: in braces a value. */
void dw_perfetto_args(struct dw_perfetto *perfetto, uint32_t symbol)
{
	const struct dw_chrome_label *label = dw_chrome_label(&perfetto->chrome, symbol);
	struct dw_proto *message = &perfetto->message;
	struct dw_writer_out *text = &perfetto->chrome.scratch;
	size_t at;

	if (!label->args_length)
		return;
	text->used = 0;
	dw_out_text(text, "{");
	dw_out_bytes(text, label->args, label->args_length);
	dw_out_text(text, "}");
	perfetto->chrome.failed |= text->error != 0;
	if (text->error)
		return;
	at = open_annotation(perfetto, "operator");
	dw_proto_bytes(message, ANNOTATION_JSON, text->buffer, text->used);
	dw_proto_close(message, at);
	text->used = 0;
}

void dw_perfetto_annotate(struct dw_perfetto *perfetto, const char *name, const char *value,
                          bool json)
{
	size_t at = open_annotation(perfetto, name);

	dw_proto_text(&perfetto->message, json ? ANNOTATION_JSON : ANNOTATION_STRING, value);
	dw_proto_close(&perfetto->message, at);
}

void dw_perfetto_annotate_u64(struct dw_perfetto *perfetto, const char *name, uint64_t value)
{
	size_t at = open_annotation(perfetto, name);

	dw_proto_u64(&perfetto->message, ANNOTATION_UINT, value);
	dw_proto_close(&perfetto->message, at);
}

void dw_perfetto_arrow(struct dw_perfetto *perfetto, const struct dw_chrome_end *end, uint64_t id,
                       bool arrives)
{
	bool link = (end->name & ~DW_CHROME_IN) == DW_CHROME_LINK;
	struct dw_perfetto_event event;

	if (!link)
		dw_perfetto_intern(perfetto, end->symbol);
	event = dw_perfetto_open(perfetto, DW_PERFETTO_INSTANT, 1 + (uint64_t)end->track, end->ns);
	if (link)
		dw_perfetto_name_text(perfetto, "fwdbwd");
	else
		dw_perfetto_name(perfetto, end->symbol);
	dw_proto_fixed64(&perfetto->message, arrives ? EVENT_FLOW_END : EVENT_FLOW,
	                 link ? LINK_IDS | id : id);
	dw_perfetto_close(perfetto, event);
}

/* ---- counters ----------------------------------------------------------------------- */

/* The track of a process's counter, made when it is first asked for; 0: out of memory. */
static uint64_t counter_track(struct dw_perfetto *perfetto, uint32_t process, uint32_t key,
                              const char *name, const char *unit)
{
	struct dw_perfetto_counter *counter;
	struct dw_perfetto_event opened;
	size_t at, first = perfetto->last_counter;

	/* one after the other is mostly the same one */
	for (size_t i = 0; i < perfetto->counter_count; i++) {
		at = (first + i) % perfetto->counter_count;
		counter = &perfetto->counters[at];
		perfetto->last_counter = at;
		if (counter->process == process && counter->key == key)
			return counter->track;
	}
	counter = DW_GROW(&perfetto->counters, &perfetto->counter_capacity, perfetto->counter_count);
	if (!counter) {
		perfetto->chrome.failed = true;
		return 0;
	}
	perfetto->last_counter = perfetto->counter_count++;
	*counter = (struct dw_perfetto_counter){ perfetto->next_track++, process, key };
	opened = open_track(perfetto, counter->track, perfetto->first_process_track + process, name);
	at = dw_proto_open(&perfetto->message, COUNTER);
	if (key & DEVICE)
		dw_proto_u64(&perfetto->message, COUNTER_UNIT, UNIT_BYTES);
	else if (unit)
		dw_proto_text(&perfetto->message, COUNTER_UNIT_NAME, unit);
	dw_proto_close(&perfetto->message, at);
	dw_perfetto_close(perfetto, opened);
	return counter->track;
}

void dw_perfetto_count(struct dw_perfetto *perfetto, const struct dw_event *event)
{
	const struct dw_symbol *symbol = &perfetto->chrome.symbols[event->symbol];
	uint64_t track = counter_track(perfetto, perfetto->chrome.source->threads[event->thread].process,
	                               event->symbol, symbol->name, symbol->detail);
	struct dw_perfetto_event opened =
		dw_perfetto_open(perfetto, DW_PERFETTO_COUNTER, track, event->start_ns);

	dw_proto_double(&perfetto->message, EVENT_DOUBLE, event->value);
	dw_perfetto_close(perfetto, opened);
}

void dw_perfetto_hold(struct dw_perfetto *perfetto, const struct dw_chrome_memory_at *at)
{
	uint32_t process = perfetto->chrome.source->threads[at->track / 2].process;
	struct dw_perfetto_event opened;
	uint64_t track;
	char name[128];

	snprintf(name, sizeof name, "memory %.100s", at->name);
	track = counter_track(perfetto, process, at->device | DEVICE, name, NULL);
	opened = dw_perfetto_open(perfetto, DW_PERFETTO_COUNTER, track, at->ns);
	dw_proto_u64(&perfetto->message, EVENT_VALUE, (uint64_t)at->total);
	dw_perfetto_close(perfetto, opened);
}
