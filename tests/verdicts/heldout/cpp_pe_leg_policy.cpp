// A policy for a leg that hops: evolution strategies, each step tries pairs of disturbed policies on a leg of springs and moves to the better ones.
//
// Decoy: sensors behind virtual calls, a map of names, text, a datagram to a screen, a thread that averages rewards: all of a moment.
// Truth: time of the map, the text, the datagram and the handing over to the thread, as a share of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <arpa/inet.h>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

constexpr int Sensors = 5, Units = 20, Pairs = 10, Moments = 400;
constexpr int Weights = Units * (Sensors + 2);

struct Leg {
	double height = 1.2, speed = 0, angle = 0.1, turn = 0, thrust = 0;
};

struct Sensor {
	virtual ~Sensor() = default;
	virtual float feel(const Leg &leg) const = 0;
};
struct Height : Sensor {
	float feel(const Leg &leg) const override { return float(leg.height - 1); }
};
struct Speed : Sensor {
	float feel(const Leg &leg) const override { return float(0.3 * leg.speed); }
};
struct Angle : Sensor {
	float feel(const Leg &leg) const override { return float(std::sin(leg.angle)); }
};
struct Turn : Sensor {
	float feel(const Leg &leg) const override { return float(0.2 * leg.turn); }
};
struct Ground : Sensor {
	float feel(const Leg &leg) const override { return leg.height < 1 ? 1.0f : 0.0f; }
};

class Averager {
public:
	Averager() : thread_([this] { run(); }) {}
	~Averager()
	{
		{
			std::lock_guard<std::mutex> hold(mutex_);
			done_ = true;
		}
		change_.notify_one();
		thread_.join();
	}
	void hear(double reward)
	{
		std::lock_guard<std::mutex> hold(mutex_);
		heard_.push_back(reward);
		change_.notify_one();
	}

private:
	void run()
	{
		std::unique_lock<std::mutex> hold(mutex_);
		while (!done_) {
			change_.wait(hold, [this] { return done_ || !heard_.empty(); });
			for (double reward : heard_)
				mean_ += 0.1 * (reward - mean_);
			heard_.clear();
		}
	}
	std::mutex mutex_;
	std::condition_variable change_;
	std::vector<double> heard_;
	double mean_ = 0;
	bool done_ = false;
	std::thread thread_;
};

double hop(const std::vector<float> &policy, const std::vector<std::unique_ptr<Sensor>> &sensors)
{
	DWELL_ZONE("hop");
	Leg leg;
	double reward = 0;
	for (int m = 0; m < Moments; m++) {
		float felt[Sensors], push = 0, swing = 0;
		for (int s = 0; s < Sensors; s++)
			felt[s] = sensors[s]->feel(leg);
		for (int u = 0; u < Units; u++) {
			const float *row = &policy[u * (Sensors + 2)];
			float sum = 0;
			for (int s = 0; s < Sensors; s++)
				sum += row[s] * felt[s];
			sum = std::tanh(sum);
			push += row[Sensors] * sum;
			swing += row[Sensors + 1] * sum;
		}
		leg.thrust = std::tanh(push);
		const double spring = leg.height < 1 ? 180 * (1 - leg.height) - 2 * leg.speed + 6 * leg.thrust : 0;
		leg.speed += 0.01 * (spring - 9.81);
		leg.height += 0.01 * leg.speed;
		leg.turn += 0.01 * (4 * std::tanh(swing) - 1.5 * leg.turn - 3 * std::sin(leg.angle));
		leg.angle += 0.01 * leg.turn;
		reward += leg.height * std::cos(leg.angle) - 0.02 * leg.thrust * leg.thrust;
	}
	return reward / Moments;
}

} // namespace

int main()
{
	std::vector<std::unique_ptr<Sensor>> sensors;
	sensors.push_back(std::make_unique<Height>());
	sensors.push_back(std::make_unique<Speed>());
	sensors.push_back(std::make_unique<Angle>());
	sensors.push_back(std::make_unique<Turn>());
	sensors.push_back(std::make_unique<Ground>());
	std::mt19937 dice(6);
	std::normal_distribution<float> bell;
	std::vector<float> policy(Weights, 0.01f), shift(Weights), move(Weights), trial(Weights);
	std::map<std::string, double> best;
	std::ostringstream screen;
	Averager averager;
	const int line = socket(AF_INET, SOCK_DGRAM, 0);
	sockaddr_in there{};
	there.sin_family = AF_INET;
	there.sin_port = htons(47811);
	there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	watch watch;

	watch_begin(&watch);
	while (watch_seconds(&watch) < 6) {
		DWELL_STEP();
		double reward = 0;
		std::fill(move.begin(), move.end(), 0.0f);
		for (int p = 0; p < Pairs; p++) {
			for (int i = 0; i < Weights; i++) {
				shift[i] = 0.1f * bell(dice);
				trial[i] = policy[i] + shift[i];
			}
			const double more = hop(trial, sensors);
			for (int i = 0; i < Weights; i++)
				trial[i] = policy[i] - shift[i];
			const double less = hop(trial, sensors);
			for (int i = 0; i < Weights; i++)
				move[i] += float(more - less) * shift[i];
			reward += (more + less) / (2 * Pairs);
		}
		for (int i = 0; i < Weights; i++)
			policy[i] = 0.999f * policy[i] + 0.05f * move[i];
		planted_begin(&watch);
		double &record = best["leg " + std::to_string(watch.steps % 8)];
		record = std::max(record, reward);
		if (watch.steps % 50 == 0) {
			screen.str("");
			screen << watch.steps << ' ' << reward;
			const std::string text = screen.str();
			(void)!sendto(line, text.data(), text.size(), MSG_DONTWAIT, reinterpret_cast<sockaddr *>(&there), sizeof there);
			averager.hear(reward);
		}
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
	close(line);
	std::printf("best %.4f\n", best["leg 0"]);
	return 0;
}
