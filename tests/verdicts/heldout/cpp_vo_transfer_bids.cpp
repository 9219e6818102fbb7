/*
 * Says what a football club would bid for a player: the forty players of a squad look at each other (two layers of attention with
 * two heads), and each gets a price. Inference, one thread, squad after squad.
 *
 * Clean: each step is eight squads of forty, the same products each time, nothing is planted.
 * Truth: time of laying out the squad's table, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

namespace bids {

constexpr int PLAYERS = 40, WIDTH = 64, HEADS = 2, PART = WIDTH / HEADS, INNER = 128, SQUADS = 8;

using Squad = std::array<std::array<float, WIDTH>, PLAYERS>;

template <int IN, int OUT>
class Linear {
public:
	explicit Linear(int seed)
	{
		for (int i = 0; i < IN; i++)
			for (int o = 0; o < OUT; o++)
				weight_[i][o] = std::sin(static_cast<float>(i * 31 + o * 17 + seed)) / std::sqrt(static_cast<float>(IN));
	}
	void operator()(const std::array<float, IN> &in, std::array<float, OUT> &out) const
	{
		out.fill(0);
		for (int i = 0; i < IN; i++)
			for (int o = 0; o < OUT; o++)
				out[o] += in[i] * weight_[i][o];
	}

private:
	float weight_[IN][OUT];
};

class Layer {
public:
	explicit Layer(int seed) : ask_(seed), key_(seed + 1), value_(seed + 2), wide_(seed + 3), back_(seed + 4) {}

	void run(Squad &squad)
	{
		{
			DWELL_OP("attention");
			attend(squad);
		}
		DWELL_OP("dense");
		std::array<float, INNER> inner;
		std::array<float, WIDTH> more;
		for (auto &player : squad) {
			wide_(player, inner);
			for (auto &v : inner)
				v = v > 0 ? v : 0.1f * v;
			back_(inner, more);
			settle(player, more);
		}
	}

private:
	static void settle(std::array<float, WIDTH> &player, const std::array<float, WIDTH> &more)
	{
		float square = 0.01f;
		for (int i = 0; i < WIDTH; i++) {
			player[i] += more[i];
			square += player[i] * player[i] / WIDTH;
		}
		const float scale = 1 / std::sqrt(square);
		for (auto &v : player)
			v *= scale;
	}

	void attend(Squad &squad)
	{
		for (int p = 0; p < PLAYERS; p++) {
			ask_(squad[p], asks_[p]);
			key_(squad[p], keys_[p]);
			value_(squad[p], values_[p]);
		}
		for (int p = 0; p < PLAYERS; p++) {
			std::array<float, WIDTH> mixed{};
			for (int h = 0; h < HEADS; h++) {
				float weight[PLAYERS], sum = 0;
				for (int q = 0; q < PLAYERS; q++) {
					float part[4] = {};
					for (int i = h * PART; i < (h + 1) * PART; i += 4)
						for (int k = 0; k < 4; k++)
							part[k] += asks_[p][i + k] * keys_[q][i + k];
					const float score = (part[0] + part[1] + part[2] + part[3]) * 0.18f;
					weight[q] = std::exp(score > 8 ? 8 : score < -8 ? -8 : score);
					sum += weight[q];
				}
				for (int q = 0; q < PLAYERS; q++)
					for (int i = h * PART; i < (h + 1) * PART; i++)
						mixed[i] += weight[q] / sum * values_[q][i];
			}
			settle(squad[p], mixed);
		}
	}

	Linear<WIDTH, WIDTH> ask_, key_, value_;
	Linear<WIDTH, INNER> wide_;
	Linear<INNER, WIDTH> back_;
	Squad asks_, keys_, values_;
};

}

int main()
{
	using namespace bids;
	static watch watch;
	std::vector<std::unique_ptr<Layer>> layers;
	std::vector<Squad> squads(SQUADS * 5);
	auto squad = std::make_unique<Squad>();
	double all = 0;

	layers.push_back(std::make_unique<Layer>(3));
	layers.push_back(std::make_unique<Layer>(11));
	for (size_t s = 0; s < squads.size(); s++)
		for (int p = 0; p < PLAYERS; p++)
			for (int i = 0; i < WIDTH; i++)
				squads[s][p][i] = std::cos(static_cast<float>(s * 13 + p * 7 + i));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		for (int s = 0; s < SQUADS; s++) {
			planted_begin(&watch);
			*squad = squads[(watch.steps * SQUADS + s) % squads.size()];
			planted_end(&watch);
			for (auto &layer : layers)
				layer->run(*squad);
			for (const auto &player : *squad)
				all += static_cast<double>(player[0] - player[1]);
		}
	}
	watch_tell(&watch);
	std::printf("bids %.3f\n", all / static_cast<double>(watch.steps));
}
