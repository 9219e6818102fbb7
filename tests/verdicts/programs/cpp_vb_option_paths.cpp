// Hedges options: a small network says how much of the share to hold along simulated paths of the price, and learns
// from the loss of the hedge at maturity.
//
// Planted: a path is a list of ticks, each a node of the heap with a label of its own, all made and freed in each step.
// Truth: time of making the lists and of freeing them, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kPaths = 192, kDays = 40, kUnits = 24;

struct Quote {
	double price, spread;
};

struct Tick {
	int day;
	std::shared_ptr<Quote> quote;
	std::map<std::string, double> marks;
};

using Path = std::list<Tick>;

struct Hedger {
	float in[kUnits][3], mid[kUnits][kUnits], out[kUnits];

	float hold(float price, float left, float held, float *low, float *high) const
	{
		float y = 0;
		for (int u = 0; u < kUnits; u++)
			low[u] = std::tanh(in[u][0] * price + in[u][1] * left + in[u][2] * held);
		for (int u = 0; u < kUnits; u++) {
			float a = 0;
			for (int k = 0; k < kUnits; k++)
				a += mid[u][k] * low[k];
			high[u] = std::tanh(a);
			y += out[u] * high[u];
		}
		return 1 / (1 + std::exp(-y));
	}
};

// What the desk's library returns: everything about a tick, by name.
std::vector<Path> simulate(std::mt19937 &random)
{
	std::normal_distribution<double> normal(0, 0.012);
	std::vector<Path> paths(kPaths);
	for (Path &path : paths) {
		double price = 1;
		for (int d = 0; d <= kDays; d++) {
			price *= 1 + normal(random);
			Tick tick = { d, std::make_shared<Quote>(Quote{ price, 0.0002 }), {} };
			tick.marks["implied_volatility_annual"] = 0.19;
			tick.marks["seconds_to_expiry_gross"] = (kDays - d) / 252.;
			path.push_back(tick);
		}
	}
	return paths;
}

class Trainer {
public:
	explicit Trainer(std::mt19937 &random)
	{
		std::normal_distribution<float> normal(0, 0.2f);
		for (size_t i = 0; i < sizeof net_ / sizeof(float); i++)
			reinterpret_cast<float *>(&net_)[i] = normal(random);
	}

	double learn(const std::vector<Path> &paths)
	{
		double loss = 0;
		slope_ = {};
		for (const Path &path : paths)
			loss += follow(path);
		for (size_t i = 0; i < sizeof net_ / sizeof(float); i++)
			reinterpret_cast<float *>(&net_)[i] -= 0.3f / kPaths * reinterpret_cast<float *>(&slope_)[i];
		return loss / kPaths;
	}

private:
	double follow(const Path &path)
	{
		float low[kDays + 1][kUnits], high[kDays + 1][kUnits], held[kDays + 1], last = 0;
		double gain = 0, before = 0;
		for (const Tick &tick : path) {
			const double price = tick.quote->price;
			if (tick.day)
				gain += held[tick.day - 1] * (price - before);
			last = held[tick.day] = net_.hold(static_cast<float>(price - 1) * 10, static_cast<float>(tick.marks.begin()->second),
			                                  last, low[tick.day], high[tick.day]);
			before = price;
		}
		const double miss = gain - std::fmax(before - 1, 0);
		double previous = 0;
		for (const Tick &tick : path) {
			const double price = tick.quote->price;
			if (tick.day) {
				const int d = tick.day - 1;
				const float e = static_cast<float>(2 * miss * (price - previous)) * held[d] * (1 - held[d]);
				float back[kUnits] = {};
				for (int u = 0; u < kUnits; u++) {
					const float b = e * net_.out[u] * (1 - high[d][u] * high[d][u]);
					slope_.out[u] += e * high[d][u];
					for (int k = 0; k < kUnits; k++) {
						slope_.mid[u][k] += b * low[d][k];
						back[k] += b * net_.mid[u][k];
					}
				}
				for (int u = 0; u < kUnits; u++) {
					const float b = back[u] * (1 - low[d][u] * low[d][u]);
					slope_.in[u][0] += b * static_cast<float>(previous - 1) * 10;
					slope_.in[u][1] += b * 0.19f;
					slope_.in[u][2] += b * (d ? held[d - 1] : 0);
				}
			}
			previous = price;
		}
		return miss * miss;
	}
	Hedger net_, slope_;
};

}  // namespace

int main()
{
	std::mt19937 random(17);
	Trainer trainer(random);
	double loss = 0;
	watch clock;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		planted_begin(&clock);
		std::vector<Path> paths = simulate(random);
		planted_end(&clock);
		{
			DWELL_ZONE("hedge");
			loss = trainer.learn(paths);
		}
		planted_begin(&clock);
		paths.clear();
		planted_end(&clock);
	}
	watch_tell(&clock);
	std::printf("loss %g\n", loss);
}
