// Forecasts the water below a glacier: an MLP with residual blocks learns from lines of text that weather stations have sent. A
// second thread, the clerk, turns the lines of a batch into numbers.
//
// Planted: clerk and trainer work in turn; the clerk begins a batch when it is asked for it, and the trainer waits meanwhile.
// Truth: time in which the trainer waits for the clerk, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int Readings = 64, Width = 96, Batch = 128, Lines = 384;

struct Day {
	std::array<float, Readings> readings;
	float runoff;
};

class Clerk {
public:
	explicit Clerk(std::vector<std::string> lines) : lines_(std::move(lines)), thread_([this] { work(); }) {}
	~Clerk()
	{
		{
			std::lock_guard<std::mutex> hold(mutex_);
			closing_ = true;
		}
		asked_.notify_one();
		thread_.join();
	}
	std::vector<Day> batch(size_t first)
	{
		std::unique_lock<std::mutex> hold(mutex_);
		first_ = first;
		wanted_ = true;
		asked_.notify_one();
		done_.wait(hold, [this] { return !wanted_; });
		return std::move(days_);
	}

private:
	void work()
	{
		std::unique_lock<std::mutex> hold(mutex_);
		for (;;) {
			asked_.wait(hold, [this] { return wanted_ || closing_; });
			if (closing_)
				return;
			hold.unlock();
			std::vector<Day> days(Batch);
			for (size_t n = 0; n < Batch; n++)
				parse(lines_[(first_ + n) % lines_.size()], days[n]);
			hold.lock();
			days_ = std::move(days);
			wanted_ = false;
			done_.notify_one();
		}
	}
	static void parse(const std::string &line, Day &day)
	{
		DWELL_ZONE("parse");
		const char *at = line.c_str();
		char *end;
		for (float &reading : day.readings) {
			reading = static_cast<float>(std::strtod(at, &end));
			at = end + 1;
		}
		day.runoff = static_cast<float>(std::strtod(at, &end));
	}

	std::vector<std::string> lines_;
	std::mutex mutex_;
	std::condition_variable asked_, done_;
	std::vector<Day> days_;
	size_t first_ = 0;
	bool wanted_ = false, closing_ = false;
	std::thread thread_;
};

struct Forecaster {
	std::vector<float> in, block, out, in_slope, block_slope, out_slope;

	explicit Forecaster(std::mt19937 &random)
	{
		std::normal_distribution<float> normal(0, 0.08f);
		for (auto [weights, count] : {std::pair{&in, Width * Readings}, {&block, Width * Width}, {&out, Width}}) {
			weights->resize(count);
			for (float &weight : *weights)
				weight = normal(random);
		}
		in_slope.resize(in.size());
		block_slope.resize(block.size());
		out_slope.resize(out.size());
	}

	float train(const std::vector<Day> &days)
	{
		float loss = 0;
		for (const Day &day : days) {
			float first[Width], second[Width], back_second[Width], back_first[Width], guess = 0;
			for (int w = 0; w < Width; w++) {
				float sum = 0;
				for (int r = 0; r < Readings; r++)
					sum += in[w * Readings + r] * day.readings[r];
				first[w] = std::tanh(sum);
			}
			for (int w = 0; w < Width; w++) {
				float sum = 0;
				for (int v = 0; v < Width; v++)
					sum += block[w * Width + v] * first[v];
				second[w] = std::tanh(sum);
				guess += out[w] * (first[w] + second[w]);
			}
			const float error = (guess - day.runoff) / Batch;
			loss += error * error * Batch;
			for (int w = 0; w < Width; w++) {
				out_slope[w] += error * (first[w] + second[w]);
				back_second[w] = error * out[w] * (1 - second[w] * second[w]);
				back_first[w] = error * out[w];
			}
			for (int w = 0; w < Width; w++)
				for (int v = 0; v < Width; v++) {
					block_slope[w * Width + v] += back_second[w] * first[v];
					back_first[v] += back_second[w] * block[w * Width + v];
				}
			for (int w = 0; w < Width; w++) {
				const float back = back_first[w] * (1 - first[w] * first[w]);
				for (int r = 0; r < Readings; r++)
					in_slope[w * Readings + r] += back * day.readings[r];
			}
		}
		return loss;
	}

	void update(float rate)
	{
		for (auto [weights, slopes] : {std::pair{&in, &in_slope}, {&block, &block_slope}, {&out, &out_slope}})
			for (size_t i = 0; i < weights->size(); i++) {
				(*weights)[i] -= rate * (*slopes)[i];
				(*slopes)[i] = 0;
			}
	}
};

std::vector<std::string> station_lines(std::mt19937 &random)
{
	std::normal_distribution<double> normal;
	std::vector<std::string> lines(Lines);
	for (std::string &line : lines) {
		double sum = 0;
		for (int r = 0; r < Readings; r++) {
			const double reading = normal(random);
			char text[48];
			snprintf(text, sizeof text, "%.17f;", reading);
			line += text;
			sum += r % 3 ? reading : -reading;
		}
		line += std::to_string(sum / 20);
	}
	return lines;
}

} // namespace

int main()
{
	std::mt19937 random(12);
	Forecaster forecaster(random);
	Clerk clerk(station_lines(random));
	watch watch;
	float loss = 0;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		planted_begin(&watch);
		const std::vector<Day> days = clerk.batch(static_cast<size_t>(watch.steps) * Batch);
		planted_end(&watch);
		{
			DWELL_ZONE("train");
			loss = forecaster.train(days);
		}
		DWELL_ZONE("update");
		forecaster.update(0.02f);
		watch.steps++;
	}
	watch_tell(&watch);
	std::printf("loss %.5f\n", static_cast<double>(loss));
	return 0;
}
