// Tells bells of towers apart by their partials: a network of two layers over spectra, trained with momentum.
//
// Decoy: a vector of a batch that is given by value, a map of towers by name, a thread that sleeps, a mutex, a flushed line
// and saved weights look costly; each takes a moment.
// Truth: time of all of these in the loop's thread, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int partials = 128, hidden = 96, towers = 12, batch = 64;

struct Dense {
	int in, out;
	std::vector<float> weight, gradient, speed;

	Dense(int from, int to, std::mt19937 &random)
	    : in(from), out(to), weight(static_cast<std::size_t>(from * to)), gradient(weight.size()), speed(weight.size())
	{
		std::normal_distribution<float> any(0, 1 / std::sqrt(static_cast<float>(from)));
		for (float &w : weight)
			w = any(random);
	}
	void forward(const float *from, float *to) const
	{
		for (int o = 0; o < out; o++)
			to[o] = 0;
		for (int i = 0; i < in; i++)
			for (int o = 0; o < out; o++)
				to[o] += from[i] * weight[static_cast<std::size_t>(i * out + o)];
	}
	void backward(const float *from, const float *error, float *back)
	{
		for (int i = 0; i < in; i++) {
			float sum = 0;
			for (int o = 0; o < out; o++) {
				gradient[static_cast<std::size_t>(i * out + o)] += from[i] * error[o];
				sum += weight[static_cast<std::size_t>(i * out + o)] * error[o];
			}
			back[i] = sum;
		}
	}
	void step()
	{
		for (std::size_t w = 0; w < weight.size(); w++) {
			speed[w] = 0.9f * speed[w] + gradient[w] / batch;
			weight[w] -= 0.01f * speed[w];
			gradient[w] = 0;
		}
	}
};

struct Ring {
	std::vector<float> spectrum;
	std::string tower;
};

float energy(std::vector<float> spectrum) // by value
{
	float sum = 0;
	for (float s : spectrum)
		sum += s * s;
	return sum;
}

} // namespace

int main()
{
	static struct watch watch;
	std::mt19937 random(31);
	std::normal_distribution<float> any(0, 0.5f);
	Dense first(partials, hidden, random), second(hidden, towers, random);
	std::map<std::string, int> number;
	std::mutex lock;
	std::atomic<bool> stop{false};
	std::map<std::string, int> rung;
	for (int t = 0; t < towers; t++)
		number["tower of the " + std::to_string(t) + "th parish"] = t;
	std::thread clockwork([&] {
		while (!stop) {
			std::this_thread::sleep_for(std::chrono::milliseconds(25));
			const std::lock_guard<std::mutex> guard(lock);
			rung["hours"]++;
		}
	});
	float loss = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		std::vector<Ring> rings(batch);
		{
			DWELL_ZONE("rings");
			for (Ring &ring : rings) {
				const int t = static_cast<int>(random() % towers);
				ring.tower = "tower of the " + std::to_string(t) + "th parish";
				ring.spectrum.resize(partials);
				for (int p = 0; p < partials; p++)
					ring.spectrum[static_cast<std::size_t>(p)] = any(random) + ((p * (t + 3)) % 17 == 0 ? 1.0f : 0.0f);
			}
		}
		planted_begin(&watch);
		float power = 0;
		int labels[batch];
		for (int b = 0; b < batch; b++) {
			labels[b] = number.at(rings[static_cast<std::size_t>(b)].tower);
			power += energy(rings[static_cast<std::size_t>(b)].spectrum);
		}
		{
			const std::lock_guard<std::mutex> guard(lock);
			rung[rings[0].tower]++;
		}
		if (watch.steps % 50 == 25) {
			std::fprintf(stderr, "%ld %.3f %.1f\n", static_cast<long>(watch.steps), loss, power);
			std::fflush(stderr);
		}
		if (watch.steps % 400 == 200)
			if (std::FILE *file = std::fopen("bells.weights", "wb")) {
				std::fwrite(first.weight.data(), sizeof(float), first.weight.size(), file);
				std::fclose(file);
			}
		planted_end(&watch);
		loss = 0;
		{
			DWELL_ZONE("learn");
			for (int b = 0; b < batch; b++) {
				const float *spectrum = rings[static_cast<std::size_t>(b)].spectrum.data();
				float state[hidden], odds[towers], total = 0, back[hidden], unused[partials];
				first.forward(spectrum, state);
				for (float &s : state)
					s = std::tanh(s);
				second.forward(state, odds);
				for (float &o : odds)
					total += o = std::exp(o);
				for (float &o : odds)
					o /= total;
				loss -= std::log(odds[labels[b]] + 1e-9f) / batch;
				odds[labels[b]] -= 1;
				second.backward(state, odds, back);
				for (int h = 0; h < hidden; h++)
					back[h] *= 1 - state[h] * state[h];
				first.backward(spectrum, back, unused);
			}
		}
		DWELL_ZONE("momentum");
		first.step();
		second.step();
	}
	watch_tell(&watch);
	stop = true;
	clockwork.join();
	std::remove("bells.weights");
	std::printf("loss %.4f\n", loss);
	return 0;
}
