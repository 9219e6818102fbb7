/*
 * Streams: one writer a thread, and the slow half of writing a record.
 *
 * A slot holds one live thread's streams. It is claimed at the thread's first
 * record and claimed again, chunks and all, by a later thread when its own is
 * dead: no destructor runs, so daemon threads and _exit lose nothing, and ten
 * thousand short threads fill a few chunks. The inline half (probe.h) writes while
 * there is room in the chunk; here are new chunks, long silences, new threads,
 * children of fork, interrupted records and everything that gets lost.
 */
#include "record/record.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "format/words.h"

/* The kernel orders a thread's end before the ESRCH that says so, which the thread
 * sanitizer cannot know: its tests release the slot at a thread's end instead. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define ORDERED_BY_EXIT(slot) __tsan_acquire(slot)
#else
#define ORDERED_BY_EXIT(slot) ((void)0)
#endif

/* Threads that have no slot yet share this one: busy for ever, never written. */
static const struct dwell_stream no_stream = { .busy = 1 };

__thread struct dwell_stream *dwell_this_stream __attribute__((tls_model("initial-exec"))) =
    (struct dwell_stream *)&no_stream;

uint64_t dw_now(void)
{
	return dw_clock_read(DW_LOAD(dw_session.clock_kind));
}

/* ---- losses ------------------------------------------------------------------ */

/* A thread with an entry counts there, alone; others in the head, together. */
void dw_lost(struct dw_slot *slot, enum dw_loss cause, uint64_t records)
{
	struct dw_head *head = dw_session_head();

	if (slot && slot->entry && slot->generation == DW_LOAD(dw_session.generation)) {
		uint64_t *lost = &slot->entry->lost[cause];

		/* Adds in one step: a signal handler of this thread may count in between. */
		__atomic_fetch_add(lost, records, __ATOMIC_RELAXED);
	} else if (head) {
		__atomic_fetch_add(&head->lost[cause], records, __ATOMIC_RELAXED);
	}
}

/* ---- slots ------------------------------------------------------------------- */

static bool try_slot(struct dw_slot *slot, uint32_t self)
{
	uint32_t owner = __atomic_load_n(&slot->tid, __ATOMIC_RELAXED);

	if (!owner || (owner != self && !dw_process_thread_dead(owner)))
		return false;
	if (owner == self && slot->main.busy)
		return false; /* we are a handler that interrupted its own thread's claim */
	/* Acquire: what the dead thread wrote last was released by the kernel's exit. */
	return __atomic_compare_exchange_n(&slot->tid, &owner, self, false, __ATOMIC_ACQUIRE,
	                                   __ATOMIC_RELAXED);
}

/* A dead thread's slot, or a new one. A few slots are looked at each time: as
 * many as are needed to keep up with threads that come and go. */
static struct dw_slot *claim_slot(uint32_t self)
{
	uint32_t count = __atomic_load_n(&dw_process->slot_count, __ATOMIC_RELAXED), index;

	if (count > DW_MAX_SLOTS)
		count = DW_MAX_SLOTS;
	for (uint32_t i = 0; i < 16 && i < count; i++) {
		uint32_t look = __atomic_fetch_add(&dw_process->slot_look, 1, __ATOMIC_RELAXED) % count;

		if (try_slot(&dw_process->slots[look], self)) {
			ORDERED_BY_EXIT(&dw_process->slots[look]);
			return &dw_process->slots[look];
		}
	}
	index = __atomic_fetch_add(&dw_process->slot_count, 1, __ATOMIC_RELAXED);
	if (index >= DW_MAX_SLOTS) {
		__atomic_store_n(&dw_process->slot_count, DW_MAX_SLOTS, __ATOMIC_RELAXED);
		return NULL;
	}
	__atomic_store_n(&dw_process->slots[index].tid, self, __ATOMIC_RELEASE);
	return &dw_process->slots[index];
}

static bool write_thread_entry(struct dw_slot *slot)
{
	struct dw_entry_thread *entry;
	uint32_t id = dw_new_id();

	entry = id ? dw_journal_reserve(sizeof *entry) : NULL;
	if (!entry)
		return false;
	entry->entry.id = id;
	slot->process = DW_LOAD(dw_process->new_id); /* id may be on its way, see registering_here() */
	entry->entry.aux = slot->process;
	entry->tid = DW_LOAD(slot->tid);
	entry->stream = slot->writers[0].stream;
	entry->start_ticks = dw_now();
	prctl(PR_GET_NAME, entry->name);
	dw_journal_commit(entry, DW_ENTRY_THREAD);
	slot->thread = id;
	slot->entry = entry;
	return true;
}

/* All but `busy`, which keeps handlers off meanwhile. */
static void empty(struct dwell_stream *stream)
{
	stream->cursor = NULL;
	__atomic_store_n(&stream->limit, NULL, __ATOMIC_RELAXED);
	stream->last_ticks = 0;
}

/* A slot of an earlier session, or never used: nothing of it belongs to this file. */
static void forget(struct dw_slot *slot)
{
	empty(&slot->main);
	empty(&slot->nested);
	memset(slot->writers, 0, sizeof slot->writers);
	uint32_t stream = __atomic_fetch_add(&dw_process->stream_count, 1, __ATOMIC_RELAXED);
	slot->writers[0].stream = stream;
	slot->writers[1].stream = stream | DW_STREAM_NESTED;
	slot->entry = NULL;
	slot->step = NULL;
	slot->step_ticks = 0;
	slot->retry_ticks = 0;
	slot->operators = 0;
	slot->stack_high = 0;
	memset(slot->shapes, 0, sizeof slot->shapes);
	memset(slot->stacks, 0, sizeof slot->stacks);
}

/*
 * A thread that was cancelled inside a record may have left its stream's place and
 * time apart from what stands in the chunk, which alone is true.
 */
static void resume_chunk(struct dwell_stream *stream, const struct dw_chunk *chunk)
{
	uint32_t *word;

	if (!chunk || chunk->end_bytes)
		return;
	stream->last_ticks = chunk->base_ticks;
	for (word = (uint32_t *)(uintptr_t)(chunk + 1); *word; word += dw_record_words(word)) {
		stream->last_ticks += *word >> DW_DELTA_SHIFT;
		if (!(*word & DW_WORD_END) && word[1] >> DW_KIND_SHIFT == DW_EXT)
			stream->last_ticks = word[2] | (uint64_t)word[3] << 32;
	}
	stream->cursor = (char *)word;
	/* The rest of a record that has no first word: as data it would be garbage. */
	size_t left = DW_BLOCK_BYTES - (size_t)(stream->cursor - (const char *)chunk);
	memset(word, 0, left < DW_CHUNK_TAIL_BYTES ? left : DW_CHUNK_TAIL_BYTES);
}

static void resume_chunks(struct dw_slot *slot)
{
	resume_chunk(&slot->main, slot->writers[0].chunk);
	resume_chunk(&slot->nested, slot->writers[1].chunk);
}

static struct dw_slot *register_thread(enum dw_loss *cause)
{
	struct dw_slot *slot;
	bool cut_short;

	if (!dw_process_ready(cause))
		return NULL;
	*cause = DW_LOSS_THREADS;
	slot = claim_slot((uint32_t)dw_gettid());
	if (!slot)
		return NULL;
	cut_short = slot->main.busy || slot->nested.busy;
	slot->main.busy = 1; /* a handler must not use it before it is whole */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slot->generation != DW_LOAD(dw_session.generation) || !slot->entry)
		forget(slot);
	else if (cut_short)
		resume_chunks(slot);
	slot->nested.busy = 0;
	/* The first record takes the slow path, which says whose it is: the chunk may
	 * be a dead thread's with room in it. */
	__atomic_store_n(&slot->main.limit, NULL, __ATOMIC_RELAXED);
	slot->generation = DW_LOAD(dw_session.generation);
	slot->step = NULL;
	slot->step_ticks = 0;
	slot->operators = 0;
	slot->stack_high = 0;
	if (!write_thread_entry(slot)) {
		*cause = dw_process_refusal();
		slot->main.busy = 0;
		__atomic_store_n(&slot->tid, 0, __ATOMIC_RELEASE);
		return NULL;
	}
	dwell_this_stream = &slot->main;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot->main.busy = 0;
	return slot;
}

/* An existing thread meets a new session: the slot is its own still. */
static bool renew(struct dw_slot *slot, enum dw_loss *cause)
{
	bool done;

	*cause = DW_LOSS_BUSY;
	if (slot->main.busy || slot->nested.busy)
		return false; /* a handler inside a record that goes to the old session */
	if (!dw_process_ready(cause))
		return false;
	*(volatile uint32_t *)&slot->main.busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	forget(slot);
	slot->generation = DW_LOAD(dw_session.generation);
	done = write_thread_entry(slot);
	*cause = dw_process_refusal();
	dw_stream_leave(&slot->main);
	return done;
}

struct dw_slot *dw_stream_slot(enum dw_loss *cause)
{
	struct dw_slot *slot = (struct dw_slot *)(void *)dwell_this_stream;

	*cause = DW_LOSS_STOPPED;
	if (!dw_session_head())
		return NULL;
	/* tid 0: wiped by fork; this thread is the child's first. */
	if (dwell_this_stream == &no_stream || !DW_LOAD(slot->tid))
		return register_thread(cause);
	if (slot->generation != DW_LOAD(dw_session.generation) && !renew(slot, cause))
		return NULL;
	return slot;
}

/* ---- chunks ------------------------------------------------------------------ */

static struct dw_slot *slot_of(struct dwell_stream *stream, struct dw_writer **writer)
{
	struct dw_slot *slot = (struct dw_slot *)(void *)dwell_this_stream;

	*writer = &slot->writers[stream == &slot->nested];
	return slot;
}

static void open_chunk(struct dwell_stream *stream, struct dw_slot *slot, struct dw_writer *writer,
                       uint32_t block, char *address)
{
	struct dw_chunk *chunk = (struct dw_chunk *)(void *)address;

	if (!stream->last_ticks)
		stream->last_ticks = dw_now();
	dw_window_fetch(address);
	writer->thread = slot->thread;
	chunk->type = DW_CHUNK_STREAM;
	chunk->process = slot->process; /* another session may have begun meanwhile */
	chunk->stream = writer->stream;
	chunk->base_ticks = stream->last_ticks;
	chunk->thread = slot->thread;
	/* A follower that sees the number sees the rest. */
	__atomic_store_n(&chunk->number, ++writer->number, __ATOMIC_RELEASE);
	if (writer->chunk)
		writer->chunk->next = block;
	writer->chunk = chunk;
	writer->block = block;
	stream->cursor = address + sizeof *chunk;
	/* Streams on a clock that needs a call have no room for the inline half. */
	__atomic_store_n(&stream->limit,
	                 DW_LOAD(dw_session.clock_kind) == DW_CLOCK_MONOTONIC
	                     ? stream->cursor
	                     : address + DW_BLOCK_BYTES - DW_CHUNK_TAIL_BYTES,
	                 __ATOMIC_RELAXED);
}

static void close_chunk(struct dwell_stream *stream, struct dw_writer *writer)
{
	struct dw_chunk *chunk = writer->chunk;

	chunk->end_ticks = stream->last_ticks;
	__atomic_store_n(&chunk->end_bytes, (uint32_t)(stream->cursor - (char *)chunk), __ATOMIC_RELEASE);
	if (writer->block >= dw_session_map()->keep_blocks && !writer->oldest)
		writer->oldest = writer->block;
	dw_window_drop(writer->block);
}

static uint32_t slow_range_op; /* atomic; as long-lived as the table it comes from */

/* The records of the program, without those that the recorder adds. */
static uint64_t count_records(const struct dw_chunk *chunk)
{
	uint32_t own = __atomic_load_n(&slow_range_op, __ATOMIC_RELAXED);
	const uint32_t *word = (const uint32_t *)(const void *)chunk + sizeof *chunk / 4;
	const uint32_t *end = (const uint32_t *)(const void *)chunk + chunk->end_bytes / 4;
	uint64_t records = 0;

	for (; word < end; word += dw_record_words(word)) {
		uint32_t kind = *word & DW_WORD_END ? DW_BEGIN : word[1] >> DW_KIND_SHIFT;

		if (kind == DW_EXT || kind == DW_THREAD || kind == DW_LOSS)
			continue;
		if (!(*word & DW_WORD_END) && own && word[1] == own)
			records--; /* a BEGIN of kind 0: its END will be counted and must not be */
		else
			records++;
	}
	return records;
}

/* This stream's oldest chunk, emptied. */
static uint32_t recycle(struct dw_slot *slot, struct dw_writer *writer, char **address)
{
	uint32_t block = writer->oldest;
	struct dw_chunk *chunk = (struct dw_chunk *)(void *)dw_window_address(block);
	uint64_t records;

	if (!chunk)
		return 0;
	records = count_records(chunk);
	writer->oldest = block == writer->block ? 0 : chunk->next;
	if (block == writer->block)
		writer->chunk = NULL; /* the only one: it has no successor */
	/* Followers recheck the number after copying: 0 first, the new one last. */
	__atomic_store_n(&chunk->number, 0, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	chunk->end_bytes = 0;
	chunk->end_ticks = 0;
	chunk->next = 0;
	memset(chunk + 1, 0, DW_BLOCK_BYTES - sizeof *chunk);
	dw_lost(slot, DW_LOSS_RECYCLED, records);
	*address = (char *)chunk;
	return block;
}

/* Under the lock, so that a session that stops next does not trim what this thread
 * is about to write. Number 0 keeps readers away until the header is whole. */
static void mark_taken(char *address)
{
	struct dw_chunk *chunk = (struct dw_chunk *)(void *)address;

	chunk->type = DW_CHUNK_STREAM;
	__atomic_store_n(&chunk->magic, DW_CHUNK_MAGIC, __ATOMIC_RELEASE);
}

static uint32_t find_block(struct dw_slot *slot, struct dw_writer *writer, char **address,
                           enum dw_loss *cause)
{
	/* A stream that has nothing to recycle may take a chunk of the reserve. */
	bool reserved = !writer->oldest && dw_session_map()->keep != DW_KEEP_OLDEST;
	uint32_t block = 0;

	*cause = (enum dw_loss)slot->refusal;
	if (dw_now() >= slot->retry_ticks) {
		*cause = DW_LOSS_BUSY;
		if (dw_process_lock()) {
			*cause = DW_LOSS_STOPPED; /* sessions start and stop under the lock */
			if (dw_session_head() && slot->generation == DW_LOAD(dw_session.generation))
				block = dw_window_take(reserved ? DW_CLAIM_RESERVED : DW_CLAIM_STREAM, address,
				                       cause);
			if (block)
				mark_taken(*address);
			dw_process_unlock();
		}
	}
	if (block)
		return block;
	/* Asking again for every record would cost more than recording did. */
	if (dw_now() >= slot->retry_ticks && *cause != DW_LOSS_BUSY) {
		slot->retry_ticks = dw_now() + dw_session_map()->ticks_per_second / 16;
		slot->refusal = *cause;
	}
	return writer->oldest ? recycle(slot, writer, address) : 0;
}

/* A new chunk for the stream; false with the cause. */
static bool next_chunk(struct dwell_stream *stream, struct dw_slot *slot, struct dw_writer *writer,
                       enum dw_loss *cause)
{
	char *address = NULL;
	uint32_t block;

	if (writer->chunk && !writer->chunk->end_bytes)
		close_chunk(stream, writer);
	block = find_block(slot, writer, &address, cause);
	if (!block)
		return false;
	open_chunk(stream, slot, writer, block, address);
	return true;
}

/* ---- records ----------------------------------------------------------------- */

static void put_word(struct dwell_stream *stream, uint32_t word)
{
	/* Pairs with the acquire of a reader of the live file, as in probe.h. */
	__atomic_store_n((uint32_t *)(void *)stream->cursor, word, __ATOMIC_RELEASE);
}

static void put(struct dwell_stream *stream, uint64_t ticks, uint32_t word1,
                const uint32_t *payload, unsigned words)
{
	uint32_t *at = (uint32_t *)(void *)stream->cursor;

	for (unsigned i = 0; i < words; i++)
		at[2 + i] = payload[i];
	__atomic_store_n(at + 1, word1, __ATOMIC_RELAXED);
	put_word(stream, (uint32_t)(ticks - stream->last_ticks) << DW_DELTA_SHIFT | DW_WORD_PRESENT);
	stream->last_ticks = ticks;
	stream->cursor += 8 + 4 * words;
}

/* Time never runs back within a stream, although a thread may move to a core whose
 * counter is behind, or be interrupted by a handler's records between reading the
 * clock and writing: readers rely on it. */
static uint64_t not_before(const struct dwell_stream *stream, uint64_t ticks)
{
	return ticks < stream->last_ticks ? stream->last_ticks : ticks;
}

/* After a long silence the delta has no room: then the time is said in full. */
static void put_time(struct dwell_stream *stream, uint64_t ticks)
{
	uint32_t word1 = (uint32_t)DW_EXT << DW_KIND_SHIFT | DW_EXT_TIME << DW_EXT_TYPE_SHIFT | 2;
	uint32_t payload[2] = { (uint32_t)ticks, (uint32_t)(ticks >> 32) };

	if (ticks - stream->last_ticks < (uint64_t)1 << DW_DELTA_BITS)
		return;
	put(stream, stream->last_ticks, word1, payload, 2);
	stream->last_ticks = ticks;
}

static void put_end(struct dwell_stream *stream, uint64_t ticks)
{
	put_time(stream, ticks);
	put_word(stream, (uint32_t)(ticks - stream->last_ticks) << DW_DELTA_SHIFT | DW_WORD_END |
	                     DW_WORD_PRESENT);
	stream->last_ticks = ticks;
	stream->cursor += 4;
}

/* What a new chunk cost stands in the trace like anything else. */
static void put_slow_range(struct dwell_stream *stream)
{
	struct dw_writer *writer;
	uint32_t id = __atomic_load_n(&slow_range_op, __ATOMIC_RELAXED);
	uint64_t start, end;

	slot_of(stream, &writer);
	if (!writer->slow_end)
		return;
	if (!id) {
		uint32_t first = 0;

		/* Two threads may get two ids; both use the first, by which count_records() knows
		 * what is the recorder's own. */
		id = dw_intern_op(DWELL_CATEGORY_PROFILER, "dwell: new chunk", NULL, 0, NULL, 0);
		if (!__atomic_compare_exchange_n(&slow_range_op, &first, id, false, __ATOMIC_RELAXED,
		                                 __ATOMIC_RELAXED))
			id = first;
	}
	start = not_before(stream, writer->slow_start);
	end = writer->slow_end;
	writer->slow_end = 0;
	put_time(stream, start);
	put(stream, start, id, NULL, 0);
	put_end(stream, not_before(stream, end));
}

void dw_stream_put(struct dwell_stream *stream, uint64_t ticks, uint32_t word1,
                   const uint32_t *payload, unsigned words)
{
	put_slow_range(stream);
	ticks = not_before(stream, ticks);
	put_time(stream, ticks);
	put(stream, ticks, word1, payload, words);
}

void dw_stream_put_end(struct dwell_stream *stream, uint64_t ticks)
{
	put_end(stream, not_before(stream, ticks)); /* before the new chunk was sought */
	put_slow_range(stream);
}

/* ---- entering ---------------------------------------------------------------- */

static bool has_room(const struct dwell_stream *stream, const struct dw_writer *writer)
{
	const char *chunk = (const char *)writer->chunk;

	return chunk && !writer->chunk->end_bytes && stream->cursor > chunk &&
	       stream->cursor < chunk + DW_BLOCK_BYTES - DW_CHUNK_TAIL_BYTES;
}

/* Here records are missing: a reader must not match ends to begins across it. */
static void put_loss(struct dwell_stream *stream, struct dw_writer *writer)
{
	uint64_t now = not_before(stream, dw_now());
	uint32_t payload[2] = { (uint32_t)writer->lost, (uint32_t)(writer->lost >> 32) };

	writer->lost = 0;
	put_time(stream, now);
	put(stream, now, (uint32_t)DW_LOSS << DW_KIND_SHIFT | writer->lost_cause, payload, 2);
}

static bool make_room(struct dwell_stream *stream, struct dw_slot *slot, uint64_t entered,
                      enum dw_loss *cause)
{
	struct dw_writer *writer;

	slot_of(stream, &writer);
	if (!has_room(stream, writer)) {
		if (!next_chunk(stream, slot, writer, cause)) {
			writer->lost++;
			writer->lost_cause = *cause;
			return false;
		}
		writer->slow_start = entered;
		writer->slow_end = dw_now();
		if (writer->lost)
			put_loss(stream, writer);
	} else if (writer->thread != slot->thread) {
		/* The slot's last thread is dead; its chunk goes on with this one. */
		uint64_t now = not_before(stream, dw_now());

		put_time(stream, now);
		put(stream, now, (uint32_t)DW_THREAD << DW_KIND_SHIFT | slot->thread, NULL, 0);
		writer->thread = slot->thread;
	}
	if (DW_LOAD(dw_session.clock_kind) != DW_CLOCK_MONOTONIC)
		__atomic_store_n(&stream->limit, (char *)writer->chunk + DW_BLOCK_BYTES - DW_CHUNK_TAIL_BYTES,
		                 __ATOMIC_RELAXED);
	/* Pairs with the fence of dw_stream_halt(): either it clears the limit after us,
	 * or we see here that the session has ended. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!dw_session_head() || slot->generation != DW_LOAD(dw_session.generation))
		__atomic_store_n(&stream->limit, NULL, __ATOMIC_RELAXED);
	return true;
}

struct dwell_stream *dw_stream_enter(void)
{
	uint64_t entered = dw_now();
	enum dw_loss cause;
	struct dw_slot *slot = dw_stream_slot(&cause);
	struct dwell_stream *stream;

	if (!slot) {
		dw_lost(NULL, cause, 1);
		return NULL;
	}
	stream = slot->main.busy ? &slot->nested : &slot->main;
	if (stream->busy) {
		dw_lost(slot, DW_LOSS_BUSY, 1);
		return NULL;
	}
	stream->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!make_room(stream, slot, entered, &cause)) {
		stream->busy = 0;
		dw_lost(slot, cause, 1);
		return NULL;
	}
	return stream;
}

void dw_stream_leave(struct dwell_stream *stream)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*(volatile uint32_t *)&stream->busy = 0;
}

void dw_stream_halt(void)
{
	uint32_t count = dw_process ? __atomic_load_n(&dw_process->slot_count, __ATOMIC_ACQUIRE) : 0;

	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* see make_room() */
	for (uint32_t i = 0; i < count && i < DW_MAX_SLOTS; i++) {
		__atomic_store_n(&dw_process->slots[i].main.limit, NULL, __ATOMIC_RELAXED);
		__atomic_store_n(&dw_process->slots[i].nested.limit, NULL, __ATOMIC_RELAXED);
	}
}
