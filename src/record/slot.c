/*
 * Slots: a place for each live thread.
 *
 * A slot holds one thread's streams. It is claimed at the thread's first record and
 * claimed again, chunks and all, by a later thread when its own is dead: no
 * destructor runs, so daemon threads and _exit lose nothing, and ten thousand short
 * threads fill a few chunks. A child of fork finds its slot zeroed and takes a new
 * one; a thread that meets a new session keeps its slot and empties it.
 */
#include "record/record.h"

#include <string.h>
#include <sys/prctl.h>

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

/* ---- losses ------------------------------------------------------------------ */

/* A thread with an entry counts there, alone; others in the head, together. */
void dw_slot_lost(struct dw_slot *slot, enum dw_loss cause, uint64_t records)
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

/* ---- claiming ---------------------------------------------------------------- */

static bool slot_try(struct dw_slot *slot, uint32_t self)
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
static struct dw_slot *slot_claim(uint32_t self)
{
	uint32_t count = __atomic_load_n(&dw_process->slot_count, __ATOMIC_RELAXED), index;

	if (count > DW_MAX_SLOTS)
		count = DW_MAX_SLOTS;
	for (uint32_t i = 0; i < 16 && i < count; i++) {
		uint32_t look = __atomic_fetch_add(&dw_process->slot_look, 1, __ATOMIC_RELAXED) % count;

		if (slot_try(&dw_process->slots[look], self)) {
			ORDERED_BY_EXIT(&dw_process->slots[look]);
			return &dw_process->slots[look];
		}
	}
	/* Other threads look at each slot below the count, so it is opened before. */
	index = count;
	do {
		if (index >= DW_MAX_SLOTS || !dw_process_open_slot(index))
			return NULL;
	} while (!__atomic_compare_exchange_n(&dw_process->slot_count, &index, index + 1, true,
	                                      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	__atomic_store_n(&dw_process->slots[index].tid, self, __ATOMIC_RELEASE);
	return &dw_process->slots[index];
}

/* Not counted where there is no place: the caller counts the record that it loses. */
static bool slot_write_thread_entry(struct dw_slot *slot, enum dw_loss *cause)
{
	struct dw_entry_thread *entry = dw_journal_try(sizeof *entry, cause);
	uint32_t id = entry ? dw_new_id() : 0;

	if (!entry)
		return false;
	*cause = DW_LOSS_DICTIONARY;
	if (!id)
		return false;
	entry->entry.id = id;
	/* Not `id`: the process may be registering, see process_is_registering_here(). */
	slot->process = DW_LOAD(dw_process->new_id);
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
static void slot_empty_stream(struct dwell_stream *stream)
{
	stream->cursor = NULL;
	__atomic_store_n(&stream->limit, NULL, __ATOMIC_RELAXED);
	stream->last_ticks = 0;
}

/* Steps of the thread before, or of the session before, are not this one's. */
static void slot_forget_steps(struct dw_slot *slot)
{
	slot->step = NULL;
	slot->scope = NULL;
	slot->step_ticks = 0;
	slot->summarises = false;
	slot->reused_step = NULL;
	slot->summary = NULL;
	slot->summary_end = 0;
}

/* A slot of an earlier session, or never used: nothing of it belongs to this file. */
static void slot_forget(struct dw_slot *slot)
{
	slot_empty_stream(&slot->main);
	slot_empty_stream(&slot->nested);
	memset(slot->writers, 0, sizeof slot->writers);
	uint32_t stream = __atomic_fetch_add(&dw_process->stream_count, 1, __ATOMIC_RELAXED);
	slot->writers[0].stream = stream;
	slot->writers[1].stream = stream | DW_STREAM_NESTED;
	slot->entry = NULL;
	slot_forget_steps(slot);
	slot->retry_ticks = 0;
	slot->operators = 0;
	slot->stack_low = 0;
	slot->stack_high = 0;
	memset(slot->shapes, 0, sizeof slot->shapes);
	memset(slot->stacks, 0, sizeof slot->stacks);
	slot->code_generation--; /* what else is remembered of stacks goes too */
}

/*
 * A thread that was cancelled inside a record may have left its stream's place and
 * time apart from what stands in the chunk, which alone is true.
 */
void dw_slot_resume(struct dwell_stream *stream, const struct dw_chunk *chunk)
{
	uint32_t *word;

	if (!chunk || chunk->end_bytes)
		return;
	stream->last_ticks = chunk->base_ticks;
	for (word = (uint32_t *)(uintptr_t)(chunk + 1); *word; word += dw_record_words(word)) {
		stream->last_ticks += *word >> DW_DELTA_SHIFT;
		if (!(*word & DW_WORD_END) && word[1] >> DW_KIND_SHIFT == DW_EXT &&
		    (word[1] & DW_EXT_WORDS_MASK) >= 2)
			stream->last_ticks = word[2] | (uint64_t)word[3] << 32;
	}
	stream->cursor = (char *)word;
	/* The rest of a record that has no first word: as data it would be garbage. */
	size_t left = DW_BLOCK_BYTES - (size_t)(stream->cursor - (const char *)chunk);
	memset(word, 0, left < DW_CHUNK_TAIL_BYTES ? left : DW_CHUNK_TAIL_BYTES);
}

static void slot_resume_chunks(struct dw_slot *slot)
{
	dw_slot_resume(&slot->main, slot->writers[0].chunk);
	dw_slot_resume(&slot->nested, slot->writers[1].chunk);
}

static __attribute__((noinline)) struct dw_slot *slot_register_thread(enum dw_loss *cause)
{
	struct dw_slot *slot;
	bool cut_short;

	if (!dw_process_ready(cause))
		return NULL;
	*cause = DW_LOSS_FOREIGN;
	if (!dw_process_own_memory())
		return NULL;
	*cause = DW_LOSS_THREADS;
	slot = slot_claim((uint32_t)dw_gettid());
	if (!slot)
		return NULL;
	cut_short = slot->main.busy || slot->nested.busy;
	/* A handler must not use it before it is whole. */
	DW_STORE(slot->main.busy, dw_stream_busy((uintptr_t)__builtin_frame_address(0)));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slot->generation != DW_LOAD(dw_session.generation) || !slot->entry)
		slot_forget(slot);
	else if (cut_short)
		slot_resume_chunks(slot);
	slot->nested.busy = 0;
	/* The first record takes the slow path, which says whose it is: the chunk may
	 * be a dead thread's with room in it. */
	__atomic_store_n(&slot->main.limit, NULL, __ATOMIC_RELAXED);
	slot->generation = DW_LOAD(dw_session.generation);
	slot_forget_steps(slot);
	slot->operators = 0;
	slot->stack_low = 0;
	slot->stack_high = 0;
	slot->walked.busy = false;
	slot->blocked_signals = dw_process_blocked_signals();
	if (!slot_write_thread_entry(slot, cause)) {
		/* The slot stays this thread's: without an owner no thread would ever take it. */
		dw_stream_leave(&slot->main);
		return NULL;
	}
	dwell_this_stream = &slot->main;
	dw_stream_leave(&slot->main);
	return slot;
}

/* Whether a record is being written that goes to the old session: we are in a handler. */
static bool slot_is_interrupted(struct dw_slot *slot, uintptr_t frame)
{
	uint64_t now = dw_now();

	return (slot->main.busy && !dw_stream_recover(slot, &slot->main, frame, now)) ||
	       (slot->nested.busy && !dw_stream_recover(slot, &slot->nested, frame, now));
}

/* An existing thread meets a new session: the slot is its own still. */
static __attribute__((noinline)) bool slot_renew(struct dw_slot *slot, enum dw_loss *cause)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	bool done;

	*cause = DW_LOSS_BUSY;
	if (slot_is_interrupted(slot, frame))
		return false;
	if (!dw_process_ready(cause))
		return false;
	DW_STORE(slot->main.busy, dw_stream_busy(frame));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	slot_forget(slot);
	slot->generation = DW_LOAD(dw_session.generation);
	done = slot_write_thread_entry(slot, cause);
	dw_stream_leave(&slot->main);
	return done;
}

struct dw_slot *dw_slot_here(enum dw_loss *cause)
{
	/* Read once: a signal handler may register the thread between two looks, and the first
	 * would then stand for the stream of threads that have no slot. */
	struct dwell_stream *stream = DW_LOAD(dwell_this_stream);
	struct dw_slot *slot = (struct dw_slot *)(void *)stream;

	*cause = DW_LOSS_STOPPED;
	if (!dw_session_head())
		return NULL;
	/* tid 0: wiped by fork; this thread is the child's first. */
	if (stream == &no_stream || !DW_LOAD(slot->tid))
		return slot_register_thread(cause);
	if (slot->generation != DW_LOAD(dw_session.generation) && !slot_renew(slot, cause))
		return NULL;
	return slot;
}

struct dw_slot *dw_slot_of(struct dwell_stream *stream, struct dw_writer **writer)
{
	struct dw_slot *slot = (struct dw_slot *)(void *)dwell_this_stream;

	*writer = &slot->writers[stream == &slot->nested];
	return slot;
}
