/*
 * Gradient boosting of stumps; the author named all parts in the author's own words.
 *
 * Planted: nothing. Histograms are most of the work, and they are as fast as they can be made simply.
 * Truth: time of choosing the split, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SECONDS = 5, ROWS = 40000, COLUMNS = 64, BINS = 64 };

static uint8_t bins[COLUMNS][ROWS];
static float residuals[ROWS], target[ROWS], guess[ROWS], sums[COLUMNS][BINS];
static int counts[COLUMNS][BINS];

int main(void)
{
	struct watch watch;

	srand(7);
	for (int column = 0; column < COLUMNS; column++)
		for (int row = 0; row < ROWS; row++)
			bins[column][row] = (uint8_t)(rand() % BINS);
	for (int row = 0; row < ROWS; row++)
		target[row] = (float)(bins[3][row] + bins[9][row]) / BINS;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		int best_column = 0, best_bin = 0;
		float best = -1, low = 0, high = 0;
		{
			DWELL_ZONE("residuals");
			for (int row = 0; row < ROWS; row++)
				residuals[row] = target[row] - guess[row];
		}
		{
			DWELL_ZONE("histograms");
			memset(sums, 0, sizeof(sums));
			memset(counts, 0, sizeof(counts));
			for (int column = 0; column < COLUMNS; column++)
				for (int row = 0; row < ROWS; row++) {
					sums[column][bins[column][row]] += residuals[row];
					counts[column][bins[column][row]]++;
				}
		}
		planted_begin(&watch);
		{
			DWELL_ZONE("split");
			for (int column = 0; column < COLUMNS; column++) {
				float all = 0, left = 0;
				int count = 0;

				for (int bin = 0; bin < BINS; bin++)
					all += sums[column][bin];
				for (int bin = 0; bin < BINS - 1; bin++) {
					float gain;

					left += sums[column][bin];
					count += counts[column][bin];
					gain = left * left / (float)(count + 1) + (all - left) * (all - left) / (float)(ROWS - count + 1);
					if (gain > best) {
						best = gain;
						best_column = column;
						best_bin = bin;
						low = left / (float)(count + 1);
						high = (all - left) / (float)(ROWS - count + 1);
					}
				}
			}
		}
		planted_end(&watch);
		DWELL_ZONE("apply stump");
		for (int row = 0; row < ROWS; row++)
			guess[row] += 0.1f * (bins[best_column][row] <= best_bin ? low : high);
	}
	watch_tell(&watch);
	return 0;
}
