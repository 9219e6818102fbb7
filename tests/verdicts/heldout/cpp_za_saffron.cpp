// Grades saffron by pictures of its threads: patches are mixed over places and over channels by small dense networks, as in an
// MLP mixer. Inference of eight pictures is a step.
//
// Clean: nothing is planted; one thread computes, each picture has as many patches as the others.
// Truth: nothing comes near a cause, 0.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr size_t kPatches = 64, kWidth = 48, kGrades = 4, kBlocks = 4, kPictures = 8;

using Values = std::vector<float>;

// to[m][n] = from[m][k] * by[k][n]
void product(Values &to, const Values &from, const Values &by, size_t m, size_t k, size_t n)
{
	DWELL_OP("product");
	for (size_t i = 0; i < m; i++) {
		float *row = &to[i * n];
		for (size_t j = 0; j < n; j++)
			row[j] = 0;
		for (size_t l = 0; l < k; l++) {
			const float value = from[i * k + l];
			for (size_t j = 0; j < n; j++)
				row[j] += value * by[l * n + j];
		}
	}
}

void bend(Values &values)
{
	DWELL_OP("bend");
	for (float &value : values)
		value = value / (1 + std::exp(-1.7f * value));
}

void level(Values &values, size_t rows, size_t columns)
{
	DWELL_OP("level");
	for (size_t i = 0; i < rows; i++) {
		float mean = 0, spread = 0;
		for (size_t j = 0; j < columns; j++)
			mean += values[i * columns + j] / static_cast<float>(columns);
		for (size_t j = 0; j < columns; j++)
			spread += (values[i * columns + j] - mean) * (values[i * columns + j] - mean) / static_cast<float>(columns);
		for (size_t j = 0; j < columns; j++)
			values[i * columns + j] = (values[i * columns + j] - mean) / std::sqrt(spread + 1e-5f);
	}
}

struct Block {
	explicit Block(std::mt19937 &random)
	    : places_in(kPatches * kPatches), places_out(kPatches * kPatches), wide(kWidth * 4 * kWidth), narrow(4 * kWidth * kWidth),
	      one(kPatches * kWidth), two(kPatches * kWidth), broad(kPatches * 4 * kWidth)
	{
		std::normal_distribution<float> normal(0, 0.12f);
		for (Values *values : {&places_in, &places_out, &wide, &narrow})
			for (float &value : *values)
				value = normal(random);
	}

	void run(Values &x)
	{
		DWELL_LAYER("mixer.block");
		level(x, kPatches, kWidth);
		product(one, places_in, x, kPatches, kPatches, kWidth);
		bend(one);
		product(two, places_out, one, kPatches, kPatches, kWidth);
		for (size_t i = 0; i < x.size(); i++)
			x[i] += two[i];
		level(x, kPatches, kWidth);
		product(broad, x, wide, kPatches, kWidth, 4 * kWidth);
		bend(broad);
		product(one, broad, narrow, kPatches, 4 * kWidth, kWidth);
		for (size_t i = 0; i < x.size(); i++)
			x[i] += one[i];
	}

	Values places_in, places_out, wide, narrow, one, two, broad;
};

}  // namespace

int main()
{
	watch watch;
	std::mt19937 random(21);
	std::vector<Block> blocks;
	for (size_t i = 0; i < kBlocks; i++)
		blocks.emplace_back(random);
	std::normal_distribution<float> normal(0, 1);
	std::vector<Values> pictures(kPictures, Values(kPatches * kWidth));
	for (Values &picture : pictures)
		for (float &value : picture)
			value = normal(random);
	Values x(kPatches * kWidth);
	double graded[kGrades] = {};
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (const Values &picture : pictures) {
			x = picture;
			for (Block &block : blocks)
				block.run(x);
			for (size_t i = 0; i < x.size(); i++)
				graded[i % kGrades] += static_cast<double>(x[i]);
		}
	}
	watch_tell(&watch);
	std::printf("grades %.3f %.3f %.3f %.3f\n", graded[0], graded[1], graded[2], graded[3]);
}
