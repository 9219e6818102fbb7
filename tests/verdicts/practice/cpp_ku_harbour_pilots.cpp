// Learns when a harbour sends a pilot out: an actor thread sails episodes and puts them into a memory, from which the
// learner draws batches for a value network.
//
// Planted: the learner tries the memory's lock and, when the actor has it, sleeps for longer and longer before it tries again.
// Truth: time of these sleeps, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int sensors = 20, neurons = 96, actions = 4, capacity = 8192, batch = 64;

struct Moment {
	float before[sensors], after[sensors], reward;
	int action;
};

class Memory {
public:
	Memory() : moments(capacity), worth(capacity, 1.0f) {}

	bool try_draw(std::vector<Moment> &into, std::mt19937 &random)
	{
		std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
		if (!lock)
			return false;
		for (auto &moment : into)
			moment = moments[random() % capacity];
		return true;
	}

	// Adds an episode, and smooths what all moments are worth, so the lock is held for a while.
	void add(const std::vector<Moment> &episode)
	{
		std::lock_guard<std::mutex> lock(mutex);
		for (const auto &moment : episode) {
			moments[next] = moment;
			worth[next] = std::fabs(moment.reward) + 0.1f;
			next = (next + 1) % capacity;
		}
		for (int round = 0; round < 9; round++)
			for (int i = 1; i + 1 < capacity; i++)
				worth[i] = 0.998f * worth[i] + 0.001f * (worth[i - 1] + worth[i + 1]) + 1e-4f;
	}

private:
	std::mutex mutex;
	std::vector<Moment> moments;
	std::vector<float> worth;
	int next = 0;
};

void sail(Memory &memory, const std::atomic<bool> &leaves)
{
	std::mt19937 random(77);
	std::uniform_real_distribution<float> weather(-1, 1);
	std::vector<Moment> episode(64);

	while (!leaves) {
		float sea[sensors];
		for (float &s : sea)
			s = weather(random);
		for (auto &moment : episode) {
			moment.action = static_cast<int>(random() % actions);
			moment.reward = 0;
			for (int s = 0; s < sensors; s++) {
				moment.before[s] = sea[s];
				// Wind and swell push the ship through short strokes of the model.
				for (int stroke = 0; stroke < 24; stroke++)
					sea[s] += 0.05f * std::sin(3 * sea[(s + 1) % sensors] + static_cast<float>(moment.action)) - 0.01f * sea[s];
				moment.after[s] = sea[s];
				moment.reward -= 0.01f * sea[s] * sea[s];
			}
		}
		memory.add(episode);
	}
}

class Critic {
public:
	Critic()
	{
		std::mt19937 random(5);
		std::uniform_real_distribution<float> any(-0.2f, 0.2f);
		for (auto &row : in)
			for (float &w : row)
				w = any(random);
		for (auto &row : mix)
			for (float &w : row)
				w = any(random);
		for (auto &row : out)
			for (float &w : row)
				w = any(random);
	}

	void say(const float *sea)
	{
		for (int n = 0; n < neurons; n++) {
			float sum = 0;
			for (int s = 0; s < sensors; s++)
				sum += in[n][s] * sea[s];
			first[n] = std::tanh(sum);
		}
		for (int n = 0; n < neurons; n++) {
			float sum = 0;
			for (int k = 0; k < neurons; k++)
				sum += mix[n][k] * first[k];
			second[n] = std::tanh(sum);
		}
		for (int a = 0; a < actions; a++) {
			value[a] = 0;
			for (int n = 0; n < neurons; n++)
				value[a] += out[a][n] * second[n];
		}
	}

	float learn(const Moment &moment)
	{
		say(moment.after);
		float best = value[0];
		for (float v : value)
			best = v > best ? v : best;
		say(moment.before);
		const float wrong = value[moment.action] - moment.reward - 0.9f * best;
		float back[neurons] = {};
		for (int n = 0; n < neurons; n++) {
			const float slope = wrong * out[moment.action][n] * (1 - second[n] * second[n]);
			out[moment.action][n] -= 0.001f * wrong * second[n];
			for (int k = 0; k < neurons; k++) {
				back[k] += slope * mix[n][k];
				mix[n][k] -= 0.001f * slope * first[k];
			}
		}
		for (int k = 0; k < neurons; k++)
			for (int s = 0; s < sensors; s++)
				in[k][s] -= 0.001f * back[k] * (1 - first[k] * first[k]) * moment.before[s];
		return wrong * wrong;
	}

private:
	float in[neurons][sensors], mix[neurons][neurons], out[actions][neurons];
	float first[neurons], second[neurons], value[actions];
};

}  // namespace

int main()
{
	watch watch;
	static Memory memory;
	static Critic critic;
	std::atomic<bool> leaves{false};
	std::thread actor([&] { sail(memory, leaves); });
	std::vector<Moment> drawn(batch);
	std::mt19937 random(6);
	float loss = 0;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("draw");
			auto pause = std::chrono::microseconds(600);
			while (!memory.try_draw(drawn, random)) {
				planted_begin(&watch);
				std::this_thread::sleep_for(pause);
				planted_end(&watch);
				if (pause < std::chrono::microseconds(4000))
					pause *= 2;
			}
		}
		DWELL_ZONE("learn");
		loss = 0;
		for (const auto &moment : drawn)
			loss += critic.learn(moment);
	}
	watch_tell(&watch);
	leaves = true;
	actor.join();
	std::printf("loss %.4f\n", static_cast<double>(loss / batch));
}
