// Says which herb a specimen card describes: a linear model with pairs of columns, learned from cards of 22 columns.
//
// Planted: each card becomes a std::map from a column's name to its text, made and thrown away for each batch.
// Truth: time in which these maps are made and destroyed, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int columns = 22, herbs = 40, batch = 64, buckets = 1 << 15, cards = 3000;

using Card = std::map<std::string, std::string>;

std::vector<std::string> drawer;  // a card a line, columns between semicolons
std::vector<std::string> headings;
std::vector<float> weight(static_cast<size_t>(buckets) * herbs);

void fill_drawer()
{
	std::mt19937 random(8);

	for (int c = 0; c < columns; c++)
		headings.push_back("specimen_sheet_column_" + std::to_string(c));
	for (int k = 0; k < cards; k++) {
		std::string line = std::to_string(k % herbs);
		for (int c = 1; c < columns; c++)
			line += ";collected_" + std::to_string((k % herbs * c + random() % 3) % 97) + "_locality";
		drawer.push_back(line);
	}
}

Card card_of(const std::string &line)
{
	Card card;
	size_t at = 0;

	for (const auto &heading : headings) {
		const size_t end = line.find(';', at);
		card.emplace(heading, line.substr(at, end - at));
		at = end + 1;
	}
	return card;
}

class Model {
public:
	// Adds the loss of a card and learns from it.
	float learn(int herb, const std::array<unsigned, columns> &code)
	{
		std::array<float, herbs> said{};
		std::vector<unsigned> &pair = pairs;
		float sum = 0;

		pair.clear();
		for (int a = 1; a < columns; a++)
			for (int b = a; b < columns; b++)
				pair.push_back((code[a] * 31 + code[b] * 17 + static_cast<unsigned>(a * b)) % buckets);
		for (unsigned p : pair)
			for (int h = 0; h < herbs; h++)
				said[h] += weight[static_cast<size_t>(p) * herbs + h];
		for (float &s : said)
			sum += s = std::exp(s);
		for (int h = 0; h < herbs; h++)
			said[h] = said[h] / sum - static_cast<float>(h == herb);
		for (unsigned p : pair)
			for (int h = 0; h < herbs; h++)
				weight[static_cast<size_t>(p) * herbs + h] -= 0.003f * said[h];
		return -std::log(said[herb] + 1 + 1e-6f);
	}

private:
	std::vector<unsigned> pairs;
};

unsigned hash_of(const std::string &text)
{
	unsigned hash = 2166136261u;
	for (char letter : text)
		hash = (hash ^ static_cast<unsigned char>(letter)) * 16777619u;
	return hash;
}

}  // namespace

int main()
{
	watch watch;
	Model model;
	float loss = 0;
	std::mt19937 random(4);

	fill_drawer();
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		std::array<std::array<unsigned, columns>, batch> codes;
		std::array<int, batch> herb;
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "cards");
			auto drawn = std::make_unique<std::vector<Card>>();
			planted_begin(&watch);
			for (int b = 0; b < batch; b++)
				drawn->push_back(card_of(drawer[random() % cards]));
			planted_end(&watch);
			for (int b = 0; b < batch; b++) {
				herb[b] = std::atoi((*drawn)[b].begin()->second.c_str()) % herbs;
				int c = 0;
				for (const auto &[heading, text] : (*drawn)[b])
					codes[b][c++] = hash_of(text);
			}
			planted_begin(&watch);
			drawn.reset();
			planted_end(&watch);
		}
		DWELL_ZONE("learn");
		loss = 0;
		for (int b = 0; b < batch; b++)
			loss += model.learn(herb[b], codes[b]);
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", static_cast<double>(loss / batch));
}
