/*
 * Embeds the questions of users, with what they asked before, and remembers their sessions.
 *
 * Planted: when there are too many sessions, all of them are copied, sorted by age and put into a new map.
 * Truth: time of these requests' trimming, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kSeconds = 6, kBatch = 192, kWidth = 96, kBuckets = 2048;
constexpr size_t kMostSessions = 16000;

struct Session {
	uint64_t used = 0;
	std::vector<std::string> questions;
};

class Sessions {
public:
	void remember(uint64_t user, uint64_t time, const std::string &question, struct watch *watch)
	{
		Session &session = all_[user];
		session.used = time;
		for (int part = 0; part < 4; part++)
			session.questions.push_back(question + " (" + std::to_string(time + part) + ")");
		if (all_.size() > kMostSessions) {
			planted_begin(watch);
			trim();
			planted_end(watch);
		}
	}

private:
	void trim()
	{
		std::vector<std::pair<uint64_t, Session>> by_age(all_.begin(), all_.end());
		std::sort(by_age.begin(), by_age.end(),
		          [](const auto &a, const auto &b) { return a.second.used > b.second.used; });
		std::unordered_map<uint64_t, Session> kept;
		for (size_t at = 0; at < by_age.size() / 2; at++)
			kept[by_age[at].first] = by_age[at].second;
		all_ = kept;
	}

	std::unordered_map<uint64_t, Session> all_;
};

struct Encoder {
	std::vector<float> buckets = std::vector<float>(kBuckets * kWidth), mix = std::vector<float>(kWidth * kWidth);

	Encoder()
	{
		for (size_t at = 0; at < buckets.size(); at++)
			buckets[at] = std::sin(static_cast<float>(at));
		for (size_t at = 0; at < mix.size(); at++)
			mix[at] = std::cos(static_cast<float>(at)) / kWidth;
	}

	void encode(const std::string &text, float *out) const
	{
		std::vector<float> pooled(kWidth), next(kWidth);
		for (size_t at = 0; at + 3 <= text.size(); at++) {
			const unsigned hash = (text[at] * 131u + text[at + 1]) * 131u + text[at + 2];
			for (int unit = 0; unit < kWidth; unit++)
				pooled[unit] += buckets[hash % kBuckets * kWidth + unit];
		}
		for (int layer = 0; layer < 2; layer++) {
			for (int unit = 0; unit < kWidth; unit++) {
				float sum = 0;
				for (int at = 0; at < kWidth; at++)
					sum += mix[unit * kWidth + at] * pooled[at];
				next[unit] = std::max(sum, 0.01f * sum);
			}
			pooled.swap(next);
		}
		std::copy(pooled.begin(), pooled.end(), out);
	}
};

} // namespace

int main()
{
	const Encoder encoder;
	Sessions sessions;
	std::vector<std::string> questions(kBatch);
	std::vector<uint64_t> users(kBatch);
	std::vector<float> vectors(kBatch * kWidth);
	uint64_t number = 0;
	struct watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("receive");
			for (int at = 0; at < kBatch; at++) {
				number++;
				users[at] = number * 0x9e3779b97f4a7c15u >> 20;
				questions[at] = "how do I " + std::string(number % 3 ? "repair" : "tune") + " a clavichord of the year " +
				                std::to_string(1600 + number % 200);
			}
		}
		{
			DWELL_ZONE("embed");
			for (int at = 0; at < kBatch; at++)
				encoder.encode(questions[at], &vectors[at * kWidth]);
		}
		DWELL_ZONE("remember");
		for (int at = 0; at < kBatch; at++)
			sessions.remember(users[at], number + at, questions[at], &watch);
	}
	watch_tell(&watch);
}
