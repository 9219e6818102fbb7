// Hears from the ticks of a clock what is worn in it: an autoencoder learns the ticks of sound clocks, one after the other, and a
// tick that it cannot repeat is suspicious.
//
// Decoy: a janitor's thread that takes the weights' lock between naps, a vector for each batch, a map from names to layers, a copy
// of all weights each hundredth batch, and a line with a flush each tenth, all of a moment.
// Truth: time of all that in the learning thread, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr size_t Samples = 192, Code = 48, Batch = 64, Ticks = 640;

struct Layer {
	size_t inputs, outputs;
	std::vector<float> weights, slopes;

	Layer(size_t inputs, size_t outputs, std::mt19937 &random)
	    : inputs(inputs), outputs(outputs), weights(inputs * outputs), slopes(inputs * outputs)
	{
		std::normal_distribution<float> normal(0, 0.07f);
		for (float &weight : weights)
			weight = normal(random);
	}
	void forward(const float *from, float *to) const
	{
		std::fill(to, to + outputs, 0.0f);
		for (size_t i = 0; i < inputs; i++)
			for (size_t o = 0; o < outputs; o++)
				to[o] += from[i] * weights[i * outputs + o];
	}
	void backward(const float *from, const float *error, float *back)
	{
		for (size_t i = 0; i < inputs; i++) {
			float sum = 0;
			for (size_t o = 0; o < outputs; o++) {
				slopes[i * outputs + o] += from[i] * error[o];
				sum += error[o] * weights[i * outputs + o];
			}
			back[i] = sum;
		}
	}
	void update(float rate)
	{
		for (size_t i = 0; i < weights.size(); i++) {
			weights[i] -= rate * slopes[i];
			slopes[i] = 0;
		}
	}
};

class Janitor {
public:
	explicit Janitor(std::mutex &mutex) : mutex_(mutex), thread_([this] {
		while (!done_) {
			{
				std::lock_guard<std::mutex> hold(mutex_);
				visits_++;
			}
			std::this_thread::sleep_for(std::chrono::milliseconds(25));
		}
	}) {}
	~Janitor()
	{
		done_ = true;
		thread_.join();
	}

private:
	std::mutex &mutex_;
	std::atomic<bool> done_{false};
	long visits_ = 0;
	std::thread thread_;
};

} // namespace

int main()
{
	std::mt19937 random(44);
	std::normal_distribution<float> noise(0, 0.1f);
	std::map<std::string, std::unique_ptr<Layer>> layers;
	layers["escapement"] = std::make_unique<Layer>(Samples, Code, random);
	layers["pendulum"] = std::make_unique<Layer>(Code, Samples, random);
	std::vector<float> ticks(Ticks * Samples), kept;
	for (size_t t = 0; t < ticks.size(); t++)
		ticks[t] = std::exp(-0.03f * static_cast<float>(t % Samples)) * std::sin(0.7f * static_cast<float>(t)) + noise(random);
	std::mutex mutex;
	std::ofstream diary("/dev/null");
	watch watch;
	float loss = 0;

	Janitor janitor(mutex);
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		planted_begin(&watch);
		const size_t first = static_cast<size_t>(watch.steps) * Batch % Ticks;
		std::vector<float> batch(ticks.begin() + first * Samples, ticks.begin() + (first + Batch) * Samples);
		std::unique_lock<std::mutex> hold(mutex);
		Layer &escapement = *layers.at("escapement"), &pendulum = *layers.at("pendulum");
		planted_end(&watch);
		{
			DWELL_ZONE("learn");
			loss = 0;
			for (size_t n = 0; n < Batch; n++) {
				float code[Code], repeated[Samples], at_code[Code], unused[Samples];
				const float *tick = &batch[n * Samples];

				escapement.forward(tick, code);
				for (float &value : code)
					value = std::tanh(value);
				pendulum.forward(code, repeated);
				for (size_t s = 0; s < Samples; s++) {
					repeated[s] = (repeated[s] - tick[s]) / Batch;
					loss += repeated[s] * repeated[s];
				}
				pendulum.backward(code, repeated, at_code);
				for (size_t c = 0; c < Code; c++)
					at_code[c] *= 1 - code[c] * code[c];
				escapement.backward(tick, at_code, unused);
			}
		}
		{
			DWELL_ZONE("update");
			for (auto &[name, layer] : layers)
				layer->update(0.05f);
		}
		hold.unlock();
		planted_begin(&watch);
		if (watch.steps % 100 == 0) {
			kept = escapement.weights;
			kept.insert(kept.end(), pendulum.weights.begin(), pendulum.weights.end());
		}
		if (watch.steps % 10 == 0)
			diary << "batch " << watch.steps << ", loss " << loss << std::endl;
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
	std::printf("loss %.5f, kept %zu\n", static_cast<double>(loss), kept.size());
}
