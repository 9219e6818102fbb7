/*
 * Splits words of an agglutinating language into morphemes: a lattice of all pieces of a word, scored by a table of letters' pairs,
 * trained by the forward and backward sums of a conditional random field.
 *
 * Clean: one thread, words of one length, fixed buffers.
 * Truth: time of the update of the weights, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

constexpr int LETTERS = 28, LENGTH = 20, PIECE = 7, TAGS = 9, WORDS = 220;

struct Word {
	std::array<int, LENGTH> letter;
	std::array<int, LENGTH + 1> cut; /* 1: a morpheme ends before this letter */
};

struct Scores {
	float edge[LETTERS][LETTERS], length[PIECE + 1], tag[TAGS][TAGS];
};

class Lattice {
public:
	/* Sums of the lattice of a word; slopes are added to `slope`. Returns the logarithm of all paths' sum. */
	double add(const Word &word, const Scores &scores, Scores &slope)
	{
		std::array<std::array<double, TAGS>, LENGTH + 1> ahead{}, behind{};
		ahead[0].fill(1);
		behind[LENGTH].fill(1);
		double scale = 0;
		for (int end = 1; end <= LENGTH; end++) {
			double top = 0;
			for (int from = std::max(0, end - PIECE); from < end; from++) {
				const double piece = std::exp(score(word, scores, from, end));
				for (int t = 0; t < TAGS; t++)
					for (int u = 0; u < TAGS; u++)
						ahead[end][t] += ahead[from][u] * piece * (1 + scores.tag[u][t]);
			}
			for (const double value : ahead[end])
				top += value;
			scale += std::log(top) / LENGTH;
		}
		for (int from = LENGTH - 1; from >= 0; from--)
			for (int end = from + 1; end <= std::min(LENGTH, from + PIECE); end++) {
				const double piece = std::exp(score(word, scores, from, end));
				for (int u = 0; u < TAGS; u++)
					for (int t = 0; t < TAGS; t++)
						behind[from][u] += behind[end][t] * piece * (1 + scores.tag[u][t]);
			}
		double all = 0;
		for (const double value : ahead[LENGTH])
			all += value;
		for (int from = 0; from < LENGTH; from++)
			for (int end = from + 1; end <= std::min(LENGTH, from + PIECE); end++) {
				double here = 0;
				for (int t = 0; t < TAGS; t++)
					for (int u = 0; u < TAGS; u++)
						here += ahead[from][u] * behind[end][t] * (1 + scores.tag[u][t]);
				const double chance = here * std::exp(score(word, scores, from, end)) / all;
				const bool gold = word.cut[from] && word.cut[end];
				const float push = static_cast<float>(gold) - static_cast<float>(chance);
				slope.length[end - from] += push;
				slope.edge[word.letter[from]][word.letter[end - 1]] += push;
			}
		return scale;
	}

private:
	static float score(const Word &word, const Scores &scores, int from, int end)
	{
		return scores.edge[word.letter[from]][word.letter[end - 1]] + scores.length[end - from];
	}
};

int main()
{
	static Scores scores, slope;
	std::vector<Word> words(WORDS * 6);
	Lattice lattice;
	watch clock;
	double sum = 0;
	unsigned dice = 5;

	for (Word &word : words)
		for (int l = 0; l <= LENGTH; l++) {
			dice = dice * 1103515245u + 12345u;
			if (l < LENGTH)
				word.letter[l] = static_cast<int>(dice >> 16) % LETTERS;
			word.cut[l] = l == 0 || l == LENGTH || (dice >> 20) % 4 == 0;
		}
	for (auto &row : scores.tag)
		for (float &value : row)
			value = 0.1f * static_cast<float>((dice = dice * 1103515245u + 12345u) >> 24) / 256;
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		sum = 0;
		slope = Scores();
		{
			DWELL_ZONE("lattice");
			for (int w = 0; w < WORDS; w++)
				sum += lattice.add(words[(clock.steps % 6) * WORDS + w], scores, slope);
		}
		planted_begin(&clock);
		{
			DWELL_ZONE("update");
			for (int a = 0; a < LETTERS; a++)
				for (int b = 0; b < LETTERS; b++)
					scores.edge[a][b] = 0.999f * scores.edge[a][b] + 1e-3f * slope.edge[a][b] / WORDS;
			for (int l = 1; l <= PIECE; l++)
				scores.length[l] = 0.999f * scores.length[l] + 1e-3f * slope.length[l] / WORDS;
		}
		planted_end(&clock);
	}
	watch_tell(&clock);
	std::printf("sum %.4f\n", sum / WORDS);
}
