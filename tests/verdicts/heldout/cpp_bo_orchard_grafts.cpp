/*
 * Finds for a tree the grafts that suit it: an embedding of 3000 old varieties is trained by triplets that are mined from
 * the nearest neighbours, by the cosine.
 *
 * Planted: the catalogue brings all varieties to unit length anew for each tree that looks for neighbours, though they change once a step.
 * Truth: time of these normalisations but the first of each step, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int kVarieties = 3000, kTraits = 64, kTrees = 24;
using Traits = std::array<float, kTraits>;

/* The first traits are those of the leaf, the last ones those of the bark. */
float dot(const Traits &a, const Traits &b, int from = 0)
{
	float part[8] = {};
	for (int i = from; i < kTraits; i += 8)
		for (int k = 0; k < 8; k++)
			part[k] += a[i + k] * b[i + k];
	return ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
}

class Catalogue {
public:
	explicit Catalogue(watch *clock) : varieties_(kVarieties), unit_(kVarieties), scores_(kVarieties), clock_(clock)
	{
		std::mt19937 dice(31);
		std::normal_distribution<float> normal;
		for (auto &variety : varieties_)
			for (auto &trait : variety)
				trait = normal(dice);
	}

	/* The two varieties that suit the tree best, but for itself. */
	std::pair<int, int> neighbours(const Traits &tree, int own, bool first)
	{
		const auto &unit = directions(first);
		DWELL_OP("cosines");
		std::pair<int, int> best{own == 0, own == 0};
		for (int v = 0; v < kVarieties; v++)
			scores_[v] = dot(unit[v], tree) + 0.3f * dot(unit[v], unit[own], kTraits / 2);
		float most = -1e9f, second = -1e9f;
		for (int v = 0; v < kVarieties; v++) {
			if (v == own || scores_[v] <= second)
				continue;
			second = scores_[v];
			best.second = v;
			if (second > most) {
				std::swap(most, second);
				std::swap(best.first, best.second);
			}
		}
		return best;
	}

	Traits &operator[](int v) { return varieties_[v]; }

private:
	const std::vector<Traits> &directions(bool first)
	{
		DWELL_OP("unit length");
		if (!first)
			planted_begin(clock_);
		for (int v = 0; v < kVarieties; v++) {
			const float scale = 1 / std::sqrt(dot(varieties_[v], varieties_[v]) + 1e-6f);
			for (int i = 0; i < kTraits; i++)
				unit_[v][i] = varieties_[v][i] * scale;
		}
		if (!first)
			planted_end(clock_);
		return unit_;
	}

	std::vector<Traits> varieties_, unit_;
	std::vector<float> scores_;
	watch *clock_;
};

struct Encoder {
	std::array<Traits, kTraits> weight{};

	Traits operator()(const Traits &leaf) const
	{
		DWELL_OP("encode");
		Traits out;
		for (int o = 0; o < kTraits; o++)
			out[o] = std::tanh(dot(weight[o], leaf));
		return out;
	}
};

}

int main()
{
	static watch watch;
	Catalogue catalogue(&watch);
	Encoder encode;
	float loss = 0;

	for (int o = 0; o < kTraits; o++)
		for (int i = 0; i < kTraits; i++)
			encode.weight[o][i] = 0.12f * std::sin((float)(o * 71 + i * 13));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		std::vector<std::array<int, 3>> triplets;
		std::vector<Traits> trees;

		for (int t = 0; t < kTrees; t++) {
			const int own = (int)((watch.steps * kTrees + t) * 11 % kVarieties);
			trees.push_back(encode(catalogue[own]));
			const auto near = catalogue.neighbours(trees.back(), own, t == 0);
			triplets.push_back({own, near.first, near.second});
		}
		DWELL_OP("triplets");
		loss = 0;
		for (int t = 0; t < kTrees; t++) {
			auto &suits = catalogue[triplets[t][0]], &other = catalogue[triplets[t][1]];
			for (int i = 0; i < kTraits; i++) {
				const float away = suits[i] - trees[t][i];
				loss += away * away;
				suits[i] -= 1e-3f * away;
				other[i] += 1e-4f * (other[i] - trees[t][i]);
			}
		}
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", (double)loss / kTrees);
}
