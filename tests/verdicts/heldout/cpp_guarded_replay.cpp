/*
 * Q-learning of a cart on a rail. An actor thread drives and fills the memory, the loop learns from it.
 *
 * Planted: nothing. The memory's mutex is taken for each transition that is drawn, and the actor takes it, too,
 * but each of them keeps it for a moment only.
 * Truth: time of drawing the batch, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

const int kState = 8, kActions = 3, kHidden = 160, kBatch = 128, kSeconds = 6;

struct Transition {
	float state[kState], next[kState], reward;
	int action;
};

class Memory {
public:
	explicit Memory(size_t size) : transitions_(size) {}
	void put(const Transition &transition)
	{
		std::lock_guard<std::mutex> guard(mutex_);
		transitions_[count_++ % transitions_.size()] = transition;
	}
	Transition draw(std::mt19937 &random)
	{
		std::lock_guard<std::mutex> guard(mutex_);
		return transitions_[random() % std::min(std::max<size_t>(count_, 1), transitions_.size())];
	}

private:
	std::mutex mutex_;
	std::vector<Transition> transitions_;
	size_t count_ = 0;
};

void drive(Memory &memory, const std::atomic<bool> &ended)
{
	std::mt19937 random(17);
	float position = 0, speed = 0;
	while (!ended) {
		for (int turn = 0; turn < 20; turn++) {
			Transition now = {};
			now.action = static_cast<int>(random() % kActions);
			for (int at = 0; at < kState; at++)
				now.state[at] = at % 2 ? speed : position * static_cast<float>(at + 1);
			speed = 0.98f * speed + 0.1f * static_cast<float>(now.action - 1);
			position = std::fmod(position + speed, 4.0f);
			for (int at = 0; at < kState; at++)
				now.next[at] = at % 2 ? speed : position * static_cast<float>(at + 1);
			now.reward = -std::fabs(position);
			memory.put(now);
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(2));
	}
}

struct Net {
	std::vector<float> first = std::vector<float>(kHidden * kState), middle = std::vector<float>(kHidden * kHidden),
	                   last = std::vector<float>(kActions * kHidden);

	void run(const float *state, float *one, float *two, float *values) const
	{
		layer(first, state, kState, one, kHidden);
		layer(middle, one, kHidden, two, kHidden);
		layer(last, two, kHidden, values, kActions);
	}
	static void layer(const std::vector<float> &weights, const float *in, int ins, float *out, int outs)
	{
		for (int unit = 0; unit < outs; unit++) {
			float sum = 0;
			for (int at = 0; at < ins; at++)
				sum += weights[unit * ins + at] * in[at];
			out[unit] = outs == kActions ? sum : std::max(sum, 0.0f);
		}
	}
};

} // namespace

int main()
{
	Memory memory(20000);
	Net net, gradient;
	std::mt19937 random(4);
	std::normal_distribution<float> normal(0, 0.08f);
	std::vector<Transition> batch(kBatch);
	std::vector<float> one(kBatch * kHidden), two(kBatch * kHidden), error(kBatch);
	std::atomic<bool> ended(false);
	struct watch watch;

	for (auto *weights : {&net.first, &net.middle, &net.last})
		for (float &weight : *weights)
			weight = normal(random);
	std::thread actor(drive, std::ref(memory), std::cref(ended));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "replay");
			for (Transition &transition : batch)
				transition = memory.draw(random);
		}
		planted_end(&watch);
		{
			DWELL_PHASE("forward");
			for (int at = 0; at < kBatch; at++) {
				float other[2][kHidden], next[kActions], values[kActions];
				net.run(batch[at].next, other[0], other[1], next);
				net.run(batch[at].state, &one[at * kHidden], &two[at * kHidden], values);
				const float wanted = batch[at].reward + 0.9f * *std::max_element(next, next + kActions);
				error[at] = std::min(std::max(values[batch[at].action] - wanted, -1.0f), 1.0f);
			}
		}
		{
			DWELL_PHASE("backward");
			for (int at = 0; at < kBatch; at++)
				for (int unit = 0; unit < kHidden; unit++) {
					gradient.last[batch[at].action * kHidden + unit] += error[at] * two[at * kHidden + unit];
					const float back = two[at * kHidden + unit] > 0 ? error[at] * net.last[batch[at].action * kHidden + unit] : 0;
					for (int from = 0; from < kHidden; from++)
						gradient.middle[unit * kHidden + from] += back * one[at * kHidden + from];
				}
		}
		DWELL_PHASE("optimizer");
		for (auto weights : {&Net::middle, &Net::last})
			for (size_t at = 0; at < (net.*weights).size(); at++) {
				(net.*weights)[at] -= 1e-4f / kBatch * (gradient.*weights)[at];
				(gradient.*weights)[at] = 0;
			}
	}
	watch_tell(&watch);
	ended = true;
	actor.join();
}
