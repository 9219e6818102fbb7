/*
 * A perceptron for digits that is validated on many digits.
 *
 * Planted: all validation digits are classified after each eighth step.
 * Truth: time of validation, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <vector>

namespace {

const int kSeconds = 5, kPixels = 196, kUnits = 160, kBatch = 48, kHeldBack = 480;

class Network {
public:
	Network() : weights_(kUnits * kPixels, 0.01f), slopes_(kUnits * kPixels), values_(kUnits) {}

	float forward(const float *digit)
	{
		float all = 0;
		for (int unit = 0; unit < kUnits; unit++) {
			float sum = 0;
			for (int at = 0; at < kPixels; at++)
				sum += weights_[unit * kPixels + at] * digit[at];
			values_[unit] = sum > 0 ? sum : 0;
			all += values_[unit];
		}
		return all;
	}

	void backward(const float *digit)
	{
		for (int unit = 0; unit < kUnits; unit++)
			for (int at = 0; at < kPixels; at++)
				slopes_[unit * kPixels + at] += (values_[unit] - 0.5f) * digit[at];
	}

	void update()
	{
		DWELL_ZONE("optimizer");
		for (size_t at = 0; at < weights_.size(); at++) {
			weights_[at] -= 1e-6f * slopes_[at];
			slopes_[at] = 0;
		}
	}

private:
	std::vector<float> weights_, slopes_, values_;
};

} // namespace

int main()
{
	std::vector<float> digits((kBatch + kHeldBack) * kPixels);
	Network network;
	struct watch watch;
	float right = 0;

	for (size_t at = 0; at < digits.size(); at++)
		digits[at] = static_cast<float>(at * 2654435761u >> 24 & 255) / 255;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		{
			DWELL_STEP();
			for (int at = 0; at < kBatch; at++) {
				{
					DWELL_ZONE("forward");
					network.forward(&digits[at * kPixels]);
				}
				DWELL_ZONE("backward");
				network.backward(&digits[at * kPixels]);
			}
			network.update();
		}
		if (watch.steps % 8 == 7) {
			planted_begin(&watch);
			DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "validate");
			for (int at = kBatch; at < kBatch + kHeldBack; at++)
				right += network.forward(&digits[at * kPixels]) > 1;
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	return right < 0;
}
