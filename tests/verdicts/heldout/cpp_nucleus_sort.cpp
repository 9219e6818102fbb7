// Generates text with a small recurrent model: embedding, one GRU cell, logits over a vocabulary of
// 48,000 pieces, nucleus sampling.
//
// Planted: to find the nucleus, the sampler sorts the whole vocabulary for each token.
// Truth: time of the sort, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

static const int kVocabulary = 48000, kWidth = 128, kSeconds = 6;

class Model {
public:
	explicit Model(unsigned seed) : random_(seed)
	{
		fill(embedding_, kVocabulary * kWidth, 0.4f);
		for (auto &gate : gates_)
			fill(gate, kWidth * 2 * kWidth, 0.2f);
		fill(head_, kVocabulary * kWidth, 0.5f);
		state_.assign(kWidth, 0);
		probabilities_.resize(kVocabulary);
		order_.resize(kVocabulary);
	}

	int next(int token, struct watch *watch)
	{
		std::vector<float> joined(2 * kWidth);
		{
			DWELL_OP("embedding");
			std::copy_n(&embedding_[token * kWidth], kWidth, joined.begin());
			std::copy(state_.begin(), state_.end(), joined.begin() + kWidth);
		}
		recur(joined);
		{
			DWELL_OP("logits");
			for (int piece = 0; piece < kVocabulary; piece++) {
				float sum = 0;
				for (int at = 0; at < kWidth; at++)
					sum += head_[piece * kWidth + at] * state_[at];
				probabilities_[piece] = sum;
			}
		}
		{
			DWELL_OP("softmax");
			const float top = *std::max_element(probabilities_.begin(), probabilities_.end());
			float all = 0;
			for (float &value : probabilities_)
				all += value = std::exp(value - top);
			for (float &value : probabilities_)
				value /= all;
		}
		return sample(0.9f, watch);
	}

private:
	void fill(std::vector<float> &values, size_t count, float width)
	{
		std::normal_distribution<float> normal(0, width);
		values.resize(count);
		for (float &value : values)
			value = normal(random_);
	}

	void recur(const std::vector<float> &joined)
	{
		DWELL_OP("gru_cell");
		for (int unit = 0; unit < kWidth; unit++) {
			float sums[3] = {};
			for (int gate = 0; gate < 3; gate++)
				for (int at = 0; at < 2 * kWidth; at++)
					sums[gate] += gates_[gate][unit * 2 * kWidth + at] * joined[at];
			const float update = 1 / (1 + std::exp(-sums[0])), reset = 1 / (1 + std::exp(-sums[1]));
			state_[unit] = update * state_[unit] + (1 - update) * std::tanh(sums[2] * reset);
		}
	}

	int sample(float nucleus, struct watch *watch)
	{
		DWELL_OP("top_p");
		planted_begin(watch);
		std::iota(order_.begin(), order_.end(), 0);
		std::sort(order_.begin(), order_.end(), [this](int a, int b) { return probabilities_[a] > probabilities_[b]; });
		planted_end(watch);
		float left = std::uniform_real_distribution<float>(0, nucleus)(random_);
		for (int piece : order_)
			if ((left -= probabilities_[piece]) <= 0)
				return piece;
		return order_[0];
	}

	std::mt19937 random_;
	std::vector<float> embedding_, gates_[3], head_, state_, probabilities_;
	std::vector<int> order_;
};

int main()
{
	Model model(11);
	struct watch watch;
	int token = 1;

	watch_begin(&watch);
	while (watch_seconds(&watch) < kSeconds) {
		DWELL_STEP();
		token = model.next(token, &watch);
		watch.steps++;
	}
	watch_tell(&watch);
	printf("last piece: %d\n", token);
}
