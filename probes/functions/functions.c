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
 * A library may be unloaded and another one come to its addresses. Ids count only as long as
 * dwell_code_generation is what it was. It changes when a dlclose() of the program ends: a
 * program whose functions call us calls our dlclose() too, since both stand before libc's.
 *
 * Invariant: the entries of a thread's list that were begun are, in order, ranges open in
 * that thread's stream; from entry `mixed` on nothing else is open.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#include <dwell/probe.h>

#include "../thread_memory.h"
#include "format/keys.h"

#define DEEPEST 2048u
#define IDS 65536u /* a power of two */
#define PROBES 16u

#define LIBRARY_API __attribute__((visibility("default")))

struct call {
	void *function;
	bool begun;
};

struct thread {
	struct dwp_thread_memory memory;
	uint32_t depth; /* may be more than DEEPEST: those are not recorded */
	uint32_t mixed;
	const char *cursor; /* of the stream after our last record */
	bool interning;
	struct call calls[DEEPEST];
};

/* One word, so that a plugin with this library may be loaded at any time. */
static __thread struct thread *this_thread __attribute__((tls_model("initial-exec")));
static struct dwp_thread_pool pool;

__attribute__((noinline)) static struct thread *new_thread(void)
{
	struct thread *thread = dwp_thread_memory(&pool, sizeof *thread);

	if (thread) {
		thread->depth = 0;
		thread->mixed = 0;
		thread->cursor = NULL;
		thread->interning = false;
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	this_thread = thread;
	/* For a report of a trace with nothing in it. */
	if (dwell_active() && !dwell_wants(1u << DWELL_CATEGORY_FUNCTION))
		dwell_meta(DW_KEY_FUNCTIONS, "not asked for");
	return thread;
}

/* ---- unloading ----------------------------------------------------------------------- */

static int (*next_dlclose)(void *handle);

LIBRARY_API int dlclose(void *handle);

int dlclose(void *handle)
{
	int result;

	if (!next_dlclose)
		*(void **)&next_dlclose = dlsym(RTLD_NEXT, "dlclose");
	if (!next_dlclose)
		return -1; /* no libc is without it */
	result = next_dlclose(handle);
	__atomic_fetch_add(&dwell_code_generation, 1, __ATOMIC_RELEASE);
	return result;
}

__attribute__((constructor)) static void find_dlclose(void)
{
	*(void **)&next_dlclose = dlsym(RTLD_NEXT, "dlclose");
}

/* ---- ids ------------------------------------------------------------------------------- */

/* Address to id, by open addressing; addresses are added, never changed. */
static struct {
	void *function; /* atomic: set once */
	uint64_t known; /* atomic; generation << 32 | id; 0: not known yet, as no generation is 0 */
} ids[IDS];

/* The allocator that interning may call can be instrumented itself. */
__attribute__((noinline)) static uint32_t new_id(struct thread *thread, void *function, uint32_t at)
{
	uint32_t generation = __atomic_load_n(&dwell_code_generation, __ATOMIC_ACQUIRE), id;

	if (thread->interning)
		return 0;
	thread->interning = true;
	id = dwell_intern_function(function);
	thread->interning = false;
	for (uint32_t i = 0; id && i < PROBES; i++, at = (at + 1) & (IDS - 1)) {
		void *expected = NULL;

		if (__atomic_compare_exchange_n(&ids[at].function, &expected, function, false,
		                                __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    expected == function) {
			/* A reader that meets the address without its id interns it again, to the same. */
			__atomic_store_n(&ids[at].known, (uint64_t)generation << 32 | id, __ATOMIC_RELAXED);
			break;
		}
	}
	return id;
}

DWELL_INLINE uint32_t id_of(struct thread *thread, void *function)
{
	uint32_t first = (uint32_t)((uintptr_t)function * 0x9e3779b97f4a7c15u >> 48) & (IDS - 1);
	uint32_t at = first;

	for (uint32_t i = 0; i < PROBES; i++, at = (at + 1) & (IDS - 1)) {
		void *found = __atomic_load_n(&ids[at].function, __ATOMIC_RELAXED);

		if (DWELL_LIKELY(found == function)) {
			uint64_t known = __atomic_load_n(&ids[at].known, __ATOMIC_RELAXED);

			if (DWELL_LIKELY(known >> 32 == __atomic_load_n(&dwell_code_generation, __ATOMIC_RELAXED)))
				return (uint32_t)known;
			break;
		}
		if (!found)
			break;
	}
	return new_id(thread, function, first);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* Whether the stream is as we left it: what came since may be open above our `depth`. */
DWELL_INLINE void look_for_others(struct thread *thread, uint32_t depth)
{
	if (DWELL_UNLIKELY(dwell_this_stream->cursor != thread->cursor))
		thread->mixed = depth;
}

/* Entry `at`, the last one, ends. */
DWELL_INLINE void end_call(struct thread *thread, uint32_t at)
{
	if (thread->calls[at].begun) {
		if (DWELL_UNLIKELY(at < thread->mixed))
			dwell_end_named(id_of(thread, thread->calls[at].function));
		else
			dwell_put_end();
	}
	if (thread->mixed > at)
		thread->mixed = at;
	thread->cursor = dwell_this_stream->cursor;
}

/* An exit whose entry is not the innermost: what lies above it was left by longjmp. An
 * entry that is not there was before the probe. */
__attribute__((noinline)) static void leave_below(struct thread *thread, void *function)
{
	uint32_t depth = thread->depth, at = depth;

	while (at > 0 && (at > DEEPEST || thread->calls[at - 1].function != function))
		at--;
	if (!at)
		return;
	look_for_others(thread, depth);
	for (; depth >= at; depth--) {
		thread->depth = depth - 1;
		if (depth <= DEEPEST)
			end_call(thread, depth - 1);
	}
}

LIBRARY_API void __cyg_profile_func_enter(void *function, void *caller);
LIBRARY_API void __cyg_profile_func_exit(void *function, void *caller);

void __cyg_profile_func_enter(void *function, void *caller)
{
	struct thread *thread = this_thread;
	uint32_t depth, id;

	(void)caller;
	if (DWELL_UNLIKELY(!thread) && !(thread = new_thread()))
		return;
	depth = thread->depth++;
	if (DWELL_UNLIKELY(depth >= DEEPEST))
		return;
	/* A handler that interrupts here pushes above and leaves this entry alone. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->calls[depth].function = function;
	thread->calls[depth].begun = false;
	if (!dwell_wants(1u << DWELL_CATEGORY_FUNCTION))
		return;
	id = id_of(thread, function);
	if (DWELL_UNLIKELY(!id))
		return;
	look_for_others(thread, depth);
	dwell_put_begin(id);
	thread->cursor = dwell_this_stream->cursor;
	thread->calls[depth].begun = true;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
	struct thread *thread = this_thread;
	uint32_t depth;

	(void)caller;
	if (DWELL_UNLIKELY(!thread))
		return;
	depth = thread->depth;
	if (DWELL_UNLIKELY(depth > DEEPEST)) {
		thread->depth--;
		return;
	}
	if (DWELL_UNLIKELY(!depth || thread->calls[depth - 1].function != function)) {
		leave_below(thread, function);
		return;
	}
	look_for_others(thread, depth);
	end_call(thread, depth - 1);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	thread->depth = depth - 1;
}
