/*
 * Evolves controllers of a juggling hand by novelty search: those survive whose throws differ most from all that were seen.
 *
 * Planted: the archive of throws takes in each generation whole and is never thinned, and each newcomer is compared with all of it.
 * Truth: time of the comparisons with the archive, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

constexpr int SENSES = 12, NERVES = 40, MUSCLES = 6, MOMENTS = 120, HANDS = 24, MARKS = 24;
using Throw = std::array<float, MARKS>;

struct Genes {
	std::array<float, SENSES * NERVES> in;
	std::array<float, NERVES * MUSCLES> out;
	Throw thrown;
	float novelty = 0;
};

class Archive {
public:
	float novelty(const Throw &t) const
	{
		std::array<float, 4> nearest;
		nearest.fill(1e9f);
		for (const Throw &old : seen_) {
			float part[4] = {};
			for (int i = 0; i < MARKS; i += 4)
				for (int k = 0; k < 4; k++)
					part[k] += (t[i + k] - old[i + k]) * (t[i + k] - old[i + k]);
			const float far = part[0] + part[1] + part[2] + part[3];
			if (far < nearest[3]) {
				nearest[3] = far;
				std::sort(nearest.begin(), nearest.end());
			}
		}
		return std::accumulate(nearest.begin(), nearest.end(), 0.0f);
	}
	void remember(const Throw &t) { seen_.push_back(t); }
	size_t size() const { return seen_.size(); }

private:
	std::vector<Throw> seen_;
};

/* The balls' way through the air as the hand moves; every fifth moment leaves a mark. */
static void juggle(Genes &hand)
{
	std::array<float, SENSES> sense;
	for (int i = 0; i < SENSES; i++)
		sense[i] = 0.3f + 0.05f * (float)i;
	for (int m = 0; m < MOMENTS; m++) {
		std::array<float, NERVES> nerve{};
		std::array<float, MUSCLES> muscle{};
		for (int i = 0; i < SENSES; i++)
			for (int n = 0; n < NERVES; n++)
				nerve[n] += sense[i] * hand.in[i * NERVES + n];
		for (auto &n : nerve)
			n = std::tanh(n);
		for (int n = 0; n < NERVES; n++)
			for (int k = 0; k < MUSCLES; k++)
				muscle[k] += nerve[n] * hand.out[n * MUSCLES + k];
		for (int k = 0; k < MUSCLES; k++) {
			sense[k] += 0.1f * sense[k + MUSCLES];
			sense[k + MUSCLES] = 0.95f * sense[k + MUSCLES] + 0.1f * std::tanh(muscle[k]) - 0.01f;
		}
		if (m % (MOMENTS / MARKS) == 0)
			hand.thrown[m / (MOMENTS / MARKS)] = sense[m % MUSCLES];
	}
}

int main()
{
	watch watch;
	std::mt19937 dice(5);
	std::normal_distribution<float> normal;
	std::vector<Genes> hands(HANDS);
	Archive archive;

	for (auto &hand : hands) {
		for (auto &g : hand.in)
			g = 0.4f * normal(dice);
		for (auto &g : hand.out)
			g = 0.3f * normal(dice);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 7; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("juggle");
			for (auto &hand : hands)
				juggle(hand);
		}
		{
			DWELL_ZONE("novelty");
			planted_begin(&watch);
			for (auto &hand : hands)
				hand.novelty = archive.novelty(hand.thrown);
			planted_end(&watch);
			for (const auto &hand : hands)
				archive.remember(hand.thrown);
		}
		DWELL_ZONE("offspring");
		std::sort(hands.begin(), hands.end(), [](const Genes &a, const Genes &b) { return a.novelty > b.novelty; });
		for (int h = HANDS / 2; h < HANDS; h++) {
			hands[h] = hands[h - HANDS / 2];
			for (auto &g : hands[h].in)
				g = 0.99f * g + 0.06f * normal(dice);
			for (auto &g : hands[h].out)
				g = 0.99f * g + 0.05f * normal(dice);
		}
	}
	watch_tell(&watch);
	std::printf("%zu throws seen\n", archive.size());
}
