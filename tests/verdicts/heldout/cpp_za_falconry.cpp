// Follows falcons by their tags and tells what a bird is about to do (soar, stoop, return, perch): fixes are whitened and a
// network of one hidden layer learns from them as they come. Thirty-two fixes of each of four birds are a step.
//
// Planted: after each twelfth step the whitening is computed anew from all fixes of the last hours, while the birds wait.
// Truth: time of computing the whitening, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <deque>
#include <random>
#include <vector>

namespace {

constexpr size_t kSenses = 36, kHidden = 96, kIntents = 4, kBatch = 128, kKept = 9000, kEvery = 12;

using Fix = std::array<float, kSenses>;
using Square = std::array<std::array<double, kSenses>, kSenses>;

class Whitening {
public:
	Whitening()
	{
		for (size_t i = 0; i < kSenses; i++)
			turn_[i][i] = 1;
	}

	Fix operator()(const Fix &fix) const
	{
		Fix white{};
		for (size_t i = 0; i < kSenses; i++)
			for (size_t j = 0; j < kSenses; j++)
				white[j] += static_cast<float>(turn_[i][j]) * fix[i];
		return white;
	}

	void refit(const std::deque<Fix> &kept)
	{
		Square spread{};
		for (const Fix &fix : kept)
			for (size_t i = 0; i < kSenses; i++)
				for (size_t j = 0; j < kSenses; j++)
					spread[i][j] += static_cast<double>(fix[i]) * static_cast<double>(fix[j]);
		for (auto &row : spread)
			for (double &value : row)
				value /= static_cast<double>(kept.size());
		Square axes{};
		for (size_t i = 0; i < kSenses; i++)
			axes[i][i] = 1;
		for (int sweep = 0; sweep < 8; sweep++)
			rotate(spread, axes);
		for (size_t i = 0; i < kSenses; i++)
			for (size_t j = 0; j < kSenses; j++)
				turn_[i][j] = axes[i][j] / std::sqrt(std::fabs(spread[j][j]) + 1e-3);
	}

private:
	static void rotate(Square &a, Square &axes)
	{
		for (size_t p = 0; p < kSenses; p++)
			for (size_t q = p + 1; q < kSenses; q++) {
				const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
				const double c = std::cos(angle), s = std::sin(angle);
				for (size_t k = 0; k < kSenses; k++) {
					const double x = a[k][p], y = a[k][q];
					a[k][p] = c * x - s * y;
					a[k][q] = s * x + c * y;
				}
				for (size_t k = 0; k < kSenses; k++) {
					const double x = a[p][k], y = a[q][k];
					a[p][k] = c * x - s * y;
					a[q][k] = s * x + c * y;
				}
				for (auto &row : axes) {
					const double x = row[p], y = row[q];
					row[p] = c * x - s * y;
					row[q] = s * x + c * y;
				}
			}
	}

	Square turn_{};
};

class Network {
public:
	Network()
	{
		std::mt19937 random(12);
		std::normal_distribution<float> normal(0, 0.15f);
		for (auto &row : in_)
			for (float &value : row)
				value = normal(random);
		for (auto &row : out_)
			for (float &value : row)
				value = normal(random);
	}

	float learn(const Fix &fix, size_t intent)
	{
		std::array<float, kHidden> hidden{}, back{};
		std::array<float, kIntents> chance{};
		float sum = 0;
		for (size_t i = 0; i < kSenses; i++)
			for (size_t h = 0; h < kHidden; h++)
				hidden[h] += fix[i] * in_[i][h];
		for (float &value : hidden)
			value = std::tanh(value);
		for (size_t k = 0; k < kIntents; k++) {
			for (size_t h = 0; h < kHidden; h++)
				chance[k] += out_[k][h] * hidden[h];
			sum += chance[k] = std::exp(chance[k]);
		}
		for (size_t k = 0; k < kIntents; k++) {
			const float wrong = chance[k] / sum - (k == intent ? 1.0f : 0.0f);
			for (size_t h = 0; h < kHidden; h++) {
				back[h] += wrong * out_[k][h] * (1 - hidden[h] * hidden[h]);
				out_[k][h] -= 0.002f * wrong * hidden[h];
			}
		}
		for (size_t i = 0; i < kSenses; i++)
			for (size_t h = 0; h < kHidden; h++)
				in_[i][h] -= 0.002f * fix[i] * back[h];
		return -std::log(chance[intent] / sum);
	}

private:
	std::array<std::array<float, kHidden>, kSenses> in_;
	std::array<std::array<float, kHidden>, kIntents> out_;
};

Fix receive(std::mt19937 &random, size_t intent)
{
	Fix fix;
	float drift = 0;
	for (size_t i = 0; i < kSenses; i++) {
		drift = 0.8f * drift + static_cast<float>(random() >> 8) / 16777216.0f - 0.5f;
		fix[i] = drift + (i % kIntents == intent ? 0.4f : 0.0f);
	}
	return fix;
}

}  // namespace

int main()
{
	watch watch;
	std::mt19937 random(1);
	Whitening whiten;
	Network network;
	std::deque<Fix> kept;
	double loss = 0;
	while (kept.size() < kKept)
		kept.push_back(receive(random, random() % kIntents));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		std::array<Fix, kBatch> fixes;
		for (size_t i = 0; i < kBatch; i++) {
			fixes[i] = receive(random, i % kIntents);
			kept.pop_front();
			kept.push_back(fixes[i]);
		}
		{
			DWELL_ZONE("learn");
			for (size_t i = 0; i < kBatch; i++)
				loss += static_cast<double>(network.learn(whiten(fixes[i]), i % kIntents));
		}
		if (static_cast<size_t>(watch.steps) % kEvery == kEvery - 1) {
			planted_begin(&watch);
			whiten.refit(kept);
			planted_end(&watch);
		}
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", loss / static_cast<double>(watch.steps) / kBatch);
}
