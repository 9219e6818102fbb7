// Fits the tint of violins' varnish from spectra: a small network, its batches from a thread that mixes spectra ahead.
//
// Decoy: a lock for each batch, a new buffer for each batch, a journal that is flushed each hundredth step, and a nap at the end of an
// epoch look guilty; together they take a moment.
// Truth: time of the lock, the buffer, the journal and the nap, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr size_t bands = 300, inner = 128, tints = 3, batch = 32;

struct Mixed {
	std::vector<float> spectra, tint;
};

class Mixer {
public:
	Mixer() : thread([this] { mix(); }) {}
	~Mixer()
	{
		{
			std::lock_guard<std::mutex> hold(lock);
			closed = true;
		}
		moved.notify_all();
		thread.join();
	}

	std::unique_ptr<Mixed> next()
	{
		std::unique_lock<std::mutex> hold(lock);
		moved.wait(hold, [&] { return !ready.empty(); });
		auto first = std::move(ready.front());
		ready.pop_front();
		moved.notify_all();
		return first;
	}

private:
	void mix()
	{
		for (unsigned seed = 1;; seed++) {
			auto one = std::make_unique<Mixed>();
			one->spectra.resize(batch * bands);
			one->tint.resize(batch * tints);
			for (size_t i = 0; i < one->spectra.size(); i++)
				one->spectra[i] = static_cast<float>((i * 2654435761u + seed * 77u) >> 12 & 255) / 255.0f - 0.5f;
			for (size_t i = 0; i < one->tint.size(); i++)
				one->tint[i] = one->spectra[i * 7];
			std::unique_lock<std::mutex> hold(lock);
			moved.wait(hold, [&] { return ready.size() < 16 || closed; });
			if (closed)
				return;
			ready.push_back(std::move(one));
			moved.notify_all();
		}
	}

	std::mutex lock;
	std::condition_variable moved;
	std::deque<std::unique_ptr<Mixed>> ready;
	bool closed = false;
	std::thread thread;
};

struct Network {
	std::vector<float> in = std::vector<float>(bands * inner), out = std::vector<float>(inner * tints), gin = in, gout = out;

	Network()
	{
		for (size_t i = 0; i < in.size(); i++)
			in[i] = 0.08f * std::sin(static_cast<float>(3 * i + 1));
		for (size_t i = 0; i < out.size(); i++)
			out[i] = 0.1f * std::cos(static_cast<float>(5 * i + 1));
	}

	float learn(const Mixed &mixed)
	{
		float loss = 0;
		DWELL_ZONE("learn");
		gin.assign(gin.size(), 0);
		gout.assign(gout.size(), 0);
		for (size_t b = 0; b < batch; b++) {
			float hidden[inner] = {0}, back[inner] = {0};
			const float *x = &mixed.spectra[b * bands];
			for (size_t i = 0; i < bands; i++)
				for (size_t j = 0; j < inner; j++)
					hidden[j] += x[i] * in[i * inner + j];
			for (float &h : hidden)
				h = std::tanh(h);
			for (size_t t = 0; t < tints; t++) {
				float wrong = -mixed.tint[b * tints + t];
				for (size_t j = 0; j < inner; j++)
					wrong += hidden[j] * out[j * tints + t];
				loss += wrong * wrong;
				for (size_t j = 0; j < inner; j++) {
					gout[j * tints + t] += wrong * hidden[j];
					back[j] += wrong * out[j * tints + t] * (1 - hidden[j] * hidden[j]);
				}
			}
			for (size_t i = 0; i < bands; i++)
				for (size_t j = 0; j < inner; j++)
					gin[i * inner + j] += x[i] * back[j];
		}
		for (size_t i = 0; i < in.size(); i++)
			in[i] -= 0.0005f * gin[i];
		for (size_t i = 0; i < out.size(); i++)
			out[i] -= 0.0005f * gout[i];
		return loss;
	}
};

}  // namespace

int main()
{
	watch watch;
	Mixer mixer;
	Network network;
	FILE *journal = std::tmpfile();
	if (!journal)
		return 1;
	float loss = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		auto mixed = mixer.next();
		planted_end(&watch);
		loss = network.learn(*mixed);
		planted_begin(&watch);
		std::fprintf(journal, "%ld %f\n", static_cast<long>(watch.steps), static_cast<double>(loss));
		if (watch.steps % 100 == 99)
			std::fflush(journal);
		mixed.reset();
		if (watch.steps % 600 == 599)
			std::this_thread::sleep_for(std::chrono::milliseconds(2));
		planted_end(&watch);
	}
	watch_tell(&watch);
	std::fclose(journal);
	std::printf("loss %.4f\n", static_cast<double>(loss));
}
