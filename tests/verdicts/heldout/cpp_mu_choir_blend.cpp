/*
 * Balances the voices of a choir: a mixing network of dense layers learns gains for each singer from recordings, first in
 * rehearsal and then in concert.
 *
 * Planted: when the concert begins, an audit of all layers is switched on, which looks for weights that are not finite with long double sums.
 * Truth: time of the audit, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using Row = std::vector<float>;

class Dense {
public:
	Dense(int in, int out, int seed) : in_(in), out_(out), w_(in * out), x_(in), y_(out), back_(in)
	{
		for (size_t i = 0; i < w_.size(); i++)
			w_[i] = 0.7f / std::sqrt((float)in) * std::sin((float)(i * 37 + seed));
	}

	const Row &forward(const Row &x)
	{
		x_ = x;
		for (int o = 0; o < out_; o++) {
			float part[4] = {};
			const float *w = &w_[(size_t)o * in_];
			for (int i = 0; i < in_; i += 4)
				for (int k = 0; k < 4; k++)
					part[k] += w[i + k] * x_[i + k];
			const float sum = part[0] + part[1] + part[2] + part[3];
			y_[o] = sum / (1 + std::fabs(sum));
		}
		return y_;
	}

	const Row &backward(const Row &blame)
	{
		back_.assign(in_, 0.0f);
		for (int o = 0; o < out_; o++) {
			const float d = blame[o] * (1 - std::fabs(y_[o])) * (1 - std::fabs(y_[o]));
			float *w = &w_[(size_t)o * in_];
			for (int i = 0; i < in_; i++) {
				back_[i] += d * w[i];
				w[i] -= 1e-4f * d * x_[i];
			}
		}
		return back_;
	}

	/* The engineer wants to know at once when something overflows in front of an audience. */
	void audit() const
	{
		long double sum = 0, squares = 0;
		for (float w : w_) {
			if (!std::isfinite(w))
				throw std::runtime_error("a weight is not finite");
			sum += w;
			squares += (long double)w * w;
		}
		if (std::sqrt((double)squares) > 1e9 || std::fabs((double)sum) > 1e9)
			throw std::runtime_error("a layer is too loud");
	}

private:
	int in_, out_;
	std::vector<float> w_;
	Row x_, y_, back_;
};

class Mixer {
public:
	explicit Mixer(watch *clock) : clock_(clock)
	{
		const int sizes[] = {320, 256, 192, 64};
		for (int l = 0; l < 3; l++)
			layers_.push_back(std::make_unique<Dense>(sizes[l], sizes[l + 1], l));
	}

	bool concert = false;

	float take(const Row &sound, const Row &wanted)
	{
		const Row *x = &sound;
		Row blame(wanted.size());
		float loss = 0;
		{
			DWELL_ZONE("mix");
			for (auto &layer : layers_)
				x = &layer->forward(*x);
		}
		for (size_t i = 0; i < wanted.size(); i++) {
			blame[i] = (*x)[i] - wanted[i];
			loss += blame[i] * blame[i];
		}
		DWELL_ZONE("correct");
		const Row *d = &blame;
		for (size_t l = layers_.size(); l-- > 0;)
			d = &layers_[l]->backward(*d);
		if (concert && ++taken_ % 2 == 0) {
			planted_begin(clock_);
			for (const auto &layer : layers_)
				layer->audit();
			planted_end(clock_);
		}
		return loss;
	}

private:
	watch *clock_;
	std::vector<std::unique_ptr<Dense>> layers_;
	long taken_ = 0;
};

int main()
{
	watch watch;
	Mixer mixer(&watch);
	std::vector<Row> sounds(48, Row(320)), wanted(48, Row(64));
	float loss = 0;

	for (int s = 0; s < 48; s++) {
		for (int i = 0; i < 320; i++)
			sounds[s][i] = std::sin(0.01f * (float)((s + 2) * i)) + 0.2f * std::cos((float)i);
		for (int i = 0; i < 64; i++)
			wanted[s][i] = 0.5f * std::sin((float)(s * i));
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 7; watch.steps++) {
		DWELL_STEP();
		mixer.concert = watch_seconds(&watch) > 2.6; /* the doors open */
		loss = 0;
		for (int s = 0; s < 48; s++)
			loss += mixer.take(sounds[s], wanted[s]);
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", (double)loss);
}
