/*
 * Learns from a large file of seismograms that is mapped into memory.
 *
 * Planted: each step gives back the pages of its batch, and faults them in again when it reads the
 * next one.
 * Truth: time of giving back and of copying the batch from the file, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SECONDS = 5, TRACES = 800, SAMPLES = 8192, BATCHES = 4 };

static float *file_map;
static float batch[TRACES * SAMPLES], kernel[SAMPLES];

static int map_file(const char *path)
{
	static float trace[SAMPLES];
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	size_t size = (size_t)BATCHES * TRACES * sizeof(trace);

	for (int at = 0; at < BATCHES * TRACES; at++) {
		for (int sample = 0; sample < SAMPLES; sample += 64)
			trace[sample] = (float)((at + sample) % 300) / 300;
		if (write(file, trace, sizeof(trace)) != sizeof(trace))
			return 0;
	}
	file_map = mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
	close(file);
	unlink(path);
	return file_map != MAP_FAILED;
}

static void read_batch(int number)
{
	float *from = file_map + (size_t)(number % BATCHES) * TRACES * SAMPLES;

	DWELL_SCOPE(DWELL_CATEGORY_DATA, "read seismograms");
	memcpy(batch, from, sizeof(batch));
	madvise(from, sizeof(batch), MADV_DONTNEED);
}

static void learn(void)
{
	DWELL_OP("correlate");
	for (int trace = 0; trace < TRACES; trace++) {
		float error = -1;

		for (int sample = 0; sample < SAMPLES; sample++)
			error += kernel[sample] * batch[trace * SAMPLES + sample];
		for (int sample = 0; sample < SAMPLES; sample++)
			kernel[sample] -= 1e-7f * error * batch[trace * SAMPLES + sample];
	}
}

int main(void)
{
	struct watch watch;

	if (!map_file("seismograms.bin"))
		return 1;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		read_batch(watch.steps);
		planted_end(&watch);
		learn();
	}
	watch_tell(&watch);
	return 0;
}
