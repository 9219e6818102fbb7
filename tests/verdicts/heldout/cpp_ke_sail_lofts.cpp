// Predicts how a sail stretches: a network passes messages between the knots of its mesh, four rounds, inference only.
//
// Clean: the messages of all seams and the states of all knots are computed in each round; one thread, each sail has the same mesh.
// Truth: nothing is planted; the time of setting the wind for the next sail.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr size_t across = 22, up = 30, knots = across * up, wide = 32, rounds = 4;

using State = std::array<float, wide>;

class Layer {
public:
	explicit Layer(float tone)
	{
		for (size_t i = 0; i < wide; i++)
			for (size_t k = 0; k < 2 * wide; k++)
				weight[i][k] = 0.15f * std::sin(tone * static_cast<float>(i * 64 + k + 1));
	}

	State operator()(const State &a, const State &b) const
	{
		State out;
		for (size_t i = 0; i < wide; i++) {
			float sum = 0.01f;
			for (size_t k = 0; k < wide; k++)
				sum += weight[i][k] * a[k] + weight[i][wide + k] * b[k];
			out[i] = sum / (1 + std::fabs(sum));
		}
		return out;
	}

private:
	std::array<std::array<float, 2 * wide>, wide> weight;
};

struct Sail {
	std::vector<std::pair<size_t, size_t>> seams;
	std::vector<State> state, heard;

	Sail() : state(knots), heard(knots)
	{
		for (size_t y = 0; y < up; y++)
			for (size_t x = 0; x < across; x++) {
				const size_t at = y * across + x;
				if (x + 1 < across)
					seams.emplace_back(at, at + 1);
				if (y + 1 < up)
					seams.emplace_back(at, at + across);
				if (x + 1 < across && y + 1 < up)
					seams.emplace_back(at, at + across + 1);
			}
	}

	void wind(long number)
	{
		for (size_t n = 0; n < knots; n++)
			for (size_t k = 0; k < wide; k++)
				state[n][k] = 0.3f + 0.004f * static_cast<float>((n * 31 + k * 17 + static_cast<size_t>(number) * 7) % 97);
	}
};

}  // namespace

int main()
{
	watch watch;
	std::vector<Layer> message, update;
	for (size_t r = 0; r < rounds; r++) {
		message.emplace_back(0.3f + 0.1f * static_cast<float>(r));
		update.emplace_back(0.7f + 0.1f * static_cast<float>(r));
	}
	Sail sail;
	double stretch = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("wind");
			planted_begin(&watch);
			sail.wind(watch.steps);
			planted_end(&watch);
		}
		for (size_t r = 0; r < rounds; r++) {
			{
				DWELL_ZONE("messages");
				for (State &h : sail.heard)
					h.fill(0);
				for (const auto &[from, to] : sail.seams) {
					const State said = message[r](sail.state[from], sail.state[to]);
					for (size_t k = 0; k < wide; k++) {
						sail.heard[to][k] += said[k];
						sail.heard[from][k] -= said[k];
					}
				}
			}
			DWELL_ZONE("knots");
			for (size_t n = 0; n < knots; n++)
				sail.state[n] = update[r](sail.state[n], sail.heard[n]);
		}
		DWELL_ZONE("stretch");
		for (const State &s : sail.state)
			stretch += static_cast<double>(s[0] * s[0] + s[1] * s[1]);
	}
	watch_tell(&watch);
	std::printf("stretch %.5f\n", stretch / static_cast<double>(watch.steps) / static_cast<double>(knots));
}
