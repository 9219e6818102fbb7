// Goes on with a melody: a state that flows by a differential equation reads notes, looks into a memory of motifs for the most alike ones, and chooses the next note.
// Inference, a bar of sixteen notes a step.
//
// Planted: the memory should have the last 256 states, but nothing leaves it, so each note looks through all of the concert.
// Truth: time of looking through states older than the last 256, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <random>
#include <vector>

namespace {

constexpr int State = 128, Notes = 48, Bar = 16;
constexpr size_t Remembered = 256;

using Vector = std::array<float, State>;

class Memory {
public:
	explicit Memory(watch &clock) : clock_(clock) {}
	Vector recall(const Vector &now)
	{
		Vector sum{};
		float weights = 1e-6f;
		// Newest first.
		const size_t recent = std::min(Remembered, states_.size());
		look(now, states_.size() - recent, states_.size(), sum, weights);
		planted_begin(&clock_);
		look(now, 0, states_.size() - recent, sum, weights);
		planted_end(&clock_);
		for (float &s : sum)
			s /= weights;
		return sum;
	}
	void keep(const Vector &state) { states_.push_back(state); }
	size_t size() const { return states_.size(); }

private:
	void look(const Vector &now, size_t from, size_t to, Vector &sum, float &weights) const
	{
		for (size_t m = from; m < to; m++) {
			float alike = 0;
			for (int s = 0; s < State; s++)
				alike += now[s] * states_[m][s];
			const float weight = 1 / (1 + (1 - alike) * (1 - alike));
			weights += weight;
			for (int s = 0; s < State; s++)
				sum[s] += weight * states_[m][s];
		}
	}
	watch &clock_;
	std::deque<Vector> states_;
};

class Player {
public:
	explicit Player(watch &clock) : memory_(clock)
	{
		std::uniform_real_distribution<float> small(-0.3f, 0.3f);
		for (auto *table : {&again_, &recalled_})
			for (Vector &row : *table)
				for (float &w : row)
					w = small(dice_);
		for (Vector &row : heard_)
			for (float &w : row)
				w = small(dice_);
	}
	int play(int note)
	{
		Vector old;
		{
			DWELL_ZONE("recall");
			old = memory_.recall(state_);
		}
		{
			DWELL_ZONE("flow");
			Vector next;
			for (int turn = 0; turn < 56; turn++) { // Euler's steps
				for (int s = 0; s < State; s++) {
					float x = heard_[note][s];
					for (int i = 0; i < State; i++)
						x += again_[s][i] * state_[i] + recalled_[s][i] * old[i];
					next[s] = 0.95f * state_[s] + 0.05f * x / (1 + std::fabs(x));
				}
				state_ = next;
			}
		}
		memory_.keep(state_);
		int best = 0;
		float top = -1e9f;
		for (int n = 0; n < Notes; n++) {
			float x = static_cast<float>(dice_() % 1000) / 500;
			for (int s = 0; s < State; s++)
				x += heard_[n][s] * state_[s];
			if (x > top) {
				top = x;
				best = n;
			}
		}
		return best;
	}
	size_t kept() const { return memory_.size(); }

private:
	std::mt19937 dice_{31};
	Memory memory_;
	std::array<Vector, State> again_, recalled_;
	std::array<Vector, Notes> heard_;
	Vector state_{};
};

} // namespace

int main()
{
	watch watch;
	Player player(watch);
	int note = 7;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		dwell_step_begin();
		for (int n = 0; n < Bar; n++)
			note = player.play(note);
		dwell_step_end();
	}
	watch_tell(&watch);
	std::printf("%zu states kept, last note %d\n", player.kept(), note);
	return 0;
}
