/*
 * The pass kernel: one stack of open ranges for every product of the model.
 *
 * A product that needs to know what is open defines a frame that begins with struct
 * dw_frame, a state that begins with struct dw_pass, and a few hooks:
 *
 *     enter(state, frame, ticks, id)        a range begins; `frame` is on the stack
 *     leave(state, frame, ticks, how)       it ends; `frame` is no longer on the stack
 *     note(state, ticks, record)            any other record
 *     settle(state, ticks)                  optional: the stack is about to change; all records
 *                                           about the begin of the innermost range have been seen
 *     unnest(state, place)                  optional: the range at `place`, which is not the
 *                                           innermost, is about to be taken off the stack
 *     flushed(state, ticks, how)            optional: all that was open has been ended
 *     orphan(state, n)                      optional: something ends the n-th range, from the
 *                                           innermost, of those that were open before
 *     carry(state, frame)                   of passes over segments: the range goes on in the next
 *                                           segment; its self time must not count `child` there
 *
 * DW_PASS_DEFINE() makes the functions that walk a stream with them. The hooks are
 * constants and everything is inlined, so a product pays for what it uses.
 *
 * The kernel owns what all products must treat alike: ends from the middle (END_OF), lost
 * records and gaps, thread switches, ranges deeper than the limit, chunks out of scope.
 *
 * Chains. A range belongs to at most one chain of ranges of its kind. Its `previous` is the
 * nearest open range of the same chain that it lies in, and `child` is the time of the ranges
 * directly in it, so that duration - child is its self time: the time during which it was the
 * innermost open range of its chain. That also holds for ranges that overlap: a range that is
 * ended from the middle keeps what lay in it until then, and later time belongs to the range
 * around it. frames[0] collects the time of ranges that lie in no other.
 *
 * Ranges deeper than `deepest` are folded: counted, so that ends find their begins, and not
 * told apart.
 */
#ifndef DW_MODEL_CORE_PASS_H
#define DW_MODEL_CORE_PASS_H

#include "model/core/segments.h"
#include "model/core/walk.h"

#define DW_CHAINS DW_KINDS

/* Why a range left the stack. */
enum dw_leave {
	DW_LEAVE_END,  /* its end was recorded */
	DW_LEAVE_CUT,  /* its end is among lost or recycled records */
	DW_LEAVE_OPEN, /* its thread or its process ended, or still runs */
};

/* The first member of a product's frame. enter() finds `start` set and the rest 0. */
struct dw_frame {
	uint64_t start;    /* ticks */
	uint64_t child;    /* ticks of the ranges of its chain that lie directly in it */
	uint32_t previous; /* place of the range of its chain around it; 0: none */
	uint16_t chain;    /* see dw_pass_link(); 0: none */
	uint16_t in_scope; /* set by enter(): the range counts, so its chunk must not be skipped */
};

/* The memory of a stack, kept from stream to stream. Zero is empty. */
struct dw_frames {
	void *at;          /* capacity + 1 frames: one more to move a frame */
	uint32_t capacity; /* places are 0..capacity - 1 */
};

/* The first member of a product's state for a stream. */
struct dw_pass {
	struct dw_walk walk;
	struct dw_frames *memory;
	char *frames;      /* memory->at */
	uint32_t capacity; /* memory->capacity */
	uint32_t depth;    /* the innermost range's place; 0: nothing is open */
	uint32_t folded;   /* open ranges beyond the deepest */
	/* What begins and ends is usual while lowest < depth < highest: one comparison says that
	 * there is a frame to end, or a place for one, and that nothing is folded. */
	uint32_t lowest, highest;
	uint32_t in_scope; /* open ranges that count */
	uint64_t orphans;  /* ends whose begin was lost */
	bool failed;       /* out of memory */
	uint32_t top[DW_CHAINS]; /* the innermost range's place by chain */
};

struct dw_pass_hooks {
	size_t frame_bytes;
	uint32_t deepest;
	bool chains;       /* the product calls dw_pass_link() ... */
	bool all_linked;   /* ... for all ranges */
	bool scoped;       /* enter() sets in_scope */
	bool siblings;     /* ranges that overlap are siblings in what lies around both, as
	                    * torch.profiler has it: each keeps all of its time */
	void (*enter)(void *state, void *frame, uint64_t ticks, uint32_t id);
	void (*leave)(void *state, void *frame, uint64_t ticks, enum dw_leave how);
	void (*note)(void *state, uint64_t ticks, const struct dw_record *record);
	void (*settle)(void *state, uint64_t ticks);
	void (*unnest)(void *state, uint32_t place);
	void (*flushed)(void *state, uint64_t ticks, enum dw_flush why);
	void (*orphan)(void *state, uint32_t n);
	void (*carry)(void *state, void *frame);
};

#define DW_DEEPEST DW_MOST_DEPTH

/* The frame at a place. `bytes` is the product's frame size. */
DW_INLINE struct dw_frame *dw_pass_at(const struct dw_pass *pass, size_t bytes, uint32_t place)
{
	return (struct dw_frame *)(void *)(pass->frames + place * bytes);
}

/* The innermost range's frame; NULL: nothing is open, or what is innermost is folded. */
#define DW_PASS_INNERMOST(pass, type) \
	((pass)->depth && !(pass)->folded ? (type *)(void *)(pass)->frames + (pass)->depth : NULL)

/* Whether a range that begins now counts. */
DW_INLINE bool dw_pass_in_scope(struct dw_pass *pass, uint64_t ticks)
{
	return pass->walk.wanted && dw_walk_in_time(&pass->walk, ticks);
}

/* For enter(): the innermost range belongs to `chain`, 1 to DW_CHAINS - 1. */
DW_INLINE void dw_pass_link(struct dw_pass *pass, struct dw_frame *frame, uint32_t chain)
{
	frame->chain = (uint16_t)chain;
	frame->previous = pass->top[chain];
	pass->top[chain] = pass->depth;
}

/* Takes it back, before anything else has begun. */
DW_INLINE void dw_pass_unlink(struct dw_pass *pass, struct dw_frame *frame)
{
	if (!frame->chain)
		return;
	pass->top[frame->chain] = frame->previous;
	frame->chain = 0;
}

/* ---- inside ------------------------------------------------------------------------------- */

static __attribute__((noinline, unused)) bool dw_pass_grow(struct dw_pass *pass, size_t bytes,
                                                           uint32_t deepest)
{
	uint32_t capacity = pass->capacity ? pass->capacity * 2 : 256;
	char *frames;

	if (capacity > deepest + 1)
		capacity = deepest + 1;
	if (capacity <= pass->capacity)
		return false;
	frames = realloc(pass->frames, (capacity + (size_t)1) * bytes);
	if (!frames) {
		pass->failed = true;
		return false;
	}
	if (!pass->frames)
		memset(frames, 0, bytes);
	pass->memory->at = pass->frames = frames;
	pass->memory->capacity = pass->capacity = capacity;
	pass->highest = capacity - 1;
	return true;
}

/* After a change of `folded` or `capacity`. */
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

DW_INLINE void dw_pass_begin(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint64_t ticks,
                             uint32_t id)
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

/* The innermost frame leaves the stack. `moved`: it was in the middle, and the innermost
 * ranges by chain are known. */
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

DW_INLINE void dw_pass_orphan(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint32_t n)
{
	pass->orphans++;
	if (hooks->orphan)
		hooks->orphan(pass, n);
}

DW_INLINE void dw_pass_end(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint64_t ticks)
{
	if (__builtin_expect(pass->depth <= pass->lowest, 0)) {
		if (pass->folded)
			dw_pass_fold(pass, -1);
		else
			dw_pass_orphan(pass, hooks, 0);
		return;
	}
	dw_pass_pop(pass, hooks, ticks, DW_LEAVE_END, false);
}

/* The links of the frames that have moved down by one when the frame that was at `place`
 * became the innermost: see the head of this file. */
static __attribute__((noinline, unused)) void dw_pass_relink(struct dw_pass *pass, size_t bytes,
                                                             uint32_t place, uint64_t ticks,
                                                             bool siblings)
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
			/* All of its time will be added when it ends. */
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

/* Ends the n-th open range, counted from the innermost, which is 0. */
DW_INLINE void dw_pass_end_of(struct dw_pass *pass, const struct dw_pass_hooks *hooks,
                              uint64_t ticks, uint32_t n)
{
	const size_t bytes = hooks->frame_bytes;
	uint32_t place;
	char *moved;

	if (n < pass->folded) {
		dw_pass_fold(pass, -1);
		return;
	}
	if (n - pass->folded >= pass->depth) {
		dw_pass_orphan(pass, hooks, n - pass->folded - pass->depth);
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
		hooks->unnest(pass, place);
	moved = pass->frames + pass->capacity * bytes;
	memcpy(moved, pass->frames + place * bytes, bytes);
	memmove(pass->frames + place * bytes, pass->frames + (place + 1) * bytes,
	        (pass->depth - place) * bytes);
	memcpy(pass->frames + pass->depth * bytes, moved, bytes);
	if (hooks->chains)
		dw_pass_relink(pass, bytes, place, ticks, hooks->siblings);
	dw_pass_pop(pass, hooks, ticks, DW_LEAVE_END, true);
}

DW_INLINE void dw_pass_flush(struct dw_pass *pass, const struct dw_pass_hooks *hooks, uint64_t ticks,
                             enum dw_flush why)
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

/* `pass` is a member of a zeroed state. */
static inline void dw_pass_init(struct dw_pass *pass, const struct dw_model *model, size_t stream,
                                struct dw_frames *memory, void *buffer)
{
	dw_walk_init(&pass->walk, model, stream, buffer);
	pass->memory = memory;
	pass->frames = memory->at;
	pass->capacity = memory->capacity;
	dw_pass_set_bounds(pass);
}

/* As if all of the stream before the segment had been walked. */
DW_INLINE void dw_pass_resume(struct dw_pass *pass, const struct dw_pass_hooks *hooks,
                              const struct dw_segment *segment)
{
	if (segment->thread != DW_NO_INDEX)
		dw_walk_set_thread(&pass->walk, segment->thread);
	pass->walk.time.ticks = segment->ticks;
	pass->walk.time.floor = segment->floor;
	for (uint32_t i = 0; i < segment->open_count; i++)
		dw_pass_begin(pass, hooks, segment->open[i].start, segment->open[i].id);
}

/* The segment ends: what is open is not ended. */
DW_INLINE void dw_pass_carry(struct dw_pass *pass, const struct dw_pass_hooks *hooks)
{
	for (; pass->depth; pass->depth--)
		if (hooks->carry)
			hooks->carry(pass, dw_pass_at(pass, hooks->frame_bytes, pass->depth));
	dw_walk_reset(&pass->walk);
}

static inline void dw_frames_reset(struct dw_frames *memory)
{
	free(memory->at);
	*memory = (struct dw_frames){ NULL, 0 };
}

/*
 * Makes NAME_walk(state), which visits a whole stream, and NAME_chunk(state, i) and
 * NAME_finish(state), which do so chunk by chunk. `hooks` is a static const struct
 * dw_pass_hooks. NAME_segment(state, segment) visits a segment; for products that carry.
 * frames[0] exists from the first begin on.
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
		if (dw_walk_break(&pass->walk, ticks, record, name##_flush))                             \
			return;                                                                              \
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
		/* The chunk may go to another thread, which has times of its own. */                    \
		if (pass->in_scope || pass->walk.model->thread_intervals)                                \
			return false;                                                                        \
		name##_flush(state, dw_time_now(&pass->walk.time), DW_FLUSH_END);                        \
		return true;                                                                             \
	}                                                                                            \
	static __attribute__((unused)) void name##_chunk(struct dw_pass *pass, size_t i)             \
	{                                                                                            \
		dw_walk_chunk(&pass->walk, i, name##_begin, name##_end, name##_other, name##_flush,      \
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

#endif
