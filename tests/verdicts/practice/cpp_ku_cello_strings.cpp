// Estimates bow pressure from the sound of a cello: a helper thread follows the resonances of the body while the main
// thread computes the spectrum of the strings; a small regression learns from both.
//
// Planted: the helper has the longer part, and the main thread spins at an atomic counter until it has done it.
// Truth: time of this spinning, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

constexpr int frame = 2048, harmonics = 60, resonances = 76, features = harmonics + resonances;

std::vector<float> sound(frame);
std::array<float, features> feature;
std::atomic<unsigned> asked{0}, done{0};
std::atomic<bool> stops{false};

void play(unsigned step)
{
	const float pitch = 0.03f + 0.0001f * static_cast<float>(step % 100);
	unsigned noise = step + 1;

	for (int t = 0; t < frame; t++) {
		noise = noise * 1664525u + 1013904223u;
		sound[t] = std::sin(pitch * static_cast<float>(t)) + 0.3f * std::sin(2.01f * pitch * static_cast<float>(t)) +
		           1e-10f * static_cast<float>(noise >> 4);
	}
}

// Goertzel's filter for each harmonic, with a window.
void spectrum()
{
	for (int pass = 0; pass < 20; pass++)
		for (int h = 0; h < harmonics; h++) {
			const float coefficient = 2 * std::cos(0.031f * static_cast<float>(h + 1));
			float a = 0, b = 0;
			for (int t = 0; t < frame; t++) {
				const float c = sound[t] + coefficient * a - b;
				b = a;
				a = c;
			}
			feature[h] = std::log(1e-3f + std::fabs(a * a + b * b - coefficient * a * b)) * 0.1f;
		}
}

// Resonators with damping; their energy is the feature.
void body()
{
	for (int pass = 0; pass < 20; pass++)
		for (int r = 0; r < resonances; r++) {
			const float turn = 1.9f * std::cos(0.02f * static_cast<float>(r + 1));
			float a = 0.1f, b = 0, energy = 0;
			for (int t = 0; t < frame; t++) {
				const float c = 0.05f * sound[t] + turn * a - 0.93f * b;
				b = a;
				a = c;
				energy += a * a;
			}
			feature[harmonics + r] = std::log(1e-3f + energy) * 0.1f;
		}
}

void helper()
{
	for (unsigned next = 1;; next++) {
		while (asked.load(std::memory_order_acquire) < next)
			if (stops)
				return;
		body();
		done.store(next, std::memory_order_release);
	}
}

}  // namespace

int main()
{
	watch watch;
	std::array<float, features> weight{};
	std::thread second(helper);
	float loss = 0;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const auto number = static_cast<unsigned>(watch.steps) + 1;
		{
			DWELL_ZONE("sound");
			play(number);
		}
		asked.store(number, std::memory_order_release);
		{
			DWELL_ZONE("strings");
			spectrum();
		}
		{
			DWELL_ZONE("join body");
			planted_begin(&watch);
			while (done.load(std::memory_order_acquire) < number)
				;
			planted_end(&watch);
		}
		DWELL_ZONE("regression");
		float said = 0;
		const float pressure = 0.2f + 0.005f * static_cast<float>(number % 100);
		for (int f = 0; f < features; f++)
			said += weight[f] * feature[f];
		for (int f = 0; f < features; f++)
			weight[f] -= 0.002f * (said - pressure) * feature[f];
		loss = (said - pressure) * (said - pressure);
	}
	watch_tell(&watch);
	stops = true;
	second.join();
	std::printf("loss %.5f\n", static_cast<double>(loss));
}
