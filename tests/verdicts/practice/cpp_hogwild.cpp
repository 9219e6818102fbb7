/*
 * Factorises ratings in C++, with a second thread that folds new ratings into the same factors.
 *
 * Planted: one mutex guards all factors, and the other thread keeps it while it sorts its ratings.
 * Truth: time of taking the mutex in the trainer, as a share of the loop.
 */
#include <dwell/probe.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace
{

constexpr int USERS = 2000, ITEMS = 3000, RANK = 32, BATCH = 60000;
constexpr double SECONDS = 3;

double now_s()
{
	return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
	    .count();
}

struct Rating {
	int user, item;
	float stars;
};

struct Factors {
	std::mutex mutex;
	std::vector<float> users = std::vector<float>(USERS * RANK, 0.1f),
					   items = std::vector<float>(ITEMS * RANK, 0.1f);
};

std::vector<Rating> draw(std::mt19937 &random, int count)
{
	std::vector<Rating> ratings(count);

	for (Rating &rating : ratings)
		rating = { static_cast<int>(random() % USERS), static_cast<int>(random() % ITEMS),
			       static_cast<float>(random() % 5) };
	return ratings;
}

void descend(Factors &factors, const std::vector<Rating> &ratings)
{
	for (const Rating &rating : ratings) {
		float *user = &factors.users[rating.user * RANK],
			  *item = &factors.items[rating.item * RANK], error = -rating.stars;

		for (int each = 0; each < RANK; each++)
			error += user[each] * item[each];
		for (int each = 0; each < RANK; each++) {
			float before = user[each];

			user[each] -= 0.001f * error * item[each];
			item[each] -= 0.001f * error * before;
		}
	}
}

void fold_in(Factors &factors, std::atomic<bool> &training)
{
	std::mt19937 random(2);

	while (training) {
		std::vector<Rating> ratings = draw(random, 110000);
		{
			std::lock_guard<std::mutex> guard(factors.mutex);
			std::sort(ratings.begin(), ratings.end(), [](const Rating &left, const Rating &right) {
				return left.user < right.user;
			});
			ratings.resize(500);
			descend(factors, ratings);
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(8));
	}
}

} // namespace

int main()
{
	Factors factors;
	std::atomic<bool> training{ true };
	std::thread folding(fold_in, std::ref(factors), std::ref(training));
	std::mt19937 random(1);
	std::vector<Rating> all = draw(random, 8 * BATCH);
	double began = now_s(), waited_s = 0, loop_s;
	int steps = 0;

	for (; now_s() - began < SECONDS; steps++) {
		DWELL_STEP();
		std::vector<Rating> batch(all.begin() + steps % 8 * BATCH,
		                          all.begin() + (steps % 8 + 1) * BATCH);
		double asked = now_s();

		std::lock_guard<std::mutex> guard(factors.mutex);
		waited_s += now_s() - asked;
		DWELL_OP("descend");
		descend(factors, batch);
	}
	loop_s = now_s() - began;
	training = false;
	folding.join();
	std::printf("TRUTH {\"share\": %.4f, \"loop_s\": %.2f, \"steps\": %d, \"step_ms\": %.2f}\n",
	            waited_s / loop_s, loop_s, steps, 1e3 * loop_s / steps);
	return 0;
}
