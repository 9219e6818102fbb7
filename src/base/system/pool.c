/* Runs tasks in parallel on all cores; see pool.h. */
#include "base/system/limits.h"
#include "base/system/pool.h"

#include <pthread.h>
#include <signal.h>

#define MOST_WORKERS 64u

static unsigned pool_most = MOST_WORKERS;

struct run {
	size_t next; /* atomic */
	size_t count;
	void (*task)(void *, unsigned, size_t);
	void *context;
};

struct member {
	struct run *run;
	unsigned worker;
	pthread_t thread;
};

unsigned dw_pool_workers(size_t count)
{
	unsigned cores = dw_limits_cpus();

	if (cores > pool_most)
		cores = pool_most;
	if (cores > count)
		cores = count ? (unsigned)count : 1;
	return cores;
}

void dw_pool_limit(unsigned workers)
{
	pool_most = workers < 1 ? 1 : workers < MOST_WORKERS ? workers : MOST_WORKERS;
}

static void *pool_work(void *argument)
{
	struct member *member = argument;
	struct run *run = member->run;
	size_t index;

	/* Relaxed: only an index is shared. What tasks read was written before the threads started,
	 * and pthread_join() publishes what they write. */
	while ((index = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED)) < run->count)
		run->task(run->context, member->worker, index);
	return NULL;
}

void dw_pool_run(size_t count, unsigned workers, void (*task)(void *, unsigned, size_t), void *context)
{
	struct run run = { 0, count, task, context };
	struct member members[MOST_WORKERS] = { { &run, 0, 0 } };
	unsigned started = 1;
	sigset_t all, old;

	/* The program's signal handlers must not run in these threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	for (; started < workers && started < MOST_WORKERS; started++) {
		members[started] = (struct member){ &run, started, 0 };
		if (pthread_create(&members[started].thread, NULL, pool_work, &members[started]) != 0)
			break;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pool_work(&members[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(members[i].thread, NULL);
}
