// The jet stream five days on: a graph network over the nodes of a round grid, inference step after step, its own forecast the next input.
//
// Clean: messages along six edges of each node, then the nodes' own layer; two threads of OpenMP, equal halves of equal work.
// Truth: time of the new sunlight at the nodes, as a share of the loop; nothing else is nearer to a cause.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

namespace {

constexpr int Nodes = 2048, Edges = 6, Width = 24, Rounds = 3;

using Vector = std::array<float, Width>;
using Matrix = std::array<Vector, Width>;

struct Round {
	Matrix self, other, mix;
};

Matrix matrix(std::mt19937 &dice)
{
	std::normal_distribution<float> bell(0, 0.9f / std::sqrt(float(Width)));
	Matrix all;
	for (Vector &row : all)
		for (float &w : row)
			w = bell(dice);
	return all;
}

inline void add(Vector &to, const Matrix &by, const Vector &from)
{
	for (int i = 0; i < Width; i++) {
		float sum = 0;
		for (int j = 0; j < Width; j++)
			sum += by[i][j] * from[j];
		to[i] += sum;
	}
}

inline float soft(float x)
{
	return x / (1 + std::exp(-x));
}

void pass(const Round &round, const std::vector<std::array<int, Edges>> &near, const std::vector<Vector> &now, std::vector<Vector> &next)
{
	DWELL_ZONE("pass");
#pragma omp parallel for schedule(static) num_threads(2)
	for (int n = 0; n < Nodes; n++) {
		Vector heard{};
		for (int e = 0; e < Edges; e++) {
			Vector message{};
			add(message, round.self, now[n]);
			add(message, round.other, now[near[n][e]]);
			for (int i = 0; i < Width; i++)
				heard[i] += soft(message[i]) / Edges;
		}
		Vector moved{};
		add(moved, round.mix, heard);
		for (int i = 0; i < Width; i++)
			next[n][i] = 0.9f * now[n][i] + 0.1f * std::tanh(moved[i]);
	}
}

} // namespace

int main()
{
	std::mt19937 dice(500);
	std::normal_distribution<float> bell;
	std::vector<std::array<int, Edges>> near(Nodes);
	std::vector<Vector> now(Nodes), next(Nodes);
	std::vector<Round> rounds;
	for (int n = 0; n < Nodes; n++)
		for (int e = 0; e < Edges; e++)
			near[n][e] = (n + Nodes + (e % 2 ? 1 : -1) * (e / 2 * 45 + 1)) % Nodes;
	for (Vector &node : now)
		for (float &value : node)
			value = bell(dice);
	for (int r = 0; r < Rounds; r++)
		rounds.push_back({matrix(dice), matrix(dice), matrix(dice)});
	watch watch;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		for (int n = 0; n < Nodes; n++)
			now[n][0] = 0.5f + 0.4f * float((n + watch.steps * 16) % Nodes) / Nodes;
		planted_end(&watch);
		for (const Round &round : rounds) {
			pass(round, near, now, next);
			std::swap(now, next);
		}
	}
	watch_tell(&watch);
	std::printf("wind at the first node %.4f\n", double(now[0][1]));
	return 0;
}
