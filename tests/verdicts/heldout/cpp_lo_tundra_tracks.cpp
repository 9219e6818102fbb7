// Tells the tracks of foxes, hares and wolves in snow apart: a network on 32 x 32 patches, which another thread draws.
//
// Planted: the thread that draws patches is slower than the network, and the loop turns around an atomic flag, without
// a pause, until the next batch is there.
// Truth: time that the loop turns around the flag, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kSide = 32, kPixels = kSide * kSide, kHidden = 40, kAnimals = 3, kBatch = 48;

struct Batch {
	std::vector<float> snow = std::vector<float>(kBatch * kPixels);
	std::array<int, kBatch> animal{};
};

// One slot; whoever does not own it leaves it alone.
class Slot {
public:
	Batch &to_fill()
	{
		while (full_.load(std::memory_order_acquire) && !closed_)
			std::this_thread::sleep_for(std::chrono::microseconds(50));
		return batch_;
	}
	void filled() { full_.store(true, std::memory_order_release); }
	void swap_out(Batch &mine)
	{
		while (!full_.load(std::memory_order_acquire)) {
		}
		std::swap(mine, batch_);
		full_.store(false, std::memory_order_release);
	}
	void close() { closed_ = true; }
	bool closed() const { return closed_; }

private:
	Batch batch_;
	std::atomic<bool> full_{false}, closed_{false};
};

void draw(Batch &batch, std::mt19937 &random)
{
	std::uniform_real_distribution<float> any(0, 1);

	for (int b = 0; b < kBatch; b++) {
		const int animal = batch.animal[b] = static_cast<int>(random() % kAnimals);
		const float gait = 4.0f + 3.0f * animal, phase = any(random) * 6;
		for (int y = 0; y < kSide; y++)
			for (int x = 0; x < kSide; x++) {
				float depth = 0;
				// Wind makes waves of three lengths.
				for (int octave = 1; octave <= 3; octave++)
					depth += std::sin(x * 0.3f * octave + phase) * std::cos(y * 0.2f * octave - phase) / octave;
				const float dx = x - kSide / 2 - 3 * std::sin(y / gait), step = std::fmod(y + phase, gait);
				depth -= 2 * std::exp(-(dx * dx + step * step) / 6);
				batch.snow[b * kPixels + y * kSide + x] = depth + 0.2f * any(random);
			}
	}
}

class Tracker {
public:
	Tracker() : in_(kHidden * kPixels), out_(kAnimals * kHidden), hidden_(kBatch * kHidden), odds_(kBatch * kAnimals)
	{
		std::mt19937 random(3);
		std::normal_distribution<float> normal(0, 0.02f);
		for (float &w : in_)
			w = normal(random);
		for (float &w : out_)
			w = 4 * normal(random);
	}

	float forward(const Batch &batch)
	{
		DWELL_ZONE("forward");
		float loss = 0;

		for (int b = 0; b < kBatch; b++) {
			float sum = 0;
			for (int h = 0; h < kHidden; h++) {
				float a = 0;
				for (int p = 0; p < kPixels; p++)
					a += in_[h * kPixels + p] * batch.snow[b * kPixels + p];
				hidden_[b * kHidden + h] = std::tanh(a);
			}
			for (int k = 0; k < kAnimals; k++) {
				float a = 0;
				for (int h = 0; h < kHidden; h++)
					a += out_[k * kHidden + h] * hidden_[b * kHidden + h];
				sum += odds_[b * kAnimals + k] = std::exp(a);
			}
			for (int k = 0; k < kAnimals; k++)
				odds_[b * kAnimals + k] /= sum;
			loss -= std::log(odds_[b * kAnimals + batch.animal[b]]);
		}
		return loss / kBatch;
	}

	void learn(const Batch &batch, float rate)
	{
		DWELL_ZONE("learn");
		for (int b = 0; b < kBatch; b++) {
			std::array<float, kAnimals> error;
			for (int k = 0; k < kAnimals; k++)
				error[k] = rate * (odds_[b * kAnimals + k] - (k == batch.animal[b])) / kBatch;
			for (int h = 0; h < kHidden; h++) {
				const float y = hidden_[b * kHidden + h];
				float back = 0;
				for (int k = 0; k < kAnimals; k++) {
					back += error[k] * out_[k * kHidden + h];
					out_[k * kHidden + h] -= error[k] * y;
				}
				back *= 1 - y * y;
				for (int p = 0; p < kPixels; p++)
					in_[h * kPixels + p] -= back * batch.snow[b * kPixels + p];
			}
		}
	}

private:
	std::vector<float> in_, out_, hidden_, odds_;
};

}  // namespace

int main()
{
	Slot slot;
	std::thread artist([&slot] {
		std::mt19937 random(12);
		while (!slot.closed()) {
			Batch &batch = slot.to_fill();
			draw(batch, random);
			slot.filled();
		}
	});
	Tracker tracker;
	Batch batch;
	watch clock;
	float loss = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6.5; clock.steps++) {
		DWELL_STEP();
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "next patches");
			planted_begin(&clock);
			slot.swap_out(batch);
			planted_end(&clock);
		}
		loss = tracker.forward(batch);
		tracker.learn(batch, 0.02f);
	}
	watch_tell(&clock);
	slot.close();
	artist.join();
	std::fprintf(stderr, "loss %g\n", static_cast<double>(loss));
}
