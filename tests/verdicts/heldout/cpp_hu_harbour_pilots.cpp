// Learns how a pilot turns a ship from logged passages: a network with two hidden layers. Beside the training a thread publishes the
// weights as text for the bridge's display.
//
// Planted: the publisher holds the lock of the weights while it writes all numbers as text, and each update needs that lock.
// Truth: time for which the training waits for the lock, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

class Layer {
public:
	Layer(int from, int to, std::mt19937 &random) : from_(from), to_(to), weight(from * to), slope(from * to)
	{
		std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(from)));
		for (float &w : weight)
			w = normal(random);
	}

	void forward(const float *in, float *out, bool bend) const
	{
		std::fill(out, out + to_, 0.0f);
		for (int i = 0; i < from_; ++i)
			for (int o = 0; o < to_; ++o)
				out[o] += in[i] * weight[i * to_ + o];
		if (bend)
			for (int o = 0; o < to_; ++o)
				out[o] = std::tanh(out[o]);
	}

	/* `left`: slope at the outputs. `right`: where that at the inputs goes. */
	void backward(const float *in, const float *left, float *right)
	{
		for (int i = 0; i < from_; ++i) {
			float sum = 0;
			for (int o = 0; o < to_; ++o) {
				sum += left[o] * weight[i * to_ + o];
				slope[i * to_ + o] += left[o] * in[i];
			}
			right[i] = sum * (1 - in[i] * in[i]);
		}
	}

	void descend(float rate)
	{
		for (size_t i = 0; i < weight.size(); ++i) {
			weight[i] -= rate * slope[i];
			slope[i] = 0;
		}
	}

private:
	int from_, to_;

public:
	std::vector<float> weight, slope;
};

struct Pilot {
	explicit Pilot(std::mt19937 &random) : layers{{32, 160, random}, {160, 128, random}, {128, 2, random}} {}
	std::vector<Layer> layers;
	std::mutex mutex;
};

class Bridge {
public:
	explicit Bridge(Pilot &pilot) : pilot_(pilot), thread_([this] { publish(); }) {}
	~Bridge()
	{
		over_ = true;
		thread_.join();
	}

private:
	void publish()
	{
		while (!over_) {
			{
				const std::lock_guard<std::mutex> lock(pilot_.mutex);
				std::ostringstream page;
				page << std::setprecision(9);
				for (const Layer &layer : pilot_.layers)
					for (float w : layer.weight)
						page << w << ' ';
				page_ = page.str();
			}
			std::this_thread::sleep_for(std::chrono::milliseconds(2));
		}
	}

	Pilot &pilot_;
	std::string page_;
	std::atomic<bool> over_{false};
	std::thread thread_;
};

int main()
{
	std::mt19937 random(5);
	std::uniform_real_distribution<float> even(-1, 1);
	Pilot pilot(random);
	std::vector<std::array<float, 32>> passages(800);
	for (auto &passage : passages)
		for (float &value : passage)
			value = even(random);
	Bridge bridge(pilot);
	watch clock{};
	float first[160], second[128], helm[2], left[2], mid[128], low[160], none[32];
	float loss = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		loss = 0;
		for (int b = 0; b < 48; ++b) {
			const float *passage = passages[(clock.steps * 48 + b) % passages.size()].data();
			{
				DWELL_ZONE("forward");
				pilot.layers[0].forward(passage, first, true);
				pilot.layers[1].forward(first, second, true);
				pilot.layers[2].forward(second, helm, false);
			}
			left[0] = helm[0] - 0.5f * passage[3] * passage[4];
			left[1] = helm[1] - 0.5f * passage[9];
			loss += left[0] * left[0] + left[1] * left[1];
			DWELL_ZONE("backward");
			pilot.layers[2].backward(second, left, mid);
			pilot.layers[1].backward(first, mid, low);
			pilot.layers[0].backward(passage, low, none);
		}
		DWELL_ZONE("update");
		planted_begin(&clock);
		const std::lock_guard<std::mutex> lock(pilot.mutex);
		planted_end(&clock);
		for (Layer &layer : pilot.layers)
			layer.descend(0.0005f);
	}
	watch_tell(&clock);
	std::printf("loss %.4f\n", loss / 48);
}
