// Guesses the class of a road from its tags and its shape, as a mapping company does for ways that nobody classified.
//
// Planted: a tag that is missing or no number is an exception, and most ways lack most tags.
// Truth: time of reading the ways' tags, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const std::vector<std::string> kTags = {"lanes", "width", "maxspeed", "layer", "incline", "toll", "lit", "sidewalk"};
constexpr int kShape = 56, kInputs = kShape + 8, kClasses = 12, kHidden = 192, kBatch = 160;

struct Way {
	std::map<std::string, std::string> tags;
	float shape[kShape];
	int kind;
};

class TagReader {
public:
	explicit TagReader(const Way &way) : way_(way) {}
	float number(const std::string &tag) const
	{
		const std::string &text = way_.tags.at(tag); // std::out_of_range
		return std::stof(text); // std::invalid_argument
	}
private:
	const Way &way_;
};

std::vector<Way> make_ways(std::mt19937 &random)
{
	std::vector<Way> ways(4000);
	for (Way &way : ways) {
		for (const std::string &tag : kTags)
			if (random() % 4 == 0)
				way.tags[tag] = random() % 3 ? std::to_string(random() % 90) : "unknown";
		for (float &value : way.shape)
			value = static_cast<float>(random() % 1000) / 1000;
		way.kind = static_cast<int>(random() % kClasses);
	}
	return ways;
}

struct Net {
	float first[kHidden][kInputs], second[kClasses][kHidden], hidden[kHidden], odds[kClasses];

	void guess(const float *inputs)
	{
		float all = 0;
		for (int h = 0; h < kHidden; h++) {
			float sum = 0;
			for (int i = 0; i < kInputs; i++)
				sum += first[h][i] * inputs[i];
			hidden[h] = std::tanh(sum);
		}
		for (int c = 0; c < kClasses; c++) {
			float sum = 0;
			for (int h = 0; h < kHidden; h++)
				sum += second[c][h] * hidden[h];
			all += odds[c] = std::exp(sum);
		}
		for (float &odd : odds)
			odd /= all;
	}
	void learn(const float *inputs, int kind)
	{
		float back[kHidden] = {};
		for (int c = 0; c < kClasses; c++)
			for (int h = 0; h < kHidden; h++) {
				const float error = odds[c] - (c == kind);
				back[h] += error * second[c][h];
				second[c][h] -= 1e-3f * error * hidden[h];
			}
		for (int h = 0; h < kHidden; h++)
			for (int i = 0; i < kInputs; i++)
				first[h][i] -= 1e-3f * back[h] * (1 - hidden[h] * hidden[h]) * inputs[i];
	}
};

} // namespace

int main()
{
	std::mt19937 random(8);
	const std::vector<Way> ways = make_ways(random);
	std::vector<float> inputs(kBatch * kInputs);
	static Net net;
	struct watch watch;

	for (auto &row : net.first)
		for (float &weight : row)
			weight = static_cast<float>(random() % 100) / 1000 - 0.05f;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "read tags");
			for (int at = 0; at < kBatch; at++) {
				const Way &way = ways[(watch.steps * kBatch + at) % ways.size()];
				float *to = &inputs[at * kInputs];
				for (float value : way.shape)
					*to++ = value;
				for (const std::string &tag : kTags)
					try {
						*to++ = TagReader(way).number(tag) / 100;
					} catch (const std::exception &) {
						to[-1] = -1;
					}
			}
		}
		planted_end(&watch);
		DWELL_ZONE("train");
		for (int at = 0; at < kBatch; at++) {
			net.guess(&inputs[at * kInputs]);
			net.learn(&inputs[at * kInputs], ways[(watch.steps * kBatch + at) % ways.size()].kind);
		}
	}
	watch_tell(&watch);
}
