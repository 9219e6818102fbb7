/*
 * Searches a gait for a walking robot by evolution, under a supervisor that wants to know how the search is.
 *
 * Planted: nothing. In each generation the loop reads its own memory from /proc, takes a lock and a nap, and sorts its
 * population; all of that takes a moment.
 * Truth: time of these chores, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <mutex>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

const int kPopulation = 40, kLegs = 4, kUnits = 48, kTicks = 60, kIn = 3 * kLegs;

struct Gait {
	std::vector<float> weights = std::vector<float>(kUnits * kIn + kLegs * kUnits);
	double distance = 0;
};

struct Status {
	std::mutex mutex;
	std::string text;
};

double walk(const Gait &gait)
{
	float in[kIn] = {}, hidden[kUnits];
	double way = 0;
	for (int tick = 0; tick < kTicks; tick++) {
		for (int unit = 0; unit < kUnits; unit++) {
			float sum = 0;
			for (int at = 0; at < kIn; at++)
				sum += gait.weights[unit * kIn + at] * in[at];
			hidden[unit] = std::tanh(sum);
		}
		for (int leg = 0; leg < kLegs; leg++) {
			float torque = 0;
			for (int unit = 0; unit < kUnits; unit++)
				torque += gait.weights[kUnits * kIn + leg * kUnits + unit] * hidden[unit];
			in[kLegs + leg] = 0.9f * in[kLegs + leg] + 0.1f * std::tanh(torque);
			in[leg] += 0.2f * in[kLegs + leg];
			in[2 * kLegs + leg] = std::sin(0.3f * static_cast<float>(tick) + static_cast<float>(leg));
			way += in[kLegs + leg] * std::max(0.0f, std::cos(in[leg]));
		}
	}
	return way;
}

void tell_supervisor(Status &status, int generation, double best)
{
	std::ifstream file("/proc/self/statm");
	std::string pages;
	file >> pages;
	std::lock_guard<std::mutex> guard(status.mutex);
	status.text = std::to_string(generation) + " " + std::to_string(best) + " " + pages;
}

} // namespace

int main()
{
	std::mt19937 random(40);
	std::normal_distribution<float> normal(0, 0.3f);
	std::vector<Gait> gaits(kPopulation);
	std::vector<int> order(kPopulation);
	Status status;
	struct watch watch;
	for (Gait &gait : gaits)
		for (float &weight : gait.weights)
			weight = normal(random);
	std::iota(order.begin(), order.end(), 0);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("walks");
			for (Gait &gait : gaits)
				for (int terrain = 0; terrain < 5; terrain++)
					gait.distance = 0.8 * gait.distance + 0.2 * walk(gait);
		}
		planted_begin(&watch);
		{
			DWELL_ZONE("supervisor");
			std::sort(order.begin(), order.end(), [&](int one, int other) { return gaits[one].distance > gaits[other].distance; });
			tell_supervisor(status, watch.steps, gaits[order[0]].distance);
			std::this_thread::sleep_for(std::chrono::microseconds(20));
		}
		planted_end(&watch);
		DWELL_ZONE("offspring");
		for (int at = kPopulation / 2; at < kPopulation; at++) {
			Gait &child = gaits[order[at]];
			const Gait &one = gaits[order[random() % (kPopulation / 2)]], &other = gaits[order[random() % (kPopulation / 2)]];
			for (size_t w = 0; w < child.weights.size(); w++)
				child.weights[w] = (one.weights[w] + other.weights[w]) / 2 + 0.1f * normal(random);
		}
	}
	watch_tell(&watch);
	fprintf(stderr, "%s\n", status.text.c_str());
}
