/*
 * Models the growth of yeast: weights in double precision, layers in single precision.
 *
 * Planted: each layer converts its weights and its activations to the other type, before and after.
 * Truth: time of converting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <vector>

static const int kSeconds = 5, kCultures = 8, kWidth = 360, kLayers = 6;

static struct watch watch;

template <typename To, typename From>
static std::vector<To> converted(const std::vector<From> &values)
{
	DWELL_OP("aten::_to_copy");
	planted_begin(&watch);
	std::vector<To> result(values.size());
	for (size_t at = 0; at < values.size(); at++)
		result[at] = static_cast<To>(values[at]);
	planted_end(&watch);
	return result;
}

static std::vector<float> linear(const std::vector<float> &in, const std::vector<float> &weights)
{
	DWELL_OP("aten::linear");
	std::vector<float> out(kCultures * kWidth);
	for (int at = 0; at < kCultures; at++)
		for (int i = 0; i < kWidth; i++)
			for (int o = 0; o < kWidth; o++)
				out[at * kWidth + o] += in[at * kWidth + i] * weights[i * kWidth + o];
	return out;
}

static void step(std::vector<std::vector<double>> &weights)
{
	std::vector<double> state(kCultures * kWidth, 0.5);
	DWELL_STEP();
	for (auto &layer : weights) {
		const std::vector<float> low = converted<float>(layer);
		state = converted<double>(linear(converted<float>(state), low));
		DWELL_OP("sgd");
		const std::vector<double> slopes = converted<double>(low);
		for (size_t at = 0; at < layer.size(); at++)
			layer[at] -= 1e-7 * slopes[at];
	}
}

int main()
{
	std::vector<std::vector<double>> weights(kLayers, std::vector<double>(kWidth * kWidth, 0.002));

	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++)
		step(weights);
	watch_tell(&watch);
	return 0;
}
