/*
 * Learns to rank wells; a child process writes snapshots of the weights.
 *
 * Decoy: every 60th step forks, and the child writes and synchronises the snapshot while the loop
 * goes on.
 * Truth: time of fork() and of collecting the last child, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 5, WELLS = 1500, FACTS = 700, EVERY = 60 };

static float wells[WELLS][FACTS], weights[FACTS];

static void learn(void)
{
	DWELL_OP("rank, gradient");
	for (int well = 0; well < WELLS; well++) {
		float error = -(float)(well % 4);

		for (int fact = 0; fact < FACTS; fact++)
			error += wells[well][fact] * weights[fact];
		for (int fact = 0; fact < FACTS; fact++)
			weights[fact] -= 1e-7f * error * wells[well][fact];
	}
}

static void snapshot(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
	if (!fork()) {
		int file = open("snapshot.bin", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		int failed = write(file, weights, sizeof(weights)) != sizeof(weights) || fsync(file);

		_exit(failed);
	}
}

int main(void)
{
	struct watch watch;

	for (int at = 0; at < WELLS * FACTS; at++)
		wells[at / FACTS][at % FACTS] = (float)(at % 211) / 211;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		learn();
		if (watch.steps % EVERY == EVERY - 1) {
			planted_begin(&watch);
			snapshot();
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	while (wait(NULL) > 0)
		continue;
	return 0;
}
