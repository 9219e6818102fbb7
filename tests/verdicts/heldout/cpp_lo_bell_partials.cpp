// Names the bells of a carillon by their partials: a network of two convolutions over spectra, trained by two threads
// of OpenMP.
//
// Clean: each thread takes half of the batch and keeps gradients of its own; all steps do the same.
// Truth: time of adding the gradients of both and of the update, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <omp.h>
#include <random>
#include <vector>

namespace {

constexpr int kBins = 128, kWide = 9, kFirst = 12, kSecond = 12, kBells = 16, kBatch = 32, kTeam = 2;
constexpr int kBetween = kBins - kWide + 1, kLast = kBetween - kWide + 1;

struct Weights {
	float first[kFirst][kWide], second[kSecond][kFirst][kWide], bell[kBells][kSecond];
};

struct Place {
	Weights slope;
	float low[kFirst][kBetween], high[kSecond][kLast], pooled[kSecond], back_low[kFirst][kBetween];
	double loss;
};

float leaky(float x) { return x > 0 ? x : 0.1f * x; }
float leaky_slope(float y) { return y > 0 ? 1.f : 0.1f; }

void stroke(const Weights &w, const float *spectrum, int bell, Place &p)
{
	for (int f = 0; f < kFirst; f++)
		for (int i = 0; i < kBetween; i++) {
			float a = 0;
			for (int k = 0; k < kWide; k++)
				a += w.first[f][k] * spectrum[i + k];
			p.low[f][i] = leaky(a);
		}
	for (int s = 0; s < kSecond; s++) {
		p.pooled[s] = 0;
		for (int i = 0; i < kLast; i++) {
			float a = 0;
			for (int f = 0; f < kFirst; f++)
				for (int k = 0; k < kWide; k++)
					a += w.second[s][f][k] * p.low[f][i + k];
			p.high[s][i] = leaky(a);
			p.pooled[s] += p.high[s][i] / kLast;
		}
	}
	float odds[kBells], sum = 0, back[kSecond] = {};
	for (int b = 0; b < kBells; b++) {
		float a = 0;
		for (int s = 0; s < kSecond; s++)
			a += w.bell[b][s] * p.pooled[s];
		sum += odds[b] = std::exp(a);
	}
	p.loss -= std::log(odds[bell] / sum);
	for (int b = 0; b < kBells; b++) {
		const float error = odds[b] / sum - (b == bell ? 1.f : 0.f);
		for (int s = 0; s < kSecond; s++) {
			p.slope.bell[b][s] += error * p.pooled[s];
			back[s] += error * w.bell[b][s];
		}
	}
	std::memset(p.back_low, 0, sizeof p.back_low);
	for (int s = 0; s < kSecond; s++)
		for (int i = 0; i < kLast; i++) {
			const float here = back[s] / kLast * leaky_slope(p.high[s][i]);
			for (int f = 0; f < kFirst; f++)
				for (int k = 0; k < kWide; k++) {
					p.slope.second[s][f][k] += here * p.low[f][i + k];
					p.back_low[f][i + k] += here * w.second[s][f][k];
				}
		}
	for (int f = 0; f < kFirst; f++)
		for (int i = 0; i < kBetween; i++) {
			const float here = p.back_low[f][i] * leaky_slope(p.low[f][i]);
			for (int k = 0; k < kWide; k++)
				p.slope.first[f][k] += here * spectrum[i + k];
		}
}

}  // namespace

int main()
{
	std::mt19937 random(6);
	std::normal_distribution<float> normal(0, 0.3f);
	std::vector<float> spectra(512 * kBins);
	std::vector<Place> places(kTeam);
	Weights weights, speed = {};
	watch clock;

	for (int n = 0; n < 512; n++)
		for (int i = 0; i < kBins; i++)
			spectra[n * kBins + i] = 0.3f * normal(random) + std::cos(static_cast<float>(i) * (1 + n % kBells) / 11);
	for (size_t i = 0; i < sizeof weights / sizeof(float); i++)
		reinterpret_cast<float *>(&weights)[i] = normal(random);
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		const int first = clock.steps * kBatch % 512;
		{
			DWELL_ZONE("strokes");
			const uint64_t team = DWELL_TEAM();
			#pragma omp parallel num_threads(kTeam)
			{
				DWELL_WORKER(team);
				Place &place = places[omp_get_thread_num()];
				std::memset(&place.slope, 0, sizeof place.slope);
				#pragma omp for schedule(static)
				for (int b = 0; b < kBatch; b++)
					stroke(weights, &spectra[(first + b) * kBins], (first + b) % kBells, place);
			}
		}
		DWELL_ZONE("update");
		planted_begin(&clock);
		for (size_t i = 0; i < sizeof weights / sizeof(float); i++) {
			float g = 0;
			for (const Place &place : places)
				g += reinterpret_cast<const float *>(&place.slope)[i];
			float &v = reinterpret_cast<float *>(&speed)[i];
			reinterpret_cast<float *>(&weights)[i] -= v = 0.9f * v + 0.0005f * g;
		}
		planted_end(&clock);
	}
	watch_tell(&clock);
	std::fprintf(stderr, "loss %g\n", places[0].loss);
}
