/*
 * Clusters star spectra in C; the spectra are in a file of shards.
 *
 * Planted: each step maps a shard, copies it and unmaps it, so each page is faulted again.
 * Truth: time of mapping, copying and unmapping, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECONDS = 6, SHARDS = 6, SPECTRA = 20000, BINS = 256, CENTRES = 4, CHOSEN = 600 };

static float centres[CENTRES][BINS], sums[CENTRES][BINS], chosen[CHOSEN][BINS];
static const size_t SHARD_SIZE = sizeof(float) * SPECTRA * BINS;

static void read_shard(int fd, int shard)
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "read shard");
	/* Each spectrum begins with a quality flag, and a few good ones are used. */
	const float *spectra = mmap(NULL, SHARD_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
	                            (off_t)(SHARD_SIZE * (size_t)shard));
	float *marks = (float *)spectra;

	if (spectra == MAP_FAILED)
		exit(1);
	for (int at = 0; at < SPECTRA; at += 8)
		marks[(size_t)at * BINS] = (float)at;
	for (int at = 0; at < CHOSEN; at++)
		memcpy(chosen[at], spectra + (size_t)at * 32 * BINS, sizeof(chosen[at]));
	munmap((void *)spectra, SHARD_SIZE);
}

static void cluster(void)
{
	DWELL_ZONE("assign and average");
	memset(sums, 0, sizeof(sums));
	for (int at = 0; at < CHOSEN; at++) {
		int nearest = 0;
		float least = 1e30f;

		for (int centre = 0; centre < CENTRES; centre++) {
			float distance = 0;

			for (int bin = 1; bin < BINS; bin++)
				distance += (chosen[at][bin] - centres[centre][bin]) *
				            (chosen[at][bin] - centres[centre][bin]);
			if (distance < least) {
				least = distance;
				nearest = centre;
			}
		}
		for (int bin = 1; bin < BINS; bin++)
			sums[nearest][bin] += chosen[at][bin];
	}
	for (int centre = 0; centre < CENTRES; centre++)
		for (int bin = 1; bin < BINS; bin++)
			centres[centre][bin] = 0.9f * centres[centre][bin] + 0.1f * sums[centre][bin] / CHOSEN;
}

int main(void)
{
	char path[] = "./spectra-XXXXXX";
	int fd = mkstemp(path);
	float *row = calloc(SPECTRA, sizeof(*row) * BINS);
	struct watch watch;

	if (fd < 0 || !row)
		return 1;
	unlink(path);
	for (size_t at = 0; at < (size_t)SPECTRA * BINS; at++)
		row[at] = (float)(at * 2654435761u % 977) / 977;
	for (int shard = 0; shard < SHARDS; shard++)
		if (pwrite(fd, row, SHARD_SIZE, (off_t)(SHARD_SIZE * (size_t)shard)) < 0)
			return 1;
	free(row);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		read_shard(fd, watch.steps % SHARDS);
		planted_end(&watch);
		for (int pass = 0; pass < 16; pass++)
			cluster();
	}
	watch_tell(&watch);
	return 0;
}
