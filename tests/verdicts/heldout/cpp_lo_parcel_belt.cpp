// Sorts parcels on a belt by weight, size and a profile of height: a network of two layers, trained as parcels arrive.
//
// Decoy: a queue with conditions whose producer is far ahead, shared pointers, a map of names, a line with std::endl in
// each step, a nap in each 250th and a trial on a few parcels; all of a moment for the loop.
// Truth: time of all of these, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace belt {

constexpr int kProfile = 180, kHidden = 72, kChutes = 12, kBatch = 64;

struct Load {
	std::vector<float> profile = std::vector<float>(kBatch * kProfile);
	std::vector<int> chute = std::vector<int>(kBatch);
};

class Belt {
public:
	void put(std::shared_ptr<Load> load)
	{
		std::unique_lock<std::mutex> hold(lock_);
		room_.wait(hold, [this] { return loads_.size() < 64 || stopped_; });
		loads_.push_back(std::move(load));
		some_.notify_one();
	}
	std::shared_ptr<Load> take()
	{
		std::unique_lock<std::mutex> hold(lock_);
		some_.wait(hold, [this] { return !loads_.empty(); });
		std::shared_ptr<Load> load = std::move(loads_.front());
		loads_.pop_front();
		if (loads_.size() == 32)
			room_.notify_one();
		return load;
	}
	void stop()
	{
		std::lock_guard<std::mutex> hold(lock_);
		stopped_ = true;
		room_.notify_all();
	}
	bool stopped()
	{
		std::lock_guard<std::mutex> hold(lock_);
		return stopped_;
	}

private:
	std::mutex lock_;
	std::condition_variable room_, some_;
	std::deque<std::shared_ptr<Load>> loads_;
	bool stopped_ = false;
};

void arrivals(Belt &to)
{
	std::minstd_rand random(14);
	while (!to.stopped()) {
		auto load = std::make_shared<Load>();
		for (int b = 0; b < kBatch; b++) {
			load->chute[b] = static_cast<int>(random() % kChutes);
			for (int i = 0; i < kProfile; i++)
				load->profile[b * kProfile + i] = static_cast<float>(random() % 512) / 1024 + (i / 15 == load->chute[b]);
		}
		to.put(std::move(load));
	}
}

class Sorter {
public:
	Sorter()
	{
		std::mt19937 random(2);
		std::normal_distribution<float> normal(0, 0.1f);
		for (auto *part : {&in_, &out_})
			for (float &w : *part)
				w = normal(random);
	}
	double forward(const Load &load, int count)
	{
		double loss = 0;
		for (int b = 0; b < count; b++) {
			float *odds = &odds_[b * kChutes], sum = 0;
			for (int h = 0; h < kHidden; h++) {
				float a = 0;
				for (int i = 0; i < kProfile; i++)
					a += in_[h * kProfile + i] * load.profile[b * kProfile + i];
				hidden_[b * kHidden + h] = std::tanh(a);
			}
			for (int c = 0; c < kChutes; c++) {
				float a = 0;
				for (int h = 0; h < kHidden; h++)
					a += out_[c * kHidden + h] * hidden_[b * kHidden + h];
				sum += odds[c] = std::exp(a);
			}
			for (int c = 0; c < kChutes; c++)
				odds[c] /= sum;
			loss -= std::log(odds[load.chute[b]] + 1e-6f);
		}
		return loss / count;
	}
	void backward(const Load &load)
	{
		for (int b = 0; b < kBatch; b++) {
			float *odds = &odds_[b * kChutes];
			odds[load.chute[b]] -= 1;
			for (int h = 0; h < kHidden; h++) {
				const float y = hidden_[b * kHidden + h];
				float back = 0;
				for (int c = 0; c < kChutes; c++) {
					back += odds[c] * out_[c * kHidden + h];
					out_[c * kHidden + h] -= 1e-3f * odds[c] * y;
				}
				back *= 1e-3f * (1 - y * y);
				for (int i = 0; i < kProfile; i++)
					in_[h * kProfile + i] -= back * load.profile[b * kProfile + i];
			}
		}
	}

private:
	std::vector<float> in_ = std::vector<float>(kHidden * kProfile), out_ = std::vector<float>(kChutes * kHidden);
	std::vector<float> hidden_ = std::vector<float>(kBatch * kHidden), odds_ = std::vector<float>(kBatch * kChutes);
};

}  // namespace belt

int main()
{
	belt::Belt conveyor;
	std::thread porter(belt::arrivals, std::ref(conveyor));
	belt::Sorter sorter;
	std::map<std::string, double> figures;
	std::ofstream sheet("/dev/null");
	watch clock;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		std::shared_ptr<belt::Load> load;
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "take");
			planted_begin(&clock);
			load = conveyor.take();
			planted_end(&clock);
		}
		{
			DWELL_ZONE("forward");
			figures["loss"] = sorter.forward(*load, belt::kBatch);
		}
		{
			DWELL_ZONE("backward");
			sorter.backward(*load);
		}
		planted_begin(&clock);
		sheet << "load " << clock.steps << " loss " << figures["loss"] << std::endl;
		figures["mean"] = 0.99 * figures["mean"] + 0.01 * figures["loss"];
		if (clock.steps % 250 == 25)
			std::this_thread::sleep_for(std::chrono::microseconds(300));
		if (clock.steps % 30 == 10) {
			DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "trial");
			figures["trial"] = sorter.forward(*load, 8);
		}
		planted_end(&clock);
	}
	watch_tell(&clock);
	conveyor.stop();
	porter.join();
	std::fprintf(stderr, "loss %g\n", figures["mean"]);
}
