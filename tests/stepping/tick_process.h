/* A traced program with the sampler's signals: its process, its threads, and one signal or one instruction of them. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

extern const char *program;
extern double hang_seconds; /* of one instruction, or of one handler */
extern char problem[16384]; /* why this process failed; "": it did not */

struct traced {
	pid_t process;
	int output;     /* what it prints */
	siginfo_t tick; /* as the kernel sent it */
	bool has_tick;
	pid_t other, created; /* the thread that computes; one that began in the region */
	bool other_waits;     /* the other one stands before its handler */
};

#define PROBLEM(...) \
	do { \
		if (!*problem) \
			snprintf(problem, sizeof problem, __VA_ARGS__); \
	} while (0)

enum stepped {
	STEPPED,
	STEPPED_TO_MARK,
	STEPPED_TO_END, /* of the thread */
	STEPPED_WRONG,
};

/* Starts the program, which stops at no mark yet. `how`: its second argument. */
bool steps_start(struct traced *traced, const char *region, const char *how);
/* Runs the process until its first thread is at a mark, and the other one stands before its first handler. */
bool steps_run_to_mark(struct traced *traced);
/* Lets all threads run to the end; the program must print what is wanted. Then, in any case: */
bool steps_finish(struct traced *traced, const char *wanted);
void steps_end(struct traced *traced);
/* What a stop is: an event of the tracer; a mark of the program; a signal of the sampler, of which the first one is
 * kept. */
bool steps_is_event(int status);
bool steps_is_mark(pid_t thread, int status);
bool steps_is_tick(struct traced *traced, pid_t thread, int status);
/* The signal that a stopped thread gets when it goes on: not the sampler's. */
int steps_keep_tick(struct traced *traced, pid_t thread, int status);
/* Whether a thread blocks the sampler's signal. */
bool steps_is_blocked(const struct traced *traced, pid_t thread);
/* Runs a stopped thread through its handler, to the return from it. The registers must be as before. Returns seconds;
 * below 0: it failed. */
double steps_tick(struct traced *traced, pid_t thread);
/* One instruction of one thread. */
enum stepped steps_step(struct traced *traced, pid_t thread);
