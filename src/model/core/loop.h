/*
 * A loop: a walk over records that serves a list of parts at once. Included once for each loop, in a C file:
 *
 *     #define LOOP joint_steps
 *     #define LOOP_HOOKS .chains = true, .all_linked = true
 *     #define LOOP_PARTS(PART) PART(profile, ALWAYS) PART(threads, ALWAYS) PART(flops, PERHAPS)
 *     #include "model/core/loop.h"
 *
 * LOOP_PARTS names lines of parts.def, in the order in which they are called. A part that is there PERHAPS costs a
 * comparison for each range: it is there if the walk has its sums. LOOP_HOOKS are further members of struct
 * dw_pass_hooks. Optional: LOOP_DROPS_ROWS, if no part needs a range's row when the range ends; LOOP_EVERYTHING, if
 * the scope includes everything; then LOOP_BURSTS, if all parts allow bursts (burst.h).
 *
 * Defines LOOP_walk_all(), which walks in parallel: pieces of streams, or NULL for whole streams, of all streams or
 * of those that `only` accepts. False: out of memory.
 */
#include "model/core/parallel.h"
#include "model/core/part.h"

#define LOOP_PASTE_TOKENS(a, b) a##_##b
#define LOOP_PASTE(a, b) LOOP_PASTE_TOKENS(a, b)
#define LOOP_NAME(what) LOOP_PASTE(LOOP, what)

/* Calls a hook of a part, if the part has it and is in the walk. */
#define LOOP_HAS_ALWAYS(name) true
#define LOOP_HAS_PERHAPS(name) at->has_##name
#define LOOP_CALL(name, when, hook, ...) \
	if (dw_##name##_part.hook && LOOP_HAS_##when(name)) \
		dw_##name##_part.hook(&at->name, ##__VA_ARGS__);
/* The same of its other functions. A part that lacks it agrees. */
#define LOOP_ASK(name, function, ...) \
	(!sums->name || !dw_##name##_part.function || dw_##name##_part.function(__VA_ARGS__))

/* ---- the frame, the state and the worker --------------------------------------------------------------- */

struct LOOP_NAME(frame) {
	struct dw_frame frame;
#ifndef LOOP_DROPS_ROWS
	uint32_t row;
#endif
#define PART(name, when) struct dw_##name##_frame name;
	LOOP_PARTS(PART)
#undef PART
};

#ifndef LOOP_DROPS_ROWS
_Static_assert(offsetof(struct LOOP_NAME(frame), row) == sizeof(struct dw_frame), "see dw_part_row()");
#endif

struct LOOP_NAME(state) {
	struct dw_pass pass;
#define PART(name, when) struct dw_##name##_pass name; bool has_##name;
	LOOP_PARTS(PART)
#undef PART
};

struct LOOP_NAME(worker) {
#define PART(name, when) struct dw_##name##_worker name;
	LOOP_PARTS(PART)
#undef PART
};

/* ---- the hooks ----------------------------------------------------------------------------------------- */

DW_INLINE struct dw_here LOOP_NAME(here)(struct LOOP_NAME(state) *at, struct LOOP_NAME(frame) *frame, uint64_t ticks)
{
	struct dw_here here = { .pass = &at->pass, .range = &frame->frame, .ticks = ticks };

#ifdef LOOP_EVERYTHING
	here.everything = true;
#endif
#ifndef LOOP_DROPS_ROWS
	here.row = frame->row;
#endif
	return here;
}

DW_INLINE void LOOP_NAME(enter)(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct LOOP_NAME(state) *at = state;
	struct LOOP_NAME(frame) *frame = place;
	struct dw_op op = dw_walk_op(&at->pass.walk, id);
	struct dw_here here = LOOP_NAME(here)(at, frame, ticks);

#ifndef LOOP_DROPS_ROWS
	frame->row = op.row;
#endif
	here.id = id;
	here.row = op.row;
	here.kind = op.kind;
#define PART(name, when) LOOP_CALL(name, when, enter, &frame->name, &here)
	LOOP_PARTS(PART)
#undef PART
}

DW_INLINE void LOOP_NAME(leave)(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct LOOP_NAME(state) *at = state;
	struct LOOP_NAME(frame) *frame = place;
	struct dw_here here = LOOP_NAME(here)(at, frame, ticks);

	here.how = how;
	here.duration = ticks - frame->frame.start;
#define PART(name, when) LOOP_CALL(name, when, leave, &frame->name, &here)
	LOOP_PARTS(PART)
#undef PART
}

static void LOOP_NAME(note)(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct LOOP_NAME(state) *at = state;

#define PART(name, when) LOOP_CALL(name, when, note, ticks, record)
	LOOP_PARTS(PART)
#undef PART
}

DW_INLINE void LOOP_NAME(settle)(void *state, uint64_t ticks)
{
	struct LOOP_NAME(state) *at = state;

#define PART(name, when) LOOP_CALL(name, when, settle, ticks)
	LOOP_PARTS(PART)
#undef PART
}

static void LOOP_NAME(unnest)(void *state, uint32_t place, uint64_t ticks)
{
	struct LOOP_NAME(state) *at = state;

#define PART(name, when) LOOP_CALL(name, when, unnest, place)
	LOOP_PARTS(PART)
#undef PART
}

static void LOOP_NAME(flushed)(void *state, uint64_t ticks, enum dw_flush why)
{
	struct LOOP_NAME(state) *at = state;

#define PART(name, when) LOOP_CALL(name, when, flushed, ticks, why)
	LOOP_PARTS(PART)
#undef PART
}

static void LOOP_NAME(orphan)(void *state, uint64_t ticks, uint32_t n)
{
	struct LOOP_NAME(state) *at = state;

#define PART(name, when) LOOP_CALL(name, when, orphan, ticks)
	LOOP_PARTS(PART)
#undef PART
}

static void LOOP_NAME(after_break)(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct LOOP_NAME(state) *at = state;

#define PART(name, when) LOOP_CALL(name, when, after_break, ticks, record)
	LOOP_PARTS(PART)
#undef PART
}

static void LOOP_NAME(carry)(void *state, void *place)
{
	struct LOOP_NAME(state) *at = state;
	struct LOOP_NAME(frame) *frame = place;
	const struct dw_here here = LOOP_NAME(here)(at, frame, 0);

#define PART(name, when) LOOP_CALL(name, when, carry, &frame->name, &here)
	LOOP_PARTS(PART)
#undef PART
}

static void LOOP_NAME(carried)(void *state)
{
	struct LOOP_NAME(state) *at = state;

#define PART(name, when) LOOP_CALL(name, when, carried)
	LOOP_PARTS(PART)
#undef PART
}

#ifdef LOOP_BURSTS
static const uint32_t *LOOP_NAME(burst)(void *state, const uint32_t *at, const uint32_t *limit, uint64_t *ticks);
#endif

static const struct dw_pass_hooks LOOP_NAME(hooks) = {
	.frame_bytes = sizeof(struct LOOP_NAME(frame)), .deepest = DW_DEEPEST,
	.enter = LOOP_NAME(enter), .leave = LOOP_NAME(leave), .note = LOOP_NAME(note), .settle = LOOP_NAME(settle),
	.unnest = LOOP_NAME(unnest), .flushed = LOOP_NAME(flushed), .orphan = LOOP_NAME(orphan),
	.after_break = LOOP_NAME(after_break), .carry = LOOP_NAME(carry), .carried = LOOP_NAME(carried), LOOP_HOOKS
#ifdef LOOP_BURSTS
	, .burst = LOOP_NAME(burst)
#endif
};

#ifdef LOOP_BURSTS
static __attribute__((noinline)) const uint32_t *LOOP_NAME(burst)(void *state, const uint32_t *next, const uint32_t *limit, uint64_t *ticks)
{
	struct LOOP_NAME(state) *at = state;
	const uint32_t *from = next;
	struct dw_burst burst;

	if (!dw_burst_begin(&burst, &at->pass, next, limit, *ticks))
		return next;
#define PART(name, when) \
	if (!dw_##name##_part.burst(&at->name, &burst)) \
		return next;
	LOOP_PARTS(PART)
#undef PART
	do {
		next = dw_burst_read(&burst, next, limit);
		for (uint32_t i = 0; i < burst.count; i++) {
#define PART(name, when) LOOP_CALL(name, when, ended, &burst.ranges[i])
			LOOP_PARTS(PART)
#undef PART
		}
	} while (!burst.done);
	if (next == from)
		return next;
	dw_burst_end(&burst, &at->pass, LOOP_NAME(hooks).frame_bytes);
#define PART(name, when) LOOP_CALL(name, when, burst_end, &burst)
	LOOP_PARTS(PART)
#undef PART
	for (uint32_t i = 1; i <= burst.depth; i++) {
		const struct dw_burst_frame *frame = &burst.stack[i];

		dw_pass_begin(&at->pass, &LOOP_NAME(hooks), frame->start, frame->id);
		dw_pass_at(&at->pass, LOOP_NAME(hooks).frame_bytes, at->pass.depth)->child = frame->child;
#define PART(name, when) LOOP_CALL(name, when, inside, frame->child, &burst)
		LOOP_PARTS(PART)
#undef PART
	}
	*ticks = burst.ticks;
	return next;
}
#endif

#define LOOP_DEFINE(name, hooks) DW_PASS_DEFINE(name, hooks)
LOOP_DEFINE(LOOP, LOOP_NAME(hooks))

/* ---- the walk ------------------------------------------------------------------------------------------ */

static bool LOOP_NAME(init)(const void *context, void *memory)
{
	const struct dw_part_sums *sums = context;
	struct LOOP_NAME(worker) *worker = memory;
	bool good = true;

#define PART(name, when) good = good && LOOP_ASK(name, worker_init, &worker->name, sums->name);
	LOOP_PARTS(PART)
#undef PART
	return good;
}

static void LOOP_NAME(reset)(void *memory)
{
	struct LOOP_NAME(worker) *worker = memory;

#define PART(name, when) \
	if (dw_##name##_part.worker_reset) \
		dw_##name##_part.worker_reset(&worker->name);
	LOOP_PARTS(PART)
#undef PART
}

static bool LOOP_NAME(begin_round)(void *context, unsigned round)
{
	const struct dw_part_sums *sums = context;
	bool good = true;

#define PART(name, when) good = good && LOOP_ASK(name, begin_round, sums->name, round);
	LOOP_PARTS(PART)
#undef PART
	return good;
}

static bool LOOP_NAME(wants)(const void *context, unsigned round, size_t stream)
{
	const struct dw_part_sums *sums = context;
	bool wants = true;

#define PART(name, when) wants = wants && LOOP_ASK(name, wants, sums->name, round, stream);
	LOOP_PARTS(PART)
#undef PART
	return wants;
}

static bool LOOP_NAME(walk_piece)(void *context, void *memory, struct dw_frames *frames, const struct dw_model *model,
                                  const struct dw_segment *segment)
{
	const struct dw_part_sums *sums = context;
	struct LOOP_NAME(worker) *worker = memory;
	struct LOOP_NAME(state) state, *at = &state;
	struct dw_part_begin from = { &state.pass, segment, sizeof(struct LOOP_NAME(frame)), 0 };
	bool good = true;

	memset(&state, 0, sizeof state);
	dw_pass_init(&state.pass, model, segment->stream, frames);
#define PART(name, when) \
	at->has_##name = sums->name != NULL; \
	from.frame_offset = offsetof(struct LOOP_NAME(frame), name); \
	if (at->has_##name && dw_##name##_part.begin) \
		good = good && dw_##name##_part.begin(&at->name, sums->name, &worker->name, &from);
	LOOP_PARTS(PART)
#undef PART
	if (!good)
		return false;
	LOOP_NAME(segment)(&state.pass, segment);
#define PART(name, when) \
	if (at->has_##name && dw_##name##_part.end) \
		dw_##name##_part.end(&at->name);
	LOOP_PARTS(PART)
#undef PART
	return !state.pass.walk.failed;
}

static bool LOOP_NAME(merge)(void *context, void *memory, uint32_t file)
{
	const struct dw_part_sums *sums = context;
	struct LOOP_NAME(worker) *worker = memory;
	bool good = true;

#define PART(name, when) good &= LOOP_ASK(name, merge, sums->name, &worker->name, file);
	LOOP_PARTS(PART)
#undef PART
	return good;
}

static void LOOP_NAME(end_file)(void *context, uint32_t file)
{
	const struct dw_part_sums *sums = context;

#define PART(name, when) \
	if (sums->name && dw_##name##_part.end_file) \
		dw_##name##_part.end_file(sums->name, file);
	LOOP_PARTS(PART)
#undef PART
}

static bool LOOP_NAME(walk_all)(const struct dw_model *model, struct dw_part_sums *sums,
                                const struct dw_segments *pieces, bool (*only)(const struct dw_model *model, size_t stream))
{
	static const struct dw_walk_kind kind = { sizeof(struct LOOP_NAME(worker)), LOOP_NAME(init), LOOP_NAME(reset),
		LOOP_NAME(walk_piece), LOOP_NAME(merge), LOOP_NAME(end_file), LOOP_NAME(begin_round), LOOP_NAME(wants) };
	struct dw_parallel walk = { .kind = &kind, .model = model, .context = sums, .pieces = pieces, .only = only };

#define PART(name, when) \
	walk.by_file |= sums->name && dw_##name##_part.merge; \
	if (sums->name && dw_##name##_part.rounds > walk.rounds) \
		walk.rounds = dw_##name##_part.rounds;
	LOOP_PARTS(PART)
#undef PART
	return dw_walk_parallel(&walk);
}

#undef LOOP
#undef LOOP_HOOKS
#undef LOOP_PARTS
#undef LOOP_DROPS_ROWS
#undef LOOP_EVERYTHING
#undef LOOP_BURSTS
#undef LOOP_PASTE_TOKENS
#undef LOOP_PASTE
#undef LOOP_NAME
#undef LOOP_HAS_ALWAYS
#undef LOOP_HAS_PERHAPS
#undef LOOP_CALL
#undef LOOP_ASK
#undef LOOP_DEFINE
