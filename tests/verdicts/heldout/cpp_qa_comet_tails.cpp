// Finds tails of comets in frames of a survey: blocks of a depthwise filter over planes and a mix of the channels of
// each pixel, inference only.
//
// Planted: the filter wants planes and the mix wants pixels, so each block copies its maps to the other order and back.
// Truth: time of these copies, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

constexpr int C = 64, H = 120, W = 128, N = H * W;

struct Maps {
	std::vector<float> values = std::vector<float>(static_cast<size_t>(C) * N);
	float *plane(int c) { return values.data() + static_cast<size_t>(c) * N; }
	float *pixel(int n) { return values.data() + static_cast<size_t>(n) * C; }
};

struct Operator {
	virtual ~Operator() = default;
	virtual void apply(Maps &from, Maps &to) = 0;
};

struct Depthwise : Operator {
	std::vector<float> taps = std::vector<float>(C * 9);

	void apply(Maps &from, Maps &to) override
	{
		DWELL_OP("depthwise");
		for (int c = 0; c < C; c++) {
			const float *in = from.plane(c), *t = &taps[static_cast<size_t>(c) * 9];
			float *out = to.plane(c);
			for (int y = 1; y < H - 1; y++)
				for (int x = 1; x < W - 1; x++) {
					const float *p = in + (y - 1) * W + x - 1;
					out[y * W + x] = t[0] * p[0] + t[1] * p[1] + t[2] * p[2] + t[3] * p[W] + t[4] * p[W + 1] +
					                 t[5] * p[W + 2] + t[6] * p[2 * W] + t[7] * p[2 * W + 1] + t[8] * p[2 * W + 2];
				}
		}
	}
};

struct Mix : Operator {
	std::vector<float> weights = std::vector<float>(C * C);

	void apply(Maps &from, Maps &to) override
	{
		DWELL_OP("mix");
		for (int n = 0; n < N; n++) {
			const float *in = from.pixel(n);
			float *out = to.pixel(n), sum[C] = {};
			for (int i = 0; i < C; i++) {
				const float v = in[i], *w = &weights[static_cast<size_t>(i) * C];
				for (int o = 0; o < C; o++)
					sum[o] += v * w[o];
			}
			for (int o = 0; o < C; o++)
				out[o] = sum[o] > 0 ? sum[o] : 0;
		}
	}
};

// Runs an operator that wants another order of its maps than they have.
struct Reordered : Operator {
	std::unique_ptr<Operator> inside;
	watch *clock;
	Maps before, after;

	Reordered(std::unique_ptr<Operator> op, watch *w) : inside(std::move(op)), clock(w) {}

	void apply(Maps &from, Maps &to) override
	{
		planted_begin(clock);
		{
			DWELL_OP("to_pixels");
			for (int c = 0; c < C; c++)
				for (int n = 0; n < N; n++)
					before.pixel(n)[c] = from.plane(c)[n];
		}
		planted_end(clock);
		inside->apply(before, after);
		planted_begin(clock);
		{
			DWELL_OP("to_planes");
			for (int n = 0; n < N; n++)
				for (int c = 0; c < C; c++)
					to.plane(c)[n] = after.pixel(n)[c];
		}
		planted_end(clock);
	}
};

int main()
{
	watch clock;
	std::mt19937 random(12);
	std::uniform_real_distribution<float> any(-0.18f, 0.2f);
	std::vector<std::unique_ptr<Operator>> network;
	for (int block = 0; block < 2; block++) {
		auto filter = std::make_unique<Depthwise>();
		auto mix = std::make_unique<Mix>();
		std::generate(filter->taps.begin(), filter->taps.end(), [&] { return any(random); });
		std::generate(mix->weights.begin(), mix->weights.end(), [&] { return any(random); });
		network.push_back(std::move(filter));
		network.push_back(std::make_unique<Reordered>(std::move(mix), &clock));
	}
	Maps frame, a, b;
	std::vector<float> night(4096);
	double tails = 0;

	for (float &light : night)
		light = 5 * any(random);
	watch_begin(&clock);
	while (watch_seconds(&clock) < 6) {
		DWELL_STEP();
		for (size_t i = 0; i < frame.values.size(); i++)
			frame.values[i] = night[(i * 7 + static_cast<size_t>(clock.steps) * 13) & 4095];
		Maps *from = &frame, *to = &a;
		for (auto &op : network) {
			op->apply(*from, *to);
			from = to;
			to = to == &a ? &b : &a;
		}
		DWELL_OP("pool");
		for (int n = 0; n < N; n++)
			tails += static_cast<double>(from->plane(5)[n]) * 1e-6;
		clock.steps++;
	}
	watch_tell(&clock);
	std::printf("tails %.4f\n", tails);
}
