// Separates the stems of a mix: masks for four instruments from frames of a spectrum, by a network that a pool of
// threads trains; the caller of the pool takes tasks, too.
//
// Planted: Ledger::grade() holds the lock of the summed gradients for the masks and the backward pass of a whole clip.
// Truth: time that the caller's thread waits for that lock, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <queue>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kBins = 96, kUnits = 64, kStems = 4, kFrames = 128, kClips = 10, kContext = 3, kWide = kContext * kBins;

class Pool {
public:
	explicit Pool(int helpers)
	{
		for (int i = 0; i < helpers; i++)
			crew_.emplace_back([this] { serve(); });
	}
	~Pool()
	{
		{
			std::lock_guard<std::mutex> hold(door_);
			closing_ = true;
		}
		news_.notify_all();
		for (auto &t : crew_)
			t.join();
	}
	void post(std::function<void()> task)
	{
		{
			std::lock_guard<std::mutex> hold(door_);
			tasks_.push(std::move(task));
			open_++;
		}
		news_.notify_one();
	}
	// The caller works until no task is left, then waits for those that others have begun.
	void finish()
	{
		while (take(false)) {
		}
		std::unique_lock<std::mutex> hold(door_);
		done_.wait(hold, [this] { return open_ == 0; });
	}

private:
	bool take(bool patient)
	{
		std::function<void()> task;
		{
			std::unique_lock<std::mutex> hold(door_);
			if (patient)
				news_.wait(hold, [this] { return closing_ || !tasks_.empty(); });
			if (tasks_.empty())
				return false;
			task = std::move(tasks_.front());
			tasks_.pop();
		}
		task();
		std::lock_guard<std::mutex> hold(door_);
		if (--open_ == 0)
			done_.notify_all();
		return true;
	}
	void serve()
	{
		for (;;)
			if (!take(true)) {
				std::lock_guard<std::mutex> hold(door_);
				if (closing_)
					return;
			}
	}

	std::vector<std::thread> crew_;
	std::queue<std::function<void()>> tasks_;
	std::mutex door_;
	std::condition_variable news_, done_;
	int open_ = 0;
	bool closing_ = false;
};

struct Weights {
	float in[kUnits][kWide], out[kStems * kBins][kUnits];
};

struct Clip {
	float mix[kFrames + kContext - 1][kBins], stems[kFrames][kStems * kBins];
};

struct Pass {
	float unit[kFrames][kUnits], error[kFrames][kStems * kBins];
};

void encode(const Weights &w, const Clip &clip, Pass &p)
{
	for (int f = 0; f < kFrames; f++) {
		for (int u = 0; u < kUnits; u++) {
			float a = 0;
			for (int i = 0; i < kWide; i++) /* this frame and those around it */
				a += w.in[u][i] * clip.mix[f + i / kBins][i % kBins];
			p.unit[f][u] = std::tanh(a);
		}
	}
}

void masks(const Weights &w, const Clip &clip, Pass &p)
{
	for (int f = 0; f < kFrames; f++)
		for (int o = 0; o < kStems * kBins; o++) {
			float a = 0;
			for (int u = 0; u < kUnits; u++)
				a += w.out[o][u] * p.unit[f][u];
			p.error[f][o] = 1 / (1 + std::exp(-a)) * clip.mix[f + kContext / 2][o % kBins] - clip.stems[f][o];
		}
}

class Ledger {
public:
	explicit Ledger(watch &clock, std::thread::id caller) : clock_(clock), caller_(caller) {}

	void grade(const Weights &w, const Clip &clip, Pass &p)
	{
		const bool timed = std::this_thread::get_id() == caller_;
		if (timed)
			planted_begin(&clock_);
		std::lock_guard<std::mutex> hold(lock_);
		if (timed)
			planted_end(&clock_);
		masks(w, clip, p);
		for (int f = 0; f < kFrames; f++) {
			float back[kUnits] = {};
			for (int o = 0; o < kStems * kBins; o++)
				for (int u = 0; u < kUnits; u++) {
					sum.out[o][u] += p.error[f][o] * p.unit[f][u];
					back[u] += p.error[f][o] * w.out[o][u];
				}
			for (int u = 0; u < kUnits; u++) {
				const float b = back[u] * (1 - p.unit[f][u] * p.unit[f][u]);
				for (int i = 0; i < kWide; i++)
					sum.in[u][i] += b * clip.mix[f + i / kBins][i % kBins];
			}
		}
	}
	Weights sum = {};

private:
	watch &clock_;
	std::thread::id caller_;
	std::mutex lock_;
};

}  // namespace

int main()
{
	std::mt19937 random(21);
	std::uniform_real_distribution<float> loud(0.1f, 1.f);
	std::normal_distribution<float> normal(0, 0.1f);
	std::vector<Clip> clips(kClips);
	std::vector<Pass> passes(kClips);
	static Weights weights;
	watch clock;
	static Ledger ledger(clock, std::this_thread::get_id());

	for (Clip &c : clips)
		for (int f = 0; f < kFrames; f++)
			for (int o = 0; o < kStems * kBins; o++) {
				c.stems[f][o] = loud(random) * (1 + std::sin(0.1f * static_cast<float>(o))) / 8;
				c.mix[f + kContext / 2][o % kBins] += c.stems[f][o];
			}
	for (size_t i = 0; i < sizeof weights / sizeof(float); i++)
		reinterpret_cast<float *>(&weights)[i] = normal(random);
	Pool pool(1);
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("clips");
			for (int c = 0; c < kClips; c++)
				pool.post([c, &clips, &passes] {
					{
						DWELL_ZONE("encode");
						encode(weights, clips[c], passes[c]);
					}
					DWELL_ZONE("grade");
					ledger.grade(weights, clips[c], passes[c]);
				});
			pool.finish();
		}
		DWELL_ZONE("descent");
		float *w = reinterpret_cast<float *>(&weights), *g = reinterpret_cast<float *>(&ledger.sum);
		for (size_t i = 0; i < sizeof weights / sizeof(float); i++) {
			w[i] -= 0.002f * g[i];
			g[i] = 0;
		}
	}
	watch_tell(&clock);
	std::printf("first mask %g\n", passes[0].error[0][0]);
}
