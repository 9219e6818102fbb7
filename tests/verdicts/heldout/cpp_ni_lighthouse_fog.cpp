// When a lighthouse should sound its horn: an online forest of fuzzy rules over the last hour's visibility, with a radial
// layer, trained on each watch's log.
//
// Decoy: a lock with two threads, a log file that is flushed, a string for each key, a nap, a sort now and then and a list
// that grows; all of them together take little.
// Truth: time of all of these, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kHour = 60, kCentres = 512, kWatch = 70;

struct Radial {
	std::vector<float> centres = std::vector<float>(kCentres * kHour), heights = std::vector<float>(kCentres);
	std::vector<float> bumps = std::vector<float>(kCentres);

	float horn(const float *hour)
	{
		float sum = 0;
		for (int c = 0; c < kCentres; c++) {
			float far = 0;
			for (int m = 0; m < kHour; m++)
				far += (centres[c * kHour + m] - hour[m]) * (centres[c * kHour + m] - hour[m]);
			bumps[c] = 1 / (1 + 0.05f * far);
			sum += heights[c] * bumps[c];
		}
		return sum / 16;
	}
	void learn(const float *hour, float miss)
	{
		for (int c = 0; c < kCentres; c++) {
			const float pull = 1e-3f * miss * heights[c] * bumps[c] * bumps[c];
			heights[c] -= 1e-3f * miss * bumps[c];
			for (int m = 0; m < kHour; m++)
				centres[c * kHour + m] -= pull * (hour[m] - centres[c * kHour + m]);
		}
	}
};

// What the keeper's panel shows.
struct Panel {
	std::mutex lock;
	std::map<std::string, double> shown;
	std::atomic<bool> off{false};

	void glance()
	{
		while (!off) {
			{
				std::lock_guard<std::mutex> hold(lock);
				for (auto &[name, value] : shown)
					value *= 0.999;
			}
			std::this_thread::sleep_for(std::chrono::milliseconds(50));
		}
	}
};

}  // namespace

int main()
{
	Radial net;
	Panel panel;
	std::thread keeper([&panel] { panel.glance(); });
	std::ofstream log("fog.log");
	std::vector<float> hour(kHour), misses;
	unsigned seed = 8;
	auto noise = [&seed] {
		seed = seed * 1664525u + 1013904223u;
		return static_cast<float>(seed >> 9) / 4194304 - 1;
	};
	watch clock;

	for (float &c : net.centres)
		c = noise();
	for (float &h : net.heights)
		h = noise();
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		float all = 0;
		for (int w = 0; w < kWatch; w++) {
			for (float &minute : hour)
				minute = noise();
			float sounded, miss;
			{
				DWELL_ZONE("horn");
				sounded = net.horn(hour.data());
			}
			miss = sounded - (hour[3] > 0 ? 1.f : -1.f);
			DWELL_ZONE("learn");
			net.learn(hour.data(), miss);
			all += miss * miss;
		}
		planted_begin(&clock);
		{
			std::lock_guard<std::mutex> hold(panel.lock);
			panel.shown["miss of the last watch"] = static_cast<double>(all / kWatch);
			panel.shown["watches so far in this night"] = clock.steps;
		}
		misses.push_back(all);
		if (clock.steps % 40 == 0)
			log << clock.steps << ' ' << all << std::endl;
		if (clock.steps % 100 == 99) {
			std::vector<float> sorted(misses);
			std::nth_element(sorted.begin(), sorted.begin() + static_cast<long>(sorted.size() / 2), sorted.end());
			std::this_thread::sleep_for(std::chrono::microseconds(300));
		}
		planted_end(&clock);
	}
	watch_tell(&clock);
	panel.off = true;
	keeper.join();
	log.close();
	std::remove("fog.log");
}
