/*
 * A denoiser of X-ray lines in C++ with a reader thread.
 *
 * Decoy: the reader sleeps for most of its time and the queue has a lock, but a line is always
 * ready.
 * Truth: time that the loop waits for a line, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

namespace {

const int kSeconds = 5, kLength = 1024, kTaps = 48, kPasses = 120;
using line = std::vector<float>;

std::mutex lock;
std::condition_variable changed;
std::queue<line> ready;
bool ended = false;

void read()
{
	for (int number = 0;; number++) {
		std::this_thread::sleep_for(std::chrono::microseconds(1000));
		line next(kLength + kTaps, static_cast<float>(number % 13));
		std::unique_lock<std::mutex> hold(lock);
		changed.wait(hold, [] { return ended || ready.size() < 64; });
		if (ended)
			return;
		ready.push(std::move(next));
		changed.notify_all();
	}
}

line take()
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "next line");
	std::unique_lock<std::mutex> hold(lock);
	changed.wait(hold, [] { return !ready.empty(); });
	line next = std::move(ready.front());
	ready.pop();
	changed.notify_all();
	return next;
}

} // namespace

int main()
{
	std::vector<float> taps(kTaps, 0.02f), slopes(kTaps);
	struct watch watch;

	std::thread reader(read);
	std::this_thread::sleep_for(std::chrono::milliseconds(300));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		const line now = take();
		planted_end(&watch);
		for (int pass = 0; pass < kPasses; pass++) {
			DWELL_ZONE("denoise");
			for (int at = 0; at < kLength; at++) {
				float sum = -now[at];
				for (int tap = 0; tap < kTaps; tap++)
					sum += taps[tap] * now[at + tap];
				for (int tap = 0; tap < kTaps; tap++)
					slopes[tap] += sum * now[at + tap];
			}
		}
		DWELL_ZONE("optimizer");
		for (int tap = 0; tap < kTaps; tap++) {
			taps[tap] -= 1e-9f * slopes[tap];
			slopes[tap] = 0;
		}
	}
	watch_tell(&watch);
	{
		std::lock_guard<std::mutex> hold(lock);
		ended = true;
		changed.notify_all();
	}
	reader.join();
	return 0;
}
