// Finds tapirs in the frames of a camera trap: separable filters, pooling and a logistic head, trained on the fly.
//
// Planted: after each frame a thrifty helper calls malloc_trim(0), so the kernel takes all free memory and gives it back,
// zeroed page by page, to the next frame's feature maps.
// Truth: time that the kernel works for the thread (faults and the return of pages), of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <malloc.h>
#include <memory>
#include <vector>

struct Plane {
	int height, width;
	std::unique_ptr<float[]> pixels;

	Plane(int h, int w) : height(h), width(w), pixels(new float[static_cast<size_t>(h) * w]) {}
	float *row(int y) { return pixels.get() + static_cast<size_t>(y) * width; }
	const float *row(int y) const { return pixels.get() + static_cast<size_t>(y) * width; }
};

static Plane across(const Plane &in, const float *taps)
{
	Plane out(in.height, in.width - 2);
	for (int y = 0; y < out.height; y++)
		for (int x = 0; x < out.width; x++)
			out.row(y)[x] = taps[0] * in.row(y)[x] + taps[1] * in.row(y)[x + 1] + taps[2] * in.row(y)[x + 2];
	return out;
}

static Plane down(const Plane &in, const float *taps)
{
	Plane out(in.height - 2, in.width);
	for (int y = 0; y < out.height; y++)
		for (int x = 0; x < out.width; x++) {
			const float a = taps[0] * in.row(y)[x] + taps[1] * in.row(y + 1)[x] + taps[2] * in.row(y + 2)[x];
			out.row(y)[x] = a / (1 + std::exp(-a));
		}
	return out;
}

static void pool(const Plane &in, std::vector<float> &features)
{
	for (int cell = 0; cell < 64; cell++) {
		const int y0 = cell / 8 * (in.height / 8), x0 = cell % 8 * (in.width / 8);
		float sum = 0;
		for (int y = y0; y < y0 + in.height / 8; y++)
			for (int x = x0; x < x0 + in.width / 8; x++)
				sum += in.row(y)[x];
		features.push_back(sum / static_cast<float>(in.height / 8 * (in.width / 8)));
	}
}

static void tidy_up()
{
	malloc_trim(0);
}

int main()
{
	const int height = 300, width = 400, filters = 6;
	static const float taps[filters][3] = {{1, 0, -1}, {1, 2, 1}, {-1, 2, -1}, {0, 1, -1}, {.3f, .4f, .3f}, {-1, 0, 1}};
	std::vector<float> weights(64 * filters, 0.f);
	std::vector<Plane> film;
	watch clock;

	for (int f = 0; f < 8; f++) {
		film.emplace_back(height, width);
		for (int y = 0; y < height; y++)
			for (int x = 0; x < width; x++)
				film.back().row(y)[x] = std::sin(static_cast<float>(x * (1 + f % 3) + y * 2) * 0.05f) + static_cast<float>((x * 31 + y * 17 + f) % 13) / 13;
	}
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		const Plane &frame = film[clock.steps % film.size()];
		std::vector<Plane> maps;
		std::vector<float> features;
		{
			DWELL_ZONE("filters");
			for (int k = 0; k < filters; k++) {
				maps.push_back(across(frame, taps[k]));
				maps.push_back(down(maps.back(), taps[(k + 1) % filters]));
			}
		}
		{
			DWELL_ZONE("pool");
			for (size_t k = 1; k < maps.size(); k += 2)
				pool(maps[k], features);
		}
		{
			DWELL_ZONE("head");
			float a = 0;
			for (size_t i = 0; i < features.size(); i++)
				a += weights[i] * features[i];
			const float error = 1 / (1 + std::exp(-a)) - (clock.steps % 3 == 0 ? 1.f : 0.f);
			for (size_t i = 0; i < features.size(); i++)
				weights[i] -= 0.05f * error * features[i];
		}
		maps.clear();
		tidy_up();
	}
	watch_tell_share(&clock, (system_s() - clock.system_began) / watch_seconds(&clock));
	std::fprintf(stderr, "weight %g\n", static_cast<double>(weights[9]));
}
