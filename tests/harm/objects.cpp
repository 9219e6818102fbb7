/*
 * Programs in C++: exceptions, threads and their ends. usage: objects NAME; objects --list prints the names.
 */
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <exception>
#include <fstream>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <regex>
#include <shared_mutex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <unwind.h>
#include <vector>

using namespace std::chrono_literals;

namespace
{

void compute(double seconds)
{
	static volatile double sink;
	auto now = [] {
		timespec time;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
		return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
	};
	for (double end = now() + seconds; now() < end;)
		for (int i = 0; i < 20000; i++)
			sink = sink + i;
}

struct Told {
	const char *name;
	~Told()
	{
		std::printf("end of %s\n", name);
		std::fflush(stdout);
	}
};

[[gnu::noinline]] int deep(int depth)
{
	Told told{ depth % 4 ? "a frame" : "a fourth frame" };
	if (!depth)
		throw std::runtime_error("from below");
	compute(.003);
	return deep(depth - 1) + 1;
}

void exceptions()
{
	for (int i = 0; i < 3; i++)
		try {
			std::printf("%d\n", deep(6));
		} catch (const std::exception &error) {
			std::printf("caught %s\n", error.what());
		}
}

int compare_throws(const void *, const void *)
{
	compute(.01);
	throw 5;
}

void through_c()
{
	int values[] = { 3, 2, 1 };
	try {
		std::qsort(values, 3, sizeof *values, compare_throws);
	} catch (int value) {
		std::printf("caught %d\n", value);
	}
}

void many_exceptions()
{
	std::vector<std::thread> threads;
	std::atomic<int> caught{ 0 };
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&] {
			for (int k = 0; k < 3000; k++)
				try {
					throw std::string("text");
				} catch (const std::string &) {
					caught++;
				}
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("caught %d\n", caught.load());
}

void thread_throws()
{
	std::set_terminate([] {
		std::printf("terminate\n");
		std::fflush(stdout);
		std::_Exit(21);
	});
	std::thread([] {
		compute(.05);
		throw 1;
	}).join();
}

void terminates()
{
	std::printf("before\n");
	std::fflush(stdout);
	compute(.05);
	[]() noexcept { throw std::runtime_error("out of noexcept"); }();
}

void aborts()
{
	std::thread left([] { std::this_thread::sleep_for(1s); });
	compute(.03);
}

void loader_message()
{
	static std::mutex log;
	for (auto name : { "libplugin-cuda.so", "libplugin-cpu.so" }) {
		if (dlopen(name, RTLD_NOW))
			continue;
		std::lock_guard<std::mutex> guard(log);
		std::string why = dlerror();
		std::cout << name << " is not used: " << why << "\n";
	}
	std::cout << "goes on\n";
}

void handler_throws()
{
	std::signal(SIGSEGV, [](int number) { throw number; });
	for (int i = 0; i < 3; i++)
		try {
			compute(.02);
			*static_cast<volatile int *>(nullptr) = 1;
		} catch (int number) {
			std::printf("caught signal %d\n", number);
			sigset_t set;
			sigemptyset(&set);
			sigaddset(&set, number);
			sigprocmask(SIG_UNBLOCK, &set, nullptr);
		}
}

void conditions()
{
	std::mutex mutex;
	std::condition_variable changed;
	int turn = 0, rounds = 0;
	auto play = [&](int mine) {
		for (int i = 0; i < 300; i++) {
			std::unique_lock<std::mutex> lock(mutex);
			changed.wait(lock, [&] { return turn == mine; });
			turn = 1 - mine;
			rounds++;
			changed.notify_all();
		}
	};
	std::thread one(play, 0), two(play, 1);
	one.join();
	two.join();
	std::unique_lock<std::mutex> lock(mutex);
	bool late = changed.wait_for(lock, 20ms) == std::cv_status::timeout;
	std::printf("rounds %d, late %d\n", rounds, late);
}

void futures()
{
	auto failing = std::async(std::launch::async, []() -> int {
		compute(.03);
		throw std::out_of_range("async");
	});
	auto fine = std::async(std::launch::async, [] {
		compute(.03);
		return 42;
	});
	std::printf("%d\n", fine.get());
	try {
		failing.get();
	} catch (const std::out_of_range &error) {
		std::printf("caught %s\n", error.what());
	}
	std::promise<int> broken;
	auto future = broken.get_future();
	std::printf("late %d\n", future.wait_for(10ms) == std::future_status::timeout);
}

thread_local Told local{ "a thread's variable" };
Told global{ "a global variable" };

void destructors()
{
	std::thread([] {
		std::printf("%s\n", local.name);
		compute(.03);
	}).join();
	static Told own{ "a static variable" };
	std::atexit([] { std::printf("atexit\n"); });
	std::printf("%s\n", own.name);
	std::exit(3);
}

void cancelled()
{
	pthread_t thread;
	pthread_create(
		&thread, nullptr,
		[](void *) -> void * {
			Told told{ "the cancelled thread" };
			try {
				for (;;)
					usleep(10000);
			} catch (...) {
				std::printf("unwinds\n");
				throw;
			}
			return nullptr;
		},
		nullptr);
	std::this_thread::sleep_for(50ms);
	pthread_cancel(thread);
	void *result = nullptr;
	pthread_join(thread, &result);
	std::printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

void no_memory()
{
	rlimit limit{ 600 << 20, 600 << 20 };
	setrlimit(RLIMIT_AS, &limit);
	compute(.06);
	try {
		std::vector<char> block(std::size_t(900) << 20);
		std::printf("%zu\n", block.size());
	} catch (const std::bad_alloc &error) {
		std::printf("caught %s\n", error.what());
	}
	std::set_new_handler([] {
		std::printf("handler\n");
		std::set_new_handler(nullptr);
	});
	void *none = ::operator new(std::size_t(900) << 20, std::nothrow);
	std::printf("none %d\n", none == nullptr);
}

_Unwind_Reason_Code unwind_count(_Unwind_Context *, void *value)
{
	++*static_cast<int *>(value);
	return _URC_NO_REASON;
}

[[gnu::noinline]] int unwind_depth(int depth)
{
	if (depth) {
		int result = unwind_depth(depth - 1);
		__asm__ volatile("" : "+r"(result));
		return result;
	}
	compute(.06);
	int frames = 0;
	_Unwind_Backtrace(unwind_count, &frames);
	return frames;
}

void backtraces()
{
	std::printf("frames %d\n", unwind_depth(10));
	std::thread([] { std::printf("frames %d\n", unwind_depth(20)); }).join();
}

void streams()
{
	std::ofstream file("stream.tmp");
	for (int i = 0; i < 2000; i++)
		file << i << '\n';
	file.close();
	compute(.05);
	std::ifstream in("stream.tmp");
	long sum = 0, one = 0;
	while (in >> one)
		sum += one;
	std::cout << sum << " " << in.eof() << "\n";
	std::cerr << "to standard error\n";
	std::string text = "a1b22c333";
	std::cout << std::regex_replace(text, std::regex("[0-9]+"), "#") << "\n";
}

void shared_lock()
{
	std::shared_mutex mutex;
	std::map<int, int> values;
	std::vector<std::thread> threads;
	for (int t = 0; t < 4; t++)
		threads.emplace_back([&, t] {
			for (int i = 0; i < 500; i++)
				if (i % 10 == t) {
					std::unique_lock<std::shared_mutex> lock(mutex);
					values[i]++;
				} else {
					std::shared_lock<std::shared_mutex> lock(mutex);
					(void)values.count(i);
				}
		});
	for (auto &thread : threads)
		thread.join();
	std::printf("%zu values\n", values.size());
}

struct Program {
	const char *name;
	void (*run)();
};

const Program programs[] = {
	{ "exceptions through frames", exceptions },
	{ "exceptions through C", through_c },
	{ "exceptions in 4 threads", many_exceptions },
	{ "thread ends by exception", thread_throws },
	{ "exception out of noexcept", terminates },
	{ "thread that is not joined", aborts },
	{ "string of dlerror", loader_message },
	{ "handler throws", handler_throws },
	{ "conditions", conditions },
	{ "futures", futures },
	{ "order of destructors", destructors },
	{ "cancelled thread unwinds", cancelled },
	{ "no memory", no_memory },
	{ "backtraces", backtraces },
	{ "streams", streams },
	{ "shared locks", shared_lock },
};

} // namespace

int main(int count, char **arguments)
{
	const char *gate = std::getenv("HARM_GATE");
	while (gate && access(gate, F_OK))
		usleep(2000);
	unsetenv("HARM_GATE");
	for (const Program &program : programs)
		if (count == 2 && !std::strcmp(arguments[1], "--list"))
			std::printf("%s\n", program.name);
		else if (count == 2 && !std::strcmp(arguments[1], program.name)) {
			program.run();
			return 0;
		}
	return count == 2 && !std::strcmp(arguments[1], "--list") ? 0 : 2;
}
