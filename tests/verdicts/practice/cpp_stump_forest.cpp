/*
 * Boosted stumps that price used bicycles, one stump a step.
 *
 * Planted: nothing. The search for the best split takes nearly all of a step.
 * Truth: time of adding the stump to the predictions, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <vector>

static const int kSeconds = 5, kBicycles = 30000, kTraits = 48, kBins = 32;

struct Stump {
	int trait = 0, bin = 0;
	float below = 0, above = 0;
};

int main()
{
	std::vector<unsigned char> bins(kBicycles * kTraits);
	std::vector<float> prices(kBicycles), guesses(kBicycles);
	struct watch watch;

	for (int at = 0; at < kBicycles * kTraits; at++)
		bins[at] = static_cast<unsigned char>(static_cast<unsigned>(at) * 2654435761u >> 27);
	for (int at = 0; at < kBicycles; at++)
		prices[at] = static_cast<float>(bins[at * kTraits] * 3 + bins[at * kTraits + 5]);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		std::vector<float> sums(kTraits * kBins), counts(kTraits * kBins);
		Stump best;
		DWELL_STEP();
		{
			DWELL_OP("histograms");
			for (int at = 0; at < kBicycles; at++)
				for (int trait = 0; trait < kTraits; trait++) {
					const int slot = trait * kBins + bins[at * kTraits + trait];
					sums[slot] += prices[at] - guesses[at];
					counts[slot] += 1;
				}
		}
		{
			DWELL_OP("best split");
			float gain = -1;
			for (int trait = 0; trait < kTraits; trait++)
				for (int bin = 1; bin < kBins; bin++) {
					float low = 0, lows = 1, high = 0, highs = 1;
					for (int at = 0; at < kBins; at++) {
						(at < bin ? low : high) += sums[trait * kBins + at];
						(at < bin ? lows : highs) += counts[trait * kBins + at];
					}
					if (low * low / lows + high * high / highs > gain) {
						gain = low * low / lows + high * high / highs;
						best = Stump{trait, bin, low / lows, high / highs};
					}
				}
		}
		DWELL_OP("add stump");
		planted_begin(&watch);
		for (int at = 0; at < kBicycles; at++)
			guesses[at] +=
			    0.1f * (bins[at * kTraits + best.trait] < best.bin ? best.below : best.above);
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
