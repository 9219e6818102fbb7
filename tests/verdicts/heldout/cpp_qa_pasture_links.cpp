// Estimates how much grass is left on plots of a pasture from those next to them: two rounds of messages over the links
// between plots, trained by hand.
//
// Clean: nothing is planted; one thread computes, as much in each step.
// Truth: nothing comes near a cause, 0.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using Table = std::vector<float>;

struct Links {
	std::vector<int> begin, to;
};

Links neighbours(int plots, std::mt19937 &random)
{
	Links links;
	for (int p = 0; p < plots; p++) {
		links.begin.push_back(static_cast<int>(links.to.size()));
		for (int n = 0; n < 6; n++)
			links.to.push_back((p + static_cast<int>(random() % 40) + plots - 20) % plots);
	}
	links.begin.push_back(static_cast<int>(links.to.size()));
	return links;
}

// to[n][o] (+)= from[n][i] * weight[i][o]
void product(const Table &from, const Table &weight, Table &to, int rows, int in, int out)
{
	for (int n = 0; n < rows; n++) {
		float *t = &to[static_cast<size_t>(n * out)];
		std::fill(t, t + out, 0.0f);
		for (int i = 0; i < in; i++) {
			const float f = from[static_cast<size_t>(n * in + i)], *w = &weight[static_cast<size_t>(i * out)];
			for (int o = 0; o < out; o++)
				t[o] += f * w[o];
		}
	}
}

struct Round {
	int in, out;
	Table weight, gradient, mean, sum, spread;

	Round(int plots, int from, int to, std::mt19937 &random)
	    : in(from), out(to), weight(static_cast<size_t>(from * to)), gradient(weight.size()),
	      mean(static_cast<size_t>(plots * from)), sum(static_cast<size_t>(plots * to)), spread(mean.size())
	{
		std::normal_distribution<float> any(0, 1 / std::sqrt(static_cast<float>(from)));
		for (float &w : weight)
			w = any(random);
	}

	const Table &forward(const Links &links, const Table &state, int plots)
	{
		{
			DWELL_OP("gather");
			for (int p = 0; p < plots; p++) {
				float *m = &mean[static_cast<size_t>(p * in)];
				for (int i = 0; i < in; i++)
					m[i] = state[static_cast<size_t>(p * in + i)];
				for (int e = links.begin[static_cast<size_t>(p)]; e < links.begin[static_cast<size_t>(p) + 1]; e++)
					for (int i = 0; i < in; i++)
						m[i] += 0.15f * state[static_cast<size_t>(links.to[static_cast<size_t>(e)] * in + i)];
			}
		}
		DWELL_OP("product");
		product(mean, weight, sum, plots, in, out);
		for (float &s : sum)
			s = s > 0 ? s : 0.1f * s;
		return sum;
	}

	// `slope` is of the sums; the result is of the state.
	void backward(const Links &links, Table &slope, Table &back, int plots)
	{
		{
			DWELL_OP("product_back");
			for (size_t i = 0; i < sum.size(); i++)
				slope[i] *= sum[i] > 0 ? 1.0f : 0.1f;
			std::fill(gradient.begin(), gradient.end(), 0.0f);
			for (int n = 0; n < plots; n++) {
				const float *s = &slope[static_cast<size_t>(n * out)];
				for (int i = 0; i < in; i++) {
					const float m = mean[static_cast<size_t>(n * in + i)], *w = &weight[static_cast<size_t>(i * out)];
					float *g = &gradient[static_cast<size_t>(i * out)], dot = 0;
					for (int o = 0; o < out; o++) {
						g[o] += m * s[o];
						dot += w[o] * s[o];
					}
					spread[static_cast<size_t>(n * in + i)] = dot;
				}
			}
		}
		DWELL_OP("gather_back");
		back = spread;
		for (int p = 0; p < plots; p++)
			for (int e = links.begin[static_cast<size_t>(p)]; e < links.begin[static_cast<size_t>(p) + 1]; e++)
				for (int i = 0; i < in; i++)
					back[static_cast<size_t>(links.to[static_cast<size_t>(e)] * in + i)] += 0.15f * spread[static_cast<size_t>(p * in + i)];
	}
};

}  // namespace

int main()
{
	constexpr int plots = 1500, facts = 16, units = 48;
	std::mt19937 random(21);
	const Links links = neighbours(plots, random);
	Round first(plots, facts, units, random), second(plots, units, units, random);
	Table state(plots * facts), tell(units, 0.1f), grass(plots), slope(plots * units), between(plots * units), unused(plots * facts);
	double loss = 0;
	watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (size_t p = 0; p < plots; p++) {
			for (size_t f = 0; f < facts; f++)
				state[p * facts + f] = static_cast<float>(random() >> 8) / 16777216.0f - 0.5f;
			grass[p] = state[p * facts] + 0.5f * state[p * facts + 1];
		}
		const Table &told = second.forward(links, first.forward(links, state, plots), plots);
		loss = 0;
		for (size_t p = 0; p < plots; p++) {
			float guess = 0;
			for (size_t u = 0; u < units; u++)
				guess += tell[u] * told[p * units + u];
			const float wrong = guess - grass[p];
			loss += static_cast<double>(wrong * wrong) / plots;
			for (size_t u = 0; u < units; u++)
				slope[p * units + u] = wrong * tell[u] / plots;
		}
		second.backward(links, slope, between, plots);
		first.backward(links, between, unused, plots);
		for (Round *round : {&first, &second})
			for (size_t i = 0; i < round->weight.size(); i++)
				round->weight[i] -= 0.1f * round->gradient[i];
	}
	watch_tell_share(&watch, 0);
	std::printf("loss %.4f\n", loss);
}
