// Names the dye of a thread from its spectrum: a trained network of four dense layers answers small groups of threads.
//
// Planted: each layer arranges its constant weights into panels at each call, walking down the columns, before it multiplies.
// Truth: time of arranging the weights, as a share of the loop; once after loading would do.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

static watch stopwatch;

class Matrix {
public:
	Matrix(int rows, int columns) : rows(rows), columns(columns), values(static_cast<size_t>(rows) * columns) {}
	float *row(int r) { return &values[static_cast<size_t>(r) * columns]; }
	const float *row(int r) const { return &values[static_cast<size_t>(r) * columns]; }
	int rows, columns;
	std::vector<float> values;
};

class Dense {
public:
	Dense(int inputs, int outputs, std::mt19937 &random)
	    : weights_(outputs, inputs), panels_(inputs, outputs), bias_(outputs)
	{
		std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(inputs)));
		for (float &weight : weights_.values)
			weight = normal(random);
	}

	void operator()(const Matrix &from, Matrix &to)
	{
		arrange();
		multiply(from, to);
	}

private:
	void arrange()
	{
		DWELL_ZONE("arrange");
		planted_begin(&stopwatch);
		for (int i = 0; i < panels_.rows; i++)
			for (int o = 0; o < panels_.columns; o++)
				panels_.row(i)[o] = weights_.row(o)[i];
		planted_end(&stopwatch);
	}

	void multiply(const Matrix &from, Matrix &to) const
	{
		DWELL_ZONE("multiply");
		for (int n = 0; n < from.rows; n++) {
			float *sums = to.row(n);
			for (int o = 0; o < to.columns; o++)
				sums[o] = bias_[o];
			for (int i = 0; i < from.columns; i++) {
				const float value = from.row(n)[i], *panel = panels_.row(i);
				for (int o = 0; o < to.columns; o++)
					sums[o] += value * panel[o];
			}
			for (int o = 0; o < to.columns; o++)
				sums[o] = sums[o] > 0 ? sums[o] : 0.2f * sums[o];
		}
	}

	Matrix weights_, panels_;
	std::vector<float> bias_;
};

int main()
{
	constexpr int Bands = 512, Wide = 1024, Dyes = 64, Group = 9, Groups = 32;
	std::mt19937 random(90);
	std::uniform_real_distribution<float> uniform;
	Dense first(Bands, Wide, random), second(Wide, Wide, random), third(Wide, Bands, random), last(Bands, Dyes, random);
	std::vector<Matrix> spectra(Groups, Matrix(Group, Bands));
	Matrix a(Group, Wide), b(Group, Wide), c(Group, Bands), scores(Group, Dyes);
	int counts[Dyes] = {};

	for (Matrix &group : spectra)
		for (float &band : group.values)
			band = uniform(random);
	watch_begin(&stopwatch);
	for (; watch_seconds(&stopwatch) < 6; stopwatch.steps++) {
		DWELL_STEP();
		first(spectra[stopwatch.steps % Groups], a);
		second(a, b);
		third(b, c);
		last(c, scores);

		DWELL_ZONE("choose");
		for (int n = 0; n < Group; n++) {
			int best = 0;
			for (int d = 1; d < Dyes; d++)
				if (scores.row(n)[d] > scores.row(n)[best])
					best = d;
			counts[best]++;
		}
	}
	watch_tell(&stopwatch);
	std::printf("of the first dye: %d\n", counts[0]);
}
