/*
 * A network of many small experts; its Adam is written with the engine's own operators.
 *
 * Planted: the update calls nine operators for each of 350 tensors with 48 numbers, each with a new result.
 * Truth: time of the update, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <memory>
#include <vector>

namespace {

const int kSeconds = 5, kExperts = 350, kSize = 48, kInputs = 1300;

using Tensor = std::shared_ptr<std::vector<float>>;

Tensor empty()
{
	return std::make_shared<std::vector<float>>(kSize);
}

Tensor mul(const Tensor &a, float by)
{
	DWELL_OP("mul");
	Tensor out = empty();
	for (int at = 0; at < kSize; at++)
		(*out)[at] = (*a)[at] * by;
	return out;
}

Tensor add(const Tensor &a, const Tensor &b)
{
	DWELL_OP("add");
	Tensor out = empty();
	for (int at = 0; at < kSize; at++)
		(*out)[at] = (*a)[at] + (*b)[at];
	return out;
}

Tensor square(const Tensor &a)
{
	DWELL_OP("square");
	Tensor out = empty();
	for (int at = 0; at < kSize; at++)
		(*out)[at] = (*a)[at] * (*a)[at];
	return out;
}

Tensor root(const Tensor &a)
{
	DWELL_OP("sqrt");
	Tensor out = empty();
	for (int at = 0; at < kSize; at++)
		(*out)[at] = std::sqrt((*a)[at]) + 1e-6f;
	return out;
}

Tensor div(const Tensor &a, const Tensor &b)
{
	DWELL_OP("div");
	Tensor out = empty();
	for (int at = 0; at < kSize; at++)
		(*out)[at] = (*a)[at] / (*b)[at];
	return out;
}

struct Expert {
	Tensor weights = empty(), slopes = empty(), mean = empty(), variance = empty();
};

void update(Expert &expert)
{
	expert.mean = add(mul(expert.mean, 0.9f), mul(expert.slopes, 0.1f));
	expert.variance = add(mul(expert.variance, 0.99f), mul(square(expert.slopes), 0.01f));
	expert.weights = add(expert.weights, mul(div(expert.mean, root(expert.variance)), -1e-3f));
}

} // namespace

int main()
{
	std::vector<Expert> experts(kExperts);
	std::vector<float> inputs(kInputs), out(kExperts);
	struct watch watch;

	for (int at = 0; at < kInputs; at++)
		inputs[at] = static_cast<float>(at % 53) / 53;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_PHASE("forward");
			DWELL_OP("experts");
			for (int e = 0; e < kExperts; e++) {
				float sum = 0;
				for (int at = 0; at < kInputs; at++)
					sum += inputs[at] * (*experts[e].weights)[at % kSize];
				out[e] = sum / kInputs;
			}
		}
		{
			DWELL_PHASE("backward");
			DWELL_OP("experts_backward");
			for (int e = 0; e < kExperts; e++) {
				for (int at = 0; at < kSize; at++)
					(*experts[e].slopes)[at] = 0;
				for (int at = 0; at < kInputs; at++)
					(*experts[e].slopes)[at % kSize] += inputs[at] * (out[e] - 0.5f) / kInputs;
			}
		}
		planted_begin(&watch);
		{
			DWELL_PHASE("optimizer");
			for (Expert &expert : experts)
				update(expert);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	return 0;
}
