/*
 * Gives chords names: 36 bands of tone become 32 numbers by two layers, and a codebook learns from them which chords there are.
 * A library of recorded chords is kept in the order of the codebook for a player to look into.
 *
 * Planted: each tenth step all 3200 chords of the library are read by the network anew and sorted, though nobody asks for them in between.
 * Truth: time of that, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

constexpr int BANDS = 36, HIDDEN = 96, CODE = 32, NAMES = 96, BATCH = 192, LIBRARY = 3200;

struct Chord {
	float band[BANDS];
};

struct Reading {
	float hidden[HIDDEN], code[CODE];
};

class Namer {
public:
	Namer()
	{
		fill(first_, 0.25f, 7);
		fill(second_, 0.2f, 13);
		fill(book_, 1.0f, 29);
	}

	void read(const Chord &chord, Reading &r) const
	{
		std::memset(&r, 0, sizeof r);
		for (int b = 0; b < BANDS; b++)
			for (int h = 0; h < HIDDEN; h++)
				r.hidden[h] += chord.band[b] * first_[b][h];
		for (int h = 0; h < HIDDEN; h++)
			r.hidden[h] /= 1 + std::fabs(r.hidden[h]);
		for (int h = 0; h < HIDDEN; h++)
			for (int c = 0; c < CODE; c++)
				r.code[c] += r.hidden[h] * second_[h][c];
	}

	int name(const float *code) const
	{
		int best = 0;
		float least = INFINITY;
		for (int n = 0; n < NAMES; n++) {
			float part[4] = {};
			for (int c = 0; c < CODE; c += 4)
				for (int k = 0; k < 4; k++) {
					const float d = code[c + k] - book_[n][c + k];
					part[k] += d * d;
				}
			const float all = part[0] + part[1] + part[2] + part[3];
			if (all < least) {
				least = all;
				best = n;
			}
		}
		return best;
	}

	/* The name's code comes nearer, and the network learns to say the code. */
	void learn(const Chord &chord, const Reading &r, int name)
	{
		float wrong[CODE], blame[HIDDEN];
		for (int c = 0; c < CODE; c++) {
			wrong[c] = r.code[c] - book_[name][c];
			book_[name][c] += 0.002f * wrong[c];
		}
		for (int h = 0; h < HIDDEN; h++) {
			float part[4] = {};
			for (int c = 0; c < CODE; c += 4)
				for (int k = 0; k < 4; k++) {
					part[k] += wrong[c + k] * second_[h][c + k];
					second_[h][c + k] -= 1e-5f * wrong[c + k] * r.hidden[h];
				}
			const float slope = 1 - std::fabs(r.hidden[h]);
			blame[h] = (part[0] + part[1] + part[2] + part[3]) * slope * slope;
		}
		for (int b = 0; b < BANDS; b++)
			for (int h = 0; h < HIDDEN; h++)
				first_[b][h] -= 1e-5f * blame[h] * chord.band[b];
	}

private:
	template <int ROWS, int COLUMNS>
	static void fill(float (&matrix)[ROWS][COLUMNS], float size, int pace)
	{
		for (int r = 0; r < ROWS; r++)
			for (int c = 0; c < COLUMNS; c++)
				matrix[r][c] = size * std::sin(static_cast<float>((r * COLUMNS + c) * pace % 911));
	}

	float first_[BANDS][HIDDEN], second_[HIDDEN][CODE], book_[NAMES][CODE];
};

class Library {
public:
	explicit Library(const std::vector<Chord> &chords) : chords_(chords), places_(chords.size()) {}

	void refresh(const Namer &namer)
	{
		Reading r;
		for (size_t i = 0; i < chords_.size(); i++) {
			namer.read(chords_[i], r);
			places_[i] = {namer.name(r.code), static_cast<int>(i)};
		}
		std::sort(places_.begin(), places_.end());
	}
	int front() const { return places_.front().second; }

private:
	const std::vector<Chord> &chords_;
	std::vector<std::pair<int, int>> places_;
};

int main()
{
	static watch watch;
	std::vector<Chord> chords(LIBRARY);
	for (int i = 0; i < LIBRARY; i++)
		for (int b = 0; b < BANDS; b++)
			chords[i].band[b] = (i * 5 + b * 7) % 12 < 3 ? 0.9f : 0.1f * std::sin(static_cast<float>(i + b));
	auto namer = std::make_unique<Namer>();
	Library library(chords);
	std::vector<Reading> readings(BATCH);
	std::vector<int> names(BATCH);

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		const int from = static_cast<int>(watch.steps * BATCH % (LIBRARY - BATCH));
		{
			DWELL_ZONE("read");
			for (int i = 0; i < BATCH; i++)
				namer->read(chords[from + i], readings[i]);
		}
		{
			DWELL_ZONE("name");
			for (int i = 0; i < BATCH; i++)
				names[i] = namer->name(readings[i].code);
		}
		{
			DWELL_ZONE("learn");
			for (int i = 0; i < BATCH; i++)
				namer->learn(chords[from + i], readings[i], names[i]);
		}
		if (watch.steps % 10 == 9) {
			DWELL_ZONE("library");
			planted_begin(&watch);
			library.refresh(*namer);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	std::printf("front %d\n", library.front());
}
