/*
 * Online training of a ranking model; a thread computes statistics of the weights all the time.
 *
 * Planted: the statistics hold the lock of the weights while they are computed, and the update
 * waits for it.
 * Truth: time of waiting for the lock, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

static const int kSeconds = 5, kPages = 1500, kTraits = 1200;

static std::mutex weights_lock;
static std::atomic<bool> ended(false);
static std::vector<float> weights(kTraits, 0.01f);
static double mean;

static void statistics()
{
	while (!ended) {
		{
			std::lock_guard<std::mutex> hold(weights_lock);
			for (float weight : weights)
				mean += weight;
			std::this_thread::sleep_for(std::chrono::milliseconds(9)); // sends them to a dashboard
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(3));
	}
}

int main()
{
	std::vector<float> pages(kPages * kTraits), slopes(kTraits), scores(kPages);
	struct watch watch;

	for (size_t at = 0; at < pages.size(); at++)
		pages[at] = static_cast<float>(at * 2654435761u % 1000) / 1000;
	std::thread thread(statistics);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			for (int page = 0; page < kPages; page++) {
				float sum = 0;
				for (int trait = 0; trait < kTraits; trait++)
					sum += pages[page * kTraits + trait] * weights[trait];
				scores[page] = sum;
			}
		}
		{
			DWELL_ZONE("backward");
			std::fill(slopes.begin(), slopes.end(), 0.0f);
			for (int page = 0; page < kPages; page++) {
				const float error = scores[page] - static_cast<float>(page % 5);
				for (int trait = 0; trait < kTraits; trait++)
					slopes[trait] += error * pages[page * kTraits + trait];
			}
		}
		DWELL_ZONE("optimizer");
		planted_begin(&watch);
		weights_lock.lock();
		planted_end(&watch);
		for (int trait = 0; trait < kTraits; trait++)
			weights[trait] -= 1e-9f * slopes[trait];
		weights_lock.unlock();
	}
	watch_tell(&watch);
	ended = true;
	thread.join();
	return 0;
}
