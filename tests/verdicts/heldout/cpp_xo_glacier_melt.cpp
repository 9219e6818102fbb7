// Fits how a glacier melts: each cell of a map has a small network from slope, height and sun to melt water. Two basins, two
// threads, which meet after each step.
//
// Planted: the lower basin has a third more cells than the upper one, and the upper one's thread spins until it is done.
// Truth: time that the thread of the steps spins, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int facts = 8, hidden = 48;

struct Weights {
	float first[hidden][facts], second[hidden];
};

struct Cell {
	float fact[facts], melt;
};

class Basin {
public:
	Basin(int cells, unsigned seed) : cells_(static_cast<std::size_t>(cells))
	{
		std::mt19937 random(seed);
		std::normal_distribution<float> any;
		for (Cell &cell : cells_) {
			for (float &f : cell.fact)
				f = any(random);
			cell.melt = std::sin(cell.fact[0]) * cell.fact[1];
		}
	}

	void learn(const Weights &weights)
	{
		Weights sums{};
		for (const Cell &cell : cells_) {
			float state[hidden], out = 0;
			for (int h = 0; h < hidden; h++) {
				float sum = 0;
				for (int f = 0; f < facts; f++)
					sum += weights.first[h][f] * cell.fact[f];
				state[h] = std::tanh(sum);
				out += state[h] * weights.second[h];
			}
			const float error = out - cell.melt;
			for (int h = 0; h < hidden; h++) {
				sums.second[h] += error * state[h];
				const float back = error * weights.second[h] * (1 - state[h] * state[h]);
				for (int f = 0; f < facts; f++)
					sums.first[h][f] += back * cell.fact[f];
			}
		}
		gradient = sums;
	}

	Weights gradient{};

private:
	std::vector<Cell> cells_;
};

struct Meeting {
	std::atomic<long> started{0}, done{0};
	std::atomic<bool> stop{false};
};

void lower_thread(Meeting &meeting, Basin &basin, const Weights &weights)
{
	for (long day = 1;; day++) {
		while (meeting.started.load(std::memory_order_acquire) < day)
			if (meeting.stop)
				return;
		{
			DWELL_ZONE("lower basin");
			basin.learn(weights);
		}
		meeting.done.store(day, std::memory_order_release);
	}
}

} // namespace

int main()
{
	constexpr int upper_cells = 4400, lower_cells = 5800;
	static struct watch watch;
	Basin upper(upper_cells, 1), lower(lower_cells, 2);
	Weights weights;
	Meeting meeting;
	std::mt19937 random(3);
	std::normal_distribution<float> any(0, 0.3f);
	for (int h = 0; h < hidden; h++) {
		weights.second[h] = any(random);
		for (float &w : weights.first[h])
			w = any(random);
	}
	std::thread helper(lower_thread, std::ref(meeting), std::ref(lower), std::cref(weights));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const long day = watch.steps + 1;
		meeting.started.store(day, std::memory_order_release);
		{
			DWELL_ZONE("upper basin");
			upper.learn(weights);
		}
		{
			DWELL_ZONE("meet");
			planted_begin(&watch);
			while (meeting.done.load(std::memory_order_acquire) < day) {
			}
			planted_end(&watch);
		}
		for (int h = 0; h < hidden; h++) {
			weights.second[h] -= 0.02f / (upper_cells + lower_cells) * (upper.gradient.second[h] + lower.gradient.second[h]);
			for (int f = 0; f < facts; f++)
				weights.first[h][f] -= 0.02f / (upper_cells + lower_cells) * (upper.gradient.first[h][f] + lower.gradient.first[h][f]);
		}
	}
	watch_tell(&watch);
	meeting.stop = true;
	helper.join();
	std::printf("%.4f\n", weights.second[0]);
	return 0;
}
