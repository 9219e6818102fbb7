/* Calls whose stack is measured: depth_calls.c has them, depth.c measures. */
#pragma once

#undef _FILE_OFFSET_BITS /* with it, open() and open64() have one name */

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

#define WAIT_MS 20 /* that a call waits */

struct depth_call {
	const char *name; /* of the function, or of what is measured */
	const char *
		kind; /* "waits": it can wait, so that dwell records it; "call"; "heap"; "tick"; "own": shown without a bound */
	void (*call)(bool waits);
	void (*prepare)(bool waits); /* before each call; or NULL */
	long (*measure)(bool waits); /* in place of `call`: it measures by itself */
};

/* depth_calls.c: times for a call that waits, or not; the function of libc itself; and a call of a function in another
 * thread after the time of a wait, or at once. */
const struct timespec *depth_time(bool waits);
struct timespec depth_until(clockid_t clock, bool waits);
void *depth_libc(const char *name);
void depth_release(bool waits, void (*function)(void));

/* Short ones: a call, and what comes before it. */
#define DO(name, ...) \
	static void call_##name(bool waits) \
	{ \
		(void)waits; \
		__VA_ARGS__; \
	}
#define PREPARE(name, ...) \
	static void prepare_##name(bool waits) \
	{ \
		(void)waits; \
		__VA_ARGS__; \
	}

/* A call that does not do what it is made for would measure something else. */
static inline void depth_must(bool done)
{
	if (!done)
		__builtin_abort();
}

extern const struct depth_call depth_calls[], depth_more[]; /* the last ones have no names */

/* A stack with paint, a thread on it, and how much of it was used. */
char *depth_stack(void);
pthread_t depth_start(char *stack, void *(*function)(void *));
long depth_used(const char *stack);
