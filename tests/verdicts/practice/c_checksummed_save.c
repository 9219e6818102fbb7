/*
 * An encoder of bird songs whose weights are saved with a checksum.
 *
 * Planted: after each sixteenth step the loop saves the weights itself; it computes the checksum bit by bit.
 * Truth: time of saving, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

enum { SECONDS = 6, WIDE = 1024, DEEP = 640, EACH = 16 };

static float weights[DEEP][WIDE], slopes[DEEP][WIDE], song[4][WIDE], code[4][DEEP];

static uint32_t checksum(const unsigned char *bytes, size_t count)
{
	uint32_t sum = ~0u;

	for (size_t at = 0; at < count; at++) {
		sum ^= bytes[at];
		for (int bit = 0; bit < 8; bit++)
			sum = sum >> 1 ^ (0xedb88320u & -(sum & 1));
	}
	return ~sum;
}

static void save(int step)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save weights");
	uint32_t sum = checksum((unsigned char *)weights, sizeof(weights));
	FILE *file = fopen("songs.new", "wb");

	fwrite(&step, sizeof(step), 1, file);
	fwrite(weights, sizeof(weights), 1, file);
	fwrite(&sum, sizeof(sum), 1, file);
	fclose(file);
	rename("songs.new", "songs.bin");
}

static void train(int step)
{
	DWELL_STEP();
	{
		DWELL_PHASE("forward");
		for (int at = 0; at < 4; at++)
			for (int unit = 0; unit < DEEP; unit++) {
				float sum = 0;

				for (int from = 0; from < WIDE; from++)
					sum += weights[unit][from] * song[at][from];
				code[at][unit] = sum;
			}
	}
	{
		DWELL_PHASE("backward");
		for (int at = 0; at < 4; at++)
			for (int unit = 0; unit < DEEP; unit++)
				for (int from = 0; from < WIDE; from++)
					slopes[unit][from] += (code[at][unit] - song[at][unit]) * song[at][from];
	}
	{
		DWELL_PHASE("optimizer");
		for (int unit = 0; unit < DEEP; unit++)
			for (int from = 0; from < WIDE; from++) {
				weights[unit][from] -= 1e-5f * slopes[unit][from];
				slopes[unit][from] = 0;
			}
	}
	song[step % 4][step % WIDE] += 0.01f;
}

int main(void)
{
	struct watch watch;

	srand(9);
	for (int at = 0; at < 4 * WIDE; at++)
		((float *)song)[at] = (float)(rand() % 100) / 100;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		train(watch.steps);
		if (watch.steps % EACH == EACH - 1) {
			planted_begin(&watch);
			save(watch.steps);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	unlink("songs.bin");
	return 0;
}
