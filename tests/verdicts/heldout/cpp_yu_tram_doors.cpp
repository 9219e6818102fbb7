// Watches a tram's doors: two cameras, one handled by the main thread, the other by a helper; their findings are joined for each frame.
//
// Planted: the main thread looks each 5 ms whether the helper has finished, and sleeps in between.
// Truth: time of the sleeps until the helper has finished, of the loop; the helper's frame is the smaller one.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

namespace {

struct Frame {
	int width, height;
	std::vector<float> grey;
};

Frame film(int width, int height, long number)
{
	Frame frame{width, height, std::vector<float>(static_cast<size_t>(width * height))};
	for (size_t i = 0; i < frame.grey.size(); i++)
		frame.grey[i] = static_cast<float>((i * 2654435761u + static_cast<size_t>(number) * 97) >> 8 & 255) / 255.0f;
	return frame;
}

float passengers(const Frame &frame)
{
	float strongest = 0;
	for (int filter = 0; filter < 6; filter++)
		for (int y = 3; y + 3 < frame.height; y++)
			for (int x = 3; x + 3 < frame.width; x++) {
				float sum = 0;
				for (int i = -3; i <= 3; i++)
					for (int j = -3; j <= 3; j++)
						sum += frame.grey[static_cast<size_t>((y + i) * frame.width + x + j)] * static_cast<float>((i * filter + j) % 3 - 1);
				strongest += sum > 2 ? 1e-4f * sum : 0;
			}
	return strongest;
}

// One job at a time for the other camera.
class Helper {
public:
	Helper() : thread([this] { serve(); }) {}
	~Helper()
	{
		stop = true;
		thread.join();
	}

	void give(std::function<void()> work)
	{
		job = std::move(work);
		busy.store(true);
	}

	void wait() const
	{
		while (busy.load())
			std::this_thread::sleep_for(std::chrono::milliseconds(5));
	}

private:
	void serve()
	{
		while (!stop)
			if (busy.load()) {
				job();
				busy.store(false);
			} else
				std::this_thread::sleep_for(std::chrono::milliseconds(5));
	}

	std::function<void()> job;
	std::atomic<bool> busy{false}, stop{false};
	std::thread thread;
};

}  // namespace

int main()
{
	watch watch;
	Helper helper;
	const Frame front = film(150, 120, 1);
	const Frame rear = film(140, 100, 2);
	float seen = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		float behind = 0, before;
		helper.give([&] { behind = passengers(rear); });
		{
			DWELL_ZONE("front camera");
			before = passengers(front);
		}
		planted_begin(&watch);
		helper.wait();
		planted_end(&watch);
		seen += before + behind;
	}
	watch_tell(&watch);
	std::printf("passengers %.2f\n", static_cast<double>(seen) / static_cast<double>(watch.steps));
}
