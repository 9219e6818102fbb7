/*
 * Foretells which insurance claims become dear: boosted trees of three splits each, on a table of 400,000 claims with 24 columns that
 * are sorted into bins. Each step adds a tree.
 *
 * Planted: weigh() returns a new table of floats, one for each cell, although a cell's weight is just that of its row.
 * Truth: time of making that table and of giving it back, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace claims {

constexpr std::size_t ROWS = 400000, COLUMNS = 24, BINS = 32;

struct Tree {
	std::size_t column = 0;
	int bin = 0;
	float low = 0, high = 0;
};

class Table {
public:
	std::vector<std::uint8_t> bins = std::vector<std::uint8_t>(ROWS * COLUMNS); // column after column
	std::vector<float> dear = std::vector<float>(ROWS);

	Table()
	{
		std::uint32_t dice = 24;
		for (auto &bin : bins) {
			dice = dice * 1664525u + 1013904223u;
			bin = static_cast<std::uint8_t>(dice >> 27);
		}
		for (std::size_t r = 0; r < ROWS; r++) {
			dice = dice * 1664525u + 1013904223u;
			dear[r] = static_cast<float>((bins[r] + bins[5 * ROWS + r] + (dice >> 28)) > 38);
		}
	}
};

class Booster {
public:
	explicit Booster(const Table &table) : table_(table), scores_(ROWS, 0.0f), slopes_(ROWS, 0.0f), side_(ROWS, 0) {}

	void step(watch &w)
	{
		DWELL_STEP();
		slopes();
		std::array<Tree, 2> leaves;
		{
			planted_begin(&w);
			auto weights = weigh();
			planted_end(&w);
			std::fill(side_.begin(), side_.end(), 0);
			divide(best(weights)[0]);
			leaves = best(weights);
			planted_begin(&w);
			std::vector<float>().swap(weights);
			planted_end(&w);
		}
		add(leaves);
	}

	float first() const { return scores_[0]; }

private:
	void slopes()
	{
		DWELL_ZONE("slopes");
		for (std::size_t r = 0; r < ROWS; r++) {
			const float s = scores_[r];
			slopes_[r] = table_.dear[r] - (0.5f + 0.5f * s / (1 + std::fabs(s)));
		}
	}

	std::vector<float> weigh() const
	{
		DWELL_ZONE("weigh");
		std::vector<float> cells(ROWS * COLUMNS);
		for (std::size_t c = 0; c < COLUMNS; c++)
			for (std::size_t r = 0; r < ROWS; r++)
				cells[c * ROWS + r] = slopes_[r];
		return cells;
	}

	/* The best split of the rows that `side` says are of node 0, and of those of node 1. */
	std::array<Tree, 2> best(const std::vector<float> &cells) const
	{
		DWELL_ZONE("histograms");
		std::array<Tree, 2> trees;
		std::array<float, 2> most{-1, -1};
		for (std::size_t c = 0; c < COLUMNS; c++) {
			// Two histograms for each node, so that an addition need not wait for the one before it.
			std::array<std::array<std::array<float, BINS>, 2>, 2> sum{}, count{};
			for (std::size_t r = 0; r < ROWS; r++) {
				const auto bin = table_.bins[c * ROWS + r];
				sum[r % 2][side_[r]][bin] += cells[c * ROWS + r];
				count[r % 2][side_[r]][bin] += 1;
			}
			for (std::size_t n = 0; n < 2; n++)
				split(c, sum[0][n], sum[1][n], count[0][n], count[1][n], most[n], trees[n]);
		}
		return trees;
	}

	using Histogram = std::array<float, BINS>;

	static void split(std::size_t column, const Histogram &s0, const Histogram &s1, const Histogram &n0, const Histogram &n1,
	                  float &most, Tree &tree)
	{
		float total = 0, rows = 0, left = 0, left_rows = 1;
		for (std::size_t b = 0; b < BINS; b++) {
			total += s0[b] + s1[b];
			rows += n0[b] + n1[b];
		}
		for (std::size_t b = 0; b + 1 < BINS; b++) {
			left += s0[b] + s1[b];
			left_rows += n0[b] + n1[b];
			const float right = total - left, right_rows = rows - left_rows + 2;
			const float gain = left * left / left_rows + right * right / right_rows;
			if (gain > most) {
				most = gain;
				tree = {column, static_cast<int>(b), left / left_rows, right / right_rows};
			}
		}
	}

	void divide(const Tree &root)
	{
		const auto *column = table_.bins.data() + root.column * ROWS;
		for (std::size_t r = 0; r < ROWS; r++)
			side_[r] = column[r] > root.bin;
	}

	void add(const std::array<Tree, 2> &leaves)
	{
		DWELL_ZONE("scores");
		for (std::size_t r = 0; r < ROWS; r++) {
			const Tree &tree = leaves[side_[r]];
			scores_[r] += 0.1f * (table_.bins[tree.column * ROWS + r] <= tree.bin ? tree.low : tree.high);
		}
	}

	const Table &table_;
	std::vector<float> scores_, slopes_;
	std::vector<std::uint8_t> side_;
};

}

int main()
{
	static watch watch;
	const claims::Table table;
	claims::Booster booster(table);

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++)
		booster.step(watch);
	watch_tell(&watch);
	std::printf("score %.4f\n", static_cast<double>(booster.first()));
}
