// Forecasts the humidity of a cheese cellar: attention over the last hours, two blocks, forward only, a batch of cellars a step.
//
// Clean: matrices by hand in one thread, all of them live as long as the program.
// Truth: 0.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

constexpr size_t hours = 72, width = 64, cellars = 4;

using Matrix = std::vector<float>;

Matrix weights_of(size_t rows, size_t columns, float seed)
{
	Matrix m(rows * columns);
	for (size_t i = 0; i < m.size(); i++)
		m[i] = 0.15f * std::sin(seed + 1.7f * static_cast<float>(i));
	return m;
}

void multiply(const Matrix &a, const Matrix &b, Matrix &c, size_t rows, size_t middle, size_t columns)
{
	for (size_t r = 0; r < rows; r++) {
		float *row = &c[r * columns];
		for (size_t j = 0; j < columns; j++)
			row[j] = 0;
		for (size_t k = 0; k < middle; k++)
			for (size_t j = 0; j < columns; j++)
				row[j] += a[r * middle + k] * b[k * columns + j];
	}
}

class Block {
public:
	explicit Block(float seed)
	    : wq(weights_of(width, width, seed)), wk(weights_of(width, width, seed + 1)), wv(weights_of(width, width, seed + 2)),
	      up(weights_of(width, 2 * width, seed + 3)), down(weights_of(2 * width, width, seed + 4)), q(hours * width), k(q), v(q),
	      mix(q), wide(2 * hours * width)
	{
	}

	void run(Matrix &x)
	{
		{
			DWELL_ZONE("attention");
			multiply(x, wq, q, hours, width, width);
			multiply(x, wk, k, hours, width, width);
			multiply(x, wv, v, hours, width, width);
			for (size_t t = 0; t < hours; t++)
				attend(t);
			for (size_t i = 0; i < x.size(); i++)
				x[i] = 0.9f * x[i] + 0.3f * mix[i];
		}
		DWELL_ZONE("feed forward");
		multiply(x, up, wide, hours, width, 2 * width);
		for (float &w : wide)
			w = w / (1 + std::exp(-w));
		multiply(wide, down, mix, hours, 2 * width, width);
		for (size_t i = 0; i < x.size(); i++)
			x[i] = std::tanh(x[i] + mix[i]);
	}

private:
	void attend(size_t t)
	{
		std::array<float, hours> score;
		float total = 0;
		for (size_t s = 0; s < hours; s++) {
			float sum = 0;
			for (size_t i = 0; i < width; i++)
				sum += q[t * width + i] * k[s * width + i];
			total += score[s] = std::exp(std::fmin(8.0f, sum / 8.0f));
		}
		for (size_t i = 0; i < width; i++)
			mix[t * width + i] = 0;
		for (size_t s = 0; s < hours; s++)
			for (size_t i = 0; i < width; i++)
				mix[t * width + i] += score[s] / total * v[s * width + i];
	}

	Matrix wq, wk, wv, up, down, q, k, v, mix, wide;
};

}  // namespace

int main()
{
	watch watch;
	Block first(1), second(9);
	Matrix x(hours * width);
	float forecast = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (size_t cellar = 0; cellar < cellars; cellar++) {
			for (size_t i = 0; i < x.size(); i++)
				x[i] = 0.5f - static_cast<float>((i * 40503u + static_cast<size_t>(watch.steps) * 31 + cellar) & 1023) / 1024.0f;
			first.run(x);
			second.run(x);
			forecast += x[(hours - 1) * width];
		}
	}
	watch_tell(&watch);
	std::printf("humidity %.3f\n", static_cast<double>(forecast) / static_cast<double>(watch.steps));
}
