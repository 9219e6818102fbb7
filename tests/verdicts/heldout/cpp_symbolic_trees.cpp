// Symbolic regression: a population of formulas is scored on 1024 measurements and mutated.
//
// Planted: each node of a formula is an operator that is found by its name, checks its arguments, looks for the
// same call in a cache and makes a new tensor, for 1024 numbers each.
// Truth: time of scoring less that of the loops over numbers in it, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const double kSeconds = 6;
const size_t kRows = 1024, kPopulation = 60;

struct Tensor {
	std::vector<size_t> shape;
	std::vector<float> values;
};
using TensorPtr = std::shared_ptr<const Tensor>;
using Arguments = std::vector<TensorPtr>;
typedef void (*Loop)(float *, const float *, const float *, size_t);
void add(float *out, const float *a, const float *b, size_t n) { for (size_t i = 0; i < n; i++) out[i] = a[i] + b[i]; }
void mul(float *out, const float *a, const float *b, size_t n) { for (size_t i = 0; i < n; i++) out[i] = a[i] * b[i]; }
void aq(float *out, const float *a, const float *b, size_t n) { for (size_t i = 0; i < n; i++) out[i] = a[i] / (1 + b[i] * b[i]); }

struct Entry {
	Loop loop;
	double usual_s; // for kRows numbers
};
std::map<std::string, Entry> registry = {{"op.add", {add, 0}}, {"op.mul", {mul, 0}}, {"op.analytic_quotient", {aq, 0}}};
const char *const kNames[] = {"op.add", "op.mul", "op.analytic_quotient"};

struct Node {
	std::string op; // empty: a column
	size_t column = 0;
	std::shared_ptr<Node> left, right;
};
using Tree = std::shared_ptr<Node>;
std::map<std::string, TensorPtr> cache; // of this step's formula
std::mt19937 rng(5);
double arithmetic_s; // of the nodes that were evaluated

TensorPtr call(const std::string &name, const Arguments &arguments)
{
	DWELL_OP_NAMED(name.c_str(), nullptr, 0);
	const Entry &entry = registry.at(name);
	if (arguments[1]->shape != arguments[0]->shape)
		throw std::invalid_argument(name + ": shapes differ");
	std::ostringstream key;
	key << name << '(' << arguments[0].get() << ", " << arguments[1].get() << ')';
	TensorPtr &known = cache[key.str()];
	if (known)
		return known;
	auto result = std::make_shared<Tensor>();
	*result = {arguments[0]->shape, std::vector<float>(arguments[0]->values.size())};
	entry.loop(result->values.data(), arguments[0]->values.data(), arguments[1]->values.data(), result->values.size());
	arithmetic_s += entry.usual_s;
	return known = result;
}

TensorPtr evaluate(const Node &node, const Arguments &columns)
{
	if (node.op.empty())
		return columns[node.column];
	return call(node.op, {evaluate(*node.left, columns), evaluate(*node.right, columns)});
}

Tree grow(int depth)
{
	auto node = std::make_shared<Node>();
	if (!depth) {
		node->column = rng() % 4;
		return node;
	}
	node->op = kNames[rng() % 3];
	node->left = grow(depth - 1);
	node->right = grow(rng() % 3 ? depth - 1 : 0);
	return node;
}

Arguments measurements()
{
	Arguments columns;
	for (int column = 0; column < 5; column++) { // the last one is the target
		auto tensor = std::make_shared<Tensor>();
		tensor->shape = {kRows};
		for (size_t row = 0; row < kRows; row++)
			tensor->values.push_back(std::sin(static_cast<float>(row * (column + 1))) + 0.1f * column);
		columns.push_back(tensor);
	}
	return columns;
}

void measure_loops()
{
	std::vector<float> one(kRows, 0.5f), two(kRows, 0.25f), out(kRows);
	for (auto &entry : registry)
		for (int again = 0; again < 20; again++) {
			const double began = now_s();
			for (int turn = 0; turn < 4000; turn++)
				entry.second.loop(out.data(), one.data(), two.data(), kRows);
			const double each = (now_s() - began) / 4000;
			entry.second.usual_s = again ? std::min(entry.second.usual_s, each) : each;
		}
}

} // namespace

int main()
{
	std::vector<Tree> trees;
	std::vector<float> losses(kPopulation);
	const Arguments columns = measurements();
	struct watch watch;
	for (size_t at = 0; at < kPopulation; at++)
		trees.push_back(grow(4));
	measure_loops();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		size_t best = 0, worst = 0;
		for (size_t at = 0; at < kPopulation; at++) {
			arithmetic_s = 0;
			const double began = now_s();
			const TensorPtr guess = evaluate(*trees[at], columns);
			watch.planted_s += now_s() - began - arithmetic_s;
			float loss = 0;
			for (size_t row = 0; row < kRows; row++)
				loss += (guess->values[row] - columns[4]->values[row]) * (guess->values[row] - columns[4]->values[row]);
			cache.clear();
			losses[at] = std::isfinite(loss) ? loss : 1e9f;
			best = losses[at] < losses[best] ? at : best;
			worst = losses[at] > losses[worst] ? at : worst;
		}
		auto child = std::make_shared<Node>(*trees[best]);
		child->left = grow(3);
		trees[worst] = child;
	}
	watch_tell(&watch);
}
