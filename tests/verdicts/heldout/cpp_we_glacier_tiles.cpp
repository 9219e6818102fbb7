// Learns where a glacier calves from tiles of radar: logistic regression on oriented filters, tiles made by a thread of its own.
//
// Planted: the loop orders a tile when it needs it, looks for it with try_pop() and sleeps 5 ms when it is not there yet; it takes 1 ms.
// Truth: time that the loop is in these naps, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <queue>
#include <random>
#include <thread>
#include <vector>

constexpr int kSide = 160, kFilters = 24, kSize = 7, kLooks = 2;

struct Tile {
	std::vector<float> echo;
	float calved;
};

class TileQueue {
public:
	void order()
	{
		std::lock_guard<std::mutex> hold(mutex_);
		ordered_++;
		more_.notify_one();
	}
	bool wait_for_order()
	{
		std::unique_lock<std::mutex> hold(mutex_);
		more_.wait(hold, [this] { return ordered_ > 0 || over_; });
		ordered_--;
		return !over_;
	}
	void push(std::unique_ptr<Tile> tile)
	{
		std::lock_guard<std::mutex> hold(mutex_);
		tiles_.push(std::move(tile));
	}
	void close()
	{
		std::lock_guard<std::mutex> hold(mutex_);
		over_ = true;
		more_.notify_one();
	}
	std::unique_ptr<Tile> try_pop()
	{
		std::lock_guard<std::mutex> hold(mutex_);
		if (tiles_.empty())
			return nullptr;
		auto tile = std::move(tiles_.front());
		tiles_.pop();
		return tile;
	}

private:
	std::mutex mutex_;
	std::condition_variable more_;
	int ordered_ = 0;
	bool over_ = false;
	std::queue<std::unique_ptr<Tile>> tiles_;
};

static void survey(TileQueue &queue)
{
	std::mt19937 random(9);
	std::uniform_real_distribution<float> any(-1, 1);
	while (queue.wait_for_order()) {
		auto tile = std::make_unique<Tile>();
		tile->echo.resize(kSide * kSide);
		const float tilt = any(random);
		for (int y = 0; y < kSide; y++)
			for (int x = 0; x < kSide; x++)
				for (int look = 0; look < kLooks; look++)
					tile->echo[y * kSide + x] += (std::sin(0.2f * (x + tilt * y)) + 0.6f * any(random)) / kLooks;
		tile->calved = tilt > 0 ? 1.0f : 0.0f;
		queue.push(std::move(tile));
	}
}

class Calving {
public:
	explicit Calving(std::mt19937 &random)
		: filters_(kFilters * kSize * kSize), weights_(kFilters, 0.1f), seen_(kFilters), slope_(kFilters * kSize * kSize)
	{
		std::normal_distribution<float> any(0, 0.1f);
		for (auto &w : filters_)
			w = any(random);
	}

	float learn(const Tile &tile)
	{
		constexpr int area = (kSide - kSize) * (kSide - kSize);
		float logit = 0;
		std::fill(slope_.begin(), slope_.end(), 0.0f);
		{
			DWELL_ZONE("filters");
			for (int f = 0; f < kFilters; f++) {
				const float *w = &filters_[f * kSize * kSize];
				float *g = &slope_[f * kSize * kSize], energy = 0;
				for (int y = 0; y < kSide - kSize; y += 2)
					for (int x = 0; x < kSide - kSize; x += 2) {
						const float *at = &tile.echo[y * kSide + x];
						float sum = 0;
						for (int v = 0; v < kSize; v++)
							for (int u = 0; u < kSize; u++)
								sum += w[v * kSize + u] * at[v * kSide + u];
						energy += sum * sum;
						for (int v = 0; v < kSize; v++)
							for (int u = 0; u < kSize; u++)
								g[v * kSize + u] += 2 * sum * at[v * kSide + u];
					}
				seen_[f] = energy * 4 / area;
				logit += weights_[f] * seen_[f];
			}
		}
		DWELL_ZONE("descend");
		const float error = 1 / (1 + std::exp(-logit)) - tile.calved;
		for (int f = 0; f < kFilters; f++) {
			for (int i = 0; i < kSize * kSize; i++)
				filters_[f * kSize * kSize + i] -= 1e-3f * error * weights_[f] * slope_[f * kSize * kSize + i] / area;
			weights_[f] -= 1e-3f * error * seen_[f];
		}
		return error * error;
	}

private:
	std::vector<float> filters_, weights_, seen_, slope_;
};

int main()
{
	TileQueue queue;
	std::thread surveyor(survey, std::ref(queue));
	std::mt19937 random(4);
	Calving calving(random);
	watch stopwatch;
	float loss = 0;

	watch_begin(&stopwatch);
	for (; watch_seconds(&stopwatch) < 6; stopwatch.steps++) {
		DWELL_STEP();
		for (int picture = 0; picture < 3; picture++) {
			queue.order();
			auto tile = queue.try_pop();
			while (!tile) {
				planted_begin(&stopwatch);
				std::this_thread::sleep_for(std::chrono::milliseconds(5));
				planted_end(&stopwatch);
				tile = queue.try_pop();
			}
			loss = 0.9f * loss + 0.1f * calving.learn(*tile);
		}
	}
	watch_tell(&stopwatch);
	queue.close();
	surveyor.join();
	std::printf("loss %.4f\n", loss);
}
