// Predicts which gate a flight gets. A thread draws the flights of the next hour while the loop learns from this one.
//
// A decoy: a condition and a mutex, a thread that sleeps, a line of log through a stringstream, a hash map that grows
// and a new buffer in each step, all of a moment.
// Truth: time of these in the loop, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int flights = 200, facts = 56, units = 120, gates = 32;

struct Hour {
	std::vector<float> fact = std::vector<float>(flights * facts);
	std::vector<int> gate = std::vector<int>(flights), airline = std::vector<int>(flights);
};

std::deque<std::unique_ptr<Hour>> coming;
std::mutex mutex;
std::condition_variable changed;
bool closed = false;

void draw_hours()
{
	std::mt19937 random(11);
	for (;;) {
		auto hour = std::make_unique<Hour>();
		for (int f = 0; f < flights; f++) {
			for (int k = 0; k < facts; k++)
				hour->fact[f * facts + k] = static_cast<float>(random() % 1000) / 1000 - 0.5f;
			hour->airline[f] = static_cast<int>(random() % 5000);
			hour->gate[f] = static_cast<int>((hour->fact[f * facts] + 0.5f) * (gates - 1));
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(2));
		std::unique_lock<std::mutex> lock(mutex);
		changed.wait(lock, [] { return coming.size() < 8 || closed; });
		if (closed)
			return;
		coming.push_back(std::move(hour));
		changed.notify_all();
	}
}

float in[units][facts], out[gates][units];

float learn(const Hour &hour)
{
	float loss = 0, unit[units], said[gates], back[units];

	DWELL_ZONE("gates");
	for (int f = 0; f < flights; f++) {
		const float *fact = &hour.fact[f * facts];
		float sum = 0;

		for (int u = 0; u < units; u++) {
			float z = 0;
			for (int k = 0; k < facts; k++)
				z += in[u][k] * fact[k];
			unit[u] = z / (1 + std::exp(-z));
			back[u] = 0;
		}
		for (int g = 0; g < gates; g++) {
			float z = 0;
			for (int u = 0; u < units; u++)
				z += out[g][u] * unit[u];
			sum += said[g] = std::exp(z);
		}
		loss -= std::log(said[hour.gate[f]] / sum);
		for (int g = 0; g < gates; g++) {
			const float miss = 0.01f * (said[g] / sum - static_cast<float>(hour.gate[f] == g));
			for (int u = 0; u < units; u++) {
				back[u] += miss * out[g][u];
				out[g][u] -= miss * unit[u];
			}
		}
		for (int u = 0; u < units; u++)
			for (int k = 0; k < facts; k++)
				in[u][k] -= back[u] * fact[k];
	}
	return loss / flights;
}

}  // namespace

int main()
{
	watch watch;
	std::ofstream log("/dev/null");
	std::unordered_map<int, int> seen;
	std::thread thread(draw_hours);
	std::mt19937 random(5);

	for (auto &row : in)
		for (auto &weight : row)
			weight = static_cast<float>(random() % 200) / 1000 - 0.1f;
	for (auto &row : out)
		for (auto &weight : row)
			weight = static_cast<float>(random() % 200) / 1000 - 0.1f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		std::unique_ptr<Hour> hour;
		planted_begin(&watch);
		{
			DWELL_ZONE("next hour");
			std::unique_lock<std::mutex> lock(mutex);
			changed.wait(lock, [] { return !coming.empty(); });
			hour = std::move(coming.front());
			coming.pop_front();
			changed.notify_all();
		}
		planted_end(&watch);
		float loss = 0;
		for (int pass = 0; pass < 3; pass++)
			loss = learn(*hour);
		planted_begin(&watch);
		for (int airline : hour->airline)
			seen[airline]++;
		std::ostringstream line;
		line << "hour " << watch.steps << " loss " << loss << " airlines " << seen.size();
		log << line.str() << std::endl;
		planted_end(&watch);
	}
	watch_tell(&watch);
	{
		std::lock_guard<std::mutex> lock(mutex);
		closed = true;
		changed.notify_all();
	}
	thread.join();
}
