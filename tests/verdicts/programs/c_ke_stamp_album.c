/*
 * Sorts scanned stamps by country: a page of eight stamps at a time goes through a bank of filters, is pooled, and votes.
 *
 * Planted: each page gets an arena of 14 MB anew from the kernel, clears it, and gives it back when the page is sorted.
 * Truth: time of making, clearing and dropping the arena, as a share of the loop; one arena for all pages would need none of it.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SIDE 96
#define INKS 3
#define BANK 6
#define STAMPS 8
#define LANDS 20
#define CELLS 12

struct arena {
	unsigned char *base;
	size_t used, size;
};

static const size_t arena_bytes = (size_t)14 << 20; /* enough for the largest page of any album */

static struct arena arena_make(void)
{
	struct arena arena = {mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 0, arena_bytes};

	if (arena.base == MAP_FAILED) {
		perror("arena");
		exit(1);
	}
	memset(arena.base, 0, arena.size);
	return arena;
}

static float *arena_floats(struct arena *arena, size_t count)
{
	float *at = (float *)(arena->base + arena->used);

	arena->used += (count * sizeof(float) + 63) & ~(size_t)63;
	return at;
}

static void arena_drop(struct arena *arena)
{
	munmap(arena->base, arena->size);
}

static float bank[BANK][INKS][3][3], lands[LANDS][BANK * CELLS * CELLS];
static unsigned char scans[4][STAMPS][INKS][SIDE][SIDE];

static void unpack(float *ink, unsigned char (*scan)[INKS][SIDE][SIDE])
{
	const unsigned char *from = &scan[0][0][0][0];

	for (size_t i = 0; i < (size_t)STAMPS * INKS * SIDE * SIDE; i++)
		ink[i] = (float)from[i] / 255.0f - 0.4f;
}

static void filter(const float *ink, float *out)
{
	for (int s = 0; s < STAMPS; s++)
		for (int b = 0; b < BANK; b++) {
			float *plane = out + ((size_t)s * BANK + (size_t)b) * SIDE * SIDE;
			for (int y = 1; y < SIDE - 1; y++)
				for (int x = 1; x < SIDE - 1; x++) {
					float sum = 0.02f;
					for (int c = 0; c < INKS; c++) {
						const float *from = ink + ((size_t)s * INKS + (size_t)c) * SIDE * SIDE;
						for (int i = -1; i <= 1; i++)
							for (int j = -1; j <= 1; j++)
								sum += bank[b][c][i + 1][j + 1] * from[(y + i) * SIDE + x + j];
					}
					plane[y * SIDE + x] = sum > 0 ? sum : 0.1f * sum;
				}
		}
}

static int vote(const float *maps, float *pooled)
{
	int best_sum = 0;

	for (int s = 0; s < STAMPS; s++) {
		for (int b = 0; b < BANK; b++)
			for (int v = 0; v < CELLS; v++)
				for (int u = 0; u < CELLS; u++) {
					float sum = 0;
					for (int y = 0; y < SIDE / CELLS; y++)
						for (int x = 0; x < SIDE / CELLS; x++)
							sum += maps[(((size_t)s * BANK + (size_t)b) * SIDE + (size_t)(v * 8 + y)) * SIDE + (size_t)(u * 8 + x)];
					pooled[(b * CELLS + v) * CELLS + u] = tanhf(sum / 64);
				}
		float top = -1e9f;
		int land = 0;
		for (int l = 0; l < LANDS; l++) {
			float score = 0;
			for (int i = 0; i < BANK * CELLS * CELLS; i++)
				score += lands[l][i] * pooled[i];
			if (score > top) {
				top = score;
				land = l;
			}
		}
		best_sum += land;
	}
	return best_sum;
}

int main(void)
{
	struct watch watch;
	long votes = 0;
	unsigned seed = 77;

	for (size_t i = 0; i < sizeof(scans); i++)
		((unsigned char *)scans)[i] = (unsigned char)((seed = seed * 1664525u + 1013904223u) >> 24);
	for (int i = 0; i < BANK * INKS * 9; i++)
		(&bank[0][0][0][0])[i] = 0.3f * sinf((float)(i * 5 + 1));
	for (int i = 0; i < LANDS * BANK * CELLS * CELLS; i++)
		(&lands[0][0])[i] = 0.05f * cosf((float)(i * 13 + 2));

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		struct arena arena;
		float *ink, *maps;
		{
			DWELL_ZONE("take page");
			planted_begin(&watch);
			arena = arena_make();
			planted_end(&watch);
			ink = arena_floats(&arena, (size_t)STAMPS * INKS * SIDE * SIDE);
			unpack(ink, scans[watch.steps % 4]);
		}
		{
			DWELL_ZONE("filter bank");
			maps = arena_floats(&arena, (size_t)STAMPS * BANK * SIDE * SIDE);
			filter(ink, maps);
		}
		{
			DWELL_ZONE("vote");
			votes += vote(maps, arena_floats(&arena, BANK * CELLS * CELLS));
		}
		planted_begin(&watch);
		arena_drop(&arena);
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("mean vote %.3f\n", (double)votes / (double)(watch.steps * STAMPS));
	return 0;
}
