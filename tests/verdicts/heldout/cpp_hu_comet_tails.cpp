// Searches for shapes of comet tails by novelty: small networks grow a tail each, its shape is described by twelve numbers, and those
// whose description is far from all known ones are parents of the next generation.
//
// Planted: the archive of known descriptions takes each child of each generation and is never pruned, so its search takes longer and longer.
// Truth: time in the search of the archive beyond its first 300 entries, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace {

constexpr int kTraits = 12, kChildren = 24, kInner = 20, kGrains = 260, kNear = 6;
using Shape = std::array<float, kTraits>;

struct Genome {
	std::array<float, kInner * 4 + kInner * 2> weight{};
};

Shape grow(const Genome &genome)
{
	Shape shape{};
	float x = 0, y = 0, dust = 1;
	for (int grain = 0; grain < kGrains; ++grain) {
		float push[2] = {0, 0};
		for (int k = 0; k < kInner; ++k) {
			const float *w = &genome.weight[k * 4];
			const float seen = std::tanh(w[0] * x + w[1] * y + w[2] * dust + w[3]);
			push[0] += seen * genome.weight[kInner * 4 + k * 2];
			push[1] += seen * genome.weight[kInner * 4 + k * 2 + 1];
		}
		x += 0.05f * std::tanh(push[0]);
		y += 0.05f * std::tanh(push[1]);
		dust = 0.2f + 0.8f * std::fabs(std::sin(0.05f * grain));
		shape[grain * kTraits / kGrains] += (grain % 2 ? x : y) / 20;
	}
	return shape;
}

class Archive {
public:
	explicit Archive(watch &clock) : clock_(clock) {}

	/* Mean distance to the nearest known shapes. */
	float novelty(const Shape &shape)
	{
		std::array<float, kNear> nearest;
		nearest.fill(1e9f);
		search(shape, 0, std::min<size_t>(300, known_.size()), nearest);
		planted_begin(&clock_);
		search(shape, std::min<size_t>(300, known_.size()), known_.size(), nearest);
		planted_end(&clock_);
		float sum = 0;
		for (float one : nearest)
			sum += one;
		return sum / kNear;
	}

	void add(const Shape &shape) { known_.push_back(shape); }
	size_t size() const { return known_.size(); }

private:
	void search(const Shape &shape, size_t from, size_t to, std::array<float, kNear> &nearest) const
	{
		for (size_t i = from; i < to; ++i) {
			float far = 0;
			for (int t = 0; t < kTraits; ++t)
				far += (known_[i][t] - shape[t]) * (known_[i][t] - shape[t]);
			for (int n = 0; n < kNear; ++n)
				if (far < nearest[n])
					std::swap(far, nearest[n]);
		}
	}

	watch &clock_;
	std::vector<Shape> known_;
};

} // namespace

int main()
{
	watch clock{};
	std::mt19937 random(17);
	std::normal_distribution<float> normal;
	std::vector<Genome> parents(6);
	for (Genome &genome : parents)
		for (float &w : genome.weight)
			w = 0.7f * normal(random);
	Archive archive(clock);
	float best = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6.5; clock.steps++) {
		DWELL_STEP();
		std::vector<Genome> children(kChildren);
		std::vector<Shape> shapes(kChildren);
		std::vector<std::pair<float, int>> order(kChildren);
		{
			DWELL_ZONE("mutate");
			for (int c = 0; c < kChildren; ++c) {
				children[c] = parents[c % parents.size()];
				for (float &w : children[c].weight)
					w = 0.995f * w + 0.1f * normal(random);
			}
		}
		{
			DWELL_ZONE("grow");
			for (int c = 0; c < kChildren; ++c)
				shapes[c] = grow(children[c]);
		}
		{
			DWELL_ZONE("novelty");
			for (int c = 0; c < kChildren; ++c)
				order[c] = {archive.novelty(shapes[c]), c};
			for (const Shape &shape : shapes)
				archive.add(shape);
		}
		DWELL_ZONE("select");
		std::sort(order.rbegin(), order.rend());
		for (size_t p = 0; p < parents.size(); ++p)
			parents[p] = children[order[p].second];
		best = order[0].first;
	}
	watch_tell(&clock);
	std::printf("%zu shapes known, novelty %.4f\n", archive.size(), best);
}
