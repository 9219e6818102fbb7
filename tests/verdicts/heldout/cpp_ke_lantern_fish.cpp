// Counts lantern fish in echoes of the deep sea: a one-dimensional network with dilations, trained by hand on its last layer.
//
// Decoy: a thread writes the diary and sleeps for a line, a mutex guards the weights, a buffer is made for each echo, saving goes to a file.
// Truth: time of all that in the loop, of the loop: a moment each.
#include "clock.h"

#include <dwell/probe.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

class Diary {
public:
	Diary() : file(std::tmpfile()), writer([this] { write(); }) {}
	~Diary()
	{
		{
			const std::lock_guard<std::mutex> lock(mutex);
			closing = true;
		}
		more.notify_one();
		writer.join();
		std::fclose(file);
	}

	void note(std::string line)
	{
		const std::lock_guard<std::mutex> lock(mutex);
		lines.push_back(std::move(line));
		more.notify_one();
	}

private:
	void write()
	{
		std::unique_lock<std::mutex> lock(mutex);
		for (;;) {
			more.wait(lock, [this] { return closing || !lines.empty(); });
			if (lines.empty())
				return;
			const std::string line = std::move(lines.front());
			lines.pop_front();
			lock.unlock();
			std::fprintf(file, "%s\n", line.c_str());
			std::fflush(file);
			std::this_thread::sleep_for(std::chrono::milliseconds(3));
			lock.lock();
		}
	}

	std::FILE *file;
	std::mutex mutex;
	std::condition_variable more;
	std::deque<std::string> lines;
	bool closing = false;
	std::thread writer;
};

constexpr int samples = 2048, channels = 12, layers = 4;

struct Weights {
	float filter[layers][channels][channels][3];
	float last[channels];
	std::mutex mutex;
};

void dilate(const std::vector<float> &in, std::vector<float> &out, const float (*filter)[channels][3], int apart)
{
	for (int o = 0; o < channels; o++) {
		float *to = out.data() + o * samples;
		for (int t = 0; t < samples; t++)
			to[t] = 0.05f;
		for (int i = 0; i < channels; i++) {
			const float *from = in.data() + i * samples;
			for (int t = apart; t < samples - apart; t++)
				to[t] += filter[o][i][0] * from[t - apart] + filter[o][i][1] * from[t] + filter[o][i][2] * from[t + apart];
		}
		for (int t = 0; t < samples; t++)
			to[t] = to[t] > 0 ? to[t] : 0.2f * to[t];
	}
}

void save(const Weights &weights, std::FILE *file)
{
	std::rewind(file);
	std::fwrite(weights.filter, sizeof(weights.filter), 1, file);
	std::fwrite(weights.last, sizeof(weights.last), 1, file);
	std::fflush(file);
}

}  // namespace

int main()
{
	static Weights weights;
	watch watch;
	Diary diary;
	std::FILE *kept = std::tmpfile();
	float *flat = &weights.filter[0][0][0][0];
	for (size_t i = 0; i < sizeof(weights.filter) / sizeof(float); i++)
		flat[i] = 0.2f * std::sin(static_cast<float>(i) * 0.9f);
	std::vector<float> one(channels * samples), other(channels * samples);
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		std::vector<float> echo(samples);
		planted_end(&watch);
		{
			DWELL_ZONE("echo");
			for (int t = 0; t < samples; t++)
				echo[static_cast<size_t>(t)] = std::sin(static_cast<float>(t % 64) * 0.1f) + static_cast<float>((t * 37 + watch.steps * 11) % 29) / 29;
			for (int c = 0; c < channels; c++)
				for (int t = 0; t < samples; t++)
					one[static_cast<size_t>(c * samples + t)] = echo[static_cast<size_t>(t)] * (c % 2 ? 0.5f : -0.5f);
		}
		{
			DWELL_ZONE("dilations");
			for (int l = 0; l < layers; l++) {
				dilate(one, other, weights.filter[l], 1 << l);
				one.swap(other);
			}
		}
		float wrong = -1;
		{
			DWELL_ZONE("last layer");
			float mean[channels];
			planted_begin(&watch);
			const std::lock_guard<std::mutex> lock(weights.mutex);
			planted_end(&watch);
			for (int c = 0; c < channels; c++) {
				float sum = 0;
				for (int t = 0; t < samples; t++)
					sum += one[static_cast<size_t>(c * samples + t)];
				mean[c] = sum / samples;
				wrong += weights.last[c] * mean[c];
			}
			for (int c = 0; c < channels; c++)
				weights.last[c] -= 0.01f * wrong * mean[c] / (1 + mean[c] * mean[c]);
		}
		planted_begin(&watch);
		if (watch.steps % 100 == 0)
			diary.note("echo " + std::to_string(watch.steps) + " wrong by " + std::to_string(wrong));
		if (watch.steps % 1000 == 999) {
			DWELL_ZONE("save");
			save(weights, kept);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	std::fclose(kept);
	std::printf("weight %.4f\n", static_cast<double>(weights.last[2]));
}
