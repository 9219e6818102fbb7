// Learns vectors of dialect words from their neighbours. The vectors live in another process, the keeper, which other
// trainers could use too; this trainer sends it gradients over TCP on this machine.
//
// Planted: gradients go to the keeper row by row, and each row waits for the answer with the new vector.
// Truth: time of sending rows and waiting for their answers, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <vector>

namespace {

constexpr int words = 3000, width = 96, pairs = 3600, others = 6;

struct Row {
	int word;
	float values[width];
};

class Wire {
public:
	explicit Wire(int fd) : fd(fd)
	{
		const int yes = 1;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	}
	~Wire() { close(fd); }

	void send(const Row &row)
	{
		if (write(fd, &row, sizeof row) != sizeof row)
			throw std::runtime_error("the other side is gone");
	}

	bool receive(Row &row)
	{
		auto *at = reinterpret_cast<char *>(&row);
		for (size_t left = sizeof row; left;) {
			const ssize_t got = read(fd, at, left);
			if (got <= 0)
				return false;
			at += got;
			left -= static_cast<size_t>(got);
		}
		return true;
	}

private:
	int fd;
};

void keep(int listener)
{
	Wire wire(accept(listener, nullptr, nullptr));
	std::vector<Row> table(words);
	for (int w = 0; w < words; w++)
		for (int i = 0; i < width; i++)
			table[static_cast<size_t>(w)].values[i] = 0.1f * std::sin(static_cast<float>(w * 7 + i));
	for (Row row; wire.receive(row);) {
		Row &kept = table[static_cast<size_t>(row.word)];
		for (int i = 0; i < width; i++)
			kept.values[i] -= 0.05f * row.values[i];
		kept.word = row.word;
		wire.send(kept);
	}
}

class Trainer {
public:
	Trainer(Wire &wire, watch &clock) : wire(wire), clock(clock), vectors(words)
	{
		for (size_t w = 0; w < words; w++)
			for (int i = 0; i < width; i++)
				vectors[w].values[i] = 0.1f * std::sin(static_cast<float>(static_cast<int>(w) * 7 + i));
	}

	double step()
	{
		DWELL_STEP();
		std::map<int, Row> gradients;
		const double loss = compare(gradients);
		DWELL_ZONE("rows");
		planted_begin(&clock);
		for (auto &[word, gradient] : gradients) {
			gradient.word = word;
			wire.send(gradient);
			if (!wire.receive(vectors[static_cast<size_t>(word)]))
				throw std::runtime_error("no answer");
		}
		planted_end(&clock);
		return loss;
	}

private:
	// A word belongs to its neighbour, and not to some others.
	double compare(std::map<int, Row> &gradients)
	{
		DWELL_ZONE("pairs");
		double loss = 0;
		for (int p = 0; p < pairs; p++) {
			const int word = 10 * (rand() % 24), neighbour = (word + 1 + rand() % 3) % words;
			Row &slope = gradients[word];
			const float *v = vectors[static_cast<size_t>(word)].values;
			for (int o = 0; o <= others; o++) {
				const int other = o ? 10 * (rand() % 24) + 5 + rand() % 3 : neighbour;
				const float *u = vectors[static_cast<size_t>(other)].values;
				float dot = 0;
				for (int i = 0; i < width; i++)
					dot += u[i] * v[i];
				const float wrong = 1 / (1 + std::exp(-dot)) - (o == 0);
				loss -= std::log(1.001 - std::fabs(static_cast<double>(wrong)));
				float *back = gradients[other].values;
				for (int i = 0; i < width; i++) {
					back[i] += wrong * v[i] / pairs;
					slope.values[i] += wrong * u[i] / pairs;
				}
			}
		}
		return loss / pairs;
	}

	Wire &wire;
	watch &clock;
	std::vector<Row> vectors;
};

}  // namespace

int main()
{
	sockaddr_in here{};
	here.sin_family = AF_INET;
	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	socklen_t size = sizeof here;
	auto *address = reinterpret_cast<sockaddr *>(&here);
	const int listener = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, address, size) || listen(listener, 1) || getsockname(listener, address, &size))
		return 1;
	const pid_t keeper = fork();
	if (!keeper) {
		keep(listener);
		_exit(0);
	}
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, address, size))
		return 1;
	watch clock;
	double loss = 0;
	{
		Wire wire(fd);
		Trainer trainer(wire, clock);
		watch_begin(&clock);
		for (; watch_seconds(&clock) < 6; clock.steps++)
			loss = trainer.step();
		watch_tell(&clock);
	}
	waitpid(keeper, nullptr, 0);
	std::printf("loss %.4f\n", loss);
}
