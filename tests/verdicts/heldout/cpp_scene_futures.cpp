/*
 * Segments scenes of an earth observation satellite: a linear model on patches, trained as the scenes come in.
 *
 * Planted: only the next scene is unpacked ahead, by one std::async(), and unpacking takes longer than learning.
 * Truth: time of waiting for the scene, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cstdint>
#include <future>
#include <random>
#include <vector>

using Scene = std::vector<float>;

const int kSide = 256, kBands = 4, kTaps = 25, kUnits = 3;

struct Packed {
	std::vector<uint8_t> bits;
};

/* Numbers of Rice's code: a run of ones, a zero, three bits. */
static Packed pack(unsigned seed)
{
	Packed packed;
	std::mt19937 random(seed);
	int filled = 8;
	auto put = [&](unsigned bit) {
		if (filled == 8) {
			packed.bits.push_back(0);
			filled = 0;
		}
		packed.bits.back() |= static_cast<uint8_t>(bit << filled++);
	};
	for (int at = 0; at < kSide * kSide * kBands; at++) {
		for (unsigned ones = random() % 64; ones; ones--)
			put(1);
		put(0);
		for (int bit = 0; bit < 3; bit++)
			put(random() & 1);
	}
	packed.bits.push_back(0);
	return packed;
}

static Scene unpack(const Packed &packed)
{
	DWELL_ZONE("unpack scene");
	Scene scene(kSide * kSide * kBands);
	size_t at = 0;
	int before = 0;
	auto next = [&] { unsigned bit = packed.bits[at >> 3] >> (at & 7) & 1; at++; return bit; };
	for (float &value : scene) {
		int number = 0;
		while (next())
			number += 8;
		for (int bit = 0; bit < 3; bit++)
			number |= static_cast<int>(next() << bit);
		before = (before + number - 256) & 1023;
		value = static_cast<float>(before) / 1024;
	}
	return scene;
}

struct Model {
	float taps[kUnits][kTaps] = {}, gradient[kUnits][kTaps] = {};

	void learn(const Scene &scene, int band)
	{
		for (int y = 2; y < kSide - 2; y += 4)
			for (int x = 2; x < kSide - 2; x += 2) {
				const float *centre = &scene[(band * kSide + y) * kSide + x];
				for (int unit = 0; unit < kUnits; unit++) {
					float sum = 0;
					for (int tap = 0; tap < kTaps; tap++)
						sum += taps[unit][tap] * centre[(tap / 5 - 2) * kSide + tap % 5 - 2];
					const float error = sum - (*centre > 0.2f * static_cast<float>(unit) ? 1.0f : 0.0f);
					for (int tap = 0; tap < kTaps; tap++)
						gradient[unit][tap] += error * centre[(tap / 5 - 2) * kSide + tap % 5 - 2];
				}
			}
	}
	void update()
	{
		for (int unit = 0; unit < kUnits; unit++)
			for (int tap = 0; tap < kTaps; tap++) {
				taps[unit][tap] -= 1e-6f * gradient[unit][tap];
				gradient[unit][tap] = 0;
			}
	}
};

int main()
{
	std::vector<Packed> archive;
	for (unsigned seed = 0; seed < 6; seed++)
		archive.push_back(pack(seed));
	Model model;
	struct watch watch;
	auto fetch = [&](int number) {
		return std::async(std::launch::async, [&archive, number] { return unpack(archive[number % archive.size()]); });
	};

	watch_begin(&watch);
	std::future<Scene> ahead = fetch(0);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		Scene scene;
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "next scene");
			scene = ahead.get();
		}
		planted_end(&watch);
		ahead = fetch(watch.steps + 1);
		DWELL_ZONE("learn scene");
		for (int band = 0; band < kBands; band++)
			model.learn(scene, band);
		model.update();
	}
	watch_tell(&watch);
	for (int tap = 0; tap < kTaps; tap++)
		printf("%g ", static_cast<double>(model.taps[0][tap] + model.taps[1][tap] + model.taps[2][tap]));
}
