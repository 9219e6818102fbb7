/*
 * A count model of system logs in C++; the lines of a batch go through a shell command first.
 *
 * Planted: each step starts a shell and waits for the filter's output.
 * Truth: time from popen() to pclose(), as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

const int kSeconds = 6, kBuckets = 2048, kLines = 400, kClasses = 48;

std::vector<std::string> filter(int step)
{
	DWELL_ZONE("filter lines");
	const std::string command = "seq " + std::to_string(step) + " " +
	                            std::to_string(step + 4 * kLines) +
	                                " | sed -e 's/^/line /' | grep -v 7";
	std::vector<std::string> lines;
	char text[128];

	FILE *output = popen(command.c_str(), "r");
	if (!output)
		std::exit(1);
	while (std::fgets(text, sizeof(text), output))
		lines.emplace_back(text);
	pclose(output);
	return lines;
}

struct model {
	std::vector<float> weights = std::vector<float>(kBuckets * kClasses, 0.01f);

	void train(const std::vector<std::string> &lines)
	{
		DWELL_ZONE("train");
		std::vector<float> counts(kBuckets);

		for (int line = 0; line < kLines; line++) {
			for (char letter : lines[line % lines.size()])
				counts[static_cast<size_t>(letter * 131 + line) % kBuckets] += 1;
			if (line % 2)
				continue;
			for (int which = 0; which < kClasses; which++) {
				float score = -1;
				float *row = &weights[which * kBuckets];
				for (int bucket = 0; bucket < kBuckets; bucket++)
					score += row[bucket] * counts[bucket];
				row[line % kBuckets] -= 1e-6f * score;
			}
		}
	}
};

} // namespace

int main()
{
	struct watch watch;
	model counts;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		const std::vector<std::string> lines = filter(watch.steps);
		planted_end(&watch);
		counts.train(lines);
	}
	watch_tell(&watch);
	return 0;
}
