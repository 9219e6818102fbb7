// Distils a large model of odours into a small one. A thread of the teacher makes soft labels for the next batch.
//
// Planted: the teacher takes longer than the student, and the student asks in a loop with yield() whether it is ready.
// Truth: time that the student asks, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int batch = 128, sensors = 64, odours = 10;

struct Layer {
	int inputs, outputs;
	std::vector<float> weight;

	Layer(int in, int out, unsigned seed) : inputs(in), outputs(out), weight(static_cast<size_t>(in) * out)
	{
		std::mt19937 random(seed);
		std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(in)));
		for (auto &w : weight)
			w = normal(random);
	}

	void apply(const float *x, float *y, bool bend) const
	{
		for (int b = 0; b < batch; b++)
			for (int o = 0; o < outputs; o++) {
				float sum = 0;
				for (int i = 0; i < inputs; i++)
					sum += weight[static_cast<size_t>(o) * inputs + i] * x[b * inputs + i];
				y[b * outputs + o] = bend && sum < 0 ? 0 : sum;
			}
	}

	void learn(const float *x, const float *gradient, float *back)
	{
		if (back)
			std::fill(back, back + batch * inputs, 0.f);
		for (int b = 0; b < batch; b++)
			for (int o = 0; o < outputs; o++) {
				const float g = gradient[b * outputs + o];
				float *row = &weight[static_cast<size_t>(o) * inputs];
				for (int i = 0; i < inputs; i++) {
					if (back)
						back[b * inputs + i] += g * row[i];
					row[i] -= 0.05f * g * x[b * inputs + i];
				}
			}
	}
};

struct Slot {
	std::vector<float> air = std::vector<float>(batch * sensors), soft = std::vector<float>(batch * odours);
	std::atomic<bool> ready{false};
};

Slot slots[2];
std::atomic<bool> stop{false};

void soften(float *row)
{
	float sum = 0;
	for (int o = 0; o < odours; o++)
		sum += row[o] = std::exp(row[o]);
	for (int o = 0; o < odours; o++)
		row[o] /= sum;
}

void teach()
{
	const Layer first(sensors, 330, 1), second(330, 230, 2), third(230, odours, 3);
	std::vector<float> a(batch * 330), b(batch * 230);
	std::mt19937 random(4);
	std::uniform_real_distribution<float> uniform(-1, 1);

	for (int turn = 0; !stop; turn++) {
		Slot &slot = slots[turn % 2];
		while (slot.ready && !stop)
			std::this_thread::yield();
		DWELL_ZONE("teacher");
		for (auto &value : slot.air)
			value = uniform(random);
		first.apply(slot.air.data(), a.data(), true);
		second.apply(a.data(), b.data(), true);
		third.apply(b.data(), slot.soft.data(), false);
		for (int s = 0; s < batch; s++)
			soften(&slot.soft[s * odours]);
		slot.ready = true;
	}
}

}  // namespace

int main()
{
	watch watch;
	Layer first(sensors, 280, 5), second(280, odours, 6);
	std::vector<float> unit(batch * 280), said(batch * odours), back(batch * 280);
	std::thread teacher(teach);

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		Slot &slot = slots[watch.steps % 2];
		{
			DWELL_ZONE("ask teacher");
			planted_begin(&watch);
			while (!slot.ready)
				std::this_thread::yield();
			planted_end(&watch);
		}
		DWELL_ZONE("student");
		for (int pass = 0; pass < 2; pass++) {
			first.apply(slot.air.data(), unit.data(), true);
			second.apply(unit.data(), said.data(), false);
			for (int b = 0; b < batch; b++) {
				soften(&said[b * odours]);
				for (int o = 0; o < odours; o++)
					said[b * odours + o] = (said[b * odours + o] - slot.soft[b * odours + o]) / batch;
			}
			second.learn(unit.data(), said.data(), back.data());
			for (int i = 0; i < batch * 280; i++)
				if (unit[i] <= 0)
					back[i] = 0;
			first.learn(slot.air.data(), back.data(), nullptr);
		}
		slot.ready = false;
	}
	watch_tell(&watch);
	stop = true;
	teacher.join();
}
