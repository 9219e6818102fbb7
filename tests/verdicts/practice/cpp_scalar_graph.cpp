/*
 * A neuron by neuron gated network in C++ with a tensor class.
 *
 * Planted: each gate is six operators on 24 numbers, and each of them allocates its result.
 * Truth: time of the gates, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace {

const int kSeconds = 6, kWidth = 24, kGates = 500, kRows = 300, kColumns = 900;
using tensor = std::shared_ptr<std::vector<float>>;

tensor make(float value)
{
	return std::make_shared<std::vector<float>>(kWidth, value);
}

tensor add(const tensor &one, const tensor &other)
{
	DWELL_OP("add");
	tensor result = make(0);
	for (int at = 0; at < kWidth; at++)
		(*result)[at] = (*one)[at] + (*other)[at];
	return result;
}

tensor mul(const tensor &one, const tensor &other)
{
	DWELL_OP("mul");
	tensor result = make(0);
	for (int at = 0; at < kWidth; at++)
		(*result)[at] = (*one)[at] * (*other)[at];
	return result;
}

tensor squash(const tensor &one)
{
	DWELL_OP("squash");
	tensor result = make(0);
	for (int at = 0; at < kWidth; at++)
		(*result)[at] = (*one)[at] / (1 + std::fabs((*one)[at]));
	return result;
}

tensor gates(tensor state, const tensor &weight, const tensor &bias)
{
	DWELL_ZONE("gates");
	for (int gate = 0; gate < kGates; gate++) {
		tensor open = squash(add(mul(state, weight), bias));
		state = squash(add(mul(open, state), weight));
	}
	return state;
}

void head(std::vector<float> &matrix, std::vector<float> &out)
{
	DWELL_OP("linear");
	for (int row = 0; row < kRows; row++) {
		float sum = 0;
		for (int column = 0; column < kColumns; column++)
			sum += matrix[row * kColumns + column] * static_cast<float>(column % 3);
		out[row] = sum;
		for (int column = 0; column < kColumns; column++)
			matrix[row * kColumns + column] -= 1e-9f * sum;
	}
}

} // namespace

int main()
{
	std::vector<float> matrix(kRows * kColumns, 0.01f), out(kRows);
	tensor state = make(0.5f), weight = make(0.3f), bias = make(0.1f);
	struct watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		state = gates(state, weight, bias);
		planted_end(&watch);
		DWELL_ZONE("head");
		head(matrix, out);
	}
	watch_tell(&watch);
	return 0;
}
