/*
 * Actor and critic for 96 carts with poles, all in one process.
 *
 * Planted: nothing; networks and their gradients are the work.
 * Truth: time of discounting and normalising the rewards, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace {

const int kCarts = 96, kHorizon = 16, kHidden = 128, kState = 4, kOut = 3; // two actions' scores and the value

std::mt19937 dice(4);

struct Cart {
	std::array<float, kState> s{};

	float move(bool right)
	{
		float force = right ? 10.0f : -10.0f, sine = std::sin(s[2]), cosine = std::cos(s[2]);
		float temp = (force + 0.05f * s[3] * s[3] * sine) / 1.1f;
		float turn = (9.8f * sine - cosine * temp) / (0.5f * (4.0f / 3 - 0.1f * cosine * cosine / 1.1f));
		s[0] += 0.02f * s[1], s[1] += 0.02f * (temp - 0.05f * turn * cosine / 1.1f);
		s[2] += 0.02f * s[3], s[3] += 0.02f * turn;
		if (std::fabs(s[0]) < 2.4f && std::fabs(s[2]) < 0.21f)
			return 1;
		for (float &value : s)
			value = 0.001f * static_cast<float>(static_cast<int>(dice() % 100) - 50);
		return 0;
	}
};

struct Net {
	std::vector<float> w1 = random(kState * kHidden, 0.7f), w2 = random(kHidden * kHidden, 0.1f), w3 = random(kHidden * kOut, 0.1f);
	std::vector<float> g1 = std::vector<float>(w1.size()), g2 = std::vector<float>(w2.size()), g3 = std::vector<float>(w3.size());

	static std::vector<float> random(int count, float scale)
	{
		std::vector<float> numbers(count);
		for (float &number : numbers)
			number = scale * (static_cast<float>(dice() % 2001) / 1000 - 1);
		return numbers;
	}
};

struct Seen {
	std::array<float, kState> state;
	float h1[kHidden], h2[kHidden], out[kOut], reward, wanted;
	bool right;
};

void forward(const Net &net, Seen &seen)
{
	std::fill_n(seen.h1, kHidden, 0.0f), std::fill_n(seen.h2, kHidden, 0.0f), std::fill_n(seen.out, kOut, 0.0f);
	for (int i = 0; i < kState; i++)
		for (int h = 0; h < kHidden; h++)
			seen.h1[h] += seen.state[i] * net.w1[i * kHidden + h];
	for (int i = 0; i < kHidden; i++) {
		seen.h1[i] = std::max(0.0f, seen.h1[i]);
		for (int h = 0; h < kHidden; h++)
			seen.h2[h] += seen.h1[i] * net.w2[i * kHidden + h];
	}
	for (int i = 0; i < kHidden; i++) {
		seen.h2[i] = std::max(0.0f, seen.h2[i]);
		for (int o = 0; o < kOut; o++)
			seen.out[o] += seen.h2[i] * net.w3[i * kOut + o];
	}
}

void backward(Net &net, const Seen &seen, float advantage)
{
	float p = 1 / (1 + std::exp(seen.out[0] - seen.out[1])), pull = (p - static_cast<float>(seen.right)) * advantage;
	float out[kOut] = {-pull, pull, 0.5f * (seen.out[2] - seen.wanted)}, h2[kHidden], h1[kHidden];
	for (int i = 0; i < kHidden; i++) {
		h2[i] = 0;
		for (int o = 0; o < kOut; o++)
			net.g3[i * kOut + o] += seen.h2[i] * out[o], h2[i] += net.w3[i * kOut + o] * out[o];
		h2[i] *= static_cast<float>(seen.h2[i] > 0);
	}
	for (int i = 0; i < kHidden; i++) {
		float four[4] = {};
		for (int h = 0; h < kHidden; h++)
			net.g2[i * kHidden + h] += seen.h1[i] * h2[h];
		for (int h = 0; h < kHidden; h += 4)
			for (int k = 0; k < 4; k++)
				four[k] += net.w2[i * kHidden + h + k] * h2[h + k];
		h1[i] = (four[0] + four[1] + four[2] + four[3]) * static_cast<float>(seen.h1[i] > 0);
	}
	for (int i = 0; i < kState; i++)
		for (int h = 0; h < kHidden; h++)
			net.g1[i * kHidden + h] += seen.state[i] * h1[h];
}

void descend(std::vector<float> &weights, std::vector<float> &gradient)
{
	for (size_t i = 0; i < weights.size(); i++)
		weights[i] -= 1e-6f * gradient[i], gradient[i] = 0;
}

} // namespace

int main()
{
	std::vector<Cart> carts(kCarts);
	std::vector<Seen> seen(kCarts * kHorizon);
	std::vector<float> advantage(seen.size());
	Net net;
	struct watch watch;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_PHASE("rollout");
			for (int t = 0; t < kHorizon; t++)
				for (int c = 0; c < kCarts; c++) {
					Seen &now = seen[t * kCarts + c];
					now.state = carts[c].s;
					forward(net, now);
					now.right = static_cast<float>(dice() % 1000) / 1000 < 1 / (1 + std::exp(now.out[0] - now.out[1]));
					now.reward = carts[c].move(now.right);
				}
		}
		planted_begin(&watch);
		float mean = 0;
		for (int c = 0; c < kCarts; c++) {
			float sum = seen[(kHorizon - 1) * kCarts + c].out[2];
			for (int at = (kHorizon - 1) * kCarts + c; at >= 0; at -= kCarts) {
				sum = seen[at].reward + 0.98f * sum * seen[at].reward;
				seen[at].wanted = sum, advantage[at] = sum - seen[at].out[2], mean += advantage[at] / static_cast<float>(seen.size());
			}
		}
		planted_end(&watch);
		{
			DWELL_PHASE("backward");
			for (size_t at = 0; at < seen.size(); at++)
				backward(net, seen[at], advantage[at] - mean);
		}
		DWELL_PHASE("optimizer");
		descend(net.w1, net.g1), descend(net.w2, net.g2), descend(net.w3, net.g3);
	}
	watch_tell(&watch);
}
