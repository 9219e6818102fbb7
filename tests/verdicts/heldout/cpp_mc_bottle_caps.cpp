// Looks at bottle caps on a belt: a small engine for separable convolutions, four blocks and a verdict "sits" or "slanted".
// Inference only, a picture at a time.
//
// Planted: the convolution of 1 x 1 wants the channels last and everything else wants them first, so each block turns its maps around and back.
// Truth: time of these turns, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <vector>

static watch stopwatch;

struct Maps {
	int channels, side;
	std::vector<float> data;

	Maps(int c, int s) : channels(c), side(s), data(static_cast<size_t>(c) * s * s) {}
	float *plane(int c) { return data.data() + static_cast<size_t>(c) * side * side; }
};

static void to_channels_last(Maps &from, std::vector<float> &to)
{
	DWELL_OP("nchw_to_nhwc");
	const int area = from.side * from.side;

	planted_begin(&stopwatch);
	for (int c = 0; c < from.channels; c++)
		for (int i = 0; i < area; i++)
			to[static_cast<size_t>(i) * from.channels + c] = from.data[static_cast<size_t>(c) * area + i];
	planted_end(&stopwatch);
}

static void to_channels_first(const std::vector<float> &from, Maps &to)
{
	DWELL_OP("nhwc_to_nchw");
	const int area = to.side * to.side;

	planted_begin(&stopwatch);
	for (int i = 0; i < area; i++)
		for (int c = 0; c < to.channels; c++)
			to.data[static_cast<size_t>(c) * area + i] = from[static_cast<size_t>(i) * to.channels + c];
	planted_end(&stopwatch);
}

class Block {
public:
	Block(int in, int out, int side, std::mt19937 &random)
		: depth(static_cast<size_t>(in) * 9), mix(static_cast<size_t>(in) * out), scale(out, 1.0f), shift(out, 0.01f),
		  spread(in, side), mixed(out, side), last_in(static_cast<size_t>(in) * side * side), last_out(static_cast<size_t>(out) * side * side)
	{
		std::normal_distribution<float> any(0, 0.25f);
		for (auto &w : depth)
			w = any(random);
		for (auto &w : mix)
			w = any(random);
	}

	Maps &run(Maps &in)
	{
		depthwise(in);
		to_channels_last(spread, last_in);
		pointwise();
		to_channels_first(last_out, mixed);
		normalise();
		return mixed;
	}

private:
	void depthwise(Maps &in)
	{
		DWELL_OP("conv3x3_depthwise");
		const int side = in.side;

		for (int c = 0; c < in.channels; c++) {
			const float *w = &depth[static_cast<size_t>(c) * 9], *from = in.plane(c);
			float *to = spread.plane(c);
			for (int y = 1; y + 1 < side; y++)
				for (int x = 1; x + 1 < side; x++) {
					const float *at = from + y * side + x;
					to[y * side + x] = w[0] * at[-side - 1] + w[1] * at[-side] + w[2] * at[-side + 1] + w[3] * at[-1] + w[4] * at[0] +
					                   w[5] * at[1] + w[6] * at[side - 1] + w[7] * at[side] + w[8] * at[side + 1];
				}
		}
	}

	void pointwise()
	{
		DWELL_OP("conv1x1");
		const int in = spread.channels, out = mixed.channels, area = spread.side * spread.side;

		for (int i = 0; i < area; i++) {
			const float *from = &last_in[static_cast<size_t>(i) * in];
			float *to = &last_out[static_cast<size_t>(i) * out];
			std::fill(to, to + out, 0.0f);
			for (int k = 0; k < in; k++)
				for (int o = 0; o < out; o++)
					to[o] += mix[static_cast<size_t>(k) * out + o] * from[k];
		}
	}

	void normalise()
	{
		DWELL_OP("norm_relu");
		const int area = mixed.side * mixed.side;

		for (int c = 0; c < mixed.channels; c++) {
			float *plane = mixed.plane(c), mean = 0, square = 1e-3f;
			for (int i = 0; i < area; i++) {
				mean += plane[i];
				square += plane[i] * plane[i];
			}
			mean /= static_cast<float>(area);
			const float by = scale[c] / (square / static_cast<float>(area) - mean * mean + 0.1f);
			for (int i = 0; i < area; i++)
				plane[i] = std::max(0.0f, (plane[i] - mean) * by + shift[c]);
		}
	}

	std::vector<float> depth, mix, scale, shift;
	Maps spread, mixed;
	std::vector<float> last_in, last_out;
};

int main()
{
	constexpr int side = 128, pictures = 1;
	std::mt19937 random(44);
	std::uniform_real_distribution<float> bright(0, 1);
	std::vector<Maps> belt(12, Maps(8, side));
	for (auto &picture : belt)
		for (auto &pixel : picture.data)
			pixel = bright(random);
	std::vector<Block> blocks;
	for (int channels : {8, 16, 32, 32})
		blocks.emplace_back(channels, channels == 8 ? 16 : 32, side, random);
	int slanted = 0;

	watch_begin(&stopwatch);
	for (; watch_seconds(&stopwatch) < 6; stopwatch.steps++) {
		DWELL_STEP();
		for (int p = 0; p < pictures; p++) {
			Maps *maps = &belt[(stopwatch.steps * pictures + p) % belt.size()];
			for (auto &block : blocks)
				maps = &block.run(*maps);
			DWELL_OP("verdict");
			float sits = 0;
			for (int c = 0; c < maps->channels; c++)
				for (int i = 0; i < side * side; i++)
					sits += (c % 2 ? 1.0f : -1.0f) * maps->plane(c)[i];
			slanted += sits < 0;
		}
	}
	watch_tell(&stopwatch);
	std::printf("%d slanted\n", slanted);
}
