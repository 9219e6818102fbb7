/*
 * A vibration model in C that sends its activations to a program that draws them.
 *
 * Planted: the reader of the pipe is slow, so the loop's write waits until it has space.
 * Truth: time of writing to the pipe, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 6, SENSORS = 512, UNITS = 6000, SENT = 4096 };

static float weights[UNITS][SENSORS], sensors[SENSORS], units[UNITS], sent[SENT];

static void draw(int pipe_end)
{
	char picture[4096];

	while (read(pipe_end, picture, sizeof(picture)) > 0)
		usleep(2800);
	_exit(0);
}

static void model(int step)
{
	{
		DWELL_ZONE("forward");
		for (int unit = 0; unit < UNITS; unit++) {
			float sum = 0;

			for (int at = 0; at < SENSORS; at++)
				sum += weights[unit][at] * sensors[at];
			units[unit] = sum;
		}
	}
	{
		DWELL_ZONE("backward");
		for (int pass = 0; pass < 5; pass++)
			for (int unit = 0; unit < UNITS; unit++)
				for (int at = 0; at < SENSORS; at++)
					weights[unit][at] -= 1e-8f * units[unit] * sensors[at];
	}
	sensors[step % SENSORS] += 0.1f;
}

int main(void)
{
	struct watch watch;
	int ends[2];
	pid_t child;

	if (pipe(ends))
		return 1;
	child = fork();
	if (child == 0) {
		close(ends[1]);
		draw(ends[0]);
	}
	close(ends[0]);
	for (int unit = 0; unit < UNITS; unit++)
		for (int at = 0; at < SENSORS; at++)
			weights[unit][at] = (float)((unit + at * 3) % 43) / 430;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		model(watch.steps);
		for (int at = 0; at < SENT; at++)
			sent[at] = units[at % UNITS];
		planted_begin(&watch);
		{
			DWELL_ZONE("telemetry");
			if (write(ends[1], sent, sizeof(sent)) < 0)
				return 1;
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return 0;
}
