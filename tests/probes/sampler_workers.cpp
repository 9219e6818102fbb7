/*
 * Workers that wait for each other's lock, without a step, and with the long names of templates. usage: sampler_workers [spin]
 * One more thread works in a single function, or with "spin" it spins until the others have ended.
 */
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace engine_of_many_words {
namespace {
std::mutex table_mutex;
std::atomic<int> working{0};
volatile double sink;

double cpu_s()
{
	timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

template <class Key, class Value> struct Executor {
	std::map<Key, Value> values;

	__attribute__((noinline)) void evaluate_all(const std::function<double(const Key &)> &function, const std::vector<Key> &keys)
	{
		for (double end = cpu_s() + 0.01; cpu_s() < end;)
			for (const Key &key : keys)
				values[key] += function(key);
	}
};

template <class Key, class Value> __attribute__((noinline)) void update_table(Executor<Key, Value> &executor, const std::vector<Key> &keys)
{
	std::lock_guard<std::mutex> guard(table_mutex);

	executor.evaluate_all([](const Key &key) { return double(key.size()) + sink; }, keys);
}

void work()
{
	Executor<std::string, std::pair<double, double>::first_type> executor;
	const std::vector<std::string> keys{"weights", "bias", "gradients"};

	for (int i = 0; i < 50; i++)
		update_table(executor, keys);
	working--;
}

__attribute__((noinline)) void sum_pixels()
{
	static float pixels[1000];

	for (double end = cpu_s() + 1; cpu_s() < end;)
		for (int round = 0; round < 100; round++)
			for (int i = 0; i < 1000; i++) {
				pixels[i] = pixels[i] * 0.5f + float(i % 7) / float(round + 1);
				if (pixels[i] > 2)
					sink = sink + pixels[i];
			}
}

__attribute__((noinline)) void spin_until_done()
{
	while (working)
		;
}
}

static int run(bool spins)
{
	std::vector<std::thread> threads;

	working = 3;
	for (int i = 0; i < 3; i++)
		threads.emplace_back(work);
	threads.emplace_back(spins ? spin_until_done : sum_pixels);
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}
}

int main(int count, char **)
{
	return engine_of_many_words::run(count > 1);
}
