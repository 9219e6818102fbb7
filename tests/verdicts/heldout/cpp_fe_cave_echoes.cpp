// Sketches a cave's wall from a bat's echoes: a layer of attention with four heads over the echoes of a flight, and a dense layer
// after it, both only forward.
//
// Clean: nothing is planted; two threads of OpenMP have half of the flights each, and all flights are equally long.
// Truth: nothing comes near a cause, 0.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

namespace {

constexpr int Echoes = 64, Size = 64, Heads = 4, Each = Size / Heads, Flights = 8, Nights = 20;

using Echo = float[Size];

struct Scratch {
	Echo query[Echoes], key[Echoes], value[Echoes], mixed[Echoes];
	float weight[Echoes];
};

struct Layer {
	float query[Size][Size], key[Size][Size], value[Size][Size], out[Size][Size];
};

void times(const Echo *from, const float (*matrix)[Size], Echo *to)
{
	for (int e = 0; e < Echoes; e++) {
		for (int o = 0; o < Size; o++)
			to[e][o] = 0;
		for (int i = 0; i < Size; i++)
			for (int o = 0; o < Size; o++)
				to[e][o] += from[e][i] * matrix[i][o];
	}
}

void attend(Scratch &scratch)
{
	for (int head = 0; head < Heads; head++)
		for (int e = 0; e < Echoes; e++) {
			const float *query = scratch.query[e] + head * Each;
			float *mixed = scratch.mixed[e] + head * Each, sum = 0;

			for (int other = 0; other < Echoes; other++) {
				const float *key = scratch.key[other] + head * Each;
				float score = 0;
				for (int i = 0; i < Each; i++)
					score += query[i] * key[i];
				sum += scratch.weight[other] = std::exp(score / 4);
			}
			for (int i = 0; i < Each; i++)
				mixed[i] = 0;
			for (int other = 0; other < Echoes; other++) {
				const float part = scratch.weight[other] / sum, *value = scratch.value[other] + head * Each;
				for (int i = 0; i < Each; i++)
					mixed[i] += part * value[i];
			}
		}
}

} // namespace

int main()
{
	auto layers = std::make_unique<Layer[]>(2);
	std::vector<Scratch> scratch(Flights);
	auto flights = std::make_unique<Echo[][Flights][Echoes]>(Nights);
	auto walls = std::make_unique<Echo[][Echoes]>(Flights);
	std::mt19937 random(2);
	std::normal_distribution<float> normal(0, 0.12f), noise;
	watch watch;
	double sum = 0;

	for (int l = 0; l < 2; l++)
		for (auto *matrix : {&layers[l].query, &layers[l].key, &layers[l].value, &layers[l].out})
			for (auto &row : *matrix)
				for (float &weight : row)
					weight = normal(random);
	for (int n = 0; n < Nights; n++)
		for (auto &flight : flights[n])
			for (auto &echo : flight)
				for (float &value : echo)
					value = noise(random);

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		for (int l = 0; l < 2; l++) {
			const Layer &layer = layers[l];
			DWELL_ZONE("layer");
			const uint64_t team = DWELL_TEAM();
#pragma omp parallel num_threads(2)
			{
				DWELL_WORKER(team);
#pragma omp for schedule(static)
				for (int f = 0; f < Flights; f++) {
					const Echo *from = l ? walls[f] : flights[watch.steps % Nights][f];
					times(from, layer.query, scratch[f].query);
					times(from, layer.key, scratch[f].key);
					times(from, layer.value, scratch[f].value);
					attend(scratch[f]);
					times(scratch[f].mixed, layer.out, walls[f]);
				}
			}
		}
		{
			DWELL_ZONE("wall");
			for (int f = 0; f < Flights; f++)
				sum += walls[f][0][0];
		}
		watch.steps++;
	}
	watch_tell(&watch);
	std::printf("sum %.4f\n", sum);
}
