// Guesses which lanterns visitors of a night market vote for: a factorization machine that learns from each vote.
//
// Planted: a line about each vote goes to a file with std::endl.
// Truth: time of writing lines, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace market {

constexpr int kFields = 14, kPerField = 500, kFactors = 24, kVotes = 1200;

struct Vote {
	int feature[kFields];
	bool liked;
};

class Machine {
public:
	Machine() : factor_(kFields * kPerField * kFactors), weight_(kFields * kPerField)
	{
		std::mt19937 random(4);
		std::normal_distribution<float> normal(0, 0.05f);
		for (float &f : factor_)
			f = normal(random);
	}

	float predict(const Vote &vote)
	{
		float score = bias_;
		for (int k = 0; k < kFactors; k++)
			sum_[k] = 0;
		for (int f : vote.feature) {
			score += weight_[f];
			for (int k = 0; k < kFactors; k++) {
				const float v = factor_[f * kFactors + k];
				sum_[k] += v;
				score -= 0.5f * v * v;
			}
		}
		for (float s : sum_)
			score += 0.5f * s * s;
		return 1 / (1 + std::exp(-score));
	}

	void learn(const Vote &vote, float chance)
	{
		const float error = rate_ * (chance - (vote.liked ? 1.f : 0.f));
		bias_ -= error;
		for (int f : vote.feature) {
			weight_[f] -= error;
			for (int k = 0; k < kFactors; k++) {
				float &v = factor_[f * kFactors + k];
				v -= error * (sum_[k] - v) + 1e-6f * v;
			}
		}
	}

private:
	std::vector<float> factor_, weight_;
	float sum_[kFactors] = {}, bias_ = 0, rate_ = 0.02f;
};

class Diary {
public:
	explicit Diary(const std::string &path) : path_(path), file_(path) { file_ << std::setprecision(6); }
	~Diary() { std::remove(path_.c_str()); }
	void note(long number, const Vote &vote, float chance)
	{
		if (number % 100000 == 0)
			file_.seekp(0);
		file_ << "vote " << number << " lantern " << vote.feature[0] << (vote.liked ? " liked " : " passed ") << chance << std::endl;
	}

private:
	std::string path_;
	std::ofstream file_;
};

std::vector<Vote> evening()
{
	std::mt19937 random(21);
	std::vector<Vote> votes(kVotes * 20);
	for (Vote &vote : votes) {
		int taste = 0;
		for (int f = 0; f < kFields; f++) {
			const int value = static_cast<int>(random() % kPerField);
			vote.feature[f] = f * kPerField + value;
			taste += (value % 7) - 3;
		}
		vote.liked = taste > static_cast<int>(random() % 5) - 2;
	}
	return votes;
}

}  // namespace market

int main()
{
	const std::vector<market::Vote> votes = market::evening();
	market::Machine machine;
	market::Diary diary("/tmp/lo_lantern_" + std::to_string(getpid()) + ".log");
	watch clock;
	long number = 0;
	double right = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6.5; clock.steps++) {
		DWELL_STEP();
		const market::Vote *table = &votes[static_cast<size_t>(clock.steps % 20) * market::kVotes];
		// A guess for each of the four rounds of the table; the last one counts.
		float chances[market::kVotes];
		{
			DWELL_ZONE("predict");
			for (int pass = 0; pass < 4; pass++)
				for (int v = 0; v < market::kVotes; v++)
					chances[v] = machine.predict(table[(v + pass) % market::kVotes]);
		}
		{
			DWELL_ZONE("learn");
			for (int v = 0; v < market::kVotes; v++) {
				const float chance = machine.predict(table[v]);
				machine.learn(table[v], chance);
				right += (chances[v] > 0.5f) == table[v].liked;
			}
		}
		DWELL_ZONE("diary");
		planted_begin(&clock);
		for (int v = 0; v < market::kVotes; v++)
			diary.note(number++, table[v], chances[v]);
		planted_end(&clock);
	}
	watch_tell(&clock);
	std::fprintf(stderr, "%.3f right\n", right / static_cast<double>(number));
}
