/*
 * A Kalman filter of many drones in C that saves itself.
 *
 * Decoy: a checkpoint after each fourth step, but it has only 16 KB and takes a moment.
 * Truth: time of the checkpoints, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 5, DRONES = 1200, STATES = 16 };

static float covariances[DRONES][STATES][STATES], product[STATES][STATES], motion[STATES][STATES],
    means[DRONES][STATES];

static void multiply(float (*out)[STATES], float (*one)[STATES], float (*other)[STATES])
{
	for (int row = 0; row < STATES; row++)
		for (int column = 0; column < STATES; column++) {
			float sum = 0;

			for (int at = 0; at < STATES; at++)
				sum += one[row][at] * other[at][column];
			out[row][column] = sum;
		}
}

static void save(int fd)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
	if (pwrite(fd, means, 16384, 0) < 0)
		exit(1);
}

int main(void)
{
	int fd = open("drones.bin", O_WRONLY | O_CREAT, 0600);
	struct watch watch;

	if (fd < 0)
		return 1;
	for (int row = 0; row < STATES; row++)
		motion[row][row] = motion[row][(row + 1) % STATES] = 0.5f;
	for (int drone = 0; drone < DRONES; drone++)
		for (int at = 0; at < STATES; at++)
			covariances[drone][at][at] = means[drone][at] = (float)(drone % 5 + 1);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("predict");
			for (int drone = 0; drone < DRONES; drone++) {
				multiply(product, motion, covariances[drone]);
				multiply(covariances[drone], product, motion);
			}
		}
		{
			DWELL_ZONE("correct");
			for (int drone = 0; drone < DRONES; drone++)
				for (int at = 0; at < STATES; at++) {
					float gain = covariances[drone][at][at] / (covariances[drone][at][at] + 1);

					means[drone][at] += gain * ((float)(at % 3) - means[drone][at]);
					for (int other = 0; other < STATES; other++)
						covariances[drone][at][other] = (1 - gain) * covariances[drone][at][other] +
						                                0.1f;
				}
		}
		if (watch.steps % 4 == 3) {
			planted_begin(&watch);
			save(fd);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	close(fd);
	return 0;
}
