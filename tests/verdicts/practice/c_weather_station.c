/*
 * Predicts the wind in C from a station that another process reads.
 *
 * Planted: each step polls a pipe until the station's process has written the next measurement.
 * Truth: time of polling, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 3, ROWS = 3000, COLUMNS = 512, EVERY_MS = 18 };

static float rows[ROWS][COLUMNS], weights[COLUMNS], slopes[COLUMNS], errors[ROWS];

static void measure(int fd)
{
	const struct timespec pause = {0, EVERY_MS * 1000000L};
	float wind[16] = {0};

	for (int count = 0;; count++) {
		nanosleep(&pause, NULL);
		wind[count % 16] = (float)(count % 7);
		if (write(fd, wind, sizeof(wind)) < 0)
			_exit(0);
	}
}

static int await_wind(int fd, int row)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	float wind[16];

	if (poll(&ready, 1, 10000) != 1 || read(fd, wind, sizeof(wind)) != (ssize_t)sizeof(wind))
		return -1;
	for (int column = 0; column < COLUMNS; column++)
		rows[row][column] = wind[column % 16];
	return 0;
}

static void predict(void)
{
	DWELL_OP("predict");
	for (int row = 0; row < ROWS; row++) {
		float sum = 0;

		for (int column = 0; column < COLUMNS; column++)
			sum += rows[row][column] * weights[column];
		errors[row] = sum - rows[row][0];
	}
}

static void differentiate(void)
{
	DWELL_OP("differentiate");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int pass = 0; pass < 12; pass++)
		for (int row = 0; row < ROWS; row++)
			for (int column = 0; column < COLUMNS; column++)
				slopes[column] += rows[row][column] * errors[row];
}

static void descend(void)
{
	DWELL_OP("sgd");
	for (int column = 0; column < COLUMNS; column++)
		weights[column] -= 1e-7f * slopes[column];
}

int main(void)
{
	int ends[2], steps = 0;
	double began, loop_s, polling_s = 0;
	pid_t station;

	if (pipe(ends) || (station = fork()) < 0)
		return 1;
	if (station == 0)
		measure(ends[1]);
	began = now_s();
	for (; now_s() - began < SECONDS; steps++) {
		double before;

		DWELL_STEP();
		before = now_s();
		if (await_wind(ends[0], steps % ROWS))
			return 1;
		polling_s += now_s() - before;
		{
			DWELL_ZONE("forward");
			predict();
		}
		{
			DWELL_ZONE("backward");
			differentiate();
		}
		{
			DWELL_ZONE("optimizer");
			descend();
		}
	}
	loop_s = now_s() - began;
	kill(station, SIGKILL);
	waitpid(station, NULL, 0);
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", polling_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
