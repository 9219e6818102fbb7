// Sorts letters to a town hall into departments: a network over hashed words, inference and learning in turn.
//
// Decoy: the next letters come from std::async(), a thread writes and syncs the weights now and then, a lock guards the
// counts, and each step prints a flushed line; the loop hardly waits for any of it.
// Truth: time of these in the loop, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int letters = 320, words = 60, slots = 6000, units = 64, departments = 16;

struct Bag {
	std::vector<int> slot;
	int department;
};

using Post = std::vector<Bag>;

Post collect(unsigned day)
{
	std::mt19937 random(day);
	Post post(letters);

	for (auto &letter : post) {
		letter.department = static_cast<int>(random() % departments);
		for (int w = 0; w < words; w++) {
			const unsigned word = static_cast<unsigned>(random() % 400) + static_cast<unsigned>(letter.department) * 37;
			letter.slot.push_back(static_cast<int>(word * 2654435761u % slots));
		}
	}
	return post;
}

struct Network {
	std::vector<float> word = std::vector<float>(slots * units), unit = std::vector<float>(departments * units);

	float read(const Bag &letter, bool learns)
	{
		float hidden[units] = {}, said[departments], back[units] = {}, sum = 0;

		for (int slot : letter.slot)
			for (int u = 0; u < units; u++)
				hidden[u] += word[static_cast<size_t>(slot * units + u)];
		for (float &h : hidden)
			h = std::tanh(h);
		for (int d = 0; d < departments; d++) {
			float z = 0;
			for (int u = 0; u < units; u++)
				z += unit[static_cast<size_t>(d * units + u)] * hidden[u];
			sum += said[d] = std::exp(z);
		}
		if (!learns)
			return said[letter.department] / sum;
		for (int d = 0; d < departments; d++) {
			const float miss = 0.02f * (said[d] / sum - static_cast<float>(d == letter.department));
			for (int u = 0; u < units; u++) {
				back[u] += miss * unit[static_cast<size_t>(d * units + u)];
				unit[static_cast<size_t>(d * units + u)] -= miss * hidden[u];
			}
		}
		for (int slot : letter.slot)
			for (int u = 0; u < units; u++)
				word[static_cast<size_t>(slot * units + u)] -= back[u] * (1 - hidden[u] * hidden[u]);
		return said[letter.department] / sum;
	}
};

std::mutex counts_lock, sleep_lock;
std::condition_variable closing;
std::map<int, long> counts;
bool closed = false;

void keep(const Network &network)
{
	char path[] = "/tmp/mail_triage_XXXXXX";
	const int file = mkstemp(path);

	unlink(path);
	for (;;) {
		std::unique_lock<std::mutex> lock(sleep_lock);
		if (closing.wait_for(lock, std::chrono::milliseconds(700), [] { return closed; }))
			break;
		lock.unlock();
		if (pwrite(file, network.unit.data(), network.unit.size() * sizeof(float), 0) > 0)
			fdatasync(file);
		std::lock_guard<std::mutex> guard(counts_lock);
		counts[-1]++;
	}
	close(file);
}

}  // namespace

int main()
{
	watch watch;
	Network network;
	float right = 0;

	for (size_t i = 0; i < network.word.size(); i++)
		network.word[i] = 0.02f * std::sin(static_cast<float>(i));
	for (size_t i = 0; i < network.unit.size(); i++)
		network.unit[i] = 0.1f * std::cos(static_cast<float>(i));
	std::thread keeper(keep, std::cref(network));
	FILE *log = std::fopen("/dev/null", "w");
	std::deque<std::future<Post>> coming;
	for (unsigned day = 0; day < 4; day++)
		coming.push_back(std::async(std::launch::async, collect, day));
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		const Post post = coming.front().get();
		coming.pop_front();
		coming.push_back(std::async(std::launch::async, collect, static_cast<unsigned>(watch.steps + 4)));
		planted_end(&watch);
		{
			DWELL_ZONE("learn");
			for (int pass = 0; pass < 6; pass++)
				for (const Bag &letter : post)
					network.read(letter, true);
		}
		right = 0;
		{
			DWELL_ZONE("triage");
			for (const Bag &letter : post)
				right += network.read(letter, false);
		}
		planted_begin(&watch);
		{
			std::lock_guard<std::mutex> guard(counts_lock);
			for (const Bag &letter : post)
				counts[letter.department]++;
		}
		std::fprintf(log, "day %d right %.3f\n", watch.steps, static_cast<double>(right / letters));
		std::fflush(log);
		planted_end(&watch);
	}
	watch_tell(&watch);
	std::fclose(log);
	{
		std::lock_guard<std::mutex> lock(sleep_lock);
		closed = true;
	}
	closing.notify_all();
	keeper.join();
}
