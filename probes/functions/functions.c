/*
 * The functions probe: every call of a function that was compiled with -finstrument-functions is a
 * range of the trace.
 *
 * The compiler inserts calls of the two functions at the end of this file. Each thread keeps a list
 * of its open calls, so that an exit ends the range of its own entry: recording may begin and end
 * in the middle of a call, and longjmp leaves functions without an exit. A function's address is
 * converted to an id once; the reader of the trace resolves its name.
 *
 * Other ranges may begin in a function and outlive it (a start(), a constructor). If another record
 * was written between two records of this probe, the ranges of the functions that were open then
 * are ended by name.
 *
 * A library may be unloaded and another one loaded at its addresses. Ids are valid only while
 * dwell_code_generation is unchanged. It changes after each dlclose() of the program: a program
 * whose functions call this probe also calls this probe's dlclose(), because both precede libc's.
 *
 * Invariant: the entries of a thread's list with `begun` are, in order, open ranges in that
 * thread's stream; from entry `mixed` on no other range is open.
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
	uint32_t depth; /* may be more than DEEPEST: deeper calls are not recorded */
	uint32_t mixed;
	const char *cursor; /* of the stream after this probe's last record */
	bool interning;
	struct call calls[DEEPEST];
};

/* One word of static TLS, so that a plugin with this library can be loaded at any time. */
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
	/* Lets the report explain why a trace has no functions. */
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
		return -1; /* does not happen: every libc has dlclose() */
	result = next_dlclose(handle);
	__atomic_fetch_add(&dwell_code_generation, 1, __ATOMIC_RELEASE);
	return result;
}

__attribute__((constructor)) static void find_dlclose(void)
{
	*(void **)&next_dlclose = dlsym(RTLD_NEXT, "dlclose");
}

/* ---- ids ------------------------------------------------------------------------------- */

/* Maps addresses to ids by open addressing. Addresses are added and never changed. */
static struct {
	void *function; /* atomic: set once */
	uint64_t known; /* atomic; generation << 32 | id; 0 means unknown, since no generation is 0 */
} ids[IDS];

/* The allocator, which interning may call, can be instrumented itself: that would recurse. */
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
			/* A reader that finds the address without its id interns it again and gets the same
			 * id. */
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

/* Checks whether other records were written since this probe's last one: their ranges may be open
 * above `depth`. */
DWELL_INLINE void look_for_others(struct thread *thread, uint32_t depth)
{
	if (DWELL_UNLIKELY(dwell_this_stream->cursor != thread->cursor))
		thread->mixed = depth;
}

/* Ends the call of entry `at`, the last one. */
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

/* Handles an exit whose entry is not the innermost: longjmp left the entries above it. If there is
 * no entry, the function was entered before the probe was loaded. */
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
	/* A signal handler that interrupts here adds entries above this one and does not change it. */
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
