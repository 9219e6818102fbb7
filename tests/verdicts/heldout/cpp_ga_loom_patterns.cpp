// Learns which threads of a loom stand together in woven patterns: pairs of embeddings, negative samples, two threads.
//
// Planted: each thread of the team writes down gradients of rows in a list of its own, and then the first thread alone
// sorts both lists by row and adds what belongs to the same row, while the other rests.
// Truth: time of sorting and adding, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdint>
#include <omp.h>
#include <vector>

namespace {

constexpr int kYarns = 6000, kDim = 64, kPairs = 4096, kNegative = 5, kTeam = 2;

struct Note {
	int32_t row;
	float gradient[kDim];
};

std::vector<float> warp(kYarns *kDim), weft(kYarns *kDim);

int yarn(uint32_t &seed)
{
	seed = seed * 1664525u + 1013904223u;
	const uint32_t r = seed >> 8;
	return static_cast<int>((r % kYarns) * static_cast<uint64_t>((r >> 3) % kYarns) / kYarns);
}

void note_pairs(std::vector<Note> &notes, int first, int last, uint32_t seed)
{
	notes.clear();
	for (int p = first; p < last; p++) {
		const int centre = yarn(seed);
		const float *c = &warp[centre * kDim];
		Note mine = {centre, {}};

		for (int k = 0; k <= kNegative; k++) {
			const int other = k ? yarn(seed) : (centre * 7 + 3) % kYarns;
			const float *o = &weft[other * kDim];
			float dot = 0, far = 0;
			for (int d = 0; d < kDim; d++) {
				dot += c[d] * o[d];
				far += (c[d] - o[d]) * (c[d] - o[d]);
			}
			const float error = 1 / (1 + std::exp(-dot / std::sqrt(1 + far))) - (k ? 0.f : 1.f);
			notes.push_back({kYarns + other, {}});
			for (int d = 0; d < kDim; d++) {
				notes.back().gradient[d] = error * c[d];
				mine.gradient[d] += error * o[d];
			}
		}
		notes.push_back(mine);
	}
}

// One note for each row that the batch touched.
void merge(const std::vector<Note> *lists, std::vector<const Note *> &order, std::vector<Note> &rows)
{
	order.clear();
	rows.clear();
	for (int t = 0; t < kTeam; t++)
		for (const Note &note : lists[t])
			order.push_back(&note);
	std::sort(order.begin(), order.end(), [](const Note *a, const Note *b) { return a->row < b->row; });
	for (const Note *note : order) {
		if (rows.empty() || rows.back().row != note->row) {
			rows.push_back(*note);
			continue;
		}
		for (int d = 0; d < kDim; d++)
			rows.back().gradient[d] += note->gradient[d];
	}
}

}  // namespace

int main()
{
	std::vector<Note> lists[kTeam], rows;
	std::vector<const Note *> order;
	uint32_t seed = 11;
	watch clock;

	for (size_t i = 0; i < warp.size(); i++) {
		seed = seed * 1664525u + 1013904223u;
		warp[i] = static_cast<float>(seed >> 16) / 65536 - 0.5f;
		weft[i] = -warp[i] * 0.5f;
	}
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("pairs");
			const uint64_t team = DWELL_TEAM();
			#pragma omp parallel num_threads(kTeam)
			{
				DWELL_WORKER(team);
				const int t = omp_get_thread_num();
				note_pairs(lists[t], t * kPairs / kTeam, (t + 1) * kPairs / kTeam, static_cast<uint32_t>(clock.steps * 2 + t));
			}
		}
		{
			DWELL_ZONE("merge");
			planted_begin(&clock);
			merge(lists, order, rows);
			planted_end(&clock);
		}
		DWELL_ZONE("rows");
		const uint64_t team = DWELL_TEAM();
		#pragma omp parallel num_threads(kTeam)
		{
			DWELL_WORKER(team);
			#pragma omp for
			for (size_t i = 0; i < rows.size(); i++) {
				const int row = rows[i].row;
				float *w = row < kYarns ? &warp[row * kDim] : &weft[(row - kYarns) * kDim];
				for (int d = 0; d < kDim; d++)
					w[d] -= 0.05f * (rows[i].gradient[d] + 1e-4f * w[d]);
			}
		}
	}
	watch_tell(&clock);
	std::fprintf(stderr, "thread %g\n", static_cast<double>(warp[77]));
}
