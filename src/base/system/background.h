/* A thread that works beside the others of its process, gets no signals, and sleeps until it is ended. */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* Zeroed at first. */
struct dw_background {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool started, ends;
};

/* Blocks all signals in the calling thread but SIGBUS, by which the recorder learns that its file was cut. `before`, which
 * may be NULL, receives the mask of before. */
void dw_background_block_signals(sigset_t *before);
/* Starts the thread, in which signals are blocked like this. If none can be started, nothing happens. */
void dw_background_begin(struct dw_background *background, void *(*work)(void *context), void *context);
/* For the thread: sleeps. Time that somebody sets the system's clock to has no effect. False: it is to end, now or since
 * before. */
bool dw_background_sleep(struct dw_background *background, uint64_t nanoseconds);
/* Ends the sleep, and waits until the thread has ended. Does nothing if none was started. */
void dw_background_end(struct dw_background *background);
