// Hears from the sound of a saw whether its teeth are blunt: attention over frames with a bias by their distance, inference
// of one recording after the other.
//
// Planted: the bias by distance, which is the same for all recordings, is computed anew in each layer of each recording.
// Truth: time in the operator that computes the bias, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

using Matrix = std::vector<float>;

constexpr int frames = 256, width = 64, layers = 3;

struct Layer {
	Matrix query, key, value, out;
	float slope, period;
};

// to[n][o] = sum of from[n][i] weight[i][o]
void linear(const Matrix &from, const Matrix &weight, Matrix &to)
{
	DWELL_OP("linear");
	for (int n = 0; n < frames; n++) {
		float *t = &to[static_cast<std::size_t>(n * width)];
		for (int o = 0; o < width; o++)
			t[o] = 0;
		for (int i = 0; i < width; i++)
			for (int o = 0; o < width; o++)
				t[o] += from[static_cast<std::size_t>(n * width + i)] * weight[static_cast<std::size_t>(i * width + o)];
	}
}

void distance_bias(const Layer &layer, Matrix &bias)
{
	DWELL_OP("distance_bias");
	for (int a = 0; a < frames; a++)
		for (int b = 0; b < frames; b++) {
			const double apart = std::pow(std::fabs(a - b) + 1.0, 0.75);
			bias[static_cast<std::size_t>(a * frames + b)] = static_cast<float>(
			    std::cos(apart / layer.period) - layer.slope * std::log1p(apart));
		}
}

void attend(const Matrix &query, const Matrix &key, const Matrix &value, const Matrix &bias, Matrix &to)
{
	DWELL_OP("attend");
	std::vector<float> weight(frames);
	for (int a = 0; a < frames; a++) {
		float total = 0, *t = &to[static_cast<std::size_t>(a * width)];
		for (int i = 0; i < width; i++)
			t[i] = 0;
		for (int b = 0; b < frames; b++) {
			float sums[8] = {};
			for (int i = 0; i < width; i += 8)
				for (int k = 0; k < 8; k++)
					sums[k] += query[static_cast<std::size_t>(a * width + i + k)] * key[static_cast<std::size_t>(b * width + i + k)];
			float dot = 0;
			for (float s : sums)
				dot += s;
			const float w = std::exp(0.05f * dot + bias[static_cast<std::size_t>(a * frames + b)]);
			total += w;
			for (int i = 0; i < width; i++)
				t[i] += w * value[static_cast<std::size_t>(b * width + i)];
		}
		for (int i = 0; i < width; i++)
			t[i] /= total;
	}
}

void add_norm(Matrix &to, const Matrix &from)
{
	DWELL_OP("add_norm");
	for (int n = 0; n < frames; n++) {
		float mean = 0, square = 0, *t = &to[static_cast<std::size_t>(n * width)];
		for (int i = 0; i < width; i++) {
			t[i] += from[static_cast<std::size_t>(n * width + i)];
			mean += t[i] / width;
		}
		for (int i = 0; i < width; i++)
			square += (t[i] - mean) * (t[i] - mean) / width;
		for (int i = 0; i < width; i++)
			t[i] = (t[i] - mean) / std::sqrt(square + 1e-5f);
	}
}

Matrix drawn(int count, float scale, std::mt19937 &random)
{
	std::normal_distribution<float> any(0, scale);
	Matrix made(static_cast<std::size_t>(count));
	for (float &m : made)
		m = any(random);
	return made;
}

} // namespace

int main()
{
	static struct watch watch;
	std::mt19937 random(12);
	std::vector<Layer> saw;
	for (int l = 0; l < layers; l++) {
		Layer layer{drawn(width * width, 0.12f, random), drawn(width * width, 0.12f, random), drawn(width * width, 0.12f, random),
		            drawn(width * width, 0.12f, random), 0.2f * static_cast<float>(l + 1), 3.0f + static_cast<float>(l)};
		saw.push_back(layer);
	}
	Matrix query(frames * width), key(query), value(query), mixed(query), out(query), bias(frames * frames);
	double blunt = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		Matrix sound = drawn(frames * width, 1, random);
		for (const Layer &layer : saw) {
			linear(sound, layer.query, query);
			linear(sound, layer.key, key);
			linear(sound, layer.value, value);
			planted_begin(&watch);
			distance_bias(layer, bias);
			planted_end(&watch);
			attend(query, key, value, bias, mixed);
			linear(mixed, layer.out, out);
			add_norm(sound, out);
		}
		blunt += sound[0];
	}
	watch_tell(&watch);
	std::printf("%.3f\n", blunt);
	return 0;
}
