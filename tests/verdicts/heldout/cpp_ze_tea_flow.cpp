// Learns the density of readings of a tea dryer: a flow of affine couplings, trained by gradients that are written out by hand.
//
// Clean: nothing is planted; couplings forward, couplings backward and the optimizer take what they need.
// Truth: time of drawing which readings are the batch, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <random>
#include <vector>

namespace {

constexpr int half = 8, units = 96, batch = 96, depth = 4, readings = 4096;
using Row = std::array<float, 2 * half>;

/* One half of a reading decides how the other half is scaled and shifted. */
struct Coupling {
	std::vector<float> first, second, first_slope, second_slope, first_speed, second_speed;
	std::vector<float> unit, said, untouched, moved;
	bool swapped;

	Coupling(bool swap, std::mt19937 &random)
		: first(half * units), second(units * 2 * half), first_slope(first.size()), second_slope(second.size()),
		  first_speed(first.size()), second_speed(second.size()), unit(batch * units), said(batch * 2 * half),
		  untouched(batch * half), moved(batch * half), swapped(swap)
	{
		std::normal_distribution<float> normal(0, 0.2f);
		for (auto &w : first)
			w = normal(random);
		for (auto &w : second)
			w = 0.2f * normal(random);
	}

	float forward(std::vector<Row> &rows)
	{
		float volume = 0;
		for (int b = 0; b < batch; b++) {
			float *u = &unit[b * units], *s = &said[b * 2 * half];
			std::fill(u, u + units, 0.f);
			std::fill(s, s + 2 * half, 0.f);
			for (int i = 0; i < half; i++) {
				untouched[b * half + i] = rows[b][swapped ? half + i : i];
				for (int k = 0; k < units; k++)
					u[k] += untouched[b * half + i] * first[i * units + k];
			}
			for (int k = 0; k < units; k++) {
				u[k] = u[k] > 0 ? u[k] : 0.1f * u[k];
				for (int o = 0; o < 2 * half; o++)
					s[o] += u[k] * second[k * 2 * half + o];
			}
			for (int i = 0; i < half; i++) {
				float &value = rows[b][swapped ? i : half + i];
				s[i] = std::tanh(s[i]);
				moved[b * half + i] = value;
				value = value * std::exp(s[i]) + s[half + i];
				volume += s[i];
			}
		}
		return volume;
	}

	/* `slopes`: of the loss by the rows, in and out. */
	void backward(std::vector<Row> &slopes)
	{
		for (int b = 0; b < batch; b++) {
			const float *u = &unit[b * units], *s = &said[b * 2 * half];
			float by_said[2 * half], by_unit[units];
			for (int i = 0; i < half; i++) {
				float &slope = slopes[b][swapped ? i : half + i];
				by_said[i] = (slope * moved[b * half + i] * std::exp(s[i]) - 1.f / batch) * (1 - s[i] * s[i]);
				by_said[half + i] = slope;
				slope *= std::exp(s[i]);
			}
			for (int k = 0; k < units; k++) {
				by_unit[k] = 0;
				for (int o = 0; o < 2 * half; o++) {
					by_unit[k] += by_said[o] * second[k * 2 * half + o];
					second_slope[k * 2 * half + o] += u[k] * by_said[o];
				}
				by_unit[k] *= u[k] > 0 ? 1 : 0.1f;
			}
			for (int i = 0; i < half; i++)
				for (int k = 0; k < units; k++) {
					slopes[b][swapped ? half + i : i] += by_unit[k] * first[i * units + k];
					first_slope[i * units + k] += by_unit[k] * untouched[b * half + i];
				}
		}
	}

	static void move(std::vector<float> &weights, std::vector<float> &slope, std::vector<float> &speed)
	{
		for (size_t i = 0; i < weights.size(); i++) {
			speed[i] = 0.9f * speed[i] + slope[i];
			weights[i] -= 0.002f * speed[i];
			slope[i] = 0;
		}
	}

	void update()
	{
		move(first, first_slope, first_speed);
		move(second, second_slope, second_speed);
	}
};

}  // namespace

int main()
{
	std::mt19937 random(8);
	std::normal_distribution<float> normal(0, 1);
	std::vector<Row> all(readings), rows(batch), slopes(batch);
	for (auto &row : all) {
		const float heat = normal(random);
		for (int i = 0; i < 2 * half; i++)
			row[i] = std::sin(heat + 0.4f * i) + 0.2f * normal(random);
	}
	std::vector<Coupling> flow;
	for (int d = 0; d < depth; d++)
		flow.emplace_back(d % 2 == 1, random);
	watch watch;
	double loss = 0;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		for (auto &row : rows)
			row = all[random() % readings];
		planted_end(&watch);
		loss = 0;
		for (int d = 0; d < depth; d++) {
			DWELL_PHASE("forward");
			loss -= flow[d].forward(rows) / batch;
		}
		for (int b = 0; b < batch; b++)
			for (int i = 0; i < 2 * half; i++) {
				loss += 0.5 * rows[b][i] * rows[b][i] / batch;
				slopes[b][i] = rows[b][i] / batch;
			}
		for (int d = depth - 1; d >= 0; d--) {
			DWELL_PHASE("backward");
			flow[d].backward(slopes);
		}
		for (auto &coupling : flow) {
			DWELL_PHASE("optimizer");
			coupling.update();
		}
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", loss);
}
