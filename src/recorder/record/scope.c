/*
 * Steps that are blocks of the program: DWELL_STEP().
 *
 * A step is an entry of the journal. A step that is a block is also a pair of records in the
 * thread's stream. At its end a reader ends the ranges whose ends longjmp() skipped. Entry and
 * records use the same times, so that a step reads the clock twice and not four times.
 */

#include "record/record.h"
#include "record/session_state.h"
#include "record/slot.h"
#include "record/steps.h"
#include "record/streams.h"
#include "record/thread.h"

static __attribute__((noinline)) void scope_put_slow(uint32_t word1, uint64_t ticks)
{
	struct dwell_stream *stream = dw_stream_enter();

	if (stream) {
		dw_stream_put(stream, ticks, word1, NULL, 0);
		dw_stream_leave(stream);
	}
}

/* Writes a record of a moment that has just passed. If a signal handler has recorded since, the
 * record gets the time of the handler's last one. */
static void scope_put(enum dw_ext type, uint64_t ticks)
{
	const uint32_t word1 = (uint32_t)DW_EXT << DW_KIND_SHIFT | (uint32_t)type << DW_EXT_TYPE_SHIFT;
	struct dwell_stream *stream = dwell_this_stream;

	if (stream->busy) {
		scope_put_slow(word1, ticks);
		return;
	}
	DW_STORE(stream->busy, DW_BUSY_INLINE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	char *cursor = stream->cursor;
	uint64_t delta = ticks > stream->last_ticks ? ticks - stream->last_ticks : 0;
	if (!dwell_has_space(stream, cursor) || delta >> DW_DELTA_BITS) {
		DW_STORE(stream->busy, 0);
		scope_put_slow(word1, ticks);
		return;
	}
	stream->last_ticks += delta;
	uint32_t *at = (uint32_t *)(void *)cursor;
	__atomic_store_n(at + 1, word1, __ATOMIC_RELAXED);
	/* Pairs with the acquire of a reader of the live file, as in probe.h. */
	__atomic_store_n(at, (uint32_t)delta << DW_DELTA_SHIFT | DW_WORD_PRESENT, __ATOMIC_RELEASE);
	stream->cursor = cursor + 8;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	DW_STORE(stream->busy, 0);
}

/*
 * Whether longjmp() left the block of the slot's open scope. Then the scope's variable begins
 * again, or the function of the scope was called by a function that has returned since: stacks
 * grow downward. In all other cases the new block may be inside the old one, whose ranges are
 * still open.
 */
static bool scope_was_left(const struct dw_slot *slot, const void *scope, uintptr_t frame)
{
	return slot->scope && (slot->scope == scope || slot->scope_frame < frame);
}

/* Resets the count of open operators too: longjmp() may have skipped the ends of some. */
static void scope_end(struct dw_slot *slot, uint64_t ticks)
{
	scope_put(DW_EXT_SCOPE_END, ticks);
	slot->operators = slot->scope_operators;
	slot->scope = NULL;
}

static void scope_begin(struct dw_slot *slot, const void *scope, uintptr_t frame)
{
	uint64_t begun;
	bool recorded;

	if (scope_was_left(slot, scope, frame))
		scope_end(slot, dw_now());
	begun = dw_step_begin(slot, 0);
	recorded = dwell_wants(~(DWELL_MASK_NONE | DWELL_DETAIL_LAYERS));
	slot->scope = recorded ? scope : NULL;
	slot->scope_frame = frame;
	slot->scope_operators = slot->operators;
	if (recorded)
		scope_put(DW_EXT_SCOPE_BEGIN, begun);
}

void dwell_step_scope_begin(const void *scope)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_slot_here(NULL);

	if (slot)
		scope_begin(slot, scope, frame);
}

void dwell_step_scope_end(const void *scope)
{
	DW_KEEP_ERRNO;
	struct dw_slot *slot = dw_slot_here(NULL);
	uint64_t ended = slot && slot->step ? dw_step_end(slot) : 0;

	if (slot && slot->scope == scope)
		scope_end(slot, ended ? ended : dw_now());
}
