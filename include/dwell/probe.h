/*
 * Probes: macros and functions with which a program records what it does.
 *
 *     DWELL_ZONE("forward");           the rest of this block is a range
 *     DWELL_STEP();                    the rest of this block is a step
 *     DWELL_OP("conv2d");              ... an operator
 *     DWELL_LAYER("ResNet.conv1");     ... a layer
 *     DWELL_COUNTER("loss", loss);     a value at this moment
 *     DWELL_ALLOC("gradient", "cpu", p, n); DWELL_FREE(p);
 *
 * A scope ends with its block, however the block is left: return, break, goto,
 * an exception. A jump *into* the rest of a block, past the declaration of a scope
 * (`goto out;` above DWELL_ZONE, a `case` label below it), records nothing for that
 * scope in C with gcc; clang and C++ reject it. Open a block of its own for the
 * scope, or declare the scope before the first goto.
 *
 * In a program that is not recorded a probe is one relaxed load and a branch not
 * taken; with -DDWELL_DISABLE it is nothing. Recorded, a range costs little more
 * than the two clock readings it needs and 12 bytes.
 *
 * Probes may be used in any thread, in signal handlers, before main, after
 * fork, in code loaded with dlopen. They never fail, allocate, lock, or change
 * errno. Records that could not be kept are counted by cause, and every report
 * shows the counts. longjmp() out of ranges leaves them open; those that were begun
 * inside of a DWELL_STEP() end with that step.
 *
 * C99 and C++11 or later, gcc and clang. Names are string literals: each is read
 * once, at the probe's first record. For names made at run time see DWELL_SCOPE_ID().
 */
#ifndef DWELL_PROBE_H
#define DWELL_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dwell/dwell.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a range or a value is. The numbers are on disk: append only, below 24. */
#define DWELL_CATEGORIES(X)         \
	X(ZONE, 0, "zone")              \
	X(PHASE, 1, "phase")            \
	X(OPERATOR, 2, "operator")      \
	X(LAYER, 3, "layer")            \
	X(DATA, 4, "data")              \
	X(ACTION, 5, "action")          \
	X(EVENT, 6, "event")            \
	X(HANDLER, 7, "handler")        \
	X(FUNCTION, 8, "function")      \
	X(COLLECTOR, 9, "collector")    \
	X(COMMUNICATION, 10, "communication") \
	X(DEVICE, 11, "device")         \
	X(CHECKPOINT, 12, "checkpoint") \
	X(EVALUATION, 13, "evaluation") \
	X(PROFILER, 14, "profiler")     \
	X(COUNTER, 15, "counter")       \
	X(ALLOCATION, 16, "allocation") \
	X(FLOW, 17, "flow")             \
	X(MARK, 18, "mark")

enum dwell_category {
#define DWELL_CATEGORY_ENUM(name, value, text) DWELL_CATEGORY_##name = value,
	DWELL_CATEGORIES(DWELL_CATEGORY_ENUM)
#undef DWELL_CATEGORY_ENUM
	DWELL_CATEGORY_COUNT
};

/* Bits of the mask above the categories: details recorded with operators. */
#define DWELL_DETAIL_SHAPES (1u << 24)
/* Also of code without frame pointers, but on a coroutine's stack or a signal handler's, where
 * callers without them are not known: compile with -fno-omit-frame-pointer. */
#define DWELL_DETAIL_STACKS (1u << 25)
#define DWELL_DETAIL_FLOPS (1u << 26)
/* Only some layers: set and cleared by dwell_layers_only(). */
#define DWELL_DETAIL_LAYERS (1u << 27)
/* With DWELL_CATEGORY_FUNCTION: also the functions of an interpreter that are written in C. */
#define DWELL_DETAIL_C_FUNCTIONS (1u << 28)

/* For dwell_options.categories: record only what profiles and captures ask for. */
#define DWELL_MASK_NONE (1u << 31)

/* The default: all categories except functions, and no details. */
#define DWELL_MASK_DEFAULT (0x00ffffffu & ~(1u << DWELL_CATEGORY_FUNCTION))

/* Element types of tensors, numbered as PyTorch's c10::ScalarType. */
enum dwell_dtype {
	DWELL_UINT8 = 0, DWELL_INT8 = 1, DWELL_INT16 = 2, DWELL_INT32 = 3, DWELL_INT64 = 4,
	DWELL_FLOAT16 = 5, DWELL_FLOAT32 = 6, DWELL_FLOAT64 = 7, DWELL_COMPLEX32 = 8,
	DWELL_COMPLEX64 = 9, DWELL_COMPLEX128 = 10, DWELL_BOOL = 11, DWELL_BFLOAT16 = 15,
	DWELL_ARG_INTS = 254, /* not a tensor: `sizes` are integers (a stride, a flag) */
	DWELL_DTYPE_NONE = 255
};

/* An argument of an operator. `sizes` is read during the call only. */
struct dwell_tensor {
	const int64_t *sizes;
	uint8_t dimensions;
	uint8_t dtype; /* enum dwell_dtype */
};

/*
 * One call site of a probe: a static variable, constant except for `id`. `id` is 0
 * until the first record. It is atomic: several threads may find it 0, intern the
 * same content and store the same id.
 */
struct dwell_site {
	const char *name;
	const char *detail; /* unit of a counter, device of an allocation, or NULL */
	const char *file;
	uint32_t line;
	uint32_t category;
	uint32_t id;
};

/* The id of a name that is made at run time. Copies the texts; returns 0, the id of an
 * unknown name, when nothing is recorded. Costs about a hash and a comparison if the
 * content was interned before. Ids are valid as long as the process lives. */
DWELL_API uint32_t dwell_intern(enum dwell_category category, const char *name,
                                const char *detail);
DWELL_API uint32_t dwell_intern_op(const char *name, const char *detail,
                                   const struct dwell_tensor *tensors, unsigned count);
/* The same for a layer: its path ("Net.stem.conv"), its type ("Conv2d", or NULL) and the
 * sizes of its own parameters, which reports count. For DWELL_SCOPE_ID(DWELL_CATEGORY_LAYER, id). */
DWELL_API uint32_t dwell_intern_layer(const char *path, const char *type,
                                      const struct dwell_tensor *parameters, unsigned count);
/* The same for a function (DWELL_CATEGORY_FUNCTION), by its address; the reader finds its name. */
DWELL_API uint32_t dwell_intern_function(const void *address);
/* Changes when code was unloaded: ids of addresses are then asked for again. Add 1 after an
 * unloading that the recorder may not see. Atomic. */
extern DWELL_API uint32_t dwell_code_generation;
/* A place in code that is not machine code (Python, a graph); `file` may be NULL, `line` 0.
 * dwell_intern_stack() makes a stack of such frames, innermost first, for
 * dwell_op_begin_from(). */
DWELL_API uint32_t dwell_intern_frame(const char *function, const char *file, uint32_t line);
DWELL_API uint32_t dwell_intern_stack(const uint32_t *frames, unsigned count);

/* ---- the hot path: inline, and frozen as ABI 1 --------------------------- */

/* The gate of this process: the mask of what is recorded now. NULL if no session runs. */
struct dwell_gate_word {
	uint32_t mask;
};
extern DWELL_API const struct dwell_gate_word *dwell_gate;

/*
 * Where the calling thread writes its next record. In a forked child this memory is
 * zero, so that the child takes the slow path like a new thread. limit - cursor is at
 * most a chunk; dwell_room() finds every other case (no chunk, a full one, one of the
 * parent process) with one comparison.
 */
struct dwell_stream {
	char *cursor;         /* next free byte */
	char *limit;          /* no record begins here or after; written by dwell_stop too */
	uint64_t last_ticks;  /* time of the previous record */
	uint32_t busy;        /* a record is being written: signal handlers must not write here */
};
#define DWELL_CHUNK_BYTES 65536u

extern DWELL_API __thread struct dwell_stream *dwell_this_stream
    __attribute__((__tls_model__("initial-exec")));

/* Out of line: everything except the common case. */
DWELL_API void dwell_slow_begin(uint32_t id);
DWELL_API void dwell_slow_end(uint64_t ticks);
DWELL_API void dwell_slow_put(uint32_t word1, const uint32_t *payload, unsigned words);
DWELL_API uint32_t dwell_slow_site(struct dwell_site *site);
DWELL_API unsigned dwell_op_begin(struct dwell_site *site, const struct dwell_tensor *tensors,
                                  unsigned count);
/* Begin and end of a range while stacks, functions or only some layers are recorded: an
 * outermost operator gets the caller's stack, ranges end by name, and a layer that is not
 * chosen is not begun. Pass the result of the first function to the second. */
DWELL_API unsigned dwell_slow_range(uint32_t id, uint32_t category);
DWELL_API void dwell_slow_range_end(unsigned began);
/* As dwell_op_begin(), but while stacks are recorded the operator gets `stack`, even inside
 * another operator. If `stack` is 0, an outermost operator gets the caller's stack. */
DWELL_API unsigned dwell_op_begin_from(struct dwell_site *site, const struct dwell_tensor *tensors,
                                       unsigned count, uint32_t stack);

/* A range for callers that cannot use inline code (other languages, plugins). Pass the
 * result to dwell_end_id(). */
DWELL_API unsigned dwell_begin_id(uint32_t id, enum dwell_category category);
DWELL_API void dwell_end_id(unsigned began);

/* Always inlined: out of line, a probe that is not recorded costs four times as much, and a
 * range a quarter more. Excluded from -finstrument-functions: otherwise instrumenting these
 * inline functions would unbalance the ranges they record. Attributes are spelled with
 * underscores because programs define macros such as `unused`. */
#define DWELL_UNSEEN __attribute__((__no_instrument_function__))
#define DWELL_INLINE static inline __attribute__((__always_inline__)) DWELL_UNSEEN
#define DWELL_LIKELY(x) __builtin_expect(!!(x), 1)
#define DWELL_UNLIKELY(x) __builtin_expect(!!(x), 0)

DWELL_INLINE uint64_t dwell_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;
	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0; /* no stream has a limit here, so that every record takes the slow path */
#endif
}

/* Whether records of the category are wanted now. */
DWELL_INLINE bool dwell_wants(uint32_t mask)
{
	/* The gate lives as long as the process. Steps, a schedule or a controller change its
	 * mask at any time; relaxed loads are enough because nothing else depends on it. */
	const struct dwell_gate_word *gate = __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED);

	return DWELL_UNLIKELY(gate != NULL) &&
	       (__atomic_load_n(&gate->mask, __ATOMIC_RELAXED) & mask) != 0;
}

DWELL_INLINE bool dwell_room(const struct dwell_stream *stream, const char *cursor)
{
	const char *limit = __atomic_load_n(&stream->limit, __ATOMIC_RELAXED);

	return DWELL_ADDRESS(limit) - DWELL_ADDRESS(cursor) - 1 < DWELL_CHUNK_BYTES;
}

/*
 * Writes one record: its payload first, its first word last. The release store pairs
 * with the acquire load of a reader of the live file, so that a reader that sees the
 * first word sees the rest. `busy` orders against signal handlers of the same thread
 * only; a compiler fence is enough for that.
 */
DWELL_INLINE void dwell_put_begin(uint32_t id)
{
	struct dwell_stream *stream = dwell_this_stream;

	if (DWELL_UNLIKELY(stream->busy)) {
		dwell_slow_begin(id);
		return;
	}
	__atomic_store_n(&stream->busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	char *cursor = stream->cursor;
	uint64_t ticks = dwell_ticks();
	uint64_t delta = ticks - stream->last_ticks;
	if (DWELL_UNLIKELY(!dwell_room(stream, cursor) || delta >> 30)) {
		__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
		dwell_slow_begin(id);
		return;
	}
	stream->last_ticks = ticks;
	void *place = cursor;
	uint32_t *words = DWELL_CAST(uint32_t *, place);
	__atomic_store_n(words + 1, id, __ATOMIC_RELAXED);
	__atomic_store_n(words, DWELL_CAST(uint32_t, delta) << 2 | 1u, __ATOMIC_RELEASE);
	stream->cursor = cursor + 8;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
}

DWELL_INLINE void dwell_put_end(void)
{
	struct dwell_stream *stream = dwell_this_stream;
	uint64_t ticks = dwell_ticks();

	if (DWELL_UNLIKELY(stream->busy)) {
		dwell_slow_end(ticks);
		return;
	}
	__atomic_store_n(&stream->busy, 1u, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	char *cursor = stream->cursor;
	uint64_t delta = ticks - stream->last_ticks;
	if (DWELL_UNLIKELY(!dwell_room(stream, cursor) || delta >> 30)) {
		__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
		dwell_slow_end(ticks);
		return;
	}
	stream->last_ticks = ticks;
	void *place = cursor;
	__atomic_store_n(DWELL_CAST(uint32_t *, place), DWELL_CAST(uint32_t, delta) << 2 | 3u,
	                 __ATOMIC_RELEASE);
	stream->cursor = cursor + 4;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&stream->busy, 0u, __ATOMIC_RELAXED);
}

DWELL_INLINE uint32_t dwell_site_id(struct dwell_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

	return DWELL_LIKELY(id != 0) ? id : dwell_slow_site(site);
}

/* ---- ranges -------------------------------------------------------------- */

/* What a begin returns for its end. Other values than these are for dwell_slow_range_end(). */
enum dwell_began {
	DWELL_NOT_BEGUN = 0,
	DWELL_BEGUN = 1,
};

/*
 * Begins a range at `site` if its category is recorded now. Pass the result to dwell_end(),
 * in the same thread, innermost range first. The two calls may stand in different functions:
 * while functions are recorded as ranges, ends name the range that they end.
 */
DWELL_INLINE unsigned dwell_begin(struct dwell_site *site)
{
	const struct dwell_gate_word *gate = __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED);

	if (DWELL_LIKELY(gate == NULL))
		return DWELL_NOT_BEGUN;
	uint32_t mask = __atomic_load_n(&gate->mask, __ATOMIC_RELAXED);
	if (DWELL_UNLIKELY(!(mask & 1u << site->category)))
		return DWELL_NOT_BEGUN;
	/* One test for three rare cases: stacks, only some layers, or functions are recorded. */
	if (DWELL_UNLIKELY(mask & (DWELL_DETAIL_STACKS | DWELL_DETAIL_LAYERS | 1u << DWELL_CATEGORY_FUNCTION)))
		return dwell_slow_range(dwell_site_id(site), site->category);
	dwell_put_begin(dwell_site_id(site));
	return DWELL_BEGUN;
}

DWELL_INLINE void dwell_end(unsigned began)
{
	if (DWELL_LIKELY(began == DWELL_BEGUN))
		dwell_put_end();
	else if (began)
		dwell_slow_range_end(began);
}

/* Ranges that begin and end in different threads, or overlap without nesting:
 * `handle` (an address, a counter) tells those of one site apart. */
DWELL_API void dwell_async_begin(struct dwell_site *site, uint64_t handle);
DWELL_API void dwell_async_end(struct dwell_site *site, uint64_t handle);

/* Ends the n-th open range of this thread, counted from the innermost = 0. */
DWELL_API void dwell_end_of(uint32_t n);

/* A range that need not nest: it may outlive the ranges it began in, and ranges that begin
 * inside it may outlive it. Pass the result to dwell_end_id(). If you discard the result, end
 * it with dwell_end_named(id), which ends the innermost open range with that id. */
DWELL_API unsigned dwell_begin_named(uint32_t id, enum dwell_category category);
DWELL_API void dwell_end_named(uint32_t id);

/* An arrow from dwell_flow_out() to the dwell_flow_in() with the same handle. */
DWELL_API void dwell_flow_out(struct dwell_site *site, uint64_t handle);
DWELL_API void dwell_flow_in(struct dwell_site *site, uint64_t handle);

/* ---- values -------------------------------------------------------------- */

DWELL_API void dwell_mark(struct dwell_site *site);
DWELL_API void dwell_counter(struct dwell_site *site, double value);

/* Memory. site->name is the category ("parameter", "gradient", "activation",
 * "input", "optimizer state", "temporary", "other"), site->detail the device
 * ("cpu", "cuda:0"). An address is live from its allocation to its free. */
DWELL_API void dwell_alloc(struct dwell_site *site, const void *address, uint64_t size_bytes);
DWELL_API void dwell_free(struct dwell_site *site, const void *address);
/* Changes the category of the block that is live at `address` to site->name, as if it had
 * been allocated with it. An address where no recorded block is live is ignored. */
DWELL_API void dwell_alloc_is(struct dwell_site *site, const void *address);

/* For operators of autograd: gives the innermost open range the sequence number that
 * forward and backward share, and the thread that ran the forward. */
DWELL_API void dwell_link(uint64_t sequence_number, uint32_t forward_thread);
/* The calling thread's number for dwell_link(), or 0 if the thread cannot be recorded. */
DWELL_API uint32_t dwell_link_thread(void);

/* For probes that detect a step late: dwell_step_now() returns a timestamp (and opens the
 * gate if the coming step is to be recorded); pass it later to dwell_step_begin_at() to
 * backdate the step. It must be after the previous step's end; 0 means now. Call both in the
 * same thread. */
DWELL_API uint64_t dwell_step_now(void);
DWELL_API void dwell_step_begin_at(uint64_t moment);
/* For probes that detect late that a step has ended: ends the open step of this thread at
 * `moment`, a dwell_ticks() taken in the step. A moment outside the step, or 0, means now. */
DWELL_API void dwell_step_end_at(uint64_t moment);
/* Cancels the open step of this thread: its time counts as outside any step, and its number
 * is reused. */
DWELL_API void dwell_step_cancel(void);
/* Begins and ends a step that is a block of the program; for DWELL_STEP(). `scope` is the
 * address of a variable of that block. Ranges of this thread that began inside the block and
 * are still open at its end, because longjmp() skipped their ends, end with it. A block that
 * longjmp() left is ended by the next such step of the thread. */
DWELL_API void dwell_step_scope_begin(const void *scope);
DWELL_API void dwell_step_scope_end(const void *scope);

/* Counts records that the caller could not make, in the calling thread: reports state them. */
DWELL_API void dwell_probe_lost(uint64_t records);

/* ---- the macros ---------------------------------------------------------- */

#ifdef __cplusplus
}
#endif

/* A name that is a literal. A variable would be read once only: C++ would compile it, and
 * every later call would have the first call's name. */
#ifdef __cplusplus
#define DWELL_LITERAL(text) "" text
#else
#define DWELL_LITERAL(text) text
#endif

#ifdef DWELL_DISABLE

/* Arguments are named and not evaluated, so that no variable becomes unused. */
#define DWELL_IGNORE(argument) (0 ? (void)(argument) : (void)0)
#define DWELL_IGNORE_TEXT(text) ((void)sizeof(DWELL_LITERAL(text)))
#define DWELL_IGNORE_TWO(text, argument) \
	do {                                 \
		DWELL_IGNORE_TEXT(text);         \
		DWELL_IGNORE(argument);          \
	} while (0)
#define DWELL_IGNORE_THREE(text, one, two) \
	do {                                   \
		DWELL_IGNORE_TEXT(text);           \
		DWELL_IGNORE(one);                 \
		DWELL_IGNORE(two);                 \
	} while (0)

#define DWELL_SCOPE(category, name) DWELL_IGNORE_TEXT(name)
#define DWELL_SCOPE_ID(category, id) DWELL_IGNORE(id)
#define DWELL_OP_SHAPES(name, tensors, count) DWELL_IGNORE_THREE(name, tensors, count)
#define DWELL_OP_NAMED(name, tensors, count) \
	DWELL_IGNORE((name));                    \
	DWELL_IGNORE_THREE("", tensors, count)
#define DWELL_STEP() ((void)0)
#define DWELL_MARK(name) DWELL_IGNORE_TEXT(name)
#define DWELL_COUNTER(name, value) DWELL_IGNORE_TWO(name, value)
#define DWELL_COUNTER_UNIT(name, unit, value) \
	DWELL_IGNORE_THREE(name, sizeof(DWELL_LITERAL(unit)), value)
#define DWELL_ALLOC(category, device, address, size_bytes) \
	DWELL_IGNORE_THREE(category DWELL_LITERAL(device), address, size_bytes)
#define DWELL_FREE(address) DWELL_IGNORE(address)
#define DWELL_ALLOC_IS(category, address) DWELL_IGNORE_TWO(category, address)
#define DWELL_ASYNC_BEGIN(name, handle) DWELL_IGNORE_TWO(name, handle)
#define DWELL_ASYNC_END(name, handle) DWELL_IGNORE_TWO(name, handle)
#define DWELL_FLOW_OUT(name, handle) DWELL_IGNORE_TWO(name, handle)
#define DWELL_FLOW_IN(name, handle) DWELL_IGNORE_TWO(name, handle)

#else

#define DWELL_SITE(variable, category, name, detail) \
	static struct dwell_site variable = { name, detail, __FILE__, __LINE__, category, 0 }

#ifdef __cplusplus
struct dwell_range_scope {
	DWELL_UNSEEN explicit dwell_range_scope(unsigned result) : began(result) {}
	DWELL_UNSEEN ~dwell_range_scope() { dwell_end(began); }
	dwell_range_scope(const dwell_range_scope &) = delete;
	dwell_range_scope &operator=(const dwell_range_scope &) = delete;
	unsigned began;
};
struct dwell_step_scope {
	DWELL_UNSEEN dwell_step_scope() { dwell_step_scope_begin(this); }
	DWELL_UNSEEN ~dwell_step_scope() { dwell_step_scope_end(this); }
	dwell_step_scope(const dwell_step_scope &) = delete;
	dwell_step_scope &operator=(const dwell_step_scope &) = delete;
};
#define DWELL_SCOPE_OPEN(expression, n) const dwell_range_scope DWELL_JOIN(dwell_scope_, n)(expression)
#define DWELL_STEP() const dwell_step_scope DWELL_JOIN(dwell_step_, __COUNTER__)
#else
/*
 * The variable of a scope in C. gcc runs its cleanup also when a goto jumped past its
 * initialisation; it then holds whatever the stack held before. So a scope that began
 * something proves itself with its own address. `word` is
 *
 *     0                                     nothing began
 *     address + 1                           DWELL_BEGUN, the common case
 *     lower half of the address, result     another result of the begin
 *
 * (The address itself may lie there as the head of an empty list.) Leaving clears it, so
 * that a later call which uses the same memory finds no proof there. clang rejects such a
 * goto and needs no proof.
 */
struct dwell_block {
	uint64_t word;
};

DWELL_INLINE struct dwell_block dwell_block_enter(struct dwell_block *block, unsigned began)
{
	struct dwell_block entered = { 0 };

	if (DWELL_LIKELY(began == DWELL_BEGUN))
		entered.word = (uintptr_t)block + 1;
	else if (began)
		entered.word = (uint64_t)(uint32_t)(uintptr_t)block << 32 | began;
	return entered;
}

/* What the begin returned; DWELL_NOT_BEGUN if the scope was never entered. */
DWELL_INLINE unsigned dwell_block_close(struct dwell_block *block)
{
	uint64_t word;
	unsigned began = DWELL_NOT_BEGUN;

#ifndef __clang__
	/* Makes the compiler read the memory. It may otherwise assume that a variable which is
	 * initialised on one path only has that value on every path. */
	__asm__("" : "+m"(block->word));
#endif
	word = block->word;
	if (DWELL_LIKELY(word == 0))
		return DWELL_NOT_BEGUN;
#ifndef __clang__
	block->word = 0;
	__asm__ volatile("" : : "m"(block->word)); /* keeps the store: the variable ends here */
#endif
	if (DWELL_LIKELY(word == (uintptr_t)block + 1))
		began = DWELL_BEGUN;
	else if ((uint32_t)(word >> 32) == (uint32_t)(uintptr_t)block)
		began = (uint32_t)word;
	return began;
}

DWELL_INLINE void dwell_block_leave(struct dwell_block *block)
{
	dwell_end(dwell_block_close(block));
}

DWELL_INLINE unsigned dwell_step_enter(struct dwell_block *block)
{
	dwell_step_scope_begin(block);
	return DWELL_BEGUN;
}

DWELL_INLINE void dwell_step_leave(struct dwell_block *block)
{
	if (dwell_block_close(block))
		dwell_step_scope_end(block);
}

#define DWELL_BLOCK(variable, leave, expression)                                       \
	struct dwell_block variable __attribute__((__cleanup__(leave), __unused__)) =          \
	    dwell_block_enter(&variable, expression)
#define DWELL_SCOPE_OPEN(expression, n) \
	DWELL_BLOCK(DWELL_JOIN(dwell_scope_, n), dwell_block_leave, expression)
#define DWELL_STEP_N(n)                                                                \
	DWELL_BLOCK(DWELL_JOIN(dwell_step_, n), dwell_step_leave,                              \
	            dwell_step_enter(&DWELL_JOIN(dwell_step_, n)))
#define DWELL_STEP() DWELL_STEP_N(__COUNTER__)
#endif

/* `n` tells the scopes of a block apart. */
#define DWELL_SCOPE_(category, name, begin, n)                                         \
	DWELL_SITE(DWELL_JOIN(dwell_site_, n), category, DWELL_LITERAL(name), NULL);           \
	DWELL_SCOPE_OPEN(begin, n)
#define DWELL_SCOPE_N(category, name, n) \
	DWELL_SCOPE_(category, name, dwell_begin(&DWELL_JOIN(dwell_site_, n)), n)
#define DWELL_OP_SHAPES_N(name, tensors, count, n)     \
	DWELL_SCOPE_(DWELL_CATEGORY_OPERATOR, name,        \
	             dwell_op_begin(&DWELL_JOIN(dwell_site_, n), tensors, count), n)

/* The rest of the block is a range of the category. */
#define DWELL_SCOPE(category, name) DWELL_SCOPE_N(category, name, __COUNTER__)

/* The same with an id instead of a literal, for names that are known at run time only:
 * dwell_intern() or an id that was kept. `id` is evaluated only while the category is
 * recorded. */
#define DWELL_SCOPE_ID(category, id)                                                   \
	DWELL_SCOPE_OPEN(dwell_wants(1u << (category)) ? dwell_begin_id(id, category)          \
	                                               : DWELL_CAST(unsigned, DWELL_NOT_BEGUN), \
	                 __COUNTER__)

/* An operator with the shapes of its arguments, when shapes are recorded. */
#define DWELL_OP_SHAPES(name, tensors, count) DWELL_OP_SHAPES_N(name, tensors, count, __COUNTER__)

/* The same with a name that is known at run time only. The arguments are evaluated only
 * while operators are recorded; it then costs an interning, about 50 ns. Where that is too
 * much, keep the id of dwell_intern_op() and use DWELL_OP_ID(). */
#define DWELL_OP_NAMED(name, tensors, count)                                           \
	DWELL_OP_ID(dwell_intern_op(name, NULL, tensors,                                       \
	                            dwell_wants(DWELL_DETAIL_SHAPES)                           \
	                                ? DWELL_CAST(unsigned, count) : 0u))

#define DWELL_WITH_SITE(category, name, detail, call)  \
	do {                                               \
		DWELL_SITE(dwell_site, category, name, detail); \
		if (dwell_wants(1u << (category)))             \
			call;                                      \
	} while (0)
#define DWELL_AT_SITE(category, name, detail, call) \
	DWELL_WITH_SITE(category, DWELL_LITERAL(name), detail, call)

#define DWELL_MARK(name) \
	DWELL_AT_SITE(DWELL_CATEGORY_MARK, name, NULL, dwell_mark(&dwell_site))
#define DWELL_COUNTER(name, value) \
	DWELL_AT_SITE(DWELL_CATEGORY_COUNTER, name, NULL, dwell_counter(&dwell_site, value))
#define DWELL_COUNTER_UNIT(name, unit, value)                       \
	DWELL_AT_SITE(DWELL_CATEGORY_COUNTER, name, DWELL_LITERAL(unit), \
	              dwell_counter(&dwell_site, value))
#define DWELL_ALLOC(category, device, address, size_bytes)                    \
	DWELL_AT_SITE(DWELL_CATEGORY_ALLOCATION, category, DWELL_LITERAL(device), \
	              dwell_alloc(&dwell_site, address, size_bytes))
#define DWELL_FREE(address) \
	DWELL_AT_SITE(DWELL_CATEGORY_ALLOCATION, "free", NULL, dwell_free(&dwell_site, address))
#define DWELL_ALLOC_IS(category, address)                  \
	DWELL_AT_SITE(DWELL_CATEGORY_ALLOCATION, category, NULL, \
	              dwell_alloc_is(&dwell_site, address))
#define DWELL_ASYNC_BEGIN(name, handle) \
	DWELL_AT_SITE(DWELL_CATEGORY_ZONE, name, NULL, dwell_async_begin(&dwell_site, handle))
#define DWELL_ASYNC_END(name, handle) \
	DWELL_AT_SITE(DWELL_CATEGORY_ZONE, name, NULL, dwell_async_end(&dwell_site, handle))
#define DWELL_FLOW_OUT(name, handle) \
	DWELL_AT_SITE(DWELL_CATEGORY_FLOW, name, NULL, dwell_flow_out(&dwell_site, handle))
#define DWELL_FLOW_IN(name, handle) \
	DWELL_AT_SITE(DWELL_CATEGORY_FLOW, name, NULL, dwell_flow_in(&dwell_site, handle))

#endif

#define DWELL_ZONE(name) DWELL_SCOPE(DWELL_CATEGORY_ZONE, name)
#define DWELL_PHASE(name) DWELL_SCOPE(DWELL_CATEGORY_PHASE, name)
#define DWELL_OP(name) DWELL_SCOPE(DWELL_CATEGORY_OPERATOR, name)
#define DWELL_LAYER(name) DWELL_SCOPE(DWELL_CATEGORY_LAYER, name)
#define DWELL_OP_ID(id) DWELL_SCOPE_ID(DWELL_CATEGORY_OPERATOR, id)
#define DWELL_LAYER_ID(id) DWELL_SCOPE_ID(DWELL_CATEGORY_LAYER, id)

#endif
