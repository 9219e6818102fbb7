// A language of codons: reads are taken from a generated genome, and a table of contexts with a small hidden state learns which codon comes next.
//
// Planted: a read that was seen before is left out, and whether it was is found by std::find in the list of all reads so far, which grows.
// Truth: time of the search and the list, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int Codons = 64, Read = 30, Width = 72, Reads = 40;

class Genome {
public:
	Genome() : dice_(1953), letters_(300000)
	{
		for (char &letter : letters_)
			letter = "ACGT"[dice_() % 4];
	}
	std::string read()
	{
		const std::size_t at = dice_() % (letters_.size() - 3 * Read);
		return std::string(letters_.begin() + at, letters_.begin() + at + 3 * Read);
	}

private:
	std::minstd_rand dice_;
	std::vector<char> letters_;
};

class Shelf {
public:
	bool is_new(const std::string &read)
	{
		if (std::find(reads_.begin(), reads_.end(), read) != reads_.end())
			return false;
		reads_.push_back(read);
		return true;
	}

private:
	std::deque<std::string> reads_;
};

struct Model {
	float meaning[2][Codons][Width], next[Codons][Width];

	Model()
	{
		std::mt19937 dice(20);
		std::normal_distribution<float> bell(0, 0.2f);
		for (auto &place : meaning)
			for (auto &row : place)
				for (float &m : row)
					m = bell(dice);
		for (auto &row : next)
			for (float &n : row)
				n = bell(dice);
	}
	static int codon(const char *letters)
	{
		int number = 0;
		for (int i = 0; i < 3; i++)
			number = 4 * number + (letters[i] == 'A' ? 0 : letters[i] == 'C' ? 1 : letters[i] == 'G' ? 2 : 3);
		return number;
	}
	float learn(const std::string &read)
	{
		float loss = 0;
		for (int t = 2; t < Read; t++) {
			const int one = codon(&read[3 * t - 6]), two = codon(&read[3 * t - 3]), truth = codon(&read[3 * t]);
			float state[Width], back[Width] = {}, chance[Codons], all = 0;
			for (int w = 0; w < Width; w++)
				state[w] = std::tanh(meaning[0][one][w] + meaning[1][two][w]);
			for (int c = 0; c < Codons; c++) {
				float sum = 0;
				for (int w = 0; w < Width; w++)
					sum += next[c][w] * state[w];
				chance[c] = std::exp(sum);
				all += chance[c];
			}
			loss -= std::log(chance[truth] / all);
			for (int c = 0; c < Codons; c++) {
				const float off = chance[c] / all - (c == truth);
				for (int w = 0; w < Width; w++) {
					back[w] += off * next[c][w];
					next[c][w] -= 0.01f * off * state[w];
				}
			}
			for (int w = 0; w < Width; w++) {
				const float to = 0.01f * back[w] * (1 - state[w] * state[w]);
				meaning[0][one][w] -= to;
				meaning[1][two][w] -= to;
			}
		}
		return loss / (Read - 2);
	}
};

} // namespace

int main()
{
	Genome genome;
	Shelf shelf;
	static Model model;
	float loss = 0;
	watch watch;

	for (watch_begin(&watch); watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		std::vector<std::string> fresh;
		while (fresh.size() < Reads) {
			std::string read = genome.read();
			planted_begin(&watch);
			const bool wanted = shelf.is_new(read);
			planted_end(&watch);
			if (wanted)
				fresh.push_back(std::move(read));
		}
		DWELL_ZONE("learn");
		loss = 0;
		for (const std::string &read : fresh)
			loss += model.learn(read) / Reads;
		DWELL_COUNTER("loss", double(loss));
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", double(loss));
	return 0;
}
