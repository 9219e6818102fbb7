// Learns the sliding game with the doubling tiles: a network of values that plays greedily, remembers each position with
// the error it made there, and learns from the positions where the error was large.
//
// Planted: each 30th step the whole memory is put into a new order by a stable sort of all its errors.
// Truth: time of this sort, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

namespace {

using Board = std::array<std::uint8_t, 16>;

constexpr int kinds = 16, wide = 96, kept = 220000, games = 8, replayed = 160;

struct Memory {
	std::vector<Board> board = std::vector<Board>(kept);
	std::vector<float> target = std::vector<float>(kept), error = std::vector<float>(kept);
	std::vector<std::uint32_t> order = std::vector<std::uint32_t>(kept);
	std::uint32_t next = 0;

	void keep(const Board &b, float t, float e)
	{
		board[next] = b;
		target[next] = t;
		error[next] = e;
		next = (next + 1) % kept;
	}

	void rank()
	{
		DWELL_ZONE("rank");
		std::iota(order.begin(), order.end(), 0u);
		std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) { return std::fabs(error[a]) > std::fabs(error[b]); });
	}
};

struct Values {
	// One row of weights for each tile on each field.
	std::vector<float> rows = std::vector<float>(16 * kinds * wide);
	std::array<float, wide> out{}, hidden{};

	explicit Values(std::mt19937 &random)
	{
		std::uniform_real_distribution<float> any(-0.2f, 0.2f);
		for (auto &w : rows)
			w = any(random);
		for (auto &w : out)
			w = any(random);
	}

	float operator()(const Board &board)
	{
		float value = 0;
		hidden.fill(0);
		for (int f = 0; f < 16; f++) {
			const float *row = &rows[(f * kinds + board[f]) * wide];
			for (int w = 0; w < wide; w++)
				hidden[w] += row[w];
		}
		for (int w = 0; w < wide; w++) {
			hidden[w] = std::tanh(hidden[w]);
			value += hidden[w] * out[w];
		}
		return value;
	}

	float learn(const Board &board, float target)
	{
		const float wrong = (*this)(board) - target, rate = 1e-4f;
		std::array<float, wide> slope;
		for (int w = 0; w < wide; w++) {
			slope[w] = rate * wrong * out[w] * (1 - hidden[w] * hidden[w]);
			out[w] -= rate * wrong * hidden[w];
		}
		for (int f = 0; f < 16; f++) {
			float *row = &rows[(f * kinds + board[f]) * wide];
			for (int w = 0; w < wide; w++)
				row[w] -= slope[w];
		}
		return wrong;
	}
};

// Slides all tiles; returns the points, or -1 if nothing moved.
int slide(Board &board, int side)
{
	static const int starts[4][2] = {{0, 1}, {3, -1}, {0, 4}, {12, -4}}, lines[4] = {4, 4, 1, 1};
	const Board before = board;
	int points = 0;

	for (int l = 0; l < 4; l++) {
		const int first = starts[side][0] + l * lines[side], step = starts[side][1];
		int to = 0;
		bool merged = false;
		for (int i = 0; i < 4; i++) {
			const std::uint8_t tile = board[first + i * step];
			if (!tile)
				continue;
			board[first + i * step] = 0;
			if (to && !merged && board[first + (to - 1) * step] == tile && tile < kinds - 1) {
				board[first + (to - 1) * step]++;
				points += 1 << (tile + 1);
				merged = true;
			} else {
				board[first + to++ * step] = tile;
				merged = false;
			}
		}
	}
	return board == before ? -1 : points;
}

void drop(Board &board, std::mt19937 &random)
{
	for (int tries = 0; tries < 200; tries++) {
		auto &field = board[random() % 16];
		if (!field) {
			field = random() % 10 ? 1 : 2;
			return;
		}
	}
}

}  // namespace

int main()
{
	std::mt19937 random(2048);
	static Memory memory;
	Values values(random);
	std::array<Board, games> boards{};
	watch watch;

	for (int i = 0; i < kept; i++) {
		Board board;
		for (auto &field : board)
			field = static_cast<std::uint8_t>(random() % 6);
		memory.keep(board, static_cast<float>(random() % 1000) * 1e-3f, static_cast<float>(random() % 100000) * 1e-5f);
	}
	memory.rank();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("play");
			for (int turn = 0; turn < 16; turn++)
				for (auto &board : boards) {
					const Board before = board;
					float best = -1e9f;
					Board then{};
					for (int side = 0; side < 4; side++) {
						Board tried = before;
						const int points = slide(tried, side);
						const float worth = points < 0 ? -1e9f : static_cast<float>(points) * 1e-2f + values(tried);
						if (worth > best) {
							best = worth;
							then = tried;
						}
					}
					if (best < -1e8f) {
						board.fill(0);
						drop(board, random);
					} else {
						memory.keep(before, 0.9f * best, best - values(before));
						board = then;
					}
					drop(board, random);
				}
		}
		if (watch.steps % 30 == 29) {
			planted_begin(&watch);
			memory.rank();
			planted_end(&watch);
		}
		DWELL_ZONE("learn");
		for (int pass = 0; pass < 3; pass++)
			for (int i = 0; i < replayed; i++) {
				const auto which = memory.order[random() % (kept / 4)];
				memory.error[which] = values.learn(memory.board[which], memory.target[which]);
			}
	}
	watch_tell(&watch);
	std::printf("value %.3f\n", static_cast<double>(values(boards[0])));
}
