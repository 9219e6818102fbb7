/*
 * Learns routes; after each thirtieth step a child of fork() writes them to the disk and syncs.
 *
 * Decoy: the child takes long, but the loop pays only for a small fork().
 * Truth: time of fork() and of looking for ended children, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECONDS = 5, TOWNS = 220 };

static float ways[TOWNS][TOWNS], best[TOWNS][TOWNS];

static void shorten(void)
{
	DWELL_ZONE("shorten");
	for (int via = 0; via < TOWNS; via++)
		for (int from = 0; from < TOWNS; from++)
			for (int to = 0; to < TOWNS; to++) {
				float sum = best[from][via] + ways[via][to];

				best[from][to] = sum < best[from][to] ? sum : best[from][to];
			}
}

static void loosen(int step)
{
	DWELL_ZONE("loosen");
	for (int from = 0; from < TOWNS; from++)
		for (int to = 0; to < TOWNS; to++)
			best[from][to] = ways[from][to] = 1 + (float)((from * 31 + to * 17 + step) % 97);
}

static void save(void)
{
	if (fork() == 0) {
		int file = open("routes.bin", O_CREAT | O_WRONLY | O_TRUNC, 0600);

		if (write(file, best, sizeof(best)) < 0)
			_exit(1);
		fsync(file);
		usleep(20000);
		_exit(0);
	}
}

int main(void)
{
	struct watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		loosen(watch.steps);
		shorten();
		planted_begin(&watch);
		if (watch.steps % 30 == 29) {
			DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
			save();
		}
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		planted_end(&watch);
	}
	watch_tell(&watch);
	while (waitpid(-1, NULL, 0) > 0)
		;
	unlink("routes.bin");
	return 0;
}
