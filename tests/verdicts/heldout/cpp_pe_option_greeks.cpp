// Learns the Greeks of American options from lattices: a network sees strike, rate, spread and time, and a binomial tree of each contract
// tells it the price that it should have said.
//
// Planted: each contract's tree is made of nodes from new, node by node with shared children, walked once, and given back node by node.
// Truth: time of making the nodes and of giving them back, as a share of the loop; the walk with its prices is not in it.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr int Depth = 40, Contracts = 24, Inputs = 4, Units = 48;

struct Contract {
	double strike, rate, spread, years;
};

struct Node {
	double spot;
	double value = 0;
	std::shared_ptr<Node> up, down;
	explicit Node(double at) : spot(at) {}
};

using Level = std::vector<std::shared_ptr<Node>>;

class Lattice {
public:
	explicit Lattice(const Contract &of) : contract_(of)
	{
		const double step = of.years / Depth, up = std::exp(of.spread * std::sqrt(step));
		std::array<double, 2 * Depth + 1> spots;
		spots[0] = std::pow(up, -Depth);
		for (int s = 1; s <= 2 * Depth; s++)
			spots[s] = spots[s - 1] * up;
		levels_.resize(Depth + 1);
		for (int d = 0; d <= Depth; d++)
			for (int k = 0; k <= d; k++)
				levels_[d].push_back(std::make_shared<Node>(spots[Depth + 2 * k - d]));
		for (int d = 0; d < Depth; d++)
			for (int k = 0; k <= d; k++) {
				levels_[d][k]->down = levels_[d + 1][k];
				levels_[d][k]->up = levels_[d + 1][k + 1];
			}
		grow_ = std::exp(of.rate * step);
		chance_ = (grow_ - 1 / up) / (up - 1 / up);
	}
	double price()
	{
		for (auto level = levels_.rbegin(); level != levels_.rend(); ++level)
			for (auto &node : *level) {
				const double now = std::max(contract_.strike - node->spot, 0.0);
				node->value = node->up ? std::max(now, (chance_ * node->up->value + (1 - chance_) * node->down->value) / grow_) : now;
			}
		return levels_[0][0]->value;
	}

private:
	Contract contract_;
	std::vector<Level> levels_;
	double grow_, chance_;
};

struct Pricer {
	std::array<std::array<float, Inputs>, Units> in;
	std::array<std::array<float, Units>, Units> mid;
	std::array<float, Units> out{};

	explicit Pricer(std::mt19937 &dice)
	{
		std::uniform_real_distribution<float> flat(-0.4f, 0.4f);
		for (auto &row : in)
			for (float &w : row)
				w = flat(dice);
		for (auto &row : mid)
			for (float &w : row)
				w = flat(dice) / 2;
	}
	double learn(const std::array<float, Inputs> &x, float price)
	{
		std::array<float, Units> one, two, back{};
		float said = 0;
		for (int u = 0; u < Units; u++) {
			float sum = 0;
			for (int i = 0; i < Inputs; i++)
				sum += in[u][i] * x[i];
			one[u] = std::tanh(sum);
		}
		for (int u = 0; u < Units; u++) {
			float sum = 0;
			for (int v = 0; v < Units; v++)
				sum += mid[u][v] * one[v];
			two[u] = std::tanh(sum);
			said += out[u] * two[u];
		}
		const float error = said - price;
		for (int u = 0; u < Units; u++) {
			const float to = error * out[u] * (1 - two[u] * two[u]);
			out[u] -= 0.005f * error * two[u];
			for (int v = 0; v < Units; v++) {
				back[v] += to * mid[u][v];
				mid[u][v] -= 0.005f * to * one[v];
			}
		}
		for (int u = 0; u < Units; u++)
			for (int i = 0; i < Inputs; i++)
				in[u][i] -= 0.005f * back[u] * (1 - one[u] * one[u]) * x[i];
		return error * error;
	}
};

} // namespace

int main()
{
	std::mt19937 dice(404);
	std::uniform_real_distribution<double> flat(0, 1);
	Pricer pricer(dice);
	double loss = 0;
	watch watch;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		loss = 0;
		for (int c = 0; c < Contracts; c++) {
			const Contract contract{0.8 + 0.4 * flat(dice), 0.05 * flat(dice), 0.15 + 0.3 * flat(dice), 0.25 + flat(dice)};
			planted_begin(&watch);
			auto lattice = std::make_unique<Lattice>(contract);
			planted_end(&watch);
			const double price = lattice->price();
			planted_begin(&watch);
			lattice.reset();
			planted_end(&watch);
			const std::array<float, Inputs> x{float(contract.strike), float(contract.rate * 10), float(contract.spread), float(contract.years)};
			DWELL_ZONE("pricer");
			for (int turn = 0; turn < 10; turn++)
				loss += pricer.learn(x, float(price)) / Contracts;
		}
		watch.steps++;
	}
	watch_tell(&watch);
	std::printf("loss %.5f\n", loss);
	return 0;
}
