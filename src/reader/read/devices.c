/*
 * Devices: their queues, their clocks, and the chunks with their events.
 *
 * Called once by source_open.c, after dw_read_fill_streams(). A file without device chunks has none of these, and
 * costs nothing. A queue or a device whose entry is lost has a placeholder, so that every index is
 * valid.
 *
 * A device has a clock of its own. Each DEVICE_CLOCK entry pairs it with the file's. A time between
 * two pairings is interpolated; a time outside uses the rate of all pairings, or, if there is one
 * pairing only, the rate that the entry names.
 */
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "format/decode.h"
#include "read/read.h"

/* ---- entries ------------------------------------------------------------------------- */

/* Appends a copy of the entry to an array. -1: out of memory. */
#define DEVICES_KEEP(array, capacity, count, entry) \
	(DW_APPEND(array, capacity, count, *(const __typeof__(**(array)) *)(const void *)(entry)) ? 0 : -1)

int dw_read_device_entry(struct dw_read_file *file, const struct dw_entry *entry)
{
	struct dw_read_device_parts *parts = &file->device_parts;
	const struct dw_entry_device_clock *clock = (const void *)entry;

	switch (entry->tag & 0xffff) {
	case DW_ENTRY_DEVICE: return DEVICES_KEEP(&parts->devices, &parts->device_capacity, &parts->device_count, entry);
	case DW_ENTRY_QUEUE: return DEVICES_KEEP(&parts->queues, &parts->queue_capacity, &parts->queue_count, entry);
	case DW_ENTRY_LAUNCH: return DEVICES_KEEP(&parts->launches, &parts->launch_capacity, &parts->launch_count, entry);
	default: break;
	}
	if (clock->ticks > DW_TICKS_MAX || clock->device_ticks > DW_TICKS_MAX) {
		file->damaged++;
		return 0;
	}
	return DEVICES_KEEP(&parts->clocks, &parts->clock_capacity, &parts->clock_count, entry);
}

void dw_read_device_parts_reset(struct dw_read_device_parts *parts)
{
	DW_FREE(parts->devices, parts->queues, parts->launches, parts->clocks);
	memset(parts, 0, sizeof *parts);
}

/* ---- clocks ---------------------------------------------------------------------------- */

static double devices_difference(uint64_t a, uint64_t b)
{
	return a >= b ? (double)(a - b) : -(double)(b - a);
}

uint64_t dw_source_device_ticks(const struct dw_source_device_clock *clock, uint64_t device_ticks)
{
	const struct dw_source_pairing *at = clock->pairings;

	if (!clock->pairing_count)
		return device_ticks;
	at += DW_FIRST(i, 1, clock->pairing_count, clock->pairings[i].device_ticks > device_ticks) - 1;
	return dw_read_u64((double)at->ticks +
	                   devices_difference(device_ticks, at->device_ticks) * at->ticks_per_device_tick);
}

DW_ORDER(devices_compare_clocks, struct dw_entry_device_clock, DW_UP(entry.id) DW_UP(device_ticks) DW_UP(ticks))

/* Computes the rates of the `count` pairings of one clock and drops those that run backward. */
static size_t devices_set_rates(struct dw_source_pairing *pairings, size_t count, double rate)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || (pairings[i].device_ticks > pairings[kept - 1].device_ticks &&
		              pairings[i].ticks > pairings[kept - 1].ticks))
			pairings[kept++] = pairings[i];
	if (kept > 1)
		rate = devices_difference(pairings[kept - 1].ticks, pairings[0].ticks) /
		       devices_difference(pairings[kept - 1].device_ticks, pairings[0].device_ticks);
	for (size_t i = 0; i + 1 < kept; i++)
		pairings[i].ticks_per_device_tick = devices_difference(pairings[i + 1].ticks, pairings[i].ticks) /
		    devices_difference(pairings[i + 1].device_ticks, pairings[i].device_ticks);
	pairings[kept - 1].ticks_per_device_tick = rate;
	return kept;
}

/* The clocks of a file, and where they are by id. */
struct clocks {
	struct dw_source_device_clock *items;
	struct dw_read_index places;
};

/* Fills the clock whose entries are the `count` ones at `from`, into `pairings`. */
static void devices_fill_clock(const struct dw_read_file *file, const struct dw_entry_device_clock *from, size_t count,
                               struct dw_source_pairing *pairings, struct dw_source_device_clock *clock)
{
	double rate = 1;

	for (size_t i = 0; i < count; i++) {
		pairings[i] = (struct dw_source_pairing){ from[i].device_ticks, from[i].ticks, 1 };
		if (from[i].error_ns > clock->error_ns)
			clock->error_ns = from[i].error_ns;
		if (from[i].ticks_per_second && file->ns_per_tick > 0)
			rate = 1e9 / (double)from[i].ticks_per_second / file->ns_per_tick;
	}
	clock->pairing_count = devices_set_rates(pairings, count, rate);
	clock->pairings = pairings;
}

static int devices_fill_clocks(struct dw_reader *reader, struct dw_read_file *file, struct clocks *clocks)
{
	struct dw_entry_device_clock *entries = file->device_parts.clocks;
	size_t count = file->device_parts.clock_count, end, found = 0;
	struct dw_source_pairing *pairings = dw_read_take(reader, count, sizeof *pairings);

	clocks->items = dw_read_take(reader, count, sizeof *clocks->items);
	if (!pairings || !clocks->items)
		return -1;
	DW_SORT(entries, count, devices_compare_clocks);
	for (size_t i = 0; i < count; i = end) {
		uint32_t *place = dw_read_index_at(&clocks->places, entries[i].entry.id);

		for (end = i + 1; end < count && entries[end].entry.id == entries[i].entry.id;)
			end++;
		if (!place)
			return -1;
		*place = (uint32_t)found + 1;
		devices_fill_clock(file, &entries[i], end - i, &pairings[i], &clocks->items[found++]);
	}
	return 0;
}

/* ---- devices and queues -------------------------------------------------------------------- */

/* A device of a process that the file does not know belongs to `process`. */
static int devices_fill_devices(struct dw_reader *reader, const struct dw_read_file *file,
                                uint32_t process, struct dw_read_index *places)
{
	struct dw_source *source = &reader->source;

	for (size_t i = 0; i < file->device_parts.device_count; i++) {
		const struct dw_entry_device *from = &file->device_parts.devices[i];
		const char *name = dw_read_string(file, from->name);
		struct dw_source_device *device = &source->devices[source->device_count];
		uint32_t *place = dw_read_index_at(places, from->entry.id);
		uint32_t owner = dw_read_index_find(&file->process_places, from->entry.aux);

		if (!place)
			return -1;
		if (*place)
			continue; /* the id is used twice */
		*place = (uint32_t)++source->device_count;
		*device = (struct dw_source_device){ .id = from->entry.id,
			.process = owner ? file->processes[owner - 1].index : process, .number = from->number, .api = from->api,
			.processors = from->processors, .memory_bytes = from->memory_bytes, .name = name ? name : "" };
	}
	return 0;
}

/* Adds the placeholders of a file and its queues. */
static int devices_fill_queues(struct dw_reader *reader, const struct dw_read_file *file,
                               const struct dw_read_index *places, uint32_t process, struct dw_source_file *to)
{
	struct dw_source *source = &reader->source;
	uint32_t *by_id = dw_read_take(reader, file->id_count, sizeof *by_id);
	uint32_t unknown = (uint32_t)source->device_count++;

	if (!by_id)
		return -1;
	source->devices[unknown] = (struct dw_source_device){ .process = process, .name = "" };
	for (uint32_t id = 0; id < file->id_count; id++)
		by_id[id] = (uint32_t)source->queue_count;
	source->queues[source->queue_count++] = (struct dw_source_queue){ .device = unknown, .number = DW_QUEUE_NONE };
	for (size_t i = 0; i < file->device_parts.queue_count; i++) {
		const struct dw_entry_queue *from = &file->device_parts.queues[i];
		uint32_t place = dw_read_index_find(places, from->entry.aux);

		by_id[from->entry.id] = (uint32_t)source->queue_count;
		source->queues[source->queue_count++] = (struct dw_source_queue){
			.device = place ? place - 1 : unknown, .id = from->entry.id, .number = from->number,
			.context = from->context, .priority = from->priority, .flags = from->flags,
			.name = dw_read_string(file, from->name),
		};
	}
	to->queue_by_id = by_id;
	return 0;
}

static int devices_fill_launches(struct dw_reader *reader, const struct dw_read_file *file, struct dw_source_file *to)
{
	size_t count = file->device_parts.launch_count;
	struct dw_entry_launch *copies;
	const struct dw_entry_launch **by_id;

	if (!count)
		return 0;
	copies = dw_read_take(reader, count, sizeof *copies);
	by_id = dw_read_take(reader, file->id_count, sizeof *by_id);
	if (!copies || !by_id)
		return -1;
	memcpy(copies, file->device_parts.launches, count * sizeof *copies);
	for (size_t i = 0; i < count; i++)
		by_id[copies[i].entry.id] = &copies[i];
	to->launches = by_id;
	return 0;
}

/* ---- chunks -------------------------------------------------------------------------------- */

static int devices_fill_chunk(struct dw_reader *reader, struct dw_read_file *file, uint32_t f,
                              const struct dw_read_chunk *from, const struct clocks *clocks)
{
	struct dw_source *source = &reader->source;
	struct dw_source_events *events = &source->events[source->events_count++];
	uint32_t place = from->clock ? dw_read_index_find(&clocks->places, from->clock) : 0;

	events->file = f;
	events->record_bytes = from->record_bytes;
	if (place)
		events->clock = clocks->items[place - 1];
	if (dw_read_process_index(reader, file, from->process, &events->process))
		return -1;
	events->chunk = (struct dw_source_chunk){
		.words = from->header ? (const uint32_t *)(const void *)(from->header + 1) : NULL,
		.place = from->place,
		.word_count = (from->data_bytes - DW_CHUNK_HEADER_BYTES) / 4,
		.thread = DW_NO_INDEX,
		.number = from->number,
		.end_ticks = dw_source_device_ticks(&events->clock, from->end_ticks),
		.header = source->processes[events->process].may_write ? from->header : NULL,
	};
	return 0;
}

static int devices_fill_chunks(struct dw_reader *reader, uint32_t f)
{
	struct dw_read_file *file = &reader->files[f];
	struct clocks clocks = { .places = { .seed = dw_hash_seed(file) } };
	int result = devices_fill_clocks(reader, file, &clocks);

	for (size_t i = 0; i < file->chunk_count && !result; i++)
		if (file->chunks[i].type == DW_CHUNK_DEVICE)
			result = devices_fill_chunk(reader, file, f, &file->chunks[i], &clocks);
	dw_read_index_reset(&clocks.places);
	return result;
}

static int devices_fill_file(struct dw_reader *reader, uint32_t f)
{
	struct dw_source *source = &reader->source;
	struct dw_read_file *file = &reader->files[f];
	size_t before = source->events_count;
	struct dw_read_index places = { .seed = dw_hash_seed(file) };
	int result = devices_fill_chunks(reader, f);

	if (!result && source->events_count > before) {
		uint32_t process = source->events[before].process;

		result = devices_fill_devices(reader, file, process, &places);
		if (!result)
			result = devices_fill_queues(reader, file, &places, process, &source->files[f]);
		if (!result)
			result = devices_fill_launches(reader, file, &source->files[f]);
	}
	dw_read_index_reset(&places);
	return result;
}

int dw_read_fill_devices(struct dw_reader *reader)
{
	struct dw_source *source = &reader->source;
	size_t chunks = 0, devices = 0, queues = 0;

	for (size_t f = 0; f < reader->file_count; f++) {
		const struct dw_read_file *file = &reader->files[f];

		for (size_t i = 0; i < file->chunk_count; i++)
			chunks += file->chunks[i].type == DW_CHUNK_DEVICE;
		devices += file->device_parts.device_count + 1;
		queues += file->device_parts.queue_count + 1;
	}
	if (!chunks)
		return 0;
	source->events = dw_read_take(reader, chunks, sizeof *source->events);
	source->devices = dw_read_take(reader, devices, sizeof *source->devices);
	source->queues = dw_read_take(reader, queues, sizeof *source->queues);
	if (!source->events || !source->devices || !source->queues)
		return -1;
	for (size_t f = 0; f < reader->file_count; f++)
		if (devices_fill_file(reader, (uint32_t)f))
			return -1;
	return 0;
}
