/*
 * A program that hangs in known places until it is killed, for tests of dwell stacks.
 *
 * The main thread holds a lock inside a step and waits for a timer. Three threads wait for the lock, one
 * computes, and one waits for descriptors: it prints "interrupted" if that ends. A line "ready" says
 * that all threads have begun.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "dwell/probe.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile double sum;

static inline __attribute__((always_inline)) void hang_add(int i)
{
	sum += i;
}

static __attribute__((noinline)) void hang_compute(void)
{
	for (int i = 0;; i++)
		hang_add(i);
}

static void *hang_wait(void *argument)
{
	pthread_mutex_lock(&lock);
	return argument;
}

static void *hang_spin(void *argument)
{
	hang_compute();
	return argument;
}

static void *hang_poll(void *argument)
{
	struct epoll_event event;

	epoll_wait(epoll_create1(0), &event, 1, -1);
	puts("interrupted");
	fflush(stdout);
	return argument;
}

int main(void)
{
	static void *(*const begin[])(void *) = { hang_wait, hang_wait, hang_wait, hang_spin, hang_poll };
	pthread_t thread;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
		pthread_create(&thread, NULL, begin[i], NULL);
	for (int i = 0; i < 8; i++) {
		DWELL_STEP();
		DWELL_ZONE("backward");
		if (i == 7) {
			puts("ready");
			fflush(stdout);
			sleep(1000);
		}
	}
	return 0;
}
