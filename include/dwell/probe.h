/*
 * Probes: macros and functions with which a program records what it does.
 *
 *     DWELL_ZONE("forward");           the rest of this block is a range
 *     DWELL_STEP();                    the rest of this block is a step
 *     DWELL_OP("conv2d");              ... an operator
 *     DWELL_LAYER("ResNet.conv1");     ... a layer
 *     DWELL_COUNTER("loss", loss);     a value at this moment
 *     DWELL_ALLOC("gradient", "cpu", p, n); DWELL_FREE(p);
 *     DWELL_REQUEST_BEGIN("generate", id); ... DWELL_REQUEST_END("generate", id);
 *
 * A scope ends with its block, however the block is left: return, break, goto,
 * an exception. A jump *into* the rest of a block, past the declaration of a scope
 * (`goto out;` above DWELL_ZONE, a `case` label below it), records nothing for that
 * scope in C with gcc; clang and C++ reject it. Open a block of its own for the
 * scope, or declare the scope before the first goto.
 *
 * Scopes nest in their thread: no scope may be open where a coroutine is suspended
 * (co_await, co_yield), because what its thread does meanwhile begins and ends other
 * ranges, and another thread may resume it. C++ has no means to reject that. For
 * such a block DWELL_COROUTINE_ZONE(name) records the exact time; it is a range
 * beside the others of its thread, as DWELL_ASYNC_BEGIN() makes it.
 *
 * In a program that is not recorded a probe is one relaxed load and a branch not
 * taken; with -DDWELL_DISABLE it is nothing. Recorded, a range costs little more
 * than the two clock readings that it needs, and 12 bytes in the file.
 *
 * Probes may be used in any thread, in signal handlers, before main, after
 * fork, in code loaded with dlopen. They never fail, allocate, lock, or change
 * errno. Records that could not be kept are counted by cause, and every report
 * shows the counts. longjmp() out of ranges leaves them open; those that began inside a
 * DWELL_STEP() end with that step. In the last line of a loop, where its block has nothing left, DWELL_STEP() is
 * where a step ends: the steps of a report go from one to the next then.
 *
 * C99 and C++11 or later, gcc and clang. Names are string literals: each is read
 * once, at the probe's first record. A variable is an error of the compiler. For names
 * that are made at run time:
 *
 *     DWELL_SCOPE_NAMED(DWELL_CATEGORY_ZONE, name);
 *     DWELL_OP_NAMED(name, tensors, count);
 *     DWELL_OP_WORK(name, tensors, count, flops, bytes);
 *     DWELL_LAYER_NAMED(path, type, parameters, count);
 *
 * They copy the text, and evaluate their arguments only while the range is recorded.
 */
#ifndef DWELL_PROBE_H
#define DWELL_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dwell/dwell.h>
#include <dwell/probe_abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a range or a value is: X(NAME, number, text). The numbers are in the file: new ones are
 * appended, and all are below 24. */
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
	X(MARK, 18, "mark")             \
	X(RUNTIME, 19, "runtime")

enum dwell_category {
#define DWELL_CATEGORY_ENUM(name, value, text) DWELL_CATEGORY_##name = value,
	DWELL_CATEGORIES(DWELL_CATEGORY_ENUM)
#undef DWELL_CATEGORY_ENUM
	DWELL_CATEGORY_COUNT
};

/* Bits of the mask above the categories: details that are recorded with operators. */
/* The shapes of arguments. */
#define DWELL_DETAIL_SHAPES (1u << 24)
/* The call stacks of outermost operators. On a coroutine's stack or a signal handler's, callers
 * that were compiled without -fno-omit-frame-pointer are missing. */
#define DWELL_DETAIL_STACKS (1u << 25)
/* What the counting of FLOPs needs besides shapes. */
#define DWELL_DETAIL_FLOPS (1u << 26)
/* Only some layers are recorded: set and cleared by dwell_layers_only(). */
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
	/* Not a tensor: `sizes` holds one integer, a truth value (0 or 1), or a list of such. */
	DWELL_ARG_BOOLS = 248, DWELL_ARG_BOOL = 249, DWELL_ARG_INT = 250,
	/* A tensor that has no elements in memory, or whose sizes do not say how many it has (PyTorch's meta,
	 * sparse and nested tensors): what a call computes does not follow from its sizes. */
	DWELL_DTYPE_NO_MEMORY = 251,
	DWELL_DTYPE_OTHER = 252, /* a type without a number here, as quantized ones */
	DWELL_ARG_WORK = 253, /* not a tensor: `sizes` holds the call's FLOPs and bytes, -1: not given */
	DWELL_ARG_INTS = 254, /* not a tensor: `sizes` holds integers (a stride, a flag) */
	DWELL_DTYPE_NONE = 255
};

/* For DWELL_OP_WORK(): the program does not know it. */
#define DWELL_NOT_GIVEN UINT64_MAX

/* An argument of an operator. `sizes` has `dimensions` elements and is read during the call only. */
struct dwell_tensor {
	const int64_t *sizes;
	uint8_t dimensions;
	uint8_t dtype; /* enum dwell_dtype */
};

/* ---- names ---------------------------------------------------------------- */

/*
 * Names that are made at run time: the id of a name, for DWELL_SCOPE_ID(), DWELL_OP_ID(),
 * DWELL_LAYER_ID(), dwell_begin_id() and dwell_begin_named(). All texts and sizes are copied.
 * The same content has the same id, which is valid as long as the process lives. A content
 * that is known already costs about a hash and a comparison. The result is 0, the id of an
 * unknown name, while no session runs and when the trace has no space for another name. A
 * process keeps its first 131,072 such names. Later ones are all called "(other names)", and
 * reports state how often.
 */

/* `detail` is the overload of an operator, the unit of a counter, or NULL. */
DWELL_API uint32_t dwell_intern(enum dwell_category category, const char *name,
                                const char *detail);
/* An operator with the shapes of its `count` arguments; `tensors` may be NULL if `count` is 0. */
DWELL_API uint32_t dwell_intern_op(const char *name, const char *detail,
                                   const struct dwell_tensor *tensors, unsigned count);
/* A layer: its path ("Net.stem.conv"), its type ("Conv2d", or NULL) and the sizes of its own
 * `count` parameters, which reports add up. */
DWELL_API uint32_t dwell_intern_layer(const char *path, const char *type,
                                      const struct dwell_tensor *parameters, unsigned count);

/* ---- ranges -------------------------------------------------------------- */

/* Whether any of the categories or details in `mask` is recorded now. */
DWELL_INLINE bool dwell_wants(uint32_t mask)
{
	/* The gate lives as long as the process. Steps, a schedule or a controller change its
	 * mask at any time; relaxed loads are enough because nothing else depends on it. */
	const struct dwell_gate_word *gate = __atomic_load_n(&dwell_gate, __ATOMIC_RELAXED);

	return DWELL_UNLIKELY(gate != NULL) &&
	       (__atomic_load_n(&gate->mask, __ATOMIC_RELAXED) & mask) != 0;
}

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

/* Ends the range; `began` is the result of the begin. */
DWELL_INLINE void dwell_end(unsigned began)
{
	if (DWELL_LIKELY(began == DWELL_BEGUN))
		dwell_put_end();
	else if (began)
		dwell_slow_range_end(began);
}

/* As dwell_begin(), for an operator with the shapes of its arguments, which are recorded while
 * DWELL_DETAIL_SHAPES is. Pass the result to dwell_end(). */
DWELL_API unsigned dwell_op_begin(struct dwell_site *site, const struct dwell_tensor *tensors,
                                  unsigned count);
/* A range whose name is an id, for names that are made at run time and for callers that cannot
 * use inline code (other languages, plugins). Pass the result to dwell_end_id(), in the same
 * thread. Always nested: see dwell_begin_named() for ranges that are not. */
DWELL_API unsigned dwell_begin_id(uint32_t id, enum dwell_category category);
DWELL_API void dwell_end_id(unsigned began);

/* Ranges that begin and end in different threads, or overlap without nesting. `handle` (an
 * address, a counter) distinguishes the ranges of one site that are open at the same time. */
DWELL_API void dwell_async_begin(struct dwell_site *site, uint64_t handle);
DWELL_API void dwell_async_end(struct dwell_site *site, uint64_t handle);

/* The request that is open with this handle (DWELL_REQUEST_BEGIN() below) has given `count` pieces of its answer, which are what
 * site->name says: "tokens". */
DWELL_API void dwell_tokens(struct dwell_site *site, uint64_t handle, uint32_t count);

/* A range that need not nest: it may outlive the ranges it began in, and ranges that begin
 * inside it may outlive it. Pass the result to dwell_end_id(). If you discard the result, end
 * it with dwell_end_named(id), which ends the innermost open range with that id. */
DWELL_API unsigned dwell_begin_named(uint32_t id, enum dwell_category category);
DWELL_API void dwell_end_named(uint32_t id);

/* An arrow from dwell_flow_out() to the dwell_flow_in() with the same handle: for work that one
 * thread hands to another. */
DWELL_API void dwell_flow_out(struct dwell_site *site, uint64_t handle);
DWELL_API void dwell_flow_in(struct dwell_site *site, uint64_t handle);

/* ---- values -------------------------------------------------------------- */

/* A named moment, and the value of a counter at this moment in the unit site->detail. */
DWELL_API void dwell_mark(struct dwell_site *site);
DWELL_API void dwell_counter(struct dwell_site *site, double value);

/* Memory. site->name says what it is for ("parameter", "gradient", "activation", "input",
 * "optimizer state", "temporary", "other"), site->detail on which device it is ("cpu", "cuda:0").
 * An address is live from its allocation until it is freed. An address of NULL says that the allocation failed:
 * the report then says what held the memory at that moment. */
DWELL_API void dwell_alloc(struct dwell_site *site, const void *address, uint64_t size_bytes);
DWELL_API void dwell_free(struct dwell_site *site, const void *address);
/* Changes what the block that is live at `address` is for, to site->name, as if it had been
 * allocated with it. Ignored if no recorded block is live there. */
DWELL_API void dwell_alloc_is(struct dwell_site *site, const void *address);

/* ---- the macros ---------------------------------------------------------- */

#ifdef __cplusplus
}
#endif

/* A variable would be read once only, and every later call would have the first call's name. */
#ifdef __cplusplus
#define DWELL_CHECK_LITERAL(text) static_assert(__builtin_constant_p(text), DWELL_NO_LITERAL)
#else
#define DWELL_CHECK_LITERAL(text)                                                           \
	__extension__ _Static_assert(__builtin_constant_p(text) ||                               \
	                             __builtin_types_compatible_p(__typeof__(text), const char[]), \
	                             DWELL_NO_LITERAL)
#endif
#define DWELL_NO_LITERAL \
	"this name must be a literal: names made at run time need DWELL_SCOPE_NAMED() or DWELL_OP_NAMED()"

#ifdef DWELL_DISABLE

/* The arguments are named, so that no variable becomes unused, but not evaluated. */
#define DWELL_IGNORE(argument) (0 ? (void)(argument) : (void)0)
#define DWELL_IGNORE_TEXT(text)    \
	do {                           \
		DWELL_CHECK_LITERAL(text); \
	} while (0)
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
#define DWELL_SCOPE_NAMED(category, name) DWELL_IGNORE((name))
#define DWELL_OP_SHAPES(name, tensors, count) DWELL_IGNORE_THREE(name, tensors, count)
#define DWELL_OP_NAMED(name, tensors, count) \
	DWELL_IGNORE((name));                    \
	DWELL_IGNORE_THREE("", tensors, count)
#define DWELL_OP_WORK(name, tensors, count, flops, bytes) \
	DWELL_OP_NAMED(name, tensors, count);                 \
	DWELL_IGNORE_THREE("", flops, bytes)
#define DWELL_LAYER_NAMED(path, type, parameters, count) \
	DWELL_OP_NAMED(path, parameters, count);             \
	DWELL_IGNORE((type))
#define DWELL_STEP() ((void)0)
#define DWELL_STEP_BEGIN() ((void)0)
#define DWELL_STEP_END() ((void)0)
#define DWELL_TEAM() DWELL_CAST(uint64_t, 0)
#define DWELL_WORKER(team) DWELL_IGNORE(team)
#define DWELL_MARK(name) DWELL_IGNORE_TEXT(name)
#define DWELL_COUNTER(name, value) DWELL_IGNORE_TWO(name, value)
#define DWELL_COUNTER_UNIT(name, unit, value) \
	DWELL_IGNORE_THREE(name unit, value, 0)
#define DWELL_ALLOC(category, device, address, size_bytes) \
	DWELL_IGNORE_THREE(category device, address, size_bytes)
#define DWELL_FREE(address) DWELL_IGNORE(address)
#define DWELL_ALLOC_IS(category, address) DWELL_IGNORE_TWO(category, address)
#define DWELL_COROUTINE_ZONE(name) DWELL_IGNORE_TEXT(name)
#define DWELL_ASYNC_BEGIN(name, handle) DWELL_IGNORE_TWO(name, handle)
#define DWELL_ASYNC_END(name, handle) DWELL_IGNORE_TWO(name, handle)
#define DWELL_REQUEST_BEGIN(name, handle) DWELL_IGNORE_TWO(name, handle)
#define DWELL_REQUEST_STAGE(name, handle) DWELL_IGNORE_TWO(name, handle)
#define DWELL_REQUEST_TOKENS(handle, count) DWELL_IGNORE_THREE("", handle, count)
#define DWELL_REQUEST_END(name, handle) DWELL_IGNORE_TWO(name, handle)
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
/* Its address, which is that of no other open one, is the range's handle. */
struct dwell_async_scope {
	DWELL_UNSEEN explicit dwell_async_scope(struct dwell_site *named)
		: site(dwell_wants(1u << named->category) ? named : nullptr)
	{
		if (DWELL_UNLIKELY(site != nullptr))
			dwell_async_begin(site, DWELL_ADDRESS(this));
	}
	DWELL_UNSEEN ~dwell_async_scope()
	{
		if (DWELL_UNLIKELY(site != nullptr))
			dwell_async_end(site, DWELL_ADDRESS(this));
	}
	dwell_async_scope(const dwell_async_scope &) = delete;
	dwell_async_scope &operator=(const dwell_async_scope &) = delete;
	struct dwell_site *site;
};
#define DWELL_SCOPE_OPEN(expression, n) const dwell_range_scope DWELL_JOIN(dwell_scope_, n)(expression)
#define DWELL_COROUTINE_ZONE_N(name, n)                                                \
	DWELL_CHECK_LITERAL(name);                                                             \
	DWELL_SITE(DWELL_JOIN(dwell_site_, n), DWELL_CATEGORY_ZONE, name, NULL);               \
	const dwell_async_scope DWELL_JOIN(dwell_scope_, n)(&DWELL_JOIN(dwell_site_, n))
/* The rest of this block of a coroutine is a range, from begin to end, with the time in which it is suspended. */
#define DWELL_COROUTINE_ZONE(name) DWELL_COROUTINE_ZONE_N(name, __COUNTER__)
#define DWELL_STEP() const dwell_step_scope DWELL_JOIN(dwell_step_, __COUNTER__)
#else
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

/* `n` distinguishes the scopes of a block. */
#define DWELL_SCOPE_(category, name, begin, n)                                         \
	DWELL_CHECK_LITERAL(name);                                                             \
	DWELL_SITE(DWELL_JOIN(dwell_site_, n), category, name, NULL);                          \
	DWELL_SCOPE_OPEN(begin, n)
#define DWELL_SCOPE_N(category, name, n) \
	DWELL_SCOPE_(category, name, dwell_begin(&DWELL_JOIN(dwell_site_, n)), n)
#define DWELL_OP_SHAPES_N(name, tensors, count, n)     \
	DWELL_SCOPE_(DWELL_CATEGORY_OPERATOR, name,        \
	             dwell_wants(1u << DWELL_CATEGORY_OPERATOR)                       \
	                 ? dwell_op_begin(&DWELL_JOIN(dwell_site_, n), tensors, count) \
	                 : DWELL_CAST(unsigned, DWELL_NOT_BEGUN), n)

/* The rest of the block is a range of the category. */
#define DWELL_SCOPE(category, name) DWELL_SCOPE_N(category, name, __COUNTER__)

/* A range that `begin` begins, an expression that is evaluated only while the category is recorded. */
#define DWELL_SCOPE_IF(category, begin)                                                \
	DWELL_SCOPE_OPEN(dwell_wants(1u << (category)) ? (begin)                               \
	                                               : DWELL_CAST(unsigned, DWELL_NOT_BEGUN), \
	                 __COUNTER__)

/* The same as DWELL_SCOPE() with an id in place of a literal: one that dwell_intern() returned and
 * that the program keeps. `id` is evaluated only while the category is recorded. */
#define DWELL_SCOPE_ID(category, id) DWELL_SCOPE_IF(category, dwell_begin_id(id, category))

/* The same with a name that is known at run time only. The text is copied. Finding its id takes
 * about 40 ns. `name` is evaluated only while the category is recorded. */
#define DWELL_SCOPE_NAMED(category, name) \
	DWELL_SCOPE_ID(category, dwell_intern(category, name, NULL))

/* An operator with the shapes of its arguments, which are recorded while shapes are. The
 * arguments are evaluated only while operators are recorded. */
#define DWELL_OP_SHAPES(name, tensors, count) DWELL_OP_SHAPES_N(name, tensors, count, __COUNTER__)

/*
 * The same with a name that is known at run time only. The arguments are evaluated only while
 * operators are recorded. The text and the sizes are copied. Each thread caches the ids of its
 * last 128 names and shapes: a call that is in the cache costs about 5 ns more than a literal.
 */
#define DWELL_OP_NAMED(name, tensors, count) \
	DWELL_OP_WORK(name, tensors, count, DWELL_NOT_GIVEN, DWELL_NOT_GIVEN)

/*
 * The same with what the call computes and moves: its floating-point operations and the bytes
 * that it reads and writes, numbers of at most INT64_MAX, or DWELL_NOT_GIVEN. They are recorded
 * while shapes or FLOPs are (dwell run --flops). Reports use them in place of a formula.
 */
#define DWELL_OP_WORK(name, tensors, count, flops, bytes)                              \
	DWELL_SCOPE_IF(DWELL_CATEGORY_OPERATOR,                                                \
	               dwell_op_begin_named(name, tensors, DWELL_CAST(unsigned, count),        \
	                                    DWELL_CAST(uint64_t, flops),                       \
	                                    DWELL_CAST(uint64_t, bytes)))

/* A layer whose path is known at run time only; the arguments are those of dwell_intern_layer(),
 * and are evaluated only while layers are recorded. */
#define DWELL_LAYER_NAMED(path, type, parameters, count) \
	DWELL_LAYER_ID(dwell_intern_layer(path, type, parameters, DWELL_CAST(unsigned, count)))

/* A step that is no block: begins here and ends there, in another function or callback of the
 * same thread. They are dwell_step_begin() and dwell_step_end(). */
#define DWELL_STEP_BEGIN() dwell_step_begin()
#define DWELL_STEP_END() dwell_step_end()

/*
 * Work that a thread shares with others: a parallel region of OpenMP, a pool of threads.
 *
 *     DWELL_OP("matmul");
 *     const uint64_t team = DWELL_TEAM();
 *     #pragma omp parallel
 *     {
 *         DWELL_WORKER(team);
 *         #pragma omp for
 *         ...
 *     }
 *
 * DWELL_TEAM() is a number for the innermost open range of this thread. Pass it to the workers in
 * any way; it is valid as long as the session. It is 0 if nothing is recorded or no range is known
 * to be open. It takes about 2 ns for each record since the last call in its thread.
 *
 * DWELL_WORKER() makes the rest of the block a range with that name, of category ZONE. So the time
 * of the workers is under the operator's name, while its calls, time and FLOPs are counted once, in
 * the thread that called it. DWELL_WORKER() records nothing in the thread that called DWELL_TEAM(), and
 * nothing in any thread if `team` is 0.
 */
#define DWELL_TEAM() \
	(dwell_wants(1u << DWELL_CATEGORY_ZONE) ? dwell_team() : DWELL_CAST(uint64_t, 0))
#define DWELL_WORKER(team) DWELL_SCOPE_IF(DWELL_CATEGORY_ZONE, dwell_worker_begin(team))

#define DWELL_AT_SITE(category, name, detail, call) \
	do {                                               \
		DWELL_CHECK_LITERAL(name);                     \
		DWELL_SITE(dwell_site, category, name, detail); \
		if (dwell_wants(1u << (category)))             \
			call;                                      \
	} while (0)

#define DWELL_MARK(name) \
	DWELL_AT_SITE(DWELL_CATEGORY_MARK, name, NULL, dwell_mark(&dwell_site))
#define DWELL_COUNTER(name, value) \
	DWELL_AT_SITE(DWELL_CATEGORY_COUNTER, name, NULL, dwell_counter(&dwell_site, value))
#define DWELL_COUNTER_UNIT(name, unit, value)                       \
	DWELL_AT_SITE(DWELL_CATEGORY_COUNTER, name, "" unit,             \
	              dwell_counter(&dwell_site, value))
#define DWELL_ALLOC(category, device, address, size_bytes)                    \
	DWELL_AT_SITE(DWELL_CATEGORY_ALLOCATION, category, "" device,             \
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

/*
 * Requests of a server: `handle`, an address or a counter, names the request, so that any thread can say what becomes of it.
 *
 *     DWELL_REQUEST_BEGIN("generate", id);     it has come, and waits
 *     DWELL_REQUEST_STAGE("prefill", id);      ends the stage before it, here the waiting
 *     DWELL_REQUEST_STAGE("decode", id);
 *     DWELL_REQUEST_TOKENS(id, 1);             so many tokens, or other pieces of the answer, have come
 *     DWELL_REQUEST_END("generate", id);       the answer is out; ends the last stage
 *
 * `dwell report --view requests` has how long each takes, to the first token and for a token, by quantile. If the
 * engine's steps are DWELL_STEP()s it has what was in flight in them. Each costs what an end of an asynchronous range does.
 */
#define DWELL_AT_REQUEST(name, detail, call) DWELL_AT_SITE(DWELL_CATEGORY_ZONE, name, detail, call)
#define DWELL_REQUEST_BEGIN(name, handle) \
	DWELL_AT_REQUEST(name, "request", dwell_async_begin(&dwell_site, handle))
#define DWELL_REQUEST_STAGE(name, handle) \
	DWELL_AT_REQUEST(name, "stage", dwell_async_begin(&dwell_site, handle))
#define DWELL_REQUEST_TOKENS(handle, count) \
	DWELL_AT_REQUEST("tokens", "request", dwell_tokens(&dwell_site, handle, count))
#define DWELL_REQUEST_END(name, handle) \
	DWELL_AT_REQUEST(name, "request", dwell_async_end(&dwell_site, handle))
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
