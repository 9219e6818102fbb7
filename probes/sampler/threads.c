/*
 * Threads of the program, from their begin to their end: pthread_create() and C11's thrd_create() are in front of
 * libc's.
 *
 * A thread begins in this library, which starts its timer. No memory of the heap is needed for that: in a thread that
 * never allocates, the first call would make an arena.
 */
#include "sampler.h"

#include <pthread.h>
#include <stdlib.h>
#include <threads.h>

#include "entry_trap.h"
#include "wrapped.h"

#define PUBLIC __attribute__((__visibility__("default"))) DWS_FRONT
#define BEGINS 16384u
#define TRIES 16u
#define STACK_MOST ((uintptr_t)1 << 40)

/* What a new thread is to do. Taken by the thread that creates it, returned by the new one. */
struct begin {
	void *function, *argument;
	size_t stack_bytes;
	uint32_t taken; /* atomic */
};

static struct begin begins[BEGINS];
static uint32_t next_begin; /* atomic; where to look for a free one */

static struct dws_wrapped wrapped_create DWS_WRAPPED = { "pthread_create", NULL, NULL, 0 };
static struct dws_wrapped wrapped_c11 DWS_WRAPPED = { "thrd_create", NULL, NULL, 0 };

/* NULL: as many threads begin at this moment as there are places; this one is not sampled. */
static struct begin *threads_take(void *function, void *argument, const pthread_attr_t *attributes)
{
	struct begin *begin = NULL;
	pthread_attr_t defaults;

	for (unsigned i = 0; i < TRIES && !begin; i++) {
		begin = &begins[__atomic_fetch_add(&next_begin, 1, __ATOMIC_RELAXED) % BEGINS];
		if (__atomic_exchange_n(&begin->taken, 1, __ATOMIC_ACQUIRE))
			begin = NULL;
	}
	if (!begin)
		return NULL;
	begin->function = function;
	begin->argument = argument;
	begin->stack_bytes = 0;
	if (attributes) {
		pthread_attr_getstacksize(attributes, &begin->stack_bytes);
	} else if (pthread_getattr_default_np(&defaults) == 0) {
		pthread_attr_getstacksize(&defaults, &begin->stack_bytes);
		pthread_attr_destroy(&defaults);
	}
	return begin;
}

static void threads_return(struct begin *begin)
{
	if (begin)
		__atomic_store_n(&begin->taken, 0, __ATOMIC_RELEASE);
}

/* The new thread's begin. libc keeps what it knows of a thread at the high end of the thread's stack. */
static struct begin threads_begin(struct begin *given)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0), high = (uintptr_t)pthread_self();
	uint64_t began_ns = dws_now_ns();
	struct begin begin = *given;

	threads_return(given);
	if (high > here && high - here < begin.stack_bytes && begin.stack_bytes < STACK_MOST)
		dws_take_stack(high - begin.stack_bytes, high);
	dws_timers_start((uintptr_t)begin.function, true);
	dws_timers_watch();
	dws_trap_thread();
	dws_own_add(began_ns, true);
	return begin;
}

DWS_FRONT static void *threads_run(void *given)
{
	struct begin begin = threads_begin(given);
	void *(*function)(void *);

	*(void **)&function = begin.function;
	return function(begin.argument);
}

DWS_FRONT static int threads_run_c11(void *given)
{
	struct begin begin = threads_begin(given);
	int (*function)(void *);

	*(void **)&function = begin.function;
	return function(begin.argument);
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct begin *begin = NULL;
	int code;

	*(void **)&next = dws_target(&wrapped_create);
	if (dws_process.period_ns)
		begin = threads_take((void *)(uintptr_t)function, argument, attributes);
	code = begin ? next(thread, attributes, threads_run, begin) : next(thread, attributes, function, argument);
	if (code)
		threads_return(begin);
	dws_timers_keep();
	return code;
}

PUBLIC int thrd_create(thrd_t *thread, int (*function)(void *), void *argument)
{
	int (*next)(thrd_t *, int (*)(void *), void *);
	struct begin *begin = NULL;
	int code;

	*(void **)&next = dws_target(&wrapped_c11);
	if (dws_process.period_ns)
		begin = threads_take((void *)(uintptr_t)function, argument, NULL);
	code = begin ? next(thread, threads_run_c11, begin) : next(thread, function, argument);
	if (code != thrd_success)
		threads_return(begin);
	dws_timers_keep();
	return code;
}
