// Teaches the pilot of a harbour crane: a deterministic policy and a critic learn from a plant that is a server of its
// own on a socket, as the simulator of the vendor is.
//
// Planted: a request is sent as a head and a body with Nagle's algorithm on, so the body waits for the late ACK of the head.
// Truth: time between the request and its answer, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <netinet/in.h>
#include <random>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

struct Head {
	uint32_t kind, bytes;
};

constexpr int kState = 6, kCranes = 32, kHidden = 128, kBatch = 900;

void read_all(int fd, void *to, size_t bytes)
{
	auto *at = static_cast<char *>(to);
	while (bytes) {
		const ssize_t n = recv(fd, at, bytes, 0);
		if (n <= 0)
			throw std::runtime_error("closed");
		at += n;
		bytes -= static_cast<size_t>(n);
	}
}

// The vendor's side: swings of all cranes for one tick.
class Plant {
public:
	Plant()
	{
		listener_ = socket(AF_INET, SOCK_STREAM, 0);
		sockaddr_in where = {};
		where.sin_family = AF_INET;
		where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		socklen_t size = sizeof where;
		if (bind(listener_, reinterpret_cast<sockaddr *>(&where), size) || listen(listener_, 1) ||
		    getsockname(listener_, reinterpret_cast<sockaddr *>(&where), &size))
			throw std::runtime_error("no socket");
		where_ = where;
		thread_ = std::thread([this] { serve(); });
	}
	~Plant()
	{
		thread_.join();
		close(listener_);
	}
	sockaddr_in where() const { return where_; }

private:
	void serve()
	{
		const int peer = accept(listener_, nullptr, nullptr);
		std::vector<float> state(kCranes * kState, 0.1f), force;
		try {
			for (;;) {
				Head head;
				read_all(peer, &head, sizeof head);
				if (!head.bytes)
					break;
				force.resize(head.bytes / sizeof(float));
				read_all(peer, force.data(), head.bytes);
				for (int c = 0; c < kCranes; c++) {
					float *s = &state[c * kState];
					for (int tick = 0; tick < 10; tick++) {
						s[1] += 0.01f * (force[c] - 0.2f * s[1]);
						s[0] += 0.01f * s[1];
						s[3] += 0.01f * (-9.8f * std::sin(s[2]) - force[c] * std::cos(s[2]) - 0.1f * s[3]);
						s[2] += 0.01f * s[3];
						s[4] = std::sin(s[2]);
						s[5] = std::cos(s[2]);
					}
				}
				if (send(peer, state.data(), state.size() * sizeof(float), 0) < 0)
					break;
			}
		} catch (const std::runtime_error &) {
		}
		close(peer);
	}
	int listener_;
	sockaddr_in where_;
	std::thread thread_;
};

class Remote {
public:
	explicit Remote(const sockaddr_in &where) : fd_(socket(AF_INET, SOCK_STREAM, 0))
	{
		if (connect(fd_, reinterpret_cast<const sockaddr *>(&where), sizeof where))
			throw std::runtime_error("no plant");
	}
	~Remote()
	{
		close(fd_);
	}
	void exchange(const std::vector<float> &force, std::vector<float> &state)
	{
		const Head head = { 7, static_cast<uint32_t>(force.size() * sizeof(float)) };
		send(fd_, &head, sizeof head, 0);
		send(fd_, force.data(), head.bytes, 0);
		read_all(fd_, state.data(), state.size() * sizeof(float));
	}

private:
	int fd_;
};

struct Net {
	float in[kHidden][kState + 1], mid[kHidden][kHidden], out[kHidden];

	float value(const float *s, float force, float (*kept)[kHidden]) const
	{
		float y = 0;
		for (int h = 0; h < kHidden; h++) {
			float a = in[h][kState] * force;
			for (int i = 0; i < kState; i++)
				a += in[h][i] * s[i];
			kept[0][h] = std::tanh(a);
		}
		for (int h = 0; h < kHidden; h++) {
			float a = 0;
			for (int k = 0; k < kHidden; k++)
				a += mid[h][k] * kept[0][k];
			kept[1][h] = std::tanh(a);
			y += out[h] * kept[1][h];
		}
		return y;
	}
	void learn(const float *s, float force, float wanted, float rate)
	{
		float kept[2][kHidden], low[kHidden] = {};
		const float error = rate * (value(s, force, kept) - wanted);
		for (int h = 0; h < kHidden; h++) {
			const float back = error * out[h] * (1 - kept[1][h] * kept[1][h]);
			out[h] -= error * kept[1][h];
			for (int k = 0; k < kHidden; k++) {
				low[k] += back * mid[h][k];
				mid[h][k] -= back * kept[0][k];
			}
		}
		for (int h = 0; h < kHidden; h++) {
			const float back = low[h] * (1 - kept[0][h] * kept[0][h]);
			for (int i = 0; i < kState; i++)
				in[h][i] -= back * s[i];
			in[h][kState] -= back * force;
		}
	}
};

struct Moment {
	float state[kState], force, reward;
};

}  // namespace

int main()
{
	std::mt19937 random(8);
	std::normal_distribution<float> normal(0, 1);
	std::vector<Moment> memory(8192);
	std::vector<float> state(kCranes * kState, 0.1f), force(kCranes);
	static Net critic, policy;
	size_t seen = 0;
	watch clock;

	for (Net *net : { &critic, &policy })
		for (size_t i = 0; i < sizeof *net / sizeof(float); i++)
			reinterpret_cast<float *>(net)[i] = 0.08f * normal(random);
	Plant plant;
	Remote remote(plant.where());
	watch_begin(&clock);
	for (; watch_seconds(&clock) < 6.5; clock.steps++) {
		DWELL_STEP();
		{
			DWELL_ZONE("act");
			float kept[2][kHidden];
			for (int c = 0; c < kCranes; c++)
				force[c] = std::tanh(policy.value(&state[c * kState], 0, kept)) + 0.2f * normal(random);
		}
		planted_begin(&clock);
		remote.exchange(force, state);
		planted_end(&clock);
		for (int c = 0; c < kCranes; c++, seen++) {
			Moment &m = memory[seen % memory.size()];
			std::memcpy(m.state, &state[c * kState], sizeof m.state);
			m.force = force[c];
			m.reward = -std::fabs(m.state[2]) - 0.1f * std::fabs(m.state[0] - 1);
		}
		const size_t known = seen < memory.size() ? seen : memory.size();
		{
			DWELL_ZONE("critic");
			for (int b = 0; b < kBatch; b++) {
				const Moment &m = memory[random() % known];
				critic.learn(m.state, m.force, m.reward, 1e-3f);
			}
		}
		DWELL_ZONE("policy");
		float kept[2][kHidden];
		for (int b = 0; b < kBatch; b++) {
			const Moment &m = memory[random() % known];
			const float up = critic.value(m.state, m.force + 0.1f, kept), down = critic.value(m.state, m.force - 0.1f, kept);
			policy.learn(m.state, 0, m.force + (up > down ? 0.1f : -0.1f), 1e-3f);
		}
	}
	watch_tell(&clock);
	std::printf("angle %g\n", state[2]);
}
