/* A thread beside the others; see background.h. */
#include "base/system/background.h"

#include <time.h>

void dw_background_block_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

void dw_background_begin(struct dw_background *background, void *(*work)(void *context), void *context)
{
	pthread_condattr_t monotonic;
	sigset_t before;

	pthread_mutex_init(&background->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&background->wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	background->ends = false;
	dw_background_block_signals(&before);
	background->started = pthread_create(&background->thread, NULL, work, context) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool dw_background_sleep(struct dw_background *background, uint64_t nanoseconds)
{
	struct timespec until;
	bool ends;

	clock_gettime(CLOCK_MONOTONIC, &until);
	nanoseconds += (uint64_t)until.tv_nsec;
	until.tv_sec += (time_t)(nanoseconds / 1000000000u);
	until.tv_nsec = (long)(nanoseconds % 1000000000u);
	pthread_mutex_lock(&background->lock);
	while (!background->ends && pthread_cond_timedwait(&background->wake, &background->lock, &until) == 0)
		;
	ends = background->ends;
	pthread_mutex_unlock(&background->lock);
	return !ends;
}

void dw_background_end(struct dw_background *background)
{
	if (!background->started)
		return;
	pthread_mutex_lock(&background->lock);
	background->ends = true;
	pthread_cond_signal(&background->wake);
	pthread_mutex_unlock(&background->lock);
	pthread_join(background->thread, NULL);
	background->started = false;
}
