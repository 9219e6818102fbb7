/*
 * Learns from a stream of events; each batch's offset in the stream is committed to a file.
 *
 * Planted: the commit is a write that returns when the disk has it, eight times a step.
 * Truth: time of the commits, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 6, EVENTS = 1500, TRAITS = 256, PARTITIONS = 8 };

static float events[EVENTS][TRAITS], weights[TRAITS];
static long offsets[PARTITIONS][64];

static void learn(void)
{
	for (int event = 0; event < EVENTS; event++) {
		float sum = 0, error;

		for (int trait = 0; trait < TRAITS; trait++)
			sum += events[event][trait] * weights[trait];
		error = 1 / (1 + expf(-sum)) - (float)(event % 3 == 0);
		for (int trait = 0; trait < TRAITS; trait++)
			weights[trait] -= 1e-4f * error * events[event][trait];
	}
}

static int commit(int fd, int step)
{
	for (int partition = 0; partition < PARTITIONS; partition++) {
		offsets[partition][0] = step;
		if (pwrite(fd, offsets[partition], sizeof(offsets[partition]), partition * 4096) < 0)
			return -1;
		if (fdatasync(fd))
			return -1;
	}
	return 0;
}

int main(void)
{
	int fd = open("offsets", O_RDWR | O_CREAT, 0600);
	struct watch watch;

	if (fd < 0)
		return 1;
	for (int event = 0; event < EVENTS; event++)
		for (int trait = 0; trait < TRAITS; trait++)
			events[event][trait] = (float)((event * 7 + trait * 31) % 53) / 53 - 0.5f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int pass = 0; pass < 8; pass++) {
			DWELL_ZONE("train on events");
			learn();
		}
		planted_begin(&watch);
		{
			DWELL_ZONE("commit offsets");
			if (commit(fd, watch.steps))
				return 1;
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	close(fd);
	return 0;
}
