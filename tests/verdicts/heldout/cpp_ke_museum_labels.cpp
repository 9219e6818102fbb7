// Writes short labels for a museum's objects: a recurrent network chooses words; how much room a label has comes from the showcase's server.
//
// Planted: the request's head and its body are sent by two small writes on one connection, so the second one waits for a late acknowledgement.
// Truth: time from the request to the answer, of the loop; the server itself needs a few microseconds.
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void all(bool good, const char *what)
{
	if (!good) {
		std::perror(what);
		std::exit(1);
	}
}

bool take(int socket, void *to, size_t bytes)
{
	auto *at = static_cast<char *>(to);
	while (bytes) {
		const ssize_t got = recv(socket, at, bytes, 0);
		if (got <= 0)
			return false;
		at += got;
		bytes -= static_cast<size_t>(got);
	}
	return true;
}

struct Head {
	uint32_t showcase, bytes;
};

// Knows how many words fit beside an object.
class Showcases {
public:
	Showcases() : listener(socket(AF_INET, SOCK_STREAM, 0))
	{
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		all(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0, "bind");
		socklen_t length = sizeof(address);
		getsockname(listener, reinterpret_cast<sockaddr *>(&address), &length);
		port = address.sin_port;
		all(listen(listener, 1) == 0, "listen");
		server = std::thread([this] { serve(); });
	}
	~Showcases()
	{
		server.join();
		close(listener);
	}

	uint16_t port = 0;

private:
	void serve() const
	{
		const int client = accept(listener, nullptr, nullptr);
		Head head{};
		while (take(client, &head, sizeof(head))) {
			std::string object(head.bytes, ' ');
			if (!take(client, object.data(), object.size()))
				break;
			const uint32_t room = 14 + (head.showcase + static_cast<uint32_t>(object.size())) % 3;
			if (send(client, &room, sizeof(room), 0) < 0)
				break;
		}
		close(client);
	}

	int listener;
	std::thread server;
};

class Room {
public:
	explicit Room(uint16_t port) : connection(socket(AF_INET, SOCK_STREAM, 0))
	{
		sockaddr_in address{};
		address.sin_family = AF_INET;
		address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		address.sin_port = port;
		all(connect(connection, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0, "connect");
	}
	~Room() { close(connection); }

	uint32_t ask(uint32_t showcase, const std::string &object) const
	{
		const Head head{showcase, static_cast<uint32_t>(object.size())};
		uint32_t room = 0;
		all(send(connection, &head, sizeof(head), 0) > 0, "head");
		all(send(connection, object.data(), object.size(), 0) > 0, "body");
		all(take(connection, &room, sizeof(room)), "answer");
		return room;
	}

private:
	int connection;
};

class Writer {
public:
	static constexpr int words = 3000, state = 256;

	Writer() : embed(words * state), turn(state * state), out(words * state), h(state), next(state)
	{
		for (size_t i = 0; i < embed.size(); i++) {
			embed[i] = std::sin(static_cast<float>(i % 9973) * 0.7f);
			out[i] = std::cos(static_cast<float>(i % 7919) * 0.3f);
		}
		for (size_t i = 0; i < turn.size(); i++)
			turn[i] = 0.1f * std::sin(static_cast<float>(i));
	}

	int word(int before)
	{
		for (int i = 0; i < state; i++) {
			float sum = embed[static_cast<size_t>(before * state + i)];
			for (int k = 0; k < state; k++)
				sum += turn[static_cast<size_t>(i * state + k)] * h[static_cast<size_t>(k)];
			next[static_cast<size_t>(i)] = std::tanh(sum);
		}
		h.swap(next);
		float best = -1e9f;
		int chosen = 0;
		for (int w = 0; w < words; w++) {
			float score = 0;
			for (int k = 0; k < state; k++)
				score += out[static_cast<size_t>(w * state + k)] * h[static_cast<size_t>(k)];
			if (score > best && w != before) {
				best = score;
				chosen = w;
			}
		}
		return chosen;
	}

private:
	std::vector<float> embed, turn, out, h, next;
};

}  // namespace

int main()
{
	watch watch;
	Showcases showcases;
	const Room room(showcases.port);
	Writer writer;
	long letters = 0;
	watch_begin(&watch);
	for (; watch_seconds(&watch) < 6; watch.steps++) {
		DWELL_STEP();
		uint32_t fits[5];
		{
			DWELL_ZONE("room");
			planted_begin(&watch);
			fits[0] = room.ask(static_cast<uint32_t>(watch.steps), "bronze fibula, found in the moat");
			planted_end(&watch);
			fits[1] = fits[2] = fits[3] = fits[4] = fits[0];
		}
		DWELL_ZONE("label");
		for (int language = 0; language < 5; language++) {
			int word = static_cast<int>((watch.steps * 5 + language) % Writer::words);
			for (uint32_t i = 0; i < fits[language]; i++) {
				word = writer.word(word);
				letters += word % 9 + 1;
			}
		}
	}
	watch_tell(&watch);
	std::printf("letters %.1f\n", static_cast<double>(letters) / static_cast<double>(watch.steps));
}
