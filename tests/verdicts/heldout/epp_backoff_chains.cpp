/*
 * Mixes counts of word triples with a log-bilinear model while it reads a stream of news.
 *
 * Planted: the table of triples chains them in 2048 buckets, as many as fitted the first tests, and never gets more: the
 * chains grow with each new triple.
 * Truth: time of looking up and counting triples, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

class TripleCounts {
public:
	unsigned &count(uint32_t one, uint32_t two, uint32_t three)
	{
		const uint64_t key = (static_cast<uint64_t>(one) << 40) ^ (static_cast<uint64_t>(two) << 20) ^ three;
		std::unique_ptr<Entry> &head = buckets_[(key * 0x9e3779b97f4a7c15u) >> 53];
		for (Entry *entry = head.get(); entry; entry = entry->next.get())
			if (entry->key == key)
				return entry->count;
		head.reset(new Entry{key, 0, std::move(head)});
		kept_++;
		return head->count;
	}
	size_t kept() const { return kept_; }
	~TripleCounts()
	{
		for (auto &head : buckets_)
			while (head)
				head = std::move(head->next);
	}

private:
	struct Entry {
		uint64_t key;
		unsigned count;
		std::unique_ptr<Entry> next;
	};
	std::array<std::unique_ptr<Entry>, 2048> buckets_;
	size_t kept_ = 0;
};

namespace {

const int kWords = 6000, kDim = 64, kNegatives = 10;

class Stream {
public:
	uint32_t next()
	{
		// words of any rank, but a third of the pairs follow a habit
		double u = std::uniform_real_distribution<double>(0, 1)(random_);
		last_ = random_() % 3 == 0 ? (last_ * 31 + 7) % kWords : static_cast<uint32_t>(std::pow(static_cast<double>(kWords), u)) % kWords;
		return last_;
	}

private:
	std::mt19937 random_{9};
	uint32_t last_ = 1;
};

struct Model {
	std::vector<float> in = std::vector<float>(kWords * kDim, 0.05f), out = std::vector<float>(kWords * kDim, 0.02f);

	float learn(uint32_t one, uint32_t two, uint32_t target, bool right)
	{
		float *a = &in[one * kDim], *b = &in[two * kDim], *c = &out[target * kDim], four[4] = {};
		for (int d = 0; d < kDim; d += 4)
			for (int k = 0; k < 4; k++)
				four[k] += (a[d + k] + 0.5f * b[d + k]) * c[d + k];
		float guess = 1 / (1 + std::exp(-(four[0] + four[1] + four[2] + four[3]))), rate = 0.03f * (static_cast<float>(right) - guess);
		for (int d = 0; d < kDim; d++) {
			float before = a[d];
			a[d] += rate * c[d], b[d] += 0.5f * rate * c[d], c[d] += rate * before;
		}
		return guess;
	}
};

} // namespace

int main()
{
	TripleCounts counts;
	Stream stream;
	Model model;
	std::vector<uint32_t> words;
	std::vector<float> priors;
	double surprise = 0;
	struct watch watch;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		words.clear(), priors.clear();
		for (int at = 0; at < 360; at++)
			words.push_back(stream.next());
		{
			DWELL_PHASE("counts");
			planted_begin(&watch);
			for (size_t at = 2; at < words.size(); at++)
				priors.push_back(std::log1p(static_cast<float>(counts.count(words[at - 2], words[at - 1], words[at])++)));
			planted_end(&watch);
		}
		DWELL_PHASE("model");
		for (int pass = 0; pass < 12; pass++)
			for (size_t at = 2; at < words.size(); at++) {
				float guess = model.learn(words[at - 2], words[at - 1], words[at], true);
				for (int k = 0; k < kNegatives; k++)
					model.learn(words[at - 2], words[at - 1], (words[at] * 13 + 101 * k + pass) % kWords, false);
				surprise -= std::log(1e-6f + 0.8f * guess + 0.02f * priors[at - 2]);
			}
	}
	watch_tell(&watch);
	fprintf(stderr, "%zu triples, %.3f\n", counts.kept(), surprise / watch.steps);
}
