// Reads the shapes of stones on boards of Go: a residual network of 3x3 convolutions gives a move's chances and who will win, for batches
// of 8 boards. Two threads of OpenMP have equal halves of the channels.
//
// Clean: nothing is planted; each step evaluates as many boards with the same network.
// Truth: nothing comes near a cause, 0.
#include "clock.h"

#include <dwell/probe.h>

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace {

constexpr int kSize = 13, kPadded = kSize + 2, kChannels = 32, kPlanes = 4, kBlocks = 3, kBoards = 8;

// Boards with a border of zeros: [board][channel][row][column].
struct Maps {
	explicit Maps(int channels) : channels(channels), values(static_cast<size_t>(kBoards) * channels * kPadded * kPadded) {}
	float *plane(int board, int channel) { return &values[(static_cast<size_t>(board) * channels + channel) * kPadded * kPadded]; }
	const float *plane(int board, int channel) const { return const_cast<Maps *>(this)->plane(board, channel); }
	int channels;
	std::vector<float> values;
};

struct Convolution {
	Convolution(int in, int out, std::mt19937 &random) : in(in), out(out), weight(static_cast<size_t>(in) * out * 9)
	{
		std::normal_distribution<float> normal(0, std::sqrt(1.6f / (9.0f * static_cast<float>(in))));
		for (float &w : weight)
			w = normal(random);
	}

	void run(const Maps &from, Maps &to, const Maps *skip) const
	{
		DWELL_ZONE("convolution");
#pragma omp parallel for schedule(static)
		for (int o = 0; o < out; ++o)
			for (int b = 0; b < kBoards; ++b) {
				float sum[kPadded * kPadded] = {};
				for (int i = 0; i < in; ++i) {
					const float *plane = from.plane(b, i), *w = &weight[(static_cast<size_t>(o) * in + i) * 9];
					for (int r = 1; r <= kSize; ++r)
						for (int k = 0; k < 9; ++k) {
							const float *row = plane + (r + k / 3 - 1) * kPadded + k % 3;
							float *at = sum + r * kPadded + 1;
							for (int c = 0; c < kSize; ++c)
								at[c] += w[k] * row[c];
						}
				}
				float *plane = to.plane(b, o);
				const float *old = skip ? skip->plane(b, o) : nullptr;
				for (int r = 1; r <= kSize; ++r)
					for (int c = 1; c <= kSize; ++c) {
						const int at = r * kPadded + c;
						plane[at] = std::max(sum[at] * 0.7f + (old ? 0.7f * old[at] : 0.0f), 0.0f);
					}
			}
	}

	int in, out;
	std::vector<float> weight;
};

} // namespace

int main()
{
	std::mt19937 random(19);
	std::vector<Convolution> tower;
	tower.emplace_back(kPlanes, kChannels, random);
	for (int c = 0; c < 2 * kBlocks; ++c)
		tower.emplace_back(kChannels, kChannels, random);
	const Convolution moves(kChannels, 2, random);
	std::vector<Maps> positions(5, Maps(kPlanes));
	for (Maps &boards : positions)
		for (int b = 0; b < kBoards; ++b)
			for (int r = 1; r <= kSize; ++r)
				for (int c = 1; c <= kSize; ++c)
					boards.plane(b, random() % 3)[r * kPadded + c] = 1, boards.plane(b, 3)[r * kPadded + c] = 1;
	Maps state(kChannels), between(kChannels), next(kChannels), chances(2);
	double won = 0;
	watch clock{};

	omp_set_num_threads(2);
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		tower[0].run(positions[clock.steps % 5], state, nullptr);
		for (int block = 0; block < kBlocks; ++block) {
			tower[1 + 2 * block].run(state, between, nullptr);
			tower[2 + 2 * block].run(between, next, &state);
			std::swap(state.values, next.values);
		}
		DWELL_ZONE("heads");
		moves.run(state, chances, nullptr);
		for (int b = 0; b < kBoards; ++b) {
			float best = 0;
			for (int at = 0; at < kPadded * kPadded; ++at)
				best = std::max(best, chances.plane(b, 0)[at] - chances.plane(b, 1)[at]);
			won += std::tanh(best);
		}
	}
	watch_tell(&clock);
	std::printf("won %.4f\n", won / clock.steps / kBoards);
}
