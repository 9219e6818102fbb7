/*
 * Learns which words of a recipe stand next to each other.
 *
 * Planted: each step cuts its text into words with std::regex.
 * Truth: time of cutting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

const int kSeconds = 5, kWords = 512, kWidth = 48;

std::string recipe(int number)
{
	static const char *const parts[] = { "flour", "2 eggs", "butter,", "stir", "oven", "180", "salt;", "milk", "30 minutes" };
	std::string text;
	for (int at = 0; at < 420; at++) {
		text += parts[(number * 7 + at * at) % 9];
		text += at % 11 ? " " : ". ";
	}
	return text;
}

} // namespace

int main()
{
	std::vector<float> left(kWords * kWidth, 0.1f), right(kWords * kWidth, 0.2f);
	std::unordered_map<std::string, int> numbers;
	const std::regex word("([a-z]+|[0-9]+|[.,;])");
	struct watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		std::vector<int> tokens;
		planted_begin(&watch);
		{
			DWELL_ZONE("tokenize");
			const std::string text = recipe(watch.steps);
			for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
				auto entry = numbers.emplace(at->str(), static_cast<int>(numbers.size()) % kWords);
				tokens.push_back(entry.first->second);
			}
		}
		planted_end(&watch);
		DWELL_ZONE("learn");
		for (size_t at = 4; at + 4 < tokens.size(); at++)
			for (size_t near = at - 4; near <= at + 4; near++) {
				float *a = &left[tokens[at] * kWidth], *b = &right[tokens[near] * kWidth], sum = 0;
				for (int k = 0; k < kWidth; k++)
					sum += a[k] * b[k];
				const float slope = 1 / (1 + std::exp(-sum)) - 1;
				for (int k = 0; k < kWidth; k++) {
					const float old = a[k];
					a[k] -= 1e-3f * slope * b[k];
					b[k] -= 1e-3f * slope * old;
				}
			}
	}
	watch_tell(&watch);
	return 0;
}
