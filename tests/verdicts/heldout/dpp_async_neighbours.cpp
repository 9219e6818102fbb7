/*
 * Learns on a graph of proteins: neighbours' features are averaged, then a dense layer with its gradient.
 *
 * Planted: the average of every two nodes is a task of std::async(), that is a thread of its own.
 * Truth: time of starting the tasks and of waiting for them, less what the averages take alone, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <random>
#include <vector>

namespace {

const int kNodes = 3000, kDegree = 14, kIn = 64, kOut = 96, kBatch = 160, kPerTask = 2, kAtOnce = 8;

using Matrix = std::vector<float>;

struct Graph {
	std::vector<int> neighbour = std::vector<int>(kNodes * kDegree);
	Matrix feature = Matrix(kNodes * kIn);
};

void average(const Graph &graph, const std::vector<int> &batch, Matrix &into, int from, int to)
{
	for (int row = from; row < to; row++)
		for (int d = 0; d < kIn; d++) {
			float sum = 0;
			for (int k = 0; k < kDegree; k++)
				sum += graph.feature[graph.neighbour[batch[row] * kDegree + k] * kIn + d];
			into[row * kIn + d] = sum / kDegree;
		}
}

void average_all(const Graph &graph, const std::vector<int> &batch, Matrix &into)
{
	for (int from = 0; from < kBatch;) {
		std::vector<std::future<void>> running;
		for (int task = 0; task < kAtOnce && from < kBatch; task++, from += kPerTask)
			running.push_back(std::async(std::launch::async, [&graph, &batch, &into, from] {
				average(graph, batch, into, from, from + kPerTask);
			}));
		for (auto &each : running)
			each.get();
	}
}

} // namespace

int main()
{
	std::mt19937 random(3);
	std::normal_distribution<float> normal(0, 1);
	Graph graph;
	Matrix weight(kOut * kIn), gradient(kOut * kIn), mean(kBatch * kIn), result(kBatch * kOut);
	std::vector<int> batch(kBatch);
	struct watch watch;
	double alone = 1e9;
	for (int &node : graph.neighbour)
		node = static_cast<int>(random() % kNodes);
	for (float &value : graph.feature)
		value = normal(random);
	for (float &value : weight)
		value = 0.1f * normal(random);
	for (int turn = 0; turn < 20; turn++) {
		const double began = now_s();
		average(graph, batch, mean, 0, kBatch);
		alone = std::min(alone, now_s() - began);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int &node : batch)
			node = static_cast<int>(random() % kNodes);
		{
			DWELL_PHASE("forward");
			planted_begin(&watch);
			average_all(graph, batch, mean);
			planted_end(&watch);
			for (int row = 0; row < kBatch; row++)
				for (int o = 0; o < kOut; o++) {
					float sum = 0;
					for (int d = 0; d < kIn; d++)
						sum += weight[o * kIn + d] * mean[row * kIn + d];
					result[row * kOut + o] = std::tanh(sum);
				}
		}
		{
			DWELL_PHASE("backward");
			std::fill(gradient.begin(), gradient.end(), 0.0f);
			for (int row = 0; row < kBatch; row++)
				for (int o = 0; o < kOut; o++) {
					const float y = result[row * kOut + o], error = (y - std::sin(static_cast<float>(batch[row] + o))) * (1 - y * y);
					for (int d = 0; d < kIn; d++)
						gradient[o * kIn + d] += error * mean[row * kIn + d];
				}
		}
		DWELL_PHASE("optimizer");
		for (size_t at = 0; at < weight.size(); at++)
			weight[at] -= 0.01f / kBatch * gradient[at];
	}
	watch_tell_share(&watch, (watch.planted_s - alone * watch.steps) / watch_seconds(&watch));
}
