/*
 * A tree-shaped network over sentences; each node has a vector of its own.
 *
 * Decoy: hundreds of vectors are allocated and freed in each step, out of memory that the process
 * has.
 * Truth: time of making one step's vectors, measured before the loop, times the steps, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <memory>
#include <vector>

static const int kSeconds = 5, kWidth = 220, kDepth = 7;

struct Node {
	std::vector<float> state;
	std::unique_ptr<Node> left, right;
	explicit Node(int depth) : state(kWidth, 0.1f)
	{
		if (depth > 0) {
			left.reset(new Node(depth - 1));
			right.reset(new Node(depth - 1));
		}
	}
};

static void forward(Node &node, std::vector<float> &weights)
{
	if (!node.left)
		return;
	forward(*node.left, weights);
	forward(*node.right, weights);
	DWELL_OP("combine");
	for (int unit = 0; unit < kWidth; unit++) {
		float sum = 0;
		for (int at = 0; at < kWidth; at++)
			sum += weights[unit * kWidth + at] * (node.left->state[at] + node.right->state[at]);
		node.state[unit] = std::tanh(sum);
		for (int at = 0; at < kWidth; at++)
			weights[unit * kWidth + at] -= 1e-6f * node.state[unit] * node.left->state[at];
	}
}

int main()
{
	std::vector<float> weights(kWidth * kWidth, 0.003f);
	struct watch watch;
	double making_s = 1e9;

	for (int at = 0; at < 20; at++) {
		const double before = now_s();
		{
			Node tree(kDepth);
		}
		making_s = std::fmin(making_s, now_s() - before);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		Node tree(kDepth);
		DWELL_ZONE("forward");
		forward(tree, weights);
	}
	watch_tell_share(&watch, making_s * watch.steps / watch_seconds(&watch));
	return 0;
}
