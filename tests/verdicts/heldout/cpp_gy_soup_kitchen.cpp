// Which soup will be eaten up: a kitchen's network with four wide layers over a hundred and sixty facts of a day, trained with whole
// batches. A team of threads divides each layer's rows.
//
// Planted: the team has six threads whatever the machine, and its barrier spins, so threads without a processor are waited for by spinning ones.
// Truth: processor time that the team burns in the barrier, of the loop's time on two processors.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int Cooks = 6, Width = 160, Layers = 4, Days = 64;

class Barrier {
public:
	void meet()
	{
		const unsigned now = round_.load(std::memory_order_acquire);
		if (here_.fetch_add(1, std::memory_order_acq_rel) + 1 == Cooks) {
			here_.store(0, std::memory_order_relaxed);
			round_.store(now + 1, std::memory_order_release);
			return;
		}
		for (int turn = 0; round_.load(std::memory_order_acquire) == now; turn++) {
			if (turn < Patience)
				__builtin_ia32_pause();
			else {
				std::this_thread::yield();
				turn = 0;
			}
		}
	}

private:
	static constexpr int Patience = 3000;
	std::atomic<int> here_{0};
	std::atomic<unsigned> round_{0};
};

using Matrix = std::vector<float>;

class Kitchen {
public:
	Kitchen()
	{
		std::mt19937 dice(3);
		std::normal_distribution<float> normal;
		for (Matrix &w : weight_) {
			w.resize(Width * Width);
			for (float &v : w)
				v = normal(dice) / std::sqrt(static_cast<float>(Width));
		}
		for (Matrix *m : {&eaten_, &values_[0]}) {
			m->resize(Days * Width);
			for (float &v : *m)
				v = 0.5f * normal(dice);
		}
		for (int l = 0; l < Layers; l++)
			values_[l + 1].resize(Days * Width);
		for (Matrix &m : slopes_)
			m.resize(Days * Width);
	}

	// What one cook does of a step.
	void share(int cook)
	{
		const int from = Width * cook / Cooks, to = Width * (cook + 1) / Cooks;
		for (int l = 0; l < Layers; l++) {
			for (int d = 0; d < Days; d++)
				for (int o = from; o < to; o++) {
					float sum = 0;
					for (int i = 0; i < Width; i++)
						sum += weight_[l][o * Width + i] * values_[l][d * Width + i];
					values_[l + 1][d * Width + o] = sum / (1 + std::fabs(sum));
				}
			meet(cook);
		}
		for (int d = 0; d < Days; d++)
			for (int o = from; o < to; o++)
				slopes_[Layers][d * Width + o] = (values_[Layers][d * Width + o] - eaten_[d * Width + o]) / Days;
		meet(cook);
		for (int l = Layers; l-- > 0;) {
			for (int d = 0; d < Days; d++)
				for (int i = from; i < to; i++) {
					float sum = 0;
					for (int o = 0; o < Width; o++) {
						const float rest = 1 - std::fabs(values_[l + 1][d * Width + o]);
						sum += slopes_[l + 1][d * Width + o] * rest * rest * weight_[l][o * Width + i];
					}
					slopes_[l][d * Width + i] = sum;
				}
			meet(cook);
			for (int o = from; o < to; o++)
				for (int d = 0; d < Days; d++) {
					const float rest = 1 - std::fabs(values_[l + 1][d * Width + o]);
					const float pace = 0.05f * slopes_[l + 1][d * Width + o] * rest * rest;
					for (int i = 0; i < Width; i++)
						weight_[l][o * Width + i] -= pace * values_[l][d * Width + i];
				}
			meet(cook);
		}
	}
	void meet(int cook)
	{
		const double before = cpu_s();
		barrier_.meet();
		burnt[cook * 8] += cpu_s() - before;
	}
	float weight() const { return weight_[0][5]; }

	std::array<double, Cooks * 8> burnt{};

private:
	std::array<Matrix, Layers> weight_;
	std::array<Matrix, Layers + 1> values_, slopes_;
	Matrix eaten_;
	Barrier barrier_;
};

} // namespace

int main()
{
	Kitchen kitchen;
	std::atomic<bool> open{true};
	std::vector<std::thread> cooks;
	watch watch;

	for (int cook = 1; cook < Cooks; cook++)
		cooks.emplace_back([&kitchen, &open, cook] {
			for (;;) {
				kitchen.meet(cook);
				if (!open)
					return;
				DWELL_ZONE("share");
				kitchen.share(cook);
			}
		});
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6.2) {
		DWELL_STEP();
		kitchen.meet(0);
		{
			DWELL_ZONE("share");
			kitchen.share(0);
		}
		watch.steps++;
	}
	double burnt = 0;
	for (int cook = 0; cook < Cooks; cook++)
		burnt += kitchen.burnt[cook * 8];
	watch_tell_share(&watch, burnt / 2 / watch_seconds(&watch));
	open = false;
	kitchen.meet(0);
	for (std::thread &cook : cooks)
		cook.join();
	std::printf("a weight: %.4f\n", static_cast<double>(kitchen.weight()));
	return 0;
}
