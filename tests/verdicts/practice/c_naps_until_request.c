/*
 * An inference server in C: requests arrive in a pipe, and the loop looks for them from time to
 * time.
 *
 * Planted: if no request is there, the loop sleeps 9 ms, although the next one arrives after 3 ms.
 * Truth: time of sleeping, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 6, HIDDEN = 1400, INPUTS = 512, ANSWERS = 64 };

static float first[HIDDEN][INPUTS], second[ANSWERS][HIDDEN], hidden[HIDDEN], answers[ANSWERS],
    request[INPUTS];

/* A client that waits for each answer and thinks before the next request. */
static void client(int requests, int replies)
{
	float buffer[INPUTS] = { 0 };

	for (int number = 0;; number++) {
		usleep(3000);
		buffer[number % INPUTS] = 1;
		if (write(requests, buffer, sizeof(buffer)) < 0 ||
		    read(replies, buffer, sizeof(float) * ANSWERS) <= 0)
			_exit(0);
	}
}

static void answer(void)
{
	DWELL_ZONE("model");
	for (int pass = 0; pass < 16; pass++) {
		for (int unit = 0; unit < HIDDEN; unit++) {
			float sum = 0;

			for (int at = 0; at < INPUTS; at++)
				sum += first[unit][at] * request[at];
			hidden[unit] = tanhf(sum + (float)pass);
		}
		for (int at = 0; at < ANSWERS; at++) {
			float sum = 0;

			for (int unit = 0; unit < HIDDEN; unit++)
				sum += second[at][unit] * hidden[unit];
			answers[at] = sum;
		}
	}
}

int main(void)
{
	int requests[2], replies[2];
	struct watch watch;
	pid_t child;

	if (pipe(requests) || pipe(replies))
		return 1;
	child = fork();
	if (child == 0) {
		close(requests[0]);
		close(replies[1]);
		client(requests[1], replies[0]);
	}
	fcntl(requests[0], F_SETFL, O_NONBLOCK);
	for (int unit = 0; unit < HIDDEN; unit++)
		for (int at = 0; at < INPUTS; at++)
			first[unit][at] = (float)((unit * 3 + at) % 41) / 410;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		while (read(requests[0], request, sizeof(request)) < 0) {
			planted_begin(&watch);
			usleep(9000);
			planted_end(&watch);
		}
		answer();
		if (write(replies[1], answers, sizeof(answers)) < 0)
			return 1;
	}
	watch_tell(&watch);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
