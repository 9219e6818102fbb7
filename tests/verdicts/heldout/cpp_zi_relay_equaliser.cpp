// An equaliser of a relay learns while it serves: a trainer's thread improves the taps of a bank of filters and a small network behind
// them, and another thread decodes the traffic with the same weights.
//
// Planted: the decoder holds the weights' lock while it decodes a whole burst, and the trainer waits for it before each update.
// Truth: time for which the trainer waits for the lock, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <cmath>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kTaps = 48, kFilters = 24, kUnits = 64, kSymbols = 840;

struct Weights {
	std::vector<float> taps = std::vector<float>(kFilters * kTaps), mix = std::vector<float>(kUnits * kFilters),
	                   out = std::vector<float>(kUnits);
};

struct Model {
	Weights weights;
	std::mutex lock;
};

struct Burst {
	std::vector<float> samples, symbols;
};

Burst receive(std::mt19937 &random, int symbols)
{
	Burst burst;
	std::normal_distribution<float> noise(0, 0.1f);
	burst.samples.assign(symbols + kTaps, 0);
	for (int n = 0; n < symbols; ++n) {
		const float symbol = random() % 2 ? 1.0f : -1.0f;
		burst.symbols.push_back(symbol);
		burst.samples[n + kTaps / 2] += symbol + noise(random);
		burst.samples[n + kTaps / 2 + 1] += 0.4f * symbol;
		burst.samples[n + kTaps / 2 + 3] -= 0.2f * symbol;
	}
	return burst;
}

float decide(const Weights &w, const float *samples, float *filtered, float *units)
{
	float sum = 0;
	for (int f = 0; f < kFilters; ++f) {
		filtered[f] = 0;
		for (int t = 0; t < kTaps; ++t)
			filtered[f] += w.taps[f * kTaps + t] * samples[t];
	}
	for (int u = 0; u < kUnits; ++u) {
		float x = 0;
		for (int f = 0; f < kFilters; ++f)
			x += w.mix[u * kFilters + f] * filtered[f];
		units[u] = std::tanh(x);
		sum += w.out[u] * units[u];
	}
	return sum;
}

// Serves: bursts of traffic come one after the other.
void serve(Model &model, std::atomic<bool> &stop, long &wrong)
{
	std::mt19937 random(3);
	float filtered[kFilters], units[kUnits];
	while (!stop) {
		const Burst burst = receive(random, 2200);
		{
			std::lock_guard<std::mutex> hold(model.lock);
			for (size_t n = 0; n < burst.symbols.size(); ++n)
				wrong += decide(model.weights, &burst.samples[n], filtered, units) * burst.symbols[n] < 0;
		}
		std::this_thread::sleep_for(std::chrono::microseconds(800)); // until the next burst is there
	}
}

class Trainer {
public:
	explicit Trainer(Model &model) : model_(model), own_(model.weights) {}

	float gradients(const Burst &burst)
	{
		DWELL_ZONE("gradients");
		float filtered[kFilters], units[kUnits], loss = 0;
		change_ = Weights();
		for (int n = 0; n < kSymbols; ++n) {
			const float *samples = &burst.samples[n];
			const float error = decide(own_, samples, filtered, units) - burst.symbols[n];
			float back[kFilters] = {};
			loss += error * error;
			for (int u = 0; u < kUnits; ++u) {
				const float d = error * own_.out[u] * (1 - units[u] * units[u]);
				change_.out[u] += error * units[u];
				for (int f = 0; f < kFilters; ++f) {
					back[f] += d * own_.mix[u * kFilters + f];
					change_.mix[u * kFilters + f] += d * filtered[f];
				}
			}
			for (int f = 0; f < kFilters; ++f)
				for (int t = 0; t < kTaps; ++t)
					change_.taps[f * kTaps + t] += back[f] * samples[t];
		}
		return loss / kSymbols;
	}

	void publish(watch &clock)
	{
		DWELL_ZONE("update");
		const float rate = 0.01f / kSymbols;
		planted_begin(&clock);
		model_.lock.lock();
		planted_end(&clock);
		Weights &all = model_.weights;
		for (size_t i = 0; i < all.taps.size(); ++i)
			own_.taps[i] = all.taps[i] -= rate * change_.taps[i];
		for (size_t i = 0; i < all.mix.size(); ++i)
			own_.mix[i] = all.mix[i] -= rate * change_.mix[i];
		for (size_t i = 0; i < all.out.size(); ++i)
			own_.out[i] = all.out[i] -= rate * change_.out[i];
		model_.lock.unlock();
	}

private:
	Model &model_;
	Weights own_, change_; // the trainer reads a copy, so that the decoder may go on
};

} // namespace

int main()
{
	std::mt19937 random(29);
	std::normal_distribution<float> normal(0, 1);
	Model model;
	for (float &w : model.weights.taps)
		w = normal(random) / 8;
	for (float &w : model.weights.mix)
		w = normal(random) / 5;
	for (float &w : model.weights.out)
		w = normal(random) / 8;
	std::vector<Burst> pilots;
	for (int p = 0; p < 12; ++p)
		pilots.push_back(receive(random, kSymbols));
	Trainer trainer(model);
	std::atomic<bool> stop{false};
	long wrong = 0;
	float loss = 0;
	watch clock{};
	std::thread decoder(serve, std::ref(model), std::ref(stop), std::ref(wrong));

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		loss = trainer.gradients(pilots[clock.steps % 12]);
		trainer.publish(clock);
	}
	watch_tell(&clock);
	stop = true;
	decoder.join();
	std::printf("loss %.4f, %ld wrong\n", loss, wrong);
}
