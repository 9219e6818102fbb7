// Learns when a glider should circle in a thermal: Q-learning with a memory that prefers what surprised most.
//
// Planted: the memory is a sorted std::vector, each new experience is inserted at its place, which moves half of what
// is there, and nothing is ever dropped.
// Truth: time of the insertions, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int kSenses = 10, kUnits = 36, kTurns = 4, kBatch = 48, kGliders = 44;

struct Experience {
	float surprise;
	int turn;
	float reward;
	std::array<float, kSenses> before, after;
};

class Critic {
public:
	explicit Critic(std::mt19937 &random)
	{
		std::normal_distribution<float> small(0, 0.2f);
		for (auto &row : in_)
			for (auto &w : row)
				w = small(random);
		for (auto &row : out_)
			for (auto &w : row)
				w = small(random);
	}

	std::array<float, kTurns> values(const std::array<float, kSenses> &senses)
	{
		std::array<float, kTurns> q{};
		for (int u = 0; u < kUnits; u++) {
			float a = 0;
			for (int s = 0; s < kSenses; s++)
				a += in_[u][s] * senses[s];
			hidden_[u] = std::tanh(a);
			for (int t = 0; t < kTurns; t++)
				q[t] += out_[t][u] * hidden_[u];
		}
		return q;
	}

	float learn(const Experience &e)
	{
		const auto next = values(e.after);
		const float goal = e.reward + 0.95f * *std::max_element(next.begin(), next.end());
		const float error = goal - values(e.before)[e.turn];
		for (int u = 0; u < kUnits; u++) {
			const float back = error * out_[e.turn][u] * (1 - hidden_[u] * hidden_[u]);
			out_[e.turn][u] += 0.002f * error * hidden_[u];
			for (int s = 0; s < kSenses; s++)
				in_[u][s] += 0.002f * back * e.before[s];
		}
		return std::fabs(error);
	}

private:
	std::array<std::array<float, kSenses>, kUnits> in_;
	std::array<std::array<float, kUnits>, kTurns> out_;
	std::array<float, kUnits> hidden_;
};

class Memory {
public:
	void add(const Experience &e)
	{
		const auto place = std::lower_bound(kept_.begin(), kept_.end(), e,
		                                    [](const Experience &a, const Experience &b) { return a.surprise > b.surprise; });
		kept_.insert(place, e);
	}
	const Experience &draw(std::mt19937 &random) const
	{
		std::uniform_real_distribution<float> unit(0, 1);
		const float r = unit(random);
		return kept_[static_cast<size_t>(r * r * static_cast<float>(kept_.size() - 1))];
	}

private:
	std::vector<Experience> kept_;
};

struct Glider {
	std::array<float, kSenses> senses{};

	float fly(int turn, std::mt19937 &random)
	{
		std::normal_distribution<float> gust(0, 0.3f);
		for (int s = 0; s < kSenses; s++)
			senses[s] = 0.9f * senses[s] + gust(random) + (s % kTurns == turn ? 0.1f : -0.02f);
		return senses[turn] - 0.2f;
	}
};

}  // namespace

int main()
{
	std::mt19937 random(3);
	Critic critic(random);
	Memory memory;
	std::vector<Glider> sky(kGliders);
	double surprise = 0;
	watch clock;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6.5; clock.steps++) {
		DWELL_STEP();
		std::vector<Experience> flown;
		{
			DWELL_PHASE("fly");
			for (auto &glider : sky) {
				Experience e;
				e.before = glider.senses;
				const auto q = critic.values(e.before);
				e.turn = random() % 8 ? static_cast<int>(std::max_element(q.begin(), q.end()) - q.begin())
				                      : static_cast<int>(random() % kTurns);
				e.reward = glider.fly(e.turn, random);
				e.after = glider.senses;
				e.surprise = std::fabs(e.reward - q[e.turn]);
				flown.push_back(e);
			}
		}
		planted_begin(&clock);
		for (const auto &e : flown)
			memory.add(e);
		planted_end(&clock);
		DWELL_PHASE("learn");
		for (int pass = 0; pass < 24; pass++)
			for (int b = 0; b < kBatch; b++)
				surprise += critic.learn(memory.draw(random));
	}
	watch_tell(&clock);
	std::fprintf(stderr, "surprise %g\n", surprise / clock.steps);
}
