// Potential of a solvent after Behler and Parrinello: each atom looks at its shells through radial functions, and one
// network says the energy of each atom. Trained on the energies of boxes, two threads of OpenMP.
//
// Clean: both threads have as many boxes of as many atoms, and each step does the same arithmetic in memory made once.
// Truth: time to clear and to add up the gradients of the threads, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

constexpr int atoms = 48, radial = 24, hidden = 56, threads = 2, batch = 8, boxes = 64;

struct Box {
	float place[atoms][3], energy;
};

struct Network {
	float first[hidden][radial], middle[hidden][hidden], last[hidden];
};

struct Scratch {
	float shells[atoms][radial], one[atoms][hidden], two[atoms][hidden];
	Network gradient;
	float loss;
};

static Network network;
static Scratch scratch[threads];

static void see(const Box &box, Scratch &s)
{
	DWELL_ZONE("shells");
	for (int a = 0; a < atoms; a++) {
		for (int r = 0; r < radial; r++)
			s.shells[a][r] = 0;
		for (int b = 0; b < atoms; b++) {
			if (a == b)
				continue;
			float square = 0;
			for (int x = 0; x < 3; x++)
				square += (box.place[a][x] - box.place[b][x]) * (box.place[a][x] - box.place[b][x]);
			const float distance = std::sqrt(square);
			for (int r = 0; r < radial; r++) {
				const float off = distance - 0.07f * static_cast<float>(r);
				s.shells[a][r] += 0.1f * std::exp(-12 * off * off);
			}
		}
	}
}

static void learn(const Box &box, Scratch &s)
{
	DWELL_ZONE("network");
	float energy = 0;

	for (int a = 0; a < atoms; a++) {
		for (int h = 0; h < hidden; h++) {
			float sum = 0;
			for (int r = 0; r < radial; r++)
				sum += network.first[h][r] * s.shells[a][r];
			s.one[a][h] = std::tanh(sum);
		}
		for (int h = 0; h < hidden; h++) {
			float sum = 0;
			for (int k = 0; k < hidden; k++)
				sum += network.middle[h][k] * s.one[a][k];
			s.two[a][h] = std::tanh(sum);
			energy += network.last[h] * s.two[a][h] / atoms;
		}
	}
	const float wrong = energy - box.energy;
	s.loss += wrong * wrong;
	for (int a = 0; a < atoms; a++) {
		float back[hidden] = {};
		for (int h = 0; h < hidden; h++) {
			const float slope = wrong / atoms * network.last[h] * (1 - s.two[a][h] * s.two[a][h]);
			s.gradient.last[h] += wrong / atoms * s.two[a][h];
			for (int k = 0; k < hidden; k++) {
				s.gradient.middle[h][k] += slope * s.one[a][k];
				back[k] += slope * network.middle[h][k];
			}
		}
		for (int h = 0; h < hidden; h++) {
			const float slope = back[h] * (1 - s.one[a][h] * s.one[a][h]);
			for (int r = 0; r < radial; r++)
				s.gradient.first[h][r] += slope * s.shells[a][r];
		}
	}
}

int main()
{
	std::mt19937 random(61);
	std::uniform_real_distribution<float> any(-0.5f, 0.5f);
	std::vector<Box> data(boxes);
	for (auto &box : data) {
		for (auto &place : box.place)
			for (float &x : place)
				x = any(random);
		box.energy = any(random);
	}
	for (size_t i = 0; i < sizeof network / sizeof(float); i++)
		reinterpret_cast<float *>(&network)[i] = 0.5f * any(random);
	watch watch;
	float loss = 0;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		for (auto &s : scratch) {
			std::memset(&s.gradient, 0, sizeof s.gradient);
			s.loss = 0;
		}
		planted_end(&watch);
		const int from = watch.steps * batch % boxes;
		const auto team = DWELL_TEAM();
		#pragma omp parallel for num_threads(threads) schedule(static)
		for (int t = 0; t < threads; t++) {
			DWELL_WORKER(team);
			for (int b = 0; b < batch / threads; b++) {
				const Box &box = data[from + t * (batch / threads) + b];
				see(box, scratch[t]);
				learn(box, scratch[t]);
			}
		}
		DWELL_ZONE("update");
		planted_begin(&watch);
		for (size_t i = 0; i < sizeof network / sizeof(float); i++)
			for (auto &s : scratch)
				reinterpret_cast<float *>(&network)[i] -= 1e-4f * reinterpret_cast<float *>(&s.gradient)[i];
		planted_end(&watch);
		loss = scratch[0].loss + scratch[1].loss;
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", static_cast<double>(loss / batch));
}
