/*
 * Fits a model of tides, and writes a line of a log after each step.
 *
 * The fault: fsync() after each line makes the loop wait for the disk. Marks name the parts of a step.
 */
#include <dwell/probe.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { STEPS = 5000, HOURS = 8000, WAVES = 32 };

static double level[HOURS], guess[HOURS], wave[WAVES][HOURS], weight[WAVES], slope[WAVES];

static double forward(void)
{
	double loss = 0;

	DWELL_ZONE("forward");
	for (int hour = 0; hour < HOURS; hour++) {
		guess[hour] = 0;
		for (int at = 0; at < WAVES; at++)
			guess[hour] += weight[at] * wave[at][hour];
		loss += (guess[hour] - level[hour]) * (guess[hour] - level[hour]);
	}
	return loss / HOURS;
}

static void backward(void)
{
	DWELL_ZONE("backward");
	for (int at = 0; at < WAVES; at++)
		for (int hour = 0; hour < HOURS; hour++)
			slope[at] += 2 * (guess[hour] - level[hour]) * wave[at][hour] / HOURS;
}

static void update(void)
{
	DWELL_ZONE("optimizer");
	for (int at = 0; at < WAVES; at++) {
		weight[at] -= 0.05 * slope[at];
		slope[at] = 0;
	}
}

static void write_line(FILE *log, int step, double loss)
{
	DWELL_ZONE("write log");
	fprintf(log, "%d %.9f\n", step, loss);
	fflush(log);
	fsync(fileno(log));
}

int main(void)
{
	FILE *log = fopen("tides.log", "w");

	if (!log)
		return 1;
	for (int hour = 0; hour < HOURS; hour++) {
		level[hour] = 2 * sin(hour * 0.506) + 0.4 * sin(hour * 0.262 + 1);
		for (int at = 0; at < WAVES; at++)
			wave[at][hour] = sin(hour * 0.022 * (at + 1) + (at & 1));
	}
	for (int step = 0; step < STEPS; step++) {
		DWELL_STEP();
		const double loss = forward();

		backward();
		update();
		write_line(log, step, loss);
	}
	fclose(log);
	return 0;
}
