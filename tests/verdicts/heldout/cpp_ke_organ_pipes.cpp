// Reads old organ tablature: for each column of a page a network scores the signs, and a beam keeps the likeliest transcriptions.
//
// Planted: a transcription is a list of strings, and each candidate of the beam is a copy of the whole list, most of which are thrown away.
// Truth: time of making the copies and of throwing them away, of the loop; choosing first and sharing beginnings would need almost none of it.
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <list>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int columns = 24, pixels = 120, hidden = 200, signs = 48, width = 30, tries = 5;

struct Transcription {
	std::list<std::string> signs;
	int last = 0;
	float score = 0;
};

class Network {
public:
	Network() : first(hidden * pixels), second(signs * hidden), pairs(signs * signs)
	{
		for (size_t i = 0; i < first.size(); i++)
			first[i] = 0.2f * std::sin(static_cast<float>(i) * 0.37f);
		for (size_t i = 0; i < second.size(); i++)
			second[i] = 0.3f * std::cos(static_cast<float>(i) * 0.71f);
		for (size_t i = 0; i < pairs.size(); i++)
			pairs[i] = 0.2f * std::sin(static_cast<float>(i * 7));
	}

	// Two crops of the column, each moved by a pixel, are averaged.
	std::vector<float> score(const float *column) const
	{
		std::vector<float> sum(signs);
		float h[hidden];
		for (int crop = 0; crop < 2; crop++) {
			for (int k = 0; k < hidden; k++) {
				float a = 0;
				for (int i = 0; i < pixels; i++)
					a += first[static_cast<size_t>(k * pixels + i)] * column[i + crop];
				h[k] = std::tanh(a);
			}
			for (int s = 0; s < signs; s++)
				for (int k = 0; k < hidden; k++)
					sum[static_cast<size_t>(s)] += second[static_cast<size_t>(s * hidden + k)] * h[k] / 2;
		}
		return sum;
	}

	float pair(int a, int b) const { return pairs[static_cast<size_t>(a * signs + b)]; }

private:
	std::vector<float> first, second, pairs;
};

std::string spell(int sign)
{
	return "sign of the tablature, no. " + std::to_string(sign) + (sign % 3 ? " (manual)" : " (pedal)");
}

void extend(std::vector<Transcription> &beam, const std::vector<float> &scores, const Network &network, watch &watch)
{
	std::vector<int> order(signs);
	for (int s = 0; s < signs; s++)
		order[static_cast<size_t>(s)] = s;
	std::partial_sort(order.begin(), order.begin() + tries, order.end(),
	                  [&](int a, int b) { return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)]; });
	std::vector<Transcription> candidates;
	candidates.reserve(width * tries);
	planted_begin(&watch);
	for (const Transcription &old : beam)
		for (int t = 0; t < tries; t++) {
			Transcription longer = old;
			const int sign = order[static_cast<size_t>(t)];
			longer.signs.push_back(spell(sign));
			longer.score += scores[static_cast<size_t>(sign)] + network.pair(old.last, sign);
			longer.last = sign;
			candidates.push_back(std::move(longer));
		}
	planted_end(&watch);
	std::sort(candidates.begin(), candidates.end(), [](const Transcription &a, const Transcription &b) { return a.score > b.score; });
	planted_begin(&watch);
	if (candidates.size() > width)
		candidates.resize(width);
	beam = std::move(candidates);
	planted_end(&watch);
}

}  // namespace

int main()
{
	watch watch;
	const Network network;
	std::vector<float> page(columns * (pixels + 8));
	size_t letters = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (size_t i = 0; i < page.size(); i++)
			page[i] = static_cast<float>((i * 2654435761u + static_cast<size_t>(watch.steps) * 40503u) >> 7 & 255) / 255.0f - 0.5f;
		std::vector<Transcription> beam(1);
		for (int c = 0; c < columns; c++) {
			std::vector<float> scores;
			{
				DWELL_ZONE("score");
				scores = network.score(page.data() + c * (pixels + 8));
			}
			DWELL_ZONE("beam");
			extend(beam, scores, network, watch);
		}
		for (const std::string &sign : beam.front().signs)
			letters += sign.size();
	}
	watch_tell(&watch);
	std::printf("letters a page %.1f\n", static_cast<double>(letters) / static_cast<double>(watch.steps));
}
