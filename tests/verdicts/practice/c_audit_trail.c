/*
 * Logistic regression in C that must be auditable.
 *
 * Planted: each step appends its weights to a file and waits until the disk has them.
 * Truth: time of writing, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 3, ROWS = 6000, COLUMNS = 512, STEPS_AT_MOST = 400 };

static float rows[ROWS][COLUMNS], weights[COLUMNS], slopes[COLUMNS], errors[ROWS];

static void predict(void)
{
	DWELL_OP("predict");
	for (int row = 0; row < ROWS; row++) {
		float sum = 0;

		for (int column = 0; column < COLUMNS; column++)
			sum += rows[row][column] * weights[column];
		errors[row] = 1 / (1 + expf(-sum)) - (float)(row & 1);
	}
}

static void differentiate(void)
{
	DWELL_OP("differentiate");
	for (int column = 0; column < COLUMNS; column++)
		slopes[column] = 0;
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			slopes[column] += rows[row][column] * errors[row];
}

static void descend(void)
{
	DWELL_OP("sgd");
	for (int column = 0; column < COLUMNS; column++)
		weights[column] -= 1e-5f * slopes[column];
}

int main(void)
{
	char path[] = "./audit-XXXXXX";
	int fd = mkstemp(path), steps = 0;
	double began, loop_s, writing_s = 0;

	if (fd < 0)
		return 1;
	unlink(path);
	for (int row = 0; row < ROWS; row++)
		for (int column = 0; column < COLUMNS; column++)
			rows[row][column] = (float)((row * 31 + column * 17) % 101) / 101 - 0.5f;
	began = now_s();
	for (; now_s() - began < SECONDS && steps < STEPS_AT_MOST; steps++) {
		double before;

		DWELL_STEP();
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
		before = now_s();
		if (write(fd, weights, sizeof(weights)) < 0 || fsync(fd))
			return 1;
		writing_s += now_s() - before;
	}
	loop_s = now_s() - began;
	close(fd);
	printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n", writing_s / loop_s,
	       loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
