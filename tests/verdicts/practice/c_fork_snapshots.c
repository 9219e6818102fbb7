/*
 * A large linear model that is saved by a child of fork(), so that the loop need not wait for the disk.
 *
 * Planted: after each fork() the update copies each page of the weights, because the child still has them.
 * Truth: time of fork(), and of updates after a fork less the usual update, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 6, ROWS = 2048, WIDE = 4096, EACH = 3 };

static float (*weights)[WIDE], slope[ROWS], picture[WIDE];

static void save(void)
{
	if (fork() == 0) {
		int file = open("rows.bin", O_CREAT | O_WRONLY | O_TRUNC, 0600);

		if (write(file, weights, 1 << 20) < 0)
			_exit(1);
		usleep(60000);
		_exit(0);
	}
}

static void forward(void)
{
	DWELL_PHASE("forward");
	for (int row = 0; row < ROWS; row++) {
		float sum = 0;

		for (int at = 0; at < WIDE; at++)
			sum += weights[row][at] * picture[at];
		slope[row] = sum - (float)(row % 3);
	}
}

static double update(void)
{
	DWELL_PHASE("optimizer");
	double began = now_s();

	for (int row = 0; row < ROWS; row++)
		for (int at = 0; at < WIDE; at++)
			weights[row][at] -= 1e-6f * slope[row] * picture[at];
	return now_s() - began;
}

int main(void)
{
	struct watch watch;
	double usual = 0;
	size_t size = sizeof(float) * ROWS * WIDE;

	weights = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(weights, size, MADV_NOHUGEPAGE);
	for (int at = 0; at < WIDE; at++)
		picture[at] = (float)(at % 255) / 255;
	update();
	for (int at = 0; at < 10; at++)
		usual += update() / 10;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int pass = 0; pass < 1; pass++)
			forward();
		if (watch.steps % EACH == 0) {
			planted_begin(&watch);
			save();
			planted_end(&watch);
			watch.planted_s += update() - usual;
		} else {
			update();
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	watch_tell(&watch);
	while (waitpid(-1, NULL, 0) > 0)
		;
	unlink("rows.bin");
	return 0;
}
