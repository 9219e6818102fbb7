// Fits how a pupil answers to light: a reservoir of neurons that stays as it is, and readouts that learn from it.
//
// Decoy: a lock that a thread with a nap shares, a map of names, a string for each step, a flushed line, a nap, a sorted
// list, a trial on kept-back eyes and a vector that grows, all of a moment.
// Truth: time of all of these together, of the loop.
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
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int neurons = 400, length = 40, readouts = 8;

struct Reservoir {
	std::vector<float> links = std::vector<float>(neurons * neurons), drive = std::vector<float>(neurons);
	std::vector<float> state = std::vector<float>(neurons), next = std::vector<float>(neurons);

	explicit Reservoir(std::mt19937 &random)
	{
		std::normal_distribution<float> any(0, 1.1f / std::sqrt(static_cast<float>(neurons)));
		for (float &w : links)
			w = any(random);
		for (float &w : drive)
			w = 10 * any(random);
	}

	void feel(float light)
	{
		for (size_t n = 0; n < neurons; n++) {
			float sum[4] = {drive[n] * light};
			const float *w = &links[n * neurons];
			for (size_t k = 0; k < neurons; k += 4)
				for (size_t j = 0; j < 4; j++)
					sum[j] += w[k + j] * state[k + j];
			next[n] = 0.6f * state[n] + 0.4f * std::tanh(sum[0] + sum[1] + sum[2] + sum[3]);
		}
		state.swap(next);
	}
};

}  // namespace

int main()
{
	std::mt19937 random(8);
	Reservoir eye(random);
	std::map<std::string, std::vector<float>> readout;
	for (int r = 0; r < readouts; r++)
		readout["pupil." + std::to_string(r)].assign(neurons, 0.0f);
	std::mutex mutex;
	double shown = 0;
	std::atomic<bool> done{false};
	std::thread display([&] {
		while (!done) {
			{
				std::lock_guard<std::mutex> lock(mutex);
				shown *= 0.5;
			}
			std::this_thread::sleep_for(std::chrono::milliseconds(20));
		}
	});
	std::ofstream diary("/dev/null");
	std::vector<double> losses;
	watch watch;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		float phase = static_cast<float>(random() % 628) / 100, width = 4;
		double loss = 0;
		for (int t = 0; t < length; t++) {
			{
				DWELL_ZONE("reservoir");
				eye.feel(std::sin(phase + 0.3f * static_cast<float>(t)) + static_cast<float>(random() % 100) / 500);
			}
			width += 0.2f * (3 - std::sin(phase + 0.3f * static_cast<float>(t)) - width);
			DWELL_ZONE("readout");
			int r = 0;
			for (auto &[name, weights] : readout) {
				float guess = 0, power = 0.1f;
				for (size_t n = 0; n < neurons; n++) {
					guess += weights[n] * eye.state[n];
					power += eye.state[n] * eye.state[n];
				}
				const float wrong = guess - width * (1 + 0.1f * static_cast<float>(r++));
				for (size_t n = 0; n < neurons; n++)
					weights[n] -= 0.3f * wrong * eye.state[n] / power;
				loss += static_cast<double>(wrong * wrong);
			}
		}
		planted_begin(&watch);
		losses.push_back(loss);
		{
			std::lock_guard<std::mutex> lock(mutex);
			shown += loss;
		}
		const std::string name = "pupil." + std::to_string(watch.steps % readouts);
		if (watch.steps % 10 == 0)
			diary << name << ' ' << readout.at(name)[3] << ' ' << loss << std::endl;
		if (watch.steps % 100 == 50) {
			DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "trial");
			auto kept = losses;
			std::sort(kept.begin(), kept.end());
			std::this_thread::sleep_for(std::chrono::milliseconds(1));
		}
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
	done = true;
	display.join();
	std::printf("loss %.4f\n", losses.back());
}
