// Warns of hail: a gated recurrent unit reads the last 24 scans of a storm's cell and says how large the hail will be;
// backpropagation through time by hand.
//
// Clean: one thread, sequences of one length, buffers that are made once; each step does the same.
// Truth: time of clearing the slopes and of the update, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int kScans = 24, kEchoes = 10, kCells = 40, kBatch = 16, kStorms = 256;

template <int Rows, int Columns>
struct Dense {
	std::array<std::array<float, Columns>, Rows> w{}, g{};

	void add_product(const float *x, float *y) const
	{
		for (int r = 0; r < Rows; r++) {
			float a = 0;
			for (int c = 0; c < Columns; c++)
				a += w[r][c] * x[c];
			y[r] += a;
		}
	}
	void back(const float *x, const float *dy, float *dx)
	{
		for (int r = 0; r < Rows; r++)
			for (int c = 0; c < Columns; c++) {
				g[r][c] += dy[r] * x[c];
				dx[c] += dy[r] * w[r][c];
			}
	}
	void update(float rate)
	{
		for (auto r = 0; r < Rows; r++)
			for (auto c = 0; c < Columns; c++) {
				w[r][c] -= rate * g[r][c];
				g[r][c] = 0;
			}
	}
	void start(std::mt19937 &random)
	{
		std::normal_distribution<float> normal(0, 0.6f / std::sqrt(static_cast<float>(Columns)));
		for (auto &row : w)
			for (float &x : row)
				x = normal(random);
	}
};

struct Scan {
	float h[kCells], z[kCells], r[kCells], n[kCells], gated[kCells], before[kCells];
};

class Recurrent {
public:
	explicit Recurrent(std::mt19937 &random)
	{
		xz_.start(random), xr_.start(random), xn_.start(random);
		hz_.start(random), hr_.start(random), hn_.start(random);
		head_.start(random);
	}
	float forward(const float (*storm)[kEchoes])
	{
		DWELL_ZONE("gru forward");
		float h[kCells] = {};
		for (int t = 0; t < kScans; t++) {
			Scan &s = tape_[t];
			for (int i = 0; i < kCells; i++) {
				s.before[i] = h[i];
				s.z[i] = s.r[i] = s.n[i] = 0;
			}
			xz_.add_product(storm[t], s.z), hz_.add_product(h, s.z);
			xr_.add_product(storm[t], s.r), hr_.add_product(h, s.r);
			for (int i = 0; i < kCells; i++) {
				s.z[i] = 1 / (1 + std::exp(-s.z[i]));
				s.r[i] = 1 / (1 + std::exp(-s.r[i]));
				s.gated[i] = s.r[i] * h[i];
			}
			xn_.add_product(storm[t], s.n), hn_.add_product(s.gated, s.n);
			for (int i = 0; i < kCells; i++) {
				s.n[i] = std::tanh(s.n[i]);
				s.h[i] = h[i] = (1 - s.z[i]) * s.n[i] + s.z[i] * h[i];
			}
		}
		float size = 0;
		head_.add_product(h, &size);
		return size;
	}
	void backward(const float (*storm)[kEchoes], float error)
	{
		DWELL_ZONE("gru backward");
		float dh[kCells] = {}, ignored[kEchoes];
		head_.back(tape_[kScans - 1].h, &error, dh);
		for (int t = kScans - 1; t >= 0; t--) {
			const Scan &s = tape_[t];
			float dz[kCells], dr[kCells], dn[kCells], next[kCells], dgated[kCells] = {};
			for (int i = 0; i < kCells; i++) {
				dn[i] = dh[i] * (1 - s.z[i]) * (1 - s.n[i] * s.n[i]);
				dz[i] = dh[i] * (s.before[i] - s.n[i]) * s.z[i] * (1 - s.z[i]);
				next[i] = dh[i] * s.z[i];
			}
			hn_.back(s.gated, dn, dgated);
			for (int i = 0; i < kCells; i++) {
				dr[i] = dgated[i] * s.before[i] * s.r[i] * (1 - s.r[i]);
				next[i] += dgated[i] * s.r[i];
			}
			hz_.back(s.before, dz, next), hr_.back(s.before, dr, next);
			for (float &x : ignored)
				x = 0;
			xz_.back(storm[t], dz, ignored), xr_.back(storm[t], dr, ignored), xn_.back(storm[t], dn, ignored);
			for (int i = 0; i < kCells; i++)
				dh[i] = next[i];
		}
	}
	void update(float rate)
	{
		DWELL_ZONE("update");
		xz_.update(rate), xr_.update(rate), xn_.update(rate);
		hz_.update(rate), hr_.update(rate), hn_.update(rate);
		head_.update(rate);
	}

private:
	Dense<kCells, kEchoes> xz_, xr_, xn_;
	Dense<kCells, kCells> hz_, hr_, hn_;
	Dense<1, kCells> head_;
	Scan tape_[kScans];
};

}  // namespace

int main()
{
	std::mt19937 random(44);
	std::normal_distribution<float> normal(0, 1);
	static float storms[kStorms][kScans][kEchoes], hail[kStorms];
	static Recurrent model(random);
	double loss = 0;
	watch clock;

	for (int s = 0; s < kStorms; s++) {
		const float strength = normal(random);
		for (int t = 0; t < kScans; t++)
			for (int e = 0; e < kEchoes; e++)
				storms[s][t][e] = strength * std::sin(0.2f * static_cast<float>(t + e)) + 0.5f * normal(random);
		hail[s] = 0.5f * strength + 0.3f * normal(random);
	}
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		for (int b = 0; b < kBatch; b++) {
			const int s = (clock.steps * kBatch + b) % kStorms;
			const float error = model.forward(storms[s]) - hail[s];
			model.backward(storms[s], error);
			loss = 0.99 * loss + 0.01 * error * error;
		}
		planted_begin(&clock);
		model.update(0.01f / kBatch);
		planted_end(&clock);
	}
	watch_tell(&clock);
	std::printf("loss %g\n", loss);
}
