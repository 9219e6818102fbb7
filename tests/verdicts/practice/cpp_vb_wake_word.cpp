// Listens for a wake word on a small board: features of a window of sound and two dense layers decide, one recording
// after the other, and the last layer adapts to the speaker.
//
// Planted: the tables of the window, of the transform and of the mel bands are computed anew for each recording.
// Truth: time of making these tables, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr int kWindow = 512, kHop = 256, kBands = 32, kSeconds = 1, kRate = 8000, kUnits = 96;
constexpr int kSamples = kSeconds * kRate, kFrames = (kSamples - kWindow) / kHop + 1;

class Frontend {
public:
	Frontend() : taper_(kWindow), bands_(kBands * (kWindow / 2 + 1))
	{
		const double pi = std::acos(-1.0);
		for (int i = 0; i < kWindow; i++)
			taper_[i] = static_cast<float>(0.42 - 0.5 * std::cos(2 * pi * i / (kWindow - 1)) + 0.08 * std::cos(4 * pi * i / (kWindow - 1)));
		for (int half = 1; half < kWindow; half *= 2)
			for (int k = 0; k < half; k++)
				twist_.push_back(std::complex<float>(std::polar(1.0, -pi * k / half)));
		for (int b = 0; b < kBands; b++)
			for (int k = 0; k <= kWindow / 2; k++) {
				// the mean over the bin, from four points
				double weight = 0;
				for (int part = 0; part < 4; part++) {
					const double mel = 2595 * std::log10(1 + (k + part / 4.0) * (kRate / 2.0) / (kWindow / 2) / 700);
					const double centre = (b + 1) * 2146.0 / (kBands + 1), width = 2146.0 / (kBands + 1);
					weight += std::exp(-0.5 * std::pow((mel - centre) / width, 2.0)) / 4;
				}
				bands_[b * (kWindow / 2 + 1) + k] = static_cast<float>(weight);
			}
	}

	void listen(const std::vector<float> &sound, std::vector<float> &features) const
	{
		std::vector<std::complex<float>> z(kWindow);
		for (int f = 0; f < kFrames; f++) {
			for (int i = 0, j = 0; i < kWindow; i++) {
				z[j] = sound[f * kHop + i] * taper_[i];
				int bit = kWindow >> 1;
				for (; j & bit; bit >>= 1)
					j ^= bit;
				j |= bit;
			}
			transform(z);
			for (int b = 0; b < kBands; b++) {
				float sum = 1e-6f;
				for (int k = 0; k <= kWindow / 2; k++)
					sum += bands_[b * (kWindow / 2 + 1) + k] * (z[k].real() * z[k].real() + z[k].imag() * z[k].imag());
				features[f * kBands + b] = std::log(sum);
			}
		}
	}

private:
	void transform(std::vector<std::complex<float>> &z) const
	{
		const std::complex<float> *twist = twist_.data();
		for (int half = 1; half < kWindow; twist += half, half *= 2)
			for (int at = 0; at < kWindow; at += 2 * half)
				for (int k = 0; k < half; k++) {
					const auto a = z[at + k];
					const auto c = z[at + k + half], w = twist[k];
					const std::complex<float> b(c.real() * w.real() - c.imag() * w.imag(), c.real() * w.imag() + c.imag() * w.real());
					z[at + k] = a + b;
					z[at + k + half] = a - b;
				}
	}
	std::vector<float> taper_, bands_;
	std::vector<std::complex<float>> twist_;
};

struct Word {
	std::vector<float> first, last = std::vector<float>(kUnits, 0.01f), unit = std::vector<float>(kUnits);

	float score(const std::vector<float> &features)
	{
		float y = 0;
		for (int u = 0; u < kUnits; u++) {
			float a = 0;
			for (size_t i = 0; i < features.size(); i++)
				a += first[u * features.size() + i] * features[i];
			unit[u] = std::tanh(a);
			y += last[u] * unit[u];
		}
		return 1 / (1 + std::exp(-y));
	}
	void adapt(float error)
	{
		for (int u = 0; u < kUnits; u++)
			last[u] -= 0.01f * error * unit[u];
	}
};

}  // namespace

int main()
{
	std::mt19937 random(12);
	std::normal_distribution<float> normal(0, 1);
	std::vector<std::vector<float>> recordings(24, std::vector<float>(kSamples));
	std::vector<float> features(kFrames * kBands);
	Word word;
	float heard = 0;
	watch clock;

	for (size_t r = 0; r < recordings.size(); r++)
		for (int i = 0; i < kSamples; i++)
			recordings[r][i] = std::sin(static_cast<float>(i) * (0.05f + 0.01f * static_cast<float>(r))) + 0.1f * normal(random);
	word.first.resize(kUnits * features.size());
	for (float &w : word.first)
		w = 0.002f * normal(random);
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		const auto &sound = recordings[clock.steps % recordings.size()];
		{
			DWELL_ZONE("features");
			planted_begin(&clock);
			const auto frontend = std::make_unique<Frontend>();
			planted_end(&clock);
			frontend->listen(sound, features);
		}
		{
			DWELL_ZONE("score");
			heard = word.score(features);
		}
		DWELL_ZONE("adapt");
		word.adapt(heard - (clock.steps % 3 == 0 ? 1.f : 0.f));
	}
	watch_tell(&clock);
	std::printf("%g\n", heard);
}
