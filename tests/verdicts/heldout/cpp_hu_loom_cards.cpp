// Writes punched cards for a loom: a recurrent network with gates makes 40 rows of 64 holes for four patterns, greedily, one thread.
//
// Clean: nothing is planted; each step makes as many rows with the same network from one of six beginnings.
// Truth: nothing comes near a cause, 0.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <random>
#include <vector>

namespace {

constexpr int kHoles = 64, kState = 144, kRows = 40, kPatterns = 4;

class Matrix {
public:
	Matrix(int in, int out, std::mt19937 &random) : in_(in), out_(out), values_(static_cast<size_t>(in) * out)
	{
		std::normal_distribution<float> normal(0, 1.2f / std::sqrt(static_cast<float>(in)));
		for (float &value : values_)
			value = normal(random);
	}

	void add(const float *x, float *y) const
	{
		for (int i = 0; i < in_; ++i) {
			const float *row = &values_[static_cast<size_t>(i) * out_];
			for (int o = 0; o < out_; ++o)
				y[o] += x[i] * row[o];
		}
	}

private:
	int in_, out_;
	std::vector<float> values_;
};

float gate(float x) { return 1 / (1 + std::exp(-x)); }

struct Weaver {
	explicit Weaver(std::mt19937 &random)
	    : read(kHoles, 3 * kState, random), recall(kState, 2 * kState, random), renew(kState, kState, random),
	      punch(kState, kHoles, random)
	{
	}

	Matrix read, recall, renew, punch;
	float gates[3 * kState], held[kState], holes[kHoles];

	int row(float *state, float *card)
	{
		{
			DWELL_ZONE("read");
			for (int i = 0; i < 3 * kState; ++i)
				gates[i] = 0.02f * (i % 7 - 3);
			read.add(card, gates);
		}
		{
			DWELL_ZONE("recall");
			recall.add(state, gates);
			for (int s = 0; s < kState; ++s)
				held[s] = gate(gates[s]) * state[s];
			renew.add(held, gates + 2 * kState);
			for (int s = 0; s < kState; ++s) {
				const float keep = gate(gates[kState + s]);
				state[s] = keep * state[s] + (1 - keep) * std::tanh(gates[2 * kState + s]);
			}
		}
		DWELL_ZONE("punch");
		for (float &hole : holes)
			hole = 0;
		punch.add(state, holes);
		int count = 0;
		for (int h = 0; h < kHoles; ++h) {
			card[h] = holes[h] > 0 ? 1.0f : -1.0f;
			count += holes[h] > 0;
		}
		return count;
	}
};

} // namespace

int main()
{
	std::mt19937 random(23);
	Weaver weaver(random);
	watch clock{};
	long count = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		for (int pattern = 0; pattern < kPatterns; ++pattern) {
			float state[kState], card[kHoles];
			for (int s = 0; s < kState; ++s)
				state[s] = 0.3f * std::sin(0.37f * static_cast<float>(s * (clock.steps % 6 + 1) + pattern + 1));
			for (int h = 0; h < kHoles; ++h)
				card[h] = (h * (pattern + 3)) % 5 < 2 ? 1.0f : -1.0f;
			for (int r = 0; r < kRows; ++r)
				count += weaver.row(state, card);
		}
	}
	watch_tell(&clock);
	std::printf("%.1f holes a row\n", static_cast<double>(count) / clock.steps / (kRows * kPatterns));
}
