/* Calls whose stack is measured: depth_calls.c has them, depth.c measures. */
#ifndef STEPPING_DEPTH_H
#define STEPPING_DEPTH_H

#include <pthread.h>
#include <stdbool.h>

struct depth_call {
	const char *name; /* of the function, or of what is measured */
	const char *kind; /* "waits": it can wait, so that dwell records it; "call"; "heap"; "tick"; "own": shown without a bound */
	void (*call)(bool waits);
	void (*prepare)(bool waits); /* before each call; or NULL */
	long (*measure)(bool waits); /* in place of `call`: it measures by itself */
};

extern const struct depth_call depth_calls[], depth_more[]; /* the last ones have no names */

/* A stack with paint, a thread on it, and how much of it was used. */
char *depth_stack(void);
pthread_t depth_start(char *stack, void *(*function)(void *));
long depth_used(const char *stack);

#endif
