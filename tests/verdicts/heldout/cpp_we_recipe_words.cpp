// Writes recipes word by word: a small recurrent model, a vocabulary of 24,000 words, eight cooks at a time. Inference only.
//
// Planted: the sampler sorts all words by their logits with std::stable_sort to choose among the best twelve.
// Truth: time of the sampler's sort, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

constexpr int kWords = 24000, kState = 192, kCooks = 4, kBest = 12;

static watch stopwatch;

struct Cell {
	std::vector<float> in, keep, out, state;
	std::vector<float> words;

	explicit Cell(std::mt19937 &random)
		: in(kState * kState), keep(kState * kState), out(size_t{kWords} * kState), state(kCooks * kState, 0.1f), words(size_t{kWords} * kState)
	{
		std::uniform_real_distribution<float> any(-0.1f, 0.1f);
		for (auto *table : {&in, &keep, &out, &words})
			for (auto &w : *table)
				w = any(random);
	}

	void advance(int cook, int word)
	{
		DWELL_OP("cell");
		const float *x = &words[size_t(word) * kState];
		float *h = &state[cook * kState], next[kState];
		for (int o = 0; o < kState; o++) {
			float sum = 0;
			for (int i = 0; i < kState; i++)
				sum += in[o * kState + i] * x[i] + keep[o * kState + i] * h[i];
			next[o] = std::tanh(sum) * 0.5f + h[o] * 0.5f;
		}
		std::copy(next, next + kState, h);
	}

	void logits(int cook, std::vector<float> &to) const
	{
		DWELL_OP("logits");
		const float *h = &state[cook * kState];
		for (int w = 0; w < kWords; w++) {
			const float *row = &out[size_t(w) * kState];
			float sum = 0;
			for (int i = 0; i < kState; i++)
				sum += row[i] * h[i];
			to[w] = sum;
		}
	}
};

class Sampler {
public:
	int draw(const std::vector<float> &logits)
	{
		DWELL_OP("sample");
		planted_begin(&stopwatch);
		ranked_.resize(logits.size());
		for (size_t w = 0; w < logits.size(); w++)
			ranked_[w] = {logits[w], static_cast<int>(w)};
		std::stable_sort(ranked_.begin(), ranked_.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
		planted_end(&stopwatch);
		float total = 0, weights[kBest];
		for (int b = 0; b < kBest; b++)
			total += weights[b] = std::exp(ranked_[b].first - ranked_[0].first);
		float at = std::uniform_real_distribution<float>(0, total)(random_);
		for (int b = 0; b < kBest; b++)
			if ((at -= weights[b]) <= 0)
				return ranked_[b].second;
		return ranked_[0].second;
	}

private:
	std::mt19937 random_{8};
	std::vector<std::pair<float, int>> ranked_;
};

int main()
{
	std::mt19937 random(15);
	Cell cell(random);
	Sampler sampler;
	std::vector<float> logits(kWords);
	std::vector<int> last(kCooks, 1);
	long sum = 0;

	watch_begin(&stopwatch);
	for (; watch_seconds(&stopwatch) < 6; stopwatch.steps++) {
		DWELL_STEP();
		for (int cook = 0; cook < kCooks; cook++) {
			cell.advance(cook, last[cook]);
			cell.logits(cook, logits);
			last[cook] = sampler.draw(logits);
			sum += last[cook];
		}
	}
	watch_tell(&stopwatch);
	std::printf("words %ld\n", sum);
}
