/*
 * Trains embeddings of songs that are played together, with OpenMP over the pairs of a batch.
 *
 * Planted: gradients of rows are added with an atomic exchange for each number, as rows may occur twice, even in one batch.
 * Truth: time of adding the gradients, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

namespace {

const int kSongs = 4000, kDim = 64, kPairs = 512, kUnits = 64;

void add(std::atomic<float> &to, float value)
{
	float old = to.load(std::memory_order_relaxed);
	while (!to.compare_exchange_weak(old, old + value))
		;
}

struct Pair { int one, other; float together; };

} // namespace

int main()
{
	std::mt19937 random(21);
	std::normal_distribution<float> normal(0, 0.2f);
	std::vector<float> song(kSongs * kDim), mix(kUnits * kDim), back(kPairs * 2 * kDim), error(kPairs);
	std::unique_ptr<std::atomic<float>[]> gradient(new std::atomic<float>[kSongs * kDim]);
	std::vector<Pair> pairs(kPairs);
	struct watch watch;
	for (int at = 0; at < kSongs * kDim; at++) {
		song[at] = normal(random);
		gradient[at] = 0;
	}
	for (float &weight : mix)
		weight = normal(random);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (Pair &pair : pairs) {
			/* Few songs are played by all. */
			const int hit = static_cast<int>(random() % 40);
			pair = {static_cast<int>(random() % kSongs), random() % 2 ? hit : static_cast<int>(random() % kSongs), static_cast<float>(random() % 2)};
		}
		{
			DWELL_OP("pair_scores");
#pragma omp parallel for num_threads(2)
			for (int at = 0; at < kPairs; at++) {
				const float *one = &song[pairs[at].one * kDim], *other = &song[pairs[at].other * kDim];
				float score = 0;
				for (int unit = 0; unit < kUnits; unit++) {
					float a = 0, b = 0;
					for (int d = 0; d < kDim; d++) {
						a += mix[unit * kDim + d] * one[d];
						b += mix[unit * kDim + d] * other[d];
					}
					score += a * b;
				}
				error[at] = 1 / (1 + std::exp(-score)) - pairs[at].together;
				for (int d = 0; d < kDim; d++) {
					back[(2 * at) * kDim + d] = error[at] * other[d];
					back[(2 * at + 1) * kDim + d] = error[at] * one[d];
				}
			}
		}
		{
			DWELL_OP("scatter_add");
			planted_begin(&watch);
#pragma omp parallel for num_threads(2)
			for (int at = 0; at < kPairs; at++)
				for (int d = 0; d < kDim; d++) {
					add(gradient[pairs[at].one * kDim + d], back[2 * at * kDim + d]);
					add(gradient[pairs[at].other * kDim + d], back[(2 * at + 1) * kDim + d]);
				}
			planted_end(&watch);
		}
		{
			DWELL_OP("row_sgd");
			for (const Pair &pair : pairs)
				for (int row : {pair.one, pair.other})
					for (int d = 0; d < kDim; d++)
						song[row * kDim + d] -= 0.01f * gradient[row * kDim + d].exchange(0.0f, std::memory_order_relaxed);
		}
	}
	watch_tell(&watch);
	fprintf(stderr, "%.3f\n", static_cast<double>(song[0]));
}
