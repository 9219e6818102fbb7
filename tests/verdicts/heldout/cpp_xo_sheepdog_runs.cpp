// Teaches a dog to drive sheep to a pen: random search over the weights of a policy, whose runs are shared among two threads
// of OpenMP; each candidate runs the same number of moments.
//
// Clean: nothing is planted; both threads have as many runs, and each run is as much work.
// Truth: nothing comes near a cause, 0.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int sheep = 16, hidden = 20, inputs = 8, moments = 120, candidates = 32;
constexpr int weights = hidden * inputs + 2 * hidden;

using Policy = std::vector<float>;

float run(const Policy &policy)
{
	float x[sheep], y[sheep], dog_x = -2, dog_y = -2, cost = 0;
	for (int s = 0; s < sheep; s++) {
		x[s] = std::cos(static_cast<float>(s));
		y[s] = std::sin(static_cast<float>(3 * s));
	}
	for (int m = 0; m < moments; m++) {
		float centre_x = 0, centre_y = 0, far = 0;
		for (int s = 0; s < sheep; s++) {
			centre_x += x[s] / sheep;
			centre_y += y[s] / sheep;
		}
		for (int s = 0; s < sheep; s++)
			far += std::hypot(x[s] - centre_x, y[s] - centre_y) / sheep;
		const float in[inputs] = {centre_x, centre_y, dog_x, dog_y, far, centre_x - dog_x, centre_y - dog_y, 1};
		float out[2] = {};
		for (int h = 0; h < hidden; h++) {
			float sum = 0;
			for (int i = 0; i < inputs; i++)
				sum += policy[static_cast<std::size_t>(h * inputs + i)] * in[i];
			const float state = std::tanh(sum);
			out[0] += state * policy[static_cast<std::size_t>(hidden * inputs + h)];
			out[1] += state * policy[static_cast<std::size_t>(hidden * inputs + hidden + h)];
		}
		dog_x += 0.1f * std::tanh(out[0]);
		dog_y += 0.1f * std::tanh(out[1]);
		for (int s = 0; s < sheep; s++) {
			float push_x = 0.02f * (centre_x - x[s]), push_y = 0.02f * (centre_y - y[s]);
			const float away = std::hypot(x[s] - dog_x, y[s] - dog_y) + 0.2f;
			push_x += 0.03f * (x[s] - dog_x) / (away * away);
			push_y += 0.03f * (y[s] - dog_y) / (away * away);
			for (int other = 0; other < sheep; other++) {
				const float dx = x[s] - x[other], dy = y[s] - y[other], near = dx * dx + dy * dy + 0.05f;
				push_x += 0.0005f * dx / near;
				push_y += 0.0005f * dy / near;
			}
			x[s] = std::clamp(x[s] + push_x, -5.0f, 5.0f);
			y[s] = std::clamp(y[s] + push_y, -5.0f, 5.0f);
			cost += std::hypot(x[s] - 3, y[s] - 3);
		}
	}
	return cost / (moments * sheep);
}

} // namespace

int main()
{
	static struct watch watch;
	std::mt19937 random(6);
	std::normal_distribution<float> any;
	Policy dog(weights);
	std::vector<Policy> tried(candidates, dog), noise(candidates / 2, dog);
	std::vector<float> cost(candidates);
	for (float &w : dog)
		w = 0.3f * any(random);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("noise");
			for (std::size_t c = 0; c < candidates / 2; c++)
				for (std::size_t w = 0; w < weights; w++) {
					noise[c][w] = 0.1f * any(random);
					tried[2 * c][w] = dog[w] + noise[c][w];
					tried[2 * c + 1][w] = dog[w] - noise[c][w];
				}
		}
		{
			DWELL_ZONE("runs");
			const uint64_t team = DWELL_TEAM();
#pragma omp parallel num_threads(2)
			{
				DWELL_WORKER(team);
#pragma omp for schedule(static)
				for (int c = 0; c < candidates; c++)
					cost[static_cast<std::size_t>(c)] = run(tried[static_cast<std::size_t>(c)]);
			}
		}
		for (std::size_t c = 0; c < candidates / 2; c++)
			for (std::size_t w = 0; w < weights; w++)
				dog[w] -= 0.05f * (cost[2 * c] - cost[2 * c + 1]) * noise[c][w];
	}
	watch_tell(&watch);
	std::printf("cost %.4f\n", cost[0]);
	return 0;
}
