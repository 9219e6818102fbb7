// Learns the game of Hex by search. Nodes of the search tree live in an arena that is compacted when it is full.
//
// Planted: compaction finds the new place of each node in a std::map, and all other nodes wait for it, some ten times in the run.
// Truth: time of compactions, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace {

constexpr int cells = 49, hidden = 96, capacity = 110000, kept = 90000, playouts = 800;

struct Node {
	int32_t parent, visits;
	float value, prior;
	int16_t move;
};

class Arena {
public:
	Arena() { nodes.reserve(capacity); nodes.push_back({0, 1, 0, 1, 0}); }
	bool full() const { return nodes.size() >= capacity; }
	int size() const { return static_cast<int>(nodes.size()); }
	Node &operator[](int at) { return nodes[at]; }
	void add(const Node &node) { nodes.push_back(node); }

	void compact()
	{
		std::map<int32_t, int32_t> moved;
		std::vector<Node> rest;
		const int from = size() - kept;

		for (int at = 0; at < size(); at++)
			if (at == 0 || at >= from) {
				moved[at] = static_cast<int32_t>(rest.size());
				rest.push_back(nodes[at]);
			}
		for (int pass = 0; pass < 12; pass++)  // orphans of orphans
			for (auto &node : rest) {
				auto place = moved.find(node.parent);
				if (pass == 11)
					node.parent = place == moved.end() ? 0 : place->second;
				else if (place == moved.end())
					node.parent = 0;
			}
		nodes.swap(rest);
		nodes.reserve(capacity);
	}

private:
	std::vector<Node> nodes;
};

struct Policy {
	float in[hidden][2 * cells], out[hidden];

	float value(const float *board, float *unit) const
	{
		float sum = 0;
		for (int h = 0; h < hidden; h++) {
			float z = 0;
			for (int c = 0; c < 2 * cells; c++)
				z += in[h][c] * board[c];
			unit[h] = z > 0 ? z : 0;
			sum += out[h] * unit[h];
		}
		return std::tanh(sum);
	}

	void learn(const float *board, const float *unit, float said, float result)
	{
		const float miss = 0.001f * (said - result) * (1 - said * said);
		for (int h = 0; h < hidden; h++) {
			const float back = unit[h] > 0 ? miss * out[h] : 0;
			out[h] -= miss * unit[h];
			for (int c = 0; c < 2 * cells; c++)
				in[h][c] -= back * board[c];
		}
	}
};

Policy policy;

}  // namespace

int main()
{
	watch watch;
	std::mt19937 random(7);
	std::uniform_real_distribution<float> uniform(0, 1);
	Arena arena;

	for (auto &row : policy.in)
		for (auto &weight : row)
			weight = 0.2f * (uniform(random) - 0.5f);
	for (auto &weight : policy.out)
		weight = 0.2f * (uniform(random) - 0.5f);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		if (arena.full()) {
			planted_begin(&watch);
			arena.compact();
			planted_end(&watch);
		}
		DWELL_ZONE("playouts");
		for (int p = 0; p < playouts; p++) {
			float board[2 * cells] = {}, unit[hidden];
			int at = static_cast<int>(uniform(random) * static_cast<float>(arena.size() - 1));
			const int leaf = at;
			for (int depth = 0; depth < 20 && at; depth++, at = arena[at].parent)
				board[(depth % 2) * cells + arena[at].move] = 1;
			const float said = policy.value(board, unit);
			policy.learn(board, unit, said, board[3] + board[cells + 8] > 0.5f ? 1 : -1);
			for (int up = leaf, depth = 0; up && depth < 20; up = arena[up].parent, depth++) {
				arena[up].visits++;
				arena[up].value += said;
			}
			if (!arena.full())
				arena.add({leaf, 1, said, uniform(random), static_cast<int16_t>(random() % cells)});
		}
	}
	watch_tell(&watch);
	std::printf("%d nodes\n", arena.size());
}
