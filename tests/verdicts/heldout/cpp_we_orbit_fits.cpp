// Corrects the orbits of small satellites: a network gives the drag along an arc, the arc is integrated in fixed steps of
// Runge and Kutta, and weights are moved by simultaneous perturbation. One thread.
//
// Clean: each step integrates as many arcs of as many points.
// Truth: 0.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

using State = std::array<float, 6>;

class Drag {
public:
	static constexpr int kHidden = 40;
	std::vector<float> weights = std::vector<float>(kHidden * 8 + kHidden);

	float at(const State &s) const
	{
		float out = 0;
		for (int h = 0; h < kHidden; h++) {
			const float *w = &weights[h * 8];
			float sum = w[6];
			for (int i = 0; i < 6; i++)
				sum += w[i] * s[i];
			out += weights[kHidden * 8 + h] * sum / (1 + std::fabs(sum));
		}
		return 0.01f * out;
	}
};

static State rate(const Drag &drag, const State &s)
{
	const float square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2] + 0.05f, pull = -1 / (square * std::sqrt(square)), d = drag.at(s);
	return {s[3], s[4], s[5], pull * s[0] - d * s[3], pull * s[1] - d * s[4], pull * s[2] - d * s[5]};
}

static State plus(const State &a, const State &b, float by)
{
	State sum;
	for (int i = 0; i < 6; i++)
		sum[i] = a[i] + by * b[i];
	return sum;
}

static float arc_error(const Drag &drag, State s, const State &seen)
{
	DWELL_ZONE("arc");
	const float dt = 0.02f;
	for (int i = 0; i < 100; i++) {
		const State k1 = rate(drag, s), k2 = rate(drag, plus(s, k1, dt / 2)), k3 = rate(drag, plus(s, k2, dt / 2)), k4 = rate(drag, plus(s, k3, dt));
		for (int x = 0; x < 6; x++)
			s[x] += dt / 6 * (k1[x] + 2 * k2[x] + 2 * k3[x] + k4[x]);
	}
	float error = 0;
	for (int x = 0; x < 3; x++)
		error += (s[x] - seen[x]) * (s[x] - seen[x]);
	return error;
}

int main()
{
	std::mt19937 random(2);
	std::uniform_real_distribution<float> any(-0.5f, 0.5f);
	Drag drag;
	for (auto &w : drag.weights)
		w = any(random);
	std::vector<std::pair<State, State>> arcs(48);
	for (auto &arc : arcs) {
		arc.first = {1 + 0.1f * any(random), any(random), any(random), any(random), 1, any(random)};
		arc.second = arc.first;
	}
	watch stopwatch;
	double error = 0;

	watch_begin(&stopwatch);
	for (; watch_seconds(&stopwatch) < 6; stopwatch.steps++) {
		DWELL_STEP();
		std::vector<float> nudge(drag.weights.size());
		for (auto &n : nudge)
			n = random() & 1 ? 0.01f : -0.01f;
		float up = 0, down = 0;
		Drag moved = drag;
		for (size_t i = 0; i < nudge.size(); i++)
			moved.weights[i] += nudge[i];
		for (int a = 0; a < 12; a++)
			up += arc_error(moved, arcs[(stopwatch.steps * 12 + a) % arcs.size()].first, arcs[(stopwatch.steps * 12 + a) % arcs.size()].second);
		for (size_t i = 0; i < nudge.size(); i++)
			moved.weights[i] -= 2 * nudge[i];
		for (int a = 0; a < 12; a++)
			down += arc_error(moved, arcs[(stopwatch.steps * 12 + a) % arcs.size()].first, arcs[(stopwatch.steps * 12 + a) % arcs.size()].second);
		DWELL_ZONE("move");
		for (size_t i = 0; i < nudge.size(); i++)
			drag.weights[i] -= 1e-7f * (up - down) / (2 * nudge[i]);
		error = up;
	}
	watch_tell_share(&stopwatch, 0);
	std::printf("error %.4f\n", error);
}
