// Estimates the wind aloft from the pull on kites' lines: an ensemble of 20 small networks reads each minute of pulls, and the spread of
// their answers is the uncertainty. Inference, one thread; a station's thread keeps the last answers for visitors.
//
// Decoy: a lock that is shared with a thread that naps, a new string and a map by name for each kite, a fresh vector of answers and a
// line with std::endl in each fiftieth step, all of a moment.
// Truth: time of all these, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kPulls = 60, kInner = 96, kMembers = 20, kKites = 6;

struct Member {
	float first[kPulls][kInner], second[kInner][kInner], last[kInner];

	explicit Member(std::mt19937 &random)
	{
		std::normal_distribution<float> normal(0, 0.12f);
		for (auto &row : first)
			for (float &w : row)
				w = normal(random);
		for (auto &row : second)
			for (float &w : row)
				w = normal(random);
		for (float &w : last)
			w = normal(random);
	}

	float wind(const float *pulls) const
	{
		float inner[kInner] = {}, outer[kInner] = {}, sum = 0;
		{
			DWELL_OP("first");
			for (int p = 0; p < kPulls; ++p)
				for (int k = 0; k < kInner; ++k)
					inner[k] += pulls[p] * first[p][k];
			for (float &value : inner)
				value = std::tanh(value);
		}
		DWELL_OP("second");
		for (int k = 0; k < kInner; ++k)
			for (int o = 0; o < kInner; ++o)
				outer[o] += inner[k] * second[k][o];
		for (int o = 0; o < kInner; ++o)
			sum += std::tanh(outer[o]) * last[o];
		return sum;
	}
};

class Station {
public:
	Station() : log_("kites.log"), visitor_([this] { receive(); }) {}
	~Station()
	{
		closed_ = true;
		visitor_.join();
		log_.close();
		std::remove("kites.log");
	}

	void post(int step, const std::vector<float> &answers)
	{
		float sum = 0;
		for (float answer : answers)
			sum += answer;
		const std::lock_guard<std::mutex> lock(mutex_);
		for (int kite = 0; kite < kKites; ++kite)
			last_["kite " + std::to_string(kite)] = answers[kite];
		if (step % 50 == 0)
			log_ << "minute " << step << " mean " << sum / kKites << std::endl;
	}

private:
	void receive()
	{
		while (!closed_) {
			{
				const std::lock_guard<std::mutex> lock(mutex_);
				visits_ += last_.count("kite 3");
			}
			std::this_thread::sleep_for(std::chrono::milliseconds(20));
		}
	}

	std::ofstream log_;
	std::map<std::string, float> last_;
	std::mutex mutex_;
	size_t visits_ = 0;
	std::atomic<bool> closed_{false};
	std::thread visitor_;
};

} // namespace

int main()
{
	std::mt19937 random(77);
	std::vector<std::unique_ptr<Member>> ensemble;
	for (int m = 0; m < kMembers; ++m)
		ensemble.push_back(std::make_unique<Member>(random));
	std::vector<float> pulls(kKites * 40 * kPulls);
	for (size_t i = 0; i < pulls.size(); ++i)
		pulls[i] = 1.0f + 0.5f * std::sin(0.013f * static_cast<float>(i)) + 0.1f * std::cos(static_cast<float>(i));
	Station station;
	watch clock{};
	double spread = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		std::vector<float> answers;
		for (int kite = 0; kite < kKites; ++kite) {
			DWELL_ZONE("ensemble");
			float sum = 0, squares = 0;
			for (int second = 0; second < 5; ++second)
				for (const auto &member : ensemble) {
					const float wind = member->wind(&pulls[(kite * 40 + (clock.steps * 5 + second) % 40) * kPulls]);
					sum += wind;
					squares += wind * wind;
				}
			answers.push_back(sum / (5 * kMembers));
			spread += squares / (5 * kMembers) - answers.back() * answers.back();
		}
		DWELL_ZONE("post");
		planted_begin(&clock);
		station.post(clock.steps, answers);
		planted_end(&clock);
	}
	watch_tell(&clock);
	std::printf("spread %.4f\n", spread / clock.steps / kKites);
}
