/*
 * Foretells the split times of relay teams from their runners: each of two threads takes half of a meeting's races, describes
 * a race by the pairs of its runners, and teaches one network that both share.
 *
 * Planted: the network's lock is held for the whole of forward, backward and update, so one thread mostly waits for the other.
 * Truth: time that the main thread waits for the lock and for the other thread, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

namespace relay {

constexpr int RUNNERS = 8, SKILLS = 12, PAIRS = RUNNERS * RUNNERS * 4, WIDTH = 112, RACES = 600;

struct Race {
	float skill[RUNNERS][SKILLS];
	float split;
};

/* What two runners have to do with each other, in four ways. */
void describe(const Race &race, float *pairs)
{
	for (int a = 0; a < RUNNERS; a++)
		for (int b = 0; b < RUNNERS; b++)
			for (int way = 0; way < 4; way++) {
				float sum = 0;
				for (int s = 0; s < SKILLS; s++)
					sum += race.skill[a][s] * race.skill[b][(s + way) % SKILLS];
				pairs[(a * RUNNERS + b) * 4 + way] = sum / (1 + std::fabs(sum));
			}
}

class Network {
public:
	Network()
	{
		for (int p = 0; p < PAIRS; p++)
			for (int w = 0; w < WIDTH; w++)
				in_[p][w] = 0.08f * std::sin(static_cast<float>(p * 17 + w * 3));
		for (int w = 0; w < WIDTH; w++)
			out_[w] = 0.2f * std::cos(static_cast<float>(w));
	}

	float teach(const float *pairs, float split)
	{
		float hidden[WIDTH] = {}, said = 0;
		for (int p = 0; p < PAIRS; p++)
			for (int w = 0; w < WIDTH; w++)
				hidden[w] += pairs[p] * in_[p][w];
		for (int w = 0; w < WIDTH; w++) {
			hidden[w] /= 1 + std::fabs(hidden[w]);
			said += hidden[w] * out_[w];
		}
		const float wrong = said - split;
		float blame[WIDTH];
		for (int w = 0; w < WIDTH; w++) {
			const float slope = 1 - std::fabs(hidden[w]);
			blame[w] = wrong * out_[w] * slope * slope;
			out_[w] -= 1e-4f * wrong * hidden[w];
		}
		for (int p = 0; p < PAIRS; p++)
			for (int w = 0; w < WIDTH; w++)
				in_[p][w] -= 1e-4f * blame[w] * pairs[p];
		return wrong * wrong;
	}

	std::mutex lock;

private:
	float in_[PAIRS][WIDTH], out_[WIDTH];
};

class Trainer {
public:
	Trainer() : races_(RACES * 4)
	{
		for (size_t r = 0; r < races_.size(); r++) {
			for (int a = 0; a < RUNNERS; a++)
				for (int s = 0; s < SKILLS; s++)
					races_[r].skill[a][s] = std::sin(static_cast<float>(r * 5 + a * 3 + s));
			races_[r].split = std::cos(static_cast<float>(r));
		}
	}

	/* Races of one half of a meeting. `watch`: of the main thread. */
	float half(size_t from, watch *w)
	{
		DWELL_ZONE("half of a meeting");
		float pairs[PAIRS], loss = 0;
		for (size_t r = from; r < from + RACES / 2; r++) {
			describe(races_[r], pairs);
			if (w)
				planted_begin(w);
			network_.lock.lock();
			if (w)
				planted_end(w);
			loss += network_.teach(pairs, races_[r].split);
			network_.lock.unlock();
		}
		return loss;
	}

	float meeting(watch &w)
	{
		const size_t from = w.steps % 4 * RACES;
		float theirs = 0;
		std::thread other([&] { theirs = half(from + RACES / 2, nullptr); });
		const float ours = half(from, &w);
		planted_begin(&w);
		other.join();
		planted_end(&w);
		return ours + theirs;
	}

private:
	std::vector<Race> races_;
	Network network_;
};

}

int main()
{
	static watch watch;
	relay::Trainer trainer;
	float loss = 0;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		loss = trainer.meeting(watch);
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", static_cast<double>(loss));
}
