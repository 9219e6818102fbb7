/*
 * Trains on blocks of a file that another thread reads and waits for.
 *
 * Decoy: the reader sleeps for its slow disk with each block, but two blocks are always ready.
 * Truth: time that the loop waits for a block, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 5, SLOTS = 4, NUMBERS = 4096, UNITS = 700 };

static float slots[SLOTS][NUMBERS], weights[UNITS][NUMBERS], out[UNITS];
static sem_t full, empty;
static atomic_bool ended;

static void *read_blocks(void *path)
{
	FILE *file = fopen(path, "rb");

	for (int slot = 0; !ended; slot = (slot + 1) % SLOTS) {
		sem_wait(&empty);
		usleep(2500);
		if (fread(slots[slot], sizeof(slots[slot]), 1, file) != 1)
			rewind(file);
		sem_post(&full);
	}
	fclose(file);
	return NULL;
}

int main(void)
{
	struct watch watch;
	pthread_t reader;
	FILE *file = fopen("blocks.bin", "wb");

	for (int block = 0; block < 40; block++) {
		for (int at = 0; at < NUMBERS; at++)
			slots[0][at] = (float)((block * 5 + at) % 83) / 83;
		fwrite(slots[0], sizeof(slots[0]), 1, file);
	}
	fclose(file);
	memset(weights, 0, sizeof(weights));
	sem_init(&full, 0, 0);
	sem_init(&empty, 0, SLOTS - 1);
	pthread_create(&reader, NULL, read_blocks, "blocks.bin");
	usleep(30000);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		float *block = slots[watch.steps % SLOTS];
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "next block");
			sem_wait(&full);
		}
		planted_end(&watch);
		for (int pass = 0; pass < 2; pass++) {
			{
				DWELL_PHASE("forward");
				for (int unit = 0; unit < UNITS; unit++) {
					float sum = 0;

					for (int at = 0; at < NUMBERS; at++)
						sum += weights[unit][at] * block[at];
					out[unit] = sum - 1;
				}
			}
			DWELL_PHASE("backward");
			for (int unit = 0; unit < UNITS; unit++)
				for (int at = 0; at < NUMBERS; at++)
					weights[unit][at] -= 1e-5f * out[unit] * block[at];
		}
		sem_post(&empty);
	}
	watch_tell(&watch);
	ended = true;
	sem_post(&empty);
	pthread_join(reader, NULL);
	unlink("blocks.bin");
	return 0;
}
