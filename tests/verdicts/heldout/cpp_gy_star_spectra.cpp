// Spectra of stars: an autoencoder with a bottleneck of twenty numbers takes the noise out of them, trained with Adam on batches of
// sixty-four.
//
// Clean: dense layers forward and back in one thread, the same work in each step, all memory from before the loop.
// Truth: 0.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int Batch = 64, Stars = 640;

template <int In, int Out> class Dense {
public:
	explicit Dense(std::mt19937 &dice) : w_(In * Out), g_(In * Out), m_(In * Out, 1e-3f), v_(In * Out, 1e-3f), y_(Batch * Out), dx_(Batch * In)
	{
		std::uniform_real_distribution<float> flat(-1.5f / std::sqrt(In), 1.5f / std::sqrt(In));
		std::generate(w_.begin(), w_.end(), [&] { return flat(dice); });
	}
	const float *forward(const float *x)
	{
		for (int b = 0; b < Batch; b++) {
			float *y = &y_[b * Out];
			std::fill(y, y + Out, 0.0f);
			for (int i = 0; i < In; i++)
				for (int o = 0; o < Out; o++)
					y[o] += w_[i * Out + o] * x[b * In + i];
			for (int o = 0; o < Out; o++)
				y[o] /= 1 + std::fabs(y[o]);
		}
		return y_.data();
	}
	// dy becomes the slope before the bend.
	float *backward(const float *x, float *dy)
	{
		for (int b = 0; b < Batch; b++) {
			float *d = dy + b * Out;
			for (int o = 0; o < Out; o++) {
				const float rest = 1 - std::fabs(y_[b * Out + o]);
				d[o] *= rest * rest;
			}
			for (int i = 0; i < In; i++) {
				float sum = 0;
				for (int o = 0; o < Out; o++) {
					g_[i * Out + o] += d[o] * x[b * In + i];
					sum += d[o] * w_[i * Out + o];
				}
				dx_[b * In + i] = sum;
			}
		}
		return dx_.data();
	}
	void adam(float rate)
	{
		for (int i = 0; i < In * Out; i++) {
			m_[i] = 0.9f * m_[i] + 0.1f * g_[i];
			v_[i] = 0.999f * v_[i] + 0.001f * g_[i] * g_[i];
			w_[i] -= rate * m_[i] / (std::sqrt(v_[i]) + 1e-5f);
			g_[i] = 0;
		}
	}

private:
	std::vector<float> w_, g_, m_, v_, y_, dx_;
};

constexpr int Bins = 256, Middle = 80, Code = 20;

struct Autoencoder {
	Dense<Bins, Middle> in;
	Dense<Middle, Code> narrow;
	Dense<Code, Middle> wide;
	Dense<Middle, Bins> out;
	explicit Autoencoder(std::mt19937 &dice) : in(dice), narrow(dice), wide(dice), out(dice) {}
};

// A continuum with absorption lines, all well inside of what the last layer can say.
std::vector<float> catalogue(std::mt19937 &dice)
{
	std::uniform_real_distribution<float> flat(0, 1);
	std::vector<float> spectra(Stars * Bins);
	for (int s = 0; s < Stars; s++) {
		const float slope = flat(dice) - 0.5f, shift = 6 * flat(dice), depth = 0.3f * flat(dice);
		for (int b = 0; b < Bins; b++) {
			float flux = 0.4f + 0.3f * slope * static_cast<float>(b) / Bins;
			for (const float line : {31.f, 77.f, 120.f, 188.f, 230.f}) {
				const float off = (static_cast<float>(b) - line - shift) / 3;
				flux -= depth / (1 + off * off);
			}
			spectra[s * Bins + b] = flux;
		}
	}
	return spectra;
}

} // namespace

int main()
{
	std::mt19937 dice(19);
	const std::vector<float> spectra = catalogue(dice);
	Autoencoder net(dice);
	std::vector<float> noisy(Batch * Bins), slope(Batch * Bins);
	uint32_t noise = 1;
	float loss = 0;
	watch watch;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		const float *clean = &spectra[watch.steps % (Stars / Batch) * Batch * Bins];
		for (int i = 0; i < Batch * Bins; i++) {
			noise = noise * 1664525 + 1013904223;
			noisy[i] = clean[i] + static_cast<float>(static_cast<int32_t>(noise)) * 1e-10f;
		}
		const float *a, *b, *c, *d;
		{
			DWELL_PHASE("forward");
			a = net.in.forward(noisy.data());
			b = net.narrow.forward(a);
			c = net.wide.forward(b);
			d = net.out.forward(c);
		}
		loss = 0;
		for (int i = 0; i < Batch * Bins; i++) {
			slope[i] = (d[i] - clean[i]) / Batch;
			loss += slope[i] * slope[i];
		}
		{
			DWELL_PHASE("backward");
			float *back = net.out.backward(c, slope.data());
			back = net.wide.backward(b, back);
			back = net.narrow.backward(a, back);
			net.in.backward(noisy.data(), back);
		}
		DWELL_PHASE("optimizer");
		net.in.adam(1e-3f);
		net.narrow.adam(1e-3f);
		net.wide.adam(1e-3f);
		net.out.adam(1e-3f);
		watch.steps++;
	}
	watch_tell(&watch);
	std::printf("loss %.6f\n", static_cast<double>(loss));
	return 0;
}
