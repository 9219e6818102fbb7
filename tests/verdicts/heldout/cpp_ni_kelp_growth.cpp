// Growth of kelp forests seen from above: a network of three layers on patches, its batch shared out to threads of OpenMP.
//
// Clean: each step has the same 96 patches for two threads, who add their gradients up by ranges of the weights.
// Truth: nothing is planted; the clock is around the choice of the batch.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <omp.h>
#include <vector>

namespace {

constexpr int kIn = 192, kOne = 160, kTwo = 96, kOut = 8, kBatch = 96, kPatches = 1536, kThreads = 2;
constexpr int kWeights = kIn * kOne + kOne * kTwo + kTwo * kOut;

struct Net {
	std::vector<float> values = std::vector<float>(kWeights);
	float *one() { return values.data(); }
	float *two() { return one() + kIn * kOne; }
	float *out() { return two() + kOne * kTwo; }
};

void layer(const float *w, const float *in, int ins, float *out, int outs)
{
	for (int o = 0; o < outs; o++) {
		float sum = 0;
		for (int i = 0; i < ins; i++)
			sum += w[o * ins + i] * in[i];
		out[o] = sum;
	}
}

void back(const float *w, float *g, const float *in, int ins, const float *slope, int outs, float *to)
{
	for (int i = 0; to && i < ins; i++)
		to[i] = 0;
	for (int o = 0; o < outs; o++) {
		for (int i = 0; i < ins; i++)
			g[o * ins + i] += slope[o] * in[i];
		for (int i = 0; to && i < ins; i++)
			to[i] += slope[o] * w[o * ins + i];
	}
}

void sample(Net &net, Net &gradient, const float *patch, int label)
{
	float a[kOne], b[kTwo], c[kOut], da[kOne], db[kTwo];
	layer(net.one(), patch, kIn, a, kOne);
	for (float &v : a)
		v = std::tanh(v);
	layer(net.two(), a, kOne, b, kTwo);
	for (float &v : b)
		v = std::tanh(v);
	layer(net.out(), b, kTwo, c, kOut);
	for (int o = 0; o < kOut; o++)
		c[o] = 1 / (1 + std::exp(-c[o])) - (o == label ? 0.8f : 0.2f);
	back(net.out(), gradient.out(), b, kTwo, c, kOut, db);
	for (int i = 0; i < kTwo; i++)
		db[i] *= 1 - b[i] * b[i];
	back(net.two(), gradient.two(), a, kOne, db, kTwo, da);
	for (int i = 0; i < kOne; i++)
		da[i] *= 1 - a[i] * a[i];
	back(net.one(), gradient.one(), patch, kIn, da, kOne, nullptr);
}

}  // namespace

int main()
{
	Net net, gradients[kThreads];
	std::vector<float> patches(kPatches * kIn);
	unsigned seed = 31;
	auto noise = [&seed] {
		seed = seed * 1664525u + 1013904223u;
		return static_cast<float>(seed >> 9) / 4194304 - 1;
	};
	watch clock;

	for (float &p : patches)
		p = noise();
	for (float &w : net.values)
		w = noise() * 0.1f;
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		planted_begin(&clock);
		const int first = clock.steps * kBatch % kPatches;
		planted_end(&clock);
		{
			DWELL_ZONE("patches");
			const uint64_t team = DWELL_TEAM();
			#pragma omp parallel num_threads(kThreads)
			{
				DWELL_WORKER(team);
				Net &mine = gradients[omp_get_thread_num()];
				#pragma omp for schedule(static)
				for (int i = 0; i < kBatch; i++)
					sample(net, mine, &patches[(first + i) * kIn], (first + i) % kOut);
			}
		}
		DWELL_ZONE("update");
		const uint64_t team = DWELL_TEAM();
		#pragma omp parallel num_threads(kThreads)
		{
			DWELL_WORKER(team);
			#pragma omp for schedule(static)
			for (int w = 0; w < kWeights; w++) {
				float sum = 0;
				for (Net &gradient : gradients) {
					sum += gradient.values[w];
					gradient.values[w] = 0;
				}
				net.values[w] -= 0.01f / kBatch * sum;
			}
		}
	}
	watch_tell(&clock);
	std::printf("weight %g\n", static_cast<double>(net.values[5]));
}
