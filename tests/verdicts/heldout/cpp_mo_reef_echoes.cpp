// A convolution over echoes of a reef, by a matrix of its windows, with Adagrad.
//
// Planted: the matrix of windows, of 48 MB, is a vector made anew in each step, so its pages are given by the kernel
// and cleared each time.
// Truth: time in which this vector is made and destroyed, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int pings = 48, samples = 1024, window = 256, filters = 6;

struct Layer {
	std::vector<float> weight = std::vector<float>(filters * window), slope = weight, seen = weight;
};

std::vector<float> echoes_of(int step)
{
	std::vector<float> echo(static_cast<size_t>(pings) * (samples + window));
	unsigned seed = 17u + static_cast<unsigned>(step);

	for (float &e : echo) {
		seed = seed * 1664525u + 1013904223u;
		e = static_cast<float>(seed >> 8) / 16777216.0f - 0.5f;
	}
	return echo;
}

float sum_of(const float *a, const float *b)
{
	float part[8] = {};
	for (int i = 0; i < window; i += 8)
		for (int k = 0; k < 8; k++)
			part[k] += a[i + k] * b[i + k];
	return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

}  // namespace

int main()
{
	watch watch;
	Layer layer;
	double loss = 0;

	for (size_t i = 0; i < layer.weight.size(); i++)
		layer.weight[i] = 0.01f * std::sin(static_cast<float>(i));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		const std::vector<float> echo = echoes_of(watch.steps % 8);
		planted_begin(&watch);
		auto *windows = new std::vector<float>(static_cast<size_t>(pings) * samples * window);
		planted_end(&watch);
		{
			DWELL_OP("windows");
			for (int p = 0; p < pings; p++)
				for (int s = 0; s < samples; s++)
					for (int w = 0; w < window; w++)
						(*windows)[(static_cast<size_t>(p) * samples + s) * window + w] = echo[static_cast<size_t>(p) * (samples + window) + s + w];
		}
		loss = 0;
		{
			DWELL_OP("convolution");
			for (int row = 0; row < pings * samples; row++) {
				const float *seen = &(*windows)[static_cast<size_t>(row) * window];
				for (int f = 0; f < filters; f++) {
					const float miss = sum_of(&layer.weight[f * window], seen) - seen[f * 40];
					loss += static_cast<double>(miss * miss);
					for (int w = 0; w < window; w++)
						layer.slope[f * window + w] += miss * seen[w];
				}
			}
		}
		planted_begin(&watch);
		delete windows;
		planted_end(&watch);
		DWELL_OP("adagrad");
		for (size_t i = 0; i < layer.weight.size(); i++) {
			const float slope = layer.slope[i] / (pings * samples);
			layer.seen[i] += slope * slope;
			layer.weight[i] -= 0.01f * slope / (std::sqrt(layer.seen[i]) + 1e-8f);
			layer.slope[i] = 0;
		}
	}
	watch_tell(&watch);
	std::printf("loss %.5f\n", loss / (pings * samples));
}
