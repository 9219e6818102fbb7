/*
 * A random forest that recognises crops on satellite images by their pixels' spectra. A step grows one tree.
 *
 * Planted: for each feature of each node the samples are sorted anew, though the order of the parent is known.
 * Truth: time of sorting, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

namespace crops {

const int Pixels = 2400, Bands = 30, Tried = 6, Crops = 32, Smallest = 12;
typedef std::vector<int> Rows;

struct Node {
	int band = -1, crop = 0;
	float threshold = 0;
	std::unique_ptr<Node> low, high;
};

struct Image {
	float spectra[Bands][Pixels];
	int crop[Pixels];
	int votes[Pixels][Crops];
};

class Grower {
public:
	Grower(Image &image, watch &clock, unsigned seed) : image(image), clock(clock), random(seed) {}

	std::unique_ptr<Node> grow(Rows &rows, int depth)
	{
		std::unique_ptr<Node> node(new Node);
		int count[Crops] = {};
		for (int row : rows)
			count[image.crop[row]]++;
		node->crop = static_cast<int>(std::max_element(count, count + Crops) - count);
		if (depth == 9 || static_cast<int>(rows.size()) < Smallest)
			return node;
		double best = 0;
		for (int n = 0; n < Tried; n++) {
			const int band = static_cast<int>(random() % Bands);
			sort(rows, band);
			split(rows, band, count, best, *node);
		}
		if (node->band < 0)
			return node;
		Rows low, high;
		for (int row : rows)
			(image.spectra[node->band][row] < node->threshold ? low : high).push_back(row);
		node->low = grow(low, depth + 1);
		node->high = grow(high, depth + 1);
		return node;
	}

private:
	void sort(Rows &rows, int band)
	{
		const float *values = image.spectra[band];
		planted_begin(&clock);
		{
			DWELL_ZONE("order");
			std::sort(rows.begin(), rows.end(), [values](int one, int other) { return values[one] < values[other]; });
		}
		planted_end(&clock);
	}

	void split(const Rows &rows, int band, const int *count, double &best, Node &node)
	{
		DWELL_ZONE("gini");
		const float *values = image.spectra[band];
		int left[Crops] = {};
		for (size_t i = 1; i < rows.size(); i++) {
			left[image.crop[rows[i - 1]]]++;
			if (values[rows[i]] == values[rows[i - 1]])
				continue;
			double l = 0, r = 0;
			for (int c = 0; c < Crops; c++) {
				l += static_cast<double>(left[c]) * left[c];
				r += static_cast<double>(count[c] - left[c]) * (count[c] - left[c]);
			}
			const double gain = l / static_cast<double>(i) + r / static_cast<double>(rows.size() - i);
			if (gain > best) {
				best = gain;
				node.band = band;
				node.threshold = values[rows[i]];
			}
		}
	}

	Image &image;
	watch &clock;
	std::mt19937 random;
};

void vote(Image &image, const Node &tree)
{
	DWELL_ZONE("vote");
	for (int pixel = 0; pixel < Pixels; pixel++) {
		const Node *node = &tree;
		while (node->band >= 0)
			node = image.spectra[node->band][pixel] < node->threshold ? node->low.get() : node->high.get();
		image.votes[pixel][node->crop]++;
	}
}

} // namespace crops

int main()
{
	using namespace crops;
	std::mt19937 random(11);
	std::normal_distribution<float> noise(0, 1.5f);
	static Image image;
	struct watch watch;
	for (int pixel = 0; pixel < Pixels; pixel++) {
		image.crop[pixel] = static_cast<int>(random() % Crops);
		for (int band = 0; band < Bands; band++)
			image.spectra[band][pixel] = static_cast<float>(image.crop[pixel] * (band + 3) % 11) + noise(random);
	}
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		Rows rows(Pixels);
		for (int &row : rows)
			row = static_cast<int>(random() % Pixels);
		vote(image, *Grower(image, watch, static_cast<unsigned>(watch.steps)).grow(rows, 0));
	}
	watch_tell(&watch);
}
