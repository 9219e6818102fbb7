/*
 * Learns an order of runners from all pairs of them, with OpenMP.
 *
 * Planted: rows of a triangle are dealt out in equal numbers, so that the first thread is done
 * early.
 * Truth: time between the end of the loop's thread and the end of the slowest, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <omp.h>

#include <cmath>
#include <vector>

static const int kSeconds = 5, kRunners = 1200, kGuests = 600, kTraits = 6;

int main()
{
	const int threads = 2;
	std::vector<float> traits((kRunners + kGuests) * kTraits), weights(kTraits, 0.1f);
	struct watch watch;
	double waited_s = 0;

	for (int at = 0; at < (kRunners + kGuests) * kTraits; at++)
		traits[at] = static_cast<float>(at * 37 % 101) / 101;
	omp_set_num_threads(threads);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		std::vector<float> slopes(threads * kTraits * 16);
		double ended_s[threads] = {0};
		DWELL_STEP();
#pragma omp parallel
		{
			const int thread = omp_get_thread_num();
			float *mine = &slopes[thread * kTraits * 16];
			{
				DWELL_OP("pairs");
#pragma omp for schedule(static) nowait
				for (int one = 0; one < kRunners; one++)
					for (int other = 0; other < one + kGuests; other++) {
						float sum = 0;
						for (int trait = 0; trait < kTraits; trait++)
							sum += weights[trait] * (traits[one * kTraits + trait] -
							                         traits[other * kTraits + trait]);
						for (int trait = 0; trait < kTraits; trait++)
							mine[trait] += sum * traits[other * kTraits + trait];
					}
			}
			ended_s[thread] = now_s();
		}
		waited_s += ended_s[1] > ended_s[0] ? ended_s[1] - ended_s[0] : 0;
		DWELL_OP("sgd");
		for (int thread = 0; thread < threads; thread++)
			for (int trait = 0; trait < kTraits; trait++)
				weights[trait] -= 1e-9f * slopes[thread * kTraits * 16 + trait];
	}
	watch_tell_share(&watch, waited_s / watch_seconds(&watch));
	return 0;
}
