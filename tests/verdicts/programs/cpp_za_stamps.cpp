// Prices old stamps by their likeness: a dense network folds each picture into traits, then comes the kernel of all pairs of a
// sheet, then a few turns of a ridge regression, all over the threads of OpenMP; a sheet is a step.
//
// Planted: the rows of the triangle are dealt out in two equal runs, so the second thread has three times the pairs of the first.
// Truth: time that the first thread waits for the second at the end of the triangle, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <omp.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr int kStamps = 1100, kTraits = 40, kPixels = 160, kTurns = 3;

class Sheet {
public:
	Sheet() : pixels_(kStamps * kPixels), fold_(kPixels * kTraits), traits_(kStamps * kTraits), kernel_(kStamps * kStamps), price_(kStamps), weight_(kStamps)
	{
		for (size_t i = 0; i < fold_.size(); i++)
			fold_[i] = static_cast<float>(i * 2654435761u >> 7 & 255) / 4096.0f - 0.03f;
	}

	void fill(unsigned number)
	{
		DWELL_ZONE("fold");
#pragma omp parallel for num_threads(2) schedule(static)
		for (int i = 0; i < kStamps; i++) {
			unsigned random = number * 7919u + static_cast<unsigned>(i);
			float *traits = &traits_[static_cast<size_t>(i * kTraits)];
			float *pixels = &pixels_[static_cast<size_t>(i * kPixels)];
			for (int t = 0; t < kTraits; t++)
				traits[t] = 0;
			for (int p = 0; p < kPixels; p++) {
				random = random * 1664525u + 1013904223u;
				pixels[p] = static_cast<float>(random >> 8) / 16777216.0f;
				for (int t = 0; t < kTraits; t++)
					traits[t] += pixels[p] * fold_[static_cast<size_t>(p * kTraits + t)];
			}
			for (int t = 0; t < kTraits; t++)
				traits[t] = std::tanh(traits[t]);
			price_[static_cast<size_t>(i)] = 3 * traits[0] + 1;
		}
	}

	void compare(watch *watch)
	{
		DWELL_ZONE("compare");
#pragma omp parallel num_threads(2)
		{
#pragma omp for schedule(static) nowait
			for (int i = 0; i < kStamps; i++)
				for (int j = 0; j <= i; j++) {
					float far = 0;
					for (int t = 0; t < kTraits; t++) {
						const float by = traits_[static_cast<size_t>(i * kTraits + t)] - traits_[static_cast<size_t>(j * kTraits + t)];
						far += by * by;
					}
					const float like = std::exp(-0.3f * far);
					kernel_[static_cast<size_t>(i * kStamps + j)] = like;
					kernel_[static_cast<size_t>(j * kStamps + i)] = like;
				}
			const bool first = omp_get_thread_num() == 0;
			if (first)
				planted_begin(watch);
#pragma omp barrier
			if (first)
				planted_end(watch);
		}
	}

	// A fixed number of turns of conjugate gradients, so each sheet costs the same.
	float solve()
	{
		DWELL_ZONE("solve");
		std::vector<float> rest(price_), way(price_), ahead(kStamps);
		float size = dot(rest, rest);
		weight_.assign(kStamps, 0);
		for (int turn = 0; turn < kTurns; turn++) {
#pragma omp parallel for num_threads(2) schedule(static)
			for (int i = 0; i < kStamps; i++) {
				float sum = 5.0f * way[static_cast<size_t>(i)];
				for (int j = 0; j < kStamps; j++)
					sum += kernel_[static_cast<size_t>(i * kStamps + j)] * way[static_cast<size_t>(j)];
				ahead[static_cast<size_t>(i)] = sum;
			}
			const float length = size / (dot(way, ahead) + 1e-12f);
			for (size_t i = 0; i < kStamps; i++) {
				weight_[i] += length * way[i];
				rest[i] -= length * ahead[i];
			}
			const float next = dot(rest, rest) + 1e-9f;
			for (size_t i = 0; i < kStamps; i++)
				way[i] = rest[i] + next / size * way[i];
			size = next;
		}
		return weight_[0];
	}

private:
	static float dot(const std::vector<float> &a, const std::vector<float> &b)
	{
		float sum = 0;
		for (size_t i = 0; i < a.size(); i++)
			sum += a[i] * b[i];
		return sum;
	}

	std::vector<float> pixels_, fold_, traits_, kernel_, price_, weight_;
};

}  // namespace

int main()
{
	watch watch;
	Sheet sheet;
	double total = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		sheet.fill(static_cast<unsigned>(watch.steps));
		sheet.compare(&watch);
		total += static_cast<double>(sheet.solve());
	}
	watch_tell(&watch);
	std::printf("weight of the first stamp %.5f\n", total / static_cast<double>(watch.steps));
}
