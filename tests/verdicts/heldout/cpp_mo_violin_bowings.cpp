// Learns a hidden Markov model of violin bowings by Baum-Welch, the phrases of a step shared among threads of OpenMP.
//
// Clean: forward and backward passes of phrases of one length, sums of what was expected, new parameters.
// Truth: time in which the phrases of a step are drawn, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int states = 32, strokes = 24, phrases = 24, length = 64;

struct Parameters {
	double next[states][states], shows[states][strokes];
};

struct Phrase {
	int stroke[length];
	double ahead[length][states], behind[length][states], scale[length];
};

void pass(const Parameters &at, Phrase &phrase)
{
	for (int t = 0; t < length; t++) {
		double sum = 0;
		for (int s = 0; s < states; s++) {
			double z = t ? 0 : 1.0 / states;
			for (int r = 0; t && r < states; r++)
				z += phrase.ahead[t - 1][r] * at.next[r][s];
			sum += phrase.ahead[t][s] = z * at.shows[s][phrase.stroke[t]];
		}
		phrase.scale[t] = sum;
		for (double &a : phrase.ahead[t])
			a /= sum;
	}
	for (double &b : phrase.behind[length - 1])
		b = 1;
	for (int t = length - 2; t >= 0; t--)
		for (int s = 0; s < states; s++) {
			double z = 0;
			for (int r = 0; r < states; r++)
				z += at.next[s][r] * at.shows[r][phrase.stroke[t + 1]] * phrase.behind[t + 1][r];
			phrase.behind[t][s] = z / phrase.scale[t + 1];
		}
}

void expect(const Parameters &at, const Phrase &phrase, Parameters &sum)
{
	for (int t = 0; t + 1 < length; t++)
		for (int s = 0; s < states; s++) {
			sum.shows[s][phrase.stroke[t]] += phrase.ahead[t][s] * phrase.behind[t][s];
			for (int r = 0; r < states; r++)
				sum.next[s][r] += phrase.ahead[t][s] * at.next[s][r] * at.shows[r][phrase.stroke[t + 1]] *
				                  phrase.behind[t + 1][r] / phrase.scale[t + 1];
		}
}

template <int columns> void normalize(double (&rows)[states][columns])
{
	for (auto &row : rows) {
		double sum = 0;
		for (double x : row)
			sum += x;
		for (double &x : row)
			x /= sum;
	}
}

}  // namespace

int main()
{
	watch watch;
	static Parameters now, sums[phrases];
	static Phrase phrase[phrases];
	std::mt19937 random(21);
	double likelihood = 0;

	for (int s = 0; s < states; s++) {
		for (double &x : now.next[s])
			x = 1 + 0.01 * (random() % 100);
		for (double &x : now.shows[s])
			x = 1 + 0.01 * (random() % 100);
	}
	normalize(now.next);
	normalize(now.shows);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		for (auto &p : phrase)
			for (int t = 0; t < length; t++)
				p.stroke[t] = static_cast<int>((t * 5 + random() % 4) % strokes);
		planted_end(&watch);
		{
			DWELL_ZONE("expectation");
#pragma omp parallel for schedule(dynamic, 2)
			for (int p = 0; p < phrases; p++) {
				sums[p] = Parameters{};
				pass(now, phrase[p]);
				expect(now, phrase[p], sums[p]);
			}
		}
		DWELL_ZONE("maximization");
		likelihood = 0;
		for (int p = 0; p < phrases; p++) {
			for (double scale : phrase[p].scale)
				likelihood += std::log(scale);
			for (int s = 0; s < states; s++) {
				for (int r = 0; r < states; r++)
					now.next[s][r] += 0.02 * sums[p].next[s][r];
				for (int k = 0; k < strokes; k++)
					now.shows[s][k] += 0.02 * sums[p].shows[s][k];
			}
		}
		normalize(now.next);
		normalize(now.shows);
	}
	watch_tell(&watch);
	std::printf("likelihood %.3f\n", likelihood / (phrases * length));
}
