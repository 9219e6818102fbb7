// Tags songs of whales, a small network that learns online; a second thread publishes the weights for the ships' displays.
//
// Planted: the publisher holds the lock of the weights while it writes all of them as text, and the loop needs the same
// lock to apply its gradients.
// Truth: time for which the loop waits for this lock, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kBins = 160, kHidden = 128, kTags = 12, kSongs = 24;

struct Weights {
	std::mutex lock;
	std::vector<float> first = std::vector<float>(kHidden * kBins), second = std::vector<float>(kTags * kHidden);
};

class Publisher {
public:
	explicit Publisher(Weights &weights) : weights_(weights), thread_([this] { publish(); }) {}
	~Publisher()
	{
		ends_ = true;
		thread_.join();
	}
	std::string latest()
	{
		std::lock_guard<std::mutex> hold(board_);
		return text_;
	}

private:
	void publish()
	{
		while (!ends_) {
			std::string text;
			{
				std::lock_guard<std::mutex> hold(weights_.lock);
				DWELL_ZONE("publish");
				std::ostringstream out;
				for (float w : weights_.first)
					out << w << ' ';
				for (float w : weights_.second)
					out << w << ' ';
				text = out.str();
			}
			{
				std::lock_guard<std::mutex> hold(board_);
				text_.swap(text);
			}
			std::this_thread::sleep_for(std::chrono::milliseconds(6));
		}
	}
	Weights &weights_;
	std::mutex board_;
	std::string text_;
	std::atomic<bool> ends_{false};
	std::thread thread_;
};

class Tagger {
public:
	explicit Tagger(Weights &weights) : w_(weights), g1_(w_.first.size()), g2_(w_.second.size()) {}
	void song(int number)
	{
		float bins[kBins], hidden[kHidden], back[kHidden] = {};
		for (int b = 0; b < kBins; b++)
			bins[b] = std::sin(0.1f * static_cast<float>(b * (number % kTags + 1))) + 0.01f * static_cast<float>(number % 7);
		for (int h = 0; h < kHidden; h++) {
			float sum = 0;
			for (int b = 0; b < kBins; b++)
				sum += w_.first[h * kBins + b] * bins[b];
			hidden[h] = std::tanh(sum);
		}
		for (int t = 0; t < kTags; t++) {
			float sum = 0;
			for (int h = 0; h < kHidden; h++)
				sum += w_.second[t * kHidden + h] * hidden[h];
			const float miss = 1 / (1 + std::exp(-sum)) - (number % kTags == t ? 0.9f : 0.1f);
			for (int h = 0; h < kHidden; h++) {
				back[h] += miss * w_.second[t * kHidden + h];
				g2_[t * kHidden + h] += miss * hidden[h];
			}
		}
		for (int h = 0; h < kHidden; h++) {
			const float slope = back[h] * (1 - hidden[h] * hidden[h]);
			for (int b = 0; b < kBins; b++)
				g1_[h * kBins + b] += slope * bins[b];
		}
	}
	void apply()
	{
		for (size_t i = 0; i < g1_.size(); i++)
			w_.first[i] -= 1e-3f * g1_[i];
		for (size_t i = 0; i < g2_.size(); i++)
			w_.second[i] -= 1e-3f * g2_[i];
		g1_.assign(g1_.size(), 0);
		g2_.assign(g2_.size(), 0);
	}

private:
	Weights &w_;
	std::vector<float> g1_, g2_;
};

}  // namespace

int main()
{
	Weights weights;
	unsigned seed = 5;
	for (auto *layer : {&weights.first, &weights.second})
		for (float &w : *layer) {
			seed = seed * 1664525u + 1013904223u;
			w = (static_cast<float>(seed >> 9) / 4194304 - 1) * 0.1f;
		}
	Publisher publisher(weights);
	Tagger tagger(weights);
	watch clock;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		for (int pass = 0; pass < 4; pass++)
			for (int s = 0; s < kSongs; s++) {
				DWELL_ZONE("song");
				tagger.song(clock.steps * kSongs + s);
			}
		planted_begin(&clock);
		std::unique_lock<std::mutex> hold(weights.lock);
		planted_end(&clock);
		DWELL_ZONE("apply");
		tagger.apply();
	}
	watch_tell(&clock);
	std::printf("%zu bytes published\n", publisher.latest().size());
}
