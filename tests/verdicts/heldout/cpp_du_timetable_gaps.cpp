// How late a train will be at the next stations: a mixer over stations and over features, inference for whole days of traffic. Two threads
// take the next train in turn and meet once a day.
//
// Clean: whoever is free takes the next train, all buffers are made once, nothing is planted.
// Truth: time that the first thread waits for the other at the end of a day, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int Stations = 40, Features = 32, Wide = 96, Blocks = 3, Trains = 120, Threads = 2;

class Meeting {
public:
	void meet()
	{
		std::unique_lock<std::mutex> lock(mutex_);
		const unsigned round = round_;
		if (++here_ == Threads) {
			here_ = 0;
			round_++;
			all_.notify_all();
			return;
		}
		all_.wait(lock, [&] { return round_ != round; });
	}

private:
	std::mutex mutex_;
	std::condition_variable all_;
	int here_ = 0;
	unsigned round_ = 0;
};

float bent(float x)
{
	return x / (1 + std::fabs(x));
}

struct Block {
	std::vector<float> up, down, across;
};

class Mixer {
public:
	Mixer()
	{
		std::mt19937 dice(23);
		std::normal_distribution<float> normal(0, 0.15f);
		for (Block &b : blocks_) {
			b.up.resize(Wide * Features);
			b.down.resize(Features * Wide);
			b.across.resize(Stations * Stations);
			for (auto *w : {&b.up, &b.down, &b.across})
				for (float &v : *w)
					v = normal(dice);
		}
	}
	float train(float (&x)[Stations][Features]) const
	{
		float mixed[Stations][Features], wide[Wide];
		for (const Block &block : blocks_) {
			for (int s = 0; s < Stations; s++) {
				for (float &m : mixed[s])
					m = 0;
				for (int t = 0; t < Stations; t++)
					for (int f = 0; f < Features; f++)
						mixed[s][f] += block.across[s * Stations + t] * x[t][f];
			}
			for (int s = 0; s < Stations; s++) {
				for (int w = 0; w < Wide; w++) {
					float sum = 0;
					for (int f = 0; f < Features; f++)
						sum += block.up[w * Features + f] * mixed[s][f];
					wide[w] = bent(sum);
				}
				for (int f = 0; f < Features; f++) {
					float sum = 0;
					for (int w = 0; w < Wide; w++)
						sum += block.down[f * Wide + w] * wide[w];
					x[s][f] = bent(x[s][f] + sum);
				}
			}
		}
		return x[Stations - 1][0];
	}

private:
	std::array<Block, Blocks> blocks_;
};

class Traffic {
public:
	void share(int day)
	{
		DWELL_ZONE("trains");
		float x[Stations][Features];
		for (int t; (t = next.fetch_add(1)) < Trains;) {
			for (int s = 0; s < Stations; s++)
				for (int f = 0; f < Features; f++)
					x[s][f] = 0.1f + 0.4f * static_cast<float>((day * 13 + t * 7 + s * 3 + f) % 29) / 29;
			late[t] = mixer_.train(x);
		}
	}
	std::array<float, Trains> late{};
	std::atomic<int> next{0};
	Meeting start, end;

private:
	Mixer mixer_;
};

} // namespace

int main()
{
	Traffic traffic;
	watch watch;
	int day = 0;
	bool over = false;
	std::thread second([&] {
		for (;;) {
			traffic.start.meet();
			if (over)
				return;
			traffic.share(day);
			traffic.end.meet();
		}
	});

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		traffic.next = 0;
		traffic.start.meet();
		traffic.share(day);
		planted_begin(&watch);
		traffic.end.meet();
		planted_end(&watch);
		day++;
		watch.steps++;
	}
	watch_tell(&watch);
	over = true;
	traffic.start.meet();
	second.join();
	std::printf("late: %.4f\n", static_cast<double>(traffic.late[3]));
	return 0;
}
