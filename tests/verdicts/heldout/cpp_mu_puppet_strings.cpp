/*
 * Teaches a marionette to bow: an evolution strategy tries changed weights of a controller on a simulated puppet of
 * springs, and moves towards those that bowed well.
 *
 * Decoy: a stage manager's thread naps and takes a lock, the weights are copied for each trial, results are in a map by name, a diary is
 * flushed and a curtain pauses now and then; all of that takes a moment.
 * Truth: time of the lock, the copies, the map, the diary and the pauses, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>
#include <cstdio>

namespace {

constexpr int joints = 24, hidden = 48, moments = 60, trials = 24;
using Weights = std::vector<float>;

struct Stage {
	std::mutex lock;
	double applause = 0;
	std::atomic<bool> closed{false};
};

void manage(Stage *stage)
{
	while (!stage->closed) {
		{
			const std::lock_guard<std::mutex> guard(stage->lock);
			stage->applause *= 0.5;
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(4));
	}
}

float bow(const Weights &w, int scene)
{
	float place[joints], speed[joints] = {}, unit[hidden], reward = 0;

	for (int j = 0; j < joints; j++)
		place[j] = 0.2f * std::sin((float)(j + scene));
	for (int t = 0; t < moments; t++) {
		for (int h = 0; h < hidden; h++) {
			float sum = 0.05f * (float)(t % 7);
			for (int j = 0; j < joints; j++)
				sum += w[h * joints + j] * place[j];
			unit[h] = sum / (1 + std::fabs(sum));
		}
		for (int j = 0; j < joints; j++) {
			float pull = 0;
			for (int h = 0; h < hidden; h++)
				pull += w[hidden * joints + j * hidden + h] * unit[h];
			const float left = place[(j + joints - 1) % joints], right = place[(j + 1) % joints];
			speed[j] = 0.9f * speed[j] + 0.1f * (pull + left + right - 2 * place[j] - 0.3f * place[j]);
		}
		for (int j = 0; j < joints; j++) {
			place[j] += 0.2f * speed[j];
			reward -= (place[j] - 0.5f) * (place[j] - 0.5f);
		}
	}
	return reward / moments;
}

} // namespace

int main()
{
	Stage stage;
	std::thread manager(manage, &stage);
	std::mt19937 dice(8);
	std::normal_distribution<float> normal;
	std::ofstream diary("puppet.log");
	std::map<std::string, float> best;
	Weights weights(2 * hidden * joints);
	std::vector<Weights> noise(trials, weights);
	watch watch;

	for (float &w : weights)
		w = 0.2f * normal(dice);
	for (auto &one : noise)
		for (float &n : one)
			n = normal(dice);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		float reward[trials], mean = 0;
		for (int t = 0; t < trials; t++) {
			planted_begin(&watch);
			Weights tried = weights;
			planted_end(&watch);
			const Weights &change = noise[(size_t)(t + watch.steps) % trials];
			for (size_t i = 0; i < tried.size(); i++)
				tried[i] += 0.02f * change[i];
			DWELL_ZONE("bow");
			reward[t] = bow(tried, (int)(watch.steps % 10));
			mean += reward[t] / trials;
		}
		{
			DWELL_ZONE("strategy");
			for (int t = 0; t < trials; t++)
				for (size_t i = 0; i < weights.size(); i++)
					weights[i] += 1e-3f * (reward[t] - mean) * noise[(size_t)(t + watch.steps) % trials][i];
		}
		planted_begin(&watch);
		best["scene " + std::to_string(watch.steps % 10)] = mean;
		{
			const std::lock_guard<std::mutex> guard(stage.lock);
			stage.applause += mean;
		}
		if (watch.steps % 20 == 0)
			diary << watch.steps << ' ' << mean << std::endl;
		if (watch.steps % 100 == 0)
			std::this_thread::sleep_for(std::chrono::milliseconds(2));
		planted_end(&watch);
	}
	watch_tell(&watch);
	stage.closed = true;
	manager.join();
	std::printf("%zu scenes, %.4f\n", best.size(), (double)best.begin()->second);
}
