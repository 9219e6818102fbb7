/* Measures the memory bandwidth of this machine; see bandwidth.h. */
#include "machine/bandwidth.h"

#include <pthread.h>
#include <string.h>

#include "base/free.h"
#include "base/system/clock.h"
#include "base/system/limits.h"

#define ROUNDS 5
#define BLOCK_BYTES (16u << 20) /* that a thread copies in a round */
#define MOST_THREADS 64u        /* a few cores saturate the memory of a socket */

/* The blocks of all threads together take at most this part of the memory. */
#define MEMORY_SHARE 8u

struct bandwidth_worker {
	pthread_t thread;
	char *from, *to;
	double bytes_per_second; /* of the last round */
};

/* Rounds that were started, and copies that were finished in all of them. Both atomic. */
static unsigned bandwidth_round, bandwidth_done;

/* CPU time, because other programs may use the cores at the same time. */
static double bandwidth_now(void)
{
	return (double)dw_clock_ns(CLOCK_THREAD_CPUTIME_ID) * 1e-9;
}

static void *bandwidth_work(void *pointer)
{
	struct bandwidth_worker *worker = pointer;

	for (unsigned round = 1; round <= ROUNDS + 1; round++) {
		double start, took;

		while (__atomic_load_n(&bandwidth_round, __ATOMIC_ACQUIRE) < round)
			sched_yield();
		start = bandwidth_now();
		memcpy(worker->to, worker->from, BLOCK_BYTES);
		took = bandwidth_now() - start;
		worker->bytes_per_second = took > 0 ? 2.0 * BLOCK_BYTES / took : 0;
		__atomic_fetch_add(&bandwidth_done, 1, __ATOMIC_ACQ_REL);
	}
	return NULL;
}

/* Returns the speed of all threads together in their fastest round. The first round is left out,
 * because it fetches pages. */
static double bandwidth_find(const struct bandwidth_worker *workers, unsigned threads)
{
	double fastest = 0;

	for (unsigned round = 1; round <= ROUNDS + 1; round++) {
		double sum = 0;

		__atomic_store_n(&bandwidth_round, round, __ATOMIC_RELEASE);
		while (__atomic_load_n(&bandwidth_done, __ATOMIC_ACQUIRE) < round * threads)
			sched_yield();
		for (unsigned i = 0; i < threads; i++)
			sum += workers[i].bytes_per_second;
		if (round > 1 && sum > fastest)
			fastest = sum;
	}
	return fastest;
}

static unsigned bandwidth_threads(void)
{
	double memory = dw_limits_memory();
	unsigned threads = dw_limits_cpus();

	if (threads > MOST_THREADS)
		threads = MOST_THREADS;
	while (threads > 1 && 2.0 * BLOCK_BYTES * threads > memory / MEMORY_SHARE)
		threads /= 2;
	return threads;
}

double dw_bandwidth_measure(void)
{
	static struct bandwidth_worker workers[MOST_THREADS];
	unsigned wanted = bandwidth_threads(), threads = 0;
	double bytes_per_second;

	for (; threads < wanted; threads++) {
		struct bandwidth_worker *worker = &workers[threads];

		worker->from = malloc(BLOCK_BYTES);
		worker->to = malloc(BLOCK_BYTES);
		if (worker->from) /* pages that were never written are all one page of zeros */
			memset(worker->from, 1, BLOCK_BYTES);
		if (!worker->from || !worker->to || pthread_create(&worker->thread, NULL, bandwidth_work, worker) != 0) {
			DW_FREE(worker->from, worker->to);
			break;
		}
	}
	bytes_per_second = bandwidth_find(workers, threads);
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		DW_FREE(workers[i].from, workers[i].to);
	}
	return bytes_per_second;
}
