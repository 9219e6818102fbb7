// Evolves networks that count seals in aerial pictures: topologies change, genes are kept by innovation number (as in NEAT).
//
// Planted: each child is a deep copy of maps of shared pointers, so a generation allocates and frees a hundred thousand small blocks.
// Truth: time of copying parents and of freeing the old generation, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int inputs = 18, outputs = 2, pictures = 26, herd = 120;

struct Gene {
	int from, to;
	double weight;
	bool enabled = true;
	std::string origin;
};

struct Node {
	int depth;
	double bias;
};

struct Genome {
	std::map<int, std::shared_ptr<Gene>> genes;
	std::map<int, std::shared_ptr<Node>> nodes;
	double fitness = 0;

	Genome() = default;
	Genome(Genome &&) = default;
	Genome &operator=(Genome &&) = default;

	Genome clone() const
	{
		Genome copy;
		for (const auto &[number, gene] : genes)
			copy.genes.emplace(number, std::make_shared<Gene>(*gene));
		for (const auto &[number, node] : nodes)
			copy.nodes.emplace(number, std::make_shared<Node>(*node));
		return copy;
	}
};

std::mt19937 random_source(23);

double normal(double width)
{
	return std::normal_distribution<double>(0, width)(random_source);
}

int below(int count)
{
	return static_cast<int>(random_source() % static_cast<unsigned>(count));
}

Genome founder()
{
	Genome genome;
	int number = 0;
	for (int i = 0; i < inputs; i++)
		genome.nodes[i] = std::make_shared<Node>(Node{0, 0});
	for (int h = 0; h < 24; h++)
		genome.nodes[inputs + outputs + h] = std::make_shared<Node>(Node{1 + h / 12, normal(0.3)});
	for (int o = 0; o < outputs; o++)
		genome.nodes[inputs + o] = std::make_shared<Node>(Node{9, normal(0.3)});
	for (const auto &[from, low] : genome.nodes)
		for (const auto &[to, high] : genome.nodes)
			if (low->depth < high->depth) {
				if (random_source() % 2)
					genome.genes[number] = std::make_shared<Gene>(Gene{from, to, normal(0.5), true, "the founder of the herd, " + std::to_string(number)});
				number++;
			}
	return genome;
}

/* The network of a genome, flat: what a picture is passed through. */
struct Plan {
	struct Wire {
		int from, to, depth;
		float weight;
	};
	std::vector<Wire> wires;
	std::vector<float> bias;

	explicit Plan(const Genome &genome)
	{
		bias.resize(static_cast<size_t>(genome.nodes.rbegin()->first) + 1);
		for (const auto &[number, node] : genome.nodes)
			bias[static_cast<size_t>(number)] = static_cast<float>(node->bias);
		for (const auto &[number, gene] : genome.genes)
			if (gene->enabled)
				wires.push_back({gene->from, gene->to, genome.nodes.at(gene->from)->depth, static_cast<float>(gene->weight)});
		std::stable_sort(wires.begin(), wires.end(), [](const Wire &a, const Wire &b) { return a.depth < b.depth; });
	}

	float count(const std::vector<float> &picture) const
	{
		std::vector<float> sum(bias);
		int depth = 0;
		std::copy(picture.begin(), picture.end(), sum.begin());
		for (const Wire &wire : wires) {
			if (wire.depth != depth) {
				depth = wire.depth;
				for (size_t n = inputs + outputs; n < sum.size(); n++)
					sum[n] = sum[n] > 4 ? 4 : sum[n] < -4 ? -4 : sum[n];
			}
			sum[static_cast<size_t>(wire.to)] += wire.weight * sum[static_cast<size_t>(wire.from)];
		}
		return std::tanh(sum[inputs]) + 2 * std::tanh(sum[inputs + 1]);
	}
};

void mutate(Genome &genome)
{
	for (auto &[number, gene] : genome.genes) {
		if (below(10) == 0)
			gene->weight += normal(0.1);
		if (below(400) == 0)
			gene->enabled = !gene->enabled;
	}
	for (auto &[number, node] : genome.nodes)
		if (below(10) == 0)
			node->bias += normal(0.05);
}

}  // namespace

int main()
{
	watch watch;
	std::vector<std::vector<float>> seen;
	std::vector<float> seals;
	for (int p = 0; p < pictures; p++) {
		std::vector<float> picture;
		for (int i = 0; i < inputs; i++)
			picture.push_back(static_cast<float>(normal(1)));
		seals.push_back(std::sin(picture[0]) + picture[3] * 0.5f);
		seen.push_back(picture);
	}
	std::vector<Genome> colony;
	for (int i = 0; i < herd; i++) {
		colony.push_back(founder());
	}

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		for (Genome &genome : colony) {
			DWELL_ZONE("fitness");
			const Plan plan(genome);
			double error = 0;
			for (int p = 0; p < pictures; p++)
				error += std::pow(plan.count(seen[static_cast<size_t>(p)]) - seals[static_cast<size_t>(p)], 2);
			genome.fitness = -error;
		}
		std::sort(colony.begin(), colony.end(), [](const Genome &a, const Genome &b) { return a.fitness > b.fitness; });

		DWELL_ZONE("breed");
		std::vector<Genome> next;
		for (int child = 0; child < herd; child++) {
			const int parent = child < 4 ? child : std::min(below(herd / 3), below(herd / 3));
			planted_begin(&watch);
			next.push_back(colony[static_cast<size_t>(parent)].clone());
			planted_end(&watch);
			if (child >= 4)
				mutate(next.back());
		}
		planted_begin(&watch);
		colony = std::move(next);
		planted_end(&watch);
	}
	watch_tell(&watch);
	std::printf("best error %.4f\n", -colony[0].fitness);
}
