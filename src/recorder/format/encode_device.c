/* Devices and their events in a trace that is built in memory; see encode.h. */
#include "format/encode.h"

#include <string.h>

/* ---- entries ---------------------------------------------------------------------- */

uint32_t dw_encode_device(struct dw_encode_process *process, uint32_t number, const char *name,
                          enum dw_device_api api)
{
	uint32_t id = process->encode->failed ? 0 : dw_encode_new_id(process->encode);
	uint32_t text = dw_encode_string(process, name);
	struct dw_entry_device *entry =
	    dw_encode_entry(process, DW_ENTRY_DEVICE, id, process->id, sizeof *entry);

	if (!entry)
		return 0;
	entry->number = number;
	entry->name = text;
	entry->api = api;
	return id;
}

uint32_t dw_encode_queue(struct dw_encode_process *process, uint32_t device, uint64_t number,
                         uint32_t context, const char *name)
{
	uint32_t id = process->encode->failed ? 0 : dw_encode_new_id(process->encode);
	uint32_t text = dw_encode_string(process, name);
	struct dw_entry_queue *entry =
	    dw_encode_entry(process, DW_ENTRY_QUEUE, id, device, sizeof *entry);

	if (!entry)
		return 0;
	entry->number = number;
	entry->context = context;
	entry->name = text;
	return id;
}

uint32_t dw_encode_launch(struct dw_encode_process *process, uint32_t op,
                          const struct dw_launch_shape *shape)
{
	uint32_t id = process->encode->failed ? 0 : dw_encode_new_id(process->encode);
	struct dw_entry_launch *entry =
	    dw_encode_entry(process, DW_ENTRY_LAUNCH, id, op, sizeof *entry);

	if (!entry)
		return 0;
	memcpy(entry->grid, shape->grid, sizeof entry->grid);
	memcpy(entry->block, shape->block, sizeof entry->block);
	entry->registers = shape->registers;
	entry->static_shared_bytes = shape->static_shared_bytes;
	entry->dynamic_shared_bytes = shape->dynamic_shared_bytes;
	entry->local_bytes = shape->local_bytes;
	return id;
}

uint32_t dw_encode_device_clock(struct dw_encode_process *process, uint32_t clock,
                                uint64_t device_ticks, uint64_t ticks, uint64_t ticks_per_second,
                                uint64_t error_ns)
{
	struct dw_entry_device_clock *entry;

	if (!clock && !process->encode->failed)
		clock = dw_encode_new_id(process->encode);
	entry = dw_encode_entry(process, DW_ENTRY_DEVICE_CLOCK, clock, 0, sizeof *entry);
	if (!entry)
		return 0;
	entry->device_ticks = device_ticks;
	entry->ticks = ticks;
	entry->ticks_per_second = ticks_per_second;
	entry->error_ns = error_ns;
	return clock;
}

/* ---- events ------------------------------------------------------------------------ */

void dw_encode_events_init(struct dw_encode_events *events, const struct dw_encode_process *process,
                           uint32_t number, uint32_t clock, bool wide)
{
	memset(events, 0, sizeof *events);
	events->encode = process->encode;
	events->process = process->id;
	events->stream = number;
	events->clock = clock;
	events->record_bytes = wide ? DW_DEVICE_WIDE_BYTES : DW_DEVICE_RECORD_BYTES;
}

void dw_encode_events_close(struct dw_encode_events *events)
{
	struct dw_chunk *chunk;

	if (!events->block || events->encode->failed)
		return;
	chunk = dw_encode_chunk(events->encode, events->block);
	chunk->end_ticks = events->end_ticks;
	chunk->end_bytes = events->at_bytes;
	events->block = 0;
}

static bool encode_open_events(struct dw_encode_events *events)
{
	struct dw_chunk *chunk;

	events->block = dw_encode_new_chunk(events->encode, DW_CHUNK_DEVICE, events->process,
	                                    events->stream, ++events->number);
	if (!events->block)
		return false;
	if (events->last_block)
		dw_encode_chunk(events->encode, events->last_block)->next = events->block;
	chunk = dw_encode_chunk(events->encode, events->block);
	chunk->clock = events->clock;
	chunk->record_bytes = events->record_bytes;
	events->last_block = events->block;
	events->at_bytes = DW_CHUNK_HEADER_BYTES;
	events->end_ticks = 0;
	return true;
}

static void encode_fill_event(struct dw_device_record *record, const struct dw_device_event_in *event,
                              uint64_t duration_ticks)
{
	record->start_ticks = event->start_ticks;
	record->length = duration_ticks | (uint64_t)event->detail << DW_DEVICE_LENGTH_BITS;
	switch (event->kind) {
	case DW_DEVICE_COPY:
	case DW_DEVICE_SET:
	case DW_DEVICE_MEMORY:
		record->bytes = event->bytes;
		break;
	case DW_DEVICE_SYNC:
	case DW_DEVICE_RECORD:
		record->wait.event = event->event;
		record->wait.queue = event->wait_queue;
		break;
	default:
		record->name.id = event->name;
		record->name.node = event->node;
		break;
	}
	record->correlation = event->correlation;
	record->what = (uint32_t)event->kind << DW_KIND_SHIFT | (event->queue & DW_ID_MASK);
}

void dw_encode_event(struct dw_encode_events *events, const struct dw_device_event_in *event)
{
	uint64_t duration_ticks = event->duration_ticks;
	struct dw_device_record_wide wide = { .external = event->external, .name = event->other_name,
		                                  .recorded_by = event->recorded_by };
	uint64_t end_ticks;

	if (events->encode->failed)
		return;
	if (duration_ticks > DW_DEVICE_LENGTH_MASK)
		duration_ticks = DW_DEVICE_LENGTH_MASK;
	if (events->block && events->at_bytes + events->record_bytes > DW_BLOCK_BYTES)
		dw_encode_events_close(events);
	if (!events->block && !encode_open_events(events))
		return;
	encode_fill_event(&wide.record, event, duration_ticks);
	memcpy((char *)dw_encode_chunk(events->encode, events->block) + events->at_bytes, &wide,
	       events->record_bytes);
	events->at_bytes += events->record_bytes;
	end_ticks = event->start_ticks + duration_ticks;
	if (end_ticks > events->end_ticks)
		events->end_ticks = end_ticks;
}
