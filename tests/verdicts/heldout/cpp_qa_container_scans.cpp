// Looks for forbidden goods in X-ray scans of containers: a producer puts packed scans into a queue, several consumers
// unpack and classify them. The main thread is one of the consumers, and its scans are the steps.
//
// Planted: a consumer unpacks its scan while it holds the queue's lock, so the others wait for it.
// Truth: time of the main thread until it has the lock, of its loop.
#include "clock.h"

#include <dwell/probe.h>

#include <array>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int side = 160, kernels = 6, goods = 5;

using Packed = std::vector<std::pair<uint8_t, uint8_t>>;  // grey value, how often
using Scan = std::vector<float>;

Packed pack_of(std::mt19937 &random)
{
	Packed runs;
	for (int left = side * side; left > 0;) {
		const int length = std::min<int>(left, 1 + static_cast<int>(random() % 3));
		runs.emplace_back(static_cast<uint8_t>(random() % 256), static_cast<uint8_t>(length));
		left -= length;
	}
	return runs;
}

// Grey values become densities: the tube's curve, and a mean over the line so far.
void unpack(const Packed &runs, Scan &scan)
{
	size_t at = 0;
	float mean = 0.5f;
	for (const auto &[grey, length] : runs)
		for (int i = 0; i < length; i++) {
			const float density = std::log1p(static_cast<float>(grey) / 64.0f) * std::pow(1.0f + mean, -0.3f);
			mean += 0.01f * (density - mean);
			scan[at++] = density - mean;
		}
}

class Terminal {
public:
	void offer(Packed scan)
	{
		std::unique_lock<std::mutex> lock(mutex);
		room.wait(lock, [&] { return waiting.size() < 12 || closed; });
		waiting.push_back(std::move(scan));
		some.notify_one();
	}

	bool take(Scan &into, watch *clock)
	{
		if (clock)
			planted_begin(clock);
		std::unique_lock<std::mutex> lock(mutex);
		if (clock)
			planted_end(clock);
		some.wait(lock, [&] { return !waiting.empty() || closed; });
		if (waiting.empty())
			return false;
		unpack(waiting.front(), into);
		waiting.pop_front();
		room.notify_one();
		return true;
	}

	void close()
	{
		std::lock_guard<std::mutex> lock(mutex);
		closed = true;
		waiting.clear();
		some.notify_all();
		room.notify_all();
	}

	bool is_closed() const { return closed; }

private:
	std::mutex mutex;
	std::condition_variable some, room;
	std::deque<Packed> waiting;
	std::atomic<bool> closed{false};
};

class Inspector {
public:
	Inspector()
	{
		std::mt19937 random(3);
		std::normal_distribution<float> any(0, 0.2f);
		for (auto &kernel : kernel_of)
			for (float &w : kernel)
				w = any(random);
		for (auto &row : say)
			for (float &w : row)
				w = any(random);
	}

	int classify(const Scan &scan)
	{
		DWELL_ZONE("classify");
		std::array<float, kernels> strongest{};
		for (int k = 0; k < kernels; k++)
			for (int y = 0; y + 5 <= side; y++)
				for (int x = 0; x + 5 <= side; x++) {
					float sum = 0;
					for (int i = 0; i < 5; i++)
						for (int j = 0; j < 5; j++)
							sum += kernel_of[static_cast<size_t>(k)][static_cast<size_t>(5 * i + j)] * scan[static_cast<size_t>((y + i) * side + x + j)];
					strongest[static_cast<size_t>(k)] += sum > 0 ? sum * sum : 0;
				}
		int best = 0;
		float most = -1e9f;
		for (int g = 0; g < goods; g++) {
			float sum = 0;
			for (size_t k = 0; k < kernels; k++)
				sum += say[static_cast<size_t>(g)][k] * std::sqrt(strongest[k]);
			if (sum > most)
				most = sum, best = g;
		}
		return best;
	}

private:
	std::array<std::array<float, 25>, kernels> kernel_of;
	std::array<std::array<float, kernels>, goods> say;
};

}  // namespace

int main()
{
	Terminal terminal;
	std::vector<std::thread> threads;
	threads.emplace_back([&] {
		std::mt19937 random(1);
		std::vector<Packed> archive;
		for (int i = 0; i < 40; i++)
			archive.push_back(pack_of(random));
		for (size_t i = 0; !terminal.is_closed(); i++)
			terminal.offer(archive[i % archive.size()]);
	});
	for (int consumer = 0; consumer < 2; consumer++)
		threads.emplace_back([&] {
			Inspector inspector;
			Scan scan(side * side);
			while (terminal.take(scan, nullptr))
				inspector.classify(scan);
		});

	watch watch;
	Inspector inspector;
	Scan scan(side * side);
	std::array<int, goods> found{};
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("take");
			if (!terminal.take(scan, &watch))
				break;
		}
		found[static_cast<size_t>(inspector.classify(scan))]++;
	}
	watch_tell(&watch);
	terminal.close();
	for (auto &thread : threads)
		thread.join();
	std::printf("%d %d %d\n", found[0], found[1], found[2]);
}
