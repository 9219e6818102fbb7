/*
 * The second stage of a recommender: it ranks forty candidates of a user with a small network.
 *
 * Planted: the features of the candidates come from a server on this machine, one round trip for each of them.
 * Truth: time of the round trips, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int kSeconds = 6, kCandidates = 40, kFeatures = 64, kHidden = 1280;

using Features = std::array<float, kFeatures>;

void transfer(int socket, void *data, size_t size, bool out)
{
	for (char *at = static_cast<char *>(data); size;) {
		const ssize_t done = out ? write(socket, at, size) : read(socket, at, size);
		if (done <= 0)
			_exit(0); // the ranker has gone
		at += done;
		size -= static_cast<size_t>(done);
	}
}

[[noreturn]] void serve(int socket)
{
	std::vector<Features> table(5000);
	for (size_t item = 0; item < table.size(); item++)
		for (int at = 0; at < kFeatures; at++)
			table[item][at] = static_cast<float>((item * 31 + at * 17) % 97) / 97;
	for (;;) {
		uint64_t item;
		transfer(socket, &item, sizeof item, false);
		transfer(socket, table[item % table.size()].data(), sizeof(Features), true);
	}
}

class FeatureStore {
public:
	FeatureStore()
	{
		const int door = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
		sockaddr_in address = {};
		socklen_t size = sizeof address;
		address.sin_family = AF_INET;
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		if (bind(door, reinterpret_cast<sockaddr *>(&address), size) || listen(door, 1) ||
		    getsockname(door, reinterpret_cast<sockaddr *>(&address), &size))
			exit(1);
		server_ = fork();
		if (!server_) {
			const int client = accept(door, nullptr, nullptr);
			setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
			serve(client);
		}
		socket_ = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(socket_, reinterpret_cast<sockaddr *>(&address), size))
			exit(1);
		setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
		close(door);
	}
	~FeatureStore()
	{
		close(socket_);
		waitpid(server_, nullptr, 0);
	}
	Features get(uint64_t item)
	{
		Features features;
		transfer(socket_, &item, sizeof item, true);
		transfer(socket_, features.data(), sizeof features, false);
		return features;
	}

private:
	int socket_;
	pid_t server_;
};

float score(const Features &features, const std::vector<float> &first, const std::vector<float> &second)
{
	float sum = 0;
	for (int unit = 0; unit < kHidden; unit++) {
		float level = 0;
		for (int at = 0; at < kFeatures; at++)
			level += first[unit * kFeatures + at] * features[at];
		sum += second[unit] * std::tanh(level);
	}
	return sum;
}

} // namespace

int main()
{
	FeatureStore store;
	std::vector<float> first(kHidden * kFeatures), second(kHidden), scores(kCandidates);
	std::vector<Features> features(kCandidates);
	std::vector<int> order(kCandidates);
	uint64_t user = 1, clicks = 0;
	struct watch watch;

	for (size_t at = 0; at < first.size(); at++)
		first[at] = static_cast<float>(at * 7 % 13) / 130 - 0.05f;
	for (size_t at = 0; at < second.size(); at++)
		second[at] = static_cast<float>(at % 5) - 2;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < kSeconds; watch.steps++) {
		DWELL_STEP();
		user = user * 6364136223846793005u + 1442695040888963407u;
		planted_begin(&watch);
		{
			DWELL_ZONE("fetch_features");
			for (int at = 0; at < kCandidates; at++)
				features[at] = store.get((user >> 33) + static_cast<uint64_t>(at) * 71);
		}
		planted_end(&watch);
		{
			DWELL_ZONE("score");
			for (int at = 0; at < kCandidates; at++)
				scores[at] = score(features[at], first, second);
		}
		DWELL_ZONE("rank");
		std::iota(order.begin(), order.end(), 0);
		std::sort(order.begin(), order.end(), [&](int a, int b) { return scores[a] > scores[b]; });
		clicks += static_cast<uint64_t>(order[0]);
	}
	watch_tell(&watch);
	printf("%llu\n", static_cast<unsigned long long>(clicks));
}
