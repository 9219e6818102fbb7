// Where a comet will be: a network of residual blocks learns to do without Kepler's equation. Each step draws comets, solves the
// equation for them, and trains; the training has a budget of time, and its last part adds comets that are nearly parabolic.
//
// Planted: for that part the solver was made "safe": it bisects with a tolerance below the precision of its numbers, for 160 rounds.
// Truth: time by which the solver is longer in the last part than in the first, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr double Pi = 3.14159265358979323846, Budget = 6.4, Gentle = 0.4;
constexpr int Comets = 96, Moments = 6, Inputs = 8, Width = 96, Blocks = 2, Outputs = 2 * Moments;

struct Comet {
	double eccentricity, period, passage;
};

struct Solver {
	virtual ~Solver() = default;
	virtual double anomaly(double mean, double eccentricity) const = 0;
};

struct Newton : Solver {
	double anomaly(double mean, double eccentricity) const override
	{
		double e = mean + eccentricity * std::sin(mean);
		for (int n = 0; n < 6; n++)
			e -= (e - eccentricity * std::sin(e) - mean) / (1 - eccentricity * std::cos(e));
		return e;
	}
};

struct Bisection : Solver {
	double tolerance = 1e-18;

	double anomaly(double mean, double eccentricity) const override
	{
		double low = -Pi, high = Pi;
		for (int n = 0; n < 160 && high - low > tolerance; n++) {
			const double middle = low + (high - low) / 2;
			(middle - eccentricity * std::sin(middle) < mean ? low : high) = middle;
		}
		return low + (high - low) / 2;
	}
};

struct Layer {
	int in, out;
	std::vector<float> w, g;
	Layer(int in, int out, std::mt19937_64 &dice, float size) : in(in), out(out), w(in * out), g(in * out)
	{
		std::uniform_real_distribution<float> flat(-size, size);
		for (float &v : w)
			v = flat(dice);
	}
	void operator()(const float *x, float *y) const
	{
		for (int o = 0; o < out; o++) {
			float sum = 0;
			for (int i = 0; i < in; i++)
				sum += w[o * in + i] * x[i];
			y[o] = sum;
		}
	}
	void back(const float *x, const float *dy, float *dx)
	{
		for (int o = 0; o < out; o++)
			for (int i = 0; i < in; i++) {
				g[o * in + i] += dy[o] * x[i];
				dx[i] += dy[o] * w[o * in + i];
			}
	}
	void update(float rate)
	{
		for (size_t i = 0; i < w.size(); i++) {
			w[i] -= rate * g[i];
			g[i] = 0;
		}
	}
};

struct Network {
	Layer stem, head;
	std::vector<Layer> blocks;

	explicit Network(std::mt19937_64 &dice) : stem(Inputs, Width, dice, 0.5f), head(Width, Outputs, dice, 0.1f)
	{
		for (int b = 0; b < Blocks; b++)
			blocks.emplace_back(Width, Width, dice, 0.12f);
	}
	float train(const float *x, const float *target)
	{
		float state[Blocks + 1][Width], change[Blocks][Width], guess[Outputs], error[Outputs], back[Width] = {}, loss = 0, none[Inputs] = {};
		stem(x, state[0]);
		for (int b = 0; b < Blocks; b++) {
			blocks[b](state[b], change[b]);
			for (int i = 0; i < Width; i++) {
				change[b][i] /= 1 + std::fabs(change[b][i]);
				state[b + 1][i] = state[b][i] + change[b][i];
			}
		}
		head(state[Blocks], guess);
		for (int o = 0; o < Outputs; o++) {
			error[o] = (guess[o] - target[o]) / Comets;
			loss += error[o] * error[o] * Comets / Outputs;
		}
		head.back(state[Blocks], error, back);
		for (int b = Blocks - 1; b >= 0; b--) {
			float bent[Width];
			for (int i = 0; i < Width; i++)
				bent[i] = back[i] * (1 - std::fabs(change[b][i])) * (1 - std::fabs(change[b][i]));
			blocks[b].back(state[b], bent, back);
		}
		stem.back(x, back, none);
		return loss;
	}
	void update(float rate)
	{
		stem.update(rate);
		head.update(rate);
		for (Layer &block : blocks)
			block.update(rate);
	}
};

// What the network is told of a comet, and where it is at six moments.
void observe(const Comet &comet, const Solver &solver, float *input, float *place)
{
	const double e = comet.eccentricity;
	const double facts[Inputs] = {e, std::sqrt(1 - e * e), comet.period, 1 / comet.period, std::sin(comet.passage), std::cos(comet.passage),
	                              std::sin(2 * comet.passage), 1};
	for (int i = 0; i < Inputs; i++)
		input[i] = static_cast<float>(facts[i]);
	for (int m = 0; m < Moments; m++) {
		const double mean = std::remainder(comet.passage + 2 * Pi * m / comet.period, 2 * Pi);
		const double anomaly = solver.anomaly(mean, e);
		place[2 * m] = static_cast<float>(std::cos(anomaly) - e);
		place[2 * m + 1] = static_cast<float>(std::sqrt(1 - e * e) * std::sin(anomaly));
	}
}

} // namespace

int main()
{
	std::mt19937_64 dice(7);
	std::uniform_real_distribution<double> flat(0, 1);
	Network network(dice);
	std::unique_ptr<Solver> solver = std::make_unique<Newton>();
	bool steep = false;
	double solving[2] = {};
	int steps[2] = {};
	float input[Comets][Inputs], place[Comets][Outputs], loss = 0;
	watch watch;

	watch_begin(&watch);
	while (watch_seconds(&watch) < Budget) {
		DWELL_STEP();
		if (!steep && watch_seconds(&watch) > Gentle * Budget) {
			steep = true;
			solver = std::make_unique<Bisection>();
		}
		const double began = now_s();
		for (int c = 0; c < Comets; c++) {
			const double near = steep && c % 4 == 0 ? 0.95 + 0.049 * flat(dice) : 0.7 * flat(dice);
			observe({near, 1.5 + 6 * flat(dice), 2 * Pi * flat(dice)}, *solver, input[c], place[c]);
		}
		solving[steep] += now_s() - began;
		steps[steep]++;
		loss = 0;
		for (int c = 0; c < Comets; c++)
			loss += network.train(input[c], place[c]);
		network.update(0.004f);
		watch.steps++;
	}
	watch_tell_share(&watch, (solving[1] - solving[0] / steps[0] * steps[1]) / watch_seconds(&watch));
	std::printf("loss %.5f\n", static_cast<double>(loss));
	return 0;
}
