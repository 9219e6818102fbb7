/*
 * Tells lighthouses apart by their foghorns: gated convolutions over time with growing gaps between the taps, as in WaveNet,
 * and a gated recurrent cell at the end. Inference, one recording after the other.
 *
 * Clean: nothing is planted; all recordings are equally long and lie in memory.
 * Truth: nothing comes near a cause, 0.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <vector>

struct Sound {
	Sound(int moments, int channels) : moments(moments), channels(channels), data((size_t)moments * channels) {}
	float *at(int t) { return &data[(size_t)t * channels]; }
	const float *at(int t) const { return &data[(size_t)t * channels]; }
	int moments, channels;
	std::vector<float> data;
};

static std::vector<float> wave(size_t count, float scale, int seed)
{
	std::vector<float> w(count);
	for (size_t i = 0; i < count; i++)
		w[i] = scale * std::sin((float)((i * 7919 + (size_t)seed * 104729) % 10007));
	return w;
}

class Gated {
public:
	Gated(int channels, int gap, int seed)
	    : channels_(channels), gap_(gap), taps_(wave((size_t)2 * 3 * channels * channels, 0.15f, seed)), sums_(2 * channels)
	{
	}

	void operator()(const Sound &in, Sound &out)
	{
		for (int t = 0; t < in.moments; t++) {
			for (float &s : sums_)
				s = 0.01f;
			for (int tap = 0; tap < 3; tap++) {
				const int past = t - tap * gap_;
				const float *x = in.at(past < 0 ? 0 : past);
				const float *w = &taps_[(size_t)tap * 2 * channels_ * channels_];
				for (int c = 0; c < channels_; c++, w += 2 * channels_)
					for (int o = 0; o < 2 * channels_; o++)
						sums_[o] += x[c] * w[o];
			}
			for (int o = 0; o < channels_; o++) {
				const float gate = sums_[o + channels_];
				out.at(t)[o] = in.at(t)[o] + sums_[o] / (1 + std::fabs(sums_[o])) * (0.5f + 0.5f * gate / (1 + std::fabs(gate)));
			}
		}
	}

private:
	int channels_, gap_;
	std::vector<float> taps_, sums_;
};

class Cell {
public:
	explicit Cell(int channels) : n_(channels), w_(wave((size_t)2 * channels * 2 * channels, 0.1f, 91)), h_(channels), sums_(2 * channels) {}

	float operator()(const Sound &in)
	{
		h_.assign(n_, 0.1f);
		for (int t = 0; t < in.moments; t++) {
			for (float &s : sums_)
				s = 0;
			for (int c = 0; c < 2 * n_; c++) {
				const float x = c < n_ ? in.at(t)[c] : h_[c - n_];
				for (int o = 0; o < 2 * n_; o++)
					sums_[o] += x * w_[(size_t)c * 2 * n_ + o];
			}
			for (int o = 0; o < n_; o++) {
				const float keep = 0.5f + 0.5f * sums_[o] / (1 + std::fabs(sums_[o]));
				const float fresh = sums_[o + n_] / (1 + std::fabs(sums_[o + n_]));
				h_[o] = keep * h_[o] + (1 - keep) * fresh;
			}
		}
		return h_[0];
	}

private:
	int n_;
	std::vector<float> w_, h_, sums_;
};

int main()
{
	constexpr int kMoments = 400, kChannels = 40;
	static watch watch;
	std::vector<Sound> recordings;
	std::vector<Gated> layers;
	Cell cell(kChannels);
	Sound one(kMoments, kChannels), two(kMoments, kChannels);
	float sum = 0;

	for (int r = 0; r < 10; r++) {
		recordings.emplace_back(kMoments, kChannels);
		for (int t = 0; t < kMoments; t++)
			for (int c = 0; c < kChannels; c++)
				recordings.back().at(t)[c] = std::sin(0.05f * (float)(t * (c + r + 1))) + 0.1f;
	}
	for (int l = 0; l < 4; l++)
		layers.emplace_back(kChannels, 1 << l, l + 3);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const Sound &recording = recordings[watch.steps % 10];
		{
			DWELL_ZONE("gated convolutions");
			layers[0](recording, one);
			layers[1](one, two);
			layers[2](two, one);
			layers[3](one, two);
		}
		DWELL_ZONE("cell");
		sum = 0.9f * sum + cell(two);
	}
	watch_tell(&watch);
	std::printf("sum %.5f\n", (double)sum);
}
