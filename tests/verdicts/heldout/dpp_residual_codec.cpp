/*
 * Learns codebooks for vectors of a compressed index: rotation, three stages of residuals, means that follow.
 *
 * Planted: nothing.
 * Truth: time of drawing the batch, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <random>
#include <vector>

namespace {

const int kDim = 48, kCodes = 160, kStages = 3, kBatch = 256, kVectors = 2000;

using Vectors = std::vector<float>;

struct Codebook {
	Vectors code = Vectors(kCodes * kDim), sum = Vectors(kCodes * kDim);
	std::vector<int> members = std::vector<int>(kCodes);

	int nearest(const float *vector) const
	{
		int best = 0;
		float least = 1e30f;
		for (int c = 0; c < kCodes; c++) {
			float distance = 0;
			for (int d = 0; d < kDim; d++) {
				const float gap = vector[d] - code[c * kDim + d];
				distance += gap * gap;
			}
			if (distance < least) {
				least = distance;
				best = c;
			}
		}
		return best;
	}
	void follow()
	{
		for (int c = 0; c < kCodes; c++)
			for (int d = 0; d < kDim && members[c]; d++) {
				code[c * kDim + d] += 0.05f * (sum[c * kDim + d] / static_cast<float>(members[c]) - code[c * kDim + d]);
				sum[c * kDim + d] = 0;
			}
		members.assign(kCodes, 0);
	}
};

} // namespace

int main()
{
	std::mt19937 random(6);
	std::normal_distribution<float> normal(0, 1);
	Vectors all(kVectors * kDim), rotation(kDim * kDim), batch(kBatch * kDim), residual(kBatch * kDim);
	std::vector<Codebook> books(kStages);
	struct watch watch;
	double lost = 0;
	for (auto *values : {&all, &rotation})
		for (float &value : *values)
			value = normal(random);
	for (Codebook &book : books)
		for (float &value : book.code)
			value = normal(random);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("draw");
			planted_begin(&watch);
			for (int row = 0; row < kBatch; row++) {
				const size_t from = random() % kVectors;
				for (int d = 0; d < kDim; d++)
					batch[row * kDim + d] = all[from * kDim + d];
			}
			planted_end(&watch);
		}
		{
			DWELL_ZONE("rotate");
			for (int row = 0; row < kBatch; row++)
				for (int d = 0; d < kDim; d++) {
					float sum = 0;
					for (int e = 0; e < kDim; e++)
						sum += rotation[d * kDim + e] * batch[row * kDim + e];
					residual[row * kDim + d] = sum / 7;
				}
		}
		{
			DWELL_ZONE("assign");
			for (Codebook &book : books)
				for (int row = 0; row < kBatch; row++) {
					float *vector = &residual[row * kDim];
					const int c = book.nearest(vector);
					book.members[c]++;
					for (int d = 0; d < kDim; d++) {
						book.sum[c * kDim + d] += vector[d];
						vector[d] -= book.code[c * kDim + d];
					}
				}
		}
		{
			DWELL_ZONE("turn the axes");
			for (int row = 0; row < kBatch; row++)
				for (int d = 0; d < kDim; d++) {
					const float error = 1e-6f * residual[row * kDim + d];
					lost += 1e6 * static_cast<double>(error * error);
					for (int e = 0; e < kDim; e++)
						rotation[d * kDim + e] -= error * batch[row * kDim + e];
				}
		}
		DWELL_ZONE("move the codes");
		for (Codebook &book : books)
			book.follow();
	}
	watch_tell(&watch);
	fprintf(stderr, "lost %.6f\n", lost / watch.steps);
}
