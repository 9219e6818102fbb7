/*
 * Sorts shards of pottery into wares: learning vector quantisation, in which each shard pulls the nearest prototypes of its
 * ware and pushes those of another.
 *
 * Planted: after each 40th batch the observer compares all prototypes with each other to number their neighbours anew.
 * Truth: time of that numbering, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <vector>

namespace {

constexpr int features = 24, wares = 40;

struct Shard {
	float value[features];
	int ware;
};

float distance(const float *a, const float *b)
{
	float sum = 0;
	for (int i = 0; i < features; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

class Quantiser {
public:
	Quantiser(int count, std::mt19937 &dice) : prototypes(count), neighbour(count)
	{
		std::normal_distribution<float> normal;
		for (int p = 0; p < count; p++) {
			prototypes[p].ware = p % wares;
			for (float &v : prototypes[p].value)
				v = normal(dice);
		}
	}

	int nearest(const Shard &shard) const
	{
		int best = 0;
		float least = 1e30f;
		for (int p = 0; p < (int)prototypes.size(); p++) {
			const float d = distance(prototypes[p].value, shard.value);
			if (d < least) {
				least = d;
				best = p;
			}
		}
		return best;
	}

	bool pull(const Shard &shard, int winner, float rate)
	{
		Shard &p = prototypes[winner];
		const bool same = p.ware == shard.ware;
		for (int i = 0; i < features; i++)
			p.value[i] += (same ? rate : -0.3f * rate) * (shard.value[i] - p.value[i]);
		return same;
	}

	/* Each prototype's four nearest ones, for the map in the museum's office. */
	void number_neighbours()
	{
		std::vector<std::pair<float, int>> all;
		for (size_t p = 0; p < prototypes.size(); p++) {
			all.clear();
			for (size_t q = 0; q < prototypes.size(); q++)
				if (q != p)
					all.emplace_back(distance(prototypes[p].value, prototypes[q].value), (int)q);
			std::partial_sort(all.begin(), all.begin() + 4, all.end());
			for (int n = 0; n < 4; n++)
				neighbour[p][n] = all[n].second;
		}
	}

	int neighbour_of(int p) const { return neighbour[p][0]; }

private:
	struct Four {
		int at[4];
		int &operator[](int n) { return at[n]; }
		const int &operator[](int n) const { return at[n]; }
	};
	std::vector<Shard> prototypes;
	std::vector<Four> neighbour;
};

} // namespace

int main()
{
	std::mt19937 dice(5);
	std::normal_distribution<float> normal;
	std::vector<Shard> shards(4000);
	for (auto &shard : shards) {
		shard.ware = (int)(dice() % wares);
		for (int i = 0; i < features; i++)
			shard.value[i] = std::sin((float)(shard.ware * (i + 1))) + 0.4f * normal(dice);
	}
	Quantiser quantiser(1500, dice);
	watch watch;
	long right = 0;
	std::vector<std::function<void(long)>> observers;
	observers.push_back([&](long batch) { DWELL_COUNTER("right", (double)right / (double)(batch + 1)); });
	observers.push_back([&](long batch) {
		if (batch % 40 != 39)
			return;
		planted_begin(&watch);
		quantiser.number_neighbours();
		planted_end(&watch);
	});

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		int winners[64];
		const Shard *batch = &shards[(size_t)watch.steps * 64 % (shards.size() - 64)];
		{
			DWELL_ZONE("winners");
			for (int b = 0; b < 64; b++)
				winners[b] = quantiser.nearest(batch[b]);
		}
		{
			DWELL_ZONE("pull");
			for (int b = 0; b < 64; b++)
				right += quantiser.pull(batch[b], winners[b], 0.02f);
		}
		for (const auto &observer : observers)
			observer(watch.steps);
	}
	watch_tell(&watch);
	std::printf("%ld right, %d\n", right, quantiser.neighbour_of(3));
}
