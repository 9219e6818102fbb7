/*
 * The pass kernel: the stack of open ranges, for every product of the model.
 *
 * A product that needs the open ranges defines a frame that begins with struct dw_frame, a state
 * that begins with struct dw_pass, and some of these hooks:
 *
 *     enter(state, frame, ticks, id)        a range begins; `frame` is on the stack
 *     over(state)                           optional: after enter(): whether nothing in the range
 *                                           matters; then not all of it begins and ends here
 *     burst(state, at, limit, ticks)        optional: reads many records at once (burst.h)
 *     leave(state, frame, ticks, how)       a range ends; `frame` is no longer on the stack
 *     note(state, ticks, record)            any other record
 *     settle(state, ticks)                  optional: before the stack changes; all records about
 *                                           the begin of the innermost range have been seen
 *     unnest(state, place, ticks)           optional: before the range at `place`, which is not
 *                                           the innermost, is removed from the stack
 *     flushed(state, ticks, how)            optional: all open ranges have been ended
 *     orphan(state, ticks, n)               optional: an end without a begin; it ends the n-th
 *                                           range, counted from the innermost (0), of those that
 *                                           were open before the walk or before the last flush
 *     after_break(state, ticks, record)     optional: after a record that may end all open ranges
 *                                           has been handled (dw_walk_break())
 *     carry(state, frame)                   passes over segments: the segment ends and the range
 *                                           goes on in the next one, where `child` starts at 0;
 *                                           subtract `child` from the range's self time here
 *     carried(state)                        optional: the segment ends; called before carry()
 *
 * DW_PASS_DEFINE() defines the functions that walk a stream with these hooks. The hooks are
 * constants and everything is inlined, so that a product has no cost for hooks that it lacks.
 *
 * The kernel handles what all products must treat alike: ends of ranges that are not the innermost
 * (END_OF), lost records and gaps, thread switches, ranges deeper than the limit, chunks out of
 * scope.
 *
 * Chains. A range belongs to at most one chain, which links ranges of the same kind. `previous` is
 * the nearest open range of the chain around it. `child` is the time of the ranges of the chain
 * directly in it. Then duration - child is its self time: the time in which it was the innermost
 * open range of its chain. This also holds if ranges overlap: a range that ends while later ones
 * are open keeps the time of the ranges in it until then; their later time belongs to the range
 * around it. frames[0] collects the time of ranges without a range around them.
 *
 * Ranges deeper than `deepest` are folded: they are only counted, so that each end finds its begin.
 */
#pragma once

#include "model/core/segments.h"
#include "model/core/walk.h"

#define DW_CHAINS DW_KINDS

/* Why a range was removed from the stack. */
enum dw_leave {
	DW_LEAVE_END,  /* its end was recorded */
	DW_LEAVE_CUT,  /* its end is in lost or recycled records */
	DW_LEAVE_OPEN, /* its thread or process ended, or is still running */
};

/* The first member of a product's frame. When enter() is called, `start` is set and the rest is
 * 0. */
struct dw_frame {
	uint64_t start;    /* ticks */
	uint64_t child;    /* ticks of the ranges of its chain directly in it */
	uint32_t previous; /* place of the nearest range of its chain around it; 0: none */
	uint16_t chain;    /* set by dw_pass_link(); 0: no chain */
	uint16_t in_scope; /* set by enter(): the range counts, so its chunk must not be skipped */
};

/* The first member of a product's state for a stream. */
struct dw_pass {
	struct dw_walk walk;
	char *frames;      /* walk.memory->at */
	uint32_t capacity; /* walk.memory->capacity */
	uint32_t depth;    /* place of the innermost range; 0: no range is open */
	uint32_t folded;   /* number of open ranges deeper than `deepest` */
	/* While lowest < depth < highest, begins and ends take the short path: one comparison shows
	 * that there is a frame to end, or space for one, and that no range is folded. */
	uint32_t lowest, highest;
	uint32_t in_scope; /* number of open ranges that count */
	uint64_t orphans;  /* number of ends whose begin was lost */
	uint32_t top[DW_CHAINS]; /* by chain: place of its innermost range; 0: none */
};

struct dw_pass_hooks {
	size_t frame_bytes;
	uint32_t deepest;
	bool chains;       /* the product calls dw_pass_link() */
	bool all_linked;   /* it calls dw_pass_link() for every range */
	bool scoped;       /* enter() sets in_scope */
	bool siblings;     /* ranges that overlap are siblings within the range around both, as in
	                    * torch.profiler: each keeps all of its time */
	void (*enter)(void *state, void *frame, uint64_t ticks, uint32_t id);
	bool (*over)(void *state);
	dw_visit_burst *burst;
	void (*leave)(void *state, void *frame, uint64_t ticks, enum dw_leave how);
	void (*note)(void *state, uint64_t ticks, const struct dw_record *record);
	void (*settle)(void *state, uint64_t ticks);
	void (*unnest)(void *state, uint32_t place, uint64_t ticks);
	void (*flushed)(void *state, uint64_t ticks, enum dw_flush why);
	void (*orphan)(void *state, uint64_t ticks, uint32_t n);
	void (*after_break)(void *state, uint64_t ticks, const struct dw_record *record);
	void (*carry)(void *state, void *frame);
	void (*carried)(void *state);
};

#define DW_DEEPEST DW_MOST_DEPTH

/* Returns the frame at a place. `bytes` is the size of the product's frame. */
DW_INLINE struct dw_frame *dw_pass_at(const struct dw_pass *pass, size_t bytes, uint32_t place)
{
	return (struct dw_frame *)(void *)(pass->frames + place * bytes);
}

/* The frame of the innermost range. NULL: no range is open, or the innermost one is folded. */
#define DW_PASS_INNERMOST(pass, type) \
	((pass)->depth && !(pass)->folded ? (type *)(void *)(pass)->frames + (pass)->depth : NULL)

/* Whether a range that begins now is in scope. */
DW_INLINE bool dw_pass_in_scope(struct dw_pass *pass, uint64_t ticks)
{
	return pass->walk.wanted && dw_walk_in_time(&pass->walk, ticks);
}

/* For enter(): adds the innermost range to `chain`, 1 to DW_CHAINS - 1. */
DW_INLINE void dw_pass_link(struct dw_pass *pass, struct dw_frame *frame, uint32_t chain)
{
	frame->chain = (uint16_t)chain;
	frame->previous = pass->top[chain];
	pass->top[chain] = pass->depth;
}

/* Undoes dw_pass_link(); only before another range begins. */
DW_INLINE void dw_pass_unlink(struct dw_pass *pass, struct dw_frame *frame)
{
	if (!frame->chain)
		return;
	pass->top[frame->chain] = frame->previous;
	frame->chain = 0;
}

/* ---- internal ----------------------------------------------------------------------------- */

static __attribute__((noinline, unused)) bool dw_pass_grow(struct dw_pass *pass, size_t bytes, uint32_t deepest)
{
	uint32_t capacity = pass->capacity ? pass->capacity * 2 : 256;
	char *frames;

	if (capacity > deepest + 1)
		capacity = deepest + 1;
	if (capacity <= pass->capacity)
		return false;
	frames = realloc(pass->frames, (capacity + (size_t)1) * bytes);
	if (!frames) {
		pass->walk.failed = true;
		return false;
	}
	if (!pass->frames)
		memset(frames, 0, bytes);
	pass->walk.memory->at = pass->frames = frames;
	pass->walk.memory->capacity = pass->capacity = capacity;
	pass->highest = capacity - 1;
	return true;
}

/* To be called after a change of `folded` or `capacity`. */
DW_INLINE void dw_pass_set_bounds(struct dw_pass *pass)
{
	pass->lowest = pass->folded ? UINT32_MAX : 0;
	pass->highest = pass->folded || !pass->capacity ? 0 : pass->capacity - 1;
}

DW_INLINE void dw_pass_fold(struct dw_pass *pass, int by)
{
	pass->folded += (uint32_t)by;
	dw_pass_set_bounds(pass);
}

DW_INLINE void dw_pass_begin(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint64_t ticks, uint32_t id)
{
	uint32_t place = pass->depth + 1;
	struct dw_frame *frame;

	if (__builtin_expect(pass->depth >= pass->highest, 0) &&
	    (pass->folded || !dw_pass_grow(pass, hooks->frame_bytes, hooks->deepest))) {
		dw_pass_fold(pass, 1);
		return;
	}
	if (hooks->settle)
		hooks->settle(pass, ticks);
	pass->depth = place;
	frame = dw_pass_at(pass, hooks->frame_bytes, place);
	*frame = (struct dw_frame){ .start = ticks };
	hooks->enter(pass, frame, ticks, id);
	if (hooks->scoped)
		pass->in_scope += frame->in_scope;
}

/* Removes the innermost frame from the stack. `moved`: the frame was not the innermost;
 * dw_pass_relink() has updated `top`. */
DW_INLINE void dw_pass_pop(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint64_t ticks,
                           enum dw_leave how, const bool moved)
{
	struct dw_frame *frame = dw_pass_at(pass, hooks->frame_bytes, pass->depth);

	if (hooks->settle && !moved)
		hooks->settle(pass, ticks);
	pass->depth--;
	if (hooks->scoped)
		pass->in_scope -= frame->in_scope;
	if (hooks->chains && (hooks->all_linked || frame->chain)) {
		if (!moved)
			pass->top[frame->chain] = frame->previous;
		dw_pass_at(pass, hooks->frame_bytes, frame->previous)->child += ticks - frame->start;
	}
	hooks->leave(pass, frame, ticks, how);
}

DW_INLINE void dw_pass_orphan(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint64_t ticks, uint32_t n)
{
	pass->orphans++;
	if (hooks->orphan)
		hooks->orphan(pass, ticks, n);
}

DW_INLINE void dw_pass_end(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint64_t ticks)
{
	if (__builtin_expect(pass->depth <= pass->lowest, 0)) {
		if (pass->folded)
			dw_pass_fold(pass, -1);
		else
			dw_pass_orphan(pass, hooks, ticks, 0);
		return;
	}
	dw_pass_pop(pass, hooks, ticks, DW_LEAVE_END, false);
}

/* Updates the links after the frame at `place` became the innermost and the frames above it moved
 * down by one; see the head of this file. */
static __attribute__((noinline, unused)) void dw_pass_relink(struct dw_pass *pass, size_t bytes,
                                                             uint32_t place, uint64_t ticks, bool siblings)
{
	struct dw_frame *frame = dw_pass_at(pass, bytes, pass->depth);

	for (uint32_t i = place; i < pass->depth; i++) {
		struct dw_frame *above = dw_pass_at(pass, bytes, i);

		if (above->previous > place) {
			above->previous--;
		} else if (above->chain && above->previous == place) {
			above->previous = frame->previous;
			if (siblings)
				continue;
			frame->child += ticks - above->start;
			/* When `above` ends, its whole duration will be added there. */
			dw_pass_at(pass, bytes, frame->previous)->child -= ticks - above->start;
		}
	}
	for (uint32_t chain = 1; chain < DW_CHAINS; chain++) {
		if (pass->top[chain] > place)
			pass->top[chain]--;
		else if (pass->top[chain] == place)
			pass->top[chain] = frame->previous;
	}
}

/* Ends the n-th open range, counted from the innermost (0). */
DW_INLINE void dw_pass_end_of(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint64_t ticks, uint32_t n)
{
	const size_t bytes = hooks->frame_bytes;
	uint32_t place;
	char *moved;

	if (n < pass->folded) {
		dw_pass_fold(pass, -1);
		return;
	}
	if (n - pass->folded >= pass->depth) {
		dw_pass_orphan(pass, hooks, ticks, n - pass->folded - pass->depth);
		return;
	}
	place = pass->depth - (n - pass->folded);
	if (place == pass->depth) {
		dw_pass_pop(pass, hooks, ticks, DW_LEAVE_END, false);
		return;
	}
	if (hooks->settle)
		hooks->settle(pass, ticks);
	if (hooks->unnest)
		hooks->unnest(pass, place, ticks);
	moved = pass->frames + pass->capacity * bytes;
	memcpy(moved, pass->frames + place * bytes, bytes);
	memmove(pass->frames + place * bytes, pass->frames + (place + 1) * bytes, (pass->depth - place) * bytes);
	memcpy(pass->frames + pass->depth * bytes, moved, bytes);
	if (hooks->chains)
		dw_pass_relink(pass, bytes, place, ticks, hooks->siblings);
	dw_pass_pop(pass, hooks, ticks, DW_LEAVE_END, true);
}

DW_INLINE void dw_pass_flush(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint64_t ticks, enum dw_flush why)
{
	enum dw_leave how = why == DW_FLUSH_GAP ? DW_LEAVE_CUT : DW_LEAVE_OPEN;

	pass->folded = 0;
	dw_pass_set_bounds(pass);
	while (pass->depth)
		dw_pass_pop(pass, hooks, ticks, how, false);
	if (hooks->flushed)
		hooks->flushed(pass, ticks, why);
}

/* ---- walking a stream ----------------------------------------------------------------------- */

/* `pass` must be a member of a zeroed state. */
static inline void dw_pass_init(struct dw_pass *pass, const struct dw_model *model, size_t stream,
                                struct dw_frames *memory)
{
	dw_walk_init(&pass->walk, model, stream, memory);
	pass->frames = memory->at;
	pass->capacity = memory->capacity;
	dw_pass_set_bounds(pass);
}

/* Restores the state at the begin of the segment, as if the stream had been walked up to there. */
DW_INLINE void dw_pass_resume(struct dw_pass *pass, const struct dw_pass_hooks *hooks, const struct dw_segment *segment)
{
	if (segment->thread != DW_NO_INDEX)
		dw_walk_set_thread(&pass->walk, segment->thread);
	pass->walk.time.ticks = segment->ticks;
	pass->walk.time.floor = segment->floor;
	for (uint32_t i = 0; i < segment->open_count; i++)
		dw_pass_begin(pass, hooks, segment->open[i].start, segment->open[i].id);
}

/* Ends a segment without ending the open ranges. */
DW_INLINE void dw_pass_carry(struct dw_pass *pass, const struct dw_pass_hooks *hooks)
{
	if (hooks->carried)
		hooks->carried(pass);
	for (; pass->depth; pass->depth--)
		if (hooks->carry)
			hooks->carry(pass, dw_pass_at(pass, hooks->frame_bytes, pass->depth));
	dw_walk_reset(&pass->walk);
}

static inline void dw_frames_reset(struct dw_frames *memory)
{
	free(memory->at);
	free(memory->copy);
	*memory = (struct dw_frames){ NULL, 0, NULL };
}

/* Frees the memory of `count` workers. False: it is NULL, because there was none. */
static inline bool dw_frames_free(struct dw_frames *memory, unsigned count)
{
	for (unsigned i = 0; memory && i < count; i++)
		dw_frames_reset(&memory[i]);
	free(memory);
	return memory != NULL;
}

/*
 * Defines NAME_walk(state), which walks a whole stream, NAME_chunk(state, i) and
 * NAME_finish(state), which walk it chunk by chunk, and NAME_segment(state, segment), which walks a
 * segment, for products with carry(). `hooks` is a static const struct dw_pass_hooks. frames[0]
 * exists after the first begin.
 */
#define DW_PASS_DEFINE(name, hooks)                                                              \
	DW_INLINE void name##_begin(void *state, uint64_t ticks, uint32_t id)                        \
	{                                                                                            \
		dw_pass_begin(state, &(hooks), ticks, id);                                               \
	}                                                                                            \
	DW_INLINE void name##_end(void *state, uint64_t ticks)                                       \
	{                                                                                            \
		dw_pass_end(state, &(hooks), ticks);                                                     \
	}                                                                                            \
	static __attribute__((noinline)) void name##_flush(void *state, uint64_t ticks,              \
	                                                   enum dw_flush why)                        \
	{                                                                                            \
		dw_pass_flush(state, &(hooks), ticks, why);                                              \
	}                                                                                            \
	static __attribute__((noinline)) void name##_rest(struct dw_pass *pass, uint64_t ticks,      \
	                                                  const struct dw_record *record)            \
	{                                                                                            \
		if (dw_walk_break(&pass->walk, ticks, record, name##_flush)) {                           \
			if ((hooks).after_break)                                                             \
				(hooks).after_break(pass, ticks, record);                                        \
			return;                                                                              \
		}                                                                                        \
		if (record->kind == DW_END_OF)                                                           \
			dw_pass_end_of(pass, &(hooks), ticks, record->payload[0]);                           \
		else if ((hooks).note)                                                                   \
			(hooks).note(pass, ticks, record);                                                   \
	}                                                                                            \
	DW_INLINE void name##_other(void *state, uint64_t ticks, const struct dw_record *record)     \
	{                                                                                            \
		struct dw_record copy = *record; /* keeps the loop's own record in registers */         \
                                                                                                 \
		name##_rest(state, ticks, &copy);                                                        \
	}                                                                                            \
	static __attribute__((noinline)) bool name##_skip(void *state)                               \
	{                                                                                            \
		struct dw_pass *pass = state;                                                            \
                                                                                                 \
		if (pass->in_scope)                                                                      \
			return false;                                                                        \
		name##_flush(state, dw_time_now(&pass->walk.time), DW_FLUSH_END);                        \
		return true;                                                                             \
	}                                                                                            \
	static __attribute__((unused)) void name##_chunk(struct dw_pass *pass, size_t i)             \
	{                                                                                            \
		dw_walk_chunk(&pass->walk, i, name##_begin, name##_end, name##_other, (hooks).over, (hooks).burst, name##_flush, \
		              (hooks).scoped ? name##_skip : NULL);                                      \
	}                                                                                            \
	static __attribute__((unused)) void name##_finish(struct dw_pass *pass)                      \
	{                                                                                            \
		dw_walk_finish(&pass->walk, name##_flush);                                               \
	}                                                                                            \
	static __attribute__((unused)) void name##_walk(struct dw_pass *pass)                        \
	{                                                                                            \
		for (size_t i = 0; i < pass->walk.stream->chunk_count; i++)                              \
			name##_chunk(pass, i);                                                               \
		name##_finish(pass);                                                                     \
	}                                                                                            \
	static __attribute__((unused)) void name##_segment(struct dw_pass *pass,                     \
	                                                   const struct dw_segment *segment)         \
	{                                                                                            \
		if (segment->from)                                                                       \
			dw_pass_resume(pass, &(hooks), segment);                                             \
		for (size_t i = segment->from; i < segment->to; i++)                                     \
			name##_chunk(pass, i);                                                               \
		if (segment->to == pass->walk.stream->chunk_count)                                       \
			name##_finish(pass);                                                                 \
		else                                                                                     \
			dw_pass_carry(pass, &(hooks));                                                       \
	}
