// Hears whether a hive will swarm: spectral bands by filters, a dense network, trained by hand on batches of clips.
// A keeper's thread shows the state, a journal is written, weights are kept, and a lock guards the state.
//
// Decoy: a thread that naps, a lock it shares, a flushed journal, new vectors and kept weights, all of a moment beside the filters.
// Truth: time of the lock, the journal, the copies and the kept weights, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

constexpr int kBands = 40, kTaps = 48, kSamples = 2048, kHidden = 32, kClips = 6;

struct State {
	std::mutex mutex;
	float loss = 0;
	long clips = 0;
};

class Hive {
public:
	explicit Hive(std::mt19937 &random) : taps(kBands * kTaps), w1(kHidden * kBands), w2(kHidden)
	{
		std::normal_distribution<float> any(0, 0.2f);
		for (auto *all : {&taps, &w1, &w2})
			for (auto &w : *all)
				w = any(random);
	}

	void bands(const std::vector<float> &clip, std::vector<float> &to) const
	{
		DWELL_ZONE("bands");
		for (int b = 0; b < kBands; b++) {
			const float *w = &taps[b * kTaps];
			float energy = 0;
			for (int t = 0; t + kTaps < kSamples; t++) {
				float sum = 0;
				for (int k = 0; k < kTaps; k++)
					sum += w[k] * clip[t + k];
				energy += sum * sum;
			}
			to[b] = std::log1p(energy / kSamples);
		}
	}

	float learn(const std::vector<float> &seen, float swarms)
	{
		DWELL_ZONE("dense");
		float hidden[kHidden], logit = 0;
		for (int h = 0; h < kHidden; h++) {
			float sum = 0;
			for (int b = 0; b < kBands; b++)
				sum += w1[h * kBands + b] * seen[b];
			hidden[h] = std::tanh(sum);
			logit += w2[h] * hidden[h];
		}
		const float error = 1 / (1 + std::exp(-logit)) - swarms;
		for (int h = 0; h < kHidden; h++) {
			const float slope = error * w2[h] * (1 - hidden[h] * hidden[h]);
			w2[h] -= 1e-3f * error * hidden[h];
			for (int b = 0; b < kBands; b++)
				w1[h * kBands + b] -= 1e-3f * slope * seen[b];
		}
		return error * error;
	}

	std::vector<float> taps, w1, w2;
};

int main()
{
	std::mt19937 random(6);
	std::uniform_real_distribution<float> any(-1, 1);
	Hive hive(random);
	State state;
	std::atomic<bool> over{false};
	std::vector<std::vector<float>> clips(30, std::vector<float>(kSamples));
	for (auto &clip : clips)
		for (auto &x : clip)
			x = any(random);
	std::FILE *journal = std::tmpfile();
	std::thread keeper([&] {
		while (!over) {
			std::this_thread::sleep_for(std::chrono::milliseconds(100));
			std::lock_guard<std::mutex> hold(state.mutex);
			std::fprintf(stderr, "\rloss %.3f after %ld", state.loss, state.clips);
		}
	});
	watch stopwatch;

	watch_begin(&stopwatch);
	for (; watch_seconds(&stopwatch) < 6; stopwatch.steps++) {
		DWELL_STEP();
		float loss = 0;
		for (int c = 0; c < kClips; c++) {
			const auto &clip = clips[(stopwatch.steps * kClips + c) % clips.size()];
			std::vector<float> seen(kBands);
			hive.bands(clip, seen);
			loss += hive.learn(seen, clip[0] > 0 ? 1.0f : 0.0f);
		}
		planted_begin(&stopwatch);
		{
			DWELL_ZONE("state");
			std::lock_guard<std::mutex> hold(state.mutex);
			state.loss = loss / kClips;
			state.clips += kClips;
		}
		{
			DWELL_ZONE("journal");
			std::string line = "step " + std::to_string(stopwatch.steps) + " loss " + std::to_string(loss) + "\n";
			if (journal) {
				std::fputs(line.c_str(), journal);
				std::fflush(journal);
			}
		}
		if (stopwatch.steps % 10 == 0) {
			DWELL_ZONE("keep");
			std::vector<float> kept = hive.taps;
			kept.insert(kept.end(), hive.w1.begin(), hive.w1.end());
			if (journal)
				std::fwrite(kept.data(), sizeof(float), kept.size(), journal);
		}
		planted_end(&stopwatch);
	}
	watch_tell(&stopwatch);
	over = true;
	keeper.join();
	std::printf("loss %.4f\n", state.loss);
}
