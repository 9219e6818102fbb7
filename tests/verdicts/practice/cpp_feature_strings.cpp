/*
 * Boosted regression in C++ whose features pass between its parts as text.
 *
 * Planted: the features of each step are printed into a string and parsed again.
 * Truth: time of printing and parsing, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <sstream>
#include <string>
#include <vector>

namespace {

const int kSeconds = 6, kRows = 120, kColumns = 40, kCuts = 64;

std::string print(const std::vector<float> &features)
{
	std::ostringstream text;
	for (float feature : features)
		text << feature << ' ';
	return text.str();
}

std::vector<float> parse(const std::string &words)
{
	std::istringstream text(words);
	std::vector<float> features;
	for (float feature; text >> feature;)
		features.push_back(feature);
	return features;
}

double best_cut(const std::vector<float> &features, const std::vector<float> &residuals)
{
	double best = -1;
	for (int column = 0; column < kColumns; column++)
		for (int cut = 0; cut < kCuts; cut++) {
			double left = 0, right = 0;
			int count = 0;
			for (int row = 0; row < kRows; row++)
				if (features[row * kColumns + column] * kCuts < static_cast<float>(cut)) {
					left += residuals[row];
					count++;
				} else {
					right += residuals[row];
				}
			const double gain = left * left / (count + 1) + right * right / (kRows - count + 1);
			best = gain > best ? gain : best;
		}
	return best;
}

} // namespace

int main()
{
	std::vector<float> rows(kRows * kColumns), residuals(kRows);
	struct watch watch;

	for (size_t at = 0; at < rows.size(); at++)
		rows[at] = static_cast<float>(at * 2654435761u % 1009) / 1009;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		std::vector<float> features;
		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_ZONE("exchange features");
			features = parse(print(rows));
		}
		planted_end(&watch);
		DWELL_ZONE("find cut");
		for (int tree = 0; tree < 8; tree++) {
			const double gain = best_cut(features, residuals);
			for (int row = 0; row < kRows; row++)
				residuals[row] = 0.9f * residuals[row] + static_cast<float>(gain) * 1e-6f +
				                 features[row] * 0.1f;
		}
	}
	watch_tell(&watch);
	return 0;
}
