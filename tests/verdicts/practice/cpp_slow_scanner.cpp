/*
 * A segmenter of slides in C++ with a reader thread and a queue.
 *
 * Planted: the scanner gives a slide each 22 ms, and a step needs less; the queue is empty.
 * Truth: time that the loop waits for a slide, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

const int kSeconds = 6, kSide = 192, kFilters = 10;
using slide = std::vector<float>;

std::mutex lock;
std::condition_variable changed;
std::deque<slide> queue;
bool ended = false;

void scan()
{
	for (int number = 0;; number++) {
		std::this_thread::sleep_for(std::chrono::milliseconds(22)); // the scanner's head moves
		slide next(kSide * kSide, static_cast<float>(number % 11));
		std::unique_lock<std::mutex> hold(lock);
		changed.wait(hold, [] { return ended || queue.size() < 8; });
		if (ended)
			return;
		queue.push_back(std::move(next));
		changed.notify_all();
	}
}

slide take()
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "next slide");
	std::unique_lock<std::mutex> hold(lock);
	changed.wait(hold, [] { return !queue.empty(); });
	slide next = std::move(queue.front());
	queue.pop_front();
	changed.notify_all();
	return next;
}

} // namespace

int main()
{
	std::vector<float> kernels(kFilters * 9, 0.1f), slopes(kFilters * 9);
	struct watch watch;

	std::thread scanner(scan);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		const slide now = take();
		planted_end(&watch);
		{
			DWELL_ZONE("forward and backward");
			for (int filter = 0; filter < kFilters; filter++)
				for (int y = 1; y < kSide - 1; y++)
					for (int x = 1; x < kSide - 1; x++) {
						float sum = 0;
						for (int tap = 0; tap < 9; tap++)
							sum += kernels[filter * 9 + tap] *
							       now[(y + tap / 3 - 1) * kSide + x + tap % 3 - 1];
						for (int tap = 0; tap < 9; tap++)
							slopes[filter * 9 + tap] += 1e-6f * sum *
							                            now[(y + tap / 3 - 1) * kSide + x +
							                                tap % 3 - 1];
					}
		}
		DWELL_ZONE("optimizer");
		for (int tap = 0; tap < kFilters * 9; tap++)
			kernels[tap] -= 1e-6f * slopes[tap];
	}
	watch_tell(&watch);
	{
		std::lock_guard<std::mutex> hold(lock);
		ended = true;
		changed.notify_all();
	}
	scanner.join();
	return 0;
}
