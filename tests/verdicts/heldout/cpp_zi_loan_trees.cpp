// Who will not pay back a loan: boosted trees of depth four on binned features. A step grows one tree.
//
// Planted: the scores of all loans are computed anew from all trees so far, in place of adding the last tree's to those of before.
// Truth: time of scoring with all trees but the last, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr int kLoans = 100000, kFeatures = 96, kBins = 32, kDepth = 4, kNodes = (1 << kDepth) - 1, kLeaves = 1 << kDepth;

struct Loans {
	std::vector<std::uint8_t> bins = std::vector<std::uint8_t>(static_cast<size_t>(kLoans) * kFeatures);
	std::vector<float> failed = std::vector<float>(kLoans);

	explicit Loans(unsigned seed)
	{
		std::mt19937 random(seed);
		for (int l = 0; l < kLoans; ++l) {
			std::uint8_t *row = &bins[static_cast<size_t>(l) * kFeatures];
			for (int f = 0; f < kFeatures; ++f)
				row[f] = random() % kBins;
			failed[l] = row[3] + row[7] * row[11] / 16 + random() % 40 > 75;
		}
	}
};

struct Tree {
	std::uint8_t feature[kNodes] = {}, cut[kNodes] = {};
	float leaf[kLeaves] = {};

	int place(const std::uint8_t *row, int levels) const
	{
		int node = 0;
		for (int d = 0; d < levels; ++d)
			node = 2 * node + 1 + (row[feature[node]] > cut[node]);
		return node;
	}

	float score(const std::uint8_t *row) const { return leaf[place(row, kDepth) - kNodes]; }
};

struct Sums {
	float slope = 0, bend = 0;
};

class Forest {
public:
	explicit Forest(const Loans &loans) : loans_(loans), scores_(kLoans), slope_(kLoans), bend_(kLoans), at_(kLoans) {}

	void add(const Tree *from, const Tree *to)
	{
		for (int l = 0; l < kLoans; ++l)
			for (const Tree *tree = from; tree < to; ++tree)
				scores_[l] += tree->score(&loans_.bins[static_cast<size_t>(l) * kFeatures]);
	}

	void rescore(watch &clock)
	{
		DWELL_ZONE("score");
		const Tree *begin = trees_.data(), *end = begin + trees_.size();
		planted_begin(&clock);
		std::fill(scores_.begin(), scores_.end(), 0.0f);
		if (end - begin > 1)
			add(begin, end - 1);
		planted_end(&clock);
		if (end != begin)
			add(end - 1, end);
	}

	float slopes()
	{
		DWELL_ZONE("slopes");
		float loss = 0;
		for (int l = 0; l < kLoans; ++l) {
			const float chance = 1 / (1 + std::exp(-scores_[l]));
			slope_[l] = chance - loans_.failed[l];
			bend_[l] = chance * (1 - chance);
			loss += slope_[l] * slope_[l];
		}
		return loss / kLoans;
	}

	void grow()
	{
		DWELL_ZONE("grow");
		Tree tree;
		std::fill(at_.begin(), at_.end(), 0);
		for (int depth = 0; depth < kDepth; ++depth) {
			const int first = (1 << depth) - 1, count = 1 << depth;
			std::vector<Sums> sums(static_cast<size_t>(count) * kFeatures * kBins);
			for (int l = 0; l < kLoans; ++l) {
				Sums *of = &sums[static_cast<size_t>(at_[l] - first) * kFeatures * kBins];
				for (int f = 0; f < kFeatures; ++f) {
					Sums &bin = of[f * kBins + loans_.bins[static_cast<size_t>(l) * kFeatures + f]];
					bin.slope += slope_[l];
					bin.bend += bend_[l];
				}
			}
			for (int n = 0; n < count; ++n)
				split(tree, first + n, &sums[static_cast<size_t>(n) * kFeatures * kBins]);
			for (int l = 0; l < kLoans; ++l)
				at_[l] = tree.place(&loans_.bins[static_cast<size_t>(l) * kFeatures], depth + 1);
		}
		Sums leaves[kLeaves];
		for (int l = 0; l < kLoans; ++l) {
			leaves[at_[l] - kNodes].slope += slope_[l];
			leaves[at_[l] - kNodes].bend += bend_[l];
		}
		for (int leaf = 0; leaf < kLeaves; ++leaf)
			tree.leaf[leaf] = -0.1f * leaves[leaf].slope / (leaves[leaf].bend + 1);
		trees_.push_back(tree);
	}

	size_t trees() const { return trees_.size(); }

private:
	static void split(Tree &tree, int node, const Sums *sums)
	{
		float best = -1;
		for (int f = 0; f < kFeatures; ++f) {
			Sums all, left;
			for (int b = 0; b < kBins; ++b)
				all.slope += sums[f * kBins + b].slope, all.bend += sums[f * kBins + b].bend;
			for (int b = 0; b + 1 < kBins; ++b) {
				left.slope += sums[f * kBins + b].slope;
				left.bend += sums[f * kBins + b].bend;
				const float right = all.slope - left.slope,
				            gain = left.slope * left.slope / (left.bend + 1) + right * right / (all.bend - left.bend + 1);
				if (gain > best)
					best = gain, tree.feature[node] = f, tree.cut[node] = b;
			}
		}
	}

	const Loans &loans_;
	std::vector<Tree> trees_;
	std::vector<float> scores_, slope_, bend_;
	std::vector<int> at_;
};

} // namespace

int main()
{
	const auto loans = std::make_unique<Loans>(13);
	Forest forest(*loans);
	float loss = 0;
	watch clock{};

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6.5; clock.steps++) {
		DWELL_STEP();
		forest.rescore(clock);
		loss = forest.slopes();
		forest.grow();
	}
	watch_tell(&clock);
	std::printf("loss %.5f, %zu trees\n", loss, forest.trees());
}
