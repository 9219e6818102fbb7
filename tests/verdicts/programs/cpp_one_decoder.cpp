/*
 * Classifies pictures that another thread decodes.
 *
 * Planted: the decoder needs longer for a batch than the loop needs for a step.
 * Truth: time that the loop waits for a batch, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

const int kSeconds = 5, kPixels = 4096, kBatch = 16, kUnits = 48;

std::mutex lock;
std::condition_variable changed;
std::deque<std::vector<float>> ready;
std::atomic<bool> ended;

void decode()
{
	for (unsigned number = 0; !ended; number++) {
		std::vector<float> batch(kBatch * kPixels);
		for (size_t at = 0; at < batch.size(); at++) {
			number = number * 1664525u + 1013904223u;
			float level = static_cast<float>(number >> 16) / 65536;
			for (int wave = 1; wave < 10; wave++)
				level += std::cos(level * static_cast<float>(wave)) * 0.2f;
			batch[at] = level;
		}
		std::unique_lock<std::mutex> held(lock);
		changed.wait(held, [] { return ready.size() < 3 || ended; });
		ready.push_back(std::move(batch));
		changed.notify_all();
	}
}

std::vector<float> next()
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "next batch");
	std::unique_lock<std::mutex> held(lock);
	changed.wait(held, [] { return !ready.empty(); });
	std::vector<float> batch = std::move(ready.front());
	ready.pop_front();
	changed.notify_all();
	return batch;
}

} // namespace

int main()
{
	std::vector<float> weights(kUnits * kPixels, 0.001f);
	struct watch watch;
	std::thread decoder(decode);

	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		const std::vector<float> batch = next();
		planted_end(&watch);
		float sums[kBatch][kUnits];
		{
			DWELL_PHASE("forward");
			for (int at = 0; at < kBatch; at++)
				for (int unit = 0; unit < kUnits; unit++) {
					sums[at][unit] = 0;
					for (int pixel = 0; pixel < kPixels; pixel++)
						sums[at][unit] += weights[unit * kPixels + pixel] * batch[at * kPixels + pixel];
				}
		}
		DWELL_PHASE("backward");
		for (int at = 0; at < kBatch; at += 2)
			for (int unit = 0; unit < kUnits; unit++)
				for (int pixel = 0; pixel < kPixels; pixel++)
					weights[unit * kPixels + pixel] -= 1e-8f * sums[at][unit] * batch[at * kPixels + pixel];
	}
	watch_tell(&watch);
	ended = true;
	changed.notify_all();
	decoder.join();
	return 0;
}
