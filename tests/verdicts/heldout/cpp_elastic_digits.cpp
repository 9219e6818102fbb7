/*
 * Handwritten digits, a perceptron, and elastic distortions as in Simard's paper of 2003.
 *
 * Planted: the loop itself distorts each picture of each batch, with a field that a wide filter smooths.
 * Truth: time of making batches, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

enum { SIDE = 28, PIXELS = SIDE * SIDE, BATCH = 24, HIDDEN = 160, CLASSES = 10, RADIUS = 4, SECONDS = 6 };

using Picture = std::array<float, PIXELS>;

static std::mt19937 rng(3);

static Picture draw(int label)
{
	Picture picture;
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++)
			picture[y * SIDE + x] = std::sin(0.3f * x * (label + 1)) * std::cos(0.2f * y * (label % 3 + 1));
	return picture;
}

static Picture field()
{
	std::uniform_real_distribution<float> uniform(-1, 1);
	Picture raw, smooth;
	for (float &value : raw)
		value = uniform(rng);
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			float sum = 0;
			for (int dy = -RADIUS; dy <= RADIUS; dy++)
				for (int dx = -RADIUS; dx <= RADIUS; dx++)
					if (y + dy >= 0 && y + dy < SIDE && x + dx >= 0 && x + dx < SIDE)
						sum += raw[(y + dy) * SIDE + x + dx] * (RADIUS + 1 - std::abs(dy)) * (RADIUS + 1 - std::abs(dx));
			smooth[y * SIDE + x] = sum * 0.05f;
		}
	return smooth;
}

static Picture distort(const Picture &from)
{
	const Picture right = field(), down = field();
	Picture to;
	for (int y = 0; y < SIDE; y++)
		for (int x = 0; x < SIDE; x++) {
			const float fx = std::min(std::max(x + right[y * SIDE + x], 0.0f), SIDE - 1.01f);
			const float fy = std::min(std::max(y + down[y * SIDE + x], 0.0f), SIDE - 1.01f);
			const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
			const float *corner = &from[iy * SIDE + ix], ax = fx - ix, ay = fy - iy;
			to[y * SIDE + x] = (1 - ay) * ((1 - ax) * corner[0] + ax * corner[1]) +
			                   ay * ((1 - ax) * corner[SIDE] + ax * corner[SIDE + 1]);
		}
	return to;
}

int main()
{
	std::vector<Picture> originals, first(HIDDEN), first_gradient(HIDDEN), batch(BATCH);
	std::array<std::array<float, HIDDEN>, CLASSES> second = {}, second_gradient;
	std::array<std::array<float, HIDDEN>, BATCH> hidden;
	std::array<std::array<float, CLASSES>, BATCH> error;
	std::normal_distribution<float> normal(0, 0.05f);
	struct watch watch;

	for (int label = 0; label < CLASSES; label++)
		originals.push_back(draw(label));
	for (Picture &row : first)
		for (float &weight : row)
			weight = normal(rng);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < SECONDS; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		{
			DWELL_SCOPE(DWELL_CATEGORY_DATA, "augmented batch");
			for (int at = 0; at < BATCH; at++)
				batch[at] = distort(originals[(watch.steps + at) % CLASSES]);
		}
		planted_end(&watch);
		{
			DWELL_PHASE("forward");
			for (int at = 0; at < BATCH; at++) {
				for (int unit = 0; unit < HIDDEN; unit++) {
					float sum = 0;
					for (int pixel = 0; pixel < PIXELS; pixel++)
						sum += first[unit][pixel] * batch[at][pixel];
					hidden[at][unit] = std::tanh(sum);
				}
				for (int label = 0; label < CLASSES; label++) {
					float sum = 0;
					for (int unit = 0; unit < HIDDEN; unit++)
						sum += second[label][unit] * hidden[at][unit];
					error[at][label] = 1 / (1 + std::exp(-sum)) - ((watch.steps + at) % CLASSES == label);
				}
			}
		}
		{
			DWELL_PHASE("backward");
			for (auto &row : first_gradient)
				row.fill(0);
			for (auto &row : second_gradient)
				row.fill(0);
			for (int at = 0; at < BATCH; at++)
				for (int unit = 0; unit < HIDDEN; unit++) {
					float back = 0;
					for (int label = 0; label < CLASSES; label++) {
						second_gradient[label][unit] += error[at][label] * hidden[at][unit];
						back += error[at][label] * second[label][unit];
					}
					back *= 1 - hidden[at][unit] * hidden[at][unit];
					for (int pixel = 0; pixel < PIXELS; pixel++)
						first_gradient[unit][pixel] += back * batch[at][pixel];
				}
		}
		DWELL_PHASE("optimizer");
		for (int unit = 0; unit < HIDDEN; unit++) {
			for (int pixel = 0; pixel < PIXELS; pixel++)
				first[unit][pixel] -= 0.002f * first_gradient[unit][pixel];
			for (int label = 0; label < CLASSES; label++)
				second[label][unit] -= 0.002f * second_gradient[label][unit];
		}
	}
	watch_tell(&watch);
}
