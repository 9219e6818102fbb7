// Learns the value of chess endings by playing them out with a small value network; positions that were already learned from are left out.
//
// Planted: the positions that were seen are in a plain list that is searched from its beginning, so each step takes longer than the last.
// Truth: time of that search, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr size_t squares = 64, pieces = 5, facts = squares * pieces, inner = 512;

struct Position {
	std::array<uint8_t, pieces> at;
	bool operator==(const Position &other) const { return at == other.at; }
};

class Seen {
public:
	bool contains(const Position &position) const { return std::find(list.begin(), list.end(), position) != list.end(); }
	void add(const Position &position) { list.push_back(position); }
	size_t size() const { return list.size(); }

private:
	std::vector<Position> list;
};

class Value {
public:
	Value() : first(facts * inner), second(inner)
	{
		std::mt19937 random(5);
		std::normal_distribution<float> any(0, 0.1f);
		for (float &w : first)
			w = any(random);
		for (float &w : second)
			w = any(random);
	}

	float learn(const Position &position, float outcome)
	{
		std::array<float, inner> sum{};
		std::array<float, facts> board{};
		for (size_t p = 0; p < pieces; p++)
			for (size_t s = 0; s < squares; s++)  // how far each square is from the piece
				board[p * squares + s] = 1.0f / (1.0f + static_cast<float>(std::abs(static_cast<int>(s % 8) - position.at[p] % 8) +
				                                                           std::abs(static_cast<int>(s / 8) - position.at[p] / 8)));
		for (size_t i = 0; i < facts; i++)
			for (size_t j = 0; j < inner; j++)
				sum[j] += board[i] * first[i * inner + j];
		float value = 0;
		for (size_t j = 0; j < inner; j++)
			value += second[j] * (sum[j] = std::tanh(sum[j]));
		const float wrong = value - outcome;
		std::array<float, inner> back;
		for (size_t j = 0; j < inner; j++) {
			back[j] = wrong * second[j] * (1 - sum[j] * sum[j]);
			second[j] -= 0.001f * wrong * sum[j];
		}
		for (size_t i = 0; i < facts; i++)
			for (size_t j = 0; j < inner; j++)
				first[i * inner + j] -= 0.001f * back[j] * board[i];
		return wrong * wrong;
	}

private:
	std::vector<float> first, second;
};

}  // namespace

int main()
{
	watch watch;
	Seen seen;
	Value value;
	std::mt19937 random(11);
	float loss = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 7; watch.steps++) {
		DWELL_STEP();
		loss = 0;
		for (int game = 0; game < 64; game++) {
			Position position;
			for (auto &square : position.at)
				square = static_cast<uint8_t>(random() % squares);
			planted_begin(&watch);
			const bool known = seen.contains(position);
			planted_end(&watch);
			if (known)
				continue;
			seen.add(position);
			const int far = std::abs(position.at[0] % 8 - position.at[1] % 8) + std::abs(position.at[0] / 8 - position.at[1] / 8);
			loss += value.learn(position, far < 4 ? 1.0f : -1.0f);
		}
	}
	watch_tell(&watch);
	std::printf("%zu endings, loss %.3f\n", seen.size(), static_cast<double>(loss) / 64);
}
