// Predicts a fare from features of both ends of a ride, which a feature store in another process keeps.
//
// Planted: the store is asked for one place at a time over TCP on loopback, 96 questions a batch, each awaited.
// Truth: time of the questions, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

namespace {

constexpr int rides = 48, places = 5000, facts = 32, units = 192;

struct Features {
	float fact[facts];
};

void all_of(int socket, void *data, size_t size, bool sends)
{
	auto *at = static_cast<char *>(data);
	while (size) {
		const ssize_t count = sends ? ::send(socket, at, size, MSG_NOSIGNAL) : ::recv(socket, at, size, 0);
		if (count <= 0)
			throw std::runtime_error("the feature store is gone");
		at += count;
		size -= static_cast<size_t>(count);
	}
}

[[noreturn]] void keep_store(int listener)
{
	std::vector<Features> store(places);
	int place, one = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int p = 0; p < places; p++)
		for (int f = 0; f < facts; f++)
			store[static_cast<size_t>(p)].fact[f] = std::sin(0.01f * static_cast<float>(p * (f + 1)));
	const int client = accept(listener, nullptr, nullptr);
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	try {
		for (;;) {
			all_of(client, &place, sizeof place, false);
			all_of(client, &store[static_cast<size_t>(place)], sizeof(Features), true);
		}
	} catch (const std::exception &) {
	}
	_exit(0);
}

class Store {
public:
	Store()
	{
		const int listener = socket(AF_INET, SOCK_STREAM, 0);
		sockaddr_in address{};
		socklen_t size = sizeof address;
		int one = 1;

		address.sin_family = AF_INET;
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) || listen(listener, 1) ||
		    getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size))
			throw std::runtime_error("no port");
		child = fork();
		if (child == 0)
			keep_store(listener);
		connection = socket(AF_INET, SOCK_STREAM, 0);
		if (connect(connection, reinterpret_cast<sockaddr *>(&address), sizeof address))
			throw std::runtime_error("no feature store");
		setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		close(listener);
	}
	~Store()
	{
		close(connection);
		waitpid(child, nullptr, 0);
	}
	Store(const Store &) = delete;
	Store &operator=(const Store &) = delete;
	Features ask(int place)
	{
		Features features;
		all_of(connection, &place, sizeof place, true);
		all_of(connection, &features, sizeof features, false);
		return features;
	}

private:
	pid_t child;
	int connection;
};

class Fares {
public:
	Fares()
	{
		for (auto &row : in)
			for (float &w : row)
				w = 0.1f * (static_cast<float>(rand() % 200) / 100 - 1);
		for (auto &row : middle)
			for (float &w : row)
				w = 0.1f * (static_cast<float>(rand() % 200) / 100 - 1);
		for (float &w : out)
			w = 0.1f;
	}
	float learn(const float *ride, float fare)
	{
		float first[units], second[units], back[units] = {}, said = 0;

		for (int u = 0; u < units; u++) {
			float z = 0;
			for (int f = 0; f < 2 * facts; f++)
				z += in[u][f] * ride[f];
			first[u] = std::fmax(z, 0.0f);
		}
		for (int u = 0; u < units; u++) {
			float z = 0;
			for (int k = 0; k < units; k++)
				z += middle[u][k] * first[k];
			second[u] = std::fmax(z, 0.0f);
			said += out[u] * second[u];
		}
		const float miss = said - fare, step = 1e-4f * miss;
		for (int u = 0; u < units; u++) {
			const float slope = second[u] > 0 ? step * out[u] : 0;
			out[u] -= step * second[u];
			for (int k = 0; k < units; k++) {
				back[k] += slope * middle[u][k];
				middle[u][k] -= slope * first[k];
			}
		}
		for (int u = 0; u < units; u++)
			if (first[u] > 0)
				for (int f = 0; f < 2 * facts; f++)
					in[u][f] -= back[u] * ride[f];
		return miss * miss;
	}

private:
	float in[units][2 * facts], middle[units][units], out[units];
};

}  // namespace

int main()
{
	watch watch;
	Store store;
	Fares fares;
	std::mt19937 random(12);
	float loss = 0;

	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		std::vector<Features> ends;
		planted_begin(&watch);
		for (int r = 0; r < 2 * rides; r++)
			ends.push_back(store.ask(static_cast<int>(random() % places)));
		planted_end(&watch);
		DWELL_ZONE("learn");
		loss = 0;
		for (int pass = 0; pass < 6; pass++)
			for (int r = 0; r < rides; r++)
				loss += fares.learn(ends[2 * r].fact, 4 + ends[2 * r].fact[0] - ends[2 * r + 1].fact[1]);
	}
	watch_tell(&watch);
	std::printf("loss %.4f\n", static_cast<double>(loss / rides));
}
