// Compresses drawings of origami creases with a learnt codebook: patches find their nearest code, codes move to their patches.
//
// Decoy: a std::map of strings, an exception that is thrown and caught, a stream of log lines with std::endl, a matrix
// that is transposed, a little new and delete and a second look at a few drawings, each for a moment in a step.
// Truth: time of all of these, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kSide = 8, kPixels = kSide * kSide, kCodes = 128, kPatches = 320;

using Patch = std::vector<float>;

class Codebook {
public:
	explicit Codebook(std::mt19937 &random) : codes_(kCodes, Patch(kPixels)), moved_(kCodes, Patch(kPixels)), uses_(kCodes, 1.f)
	{
		std::uniform_real_distribution<float> ink(0, 1);
		for (auto &code : codes_)
			for (auto &pixel : code)
				pixel = ink(random);
	}

	int nearest(const Patch &patch, float &best) const
	{
		int which = 0;
		best = 1e30f;
		for (int c = 0; c < kCodes; c++) {
			float far = 0;
			for (int p = 0; p < kPixels; p++) {
				const float d = patch[p] - codes_[c][p];
				far += d * d;
			}
			if (far < best)
				best = far, which = c;
		}
		return which;
	}

	void pull(int code, const Patch &patch)
	{
		uses_[code] += 1;
		for (int p = 0; p < kPixels; p++)
			moved_[code][p] += patch[p] - codes_[code][p];
	}

	void settle()
	{
		for (int c = 0; c < kCodes; c++) {
			for (int p = 0; p < kPixels; p++) {
				codes_[c][p] += 0.5f * moved_[c][p] / uses_[c];
				moved_[c][p] *= 0.5f;
			}
			uses_[c] = 0.5f * uses_[c] + 0.5f;
		}
	}

private:
	std::vector<Patch> codes_, moved_;
	std::vector<float> uses_;
};

Patch turned(const Patch &patch)
{
	Patch other(patch.size());
	for (int y = 0; y < kSide; y++)
		for (int x = 0; x < kSide; x++)
			other[x * kSide + y] = patch[y * kSide + x];
	return other;
}

void check(int code, float far)
{
	if (far > 1 && code % 16 == 0)
		throw std::runtime_error("code " + std::to_string(code) + " is far from its patch");
}

}  // namespace

int main()
{
	std::mt19937 random(21);
	Codebook codebook(random);
	std::vector<Patch> drawings;
	std::map<std::string, int> tally;
	std::ofstream log("/dev/null");
	watch clock;

	for (int d = 0; d < 2048; d++) {
		Patch patch(kPixels);
		const int slope = d % 7 - 3, shift = d % 11;
		for (int y = 0; y < kSide; y++)
			for (int x = 0; x < kSide; x++)
				patch[y * kSide + x] = (x * slope + y * 2 + shift) % 5 == 0 ? 1.f : static_cast<float>(random() % 100) / 400;
		drawings.push_back(patch);
	}
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		float loss = 0, far = 0;
		int warned = 0;
		{
			DWELL_ZONE("assign");
			for (int i = 0; i < kPatches; i++) {
				const Patch &patch = drawings[random() % drawings.size()];
				const int code = codebook.nearest(patch, far);
				codebook.pull(code, patch);
				loss += far;
				if (i)
					continue;
				planted_begin(&clock);
				tally["code " + std::to_string(code)]++;
				try {
					check(code, far);
				} catch (const std::exception &) {
					warned++;
				}
				planted_end(&clock);
			}
		}
		{
			DWELL_ZONE("settle");
			codebook.settle();
		}
		planted_begin(&clock);
		if (clock.steps % 10 == 0) {
			DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "second look");
			float again = 0, sum = 0;
			for (int i = 0; i < 12; i++) {
				codebook.nearest(turned(drawings[i]), again);
				sum += again;
			}
			std::ostringstream line;
			line << clock.steps << " loss " << loss / kPatches << " turned " << sum / 12 << " warned " << warned;
			log << line.str() << std::endl;
		}
		planted_end(&clock);
	}
	watch_tell(&clock);
	std::fprintf(stderr, "%zu codes used\n", tally.size());
}
