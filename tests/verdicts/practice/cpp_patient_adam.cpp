/*
 * A perceptron with an optimizer for research: every weight has an object of its own.
 *
 * Planted: Adam calls three virtual functions and two powers for each weight.
 * Truth: time of the optimizer, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <memory>
#include <vector>

static const int kSeconds = 5, kRows = 64, kIn = 256, kOut = 128;

struct Moment {
	virtual ~Moment() = default;
	virtual double next(double slope) = 0;
};

struct Mean : Moment {
	double value = 0;
	double next(double slope) override
	{
		return value += 0.1 * (slope - value);
	}
};

struct Square : Moment {
	double value = 0;
	double next(double slope) override
	{
		return value += 0.001 * (slope * slope - value);
	}
};

struct Weight {
	float value = 0.01f, slope = 0;
	std::unique_ptr<Moment> mean{new Mean}, square{new Square};
	void update(int step)
	{
		const double first = mean->next(slope) / (1 - std::pow(0.9, step));
		const double second = square->next(slope) / (1 - std::pow(0.999, step));
		value -= static_cast<float>(1e-5 * first / (std::sqrt(second) + 1e-8));
	}
};

int main()
{
	std::vector<std::unique_ptr<Weight>> weights;
	std::vector<float> in(kRows * kIn), errors(kRows * kOut);
	struct watch watch;

	for (int at = 0; at < kIn * kOut; at++)
		weights.emplace_back(new Weight);
	for (int at = 0; at < kRows * kIn; at++)
		in[at] = static_cast<float>(at % 77) / 77;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("forward");
			DWELL_OP("linear");
			for (int row = 0; row < kRows; row++)
				for (int out = 0; out < kOut; out++) {
					float sum = -1;
					for (int at = 0; at < kIn; at++)
						sum += weights[out * kIn + at]->value * in[row * kIn + at];
					errors[row * kOut + out] = sum;
				}
		}
		{
			DWELL_ZONE("backward");
			DWELL_OP("linear, backward");
			for (int out = 0; out < kOut; out++)
				for (int at = 0; at < kIn; at++) {
					float sum = 0;
					for (int row = 0; row < kRows; row++)
						sum += errors[row * kOut + out] * in[row * kIn + at];
					weights[out * kIn + at]->slope = sum;
				}
		}
		DWELL_ZONE("optimizer");
		planted_begin(&watch);
		for (auto &weight : weights)
			weight->update(watch.steps + 1);
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
