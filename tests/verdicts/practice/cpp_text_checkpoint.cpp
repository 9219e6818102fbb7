/*
 * A network with two layers that tells bird eggs apart, in C++.
 *
 * Planted: every tenth step writes all weights as text, on the loop's thread.
 * Truth: time of writing, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <fstream>
#include <iomanip>
#include <vector>

using Matrix = std::vector<std::vector<float>>;

static const int kSeconds = 5, kEggs = 128, kMarks = 200, kHidden = 160, kEvery = 10;

static Matrix product(const Matrix &left, const Matrix &right)
{
	DWELL_OP("product");
	Matrix result(left.size(), std::vector<float>(right[0].size(), 0.0f));
	for (size_t row = 0; row < left.size(); row++)
		for (size_t at = 0; at < right.size(); at++)
			for (size_t column = 0; column < right[0].size(); column++)
				result[row][column] += left[row][at] * right[at][column];
	return result;
}

static Matrix turned(const Matrix &matrix)
{
	DWELL_OP("turn");
	Matrix result(matrix[0].size(), std::vector<float>(matrix.size()));
	for (size_t row = 0; row < matrix.size(); row++)
		for (size_t column = 0; column < matrix[0].size(); column++)
			result[column][row] = matrix[row][column];
	return result;
}

static void save(const Matrix &weights, const char *path)
{
	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "save");
	std::ofstream file(path);
	file << std::setprecision(9);
	for (const auto &row : weights) {
		for (float weight : row)
			file << weight << ' ';
		file << '\n';
	}
}

int main()
{
	Matrix eggs(kEggs, std::vector<float>(kMarks)), weights(kMarks, std::vector<float>(kHidden));
	struct watch watch;

	for (int egg = 0; egg < kEggs; egg++)
		for (int mark = 0; mark < kMarks; mark++)
			eggs[egg][mark] = static_cast<float>((egg * 13 + mark * 7) % 50) / 50;
	for (int mark = 0; mark < kMarks; mark++)
		for (int unit = 0; unit < kHidden; unit++)
			weights[mark][unit] = static_cast<float>((mark * 31 + unit * 17) % 997) / 9970;
	const Matrix across = turned(eggs);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		Matrix hidden = product(eggs, weights);
		Matrix slopes = product(across, hidden);
		{
			DWELL_OP("sgd");
			for (int mark = 0; mark < kMarks; mark++)
				for (int unit = 0; unit < kHidden; unit++)
					weights[mark][unit] -= 1e-8f * slopes[mark][unit];
		}
		if (watch.steps % kEvery == kEvery - 1) {
			planted_begin(&watch);
			save(weights, "weights.txt");
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	return 0;
}
