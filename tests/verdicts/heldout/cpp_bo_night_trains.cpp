/*
 * Foretells the delays of night trains along their stations: a linear-chain network with shared dense cells, trained by
 * back-propagation through the stations of a line, with an announcer's thread that shows the newest weights.
 *
 * Decoy: a thread that naps and takes a lock, a map and a list that are made anew in each step, a log that is flushed: all of a moment.
 * Truth: time of the lock, the map, the list and the log, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace trains {

constexpr int STATIONS = 20, STATE = 72, LINES = 40;

struct Weights {
	float cell[STATE][STATE], out[STATE];
};

class Board {
public:
	Board() : thread_([this] { announce(); }) {}
	~Board()
	{
		over_ = true;
		thread_.join();
	}
	void show(const Weights &w)
	{
		const std::lock_guard<std::mutex> hold(lock_);
		std::memcpy(shown_, w.out, sizeof shown_);
	}

private:
	void announce()
	{
		while (!over_) {
			std::this_thread::sleep_for(std::chrono::milliseconds(20));
			const std::lock_guard<std::mutex> hold(lock_);
			float sum = 0;
			for (float s : shown_)
				sum += s;
			total_ = sum;
		}
	}

	std::mutex lock_;
	float shown_[STATE] = {};
	std::atomic<float> total_{0};
	std::atomic<bool> over_{false};
	std::thread thread_;
};

class Line {
public:
	float states[STATIONS + 1][STATE];

	float forward(const Weights &w, const float *delays)
	{
		for (int i = 0; i < STATE; i++)
			states[0][i] = 0.1f;
		float loss = 0;
		for (int s = 0; s < STATIONS; s++) {
			float sum[STATE] = {}, guess = 0;
			for (int i = 0; i < STATE; i++)
				for (int o = 0; o < STATE; o++)
					sum[o] += states[s][i] * w.cell[i][o];
			for (int o = 0; o < STATE; o++) {
				sum[o] += delays[s] * (float)(o % 5 - 2) * 0.2f;
				states[s + 1][o] = sum[o] / (1 + std::fabs(sum[o]));
				guess += states[s + 1][o] * w.out[o];
			}
			wrong_[s] = guess - delays[s + 1];
			loss += wrong_[s] * wrong_[s];
		}
		return loss;
	}

	void backward(const Weights &w, Weights &g) const
	{
		float blame[STATE] = {};
		for (int s = STATIONS - 1; s >= 0; s--) {
			float next[STATE];
			for (int o = 0; o < STATE; o++) {
				const float slope = 1 - std::fabs(states[s + 1][o]);
				g.out[o] += wrong_[s] * states[s + 1][o];
				blame[o] = (blame[o] + wrong_[s] * w.out[o]) * slope * slope;
			}
			for (int i = 0; i < STATE; i++) {
				float part[4] = {};
				for (int o = 0; o < STATE; o += 4)
					for (int k = 0; k < 4; k++) {
						part[k] += blame[o + k] * w.cell[i][o + k];
						g.cell[i][o + k] += blame[o + k] * states[s][i];
					}
				next[i] = part[0] + part[1] + part[2] + part[3];
			}
			std::memcpy(blame, next, sizeof blame);
		}
	}

private:
	float wrong_[STATIONS] = {};
};

}

int main()
{
	using namespace trains;
	static watch watch;
	static Weights weights, gradient;
	std::vector<std::vector<float>> delays(LINES * 6, std::vector<float>(STATIONS + 1));
	FILE *log = std::tmpfile();

	if (!log)
		return 1;
	for (size_t l = 0; l < delays.size(); l++)
		for (int s = 0; s <= STATIONS; s++)
			delays[l][s] = 0.5f + 0.4f * std::sin((float)(l * 3 + s));
	for (int i = 0; i < STATE; i++) {
		weights.out[i] = 0.1f * std::sin((float)i);
		for (int o = 0; o < STATE; o++)
			weights.cell[i][o] = 0.12f * std::sin((float)(i * 131 + o * 17));
	}
	Board board;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		std::memset(&gradient, 0, sizeof gradient);
		float loss = 0;

		planted_begin(&watch);
		auto lines = std::make_unique<std::vector<Line>>(2);
		std::map<std::string, float> by_name;
		planted_end(&watch);
		for (int l = 0; l < LINES; l++) {
			const float *line = delays[(watch.steps % 6) * LINES + l].data();
			float one;
			{
				DWELL_ZONE("forward");
				one = (*lines)[l % 2].forward(weights, line);
			}
			{
				DWELL_ZONE("backward");
				(*lines)[l % 2].backward(weights, gradient);
			}
			loss += one;
			planted_begin(&watch);
			by_name["night line " + std::to_string(l)] = one;
			planted_end(&watch);
		}
		{
			DWELL_ZONE("update");
			float *w = &weights.cell[0][0];
			const float *g = &gradient.cell[0][0];
			for (size_t i = 0; i < sizeof weights / sizeof *w; i++)
				w[i] -= 2e-5f * g[i];
		}
		planted_begin(&watch);
		board.show(weights);
		if (watch.steps % 16 == 0) {
			std::fprintf(log, "%ld %.4f %zu\n", (long)watch.steps, (double)loss, by_name.size());
			std::fflush(log);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	std::printf("out %.5f\n", (double)weights.out[1]);
}
