/*
 * Divides echoes of a sounder into shoals that spawn and shoals that feed: a mixture of 24 distributions with heavy tails (Student's t),
 * fitted by expectation and maximisation. Two threads have half of the echoes each.
 *
 * Clean: each step computes the same sums over the same echoes, nothing is planted.
 * Truth: time of adding the two threads' sums, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include <omp.h>

namespace shoals {

constexpr int ECHOES = 16000, TRAITS = 16, SHOALS = 24, THREADS = 2;

struct Mixture {
	float middle[SHOALS][TRAITS], narrow[SHOALS], share[SHOALS];
};

struct alignas(64) Sums {
	float middle[SHOALS][TRAITS], weight[SHOALS], spread[SHOALS];
};

void expect(const std::vector<float> &echoes, const Mixture &m, Sums *sums)
{
	DWELL_OP("expect");
	const uint64_t team = DWELL_TEAM();

#pragma omp parallel num_threads(THREADS)
	{
		DWELL_WORKER(team);
		Sums &own = sums[omp_get_thread_num()];
		std::memset(&own, 0, sizeof own);
#pragma omp for schedule(static)
		for (int e = 0; e < ECHOES; e++) {
			const float *echo = &echoes[static_cast<size_t>(e) * TRAITS];
			float near[SHOALS], far[SHOALS], all = 0;
			for (int s = 0; s < SHOALS; s++) {
				float part[4] = {};
				for (int t = 0; t < TRAITS; t += 4)
					for (int k = 0; k < 4; k++) {
						const float d = echo[t + k] - m.middle[s][t + k];
						part[k] += d * d;
					}
				far[s] = part[0] + part[1] + part[2] + part[3];
				const float tail = 1 / (1 + far[s] * m.narrow[s]);
				near[s] = m.share[s] * tail * tail;
				all += near[s];
			}
			for (int s = 0; s < SHOALS; s++) {
				const float w = near[s] / all;
				own.weight[s] += w;
				own.spread[s] += w * far[s];
				for (int t = 0; t < TRAITS; t++)
					own.middle[s][t] += w * echo[t];
			}
		}
	}
}

void maximise(Mixture &m, const Sums &sums)
{
	DWELL_OP("maximise");
	for (int s = 0; s < SHOALS; s++) {
		const float w = sums.weight[s] + 1;
		m.share[s] = w / (ECHOES + SHOALS);
		m.narrow[s] = w / (sums.spread[s] + w);
		for (int t = 0; t < TRAITS; t++)
			m.middle[s][t] += 0.2f * (sums.middle[s][t] / w - m.middle[s][t]);
	}
}

}

int main()
{
	using namespace shoals;
	static watch watch;
	static Mixture mixture;
	static Sums sums[THREADS];
	std::vector<float> echoes(static_cast<size_t>(ECHOES) * TRAITS);

	for (size_t i = 0; i < echoes.size(); i++)
		echoes[i] = std::sin(static_cast<float>(i * 7919 % 10007)) + static_cast<float>(i / TRAITS % 5) * 0.5f;
	for (int s = 0; s < SHOALS; s++) {
		mixture.narrow[s] = 0.5f;
		mixture.share[s] = 1.0f / SHOALS;
		for (int t = 0; t < TRAITS; t++)
			mixture.middle[s][t] = std::cos(static_cast<float>(s * 31 + t)) + 1;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		expect(echoes, mixture, sums);
		planted_begin(&watch);
		for (size_t i = 0; i < sizeof(Sums) / sizeof(float); i++)
			(&sums[0].middle[0][0])[i] += (&sums[1].middle[0][0])[i];
		planted_end(&watch);
		maximise(mixture, sums[0]);
	}
	watch_tell(&watch);
	std::printf("share %.5f\n", static_cast<double>(mixture.share[3]));
}
