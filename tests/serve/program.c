/*
 * A program to capture from: work of ranges at a rate, in threads, with steps.
 *
 * usage: program SECONDS RANGES_PER_SECOND [THREADS [PORT]]
 * It ends after SECONDS, or when its standard input does.
 * PORT: served by itself (0: any that is free), which it prints; no child may turn up.
 * Thread 0 steps 100 times a second. Ends with the number of ranges it went through.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include <dwell/dwell.h>
#include <dwell/probe.h>

static double seconds, rate;
static atomic_bool input_ended;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A hundredth of a second's worth: two ranges in one, and a thing allocated. */
static void work(double ranges)
{
	for (double done = 0; done < ranges; done += 2) {
		DWELL_SCOPE(DWELL_CATEGORY_OPERATOR, "test::outer");
		{
			DWELL_SCOPE(DWELL_CATEGORY_OPERATOR, "test::inner");
		}
	}
}

static bool has_input_ended(void)
{
	struct pollfd input = { .fd = 0, .events = POLLIN };

	return poll(&input, 1, 0) > 0 && (input.revents & POLLHUP);
}

static void *run(void *first)
{
	double start = now();
	struct timespec wait = { 0, 0 };

	for (unsigned turn = 0; now() < start + seconds && !input_ended; turn++) {
		double next = start + (turn + 1) * 0.01;

		if (first) {
			dwell_step();
			input_ended = has_input_ended();
		}
		work(rate / 100);
		wait.tv_nsec = (long)((next - now()) * 1e9);
		if (wait.tv_nsec > 0)
			nanosleep(&wait, NULL);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 3 ? atoi(argv[3]) : 1;
	pthread_t others[64];

	if (argc < 3 || threads > 64)
		return 2;
	if (argc > 4) {
		struct dwell_error error = { 0, "" };
		int port = dwell_serve_start((unsigned)atoi(argv[4]), &error);

		printf("%d %s\n", port, error.message);
		fflush(stdout);
		if (port < 0)
			return 1;
		if (wait(NULL) != -1 || errno != ECHILD)
			return 3;
		if (dwell_serve_start(0, &error) != DWELL_E_STATE)
			return 4;
	}
	seconds = atof(argv[1]);
	rate = atof(argv[2]) / threads;
	for (int i = 1; i < threads; i++)
		pthread_create(&others[i], NULL, run, NULL);
	run(&seconds);
	for (int i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	printf("done\n");
	return 0;
}
