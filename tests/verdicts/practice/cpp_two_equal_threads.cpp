/*
 * Self-organising map of soil samples in C++ with OpenMP.
 *
 * Planted: nothing. Two threads share each loop evenly.
 * Truth: time of the part that one thread computes alone, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <vector>

namespace {

const int kSeconds = 5, kNodes = 1024, kTraits = 128, kSamples = 48;

} // namespace

int main()
{
	std::vector<float> nodes(kNodes * kTraits), samples(kSamples * kTraits),
	    distances(kSamples * kNodes);
	std::vector<int> nearest(kSamples);
	struct watch watch;

	for (size_t at = 0; at < nodes.size(); at++)
		nodes[at] = static_cast<float>(at * 2654435761u % 631) / 631;
	for (size_t at = 0; at < samples.size(); at++)
		samples[at] = static_cast<float>(at * 40503u % 331) / 331;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("distances");
#pragma omp parallel for num_threads(2) schedule(static)
			for (int sample = 0; sample < kSamples; sample++)
				for (int node = 0; node < kNodes; node++) {
					float sum = 0;
					for (int trait = 0; trait < kTraits; trait++) {
						const float off = nodes[node * kTraits + trait] -
						                  samples[sample * kTraits + trait];
						sum += off * off;
					}
					distances[sample * kNodes + node] = sum;
				}
		}
		planted_begin(&watch);
		{
			DWELL_ZONE("nearest");
			for (int sample = 0; sample < kSamples; sample++) {
				nearest[sample] = 0;
				for (int node = 1; node < kNodes; node += 4)
					if (distances[sample * kNodes + node] < distances[sample * kNodes +
					                                                  nearest[sample]])
						nearest[sample] = node;
			}
		}
		planted_end(&watch);
		DWELL_ZONE("move nodes");
#pragma omp parallel for num_threads(2) schedule(static)
		for (int node = 0; node < kNodes; node++)
			for (int sample = 0; sample < kSamples; sample++) {
				const float rate = 0.001f /
				                   static_cast<float>(1 + (node - nearest[sample]) *
				                                      (node - nearest[sample]));
				for (int trait = 0; trait < kTraits; trait++)
					nodes[node * kTraits + trait] += rate *
					                                 (samples[sample * kTraits + trait] -
					                                  nodes[node * kTraits + trait]);
			}
	}
	watch_tell(&watch);
	return 0;
}
