// Answers growers' questions on loopback: a thread reads requests from a socket, the loop classifies leaves in them, and answers.
//
// Decoy: a mutex, a condition, a shared lock on the weights, a write to a socket, a flushed line of log and a vector that grows are all of a moment.
// Truth: time of all these in the loop's thread, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int leaf = 300, units = 512, kinds = 16, leaves = 160;

struct Request {
	int number;
	float light;
};

class Inbox {
public:
	void put(Request request)
	{
		std::lock_guard<std::mutex> lock(mutex_);
		waiting_.push_back(request);
		some_.notify_one();
	}

	Request take()
	{
		std::unique_lock<std::mutex> lock(mutex_);
		some_.wait(lock, [this] { return !waiting_.empty(); });
		Request first = waiting_.front();
		waiting_.pop_front();
		return first;
	}

private:
	std::mutex mutex_;
	std::condition_variable some_;
	std::deque<Request> waiting_;
};

bool all_of(ssize_t (*call)(int, void *, size_t), int file, void *data, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		const ssize_t count = call(file, static_cast<char *>(data) + done, bytes - done);
		if (count <= 0)
			return false;
		done += static_cast<size_t>(count);
	}
	return true;
}

ssize_t send_some(int file, void *data, size_t bytes)
{
	return send(file, data, bytes, MSG_NOSIGNAL);
}

/* A pair of connected TCP sockets on 127.0.0.1. */
bool connected(int pair[2])
{
	sockaddr_in address{};
	socklen_t length = sizeof address;
	const int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(listener, 1) ||
	    getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length))
		return false;
	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(pair[0], reinterpret_cast<sockaddr *>(&address), sizeof address))
		return false;
	pair[1] = accept(listener, nullptr, nullptr);
	for (int i = 0; i < 2; i++)
		setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	close(listener);
	return pair[1] >= 0;
}

struct Net {
	std::vector<float> first = std::vector<float>(leaf * units), second = std::vector<float>(units * kinds);
	std::shared_mutex swap;

	int classify(const std::vector<float> &pixels) const
	{
		std::vector<float> unit(units), said(kinds);
		for (int i = 0; i < leaf; i++)
			for (int u = 0; u < units; u++)
				unit[u] += pixels[i] * first[i * units + u];
		for (int u = 0; u < units; u++) {
			unit[u] = unit[u] > 0 ? unit[u] : 0;
			for (int k = 0; k < kinds; k++)
				said[k] += unit[u] * second[u * kinds + k];
		}
		int best = 0;
		for (int k = 1; k < kinds; k++)
			if (said[k] > said[best])
				best = k;
		return best;
	}
};

}  // namespace

int main()
{
	int wire[2];
	if (!connected(wire)) {
		std::perror("loopback");
		return 1;
	}
	std::mt19937 random(3);
	std::normal_distribution<float> normal(0, 0.1f);
	Net net;
	for (auto *weights : {&net.first, &net.second})
		for (auto &w : *weights)
			w = normal(random);
	std::vector<std::vector<float>> pictures(leaves, std::vector<float>(leaf));
	for (auto &picture : pictures)
		for (auto &pixel : picture)
			pixel = normal(random);

	Inbox inbox;
	std::atomic<bool> stop{false};
	/* The growers keep six requests on the way. */
	std::thread growers([&] {
		int number = 0, answer;
		for (; number < 6; number++) {
			Request request{number, 1};
			all_of(send_some, wire[0], &request, sizeof request);
		}
		while (!stop && all_of(read, wire[0], &answer, sizeof answer)) {
			Request request{number++, 0.9f + 0.01f * static_cast<float>(answer)};
			all_of(send_some, wire[0], &request, sizeof request);
		}
	});
	std::thread reader([&] {
		Request request;
		while (all_of(read, wire[1], &request, sizeof request))
			inbox.put(request);
	});
	FILE *log = std::tmpfile();
	std::vector<int> answers;
	std::vector<float> lit(leaf);
	watch watch;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		planted_begin(&watch);
		const Request request = inbox.take();
		planted_end(&watch);
		int kind = 0;
		{
			DWELL_ZONE("classify");
			std::shared_lock<std::shared_mutex> lock(net.swap);
			for (int n = 0; n < leaves; n++) {
				for (int i = 0; i < leaf; i++)
					lit[i] = pictures[n][i] * request.light;
				kind = (kind + net.classify(lit)) % kinds;
			}
		}
		DWELL_ZONE("answer");
		planted_begin(&watch);
		all_of(send_some, wire[1], &kind, sizeof kind);
		answers.push_back(kind);
		if (watch.steps % 8 == 0 && log) {
			std::fprintf(log, "%d requests, last %d is %d\n", watch.steps, request.number, kind);
			std::fflush(log);
		}
		planted_end(&watch);
	}
	watch_tell(&watch);
	stop = true;
	shutdown(wire[0], SHUT_RDWR);
	shutdown(wire[1], SHUT_RDWR);
	growers.join();
	reader.join();
	std::printf("%zu answers\n", answers.size());
}
