// Names the button that a concertina plays: a gated recurrent unit over 24 frames, batches in two equal halves.
//
// Clean: both threads have the same number of recordings, each its own buffers and gradients, which are added at the end.
// Truth: time of adding the gradients, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <omp.h>
#include <random>
#include <vector>

namespace {

constexpr int kBands = 20, kState = 32, kButtons = 12, kFrames = 24, kHalf = 24;

struct Weights {
	float update[kState][kBands + kState], fresh[kState][kBands + kState], out[kButtons][kState];

	float *begin() { return &update[0][0]; }
	static constexpr size_t size() { return sizeof(Weights) / sizeof(float); }
};

struct Tape {
	float seen[kFrames + 1][kBands + kState], gate[kFrames][kState], fresh[kFrames][kState];
	Weights gradient;
	float loss;
};

float squash(float a) { return 1 / (1 + std::exp(-a)); }

void forward(const Weights &w, Tape &tape, const float (*sound)[kBands])
{
	DWELL_OP("gru");
	std::memset(tape.seen[0] + kBands, 0, sizeof(float) * kState);
	for (int t = 0; t < kFrames; t++) {
		float *seen = tape.seen[t], *next = tape.seen[t + 1] + kBands;
		std::memcpy(seen, sound[t], sizeof(float) * kBands);
		for (int s = 0; s < kState; s++) {
			float a = 0, b = 0;
			for (int i = 0; i < kBands + kState; i++) {
				a += w.update[s][i] * seen[i];
				b += w.fresh[s][i] * seen[i];
			}
			tape.gate[t][s] = squash(a);
			tape.fresh[t][s] = std::tanh(b);
			next[s] = (1 - tape.gate[t][s]) * seen[kBands + s] + tape.gate[t][s] * tape.fresh[t][s];
		}
	}
}

void backward(const Weights &w, Tape &tape, int button)
{
	DWELL_OP("gru_backward");
	const float *last = tape.seen[kFrames] + kBands;
	float odds[kButtons], sum = 0, back[kState] = {0};

	for (int o = 0; o < kButtons; o++) {
		float a = 0;
		for (int s = 0; s < kState; s++)
			a += w.out[o][s] * last[s];
		sum += odds[o] = std::exp(a);
	}
	tape.loss -= std::log(odds[button] / sum);
	for (int o = 0; o < kButtons; o++) {
		const float e = odds[o] / sum - (o == button ? 1.f : 0.f);
		for (int s = 0; s < kState; s++) {
			tape.gradient.out[o][s] += e * last[s];
			back[s] += e * w.out[o][s];
		}
	}
	for (int t = kFrames - 1; t >= 0; t--) {
		const float *seen = tape.seen[t];
		float earlier[kBands + kState] = {0}, through[kState];

		for (int s = 0; s < kState; s++) {
			const float z = tape.gate[t][s], n = tape.fresh[t][s];
			const float a = back[s] * (n - seen[kBands + s]) * z * (1 - z), b = back[s] * z * (1 - n * n);
			for (int i = 0; i < kBands + kState; i++) {
				tape.gradient.update[s][i] += a * seen[i];
				tape.gradient.fresh[s][i] += b * seen[i];
				earlier[i] += a * w.update[s][i] + b * w.fresh[s][i];
			}
			through[s] = back[s] * (1 - z);
		}
		for (int s = 0; s < kState; s++)
			back[s] = through[s] + earlier[kBands + s];
	}
}

}  // namespace

int main()
{
	std::mt19937 random(8);
	std::normal_distribution<float> normal(0, 0.15f);
	auto w = std::make_unique<Weights>();
	std::vector<Tape> tapes(2);
	std::vector<float> sounds(static_cast<size_t>(256) * kFrames * kBands);
	float loss = 0;
	watch clock;

	for (size_t i = 0; i < Weights::size(); i++)
		w->begin()[i] = normal(random);
	for (size_t i = 0; i < sounds.size(); i++)
		sounds[i] = normal(random) + std::sin(static_cast<float>(i % kBands * (1 + i / (kFrames * kBands) % kButtons)) * 0.2f);
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("recordings");
			const uint64_t team = DWELL_TEAM();
			#pragma omp parallel num_threads(2)
			{
				DWELL_WORKER(team);
				const int half = omp_get_thread_num();
				std::memset(&tapes[half].gradient, 0, sizeof tapes[half].gradient);
				tapes[half].loss = 0;
				for (int r = 0; r < kHalf; r++) {
					const int number = (clock.steps * 48 + half * kHalf + r) % 256;
					forward(*w, tapes[half], reinterpret_cast<const float(*)[kBands]>(&sounds[static_cast<size_t>(number) * kFrames * kBands]));
					backward(*w, tapes[half], number % kButtons);
				}
			}
		}
		DWELL_ZONE("update");
		planted_begin(&clock);
		for (size_t i = 0; i < Weights::size(); i++)
			tapes[0].gradient.begin()[i] += tapes[1].gradient.begin()[i];
		planted_end(&clock);
		for (size_t i = 0; i < Weights::size(); i++)
			w->begin()[i] -= 0.02f / (2 * kHalf) * tapes[0].gradient.begin()[i];
		loss = (tapes[0].loss + tapes[1].loss) / (2 * kHalf);
	}
	watch_tell(&clock);
	std::fprintf(stderr, "loss %g\n", static_cast<double>(loss));
}
