// Coroutines of C++20: their frames are on the heap, and whoever resumes them is on the stack.
#include <coroutine>
#include <cstdio>
#include <ctime>
#include <stdexcept>
#include <vector>

static volatile double sink;

static int failed;

struct task {
	struct promise_type {
		task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { failed++; }
	};
	std::coroutine_handle<promise_type> handle;
};

[[gnu::noinline]] static void coroutine_work(int n)
{
	for (int i = 0; i < n; i++)
		sink = sink + i;
}

static task worker(int id)
{
	for (int i = 0; i < 200; i++) {
		coroutine_work(30000);
		co_await std::suspend_always{};
	}
	if (id % 2)
		throw std::runtime_error("odd");
}

int main()
{
	std::vector<task> tasks;

	for (int i = 0; i < 20; i++)
		tasks.push_back(worker(i));
	for (bool any = true; any;) {
		any = false;
		for (auto &task : tasks)
			if (!task.handle.done()) {
				task.handle.resume();
				any = true;
			}
	}
	for (auto &task : tasks)
		task.handle.destroy();
	std::printf("%d of %zu threw\n", failed, tasks.size());
}
