/*
 * Where does a telescope's plate point to? A network over the distances among its brightest stars, trained on plates of a made-up
 * sky that a thread draws ahead, with a queue between.
 *
 * Decoy: a queue with conditions that is always full, a thread that keeps copies of the weights in a file now and then, a list of losses
 * that grows, a string per step: all of a moment.
 * Truth: time that the learner needs to take a plate, to hand on weights, to keep the loss and to write the string, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace plate {

constexpr int STARS = 18, PAIRS = STARS * (STARS - 1) / 2, WIDTH = 192, PLATES = 200;

struct Batch {
	std::vector<float> apart = std::vector<float>(PLATES * PAIRS);
	float where[PLATES][2];
};

/* What one thread makes and another takes, a few at most. */
template <typename T> class Shelf {
public:
	explicit Shelf(size_t most) : most_(most) {}

	bool put(T thing)
	{
		std::unique_lock<std::mutex> hold(lock_);
		changed_.wait(hold, [this] { return things_.size() < most_ || closed_; });
		if (closed_)
			return false;
		things_.push_back(std::move(thing));
		changed_.notify_all();
		return true;
	}

	bool take(T &thing)
	{
		std::unique_lock<std::mutex> hold(lock_);
		changed_.wait(hold, [this] { return !things_.empty() || closed_; });
		if (things_.empty())
			return false;
		thing = std::move(things_.front());
		things_.pop_front();
		changed_.notify_all();
		return true;
	}

	void close()
	{
		std::lock_guard<std::mutex> hold(lock_);
		closed_ = true;
		changed_.notify_all();
	}

private:
	const size_t most_;
	std::mutex lock_;
	std::condition_variable changed_;
	std::deque<T> things_;
	bool closed_ = false;
};

void expose(Shelf<Batch> &shelf)
{
	for (unsigned number = 0;; number++) {
		Batch batch;
		for (int p = 0; p < PLATES; p++) {
			float x[STARS], y[STARS];
			const float a = std::sin(static_cast<float>(number * 3 + p)), d = std::cos(static_cast<float>(number * 5 + p * 2));
			for (int s = 0; s < STARS; s++) {
				x[s] = std::fmod(static_cast<float>(s) * 0.37f + a + 2, 1.f);
				y[s] = std::fmod(static_cast<float>(s) * 0.61f + d + 2, 1.f);
			}
			float *to = &batch.apart[static_cast<size_t>(p) * PAIRS];
			for (int s = 0; s < STARS; s++)
				for (int t = 0; t < s; t++)
					*to++ = std::sqrt((x[s] - x[t]) * (x[s] - x[t]) + (y[s] - y[t]) * (y[s] - y[t]));
			batch.where[p][0] = a;
			batch.where[p][1] = d;
		}
		if (!shelf.put(std::move(batch)))
			return;
	}
}

class Solver {
public:
	Solver() : in(PAIRS * WIDTH), middle(WIDTH * WIDTH), out(WIDTH * 2)
	{
		for (size_t i = 0; i < in.size(); i++)
			in[i] = 0.1f * std::sin(static_cast<float>(i) * 1.3f);
		for (size_t i = 0; i < middle.size(); i++)
			middle[i] = 0.1f * std::cos(static_cast<float>(i) * 0.9f);
		for (size_t i = 0; i < out.size(); i++)
			out[i] = 0.1f * std::sin(static_cast<float>(i) * 2.3f);
	}

	float learn(const float *apart, const float *where)
	{
		std::vector<float> one = layer(apart, PAIRS, in), two = layer(one.data(), WIDTH, middle);
		float wrong[2], back[WIDTH], first[WIDTH], loss = 0;
		for (int k = 0; k < 2; k++) {
			wrong[k] = -where[k];
			for (int w = 0; w < WIDTH; w++)
				wrong[k] += two[w] * out[w * 2 + k];
			loss += wrong[k] * wrong[k];
		}
		for (int w = 0; w < WIDTH; w++) {
			back[w] = (wrong[0] * out[w * 2] + wrong[1] * out[w * 2 + 1]) * (1 - std::fabs(two[w]));
			for (int k = 0; k < 2; k++)
				out[w * 2 + k] -= 1e-4f * wrong[k] * two[w];
		}
		for (int v = 0; v < WIDTH; v++) {
			float sum = 0;
			for (int w = 0; w < WIDTH; w++) {
				sum += middle[v * WIDTH + w] * back[w];
				middle[v * WIDTH + w] -= 1e-4f * one[v] * back[w];
			}
			first[v] = sum * (1 - std::fabs(one[v]));
		}
		for (int p = 0; p < PAIRS; p++)
			for (int w = 0; w < WIDTH; w++)
				in[p * WIDTH + w] -= 1e-4f * apart[p] * first[w];
		return loss;
	}

	std::vector<float> in, middle, out;

private:
	static std::vector<float> layer(const float *x, int size, const std::vector<float> &weight)
	{
		std::vector<float> y(WIDTH);
		for (int i = 0; i < size; i++)
			for (int w = 0; w < WIDTH; w++)
				y[w] += x[i] * weight[i * WIDTH + w];
		for (float &value : y)
			value /= 1 + std::fabs(value);
		return y;
	}
};

void keep(Shelf<std::vector<float>> &shelf)
{
	std::vector<float> weights;
	std::FILE *file = std::tmpfile();
	while (shelf.take(weights)) {
		if (!file)
			continue;
		std::rewind(file);
		std::fwrite(weights.data(), sizeof(float), weights.size(), file);
		std::fflush(file);
	}
	if (file)
		std::fclose(file);
}

}

int main()
{
	plate::Shelf<plate::Batch> plates(6);
	plate::Shelf<std::vector<float>> copies(2);
	plate::Solver solver;
	std::thread camera([&] { plate::expose(plates); }), keeper([&] { plate::keep(copies); });
	std::vector<float> history;
	std::string said;
	watch clock;

	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6.3; clock.steps++) {
		DWELL_STEP();
		plate::Batch batch;
		float loss = 0;

		planted_begin(&clock);
		plates.take(batch);
		planted_end(&clock);
		{
			DWELL_ZONE("learn");
			for (int p = 0; p < plate::PLATES; p++)
				loss += solver.learn(&batch.apart[static_cast<size_t>(p) * plate::PAIRS], batch.where[p]) / plate::PLATES;
		}
		planted_begin(&clock);
		history.push_back(loss);
		said = "plate batch " + std::to_string(clock.steps) + " loss " + std::to_string(loss);
		if (clock.steps % 150 == 149)
			copies.put(solver.middle);
		planted_end(&clock);
	}
	watch_tell(&clock);
	plates.close();
	copies.close();
	camera.join();
	keeper.join();
	std::printf("%s\n", said.c_str());
}
