/*
 * The journal: what is never recycled, appended by any thread without a lock.
 *
 * Its place is one word: the window (from 1), the block within it and the next byte
 * of that block. To append is to move the word by the entry's size; the entry is
 * filled in place and its tag stored last. A new chunk is taken under the process's
 * lock. Entries begin on 8 bytes, so what a killed process reserved and did not fill
 * is found and passed over. The window's index is never used again, so a thread that
 * slept over the start of a new session writes to the old file, which stays mapped.
 */
#include "record/record.h"

#include <string.h>

#include "base/clock.h"

#define BYTE_BITS 17 /* the next byte may be one past the block */
#define BYTE_MASK ((1u << BYTE_BITS) - 1)

static char *address_of(uint64_t place)
{
	const struct dw_window *window = &dw_process->windows[(place >> 32) - 1];
	uint32_t block = (uint32_t)place >> BYTE_BITS;

	return window->base + (size_t)block * DW_BLOCK_BYTES + (place & BYTE_MASK);
}

static bool new_chunk(uint64_t seen)
{
	struct dw_chunk *chunk;
	enum dw_loss cause = DW_LOSS_FULL;
	char *address;
	uint64_t place;

	if (__atomic_load_n(&dw_process->journal, __ATOMIC_RELAXED) != seen)
		return true; /* another thread took one */
	/* Sessions start and stop under the lock: the old file is trimmed by now. */
	if (!dw_session_head() || !dw_window_take(DW_CLAIM_RESERVED, &address, &cause)) {
		DW_STORE(dw_process->refusal, cause);
		return false;
	}
	chunk = (struct dw_chunk *)(void *)address;
	chunk->type = DW_CHUNK_JOURNAL;
	chunk->process = dw_process->new_id;
	chunk->base_ticks = dw_now();
	chunk->number = ++dw_process->journal_number;
	/* Pairs with a reader's acquire of magic: the header is whole. */
	__atomic_store_n(&chunk->magic, DW_CHUNK_MAGIC, __ATOMIC_RELEASE);
	/* dw_window_take() left the window and the block after this one. */
	place = dw_process->window >> 32 << 32 |
	        (uint64_t)((uint32_t)dw_process->window - 1) << BYTE_BITS;
	__atomic_store_n(&dw_process->journal, place | DW_CHUNK_HEADER_BYTES, __ATOMIC_RELEASE);
	/* Who still writes to the old chunk fetches its page again. */
	if (seen)
		dw_window_drop(dw_process->windows[(seen >> 32) - 1].first +
		               ((uint32_t)seen >> BYTE_BITS));
	return true;
}

bool dw_journal_open(void)
{
	return new_chunk(0);
}

static bool new_chunk_locked(uint64_t seen)
{
	bool done;

	if (!dw_process_lock())
		return false; /* a handler that interrupted the holder, or registration itself */
	done = new_chunk(seen);
	dw_process_unlock();
	return done;
}

void *dw_journal_reserve(size_t bytes)
{
	uint64_t place = __atomic_load_n(&dw_process->journal, __ATOMIC_ACQUIRE);
	struct dw_entry *entry;

	bytes = (bytes + 7) & ~(size_t)7;
	for (;;) {
		if (place && (place & BYTE_MASK) + bytes <= DW_BLOCK_BYTES) {
			if (__atomic_compare_exchange_n(&dw_process->journal, &place, place + bytes, true,
			                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				break;
			continue;
		}
		if (!new_chunk_locked(place)) {
			dw_slot_lost(NULL, DW_LOSS_DICTIONARY, 1);
			return NULL;
		}
		place = __atomic_load_n(&dw_process->journal, __ATOMIC_ACQUIRE);
	}
	entry = (struct dw_entry *)(void *)address_of(place);
	entry->bytes = (uint32_t)bytes;
	return entry;
}

void dw_journal_commit(void *entry, enum dw_entry_type type)
{
	/* Pairs with a reader's acquire of the tag: the entry is whole. */
	__atomic_store_n(&((struct dw_entry *)entry)->tag, DW_ENTRY_TAG(type), __ATOMIC_RELEASE);
}

void dw_journal_clock(void)
{
	struct dw_entry_clock *entry = dw_journal_reserve(sizeof *entry);
	struct dw_clock_sample sample;

	if (!entry)
		return;
	dw_clock_sample(DW_LOAD(dw_session.clock_kind), &sample);
	entry->ticks = sample.ticks;
	entry->monotonic_ns = sample.monotonic_ns;
	entry->realtime_ns = sample.realtime_ns;
	entry->error_ns = sample.error_ns;
	dw_journal_commit(entry, DW_ENTRY_CLOCK);
}
