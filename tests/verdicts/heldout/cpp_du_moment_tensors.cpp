// Moment tensors of earthquakes from amplitudes at stations: an encoder shared by all stations, a mean, and six components. Trained on
// events that a thread makes ahead.
//
// Decoy: a thread with a queue that is always full, a map and text for each step, exceptions and a file that is opened anew, all of a moment or rare.
// Truth: time of waiting for events and of all these, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int Stations = 30, Traits = 20, Code = 96, Parts = 6, Events = 24;

struct Batch {
	std::vector<float> seen, moment;
};

class Ahead {
public:
	Ahead() : thread_([this] { make(); }) {}
	~Ahead()
	{
		{
			std::lock_guard<std::mutex> lock(mutex_);
			over_ = true;
		}
		changed_.notify_all();
		thread_.join();
	}
	Batch take()
	{
		std::unique_lock<std::mutex> lock(mutex_);
		changed_.wait(lock, [this] { return !ready_.empty(); });
		Batch batch = std::move(ready_.front());
		ready_.pop();
		if (ready_.size() == Low)
			changed_.notify_all();
		return batch;
	}

private:
	static constexpr size_t Low = 16, High = 32;
	void make()
	{
		std::minstd_rand dice(3);
		for (;;) {
			Batch batch;
			batch.moment.resize(Events * Parts);
			batch.seen.resize(Events * Stations * Traits);
			for (float &m : batch.moment)
				m = static_cast<float>(dice() % 2001) / 1000 - 1;
			for (size_t i = 0; i < batch.seen.size(); i++)
				batch.seen[i] = batch.moment[i % Parts + i / (Stations * Traits) * Parts] * 0.3f + static_cast<float>(dice() % 100) / 300;
			std::unique_lock<std::mutex> lock(mutex_);
			changed_.wait(lock, [this] { return filling_ || ready_.size() <= Low || over_; });
			if (over_)
				return;
			ready_.push(std::move(batch));
			filling_ = ready_.size() < High;
			changed_.notify_all();
		}
	}
	std::mutex mutex_;
	std::condition_variable changed_;
	std::queue<Batch> ready_;
	bool over_ = false, filling_ = true;
	std::thread thread_;
};

class Model {
public:
	Model()
	{
		std::mt19937 dice(8);
		std::normal_distribution<float> normal(0, 0.2f);
		for (auto *w : {&in_, &deep_, &out_})
			for (float &v : *w)
				v = normal(dice);
	}
	float learn(const Batch &batch)
	{
		float loss = 0;
		for (int e = 0; e < Events; e++) {
			std::array<float, Code> mean{}, back{};
			for (int s = 0; s < Stations; s++) {
				const float *x = &batch.seen[(e * Stations + s) * Traits];
				for (int c = 0; c < Code; c++) {
					float sum = 0;
					for (int t = 0; t < Traits; t++)
						sum += in_[c * Traits + t] * x[t];
					first_[s][c] = sum / (1 + std::fabs(sum));
				}
				for (int c = 0; c < Code; c++) {
					float sum = 0;
					for (int d = 0; d < Code; d++)
						sum += deep_[c * Code + d] * first_[s][d];
					second_[s][c] = sum / (1 + std::fabs(sum));
					mean[c] += second_[s][c] / Stations;
				}
			}
			for (int p = 0; p < Parts; p++) {
				float wrong = -batch.moment[e * Parts + p];
				for (int c = 0; c < Code; c++)
					wrong += out_[p * Code + c] * mean[c];
				loss += wrong * wrong;
				for (int c = 0; c < Code; c++) {
					back[c] += wrong * out_[p * Code + c] / Stations;
					out_[p * Code + c] -= Pace * wrong * mean[c];
				}
			}
			for (int s = 0; s < Stations; s++) {
				const float *x = &batch.seen[(e * Stations + s) * Traits];
				std::array<float, Code> low{};
				for (int c = 0; c < Code; c++) {
					const float rest = 1 - std::fabs(second_[s][c]), g = back[c] * rest * rest;
					for (int d = 0; d < Code; d++) {
						low[d] += g * deep_[c * Code + d];
						deep_[c * Code + d] -= Pace * g * first_[s][d];
					}
				}
				for (int d = 0; d < Code; d++) {
					const float rest = 1 - std::fabs(first_[s][d]), g = low[d] * rest * rest;
					for (int t = 0; t < Traits; t++)
						in_[d * Traits + t] -= Pace * g * x[t];
				}
			}
		}
		return loss;
	}

private:
	static constexpr float Pace = 1e-4f;
	std::vector<float> in_ = std::vector<float>(Code * Traits);
	std::vector<float> deep_ = std::vector<float>(Code * Code);
	std::vector<float> out_ = std::vector<float>(Parts * Code);
	std::array<std::array<float, Code>, Stations> first_, second_;
};

} // namespace

int main()
{
	Model model;
	Ahead ahead;
	watch watch;
	std::map<std::string, float> journal;
	std::function<void(int, float)> note = [&journal](int step, float loss) {
		std::ostringstream line;
		line << "step " << step % 100 << " loss";
		journal[line.str()] = loss;
		try {
			if (step % 50 == 49)
				throw std::runtime_error("no bulletin yet");
		} catch (const std::runtime_error &) {
			journal["bulletin"] = loss;
		}
		if (step % 150 == 149)
			std::ofstream("/dev/null", std::ios::app) << line.str() << std::endl;
	};

	std::this_thread::sleep_for(std::chrono::milliseconds(50));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.3; watch.steps++) {
		DWELL_STEP();
		Batch batch;
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "wait for data");
			planted_begin(&watch);
			batch = ahead.take();
			planted_end(&watch);
		}
		float loss;
		{
			DWELL_ZONE("learn");
			loss = model.learn(batch);
		}
		planted_begin(&watch);
		note(watch.steps, loss);
		planted_end(&watch);
	}
	watch_tell(&watch);
	std::printf("%zu lines\n", journal.size());
	return 0;
}
