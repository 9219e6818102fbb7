/*
 * Slots: one for each live thread.
 *
 * A slot holds one thread's streams. A thread claims a slot at its first record. When the thread
 * has ended, a later thread claims the slot with its chunks. No destructor runs at a thread's end,
 * so nothing is lost with daemon threads and _exit, and ten thousand short threads fill only a
 * few chunks. A child of fork finds its slots zeroed and claims a new one. When a new session
 * starts, a thread keeps its slot and empties it.
 */
#include "record/chunks.h"
#include "record/entry.h"
#include "record/ids.h"
#include "record/place_sums.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/streams.h"
#include "record/thread.h"
#include "record/usages.h"

#include <string.h>
#include <sys/prctl.h>

#include "base/system/system.h"

/* The kernel orders a thread's end before the ESRCH that reports it. ThreadSanitizer cannot know
 * this, so in its tests a thread releases its slot at its end. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define ORDERED_BY_EXIT(slot) __tsan_acquire(slot)
#else
#define ORDERED_BY_EXIT(slot) ((void)0)
#endif

/* ---- claiming ---------------------------------------------------------------- */

static bool slot_try(struct dw_slot *slot, uint32_t self)
{
	uint32_t owner = __atomic_load_n(&slot->tid, __ATOMIC_RELAXED);

	if (!owner || (owner != self && !dw_process_thread_dead(owner)))
		return false;
	if (owner == self && slot->main.busy)
		return false; /* a signal handler interrupted its own thread's claim */
	/* Acquire: the kernel's thread exit released the dead thread's last writes. */
	return __atomic_compare_exchange_n(&slot->tid, &owner, self, false, __ATOMIC_ACQUIRE,
	                                   __ATOMIC_RELAXED);
}

/* Claims a dead thread's slot, or else a new one. Each call checks only a few slots, which is
 * enough to keep up with threads that start and end. */
static struct dw_slot *slot_claim(uint32_t self)
{
	/* Acquire: the segments of these slots are mapped. */
	uint32_t count = __atomic_load_n(&dw_process->slot_count, __ATOMIC_ACQUIRE), index;

	if (count > DW_MAX_SLOTS)
		count = DW_MAX_SLOTS;
	for (uint32_t i = 0; i < 16 && i < count; i++) {
		uint32_t look = __atomic_fetch_add(&dw_process->slot_look, 1, __ATOMIC_RELAXED) % count;

		if (slot_try(dw_process_slot(look), self)) {
			ORDERED_BY_EXIT(dw_process_slot(look));
			return dw_process_slot(look);
		}
	}
	/* Other threads read every slot below the count, so the slot is opened first. */
	index = count;
	do {
		if (index >= DW_MAX_SLOTS || !dw_process_open_slot(index))
			return NULL;
	} while (!__atomic_compare_exchange_n(&dw_process->slot_count, &index, index + 1, true,
	                                      __ATOMIC_RELEASE, __ATOMIC_ACQUIRE));
	__atomic_store_n(&dw_process_slot(index)->tid, self, __ATOMIC_RELEASE);
	return dw_process_slot(index);
}

/* A failure is not counted here: the caller counts the record that it loses. */
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
	/* new_id and not id: while the process registers, only new_id is set. See
	 * process_is_registering_here(). */
	slot->process = DW_LOAD(dw_process->new_id);
	entry->entry.aux = slot->process;
	entry->tid = DW_LOAD(slot->tid);
	entry->stream = slot->writers[0].stream;
	entry->start_ticks = dw_now();
	dw_call(SYS_prctl, PR_GET_NAME, entry->name);
	dw_journal_commit(entry, DW_ENTRY_THREAD);
	slot->thread = id;
	slot->entry = entry;
	return true;
}

/* Empties all but `busy`, which keeps signal handlers away meanwhile. */
static void slot_empty_stream(struct dwell_stream *stream)
{
	stream->cursor = NULL;
	__atomic_store_n(&stream->limit, NULL, __ATOMIC_RELAXED);
	stream->last_ticks = 0;
}

/* Forgets the steps of the slot's last thread or of the last session. */
static void slot_forget_steps(struct dw_slot *slot)
{
	slot->step = NULL;
	slot->reserved = NULL;
	slot->reserved_end = NULL;
	slot->reserving = false;
	slot->scope = NULL;
	slot->step_ticks = 0;
	slot->cpu_due = slot->cpu_cost = 0;
	slot->usage_due = 0;
	slot->usage_cost = 0;
	slot->usage.ticks = 0;
	dw_counters_close(&slot->counters);
	slot->summarises = false;
	slot->ring.count = slot->ring.segment = slot->ring.at = 0;
	slot->summary = NULL;
	slot->summed.optimizers = 0;
	slot->summary_end = 0;
	slot->ended_start = slot->ended_end = 0;
	slot->late = false;
	dw_places_forget(slot);
}

/* Empties a slot that was used in an earlier session or never. */
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
	slot->code_generation--; /* also clears the other caches of stacks at their next use */
}

static void slot_resume_chunks(struct dw_slot *slot)
{
	dw_chunk_resume(&slot->main, slot->writers[0].chunk);
	dw_chunk_resume(&slot->nested, slot->writers[1].chunk);
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
	/* Keeps signal handlers away until the slot is complete. */
	DW_STORE(slot->main.busy, dw_stream_busy((uintptr_t)__builtin_frame_address(0)));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (slot->generation != DW_LOAD(dw_session.generation) || !slot->entry)
		slot_forget(slot);
	else if (cut_short)
		slot_resume_chunks(slot);
	slot->nested.busy = 0;
	/* The first record takes the slow path, which notes the new thread: the chunk may be a dead
	 * thread's and still have space. */
	__atomic_store_n(&slot->main.limit, NULL, __ATOMIC_RELAXED);
	slot->generation = DW_LOAD(dw_session.generation);
	slot_forget_steps(slot);
	slot->operators = 0;
	slot->stack_low = 0;
	slot->stack_high = 0;
	slot->walked.busy = false;
	slot->blocked_signals = dw_process_blocked_signals();
	if (!slot_write_thread_entry(slot, cause)) {
		/* the thread keeps the slot: a slot without an owner is never claimed again */
		dw_stream_leave(&slot->main);
		return NULL;
	}
	dwell_this_stream = &slot->main;
	dw_stream_leave(&slot->main);
	return slot;
}

/* Whether a record of the old session is being written: the caller runs in a signal handler. */
static bool slot_is_interrupted(struct dw_slot *slot, uintptr_t frame)
{
	uint64_t now = dw_now();

	return (slot->main.busy && !dw_stream_recover(slot, &slot->main, frame, now)) ||
	       (slot->nested.busy && !dw_stream_recover(slot, &slot->nested, frame, now));
}

/* Moves an existing thread's slot to a new session. */
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

struct dw_slot *dw_slot_find(enum dw_loss *cause)
{
	/* Read only once, because a signal handler may register the thread between two reads. With two
	 * reads, the slot could be computed from the stream that threads without a slot share. */
	struct dwell_stream *stream = DW_LOAD(dwell_this_stream);
	struct dw_slot *slot = (struct dw_slot *)(void *)stream;
	enum dw_loss ignored;

	cause = cause ? cause : &ignored;
	*cause = DW_LOSS_STOPPED;
	if (!dw_session_head())
		return NULL;
	*cause = DW_LOSS_SANDBOX;
	if (!dw_may_call() && (stream == &dw_slot_none || !DW_LOAD(slot->tid) || slot->generation != DW_LOAD(dw_session.generation)))
		return NULL;
	/* tid 0: wiped by fork; this is the child's first thread */
	if (stream == &dw_slot_none || !DW_LOAD(slot->tid))
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
