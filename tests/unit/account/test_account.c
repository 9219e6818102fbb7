/* The account of a thread: cells that add up to its time, of runs made by hand in which no step is marked. */
#include "made.h"

#include <math.h>

#include "account/account.h"
#include "base/text.h"
#include "format/keys.h"
#include "model/steps/iterations.h"

#define MS 1000000ull
#define PERIOD 10u /* ms */

static struct made made;
static struct dw_encode_stream worker;
static uint32_t main_frame, worker_thread;
static uint64_t end_ticks;

/* A process whose main thread used the CPU for `main_ms` and another one for `worker_ms` of `wall_ms`. */
static void begin(uint64_t wall_ms, uint64_t main_ms, uint64_t worker_ms, uint64_t delay_ms)
{
	struct dw_entry_thread *entry;
	char text[32];
	uint32_t id;

	memset(&made, 0, sizeof made);
	made.file = -1;
	dw_encode_init(&made.encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&made.process, &made.encode, 0)->pid = 4000;
	for (unsigned i = 0; i < 1u + (worker_ms > 0); i++) {
		id = dw_encode_new_id(made.process.encode);
		entry = dw_encode_entry(&made.process, DW_ENTRY_THREAD, id, made.process.id, sizeof *entry);
		entry->tid = 4000 + i;
		entry->stream = i;
		snprintf(entry->name, sizeof entry->name, "%s", i ? "worker" : "main");
		entry->cpu_ns = (i ? worker_ms : main_ms) * MS;
		*(i ? &worker_thread : &made.thread) = id;
	}
	dw_encode_stream_init(&made.stream, &made.process, 0, made.thread);
	if (worker_ms)
		dw_encode_stream_init(&worker, &made.process, 1, worker_thread);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "10000000", true);
	if (main_ms) {
		snprintf(text, sizeof text, "%llu", (unsigned long long)(delay_ms * MS));
		dw_encode_meta(&made.process, DW_KEY_DELAY_NS, text, true);
	}
	main_frame = dw_encode_frame_in(&made.process, "/srv/engine", "main");
	end_ticks = wall_ms * MS;
}

/* One after another: samples of CPU time or of waits, each of a period, in a function that one of the program's calls. */
static void spend(struct dw_encode_stream *stream, bool waits, uint64_t count, const char *module, const char *callee, const char *caller)
{
	uint32_t frame, stack, callers[2];

	callers[0] = dw_encode_frame_in(&made.process, "/srv/engine", caller);
	callers[1] = main_frame;
	frame = callee ? waits ? dw_encode_frame(&made.process, callee, NULL, 0) : dw_encode_frame_in(&made.process, module, callee)
	               : callers[0];
	stack = dw_encode_stack(&made.process, callers + !callee, callee ? 2 : 1);
	for (uint64_t i = 0; i < count; i++)
		(waits ? dw_encode_wait : dw_encode_sample)(stream, 1 * MS + i, frame, stack, 1);
}

/* The process ends with its last record. */
static const struct dw_account *account(void)
{
	dw_encode_begin(&made.stream, end_ticks - 1, made_op(&made, DWELL_CATEGORY_ZONE, "end"));
	dw_encode_end(&made.stream, end_ticks);
	return made_open(&made, NULL) == 0 ? dw_account_of(made.model, &made.error) : NULL;
}

static double sum_of(const struct dw_account *account)
{
	double ns = 0;

	for (size_t i = 0; i < account->count; i++)
		ns += account->cells[i].ns;
	return ns;
}

static struct dw_account_sum of(const struct dw_account *account, enum dw_account_state state, enum dw_activity activity)
{
	const struct dw_account_select select = dw_account_select_states(1u << state, UINT64_C(1) << activity);

	return dw_account_sum(account, &select);
}

static bool near_ms(double ns, double ms)
{
	return fabs(ns - ms * MS) < 0.001 * MS;
}

/* 1 s: 300 ms of its own, 100 ms that allocate, 500 ms of a socket, 60 ms without a CPU, and 40 ms that nobody saw. */
TEST(a_run_without_steps_is_one_iteration)
{
	const struct dw_account *of_run;
	struct dw_account_sum sum;

	begin(1000, 400, 0, 60);
	spend(&made.stream, false, 30, NULL, NULL, "compute");
	spend(&made.stream, false, 10, "/usr/lib/libc.so.6", "malloc", "build");
	spend(&made.stream, true, 50, NULL, "recv", "ask");
	of_run = account();
	REQUIRE(of_run);
	CHECK_EQ(dw_model_iterated(made.model, NULL)->kind, DW_ITERATIONS_RUN);
	CHECK(of_run->known);
	CHECK(near_ms(of_run->wall_ns, 1000));
	CHECK(near_ms(of_run->own_ns, 940));
	CHECK(fabs(sum_of(of_run) - of_run->wall_ns) < 1000);
	CHECK(near_ms(of(of_run, DW_ACCOUNT_NO_CPU, DW_ACTIVITY_UNKNOWN).ns, 60));
	CHECK(near_ms(of(of_run, DW_ACCOUNT_WAITS, DW_ACTIVITY_UNKNOWN).ns, 40));
	sum = of(of_run, DW_ACCOUNT_WAITS, DW_ACTIVITY_SOCKET);
	CHECK(near_ms(sum.ns, 500));
	REQUIRE(sum.function);
	CHECK_STR(sum.function->name, "ask");
	sum = of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_ALLOCATES);
	CHECK(near_ms(sum.ns, 100));
	CHECK_STR(sum.function->name, "build");
	CHECK(sum.low_ns < sum.ns && sum.high_ns > sum.ns);
	sum = of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN);
	CHECK(near_ms(sum.ns, 300));
	CHECK_STR(sum.function->name, "compute");
	made_close(&made);
}

/* Another process begins before it, or goes on after it: then its time is not that of the run. */
TEST(a_process_is_the_run_if_it_lasts_as_long)
{
	static const struct { uint64_t other_ms; bool one; } cases[] = { { 0, false }, { 1050, false }, { 2000, true } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct dw_encode_process parent;
		struct dw_encode_stream stream;

		begin(1000, 900, 0, 0);
		spend(&made.stream, false, 90, NULL, NULL, "compute");
		if (cases[i].other_ms) {
			dw_encode_process_init(&parent, &made.encode, 0)->pid = 3999;
			dw_encode_stream_init(&stream, &parent, 1, dw_encode_thread(&parent, 3999, 0, 1, "parent"));
			dw_encode_begin(&stream, 1, dw_encode_op(&parent, DWELL_CATEGORY_ZONE, "waits", NULL, 0, NULL, 0));
			dw_encode_end(&stream, cases[i].other_ms * MS);
			dw_encode_close(&stream);
		}
		REQUIRE(account());
		CHECK_EQ(dw_model_iterated(made.model, NULL)->one_process, cases[i].one);
		made_close(&made);
	}
}

/* What `dwell run` read of the program is not of a process that the program began. That one says itself how long it had no CPU. */
TEST(a_process_says_itself_how_long_it_had_no_cpu)
{
	for (unsigned says = 0; says < 2; says++) {
		struct dw_encode_process parent;
		struct dw_encode_stream stream;
		const struct dw_account *of_run;

		begin(1000, 400, 0, 60);
		spend(&made.stream, false, 40, NULL, NULL, "compute");
		dw_encode_process_init(&parent, &made.encode, 0)->pid = 3999;
		dw_encode_stream_init(&stream, &parent, 1, dw_encode_thread(&parent, 3999, 0, 1, "parent"));
		dw_encode_begin(&stream, 1, dw_encode_op(&parent, DWELL_CATEGORY_ZONE, "waits", NULL, 0, NULL, 0));
		dw_encode_end(&stream, 1000 * MS);
		dw_encode_close(&stream);
		if (says)
			dw_encode_meta(&made.process, DW_KEY_PROCESS_DELAY_NS, "80000000", true);
		of_run = account();
		REQUIRE(of_run);
		CHECK_EQ(of_run->waits_known, says);
		CHECK(near_ms(of(of_run, DW_ACCOUNT_NO_CPU, DW_ACTIVITY_UNKNOWN).ns, says ? 80 : 0));
		made_close(&made);
	}
}

/* Samples are counted: the kernel's sum is divided by them. */
TEST(cells_never_contradict_the_kernel)
{
	const struct dw_account *of_run;

	begin(1000, 600, 0, 0); /* 600 ms by the kernel, and 500 ms of samples */
	spend(&made.stream, false, 40, NULL, NULL, "compute");
	spend(&made.stream, false, 10, "/usr/lib/libc.so.6", "memcpy", "copy");
	spend(&made.stream, true, 80, NULL, "nanosleep", "rest"); /* 800 ms of samples, and 400 ms by the kernel */
	of_run = account();
	REQUIRE(of_run);
	CHECK(near_ms(of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN).ns, 480));
	CHECK(near_ms(of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_COPIES).ns, 120));
	CHECK(near_ms(of(of_run, DW_ACCOUNT_WAITS, DW_ACTIVITY_SLEEP).ns, 400));
	CHECK(fabs(sum_of(of_run) - of_run->wall_ns) < 1000);
	made_close(&made);
}

/* The main thread joins a thread that computes for 700 of 800 ms. */
TEST(the_work_of_a_thread_that_is_waited_for_is_work)
{
	const struct dw_account *of_run;
	struct dw_account_sum sum;

	begin(1000, 200, 700, 0);
	spend(&made.stream, false, 20, NULL, NULL, "prepare");
	spend(&made.stream, true, 80, NULL, "pthread_join", "join_all");
	spend(&worker, false, 70, NULL, NULL, "multiply");
	of_run = account();
	REQUIRE(of_run);
	sum = of(of_run, DW_ACCOUNT_OTHERS, DW_ACTIVITY_OWN);
	CHECK(near_ms(sum.ns, 700));
	REQUIRE(sum.function);
	CHECK_STR(sum.function->name, "multiply");
	sum = of(of_run, DW_ACCOUNT_WAITS, DW_ACTIVITY_THREAD);
	CHECK(near_ms(sum.ns, 100));
	CHECK_STR(sum.function->name, "join_all");
	CHECK(fabs(sum_of(of_run) - of_run->wall_ns) < 1000);
	made_close(&made);
}

/* Another thread's work is no excuse for a sleep. */
TEST(a_sleep_stays_a_sleep_whatever_others_do)
{
	const struct dw_account *of_run;

	begin(1000, 200, 900, 0);
	spend(&made.stream, false, 20, NULL, NULL, "prepare");
	spend(&made.stream, true, 80, NULL, "usleep", "poll_state");
	spend(&worker, false, 90, NULL, NULL, "multiply");
	of_run = account();
	REQUIRE(of_run);
	CHECK(near_ms(of(of_run, DW_ACCOUNT_WAITS, DW_ACTIVITY_SLEEP).ns, 800));
	CHECK_EQ(of_run->state_ns[DW_ACCOUNT_OTHERS], 0);
	made_close(&made);
}

/* How long a thread was ready to run and had no CPU is known of a main thread only: the rest of another one's time is no wait. */
TEST(time_that_may_be_without_a_cpu_is_no_wait)
{
	const struct dw_account *of_run;

	begin(1000, 5, 400, 0); /* the worker is the thread that the account is of */
	spend(&worker, false, 40, NULL, NULL, "multiply");
	spend(&worker, true, 10, NULL, "recv", "ask");
	dw_encode_begin(&worker, 900 * MS, made_op(&made, DWELL_CATEGORY_ZONE, "last"));
	dw_encode_end(&worker, 901 * MS);
	of_run = account();
	REQUIRE(of_run);
	CHECK_EQ(of_run->thread, 1);
	CHECK(near_ms(of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN).ns, 400));
	CHECK(near_ms(of(of_run, DW_ACCOUNT_WAITS, DW_ACTIVITY_SOCKET).ns, 100));
	CHECK_EQ(of(of_run, DW_ACCOUNT_WAITS, DW_ACTIVITY_UNKNOWN).ns, 0);
	CHECK(near_ms(of(of_run, DW_ACCOUNT_UNKNOWN, DW_ACTIVITY_UNKNOWN).ns, 401));
	made_close(&made);
}

/* Without the kernel's account of the thread, what no sample stands for is unknown. */
TEST(what_nothing_is_known_of_is_a_cell)
{
	const struct dw_account *of_run;

	begin(1000, 0, 0, 0);
	spend(&made.stream, false, 30, NULL, NULL, "compute");
	of_run = account();
	REQUIRE(of_run);
	CHECK(!of_run->known);
	CHECK(near_ms(of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN).ns, 300));
	CHECK(near_ms(of(of_run, DW_ACCOUNT_UNKNOWN, DW_ACTIVITY_UNKNOWN).ns, 700));
	CHECK(fabs(sum_of(of_run) - of_run->wall_ns) < 1000);
	made_close(&made);
}

/* The innermost function with most of the time; what a name says does not count if it is the program's. */
TEST(a_function_of_the_program_does_what_it_calls)
{
	const struct dw_account *of_run;
	struct dw_account_sum sum;

	begin(1000, 1000, 0, 0);
	spend(&made.stream, false, 60, NULL, NULL, "freeze_layers");
	spend(&made.stream, false, 40, "/usr/lib/libc.so.6", "memset", "memory_bank");
	of_run = account();
	REQUIRE(of_run);
	sum = of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN);
	CHECK(near_ms(sum.ns, 600));
	CHECK_STR(sum.function->name, "freeze_layers");
	CHECK(near_ms(of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_CLEARS).ns, 400));
	CHECK_EQ(of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_FREES).ns, 0);
	made_close(&made);
}

/* Ten thousand functions: a cell keeps the largest, and its sum. */
TEST(cells_are_bounded)
{
	const struct dw_account *of_run;
	char name[32];

	begin(1000, 1000, 0, 0);
	for (unsigned i = 0; i < 10000; i++) {
		snprintf(name, sizeof name, "f%u", i);
		spend(&made.stream, false, i == 5000 ? 100 : 1, NULL, NULL, name);
	}
	of_run = account();
	REQUIRE(of_run);
	CHECK(of_run->count < 4);
	CHECK_EQ(of_run->cells[0].place_count, DW_ACCOUNT_PLACES);
	CHECK(near_ms(of(of_run, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN).ns, 1000));
	made_close(&made);
}

CHECK_MAIN
