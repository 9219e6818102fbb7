// Trains a conditional random field over phonemes, with a network for each frame. Operators have names.
//
// Plants nothing.
// Truth: time of drawing the utterances, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

constexpr int frames = 220, bands = 40, width = 64, phonemes = 44;

using Matrix = std::vector<float>;

Matrix in(width * bands), out(phonemes * width), change(phonemes * phonemes);
Matrix sound(frames * bands), unit(frames * width), score(frames * phonemes);
Matrix alpha(frames * phonemes), beta(frames * phonemes), gradient(frames * phonemes);
std::vector<int> spoken(frames);
std::mt19937 generator(3);

void utter()
{
	DWELL_SCOPE(DWELL_CATEGORY_DATA, "utterance");
	for (int t = 0; t < frames; t++) {
		spoken[t] = t % 5 ? spoken[t - 1] : static_cast<int>(generator() % phonemes);
		for (int b = 0; b < bands; b++)
			sound[t * bands + b] = (b == spoken[t] % bands) + static_cast<float>(generator() % 100) / 200;
	}
}

void matmul(const Matrix &w, const Matrix &x, Matrix &y, int inputs, int outputs, bool bend)
{
	DWELL_OP("linear");
	for (int t = 0; t < frames; t++)
		for (int o = 0; o < outputs; o++) {
			float sum = 0;
			for (int i = 0; i < inputs; i++)
				sum += w[o * inputs + i] * x[t * inputs + i];
			y[t * outputs + o] = bend ? std::max(sum, 0.f) : sum;
		}
}

float log_sum(const float *terms)
{
	const float top = *std::max_element(terms, terms + phonemes);
	float sum = 0;
	for (int p = 0; p < phonemes; p++)
		sum += std::exp(terms[p] - top);
	return top + std::log(sum);
}

void forward_sums()
{
	float terms[phonemes];
	DWELL_OP("crf_forward");
	for (int p = 0; p < phonemes; p++)
		alpha[p] = score[p];
	for (int t = 1; t < frames; t++)
		for (int p = 0; p < phonemes; p++) {
			for (int q = 0; q < phonemes; q++)
				terms[q] = alpha[(t - 1) * phonemes + q] + change[q * phonemes + p];
			alpha[t * phonemes + p] = score[t * phonemes + p] + log_sum(terms);
		}
}

void backward_sums()
{
	float terms[phonemes];
	DWELL_OP("crf_backward");
	std::fill(beta.end() - phonemes, beta.end(), 0.f);
	for (int t = frames - 2; t >= 0; t--)
		for (int p = 0; p < phonemes; p++) {
			for (int q = 0; q < phonemes; q++)
				terms[q] = change[p * phonemes + q] + score[(t + 1) * phonemes + q] + beta[(t + 1) * phonemes + q];
			beta[t * phonemes + p] = log_sum(terms);
		}
}

void learn()
{
	DWELL_OP("weight_gradients");
	const float all = log_sum(&alpha[(frames - 1) * phonemes]);
	for (int t = 0; t < frames; t++)
		for (int p = 0; p < phonemes; p++) {
			const float g = std::exp(alpha[t * phonemes + p] + beta[t * phonemes + p] - all) - (spoken[t] == p);
			gradient[t * phonemes + p] = 0.002f * g;
			change[spoken[t ? t - 1 : 0] * phonemes + p] -= 0.002f * g;
		}
	for (int t = 0; t < frames; t++) {
		float back[width] = {};
		for (int p = 0; p < phonemes; p++)
			for (int w = 0; w < width; w++) {
				back[w] += gradient[t * phonemes + p] * out[p * width + w];
				out[p * width + w] -= gradient[t * phonemes + p] * unit[t * width + w];
			}
		for (int w = 0; w < width; w++)
			if (unit[t * width + w] > 0)
				for (int b = 0; b < bands; b++)
					in[w * bands + b] -= back[w] * sound[t * bands + b];
	}
}

}  // namespace

int main()
{
	watch watch;
	std::normal_distribution<float> normal(0, 0.1f);
	for (auto *weights : {&in, &out, &change})
		for (auto &weight : *weights)
			weight = normal(generator);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		utter();
		planted_end(&watch);
		matmul(in, sound, unit, bands, width, true);
		matmul(out, unit, score, width, phonemes, false);
		forward_sums();
		backward_sums();
		learn();
	}
	watch_tell(&watch);
}
