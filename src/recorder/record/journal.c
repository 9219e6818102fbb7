/*
 * The journal: the part of the file that is never recycled. Any thread appends without a lock.
 *
 * One word holds its end: the index of the window (from 1), the block within it and the next byte
 * of that block. A thread appends by advancing the word by the entry's size. It then fills in the
 * entry in place and stores the tag last. A new chunk is taken under the process's lock. Entries
 * are aligned to 8 bytes, so that readers can skip an entry that a killed process reserved and did
 * not complete. A window's index is never reused. So a thread that was suspended while a new
 * session started writes to the old file, which stays mapped.
 *
 * STEP and PROFILE entries, of which a program may write thousands, have chunks of their own, with a word of their own.
 * Whoever reads one result needs only those of its time. So the header of such a chunk says when all of its entries have
 * ended: it is looked at when it is full, at the ends of the next profiles, and whenever a later one is full.
 */
#include "record/chunks.h"
#include "record/entry.h"
#include "record/journal.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/steps.h"
#include "record/windows.h"

#include "base/system/clock.h"
#include "base/system/descriptor.h"
#include "base/system/system.h"

#define BYTE_BITS 17 /* the next byte may be one past the block */
#define BYTE_MASK ((1u << BYTE_BITS) - 1)
#define TIMES_TRIES 32u /* ends of profiles at which full chunks are looked at again: more than steps are reserved in advance */

static char *journal_address(uint64_t place)
{
	const struct dw_window *window = &dw_process->windows[(place >> 32) - 1];
	uint32_t block = (uint32_t)place >> BYTE_BITS;

	return window->base + (size_t)block * DW_BLOCK_BYTES + (place & BYTE_MASK);
}

static void journal_fill_header(struct dw_chunk *chunk, uint32_t record_bytes)
{
	chunk->type = DW_CHUNK_JOURNAL;
	chunk->record_bytes = record_bytes;
	chunk->process = dw_process->new_id;
	chunk->base_ticks = dw_now();
	chunk->number = ++dw_process->journal_number;
}

/* dw_window_take() has stored the window and the block after this one. */
static void journal_publish_chunk(uint64_t *word)
{
	uint64_t place = dw_process->window >> 32 << 32 | (uint64_t)((uint32_t)dw_process->window - 1)
	                                                      << BYTE_BITS;

	__atomic_store_n(word, place | DW_CHUNK_HEADER_BYTES, __ATOMIC_RELEASE);
}

/* When the last entry of a chunk of times ended; 0: one has not ended, or it is reserved for a later step. */
static uint64_t journal_times_end(const struct dw_times_chunk *full)
{
	uint64_t end_ticks = full->chunk->base_ticks;

	for (uint32_t at = DW_CHUNK_HEADER_BYTES; at < full->bytes; at += DW_TIMES_BYTES) {
		const void *entry = (const char *)full->chunk + at;
		const struct dw_entry_profile *profile = entry;
		const struct dw_entry_step *step = entry;
		uint32_t tag = __atomic_load_n(&profile->entry.tag, __ATOMIC_ACQUIRE);
		uint64_t end = DW_LOAD(*(tag == DW_ENTRY_TAG(DW_ENTRY_STEP) ? &step->end_ticks : &profile->end_ticks));

		if (tag == DW_ENTRY_TAG(DW_ENTRY_STEP) && DW_LOAD(step->entry.aux) & DW_STEP_CANCELLED)
			continue;
		if (!tag || !end)
			return 0;
		end_ticks = end > end_ticks ? end : end_ticks;
	}
	return end_ticks;
}

/* Closes the full chunks of times whose entries have all ended. Under the lock. */
static void journal_close_times(void)
{
	bool left = false;

	for (uint32_t i = 0; i < DW_TIMES_FULL; i++) {
		struct dw_times_chunk *full = &dw_process->times_full[i];
		uint64_t end_ticks = full->chunk ? journal_times_end(full) : 0;

		left |= full->chunk && !end_ticks;
		if (!end_ticks)
			continue;
		/* Pairs with a reader's acquire of the head: the entries are complete. */
		__atomic_store_n(&full->chunk->end_ticks, end_ticks, __ATOMIC_RELEASE);
		full->chunk = NULL;
	}
	if (!left)
		DW_STORE(dw_process->times_tries, 0);
}

/* The chunk of times at `seen` is full. If one of its entries has not ended before four others are full, it is never closed,
 * and readers always read it. Under the lock. */
static void journal_fill_times(uint64_t seen)
{
	struct dw_times_chunk *next = &dw_process->times_full[dw_process->times_next++ % DW_TIMES_FULL];

	next->bytes = (uint32_t)(seen & BYTE_MASK);
	next->chunk = (struct dw_chunk *)(void *)(journal_address(seen) - next->bytes);
	DW_STORE(dw_process->times_tries, TIMES_TRIES);
	journal_close_times();
}

void dw_journal_look_times(void)
{
	uint32_t tries = DW_LOAD(dw_process->times_tries);

	if (!tries || !dw_process_lock())
		return;
	DW_STORE(dw_process->times_tries, tries - 1);
	journal_close_times();
	dw_process_unlock();
}

static bool journal_new_chunk(uint64_t *word, uint64_t seen)
{
	bool times = word == &dw_process->times;
	struct dw_chunk *chunk;
	enum dw_loss cause = DW_LOSS_FULL;
	uint32_t block = 0;
	char *address;

	if (__atomic_load_n(word, __ATOMIC_RELAXED) != seen)
		return true; /* another thread has taken a chunk */
	/* Sessions start and stop under the lock. Without a session the old file is already trimmed. */
	if (dw_session_head())
		block = dw_window_take(DW_CLAIM_RESERVED, &address, &cause);
	/* A journal that needs another chunk has steps, whose entries would each wait for the kernel's pages. */
	if (!block || !dw_window_fetch(block, address)) {
		DW_STORE(dw_process->refusal, block ? DW_LOSS_DISK : cause);
		return false;
	}
	chunk = (struct dw_chunk *)(void *)address;
	journal_fill_header(chunk, times ? DW_TIMES_BYTES : 0);
	/* Pairs with a reader's acquire of magic: the header is complete. */
	__atomic_store_n(&chunk->magic, DW_CHUNK_MAGIC, __ATOMIC_RELEASE);
	journal_publish_chunk(word);
	if (times && seen)
		journal_fill_times(seen);
	/* If a thread still writes to the old chunk, its access maps the page again. */
	if (seen)
		dw_window_drop(dw_process->windows[(seen >> 32) - 1].first + ((uint32_t)seen >> BYTE_BITS));
	return true;
}

/*
 * Writes the first chunk of a process, whose first entry identifies the process. It uses pwrite(),
 * because the file's owner may be removing unused blocks, and a write to mapped memory would then
 * raise SIGBUS. The magic is written last, as in memory.
 */
static bool journal_announce(int fd, uint32_t block, struct dw_chunk *header,
                             const struct dw_entry_process *self)
{
	off_t at = (off_t)block * DW_BLOCK_BYTES;
	const char *rest = (const char *)header + sizeof header->magic;
	size_t rest_bytes = sizeof *header - sizeof header->magic;

	header->magic = DW_CHUNK_MAGIC;
	return dw_call(SYS_pwrite64, fd, self, sizeof *self, at + (off_t)sizeof *header) == (long)sizeof *self &&
	       dw_call(SYS_pwrite64, fd, rest, rest_bytes, at + (off_t)sizeof header->magic) == (long)rest_bytes &&
	       dw_call(SYS_pwrite64, fd, header, sizeof header->magic, at) == (long)sizeof header->magic;
}

static uint32_t journal_finish_state(void)
{
	return __atomic_load_n(&dw_session_map()->flags, __ATOMIC_SEQ_CST) &
	       (DW_HEAD_FINISHING | DW_HEAD_FINISHED);
}

/*
 * Makes this process visible to the file's owner before it writes through memory. The proof that
 * this is safe is at file_remove_unused() in file.c. False with the cause if that fails or if the owner
 * is removing unused blocks now, which takes milliseconds.
 */
static bool journal_join_file(int fd, uint32_t block, struct dw_chunk *header, const struct dw_entry_process *self,
                              enum dw_loss *cause)
{
	const struct dw_window *window = &dw_process->windows[(dw_process->window >> 32) - 1];
	uint32_t before, after;

	*cause = DW_LOSS_DISK;
	do {
		before = journal_finish_state();
		/* The owner may have removed these blocks after they were claimed. */
		if (before && dw_call(SYS_fallocate, fd, 0, (off_t)window->first * DW_BLOCK_BYTES,
		                      (off_t)window->count * DW_BLOCK_BYTES) != 0)
			return false;
		if (!journal_announce(fd, block, header, self))
			return false;
		/* The seq_cst fence pairs with the owner's change of the flags before it searches for
		 * writers: either the owner sees this process or this process sees the change. */
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		after = journal_finish_state();
		*cause = DW_LOSS_STOPPED;
		if (after & DW_HEAD_FINISHING)
			return false;
	} while (after != before); /* repeats at most once, because FINISHED is the last state */
	if (after & DW_HEAD_FINISHED)
		__atomic_store_n(&dw_session_map()->end_blocks, 0, __ATOMIC_RELAXED);
	return true;
}

bool dw_journal_open(const struct dw_entry_process *self)
{
	struct dw_chunk header = { 0 };
	enum dw_loss cause = DW_LOSS_FULL;
	uint32_t block;
	char *address;
	bool joined;
	int fd;

	if (__atomic_load_n(&dw_process->journal, __ATOMIC_RELAXED))
		return true;
	block = dw_session_head() ? dw_window_take(DW_CLAIM_RESERVED, &address, &cause) : 0;
	if (block) {
		dw_process->journal_number = 0;
		journal_fill_header(&header, 0);
		fd = dw_window_file();
		joined = journal_join_file(fd, block, &header, self, &cause);
		dw_descriptor_close(fd);
		if (joined) {
			journal_publish_chunk(&dw_process->journal);
			return true;
		}
		dw_process->window = 0; /* not written to; the next attempt claims another */
	}
	DW_STORE(dw_process->refusal, cause);
	return false;
}

/* A refusal holds for 1/16 s, as with streams: a request to the file system for each entry would
 * cost more than recording it. */
static bool journal_new_chunk_locked(uint64_t *word, uint64_t seen, enum dw_loss *cause)
{
	bool done;

	*cause = (enum dw_loss)DW_LOAD(dw_process->refusal);
	if (dw_now() < DW_LOAD(dw_process->journal_retry_ticks))
		return false;
	*cause = dw_process_lock_loss();
	if (!dw_process_lock())
		return false; /* a signal handler that interrupted the holder, or registration */
	done = journal_new_chunk(word, seen);
	*cause = (enum dw_loss)DW_LOAD(dw_process->refusal);
	DW_STORE(dw_process->journal_retry_ticks,
	         done ? 0 : dw_now() + dw_session_map()->ticks_per_second / 16);
	dw_process_unlock();
	return done;
}

static void *journal_try(uint64_t *word, size_t bytes, enum dw_loss *cause)
{
	uint64_t place = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	struct dw_entry *entry;

	bytes = (bytes + 7) & ~(size_t)7;
	for (;;) {
		if (place && (place & BYTE_MASK) + bytes <= DW_BLOCK_BYTES) {
			if (__atomic_compare_exchange_n(word, &place, place + bytes, true,
			                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				break;
			continue;
		}
		if (!journal_new_chunk_locked(word, place, cause))
			return NULL;
		place = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	}
	entry = (struct dw_entry *)(void *)journal_address(place);
	entry->bytes = (uint32_t)bytes;
	return entry;
}

void *dw_journal_try(size_t bytes, enum dw_loss *cause)
{
	return journal_try(&dw_process->journal, bytes, cause);
}

void *dw_journal_try_times(size_t bytes, enum dw_loss *cause)
{
	return journal_try(&dw_process->times, bytes, cause);
}

enum dw_loss dw_journal_loss(enum dw_loss cause)
{
	/* A signal handler that interrupted a claim gets no space for a name. This does not count as
	 * a record lost to BUSY, because the range is recorded, without its name. */
	return cause == DW_LOSS_FULL || cause == DW_LOSS_BUSY ? DW_LOSS_DICTIONARY : cause;
}

void *dw_journal_reserve(size_t bytes)
{
	enum dw_loss cause;
	void *entry = dw_journal_try(bytes, &cause);

	if (!entry)
		dw_slot_lost(NULL, dw_journal_loss(cause), 1);
	return entry;
}

/* ---- clocks ----------------------------------------------------------------------- */

#define CLOCK_LEAST_SECONDS 2u /* between two entries, in a young run */
#define CLOCK_MOST_SECONDS 60u /* between two entries, in an old run */
#define CLOCK_SHARE 64u        /* otherwise the run's age divided by this */

void dw_journal_clock(void)
{
	enum dw_loss cause;
	struct dw_entry_clock *entry = dw_journal_try(sizeof *entry, &cause);
	struct dw_clock_sample sample;

	if (!entry)
		return;
	dw_clock_sample(DW_LOAD(dw_session.clock_kind), &sample);
	sample.ticks += DW_LOAD(dw_session.tick_offset);
	DW_STORE(dw_process->last_clock_ticks, sample.ticks);
	DW_STORE(dw_process->last_clock_ns, sample.monotonic_ns);
	entry->ticks = sample.ticks;
	entry->monotonic_ns = sample.monotonic_ns;
	entry->realtime_ns = sample.realtime_ns;
	entry->error_ns = sample.error_ns;
	dw_journal_commit(entry, DW_ENTRY_CLOCK);
}

/* When the next CLOCK entry is due if no window is claimed before. */
static uint64_t journal_next_clock(const struct dw_head *head, uint64_t now)
{
	uint64_t least = CLOCK_LEAST_SECONDS * head->ticks_per_second;
	uint64_t most = CLOCK_MOST_SECONDS * head->ticks_per_second;
	uint64_t wait = now > head->start_ticks ? (now - head->start_ticks) / CLOCK_SHARE : 0;

	return now + (wait < least ? least : wait > most ? most : wait);
}

void dw_journal_clock_due(uint64_t now)
{
	const struct dw_head *head = dw_session_head();
	uint64_t due = DW_LOAD(dw_process->clock_ticks);

	if (!head || DW_LOAD(dw_session.clock_kind) == DW_CLOCK_MONOTONIC || !dw_may_call())
		return;
	if (now < due && !DW_LOAD(dw_process->clock_due))
		return;
	/* One thread writes the entry. */
	if (!__atomic_compare_exchange_n(&dw_process->clock_ticks, &due, journal_next_clock(head, now),
	                                 false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	DW_STORE(dw_process->clock_due, false);
	/* The last part of the file is reserved for names. */
	if (due && dw_step_summary_blocks(head))
		dw_journal_clock();
}

void dw_journal_rebase(uint64_t last)
{
	const struct dw_head *head = dw_session_map();
	uint64_t offset = DW_LOAD(dw_session.tick_offset), now_ns, wanted;
	uint64_t from = DW_LOAD(dw_process->last_clock_ticks);
	uint64_t from_ns = DW_LOAD(dw_process->last_clock_ns);
	struct dw_clock_sample sample;

	if (!dw_may_call())
		return;
	if (!from || from > last) {
		from = head->start_ticks;
		from_ns = head->start_monotonic_ns;
	}
	dw_clock_sample(DW_LOAD(dw_session.clock_kind), &sample);
	now_ns = sample.monotonic_ns > from_ns ? sample.monotonic_ns - from_ns : 0;
	wanted = from + (uint64_t)((double)now_ns * 1e-9 * (double)head->ticks_per_second);
	if (wanted < last)
		wanted = last;
	/* One thread changes the offset; the others use it. */
	if (__atomic_compare_exchange_n(&dw_session.tick_offset, &offset, wanted - sample.ticks, false,
	                                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		dw_journal_clock();
}
