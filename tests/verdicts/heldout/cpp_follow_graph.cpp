// Embeds the users of a social network by whom they follow. Two threads share each mini-batch: one trains the
// accounts of the first half of all ids, the other those of the second half.
//
// Planted: ids were given in the order of joining, and old accounts follow twice as many others. So the loop's own
// thread, which has the young ones, waits for the other in every mini-batch.
// Truth: time of waiting for the other thread, of the loop.
#include "clock.h"

#include <dwell/probe.h>

#include <cmath>
#include <condition_variable>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

constexpr int kUsers = 6000, kDim = 64, kBatch = 400, kNegatives = 3;

struct Graph {
	std::vector<std::vector<int>> follows{std::vector<std::vector<int>>(kUsers)};
	std::vector<float> source, target;
};

static void trainUser(Graph &graph, int user, std::minstd_rand &random)
{
	float *u = &graph.source[user * kDim], change[kDim];
	for (int other : graph.follows[user]) {
		std::fill(change, change + kDim, 0.0f);
		for (int n = 0; n <= kNegatives; n++) {
			float *v = &graph.target[(n ? static_cast<int>(random() % kUsers) : other) * kDim];
			float sum = 0;
			for (int i = 0; i < kDim; i++)
				sum += u[i] * v[i];
			const float error = 0.03f * ((n ? 0.0f : 1.0f) - 1 / (1 + std::exp(-sum)));
			for (int i = 0; i < kDim; i++) {
				change[i] += error * v[i];
				v[i] += error * u[i];
			}
		}
		for (int i = 0; i < kDim; i++)
			u[i] += change[i];
	}
}

class Partner {
public:
	explicit Partner(Graph &graph) : graph_(graph), thread_([this] { run(); }) {}
	~Partner()
	{
		give({}, true);
		thread_.join();
	}
	void give(std::vector<int> users, bool last = false)
	{
		std::lock_guard<std::mutex> guard(mutex_);
		users_ = std::move(users);
		last_ = last;
		busy_ = true;
		changed_.notify_all();
	}
	void finish()
	{
		std::unique_lock<std::mutex> lock(mutex_);
		changed_.wait(lock, [this] { return !busy_; });
	}

private:
	void run()
	{
		std::minstd_rand random(77);
		std::unique_lock<std::mutex> lock(mutex_);
		for (;;) {
			changed_.wait(lock, [this] { return busy_; });
			if (last_)
				return;
			lock.unlock();
			{
				DWELL_ZONE("train old accounts");
				for (int user : users_)
					trainUser(graph_, user, random);
			}
			lock.lock();
			busy_ = false;
			changed_.notify_all();
		}
	}

	Graph &graph_;
	std::mutex mutex_;
	std::condition_variable changed_;
	std::vector<int> users_;
	bool busy_ = false, last_ = false;
	std::thread thread_;
};

int main()
{
	std::minstd_rand random(5);
	Graph graph;
	struct watch watch;
	for (int user = 0; user < kUsers; user++) {
		const int count = 12 + static_cast<int>(40 * std::exp(-4.0 * user / kUsers));
		for (int i = 0; i < count; i++)
			graph.follows[user].push_back(static_cast<int>(random() % kUsers));
	}
	for (int i = 0; i < kUsers * kDim; i++) {
		graph.source.push_back((static_cast<float>(random() % 2000) - 1000) * 1e-4f);
		graph.target.push_back((static_cast<float>(random() % 2000) - 1000) * 1e-4f);
	}
	Partner partner(graph);
	watch_begin(&watch);
	while (watch_seconds(&watch) < 6.5) {
		DWELL_STEP();
		std::vector<int> young, old;
		for (int i = 0; i < kBatch; i++) {
			const int user = static_cast<int>(random() % kUsers);
			(user < kUsers / 2 ? old : young).push_back(user);
		}
		partner.give(std::move(old));
		{
			DWELL_ZONE("train young accounts");
			for (int user : young)
				trainUser(graph, user, random);
		}
		planted_begin(&watch);
		partner.finish();
		planted_end(&watch);
		watch.steps++;
	}
	watch_tell(&watch);
}
