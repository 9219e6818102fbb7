/*
 * Sorts letters to the editor by topic, with counts of words.
 *
 * Planted: each step splits its letters into strings and counts them in a map, before it learns
 * from them.
 * Truth: time of splitting and counting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

static const int kSeconds = 5, kLetters = 24, kWords = 260, kSlots = 2048, kTopics = 40;

static std::string letter(int number)
{
	static const char *const parts[] = {"ar", "bor", "cel", "dun", "er", "fi",
	                                    "gro", "hal", "in", "ket", "lo"};
	std::string text;

	for (int word = 0; word < kWords; word++) {
		const int root = number * 31 + word * 7;
		text += std::string(parts[root % 11]) + parts[root / 11 % 11] + parts[root / 5 % 11] + ' ';
	}
	return text;
}

static void count(const std::string &text, std::vector<float> &slots)
{
	std::map<std::string, int> words;
	std::istringstream stream(text);
	std::string word;

	while (stream >> word)
		words[word]++;
	for (const auto &each : words)
		slots[std::hash<std::string>()(each.first) % kSlots] += static_cast<float>(each.second);
}

int main()
{
	std::vector<std::string> letters;
	std::vector<std::vector<float>> batch(kLetters, std::vector<float>(kSlots));
	std::vector<std::vector<float>> weights(kTopics, std::vector<float>(kSlots, 0.01f));
	struct watch watch;

	for (int at = 0; at < 400; at++)
		letters.push_back(letter(at));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "count words");
			planted_begin(&watch);
			for (int at = 0; at < kLetters; at++) {
				std::fill(batch[at].begin(), batch[at].end(), 0.0f);
				count(letters[(watch.steps * kLetters + at) % letters.size()], batch[at]);
			}
			planted_end(&watch);
		}
		DWELL_OP("learn");
		for (int at = 0; at < kLetters; at++)
			for (int topic = 0; topic < kTopics; topic++) {
				float score = 0;
				for (int slot = 0; slot < kSlots; slot++)
					score += weights[topic][slot] * batch[at][slot];
				score -= static_cast<float>(topic % 2);
				for (int slot = 0; slot < kSlots; slot++)
					weights[topic][slot] -= 1e-5f * score * batch[at][slot];
			}
	}
	watch_tell(&watch);
	return 0;
}
