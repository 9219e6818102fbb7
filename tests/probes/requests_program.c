/*
 * A server of a language model with marks, for requests_test.py: threads of clients bring requests, and one thread runs the engine,
 * which computes up to four of them in a step. It prints its own log, a line for each request: when it began, was taken, had its
 * first token, its last one, and ended, each by the clock before the mark and after it, in ns; then how many tokens it got.
 *
 * usage: requests_program CLIENTS REQUESTS [kill]     REQUESTS: of each client; kill: ends by SIGKILL
 * usage: requests_program many N                      N requests without pause and without a log
 */
#include <dwell/probe.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4, MOST_REQUESTS = 4096 };

enum { BEGIN, STAGE, FIRST, LAST, END, TIMES };

struct request {
	uint64_t before[TIMES], after[TIMES];
	int wanted, made;
	bool done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct request requests[MOST_REQUESTS];
static int arrived, taken, ended, expected;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Reads the clock around the mark. */
#define TIMED(request, which, mark)         \
	do {                                    \
		(request)->before[which] = now();   \
		mark;                               \
		(request)->after[which] = now();    \
	} while (0)

static void pause_us(long us)
{
	nanosleep(&(struct timespec){ us / 1000000, us % 1000000 * 1000 }, NULL);
}

static void *client(void *of)
{
	unsigned seed = (unsigned)(uintptr_t)of;
	int count = (int)((uintptr_t)of >> 32);

	for (int i = 0; i < count; i++) {
		struct request *request;

		pause_us(rand_r(&seed) % 8000);
		pthread_mutex_lock(&lock);
		request = &requests[arrived];
		request->wanted = 1 + rand_r(&seed) % 8;
		TIMED(request, BEGIN, DWELL_REQUEST_BEGIN("generate", (uintptr_t)request));
		arrived++;
		pthread_cond_broadcast(&changed);
		while (!request->done)
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void make_token(struct request *request)
{
	TIMED(request, LAST, DWELL_REQUEST_TOKENS((uintptr_t)request, 1));
	if (!request->made++) {
		request->before[FIRST] = request->before[LAST];
		request->after[FIRST] = request->after[LAST];
		DWELL_REQUEST_STAGE("decode", (uintptr_t)request);
	}
	if (request->made < request->wanted)
		return;
	TIMED(request, END, DWELL_REQUEST_END("generate", (uintptr_t)request));
	pthread_mutex_lock(&lock);
	request->done = true;
	ended++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void engine(void)
{
	struct request *batch[MOST];
	int count = 0;

	while (ended < expected) {
		int kept = 0;

		DWELL_STEP();
		pthread_mutex_lock(&lock);
		while (!count && taken == arrived)
			pthread_cond_wait(&changed, &lock);
		while (count < MOST && taken < arrived)
			batch[count++] = &requests[taken++];
		pthread_mutex_unlock(&lock);
		for (int i = 0; i < count; i++)
			if (!batch[i]->before[STAGE])
				TIMED(batch[i], STAGE, DWELL_REQUEST_STAGE("prefill", (uintptr_t)batch[i]));
		pause_us(1000);
		for (int i = 0; i < count; i++) {
			make_token(batch[i]);
			if (!batch[i]->done)
				batch[kept++] = batch[i];
		}
		count = kept;
	}
}

static void many(uint64_t count)
{
	for (uint64_t i = 1; i <= count; i++) {
		DWELL_REQUEST_BEGIN("generate", i);
		DWELL_REQUEST_STAGE("prefill", i);
		DWELL_REQUEST_TOKENS(i, 1);
		DWELL_REQUEST_STAGE("decode", i);
		DWELL_REQUEST_TOKENS(i, 3);
		DWELL_REQUEST_END("generate", i);
	}
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int clients = argc > 2 ? atoi(argv[1]) : 0, each = argc > 2 ? atoi(argv[2]) : 0;

	if (argc > 2 && strcmp(argv[1], "many") == 0) {
		many(strtoull(argv[2], NULL, 10));
		return 0;
	}
	if (clients < 1 || clients > 64 || each < 1 || clients * each > MOST_REQUESTS)
		return 2;
	expected = clients * each;
	for (int i = 0; i < clients; i++)
		pthread_create(&threads[i], NULL, client, (void *)((uintptr_t)each << 32 | (uintptr_t)(i + 1)));
	engine();
	for (int i = 0; i < clients; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < expected; i++) {
		for (int at = 0; at < TIMES; at++)
			printf("%llu %llu ", (unsigned long long)requests[i].before[at], (unsigned long long)requests[i].after[at]);
		printf("%d\n", requests[i].made);
	}
	fflush(stdout);
	if (argc > 3)
		raise(SIGKILL);
	return 0;
}
