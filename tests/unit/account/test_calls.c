/* Calls that take more than any one thing that is done in them, and locks that the threads wait for that a loop waits for. */
#include "made_steps.h"

#define MOST 6u
#define ENGINE "/srv/engine"
#define LIBC "/usr/lib/libc.so.6"
#define LIBZ "/usr/lib/libz.so.1"
#define MAIN { ENGINE, "main" }

struct frame {
	const char *module, *function;
};

/* So many ms of each step in a stack, innermost first. */
struct part {
	unsigned ms;
	struct frame frames[MOST];
};

static void runs_stack(const struct part *part)
{
	uint32_t ids[MOST], count = 0, stack;

	for (; count < MOST && part->frames[count].module; count++)
		ids[count] = dw_encode_frame_in(&made.process, part->frames[count].module, part->frames[count].function);
	stack = dw_encode_stack(&made.process, ids + 1, count - 1);
	for (unsigned t = 0; t < part->ms; t++)
		dw_encode_sample(&made.stream, (now_ms + t) * MS + MS / 2, ids[0], stack, 1);
	now_ms += part->ms;
	kernel.run_ms += part->ms;
}

/* 40 steps of these parts. The last one has no time. */
static const struct dw_account *account_of_parts(const struct part *parts)
{
	begin_run(0, 0);
	for (unsigned step = 0; step < 40; step++) {
		begin_step();
		for (const struct part *part = parts; part->ms; part++)
			runs_stack(part);
		end_step();
	}
	return account();
}

static double ms_of_call(const struct dw_account *of, uint32_t call, dw_activity_set activities)
{
	struct dw_account_select select = dw_account_select_states(~0u, activities);

	select.call = call;
	return dw_account_sum(of, &select).ns / (double)MS;
}

/* The rows of a table have each ns once, and a call is one of them. */
static void check_rows(const struct dw_account *of, const char *label)
{
	static struct dw_account_row rows[DW_ACCOUNT_ROWS];
	size_t count = dw_account_rows(of, rows), found = 0;
	double ns = 0;
	char text[64];

	for (size_t i = 0; i < count; i++) {
		struct dw_account_select select = dw_account_select_states(~0u, DW_ACCOUNT_ALL);

		ns += rows[i].sum.ns;
		if (strcmp(dw_account_label(&rows[i], text), label) != 0)
			continue;
		found++;
		select.call = rows[i].call;
		CHECK(dw_account_selects(&select, &rows[i]));
		select.call = DW_ACCOUNT_NO_CALL;
		CHECK(!dw_account_selects(&select, &rows[i]));
	}
	CHECK_EQ(found, 1);
	CHECK_NEAR(ns, of->wall_ns, 1e3);
}

TEST(a_call_has_all_that_is_done_in_it)
{
	static const struct part parts[] = {
		{ 10, { { ENGINE, "std::__detail::_Compiler::_M_atom()" }, { ENGINE, "std::regex::regex(char const*)" }, { ENGINE, "order_of" }, MAIN } },
		{ 6, { { LIBC, "malloc" }, { ENGINE, "std::regex::regex(char const*)" }, { ENGINE, "order_of" }, MAIN } },
		{ 4, { { LIBC, "memcpy" }, { ENGINE, "std::regex::regex(char const*)" }, { ENGINE, "order_of" }, MAIN } },
		{ 5, { { LIBC, "malloc" }, { ENGINE, "parse" }, MAIN } },
		{ 15, { { ENGINE, "parse" }, MAIN } },
		{ .ms = 0 },
	};
	struct dw_account_kind kinds[2];
	const struct dw_account *of = account_of_parts(parts);

	REQUIRE(of);
	check_sums(of);
	CHECK_EQ(of->call_count, 1);
	CHECK_STR(of->calls[0].callee->name, "std::regex::regex(char const*)");
	CHECK_STR(of->calls[0].function->name, "order_of");
	CHECK(of->calls[0].makes);
	CHECK_NEAR(ms_of_call(of, 1, DW_ACCOUNT_ALL), 800, 1e-3);
	CHECK_NEAR(ms_of_call(of, 1, DW_ACTIVITIES_OF_MEMORY), 240, 1e-3);
	CHECK_NEAR(ms_of_call(of, DW_ACCOUNT_NO_CALL, DW_ACTIVITIES_OF_MEMORY), 200, 1e-3);
	CHECK_NEAR(ms_of_call(of, 0, DW_ACTIVITIES_OF_MEMORY), 440, 1e-3);
	check_rows(of, "calls std::regex::regex");
	CHECK_EQ(dw_account_kinds(of, 1, kinds, 2), 2);
	CHECK_STR(kinds[0].words, "its own code");
	CHECK_STR(kinds[1].words, "allocating and freeing memory");
	CHECK_NEAR(kinds[0].ns, 400.0 * MS, 1e3);
	made_close(&made);
}

/* Who makes an object has it made: its maker decides nothing. */
TEST(objects_are_made_by_who_calls_their_makers)
{
	static const struct part parts[] = {
		{ 12, { { LIBC, "memset" }, { ENGINE, "Image::Image(int)" }, { ENGINE, "grade(Frame&)" }, MAIN } },
		{ 8, { { LIBC, "munmap" }, { LIBC, "malloc" }, { ENGINE, "Image::Image(int)" }, { ENGINE, "grade(Frame&)" }, MAIN } },
		{ 20, { { ENGINE, "grade(Frame&)" }, MAIN } },
		{ .ms = 0 },
	};
	const struct dw_account *of = account_of_parts(parts);

	REQUIRE(of);
	CHECK_EQ(of->call_count, 1);
	CHECK_STR(of->calls[0].function->name, "grade(Frame&)");
	CHECK_STR(of->calls[0].callee->name, "Image::Image(int)");
	CHECK_NEAR(ms_of_call(of, 1, DW_ACCOUNT_ALL), 800, 1e-3);
	CHECK_NEAR(ms_of_call(of, 1, DW_ACTIVITY_SET(RETURNS)), 320, 1e-3); /* a large block */
	check_rows(of, "calls Image::Image");
	made_close(&made);
}

/* "Copying takes 40%" tells a call of erase() already, and "compression" one of compress2(). Only if compress2() spends most of
 * its time on memory, the call has a sentence of its own. */
TEST(a_call_that_does_one_thing_is_none)
{
	static const struct part copies[] = {
		{ 20, { { LIBC, "memcpy" }, { ENGINE, "std::vector<int>::erase(int*)" }, { ENGINE, "take" }, MAIN } },
		{ 20, { { ENGINE, "send" }, MAIN } },
		{ .ms = 0 },
	};
	static const struct part packs[] = {
		{ 4, { { LIBC, "memset" }, { LIBZ, "deflateInit_" }, { LIBZ, "compress2" }, { ENGINE, "squeeze" }, MAIN } },
		{ 20, { { LIBZ, "deflate" }, { LIBZ, "compress2" }, { ENGINE, "squeeze" }, MAIN } },
		{ .ms = 0 },
	};
	static const struct part begins[] = {
		{ 20, { { LIBC, "memset" }, { LIBZ, "deflateInit_" }, { LIBZ, "compress2" }, { ENGINE, "squeeze" }, MAIN } },
		{ 4, { { LIBZ, "deflate" }, { LIBZ, "compress2" }, { ENGINE, "squeeze" }, MAIN } },
		{ .ms = 0 },
	};
	const struct dw_account *of = account_of_parts(copies);

	REQUIRE(of);
	CHECK_EQ(of->call_count, 0);
	made_close(&made);
	of = account_of_parts(packs);
	REQUIRE(of);
	CHECK_EQ(of->call_count, 0);
	made_close(&made);
	of = account_of_parts(begins);
	REQUIRE(of);
	CHECK_EQ(of->call_count, 1);
	CHECK_NEAR(ms_of_call(of, 1, DW_ACTIVITY_SET(CLEARS)), 800, 1e-3);
	CHECK_NEAR(ms_of_call(of, 1, DW_ACTIVITY_SET(COMPRESSION)), 160, 1e-3);
	made_close(&made);
}

/* A function that makes a stream and gives it back for each message would do neither if it kept it: both calls are one, and more than
 * one of them alone is. */
TEST(what_is_made_and_given_back_is_one_call)
{
	static const struct part parts[] = {
		{ 4, { { LIBC, "mmap" }, { LIBZ, "deflateInit_" }, { ENGINE, "ship" }, MAIN } },
		{ 5, { { LIBC, "malloc" }, { LIBZ, "deflateInit_" }, { ENGINE, "ship" }, MAIN } },
		{ 9, { { LIBC, "munmap" }, { LIBZ, "deflateEnd" }, { ENGINE, "ship" }, MAIN } },
		{ 18, { { LIBZ, "deflate" }, { ENGINE, "ship" }, MAIN } },
		{ 1, { { LIBC, "malloc" }, { LIBZ, "inflateInit_" }, { ENGINE, "read_back" }, MAIN } },
		{ .ms = 0 },
	};
	const struct dw_account *of = account_of_parts(parts);

	REQUIRE(of);
	check_sums(of);
	CHECK_EQ(of->call_count, 1);
	REQUIRE(of->calls[0].other);
	CHECK_STR(of->calls[0].callee->name, "deflateEnd");
	CHECK_STR(of->calls[0].other->name, "deflateInit_");
	CHECK_NEAR(ms_of_call(of, 1, DW_ACCOUNT_ALL), 720, 1e-3);
	CHECK_NEAR(ms_of_call(of, DW_ACCOUNT_NO_CALL, DW_ACTIVITY_SET(COMPRESSION)), 760, 1e-3);
	check_rows(of, "calls deflateEnd");
	made_close(&made);
}

/* ---- locks ------------------------------------------------------------------------------------------------------- */

/* In each step of 20 ms the thread waits for two others, which work in turn, and wait for each other, or for something else. */
static const struct dw_account *account_of_locks(const char *callee)
{
	begin_run(0, 2);
	for (unsigned step = 0; step < 40; step++) {
		begin_step();
		other_works(0, 10, "insert");
		other_waits(0, 20, 10, callee, "insert");
		other_waits(1, 10, 10, callee, "insert");
		now_ms += 10;
		other_works(1, 10, "insert");
		now_ms -= 10;
		waits(20, "pthread_join", "run_all");
		end_step();
	}
	return account();
}

TEST(a_wait_for_threads_that_wait_for_a_lock_is_one_for_the_lock)
{
	const struct dw_account_select locks = dw_account_select_states(1u << DW_ACCOUNT_WAITS, DW_ACTIVITY_SET(LOCK));
	const struct dw_account *of = account_of_locks("pthread_mutex_lock");
	struct dw_account_sum sum;

	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_OTHERS, -1), 400, 8); /* with two CPUs the work of each is half */
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_LOCK), 400, 8);
	CHECK(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_THREAD) < 8);
	sum = dw_account_sum(of, &locks);
	REQUIRE(sum.function);
	CHECK_STR(sum.function->name, "insert");
	made_close(&made);
	of = account_of_locks("pthread_cond_wait");
	REQUIRE(of);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_THREAD), 400, 8);
	CHECK_EQ(ms_of(of, -1, -1, DW_ACTIVITY_LOCK), 0);
	made_close(&made);
}

/* The loop's thread hardly runs, so that nobody knows for how long the others were ready to. They hold a lock in turn for less than half
 * of the time: what they waited for was recorded, and goes before what is estimated. */
TEST(locks_go_before_what_is_estimated_on_a_busy_machine)
{
	const struct dw_account *of;

	begin_run(0, 2);
	for (unsigned step = 0; step < 40; step++) {
		begin_step();
		runs(1, NULL, "run_all");
		has_no_cpu(4);
		for (unsigned other = 0; other < 2; other++) {
			other_works(other, 4, "insert");
			other_waits(other, 20, 14, "pthread_mutex_lock", "insert");
		}
		waits(20, "pthread_join", "run_all");
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_LOCK), 480, 8);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_OTHERS, -1), 320, 8);
	made_close(&made);
}

CHECK_MAIN
