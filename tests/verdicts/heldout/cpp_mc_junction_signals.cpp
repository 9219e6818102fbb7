// Chooses green times of junctions: a network looks at the queues of the four arms, and two threads learn it, each from
// its half of the junctions. The threads share one network and one set of gradients.
//
// Planted: a thread holds the lock of the network through all of a junction, forward and backward, so only one of the two learns at a time.
// Truth: time that the first thread waits for this lock, or at the end of a step for the other thread, which waited for it, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int looks = 64, cells = 160, plans = 12, junctions = 64, minutes = 16;

struct Junction {
	float arrivals[looks][minutes], gain[plans];
};

struct Weights {
	float in[cells][looks], mid[cells][cells], out[plans][cells];
};

struct Pass {
	float queues[looks], first[cells], second[cells], said[plans];
};

class Gate {
public:
	void arrive()
	{
		std::unique_lock<std::mutex> lock(mutex);
		const int mine = round;
		if (++here == 2) {
			here = 0;
			round++;
			all.notify_all();
		} else {
			all.wait(lock, [&] { return round != mine; });
		}
	}

private:
	std::mutex mutex;
	std::condition_variable all;
	int here = 0, round = 0;
};

class Learner {
public:
	explicit Learner(unsigned seed)
	{
		std::mt19937 random(seed);
		std::uniform_real_distribution<float> any(-0.12f, 0.12f);
		for (size_t i = 0; i < sizeof w / sizeof(float); i++)
			reinterpret_cast<float *>(&w)[i] = any(random);
	}

	// What is left of the arrivals of the last minutes.
	static void look(const Junction &junction, Pass &pass)
	{
		for (int l = 0; l < looks; l++) {
			pass.queues[l] = 0;
			for (int m = 0; m < minutes; m++)
				pass.queues[l] += 0.2f * junction.arrivals[l][m] * std::exp(-0.1f * static_cast<float>(m) * junction.arrivals[l][0]);
		}
	}

	void forward(Pass &pass) const
	{
		for (int c = 0; c < cells; c++) {
			float sum = 0;
			for (int l = 0; l < looks; l++)
				sum += w.in[c][l] * pass.queues[l];
			pass.first[c] = std::tanh(sum);
		}
		for (int c = 0; c < cells; c++) {
			float sum = 0;
			for (int k = 0; k < cells; k++)
				sum += w.mid[c][k] * pass.first[k];
			pass.second[c] = std::tanh(sum);
		}
		for (int p = 0; p < plans; p++) {
			pass.said[p] = 0;
			for (int c = 0; c < cells; c++)
				pass.said[p] += w.out[p][c] * pass.second[c];
		}
	}

	void backward(const Junction &junction, const Pass &pass)
	{
		float to_second[cells] = {}, to_first[cells] = {};
		for (int p = 0; p < plans; p++) {
			const float wrong = pass.said[p] - junction.gain[p];
			loss += wrong * wrong;
			for (int c = 0; c < cells; c++) {
				g.out[p][c] += wrong * pass.second[c];
				to_second[c] += wrong * w.out[p][c];
			}
		}
		for (int c = 0; c < cells; c++) {
			const float slope = to_second[c] * (1 - pass.second[c] * pass.second[c]);
			for (int k = 0; k < cells; k++) {
				g.mid[c][k] += slope * pass.first[k];
				to_first[k] += slope * w.mid[c][k];
			}
		}
		for (int c = 0; c < cells; c++) {
			const float slope = to_first[c] * (1 - pass.first[c] * pass.first[c]);
			for (int l = 0; l < looks; l++)
				g.in[c][l] += slope * pass.queues[l];
		}
	}

	void half(const std::vector<Junction> &city, int from, watch *timed)
	{
		Pass pass;
		for (int round = 0; round < 8; round++)
			for (int j = from; j < from + junctions / 2; j++) {
				look(city[j], pass);
				if (timed)
					planted_begin(timed);
				std::lock_guard<std::mutex> lock(mine);
				if (timed)
					planted_end(timed);
				forward(pass);
				backward(city[j], pass);
			}
	}

	float update()
	{
		auto *weight = reinterpret_cast<float *>(&w), *gradient = reinterpret_cast<float *>(&g);
		for (size_t i = 0; i < sizeof w / sizeof(float); i++)
			weight[i] -= 1e-5f * gradient[i];
		std::memset(&g, 0, sizeof g);
		const float all = loss;
		loss = 0;
		return all;
	}

private:
	Weights w, g{};
	float loss = 0;
	std::mutex mine;
};

}  // namespace

int main()
{
	std::mt19937 random(90);
	std::uniform_real_distribution<float> cars(0, 1);
	std::vector<Junction> city(junctions);
	for (auto &junction : city) {
		for (auto &arrivals : junction.arrivals)
			for (float &minute : arrivals)
				minute = cars(random);
		for (auto &gain : junction.gain)
			gain = cars(random);
	}
	static Learner learner(91);
	Gate starts, ends;
	bool over = false;
	watch watch;
	float loss = 0;

	std::thread second([&] {
		for (;;) {
			starts.arrive();
			if (over)
				return;
			learner.half(city, junctions / 2, nullptr);
			ends.arrive();
		}
	});
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		starts.arrive();
		{
			DWELL_ZONE("junctions");
			learner.half(city, 0, &watch);
		}
		planted_begin(&watch);
		ends.arrive();
		planted_end(&watch);
		DWELL_ZONE("update");
		loss = learner.update();
	}
	watch_tell(&watch);
	over = true;
	starts.arrive();
	second.join();
	std::printf("loss %.3f\n", static_cast<double>(loss));
}
