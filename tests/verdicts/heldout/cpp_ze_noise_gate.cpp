// Removes noise from speech, frame by frame: an engine whose operators want different layouts of the same tensor.
//
// Planted: convolutions want the channels first and the norm wants them last, so the engine permutes before and after each norm.
// Truth: time of permuting, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int frames = 512, bands = 24;

struct Tensor {
	int rows = 0, columns = 0;
	std::vector<float> values;

	Tensor(int r, int c) : rows(r), columns(c), values(static_cast<size_t>(r) * c) {}
	float *row(int r) { return values.data() + static_cast<size_t>(r) * columns; }
	const float *row(int r) const { return values.data() + static_cast<size_t>(r) * columns; }
};

watch watch_;

Tensor permute(const Tensor &x)
{
	DWELL_OP("permute");
	planted_begin(&watch_);
	Tensor y(x.columns, x.rows);
	for (int c = 0; c < x.columns; c++)
		for (int r = 0; r < x.rows; r++)
			y.row(c)[r] = x.row(r)[c];
	planted_end(&watch_);
	return y;
}

class Module {
public:
	virtual ~Module() = default;
	virtual Tensor operator()(const Tensor &x) const = 0;
};

std::mt19937 random_(31);

std::vector<float> drawn(size_t count, float scale)
{
	std::normal_distribution<float> normal(0, scale);
	std::vector<float> values(count);
	for (auto &value : values)
		value = normal(random_);
	return values;
}

/* Over time, by groups of channels: [channel][time]. */
class GroupedConv : public Module {
public:
	GroupedConv(int channels, int dilation) : channels_(channels), dilation_(dilation), weight_(drawn(static_cast<size_t>(channels) * group * 3, 0.35f)) {}

	Tensor operator()(const Tensor &x) const override
	{
		DWELL_OP("grouped_conv1d");
		Tensor y(channels_, x.columns);
		for (int o = 0; o < channels_; o++) {
			float *out = y.row(o);
			for (int g = 0; g < group; g++) {
				const float *in = x.row(o / group * group + g), *w = &weight_[(static_cast<size_t>(o) * group + g) * 3];
				for (int t = dilation_; t < x.columns - dilation_; t++)
					out[t] += w[0] * in[t - dilation_] + w[1] * in[t] + w[2] * in[t + dilation_];
			}
		}
		return y;
	}

private:
	static constexpr int group = 2;
	int channels_, dilation_;
	std::vector<float> weight_;
};

/* Over the channels of each frame: [time][channel]. */
class LayerNorm : public Module {
public:
	explicit LayerNorm(int channels) : gain_(drawn(channels, 0.2f)), shift_(drawn(channels, 0.1f)) {}

	Tensor operator()(const Tensor &x) const override
	{
		DWELL_OP("layer_norm");
		Tensor y(x.rows, x.columns);
		for (int t = 0; t < x.rows; t++) {
			const float *in = x.row(t);
			float *out = y.row(t), sum = 0, squares = 0;
			for (int c = 0; c < x.columns; c++) {
				sum += in[c];
				squares += in[c] * in[c];
			}
			const float mean = sum / x.columns, scale = 1 / std::sqrt(squares / x.columns - mean * mean + 1e-5f);
			for (int c = 0; c < x.columns; c++) {
				const float v = (in[c] - mean) * scale * (1 + gain_[c]) + shift_[c];
				out[c] = v > 0 ? v : 0.2f * v;
			}
		}
		return y;
	}

private:
	std::vector<float> gain_, shift_;
};

class Block {
public:
	Block(int channels, int dilation) : conv_(channels, dilation), norm_(channels) {}

	void apply(Tensor &x) const
	{
		DWELL_LAYER("DilatedBlock");
		const Tensor y = permute(norm_(permute(conv_(x))));
		DWELL_OP("add");
		for (size_t i = 0; i < y.values.size(); i++)
			x.values[i] += y.values[i];
	}

private:
	GroupedConv conv_;
	LayerNorm norm_;
};

}  // namespace

int main()
{
	constexpr int channels = bands * 8;
	std::vector<Block> blocks;
	for (int dilation : {1, 2, 4, 8})
		blocks.emplace_back(channels, dilation);
	const auto widen = drawn(channels, 0.5f);
	std::vector<Tensor> recordings;
	for (int n = 0; n < 6; n++) {
		Tensor recording(bands, frames);
		recording.values = drawn(recording.values.size(), 1);
		recordings.push_back(recording);
	}
	double gate = 0;

	watch_begin(&watch_);
	for (; watch_seconds(&watch_) < 6; watch_.steps++) {
		DWELL_STEP();
		const Tensor &noisy = recordings[static_cast<size_t>(watch_.steps) % recordings.size()];
		Tensor x(channels, frames);
		{
			DWELL_OP("widen");
			for (int c = 0; c < channels; c++)
				for (int t = 0; t < frames; t++)
					x.row(c)[t] = widen[static_cast<size_t>(c)] * noisy.row(c / 8)[t];
		}
		for (const Block &block : blocks)
			block.apply(x);
		DWELL_OP("gate");
		for (int c = 0; c < channels; c += 8)
			for (int t = 0; t < frames; t++)
				gate += x.row(c)[t] > 0;
	}
	watch_tell(&watch_);
	std::printf("open %.4f\n", gate / watch_.steps / bands / frames);
}
