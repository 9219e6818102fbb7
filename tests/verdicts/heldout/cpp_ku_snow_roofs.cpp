// Predicts the load of snow on roofs with a factorization machine of pairs of fields; two threads of OpenMP have equal
// halves of each batch, and gradients of their own.
//
// Clean: each step is the same work on the same number of roofs.
// Truth: time in which one thread adds the gradients of both, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <omp.h>
#include <random>
#include <vector>

namespace {

constexpr int fields = 26, levels = 40, rank = 24, roofs = 1600, threads = 2;
constexpr size_t size = static_cast<size_t>(fields) * levels * rank;

struct Roof {
	int level[fields];
	float load;
};

struct Share {
	alignas(64) float gradient[size];
	double loss;
};

Share shares[threads];
float factor[size];
Roof roof[8 * roofs];

const float *row(const Roof &r, int f) { return factor + (static_cast<size_t>(f) * levels + static_cast<size_t>(r.level[f])) * rank; }

void learn(const Roof &r, Share &mine)
{
	// All pairs are written out, since each pair has a weight of its own.
	float pull[fields][rank] = {}, said = 0;

	for (int f = 0; f < fields; f++)
		for (int g = f + 1; g < fields; g++) {
			const float *a = row(r, f), *b = row(r, g);
			const float weight = 1.0f / static_cast<float>(8 + (f * g) % 7);
			float product = 0;
			for (int k = 0; k < rank; k++)
				product += a[k] * b[k];
			said += weight * product;
			for (int k = 0; k < rank; k++) {
				pull[f][k] += weight * b[k];
				pull[g][k] += weight * a[k];
			}
		}
	const float wrong = said - r.load;
	mine.loss += static_cast<double>(wrong * wrong);
	for (int f = 0; f < fields; f++) {
		float *to = mine.gradient + (static_cast<size_t>(f) * levels + static_cast<size_t>(r.level[f])) * rank;
		for (int k = 0; k < rank; k++)
			to[k] += wrong * pull[f][k];
	}
}

}  // namespace

int main()
{
	watch watch;
	std::mt19937 random(2);
	std::normal_distribution<float> small(0, 0.1f);
	double loss = 0;

	for (float &x : factor)
		x = small(random);
	for (auto &r : roof) {
		for (int &level : r.level)
			level = static_cast<int>(random() % levels);
		r.load = 0.02f * static_cast<float>(r.level[3] + r.level[9]);
	}
	omp_set_num_threads(threads);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const Roof *batch = roof + watch.steps % 8 * roofs;
		{
			DWELL_ZONE("pairs");
#pragma omp parallel
			{
				Share &mine = shares[omp_get_thread_num()];
				mine.loss = 0;
#pragma omp for schedule(static)
				for (int i = 0; i < roofs; i++)
					learn(batch[i], mine);
			}
		}
		DWELL_ZONE("update");
		planted_begin(&watch);
		loss = 0;
		for (auto &share : shares) {
			loss += share.loss;
			for (size_t i = 0; i < size; i++) {
				factor[i] -= 0.2f / roofs * share.gradient[i];
				share.gradient[i] *= 0.5f;
			}
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	std::printf("loss %.5f\n", loss / roofs);
}
