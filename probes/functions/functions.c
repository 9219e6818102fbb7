/*
 * The functions probe: every call of a function that was compiled with
 * -finstrument-functions is a range of the trace.
 *
 * The compiler calls the two functions at the end of this file. Each thread keeps which
 * functions it is in, so that an exit ends the range of its own entry: recording may
 * begin and end in the middle of a call, and longjmp leaves functions without an exit.
 * A function's address becomes an id once; readers give it its name.
 *
 * Other ranges may begin in a function and outlive it (a start(), a constructor): when any
 * record came between two of ours, the functions that were open then end by name.
 *
 * Invariant: the entries of a thread's list that were begun are, in order, ranges open in
 * that thread's stream; from entry `mixed` on nothing else is open.
 */
#include <stdbool.h>
#include <stdint.h>

#include <dwell/probe.h>

#define DEEPEST 2048u
#define IDS 65536u /* a power of two */
#define PROBES 16u

#define LIBRARY_API __attribute__((visibility("default")))

struct call {
	void *function;
	bool begun;
};

static __thread struct {
	uint32_t depth; /* may be more than DEEPEST: those are not recorded */
	uint32_t mixed;
	const char *cursor; /* of the stream after our last record */
	bool interning;
	struct call calls[DEEPEST];
} this_thread __attribute__((tls_model("initial-exec")));

/* Address to id, by open addressing; entries are added, never changed. */
static struct {
	void *function; /* atomic: set once */
	uint32_t id;    /* atomic; 0: not known yet */
} ids[IDS];

/* The allocator that interning may call can be instrumented itself. */
__attribute__((noinline)) static uint32_t new_id(void *function, uint32_t at)
{
	uint32_t id;

	if (this_thread.interning)
		return 0;
	this_thread.interning = true;
	id = dwell_intern_function(function);
	this_thread.interning = false;
	for (uint32_t i = 0; id && i < PROBES; i++, at = (at + 1) & (IDS - 1)) {
		void *expected = NULL;

		if (__atomic_compare_exchange_n(&ids[at].function, &expected, function, false,
		                                __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    expected == function) {
			/* A reader that meets the address without its id interns it again, to the same. */
			__atomic_store_n(&ids[at].id, id, __ATOMIC_RELAXED);
			break;
		}
	}
	return id;
}

DWELL_INLINE uint32_t id_of(void *function)
{
	uint32_t first = (uint32_t)((uintptr_t)function * 0x9e3779b97f4a7c15u >> 48) & (IDS - 1);
	uint32_t at = first;

	for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) & (IDS - 1)) {
		void *found = __atomic_load_n(&ids[at].function, __ATOMIC_RELAXED);

		if (DWELL_LIKELY(found == function)) {
			uint32_t id = __atomic_load_n(&ids[at].id, __ATOMIC_RELAXED);

			return DWELL_LIKELY(id != 0) ? id : new_id(function, first);
		}
		if (!found)
			break;
	}
	return new_id(function, first);
}

/* Whether the stream is as we left it: what came since may be open above our `depth`. */
DWELL_INLINE void look_for_others(uint32_t depth)
{
	if (DWELL_UNLIKELY(dwell_this_stream->cursor != this_thread.cursor))
		this_thread.mixed = depth;
}

/* Entry `at`, the last one, ends. */
DWELL_INLINE void end_call(uint32_t at)
{
	if (this_thread.calls[at].begun) {
		if (DWELL_UNLIKELY(at < this_thread.mixed))
			dwell_end_named(id_of(this_thread.calls[at].function));
		else
			dwell_put_end();
	}
	if (this_thread.mixed > at)
		this_thread.mixed = at;
	this_thread.cursor = dwell_this_stream->cursor;
}

/* An exit whose entry is not the innermost: what lies above it was left by longjmp. An
 * entry that is not there was before the probe. */
__attribute__((noinline)) static void leave_below(void *function)
{
	uint32_t depth = this_thread.depth, at = depth;

	while (at > 0 && (at > DEEPEST || this_thread.calls[at - 1].function != function))
		at--;
	if (!at)
		return;
	look_for_others(depth);
	for (; depth >= at; depth--) {
		this_thread.depth = depth - 1;
		if (depth <= DEEPEST)
			end_call(depth - 1);
	}
}

LIBRARY_API void __cyg_profile_func_enter(void *function, void *caller);
LIBRARY_API void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	uint32_t depth = this_thread.depth++;
	uint32_t id;

	(void)caller;
	if (DWELL_UNLIKELY(depth >= DEEPEST))
		return;
	/* A handler that interrupts here pushes above and leaves this entry alone. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	this_thread.calls[depth].function = function;
	this_thread.calls[depth].begun = false;
	if (!dwell_wants(1u << DWELL_CATEGORY_FUNCTION))
		return;
	id = id_of(function);
	if (DWELL_UNLIKELY(!id))
		return;
	look_for_others(depth);
	dwell_put_begin(id);
	this_thread.cursor = dwell_this_stream->cursor;
	this_thread.calls[depth].begun = true;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	uint32_t depth = this_thread.depth;

	(void)caller;
	if (DWELL_UNLIKELY(depth > DEEPEST)) {
		this_thread.depth--;
		return;
	}
	if (DWELL_UNLIKELY(!depth || this_thread.calls[depth - 1].function != function)) {
		leave_below(function);
		return;
	}
	look_for_others(depth);
	end_call(depth - 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	this_thread.depth = depth - 1;
}
