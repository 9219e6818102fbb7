// A network that knows the equation of moving sand: it fits the height of a dune over place and time, with the slope in
// time from a difference.
//
// Planted: the activation is softplus in long double, with expl() and log1pl() of the C library for each neuron.
// Truth: time of this operator forward, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

struct Dense {
	int in, out;
	std::vector<float> w, b, gw, gb;

	Dense(int from, int to, std::mt19937 &random) : in(from), out(to), w(from * to), b(to), gw(from * to), gb(to)
	{
		std::normal_distribution<float> scale(0, 1 / std::sqrt(static_cast<float>(from)));
		for (float &x : w)
			x = scale(random);
	}

	void forward(const std::vector<float> &x, std::vector<float> &y, int rows) const
	{
		DWELL_OP("dense");
		for (int r = 0; r < rows; r++) {
			float *to = &y[static_cast<size_t>(r) * out];
			for (int o = 0; o < out; o++)
				to[o] = b[o];
			for (int i = 0; i < in; i++) {
				const float v = x[static_cast<size_t>(r) * in + i];
				for (int o = 0; o < out; o++)
					to[o] += v * w[static_cast<size_t>(i) * out + o];
			}
		}
	}

	void backward(const std::vector<float> &x, const std::vector<float> &dy, std::vector<float> *dx, int rows)
	{
		DWELL_OP("dense_backward");
		for (int r = 0; r < rows; r++) {
			const float *d = &dy[static_cast<size_t>(r) * out];
			for (int o = 0; o < out; o++)
				gb[o] += d[o];
			for (int i = 0; i < in; i++) {
				const float v = x[static_cast<size_t>(r) * in + i];
				float sum = 0;
				for (int o = 0; o < out; o++) {
					gw[static_cast<size_t>(i) * out + o] += v * d[o];
					sum += d[o] * w[static_cast<size_t>(i) * out + o];
				}
				if (dx)
					(*dx)[static_cast<size_t>(r) * in + i] = sum;
			}
		}
	}

	void update(float rate)
	{
		for (size_t i = 0; i < w.size(); i++) {
			w[i] -= rate * gw[i];
			gw[i] = 0;
		}
		for (size_t i = 0; i < b.size(); i++) {
			b[i] -= rate * gb[i];
			gb[i] = 0;
		}
	}
};

void softplus(const std::vector<float> &x, std::vector<float> &y, watch *watch)
{
	DWELL_OP("softplus");
	planted_begin(watch);
	for (size_t i = 0; i < x.size(); i++)
		y[i] = static_cast<float>(std::log1p(std::exp(static_cast<long double>(x[i]))));
	planted_end(watch);
}

void softplus_backward(const std::vector<float> &y, std::vector<float> &dy)
{
	DWELL_OP("softplus_backward");
	// The slope of softplus is 1 - exp(-y); two terms of a quotient are good enough for y of moderate size.
	for (size_t i = 0; i < y.size(); i++)
		dy[i] *= y[i] / (1 + y[i]);
}

}  // namespace

int main()
{
	constexpr int points = 256, rows = 2 * points, neurons = 136;
	watch watch;
	std::mt19937 random(14);
	std::uniform_real_distribution<float> any(0, 1);
	Dense one(2, neurons, random), two(neurons, neurons, random), three(neurons, 1, random);
	std::vector<float> x(rows * 2), a(rows * neurons), ya(a.size()), c(a.size()), yc(a.size()), said(rows), d(rows), dc(a.size()), da(a.size());
	double loss = 0;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int p = 0; p < points; p++) {
			x[4 * p] = x[4 * p + 2] = any(random);
			x[4 * p + 1] = any(random);
			x[4 * p + 3] = x[4 * p + 1] + 0.05f;
		}
		{
			DWELL_PHASE("forward");
			one.forward(x, a, rows);
			softplus(a, ya, &watch);
			two.forward(ya, c, rows);
			softplus(c, yc, &watch);
			three.forward(yc, said, rows);
		}
		loss = 0;
		for (int p = 0; p < points; p++) {
			const float first = said[2 * p], later = said[2 * p + 1];
			const float fit = first - std::sin(6 * (x[4 * p] - 0.3f * x[4 * p + 1]));
			const float law = (later - first) / 0.05f + 1.8f * std::cos(6 * (x[4 * p] - 0.3f * x[4 * p + 1]));
			loss += static_cast<double>(fit * fit + 0.01f * law * law);
			d[2 * p] = (fit - 0.2f * law) / points;
			d[2 * p + 1] = 0.2f * law / points;
		}
		{
			DWELL_PHASE("backward");
			three.backward(yc, d, &dc, rows);
			softplus_backward(yc, dc);
			two.backward(ya, dc, &da, rows);
			softplus_backward(ya, da);
			one.backward(x, da, nullptr, rows);
		}
		DWELL_PHASE("update");
		one.update(1e-3f);
		two.update(1e-3f);
		three.update(1e-3f);
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", loss / points);
}
