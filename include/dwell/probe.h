/*
 * Probes: what a program says about itself while it runs.
 *
 *     DWELL_ZONE("forward");           the rest of this block is a range
 *     DWELL_STEP();                    the rest of this block is a step
 *     DWELL_OP("conv2d");              ... an operator
 *     DWELL_LAYER("ResNet.conv1");     ... a layer
 *     DWELL_COUNTER("loss", loss);     a value at this moment
 *     DWELL_ALLOC("gradient", "cpu", p, n); DWELL_FREE(p);
 *
 * A scope ends with its block however the block is left: return, break, goto,
 * an exception. In a program that is not recorded a probe is one relaxed load
 * and a branch not taken; with -DDWELL_DISABLE it is nothing. Recorded, a range
 * costs little more than the two clock readings it needs and 12 bytes.
 *
 * Probes may be used in any thread, in signal handlers, before main, after
 * fork, in code loaded with dlopen. They never fail, allocate, lock, or change
 * errno; what could not be recorded is counted and every report says so.
 *
 * C11 and C++11, gcc and clang. Names are string literals (or live for ever):
 * they are read once. For names made at run time see dwell_intern().
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
#define DWELL_DETAIL_STACKS (1u << 25)
#define DWELL_DETAIL_FLOPS (1u << 26)
/* Only some layers: set and cleared by dwell_layers_only(). */
#define DWELL_DETAIL_LAYERS (1u << 27)
/* With DWELL_CATEGORY_FUNCTION: of an interpreter's functions those too that are written in C. */
#define DWELL_DETAIL_C_FUNCTIONS (1u << 28)

/* Of dwell_options.categories: nothing but what profiles and captures ask for. */
#define DWELL_MASK_NONE (1u << 31)

/* Recorded when nothing else is asked for: all but functions, and no details. */
#define DWELL_MASK_DEFAULT (0x00ffffffu & ~(1u << DWELL_CATEGORY_FUNCTION))

/* Element types of tensors, numbered as PyTorch's c10::ScalarType. */
enum dwell_dtype {
	DWELL_UINT8 = 0, DWELL_INT8 = 1, DWELL_INT16 = 2, DWELL_INT32 = 3, DWELL_INT64 = 4,
	DWELL_FLOAT16 = 5, DWELL_FLOAT32 = 6, DWELL_FLOAT64 = 7, DWELL_COMPLEX32 = 8,
	DWELL_COMPLEX64 = 9, DWELL_COMPLEX128 = 10, DWELL_BOOL = 11, DWELL_BFLOAT16 = 15,
	DWELL_ARG_INTS = 254, /* no tensor: `sizes` are integers (a stride, a flag) */
	DWELL_DTYPE_NONE = 255
};

/* An argument of an operator. `sizes` is read during the call only. */
struct dwell_tensor {
	const int64_t *sizes;
	uint8_t dimensions;
	uint8_t dtype; /* enum dwell_dtype */
};

/*
 * Where a probe stands. Static, one a call site, all but `id` constant. `id` is
 * 0 until the first record (atomic: several threads may find it 0, intern the
 * same content and store the same id).
 */
struct dwell_site {
	const char *name;
	const char *detail; /* unit of a counter, device of an allocation, or NULL */
	const char *file;
	uint32_t line;
	uint32_t category;
	uint32_t id;
};

/* The id of a name made at run time; copies the texts, never fails (0: unknown).
 * About a hash and a comparison when the content was seen before. */
DWELL_API uint32_t dwell_intern(enum dwell_category category, const char *name,
                                const char *detail);
DWELL_API uint32_t dwell_intern_op(const char *name, const char *detail,
                                   const struct dwell_tensor *tensors, unsigned count);
/* A layer by its path ("Net.stem.conv") with what it is ("Conv2d", or NULL) and the sizes
 * of its own parameters, which reports count; for DWELL_SCOPE_ID(DWELL_CATEGORY_LAYER, id). */
DWELL_API uint32_t dwell_intern_layer(const char *path, const char *type,
                                      const struct dwell_tensor *parameters, unsigned count);
/* A function (DWELL_CATEGORY_FUNCTION) by its address: readers name it. */
DWELL_API uint32_t dwell_intern_function(const void *address);
/* A place in a program that is not machine code (Python, a graph): `file` may be NULL, `line`
 * 0. And such frames, innermost first, as a stack for dwell_op_begin_from(). */
DWELL_API uint32_t dwell_intern_frame(const char *function, const char *file, uint32_t line);
DWELL_API uint32_t dwell_intern_stack(const uint32_t *frames, unsigned count);

/* ---- the hot path: inline, and frozen as ABI 1 --------------------------- */

/* Where the recorder of this process keeps its gate; NULL: not recorded. */
struct dwell_gate_word {
	uint32_t mask;
};
extern DWELL_API const struct dwell_gate_word *dwell_gate;

/*
 * The calling thread's place in the trace. The memory is zero in a forked
 * child, which then takes the slow path like a new thread. limit - cursor is at
 * most a chunk: anything else (no chunk, a full one, one of the parent's) is
 * found by the one comparison of dwell_room().
 */
struct dwell_stream {
	char *cursor;         /* next free byte */
	char *limit;          /* no record begins here or after; written by dwell_stop too */
	uint64_t last_ticks;  /* time of the record before */
	uint32_t busy;        /* a record is being written: signal handlers keep off */
};
#define DWELL_CHUNK_BYTES 65536u

extern DWELL_API __thread struct dwell_stream *dwell_this_stream
    __attribute__((tls_model("initial-exec")));

/* Out of line: everything that is not the common case. */
DWELL_API void dwell_slow_begin(uint32_t id);
DWELL_API void dwell_slow_end(uint64_t ticks);
DWELL_API void dwell_slow_put(uint32_t word1, const uint32_t *payload, unsigned words);
DWELL_API uint32_t dwell_slow_site(struct dwell_site *site);
DWELL_API unsigned dwell_op_begin(struct dwell_site *site, const struct dwell_tensor *tensors,
                                  unsigned count);
/* While stacks, functions or only some layers are recorded: outermost operators get the
 * caller's stack, ranges end by name, other layers are not begun. The result of the first
 * goes to the second. */
DWELL_API unsigned dwell_slow_range(uint32_t id, uint32_t category);
DWELL_API void dwell_slow_range_end(unsigned began);
/* As dwell_op_begin(), but while stacks are recorded it has this one, also inside of another
 * operator; 0: the caller's, if it is outermost. */
DWELL_API unsigned dwell_op_begin_from(struct dwell_site *site, const struct dwell_tensor *tensors,
                                       unsigned count, uint32_t stack);

/* The same for callers that cannot use inline code (other languages, plugins). The
 * result is for dwell_end_id(), as that of dwell_begin() is for dwell_end(). */
DWELL_API unsigned dwell_begin_id(uint32_t id, enum dwell_category category);
DWELL_API void dwell_end_id(unsigned began);

/* Not left to the compiler's judgement: out of line, a disabled probe costs four
 * times as much, and a range a quarter more. Nor seen by -finstrument-functions: the
 * range of an inline function would end the one that it begins. */
#define DWELL_UNSEEN __attribute__((no_instrument_function))
#define DWELL_INLINE static inline __attribute__((always_inline)) DWELL_UNSEEN
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
	return 0; /* streams have no room inline: every record takes the slow path */
#endif
}

/* Whether records of the category are wanted now. */
DWELL_INLINE bool dwell_wants(uint32_t mask)
{
	/* The gate lives as long as the process; its mask is changed by steps, by a
	 * schedule or by a controller at any time, and a late reader loses nothing. */
	const struct dwell_gate_word *gate = __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED);

	return DWELL_UNLIKELY(gate != NULL) &&
	       (__atomic_load_n(&gate->mask, __ATOMIC_RELAXED) & mask) != 0;
}

DWELL_INLINE bool dwell_room(const struct dwell_stream *stream, const char *cursor)
{
	const char *limit = __atomic_load_n(&stream->limit, __ATOMIC_RELAXED);

	return (uintptr_t)limit - (uintptr_t)cursor - 1 < DWELL_CHUNK_BYTES;
}

/*
 * One record: payload first, the first word last. The release store pairs with
 * the acquire load of a reader of the live file: a reader that sees the first
 * word sees the rest. `busy` orders against signal handlers of the same thread
 * only, so a compiler fence is enough.
 */
DWELL_INLINE void dwell_put_begin(uint32_t id)
{
	struct dwell_stream *stream = dwell_this_stream;

	if (DWELL_UNLIKELY(stream->busy)) {
		dwell_slow_begin(id);
		return;
	}
	*(volatile uint32_t *)&stream->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	char *cursor = stream->cursor;
	uint64_t ticks = dwell_ticks();
	uint64_t delta = ticks - stream->last_ticks;
	if (DWELL_UNLIKELY(!dwell_room(stream, cursor) || delta >> 30)) {
		*(volatile uint32_t *)&stream->busy = 0;
		dwell_slow_begin(id);
		return;
	}
	stream->last_ticks = ticks;
	uint32_t *words = (uint32_t *)(void *)cursor;
	__atomic_store_n(words + 1, id, __ATOMIC_RELAXED);
	__atomic_store_n(words, (uint32_t)delta << 2 | 1u, __ATOMIC_RELEASE);
	stream->cursor = cursor + 8;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*(volatile uint32_t *)&stream->busy = 0;
}

DWELL_INLINE void dwell_put_end(void)
{
	struct dwell_stream *stream = dwell_this_stream;
	uint64_t ticks = dwell_ticks();

	if (DWELL_UNLIKELY(stream->busy)) {
		dwell_slow_end(ticks);
		return;
	}
	*(volatile uint32_t *)&stream->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	char *cursor = stream->cursor;
	uint64_t delta = ticks - stream->last_ticks;
	if (DWELL_UNLIKELY(!dwell_room(stream, cursor) || delta >> 30)) {
		*(volatile uint32_t *)&stream->busy = 0;
		dwell_slow_end(ticks);
		return;
	}
	stream->last_ticks = ticks;
	__atomic_store_n((uint32_t *)(void *)cursor, (uint32_t)delta << 2 | 3u, __ATOMIC_RELEASE);
	stream->cursor = cursor + 4;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*(volatile uint32_t *)&stream->busy = 0;
}

DWELL_INLINE uint32_t dwell_site_id(struct dwell_site *site)
{
	uint32_t id = __atomic_load_n(&site->id, __ATOMIC_RELAXED);

	return DWELL_LIKELY(id != 0) ? id : dwell_slow_site(site);
}

/* ---- ranges -------------------------------------------------------------- */

/* What a begin hands to its end: other values than these are for dwell_slow_range_end(). */
enum dwell_began {
	DWELL_NOT_BEGUN = 0,
	DWELL_BEGUN = 1,
};

/*
 * Begins a range at `site` if its category is wanted; the result goes to dwell_end(), in the
 * same thread, innermost first. (Functions that return in between are no matter: while
 * they are recorded, ends name their range.)
 */
DWELL_INLINE unsigned dwell_begin(struct dwell_site *site)
{
	const struct dwell_gate_word *gate = __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED);

	if (DWELL_LIKELY(gate == NULL))
		return DWELL_NOT_BEGUN;
	uint32_t mask = __atomic_load_n(&gate->mask, __ATOMIC_RELAXED);
	if (DWELL_UNLIKELY(!(mask & 1u << site->category)))
		return DWELL_NOT_BEGUN;
	/* One test for three rare things: stacks are wanted, some layers only, or functions. */
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

/* A range of this thread that nests with no other: it outlives those that it began in, and
 * those that begin in it may outlive it. The result is for dwell_end_id(); who does not keep
 * it ends the innermost one that began with the id. */
DWELL_API unsigned dwell_begin_named(uint32_t id, enum dwell_category category);
DWELL_API void dwell_end_named(uint32_t id);

/* An arrow from here to the place that takes the same handle. */
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
/* What the block that is live at `address` is for, learnt after its allocation: it counts as
 * site->name since then. An address where no recorded block lives is ignored. */
DWELL_API void dwell_alloc_is(struct dwell_site *site, const void *address);

/* For operators of autograd: the sequence number that forward and backward
 * share and the thread that ran the forward; of the innermost open range. */
DWELL_API void dwell_link(uint64_t sequence_number, uint32_t forward_thread);
/* What dwell_link() knows the calling thread by; 0: it cannot be recorded. */
DWELL_API uint32_t dwell_link_thread(void);

/* For probes that learn late that a step has begun: the moment now, from which on is
 * recorded what the coming step is recorded for, and a step that began at such a moment,
 * which lies after the end of the step before (0: now). In one thread. */
DWELL_API uint64_t dwell_step_now(void);
DWELL_API void dwell_step_begin_at(uint64_t moment);
/* The open step of this thread was none after all: its time lies beside the steps, and
 * its number is the next one's. */
DWELL_API void dwell_step_cancel(void);

/* ---- the macros ---------------------------------------------------------- */

#ifdef __cplusplus
}
#endif

#define DWELL_JOIN_(a, b) a##b
#define DWELL_JOIN(a, b) DWELL_JOIN_(a, b)

#ifdef DWELL_DISABLE

#define DWELL_SCOPE(category, name) ((void)0)
#define DWELL_SCOPE_ID(category, id) ((void)0)
#define DWELL_OP_SHAPES(name, tensors, count) ((void)0)
#define DWELL_STEP() ((void)0)
#define DWELL_MARK(name) ((void)0)
#define DWELL_COUNTER_UNIT(name, unit, value) ((void)0)
#define DWELL_ALLOC(category, device, address, size_bytes) ((void)0)
#define DWELL_FREE(address) ((void)0)
#define DWELL_ALLOC_IS(category, address) ((void)0)
#define DWELL_ASYNC_BEGIN(name, handle) ((void)0)
#define DWELL_ASYNC_END(name, handle) ((void)0)
#define DWELL_FLOW_OUT(name, handle) ((void)0)
#define DWELL_FLOW_IN(name, handle) ((void)0)

#else

#define DWELL_SITE(variable, category, name, detail) \
	static struct dwell_site variable = { name, detail, __FILE__, __LINE__, category, 0 }

/* `began` of the scope macros: ends the range when the block is left. */
#ifdef __cplusplus
struct dwell_range_scope {
	DWELL_UNSEEN explicit dwell_range_scope(unsigned began) : began(began) {}
	DWELL_UNSEEN ~dwell_range_scope() { dwell_end(began); }
	dwell_range_scope(const dwell_range_scope &) = delete;
	dwell_range_scope &operator=(const dwell_range_scope &) = delete;
	unsigned began;
};
struct dwell_step_scope {
	DWELL_UNSEEN dwell_step_scope() { dwell_step_begin(); }
	DWELL_UNSEEN ~dwell_step_scope() { dwell_step_end(); }
};
#define DWELL_SCOPE_OPEN(expression, n) const dwell_range_scope DWELL_JOIN(dwell_scope_, n)(expression)
#define DWELL_STEP() const dwell_step_scope DWELL_JOIN(dwell_step_, __COUNTER__)
#else
DWELL_INLINE void dwell_scope_leave(const unsigned *began)
{
	dwell_end(*began);
}
DWELL_INLINE void dwell_step_leave(const char *unused)
{
	(void)unused;
	dwell_step_end();
}
#define DWELL_SCOPE_OPEN(expression, n)                                                \
	const unsigned DWELL_JOIN(dwell_scope_, n)                                             \
	    __attribute__((cleanup(dwell_scope_leave), unused)) = (expression)
#define DWELL_STEP()                                                                   \
	const char DWELL_JOIN(dwell_step_, __COUNTER__)                                    \
	    __attribute__((cleanup(dwell_step_leave), unused)) = (dwell_step_begin(), 0)
#endif

/* `n` tells the scopes of a block apart. */
#define DWELL_SCOPE_(category, name, begin, n)                 \
	DWELL_SITE(DWELL_JOIN(dwell_site_, n), category, name, NULL); \
	DWELL_SCOPE_OPEN(begin, n)
#define DWELL_SCOPE_N(category, name, n) \
	DWELL_SCOPE_(category, name, dwell_begin(&DWELL_JOIN(dwell_site_, n)), n)
#define DWELL_OP_SHAPES_N(name, tensors, count, n)     \
	DWELL_SCOPE_(DWELL_CATEGORY_OPERATOR, name,        \
	             dwell_op_begin(&DWELL_JOIN(dwell_site_, n), tensors, count), n)

/* The rest of the block is a range of the category. */
#define DWELL_SCOPE(category, name) DWELL_SCOPE_N(category, name, __COUNTER__)

/* The same with an id of dwell_intern(): a name known at run time only. */
#define DWELL_SCOPE_ID(category, id) DWELL_SCOPE_OPEN(dwell_begin_id(id, category), __COUNTER__)

/* An operator with the shapes of its arguments, when shapes are recorded. */
#define DWELL_OP_SHAPES(name, tensors, count) DWELL_OP_SHAPES_N(name, tensors, count, __COUNTER__)

#define DWELL_WITH_SITE(category, name, detail, call)  \
	do {                                               \
		DWELL_SITE(dwell_site, category, name, detail); \
		if (dwell_wants(1u << (category)))             \
			call;                                      \
	} while (0)

#define DWELL_MARK(name) \
	DWELL_WITH_SITE(DWELL_CATEGORY_MARK, name, NULL, dwell_mark(&dwell_site))
#define DWELL_COUNTER_UNIT(name, unit, value) \
	DWELL_WITH_SITE(DWELL_CATEGORY_COUNTER, name, unit, dwell_counter(&dwell_site, value))
#define DWELL_ALLOC(category, device, address, size_bytes)       \
	DWELL_WITH_SITE(DWELL_CATEGORY_ALLOCATION, category, device, \
	                dwell_alloc(&dwell_site, address, size_bytes))
#define DWELL_FREE(address) \
	DWELL_WITH_SITE(DWELL_CATEGORY_ALLOCATION, "free", NULL, dwell_free(&dwell_site, address))
#define DWELL_ALLOC_IS(category, address)                    \
	DWELL_WITH_SITE(DWELL_CATEGORY_ALLOCATION, category, NULL, \
	                dwell_alloc_is(&dwell_site, address))
#define DWELL_ASYNC_BEGIN(name, handle) \
	DWELL_WITH_SITE(DWELL_CATEGORY_ZONE, name, NULL, dwell_async_begin(&dwell_site, handle))
#define DWELL_ASYNC_END(name, handle) \
	DWELL_WITH_SITE(DWELL_CATEGORY_ZONE, name, NULL, dwell_async_end(&dwell_site, handle))
#define DWELL_FLOW_OUT(name, handle) \
	DWELL_WITH_SITE(DWELL_CATEGORY_FLOW, name, NULL, dwell_flow_out(&dwell_site, handle))
#define DWELL_FLOW_IN(name, handle) \
	DWELL_WITH_SITE(DWELL_CATEGORY_FLOW, name, NULL, dwell_flow_in(&dwell_site, handle))

#endif

#define DWELL_ZONE(name) DWELL_SCOPE(DWELL_CATEGORY_ZONE, name)
#define DWELL_PHASE(name) DWELL_SCOPE(DWELL_CATEGORY_PHASE, name)
#define DWELL_OP(name) DWELL_SCOPE(DWELL_CATEGORY_OPERATOR, name)
#define DWELL_LAYER(name) DWELL_SCOPE(DWELL_CATEGORY_LAYER, name)
#define DWELL_COUNTER(name, value) DWELL_COUNTER_UNIT(name, NULL, value)

#endif
