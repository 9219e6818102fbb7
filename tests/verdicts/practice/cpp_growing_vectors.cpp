/*
 * Collects edges of a road graph for each step and passes messages along them.
 *
 * Planted: the vectors of edges grow from nothing in each step, so their memory is new each time.
 * Truth: time of collecting less the time of writing into vectors that are large enough, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <vector>

namespace {

const int kSeconds = 5, kEdges = 2500000, kNodes = 50000, kRounds = 1;

struct Edge {
	float length;
	unsigned from;
};

void collect(std::vector<Edge> &edges, unsigned seed)
{
	for (int at = 0; at < kEdges; at++)
		edges.push_back({ static_cast<float>(at & 255) * 0.01f, (seed + static_cast<unsigned>(at) * 17u) % kNodes });
}

} // namespace

int main()
{
	std::vector<float> nodes(kNodes, 1.0f), sums(1024);
	struct watch watch;
	double usual;

	{
		std::vector<Edge> edges;
		edges.reserve(kEdges);
		collect(edges, 1);
		edges.clear();
		usual = now_s();
		collect(edges, 2);
		usual = now_s() - usual;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		std::vector<Edge> edges;
		double began = now_s();
		{
			DWELL_PHASE("forward");
			collect(edges, static_cast<unsigned>(watch.steps));
			watch.planted_s += now_s() - began - usual;
			for (const Edge &edge : edges)
				sums[edge.from & 1023] += nodes[edge.from] * edge.length;
		}
		DWELL_PHASE("backward");
		for (int round = 0; round < kRounds; round++)
			for (const Edge &edge : edges)
				nodes[edge.from] -= 1e-9f * sums[edge.from & 1023] * edge.length;
	}
	watch_tell(&watch);
	return 0;
}
