/*
 * Frost in an orchard: two filters of 5 x 5 learn from thermal pictures which trees will be damaged. The convolution is a product
 * with unrolled patches, and all buffers of a batch come from an arena.
 *
 * Planted: the arena is mapped anew for each batch and given back after it, so the kernel fills in zeroed pages each time.
 * Truth: time that the kernel works for the loop's thread, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SIDE = 92, TAPS = 25, PATCHES = (SIDE - 4) * (SIDE - 4), FILTERS = 2, BATCH = 24, STOCK = 72 };

struct arena { char *base; size_t used, size; };

static float stock[STOCK][SIDE * SIDE], damage[STOCK];
static float filter[FILTERS][TAPS], slope[FILTERS][TAPS], share[FILTERS], share_slope[FILTERS];

static struct arena arena_open(size_t size)
{
	struct arena arena = {mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 0, size};

	if (arena.base == MAP_FAILED)
		abort();
	madvise(arena.base, size, MADV_NOHUGEPAGE); /* as advised for predictable latency */
	return arena;
}

static float *arena_floats(struct arena *arena, size_t count)
{
	float *start = (float *)(void *)(arena->base + arena->used);

	arena->used += (count * sizeof *start + 63) & ~(size_t)63;
	if (arena->used > arena->size)
		abort();
	return start;
}

static void arena_close(struct arena *arena)
{
	munmap(arena->base, arena->size);
}

static void unroll(const float *picture, float *patches)
{
	for (int y = 0; y < SIDE - 4; y++)
		for (int x = 0; x < SIDE - 4; x++)
			for (int dy = 0; dy < 5; dy++)
				for (int dx = 0; dx < 5; dx++)
					*patches++ = picture[(y + dy) * SIDE + x + dx];
}

static float batch(int first)
{
	struct arena arena = arena_open((size_t)BATCH * PATCHES * (TAPS + FILTERS) * sizeof(float) + 8192);
	float *patches = arena_floats(&arena, (size_t)BATCH * PATCHES * TAPS);
	float *warmth = arena_floats(&arena, (size_t)BATCH * PATCHES * FILTERS);
	float loss = 0, guess[BATCH];

	{
		DWELL_OP("unroll");
		for (int n = 0; n < BATCH; n++)
			unroll(stock[(first + n) % STOCK], patches + (size_t)n * PATCHES * TAPS);
	}
	{
		DWELL_OP("convolve");
		for (int n = 0; n < BATCH; n++) {
			guess[n] = 0;
			for (int p = 0; p < PATCHES; p++) {
				const float *patch = patches + ((size_t)n * PATCHES + (size_t)p) * TAPS;

				for (int f = 0; f < FILTERS; f++) {
					float sum = 0;

					for (int t = 0; t < TAPS; t++)
						sum += filter[f][t] * patch[t];
					warmth[((size_t)n * PATCHES + (size_t)p) * FILTERS + (size_t)f] = sum;
					guess[n] += share[f] * sum * sum / PATCHES;
				}
			}
		}
	}
	{
		DWELL_OP("convolve gradient");
		for (int n = 0; n < BATCH; n++) {
			float error = guess[n] - damage[(first + n) % STOCK];

			loss += error * error / BATCH;
			for (int p = 0; p < PATCHES; p++) {
				const float *patch = patches + ((size_t)n * PATCHES + (size_t)p) * TAPS;

				for (int f = 0; f < FILTERS; f++) {
					float sum = warmth[((size_t)n * PATCHES + (size_t)p) * FILTERS + (size_t)f];
					float scaled = error * share[f] * sum / PATCHES / BATCH;

					share_slope[f] += error * sum * sum / PATCHES / BATCH;
					for (int t = 0; t < TAPS; t++)
						slope[f][t] += scaled * patch[t];
				}
			}
		}
	}
	arena_close(&arena);
	return loss;
}

int main(void)
{
	struct watch watch;
	float loss = 0;
	uint32_t seed = 5;

	for (int n = 0; n < STOCK; n++) {
		for (int i = 0; i < SIDE * SIDE; i++) {
			seed = seed * 1664525 + 1013904223;
			stock[n][i] = (float)(seed >> 9) / 4194304.0f - 1 + 0.1f * (float)(n % 5);
		}
		damage[n] = 0.2f * (float)(n % 5);
	}
	for (int f = 0; f < FILTERS; f++) {
		share[f] = 0.5f - (float)f;
		for (int t = 0; t < TAPS; t++)
			filter[f][t] = 0.05f * (float)((t * 7 + f) % 5 - 2) + 0.01f;
	}
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		loss = batch(watch.steps * BATCH);
		{
			DWELL_OP("sgd");
			for (int f = 0; f < FILTERS; f++) {
				share[f] -= 0.02f * share_slope[f];
				share_slope[f] = 0;
				for (int t = 0; t < TAPS; t++) {
					filter[f][t] -= 0.02f * slope[f][t];
					slope[f][t] = 0;
				}
			}
		}
		watch.steps++;
	}
	watch_tell_share(&watch, (system_s() - watch.system_began) / watch_seconds(&watch));
	printf("loss %.4f\n", (double)loss);
	return 0;
}
