/* A sleep of one thread that another thread ends. Time that somebody sets the system's clock to has no effect. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct dw_sleep {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool ends;
};

/* To be called before the thread that sleeps is started. */
static inline void dw_sleep_begin(struct dw_sleep *sleep)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&sleep->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&sleep->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	sleep->ends = false;
}

/* False: the sleep was ended, now or before. */
static inline bool dw_sleep_for(struct dw_sleep *sleep, uint64_t nanoseconds)
{
	struct timespec until;
	bool ends;

	clock_gettime(CLOCK_MONOTONIC, &until);
	nanoseconds += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(nanoseconds / 1000000000u);
	until.tv_nsec = (long)(nanoseconds % 1000000000u);
	pthread_mutex_lock(&sleep->lock);
	while (!sleep->ends && pthread_cond_timedwait(&sleep->wake, &sleep->lock, &until) == 0)
		;
	ends = sleep->ends;
	pthread_mutex_unlock(&sleep->lock);
	return !ends;
}

static inline void dw_sleep_end(struct dw_sleep *sleep)
{
	pthread_mutex_lock(&sleep->lock);
	sleep->ends = true;
	pthread_cond_signal(&sleep->wake);
	pthread_mutex_unlock(&sleep->lock);
}
