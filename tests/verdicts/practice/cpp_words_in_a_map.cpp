/*
 * Word vectors in C++ that are found by their word.
 *
 * Planted: an ordered map of strings is searched for each word of each sentence, in each step.
 * Truth: time of the look-ups, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <map>
#include <string>
#include <vector>

namespace {

const int kSeconds = 6, kWords = 30000, kWidth = 256, kBatch = 9000;

} // namespace

int main()
{
	std::map<std::string, int> numbers;
	std::vector<std::string> words, sentence(kBatch);
	std::vector<float> vectors(static_cast<size_t>(kWords) * kWidth, 0.1f), mean(kWidth);
	std::vector<int> ids(kBatch);
	struct watch watch;

	for (int word = 0; word < kWords; word++) {
		words.push_back("the-common-prefix-of-" + std::to_string(word * 2654435761u));
		numbers[words.back()] = word;
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		for (int at = 0; at < kBatch; at++)
			sentence[at] = words[static_cast<size_t>(at * 7919 + watch.steps) % kWords];
		planted_begin(&watch);
		{
			DWELL_ZONE("look up words");
			for (int at = 0; at < kBatch; at++)
				ids[at] = numbers.find(sentence[at])->second;
		}
		planted_end(&watch);
		{
			DWELL_ZONE("forward");
			for (int id : ids)
				for (int k = 0; k < kWidth; k++)
					mean[k] = 0.99f * mean[k] + 0.01f *
					          vectors[static_cast<size_t>(id) * kWidth + k];
		}
		DWELL_ZONE("backward");
		for (int pass = 0; pass < 2; pass++)
			for (int id : ids)
				for (int k = 0; k < kWidth; k++)
					vectors[static_cast<size_t>(id) * kWidth + k] -= 1e-6f * mean[k];
	}
	watch_tell(&watch);
	return 0;
}
