// A mouse in a maze with episodic control: a network makes a key of what it sees, and values are those of the most similar
// keys that it remembers.
//
// Planted: each step remembers twelve more keys, none is ever forgotten, and all are searched one by one.
// Truth: time of this search, of the loop; it begins with next to nothing and grows with each step.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <vector>

namespace {

constexpr int kSight = 128, kKey = 24, kHidden = 160, kMoves = 12, kNearest = 5;
using Sight = std::array<float, kSight>;
using Key = std::array<float, kKey>;

struct Dice {
	unsigned state = 99;
	float operator()()
	{
		state = state * 1664525u + 1013904223u;
		return static_cast<float>(state >> 9) / 4194304 - 1;
	}
};

class Eye {
public:
	explicit Eye(Dice &dice) : first_(kHidden), second_(kKey)
	{
		for (auto &row : first_)
			for (float &w : row)
				w = dice() * 0.1f;
		for (auto &row : second_)
			for (float &w : row)
				w = dice() * 0.1f;
	}
	Key look(const Sight &sight)
	{
		Key key;
		for (int h = 0; h < kHidden; h++) {
			float sum = 0;
			for (int i = 0; i < kSight; i++)
				sum += first_[h][i] * sight[i];
			hidden_[h] = std::tanh(sum);
		}
		for (int k = 0; k < kKey; k++) {
			key[k] = 0;
			for (int h = 0; h < kHidden; h++)
				key[k] += second_[k][h] * hidden_[h];
		}
		return key;
	}
	// Pulls the key towards a code of the reward.
	void learn(const Sight &sight, const Key &key, float reward)
	{
		std::array<float, kHidden> back{};
		for (int k = 0; k < kKey; k++) {
			const float miss = key[k] - reward * (k % 2 ? 0.5f : -0.5f);
			for (int h = 0; h < kHidden; h++) {
				back[h] += miss * second_[k][h];
				second_[k][h] -= 1e-4f * miss * hidden_[h];
			}
		}
		for (int h = 0; h < kHidden; h++) {
			const float slope = 1e-4f * back[h] * (1 - hidden_[h] * hidden_[h]);
			for (int i = 0; i < kSight; i++)
				first_[h][i] -= slope * sight[i];
		}
	}

private:
	std::vector<std::array<float, kSight>> first_;
	std::vector<std::array<float, kHidden>> second_;
	std::array<float, kHidden> hidden_{};
};

struct Remembered {
	Key key;
	float value;
};

class Memory {
public:
	float value(const Key &key) const
	{
		std::array<std::pair<float, float>, kNearest> best;
		best.fill({1e30f, 0.f});
		for (const Remembered &one : all_) {
			float far = 0;
			for (int k = 0; k < kKey; k++)
				far += (one.key[k] - key[k]) * (one.key[k] - key[k]);
			if (far < best.back().first) {
				best.back() = {far, one.value};
				std::sort(best.begin(), best.end());
			}
		}
		float sum = 0, weight = 1e-6f;
		for (const auto &[far, value] : best) {
			sum += value / (far + 0.01f);
			weight += 1 / (far + 0.01f);
		}
		return sum / weight;
	}
	void add(const Key &key, float value) { all_.push_back({key, value}); }
	size_t size() const { return all_.size(); }

private:
	std::deque<Remembered> all_;
};

}  // namespace

int main()
{
	Dice dice;
	Eye eye(dice);
	Memory memory;
	watch clock;
	std::vector<Sight> sights(kMoves);
	float trust = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6.5; clock.steps++) {
		DWELL_STEP();
		for (Sight &sight : sights)
			for (float &pixel : sight)
				pixel = dice();
		for (int round = 0; round < 4; round++)  // each move is learnt from four times
			for (const Sight &sight : sights) {
				DWELL_ZONE("eye");
				const Key key = eye.look(sight);
				eye.learn(sight, key, sight[0]);
			}
		for (const Sight &sight : sights) {
			const Key key = eye.look(sight);
			planted_begin(&clock);
			trust += 0.01f * (memory.value(key) - trust);
			planted_end(&clock);
			memory.add(key, sight[0]);
		}
	}
	watch_tell(&clock);
	std::printf("%zu remembered, trust %g\n", memory.size(), static_cast<double>(trust));
}
