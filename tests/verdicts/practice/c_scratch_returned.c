/*
 * An inference engine whose operators share one scratch arena.
 *
 * Planted: the arena gives its pages back to the kernel after each operator, so the next one faults them in again.
 * Truth: time of giving back, and the time of writing the scratch less that of writing pages that are there, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>
#include <sys/mman.h>

enum { SECONDS = 5, TOKENS = 4096, UNITS = 384, TAPS = 3 };

static float (*scratch)[UNITS], input[UNITS], kernel[TAPS], sums[TOKENS];
static const size_t size = sizeof(float) * TOKENS * UNITS;

static void expand(void)
{
	DWELL_OP("expand");
	for (int token = 0; token < TOKENS; token++)
		for (int unit = 0; unit < UNITS; unit++)
			scratch[token][unit] = input[unit] * (float)(token % 16 + 1);
}

static void smooth(void)
{
	DWELL_OP("depthwise_conv");
	for (int token = 0; token < TOKENS; token++) {
		float sum = 0;

		for (int unit = TAPS; unit < UNITS; unit++)
			for (int tap = 0; tap < TAPS; tap++)
				sum += kernel[tap] * scratch[token][unit - tap];
		sums[token] = sum;
	}
}

int main(void)
{
	struct watch watch;
	double usual, began;
	float total = 0;

	scratch = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(scratch, size, MADV_NOHUGEPAGE);
	for (int unit = 0; unit < UNITS; unit++)
		input[unit] = (float)(unit % 11) / 11;
	for (int tap = 0; tap < TAPS; tap++)
		kernel[tap] = 0.3f;
	expand();
	usual = now_s();
	for (int at = 0; at < 20; at++)
		expand();
	usual = (now_s() - usual) / 20;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		for (int block = 0; block < 2; block++) {
			began = now_s();
			expand();
			watch.planted_s += now_s() - began - usual;
			smooth();
			planted_begin(&watch);
			madvise(scratch, size, MADV_DONTNEED);
			planted_end(&watch);
			for (int token = 0; token < TOKENS; token++)
				total += sums[token];
			input[block] = 1 / (1 + expf(-total * 1e-9f));
		}
	}
	watch_tell(&watch);
	return 0;
}
