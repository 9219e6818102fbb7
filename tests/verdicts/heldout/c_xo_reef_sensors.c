/*
 * Watches the temperatures of a reef: two convolutions over hours tell which buoys drift from their neighbours. Inference
 * only; each window is a step.
 *
 * Planted: the line that is noted for a window goes to a journal that is forced to the disk for each eight buoys.
 * Truth: time of writing the journal, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUOYS = 32, HOURS = 168, MAPS = 12, REACH = 5, AT_ONCE = 8 };

static float near[MAPS][REACH], far[MAPS][MAPS][REACH], water[BUOYS][HOURS], score[BUOYS];
static float one[MAPS][HOURS], two[MAPS][HOURS];

static void conv_enter(const float *from)
{
	DWELL_OP("conv_enter");
	memset(one, 0, sizeof one);
	for (int m = 0; m < MAPS; m++) {
		for (int k = 0; k < REACH; k++)
			for (int t = 0; t < HOURS - REACH; t++)
				one[m][t] += near[m][k] * from[t + k];
		for (int t = 0; t < HOURS; t++)
			one[m][t] = one[m][t] > 0 ? one[m][t] : 0.1f * one[m][t];
	}
}

static void conv_deep(void)
{
	DWELL_OP("conv_deep");
	memset(two, 0, sizeof two);
	for (int m = 0; m < MAPS; m++)
		for (int i = 0; i < MAPS; i++)
			for (int k = 0; k < REACH; k++)
				for (int t = 0; t < HOURS - 2 * REACH; t++)
					two[m][t] += far[m][i][k] * one[i][t + k];
}

static float pool(void)
{
	float sum = 0;

	DWELL_OP("pool");
	for (int m = 0; m < MAPS; m++)
		for (int t = 0; t < HOURS; t++)
			sum += 1 / (1 + expf(-two[m][t]));
	return sum / (MAPS * HOURS);
}

static void note(int journal, long window, int buoy)
{
	char line[200];
	int length = snprintf(line, sizeof line, "%ld %d", window, buoy);

	for (int b = buoy; b < buoy + AT_ONCE; b++)
		length += snprintf(line + length, sizeof line - (size_t)length, " %.4f", score[b]);
	line[length++] = '\n';
	if (write(journal, line, (size_t)length) != length || fdatasync(journal))
		abort();
}

int main(void)
{
	static struct watch watch;
	const int journal = open("reef.journal", O_CREAT | O_WRONLY | O_TRUNC | O_APPEND, 0600);

	srand(17);
	for (int m = 0; m < MAPS; m++)
		for (int k = 0; k < REACH; k++) {
			near[m][k] = (float)rand() / (float)RAND_MAX - 0.5f;
			for (int i = 0; i < MAPS; i++)
				far[m][i][k] = 0.3f * ((float)rand() / (float)RAND_MAX - 0.5f);
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int b = 0; b < BUOYS; b++) {
			for (int t = 0; t < HOURS; t++)
				water[b][t] = sinf((float)(t + watch.steps % 24) * 0.26f) + 0.001f * (float)(rand() % 100);
			conv_enter(water[b]);
			conv_deep();
			score[b] = pool();
			if (b % AT_ONCE == AT_ONCE - 1) {
				planted_begin(&watch);
				note(journal, watch.steps, b + 1 - AT_ONCE);
				planted_end(&watch);
			}
		}
	}
	watch_tell(&watch);
	close(journal);
	unlink("reef.journal");
	return 0;
}
