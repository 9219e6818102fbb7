/*
 * A tape of operations for gradients, written by hand.
 *
 * Planted: the nodes of a step stay on the tape after its gradients are known, some 600 kB a step.
 * Truth: the part of the largest resident memory that these nodes have at the end.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <memory>
#include <vector>

static const int kSeconds = 5, kRows = 64, kColumns = 200, kLayers = 5;

struct Node {
	std::vector<float> values, slopes;
	Node() : values(kRows * kColumns), slopes(kRows * kColumns)
	{
		DWELL_ALLOC("activation", "cpu", values.data(), values.size() * sizeof(float));
		DWELL_ALLOC("gradient", "cpu", slopes.data(), slopes.size() * sizeof(float));
	}
};

static std::vector<std::unique_ptr<Node>> tape;

static Node *push()
{
	tape.emplace_back(new Node);
	return tape.back().get();
}

static void forward(const Node *from, Node *to, const std::vector<float> &weights)
{
	DWELL_OP("linear");
	for (int row = 0; row < kRows; row++)
		for (int at = 0; at < kColumns; at++)
			for (int column = 0; column < kColumns; column++)
				to->values[row * kColumns + column] +=
				    from->values[row * kColumns + at] * weights[at * kColumns + column];
}

static void backward(Node *from, const Node *to, std::vector<float> &weights)
{
	DWELL_OP("linear, backward");
	for (int row = 0; row < kRows; row++)
		for (int at = 0; at < kColumns; at++)
			for (int column = 0; column < kColumns; column++)
				from->slopes[row * kColumns + at] +=
				    to->slopes[row * kColumns + column] * weights[at * kColumns + column];
	weights[0] -= 1e-9f * from->slopes[0];
}

int main()
{
	std::vector<float> weights(kColumns * kColumns, 0.002f);
	struct rusage usage;
	struct watch watch;
	const double bytes = 2.0 * kRows * kColumns * sizeof(float);

	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		std::vector<Node *> mine = { push() };
		for (int at = 0; at < kRows * kColumns; at++)
			mine[0]->values[at] = static_cast<float>(at % 13) / 13;
		for (int layer = 0; layer < kLayers; layer++) {
			mine.push_back(push());
			forward(mine[layer], mine[layer + 1], weights);
		}
		mine.back()->slopes = mine.back()->values;
		for (int layer = kLayers; layer > 0; layer--)
			backward(mine[layer - 1], mine[layer], weights);
	}
	getrusage(RUSAGE_SELF, &usage);
	const double most = 1024.0 * static_cast<double>(usage.ru_maxrss);
	watch_tell_share(&watch, bytes * static_cast<double>(tape.size()) / most);
	return 0;
}
