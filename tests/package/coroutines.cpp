/*
 * Coroutines on one thread and on two: what DWELL_COROUTINE_ZONE() records is the time that each block measures itself.
 *
 * usage: coroutines TRACE      last line: N passed, N failed
 *
 * Two blocks of one coroutine overlap, so that ends in the order of a stack would exchange them.
 */
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <dwell/probe.h>
#include <dwell/trace.h>

struct task {
	struct promise_type {
		task get_return_object() { return { std::coroutine_handle<promise_type>::from_promise(*this) }; }
		std::suspend_never initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() { std::abort(); }
	};
	std::coroutine_handle<promise_type> handle;
};

/* What the blocks took, in ns: measured inside and around. */
static double inside[3], around[3];

struct measured {
	explicit measured(double &length) : to(length), begin(std::chrono::steady_clock::now()) {}
	~measured() { to = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count(); }
	double &to;
	std::chrono::steady_clock::time_point begin;
};

/* The number of suspensions within the block says in which order the blocks end. */
static task serve(size_t number, int suspensions)
{
	{
		const measured outer(around[number]);
		DWELL_COROUTINE_ZONE("request");
		const measured inner(inside[number]);
		for (int i = 0; i < suspensions; i++)
			co_await std::suspend_always();
	}
	co_return;
}

static void pause_ms(int milliseconds)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

struct seen {
	std::vector<double> lengths;
	int ordinary;
};

static int take(const struct dwell_trace_event *event, void *context)
{
	seen *all = static_cast<seen *>(context);

	if (event->type == DWELL_TRACE_ASYNC && std::strcmp(event->name, "request") == 0)
		all->lengths.push_back(static_cast<double>(event->end_ns - event->start_ns));
	all->ordinary += event->type == DWELL_TRACE_RANGE && std::strcmp(event->name, "ordinary") == 0;
	return 0;
}

int main(int count, char **arguments)
{
	struct dwell_options options = DWELL_OPTIONS_INIT;
	const char *path = count > 1 ? arguments[1] : "coroutines.dwell";
	struct dwell_trace *trace;
	seen all = {};
	int failed = 0;

	options.path = path;
	options.overwrite = true;
	serve(0, 0).handle.destroy(); /* before a session: nothing */
	if (dwell_start(&options, nullptr))
		return 1;
	task first = serve(0, 1);
	pause_ms(10);
	task second = serve(1, 1);
	pause_ms(10);
	task third = serve(2, 1);
	{
		DWELL_ZONE("ordinary"); /* ends while the blocks are open */
		pause_ms(5);
	}
	first.handle.resume();
	pause_ms(10);
	std::thread([&] { third.handle.resume(); }).join(); /* another thread ends it */
	pause_ms(10);
	second.handle.resume();
	for (const task &each : { first, second, third })
		each.handle.destroy();
	dwell_stop(nullptr);

	if (dwell_trace_open(&trace, &path, 1, nullptr, nullptr) || dwell_trace_events(trace, take, &all, nullptr))
		return 1;
	dwell_trace_close(trace);
	for (size_t i = 0; i < 3; i++) {
		bool found = false;

		for (double recorded : all.lengths) /* two clocks differ by a microsecond */
			found |= recorded > inside[i] - 1e3 - 1e-5 * inside[i] && recorded < around[i] + 1e3 + 1e-5 * around[i];
		failed += !found;
		if (!found)
			std::printf("no range of %.0f to %.0f ns\n", inside[i], around[i]);
	}
	failed += all.lengths.size() != 3 || all.ordinary != 1;
	if (all.lengths.size() != 3 || all.ordinary != 1)
		std::printf("%zu ranges of coroutines, %d others\n", all.lengths.size(), all.ordinary);
	std::printf("%d passed, %d failed\n", 4 - failed, failed);
	return failed != 0;
}
