/*
 * Events of devices: what a driver reports about kernels, copies and waits.
 *
 * Drivers report late, from threads of their own, and several at once. So a process has one writer of
 * device chunks, under a lock, and no thread's stream is involved. Probes come here with a whole buffer
 * of the driver's at a time. Like a stream, the writer recycles its own oldest chunk if the file may not
 * grow, and counts the records in it as lost.
 *
 * Devices, queues and launches are names: they are interned. Clocks are appended to the journal, a pairing
 * each. Never called in signal handlers.
 */
#include "record/chunks.h"
#include "record/entry.h"
#include "record/ids.h"
#include "record/journal.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/steps.h"
#include "record/thread.h"
#include "record/windows.h"

#include <string.h>
#include <time.h>

#include "base/system/system.h"
#include "dwell/probe_abi.h"

_Static_assert((int)DWELL_DEVICE_KERNEL == DW_DEVICE_KERNEL && (int)DWELL_DEVICE_MEMORY == DW_DEVICE_MEMORY &&
               (int)DWELL_DEVICE_GAP == DW_DEVICE_GAP, "the public kinds are those of the file");
_Static_assert(sizeof(struct dw_entry_launch) == sizeof(struct dw_entry) + 40, "ten numbers");

#define RECORD_BYTES DW_DEVICE_WIDE_BYTES
#define STEPS_AHEAD 10u
#define WAITS 1000u /* for the lock, of 100 us each */

/* ---- names -------------------------------------------------------------------------- */

uint32_t dwell_device_epoch(void)
{
	DW_KEEP_ERRNO;
	enum dw_loss cause;
	uint32_t epoch = 0;

	/* A process has one PROCESS id in a session, and no two processes of a file have the same. */
	if (dw_session_head() && dw_process_ready(&cause) && dw_process_own_memory())
		epoch = DW_LOAD(dw_process->id) ^ DW_LOAD(dw_session.generation) << 28;
	return epoch;
}

static uint32_t device_probe; /* atomic; 1: there is one. A note only, which orders nothing */

bool dw_device_has_probe(void)
{
	return __atomic_load_n(&device_probe, __ATOMIC_RELAXED);
}

bool dwell_device_wanted(void)
{
	const uint32_t mask = 1u << DWELL_CATEGORY_DEVICE;

	__atomic_store_n(&device_probe, 1, __ATOMIC_RELAXED);
	return dwell_device_epoch() && (dwell_wants(mask) || dw_step_wanted_soon(mask, STEPS_AHEAD));
}

bool dwell_device_asked(void)
{
	return dwell_device_epoch() && dw_step_asked(1u << DWELL_CATEGORY_DEVICE);
}

void dwell_device_burst(bool runs)
{
	if (dwell_device_epoch())
		DW_STORE(dw_process->device_burst, runs);
}

bool dwell_device_in_burst(void)
{
	return dwell_device_epoch() && DW_LOAD(dw_process->device_burst);
}

uint32_t dwell_intern_device(const struct dwell_device *device)
{
	struct dw_entry_device entry = { .number = device->number, .api = device->api,
		                             .processors = device->processors,
		                             .memory_bytes = device->memory_bytes };
	DW_KEEP_ERRNO;
	uint32_t id = 0;

	if (dwell_device_epoch()) {
		entry.entry = (struct dw_entry){ DW_ENTRY_TAG(DW_ENTRY_DEVICE), sizeof entry, 0,
			                             DW_LOAD(dw_process->id) };
		entry.name = dw_intern_text(device->name);
		memcpy(entry.uuid, device->uuid, sizeof entry.uuid);
		id = dw_intern(&entry.entry);
	}
	return id;
}

uint32_t dwell_intern_queue(uint32_t device, uint64_t number, uint32_t context, int32_t priority,
                            bool is_default)
{
	struct dw_entry_queue entry = { .number = number, .context = context, .priority = priority,
		                            .flags = is_default ? DW_QUEUE_DEFAULT : 0 };
	DW_KEEP_ERRNO;

	entry.entry = (struct dw_entry){ DW_ENTRY_TAG(DW_ENTRY_QUEUE), sizeof entry, 0, device };
	return device && dw_session_head() ? dw_intern(&entry.entry) : 0;
}

uint32_t dwell_intern_launch(uint32_t kernel, const uint32_t shape[10])
{
	struct dw_entry_launch entry;
	DW_KEEP_ERRNO;

	entry.entry = (struct dw_entry){ DW_ENTRY_TAG(DW_ENTRY_LAUNCH), sizeof entry, 0, kernel };
	memcpy(&entry.entry + 1, shape, sizeof entry - sizeof entry.entry);
	return kernel && dw_session_head() ? dw_intern(&entry.entry) : 0;
}

uint32_t dwell_thread_of(uint32_t tid)
{
	uint32_t count = dw_process ? __atomic_load_n(&dw_process->slot_count, __ATOMIC_ACQUIRE) : 0;

	for (uint32_t i = 0; tid && i < count && i < DW_MAX_SLOTS; i++) {
		const struct dw_slot *slot = dw_process_slot(i);

		if (DW_LOAD(slot->tid) == tid && slot->generation == DW_LOAD(dw_session.generation))
			return slot->thread;
	}
	return 0;
}

/* ---- clocks ------------------------------------------------------------------------- */

uint64_t dwell_device_ticks(void)
{
	return dw_session_map() ? dw_now() : 0;
}

uint32_t dwell_device_clock(uint32_t clock, uint64_t device_ns, uint64_t ticks, uint64_t error_ticks)
{
	const struct dw_head *head = dw_session_head();
	struct dw_entry_device_clock *entry;
	DW_KEEP_ERRNO;

	if (!head || !dwell_device_epoch() || (!clock && !(clock = dw_new_id())))
		return 0;
	entry = dw_journal_reserve(sizeof *entry);
	if (entry) {
		entry->entry.id = clock;
		entry->device_ticks = device_ns;
		entry->ticks = ticks;
		entry->ticks_per_second = 1000000000u;
		entry->error_ns = head->ticks_per_second
		                      ? (uint64_t)((double)error_ticks * 1e9 / (double)head->ticks_per_second)
		                      : 0;
		dw_journal_commit(entry, DW_ENTRY_DEVICE_CLOCK);
	}
	return entry ? clock : 0;
}

/* ---- chunks ------------------------------------------------------------------------- */

static void device_close(struct dw_device_writer *writer)
{
	writer->chunk->end_ticks = writer->end_ticks;
	__atomic_store_n(&writer->chunk->end_bytes, writer->at_bytes, __ATOMIC_RELEASE);
	if (writer->block >= dw_session_map()->keep_blocks && !writer->oldest)
		writer->oldest = writer->block;
}

/* Empties the writer's oldest chunk for reuse, as chunk.c does with a stream's. */
static char *device_recycle(struct dw_device_writer *writer, uint32_t *block)
{
	struct dw_chunk *chunk = (struct dw_chunk *)(void *)dw_window_address(writer->oldest);

	*block = writer->oldest;
	if (!chunk || !dw_window_fetch(*block, (char *)chunk))
		return NULL;
	writer->oldest = chunk == writer->chunk ? 0 : chunk->next;
	if (chunk == writer->chunk)
		writer->chunk = NULL;
	dw_chunk_recycle(chunk, NULL, (chunk->end_bytes - sizeof *chunk) / RECORD_BYTES);
	return (char *)chunk;
}

static char *device_take_block(struct dw_device_writer *writer, uint32_t *block, enum dw_loss *cause)
{
	bool reserved = !writer->oldest && dw_session_map()->keep != DW_KEEP_OLDEST;
	char *address = NULL;

	*block = 0;
	*cause = dw_process_lock_loss();
	if (dw_process_lock()) {
		*cause = DW_LOSS_STOPPED;
		if (dw_session_head() && writer->generation == DW_LOAD(dw_session.generation))
			*block = dw_window_take(reserved ? DW_CLAIM_RESERVED : DW_CLAIM_STREAM, &address, cause);
		if (address) { /* under the lock: a session that stops next does not remove the block */
			struct dw_chunk *chunk = (struct dw_chunk *)(void *)address;

			chunk->type = DW_CHUNK_DEVICE;
			__atomic_store_n(&chunk->magic, DW_CHUNK_MAGIC, __ATOMIC_RELEASE);
		}
		dw_process_unlock();
	}
	if (*block && dw_window_fetch(*block, address))
		return address;
	if (*block)
		*cause = DW_LOSS_DISK;
	return writer->oldest ? device_recycle(writer, block) : NULL;
}

static bool device_open(struct dw_device_writer *writer, uint32_t clock, enum dw_loss *cause)
{
	uint32_t block;
	struct dw_chunk *chunk;
	char *address;

	if (writer->chunk && !writer->chunk->end_bytes)
		device_close(writer);
	address = device_take_block(writer, &block, cause);
	if (!address)
		return false;
	chunk = (struct dw_chunk *)(void *)address;
	chunk->process = DW_LOAD(dw_process->id);
	chunk->stream = 0;
	chunk->clock = clock;
	chunk->record_bytes = RECORD_BYTES;
	/* A follower that sees the number also sees the fields that were written before it. */
	__atomic_store_n(&chunk->number, ++writer->number, __ATOMIC_RELEASE);
	if (writer->chunk) {
		writer->chunk->next = block;
		dw_window_drop(writer->block);
	}
	writer->chunk = chunk;
	writer->block = block;
	writer->clock = clock;
	writer->at_bytes = sizeof *chunk;
	writer->end_ticks = 0;
	return true;
}

/* ---- events ------------------------------------------------------------------------- */

static void device_put(struct dw_device_writer *writer, const struct dwell_device_event *event)
{
	uint64_t length = event->length_ns, end = event->start_ns + length;
	struct dw_device_record_wide *to =
	    (void *)((char *)writer->chunk + writer->at_bytes);

	if (length > DW_DEVICE_LENGTH_MASK)
		length = DW_DEVICE_LENGTH_MASK;
	to->record.start_ticks = event->start_ns;
	to->record.length = length | (uint64_t)event->detail << DW_DEVICE_LENGTH_BITS;
	to->record.bytes = event->value;
	to->record.correlation = event->correlation;
	to->external = event->external;
	to->recorded_by = event->recorded_by;
	/* Pairs with a reader's acquire: the record is complete. */
	__atomic_store_n(&to->record.what, event->kind << DW_KIND_SHIFT | (event->queue & DW_ID_MASK),
	                 __ATOMIC_RELEASE);
	writer->at_bytes += RECORD_BYTES;
	if (end > writer->end_ticks)
		writer->end_ticks = end;
}

static bool device_lock(struct dw_device_writer *writer)
{
	struct timespec pause = { 0, 100000 };

	for (unsigned i = 0; i < WAITS; i++) {
		uint32_t none = 0;

		if (__atomic_compare_exchange_n(&writer->lock, &none, 1, false, __ATOMIC_ACQUIRE,
		                                __ATOMIC_RELAXED))
			return true;
		if (!dw_may_call())
			return false;
		dw_call(SYS_nanosleep, &pause, NULL);
	}
	return false;
}

static unsigned device_write(struct dw_device_writer *writer, uint32_t clock,
                             const struct dwell_device_event *events, unsigned count,
                             enum dw_loss *cause)
{
	unsigned done = 0;

	if (writer->generation != DW_LOAD(dw_session.generation)) {
		*writer = (struct dw_device_writer){ .lock = 1, .generation = DW_LOAD(dw_session.generation) };
	}
	for (; done < count; done++) {
		bool fits = writer->chunk && writer->clock == clock && !writer->chunk->end_bytes &&
		            writer->at_bytes + RECORD_BYTES <= DW_BLOCK_BYTES;

		if (!fits && !device_open(writer, clock, cause))
			break;
		device_put(writer, &events[done]);
	}
	return done;
}

void dwell_device_lost(uint64_t records)
{
	dw_slot_lost(NULL, DW_LOSS_DEVICE, records);
}

void dwell_device_events(uint32_t epoch, uint32_t clock, const struct dwell_device_event *events,
                         unsigned count)
{
	DW_KEEP_ERRNO;
	enum dw_loss cause = DW_LOSS_BUSY;
	unsigned done = 0;

	if (!epoch || epoch != dwell_device_epoch()) {
		cause = DW_LOSS_STOPPED;
	} else if (device_lock(&dw_process->device)) {
		dw_journal_look(dw_now());
		done = device_write(&dw_process->device, clock, events, count, &cause);
		__atomic_store_n(&dw_process->device.lock, 0, __ATOMIC_RELEASE);
	}
	if (done < count)
		dw_slot_lost(NULL, cause, count - done);
}
