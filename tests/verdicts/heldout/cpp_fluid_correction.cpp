/*
 * A fluid on a coarse grid. A small convolutional network corrects what the grid is too coarse for.
 *
 * Planted: nothing. Advection, the solver of the pressure and the network share the time.
 * Truth: time of the edges of the grid and of the energy that is printed at the end, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace {

constexpr int N = 128, kChannels = 6, kSweeps = 24;
constexpr double kSeconds = 6;

class Field {
public:
	Field() : values_((N + 2) * (N + 2)) {}
	float &operator()(int y, int x) { return values_[y * (N + 2) + x]; }
	float operator()(int y, int x) const { return values_[y * (N + 2) + x]; }
	void wrap()
	{
		for (int at = 0; at < N + 2; at++) {
			(*this)(at, 0) = (*this)(at, N);
			(*this)(at, N + 1) = (*this)(at, 1);
			(*this)(0, at) = (*this)(N, at);
			(*this)(N + 1, at) = (*this)(1, at);
		}
	}
	void swap(Field &other) { values_.swap(other.values_); }

private:
	std::vector<float> values_;
};

struct Fluid {
	Field u, v, p, next_u, next_v, next_p, divergence, correction, features[kChannels];
	float kernel[kChannels][2][9], back[kChannels][9];

	void advect(float dt)
	{
		DWELL_ZONE("advect");
		for (int y = 1; y <= N; y++)
			for (int x = 1; x <= N; x++) {
				const float fx = std::clamp(x - dt * u(y, x), 0.5f, N + 0.5f), fy = std::clamp(y - dt * v(y, x), 0.5f, N + 0.5f);
				const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
				const float ax = fx - ix, ay = fy - iy;
				next_u(y, x) = (1 - ay) * ((1 - ax) * u(iy, ix) + ax * u(iy, ix + 1)) + ay * ((1 - ax) * u(iy + 1, ix) + ax * u(iy + 1, ix + 1));
				next_v(y, x) = (1 - ay) * ((1 - ax) * v(iy, ix) + ax * v(iy, ix + 1)) + ay * ((1 - ax) * v(iy + 1, ix) + ax * v(iy + 1, ix + 1));
			}
		u.swap(next_u);
		v.swap(next_v);
	}

	void project()
	{
		DWELL_ZONE("pressure");
		for (int y = 1; y <= N; y++)
			for (int x = 1; x <= N; x++)
				divergence(y, x) = 0.5f * (u(y, x + 1) - u(y, x - 1) + v(y + 1, x) - v(y - 1, x));
		for (int sweep = 0; sweep < kSweeps; sweep++) {
			for (int y = 1; y <= N; y++)
				for (int x = 1; x <= N; x++)
					next_p(y, x) = 0.25f * (p(y, x + 1) + p(y, x - 1) + p(y + 1, x) + p(y - 1, x) - divergence(y, x));
			p.swap(next_p);
			p.wrap();
		}
		for (int y = 1; y <= N; y++)
			for (int x = 1; x <= N; x++) {
				u(y, x) -= 0.5f * (p(y, x + 1) - p(y, x - 1));
				v(y, x) -= 0.5f * (p(y + 1, x) - p(y - 1, x));
			}
	}

	void correct()
	{
		DWELL_ZONE("closure net");
		for (int channel = 0; channel < kChannels; channel++) {
			for (int y = 1; y <= N; y++)
				for (int x = 1; x <= N; x++) {
					float sum = 0;
					for (int tap = 0; tap < 9; tap++)
						sum += kernel[channel][0][tap] * u(y + tap / 3 - 1, x + tap % 3 - 1) +
						       kernel[channel][1][tap] * v(y + tap / 3 - 1, x + tap % 3 - 1);
					features[channel](y, x) = std::max(sum, 0.0f);
				}
			for (int y = 1; y <= N; y++)
				for (int x = 1; x <= N; x++)
					for (int tap = 0; tap < 9; tap++)
						correction(y, x) += back[channel][tap] * features[channel](y + tap / 3 - 1, x + tap % 3 - 1);
		}
		for (int y = 1; y <= N; y++)
			for (int x = 1; x <= N; x++)
				u(y, x) = std::clamp(u(y, x) + 1e-3f * std::exchange(correction(y, x), 0.0f), -2.0f, 2.0f);
	}
};

} // namespace

int main()
{
	static Fluid fluid;
	double energy = 0;
	struct watch watch;

	for (int y = 1; y <= N; y++)
		for (int x = 1; x <= N; x++) {
			fluid.u(y, x) = std::sin(0.1f * y);
			fluid.v(y, x) = std::cos(0.07f * x);
		}
	for (int channel = 0; channel < kChannels; channel++)
		for (int tap = 0; tap < 9; tap++) {
			fluid.kernel[channel][0][tap] = 0.1f * std::sin(channel + tap);
			fluid.kernel[channel][1][tap] = 0.1f * std::cos(channel - tap);
			fluid.back[channel][tap] = 0.05f * std::sin(3.0f * tap + channel);
		}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		fluid.advect(0.4f);
		fluid.project();
		fluid.correct();
		planted_begin(&watch);
		DWELL_ZONE("edges");
		fluid.u.wrap();
		fluid.v.wrap();
		energy += fluid.u(N / 2, N / 2) * fluid.u(N / 2, N / 2);
		planted_end(&watch);
	}
	watch_tell(&watch);
	printf("energy %g\n", energy);
}
