/*
 * Finds the phrases of sentences: each span of words is described by hashed features of its words and neighbours, and a network
 * says whether the span is a phrase. A second thread makes the features of a batch.
 *
 * Planted: the describing thread begins only when it is asked, and the learner spins on an atomic meanwhile: the two take turns.
 * Truth: time that the learner spins, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kBuckets = 4096, kHidden = 128, kWords = 22, kLongest = 8, kSentences = 24;

struct Span {
	std::vector<int> features;
	float phrase;
};

using Sentence = std::vector<std::string>;

int bucket(const std::string &a, const std::string &b, int kind)
{
	uint32_t hash = 2166136261u + static_cast<uint32_t>(kind);
	for (const std::string *part : {&a, &b})
		for (const char c : *part)
			hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
	return static_cast<int>(hash % kBuckets);
}

class Describer {
public:
	explicit Describer(const std::vector<Sentence> &text) : text_(text), thread_([this] { work(); }) {}

	~Describer()
	{
		asked_.store(-1, std::memory_order_release);
		thread_.join();
	}

	const std::vector<Span> &batch(int number, watch &clock)
	{
		DWELL_ZONE("await features");
		asked_.store(number + 1, std::memory_order_release);
		planted_begin(&clock);
		while (done_.load(std::memory_order_acquire) != number + 1) {
		}
		planted_end(&clock);
		return spans_;
	}

private:
	void work()
	{
		for (int last = 0;;) {
			const int asked = asked_.load(std::memory_order_acquire);
			if (asked < 0)
				return;
			if (asked == last)
				continue;
			describe(asked - 1);
			last = asked;
			done_.store(last, std::memory_order_release);
		}
	}

	void describe(int number)
	{
		size_t at = 0;
		spans_.resize(kSentences * kWords * kLongest);
		for (int s = 0; s < kSentences; s++) {
			const Sentence &words = text_[static_cast<size_t>(number * kSentences + s) % text_.size()];
			for (int from = 0; from < kWords; from++)
				for (int length = 1; length <= kLongest && from + length <= kWords; length++) {
					Span &span = spans_[at++];
					span.features.clear();
					for (int w = from; w < from + length; w++)
						for (int v = w; v < from + length; v++)
							span.features.push_back(bucket(words[w], words[v], v - w));
					span.phrase = words[from][0] < words[from + length - 1][0] ? 1.f : 0.f;
				}
		}
		spans_.resize(at);
	}

	const std::vector<Sentence> &text_;
	std::vector<Span> spans_;
	std::atomic<int> asked_{0}, done_{0};
	std::thread thread_;
};

class Scorer {
public:
	Scorer() : table_(kBuckets * kHidden), out_(kHidden)
	{
		for (size_t i = 0; i < table_.size(); i++)
			table_[i] = 0.1f * std::sin(static_cast<float>(i) * 0.7f);
		for (int h = 0; h < kHidden; h++)
			out_[h] = 0.3f * std::cos(static_cast<float>(h));
	}

	float learn(const std::vector<Span> &spans)
	{
		DWELL_ZONE("learn");
		float loss = 0;
		for (const Span &span : spans) {
			float hidden[kHidden] = {}, said = 0;
			for (const int f : span.features)
				for (int h = 0; h < kHidden; h++)
					hidden[h] += table_[f * kHidden + h];
			const float scale = 1.f / static_cast<float>(span.features.size());
			for (int h = 0; h < kHidden; h++) {
				hidden[h] = std::tanh(hidden[h] * scale);
				said += hidden[h] * out_[h];
			}
			const float chance = 1 / (1 + std::exp(-said)), wrong = chance - span.phrase;
			float blame[kHidden];
			for (int h = 0; h < kHidden; h++) {
				blame[h] = 0.01f * wrong * out_[h] * (1 - hidden[h] * hidden[h]) * scale;
				out_[h] -= 0.001f * wrong * hidden[h];
			}
			for (const int f : span.features)
				for (int h = 0; h < kHidden; h++)
					table_[f * kHidden + h] -= blame[h];
			loss += wrong * wrong;
		}
		return loss / static_cast<float>(spans.size());
	}

private:
	std::vector<float> table_, out_;
};

std::vector<Sentence> corpus()
{
	static const char *const sounds[] = {"ka", "no", "shi", "ta", "mu", "re", "li", "so", "qua", "den"};
	std::vector<Sentence> text(400);
	uint32_t dice = 9;
	for (Sentence &sentence : text)
		for (int w = 0; w < kWords; w++) {
			std::string word;
			for (int s = 0; s < 2; s++) {
				dice = dice * 1664525u + 1013904223u;
				word += sounds[(dice >> 16) % 10];
			}
			sentence.push_back(word);
		}
	return text;
}

}

int main()
{
	const std::vector<Sentence> text = corpus();
	Describer describer(text);
	Scorer scorer;
	watch clock;
	float loss = 0;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6; clock.steps++) {
		DWELL_STEP();
		loss = scorer.learn(describer.batch(clock.steps, clock));
	}
	watch_tell(&clock);
	std::printf("loss %.4f\n", static_cast<double>(loss));
}
