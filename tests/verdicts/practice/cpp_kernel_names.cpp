/*
 * Depth from two pictures, with OpenMP and a name for each kernel.
 *
 * Planted: nothing. Two threads share each kernel evenly.
 * Truth: time of the one kernel that a single thread computes, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <vector>

namespace {

const int kSeconds = 5, kWide = 320, kHigh = 128, kShifts = 24;

} // namespace

int main()
{
	std::vector<float> left(kWide * kHigh), right(kWide * kHigh), cost(kShifts * kWide * kHigh), smooth(cost.size());
	std::vector<int> depth(kWide * kHigh);
	struct watch watch;

	for (int at = 0; at < kWide * kHigh; at++) {
		left[at] = static_cast<float>(at * 2654435761u >> 20 & 255);
		right[at] = static_cast<float>(at * 40503u >> 8 & 255);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("census_cost");
#pragma omp parallel for num_threads(2) schedule(static)
			for (int shift = 0; shift < kShifts; shift++)
				for (int at = kShifts; at < kWide * kHigh; at++) {
					const float off = left[at] - right[at - shift];
					cost[shift * kWide * kHigh + at] = off < 0 ? -off : off;
				}
		}
		{
			DWELL_ZONE("box_filter");
#pragma omp parallel for num_threads(2) schedule(static)
			for (int shift = 0; shift < kShifts; shift++)
				for (int y = 2; y < kHigh - 2; y++)
					for (int x = 2; x < kWide - 2; x++) {
						float sum = 0;
						for (int i = -2; i <= 2; i++)
							for (int k = -2; k <= 2; k++)
								sum += cost[(shift * kHigh + y + i) * kWide + x + k];
						smooth[(shift * kHigh + y) * kWide + x] = sum;
					}
		}
		{
			DWELL_ZONE("winner_takes_all");
#pragma omp parallel for num_threads(2) schedule(static)
			for (int at = 0; at < kWide * kHigh; at++) {
				int best = 0;
				for (int shift = 1; shift < kShifts; shift++)
					if (smooth[shift * kWide * kHigh + at] < smooth[best * kWide * kHigh + at])
						best = shift;
				depth[at] = best;
			}
		}
		planted_begin(&watch);
		DWELL_ZONE("median_row");
		for (int x = 1; x < kWide - 1; x++)
			left[kWide + x] += static_cast<float>(depth[kWide + x] - depth[kWide + x - 1]) * 0.01f;
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
