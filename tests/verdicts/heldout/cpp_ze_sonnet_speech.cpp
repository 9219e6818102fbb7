// Writes lines of sonnets letter by letter and lets a second thread speak them as samples of sound.
//
// Planted: the voice takes longer than the writer, and the writer waits at a queue of two lines until it has space.
// Truth: time that the writer waits to hand over a line, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int letters = 32, width = 256, line_length = 36;

struct Line {
	std::string text;
	std::vector<float> pitch;
};

template <class T>
class Bounded {
public:
	explicit Bounded(size_t most) : most_(most) {}

	void push(T item)
	{
		std::unique_lock<std::mutex> lock(mutex_);
		space_.wait(lock, [this] { return items_.size() < most_; });
		items_.push_back(std::move(item));
		filled_.notify_one();
	}

	std::optional<T> pop()
	{
		std::unique_lock<std::mutex> lock(mutex_);
		filled_.wait(lock, [this] { return !items_.empty() || closed_; });
		if (items_.empty())
			return std::nullopt;
		std::optional<T> item(std::move(items_.front()));
		items_.pop_front();
		space_.notify_one();
		return item;
	}

	void close()
	{
		std::lock_guard<std::mutex> lock(mutex_);
		closed_ = true;
		filled_.notify_all();
	}

private:
	const size_t most_;
	std::mutex mutex_;
	std::condition_variable space_, filled_;
	std::deque<T> items_;
	bool closed_ = false;
};

/* A gated recurrent cell that predicts the next letter. */
class Writer {
public:
	explicit Writer(unsigned seed) : random_(seed)
	{
		std::normal_distribution<float> normal(0, 1 / std::sqrt(static_cast<float>(width)));
		for (auto *weights : {&gate_, &candidate_})
			for (auto &weight : *weights)
				weight = normal(random_);
		for (auto &weight : letter_)
			weight = normal(random_);
		for (auto &weight : head_)
			weight = 3 * normal(random_);
	}

	Line write()
	{
		DWELL_ZONE("write");
		Line line;
		for (int i = 0; i < line_length; i++) {
			advance();
			line.text += static_cast<char>('a' + last_ % 26);
			line.pitch.push_back(state_[0]);
		}
		return line;
	}

private:
	void advance()
	{
		float z[width] = {}, h[width] = {}, said[letters] = {};
		for (int i = 0; i < width; i++)
			for (int o = 0; o < width; o++) {
				z[o] += state_[i] * gate_[i * width + o];
				h[o] += state_[i] * candidate_[i * width + o];
			}
		for (int o = 0; o < width; o++) {
			const float open = 1 / (1 + std::exp(-z[o]));
			state_[o] = (1 - open) * state_[o] + open * std::tanh(h[o] + letter_[last_ * width + o]);
		}
		for (int i = 0; i < width; i++)
			for (int o = 0; o < letters; o++)
				said[o] += state_[i] * head_[i * letters + o];
		std::vector<double> chance;
		for (float value : said)
			chance.push_back(std::exp(value));
		last_ = std::discrete_distribution<int>(chance.begin(), chance.end())(random_);
	}

	std::mt19937 random_;
	std::vector<float> gate_ = std::vector<float>(width * width), candidate_ = std::vector<float>(width * width);
	std::vector<float> letter_ = std::vector<float>(letters * width), head_ = std::vector<float>(width * letters);
	float state_[width] = {};
	int last_ = 0;
};

/* Each letter is a sum of some harmonics; the line passes through a resonator. */
double speak(const Line &line)
{
	DWELL_ZONE("voice");
	double energy = 0, one = 0, two = 0;
	for (size_t i = 0; i < line.text.size(); i++)
		for (int sample = 0; sample < 420; sample++) {
			double sound = 0;
			for (int harmonic = 1; harmonic <= 5; harmonic++)
				sound += std::sin(0.01 * harmonic * sample * (line.text[i] - 80) * (1 + 0.1 * line.pitch[i])) / harmonic;
			const double now = sound + 1.6 * one - 0.81 * two;
			two = one;
			one = now;
			energy += now * now;
		}
	return energy;
}

}  // namespace

int main()
{
	watch watch;
	Writer writer(17);
	Bounded<Line> queue(2);
	double energy = 0;
	std::thread voice([&] {
		while (auto line = queue.pop())
			energy += speak(*line);
	});

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6.5; watch.steps++) {
		DWELL_STEP();
		Line line = writer.write();
		planted_begin(&watch);
		queue.push(std::move(line));
		planted_end(&watch);
	}
	watch_tell(&watch);
	queue.close();
	voice.join();
	std::printf("energy %.3g\n", energy);
}
