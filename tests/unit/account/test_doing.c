/* What the account says that a thread does in marked steps: by samples of its functions, and of the threads that it waits for. */
#include "made_steps.h"

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

/* Steps of 50 ms: the thread computes in "solve" for half, and calls a function in a range of this name for the other half. */
static const struct dw_account *account_of_range(const char *name, const char *callee, const char *function)
{
	uint32_t solve, range;

	begin_run(0, 0);
	solve = made_op(&made, DWELL_CATEGORY_ZONE, "solve");
	range = made_op(&made, DWELL_CATEGORY_ZONE, name);
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		enter(solve);
		runs(25, NULL, "gemm");
		leave();
		enter(range);
		runs(25, callee, function);
		leave();
		end_step();
	}
	return account();
}

/* Whatever it is called. */
TEST(a_range_does_what_its_samples_do)
{
	static const char *const names[] = { "tokenize", "batch.load", "read_config_table", "learn_rate", "memory_bank", "transpose", "wait" };
	static const struct {
		const char *callee;
		enum dw_activity activity;
	} calls[] = {
		{ "strtod", DW_ACTIVITY_TEXT },  { "fputs", DW_ACTIVITY_FILE }, { "memcpy", DW_ACTIVITY_COPIES },
		{ "open64", DW_ACTIVITY_FILE },  { "free", DW_ACTIVITY_FREES },   { "write", DW_ACTIVITY_DESCRIPTOR },
		{ "rand", DW_ACTIVITY_RANDOM },  { NULL, DW_ACTIVITY_OWN },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
			const struct dw_account *of = account_of_range(names[i], calls[k].callee, "work_on");

			REQUIRE(of);
			check_sums(of);
			CHECK_NEAR(ms_of_range(of, names[i], DW_ACCOUNT_RUNS, (int)calls[k].activity), 1000, 10);
			CHECK_NEAR(ms_of_range(of, "solve", DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN), 1000, 10);
			made_close(&made);
		}
}

TEST(functions_of_the_program_with_names_like_those_of_the_library_are_its_own)
{
	static const char *const names[] = { "free_from_median", "memcpy_rows", "freeze_layers", "memset_rows", "free", "memmove", "Pool::malloc",
		                                 "memory_bank", "brk_fit", "read", "spin_wheel" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct dw_account *of = account_of_range("range", NULL, names[i]);

		REQUIRE(of);
		CHECK_NEAR(ms_of_range(of, "range", DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN), 1000, 10);
		made_close(&made);
	}
}

/* A function without a name, which malloc() calls, allocates; memory that it returns to the system is returned. */
TEST(what_malloc_calls_is_allocation)
{
	static const char *const inner[] = { "libc.so.6+0x97360", "munmap" };

	for (unsigned i = 0; i < 2; i++) {
		const struct dw_account_select memory = dw_account_select_states(1u << DW_ACCOUNT_RUNS, DW_ACTIVITIES_OF_MEMORY | DW_ACTIVITY_SET(RETURNS));
		const struct dw_account *of;
		struct dw_account_sum sum;
		uint32_t frame, callers[3];

		begin_run(0, 0);
		frame = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", inner[i]);
		callers[0] = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", "malloc");
		callers[1] = dw_encode_frame(&made.process, "grow_tree", "/srv/tree.c", 20);
		callers[2] = main_frame;
		callers[0] = dw_encode_stack(&made.process, callers, 3);
		for (unsigned step = 0; step < 80; step++) {
			begin_step();
			runs(10, NULL, "solve");
			for (unsigned t = 0; t < 10; t++)
				dw_encode_sample(&made.stream, (now_ms + t) * MS + MS / 2, frame, callers[0], 1);
			now_ms += 10;
			kernel.run_ms += 10;
			end_step();
		}
		of = account();
		REQUIRE(of);
		sum = dw_account_sum(of, &memory);
		CHECK(near_ms(sum.ns, 800));
		REQUIRE(sum.function);
		CHECK_STR(sum.function->name, "grow_tree");
		CHECK_EQ(sum.line, 20);
		made_close(&made);
	}
}

/* ---- loops ------------------------------------------------------------------------------------------------------- */

/* The loop's thread runs a loop of its own for `ms`, which does this. */
static void loops(uint64_t ms, const char *function, enum dw_code_loop does)
{
	uint32_t frame = dw_encode_frame_in(&made.process, "/srv/engine", function);
	struct dw_entry_symbol *symbol = dw_encode_entry(&made.process, DW_ENTRY_SYMBOL, frame, 0, sizeof *symbol);

	symbol->function = dw_encode_string(&made.process, function);
	symbol->loop = does;
	for (uint64_t t = 0; t < ms; t++)
		dw_encode_sample(&made.stream, (now_ms + t) * MS + MS / 2, frame, 0, 1);
	now_ms += ms;
	kernel.run_ms += ms;
}

TEST(a_loop_that_only_moves_data_copies_and_one_that_cannot_end_spins)
{
	static const struct {
		enum dw_code_loop does;
		enum dw_account_state state;
		int activity;
	} cases[] = { { DW_CODE_OTHER, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN },
		          { DW_CODE_MOVES, DW_ACCOUNT_RUNS, DW_ACTIVITY_COPIES },
		          { DW_CODE_SPINS, DW_ACCOUNT_SPINS, -1 } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_account *of;
		uint32_t range;

		begin_run(0, 0);
		range = made_op(&made, DWELL_CATEGORY_ZONE, "exchange");
		for (unsigned step = 0; step < 40; step++) {
			begin_step();
			runs(10, NULL, "gemm");
			enter(range);
			loops(10, "turn", cases[i].does);
			leave();
			end_step();
		}
		of = account();
		REQUIRE(of);
		check_sums(of);
		CHECK_NEAR(ms_of_range(of, "exchange", (int)cases[i].state, cases[i].activity), 400, 2);
		made_close(&made);
	}
}

/* ---- other threads ------------------------------------------------------------------------------------------------ */

/* In each step of 40 ms the thread works for 10 ms, waits in "team" for 20, and works for 10, or has no CPU for `lost_ms` of these.
 * Meanwhile `others` threads work for these ms of the wait. */
struct team {
	unsigned others;
	uint64_t works_ms[MADE_THREADS];
	const char *callee;  /* in which it waits; NULL: it spins */
	uint64_t lost_ms;
	bool shares;         /* its own work is that of the others */
	bool nameless;       /* the others are in no function of the program */
	bool talks;          /* they write to a descriptor after their work */
};

static const struct dw_account *account_of_team(struct team team)
{
	uint32_t range;

	begin_run(0, team.others);
	range = made_op(&made, DWELL_CATEGORY_ZONE, "team");
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		runs(10, NULL, "prepare");
		enter(range);
		for (unsigned other = 0; other < team.others; other++)
			if (team.nameless)
				other_works_in_library(other, team.works_ms[other]);
			else
				other_works(other, team.works_ms[other], "multiply");
		for (unsigned other = 0; other < team.others && team.talks; other++)
			other_waits(other, 0, 1, "read", "serve");
		if (team.callee)
			waits(20, team.callee, "gather");
		else
			loops(20, "spin_for_team", DW_CODE_SPINS);
		leave();
		runs(10 - team.lost_ms, NULL, team.shares ? "multiply" : "finish");
		has_no_cpu(team.lost_ms);
		end_step();
	}
	return account();
}

/* Two threads work as long as it waits, so that equal work of these two would not shorten it. */
TEST(a_wait_for_threads_that_work_is_their_work)
{
	const struct dw_account *of = account_of_team((struct team){ 2, { 20, 20 }, "pthread_join", .lost_ms = 0 });
	struct dw_account_select work = dw_account_select_states(1u << DW_ACCOUNT_OTHERS, DW_ACTIVITY_SET(OWN));

	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of_range(of, "team", DW_ACCOUNT_OTHERS, DW_ACTIVITY_OWN), 800, 8);
	CHECK(ms_of_range(of, "team", DW_ACCOUNT_WAITS, -1) < 8);
	REQUIRE(dw_account_sum(of, &work).function);
	CHECK_STR(dw_account_sum(of, &work).function->name, "multiply");
	made_close(&made);
}

/* In each step, the thread begins others for 10 ms and joins them for 20; `unseen`: what the recorder counted of threads that ended
 * without a sample. */
static const struct dw_account *account_of_threads(const char *unseen)
{
	struct dw_entry_thread *entry;

	begin_run(0, 1);
	/* One more thread that has as many samples as the kernel says. */
	entry = dw_encode_entry(&made.process, DW_ENTRY_THREAD, dw_encode_new_id(made.process.encode), made.process.id, sizeof *entry);
	entry->cpu_ns = entry->sampled_cpu_ns = 100 * MS;
	entry->sample_weight = 100;
	dw_encode_meta(&made.process, DW_KEY_PROCESS_CPU_NS, "801000000", true);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_ASKED_NS, "1000000", true);
	if (unseen)
		dw_encode_meta(&made.process, DW_KEY_SAMPLE_UNSEEN, unseen, true);
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		runs(10, "pthread_create", "process");
		if (i == 0)
			other_works(0, 1, "look_up");
		kernel.others_ms += 10;
		waits(20, "pthread_join", "process");
		end_step();
	}
	return account();
}

/* Threads that end before they have a sample: one sample says nothing of the others. */
TEST(a_wait_for_short_threads_is_what_beginning_them_takes)
{
	const struct dw_account *of = account_of_threads("[4000,400000000]");

	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_RUNS, DW_ACTIVITY_BEGINS), 400, 8);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_BEGINS), 800, 8);
	CHECK(ms_of(of, -1, DW_ACCOUNT_OTHERS, -1) == 0);
	made_close(&made);
}

/* Threads without samples that are not short: nobody knows whether beginning them is what the wait is for. */
TEST(a_wait_for_threads_without_samples_is_no_beginning)
{
	static const char *const unseen[] = { NULL, "[2,400000000]" };

	for (size_t i = 0; i < sizeof unseen / sizeof *unseen; i++) {
		const struct dw_account *of = account_of_threads(unseen[i]);

		REQUIRE(of);
		check_sums(of);
		CHECK(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_BEGINS) == 0);
		made_close(&made);
	}
}

/* A server sends an answer by two calls, and waits until TCP has sent the end. Whoever asked waits for the same. */
TEST(a_wait_for_an_answer_that_tcp_delays_is_the_servers)
{
	struct dw_account_select delayed = dw_account_select_states(1u << DW_ACCOUNT_WAITS, DW_ACTIVITY_SET(DELAYED));
	const struct dw_account *of;

	begin_run(0, 1);
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		runs(10, NULL, "prepare");
		other_waits(0, 40, 38, "delayed_send", "answer");
		waits(40, "recv", "ask");
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_DELAYED), 1520, 16);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_SOCKET), 80, 16);
	REQUIRE(dw_account_sum(of, &delayed).function);
	CHECK_STR(dw_account_sum(of, &delayed).function->name, "answer");
	made_close(&made);
}

/* Two threads of the program talk to each other, and each sends its messages by two calls: who joins them waits for both sides. */
TEST(a_join_of_threads_that_tcp_delays_waits_for_tcp)
{
	const struct dw_account *of;

	begin_run(0, 2);
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		runs(10, NULL, "prepare");
		other_waits(0, 40, 40, "delayed_send", "ask");
		other_waits(1, 40, 40, "recv", "answer");
		other_waits(0, 80, 40, "recv", "ask");
		other_waits(1, 80, 40, "delayed_send", "answer");
		waits(80, "pthread_join", "main_loop");
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_DELAYED), 3200, 32);
	CHECK(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_THREAD) < 32);
	made_close(&made);
}

/* The thread that waits does the same work, and could do half of what is left. */
TEST(one_thread_that_works_alone_leaves_half_of_the_wait)
{
	static const char *const callees[] = { "pthread_join", "pthread_barrier_wait", "pthread_cond_wait", NULL };

	for (size_t i = 0; i < sizeof callees / sizeof *callees; i++) {
		const struct dw_account *of = account_of_team((struct team){ 1, { 20 }, callees[i], .shares = true });

		REQUIRE(of);
		check_sums(of);
		CHECK_NEAR(ms_of_range(of, "team", DW_ACCOUNT_OTHERS, DW_ACTIVITY_OWN), 400, 8);
		CHECK_NEAR(ms_of_range(of, "team", callees[i] ? DW_ACCOUNT_WAITS : DW_ACCOUNT_SPINS, -1), 400, 8);
		made_close(&made);
	}
}

/* A thread that does something else shares no work with the one that waits for it. */
TEST(a_wait_for_a_helper_is_the_helpers_work)
{
	const struct dw_account *of = account_of_team((struct team){ 1, { 20 }, "pthread_join", .lost_ms = 0 });

	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of_range(of, "team", DW_ACCOUNT_OTHERS, DW_ACTIVITY_OWN), 800, 8);
	CHECK(ms_of_range(of, "team", DW_ACCOUNT_WAITS, -1) < 8);
	made_close(&made);
}

/* Of three threads, one works for 20 ms and two for 10: with equal work the wait would take 13 ms, a third less. */
TEST(a_wait_for_the_thread_with_most_work_is_as_much_shorter_with_equal_work)
{
	const struct dw_account *of = account_of_team((struct team){ 3, { 20, 10, 10 }, "pthread_barrier_wait", .lost_ms = 0 });

	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of_range(of, "team", DW_ACCOUNT_WAITS, DW_ACTIVITY_BARRIER), 800 / 3.0, 8);
	CHECK_NEAR(ms_of_range(of, "team", DW_ACCOUNT_OTHERS, DW_ACTIVITY_OWN), 1600 / 3.0, 8);
	made_close(&made);
}

/* They work for 5 of the 20 ms. */
TEST(a_wait_for_threads_that_rest_is_a_wait)
{
	const struct dw_account *of = account_of_team((struct team){ 2, { 5, 5 }, "pthread_cond_wait", .lost_ms = 0 });

	REQUIRE(of);
	check_sums(of);
	CHECK_RANGE(ms_of_range(of, "team", DW_ACCOUNT_WAITS, DW_ACTIVITY_THREAD), 390, 600);
	made_close(&made);
}

/* Whoever it waits or spins for may have no CPU. */
TEST(on_a_full_machine_a_wait_for_threads_is_none)
{
	const struct dw_account *of = account_of_team((struct team){ 1, { 10 }, NULL, .lost_ms = 9 });

	REQUIRE(of);
	check_sums(of);
	CHECK(of->state_ns[DW_ACCOUNT_NO_CPU] > 0.2 * of->wall_ns);
	CHECK(ms_of_range(of, "team", DW_ACCOUNT_SPINS, -1) < 1);
	CHECK(ms_of_range(of, "team", DW_ACCOUNT_OTHERS, -1) > 600);
	made_close(&made);
	of = account_of_team((struct team){ 1, { 10 }, NULL, .lost_ms = 0 });
	REQUIRE(of);
	CHECK_RANGE(ms_of_range(of, "team", DW_ACCOUNT_SPINS, -1), 390, 610);
	made_close(&made);
}

/* A lock, a file, a socket and a sleep are no waits for a thread that works. */
TEST(what_others_do_is_no_excuse_for_other_waits)
{
	static const struct {
		const char *callee;
		enum dw_activity activity;
	} waits[] = { { "pthread_mutex_lock", DW_ACTIVITY_LOCK }, { "fsync", DW_ACTIVITY_DISK }, { "recv", DW_ACTIVITY_SOCKET },
		          { "usleep", DW_ACTIVITY_SLEEP }, { "waitpid", DW_ACTIVITY_CHILD } };

	for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
		const struct dw_account *of = account_of_team((struct team){ 2, { 20, 20 }, waits[i].callee, .lost_ms = 0 });

		REQUIRE(of);
		CHECK_NEAR(ms_of_range(of, "team", DW_ACCOUNT_WAITS, (int)waits[i].activity), 800, 8);
		CHECK_EQ(ms_of(of, -1, DW_ACCOUNT_OTHERS, -1), 0);
		made_close(&made);
	}
}

/* Threads that read and write descriptors, too, and work for as long as it waits for one, make the answer. */
TEST(a_wait_for_a_descriptor_is_the_work_of_whoever_answers)
{
	static const struct {
		struct team team;
		double others_ms, waits_ms;
	} cases[] = {
		{ { 1, { 20 }, "recv", .talks = true }, 800, 0 },
		{ { 1, { 20 }, "read", .talks = true }, 800, 0 },
		{ { 2, { 10, 10 }, "recv", .talks = true }, 800, 0 },
		{ { 1, { 12 }, "recv", .talks = true }, 0, 800 },   /* then it mostly waits for somebody else */
		{ { 1, { 20 }, "fsync", .talks = true }, 0, 800 },  /* no thread is a disk */
		{ { 1, { 20 }, "recv", .talks = false }, 0, 800 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_account *of = account_of_team(cases[i].team);

		REQUIRE(of);
		check_sums(of);
		CHECK_NEAR(ms_of_range(of, "team", DW_ACCOUNT_OTHERS, -1), cases[i].others_ms, 9);
		CHECK_NEAR(ms_of_range(of, "team", DW_ACCOUNT_WAITS, -1), cases[i].waits_ms, 9);
		made_close(&made);
	}
}

/* A pool's threads run code of libraries alone: what they do is done for the place where the thread waits for them. */
TEST(work_of_no_function_lies_where_it_is_waited_for)
{
	const struct dw_account_select others = dw_account_select_states(1u << DW_ACCOUNT_OTHERS, DW_ACCOUNT_ALL);
	const struct dw_account *of = account_of_team((struct team){ 1, { 20 }, "pthread_join", .nameless = true });
	struct dw_account_sum sum;

	REQUIRE(of);
	sum = dw_account_sum(of, &others);
	CHECK_NEAR(sum.ns, 800 * MS, 9 * MS);
	REQUIRE(sum.function);
	CHECK_STR(sum.function->name, "gather");
	made_close(&made);
}

/* A pool of processes is one of threads: what they do while the program waits for them is its work, and with equal work of two the wait
 * of one that works alone is half as long. A child that runs another program is a wait. */
TEST(a_wait_for_forks_that_work_is_their_work)
{
	static const struct {
		unsigned count;
		uint64_t works_ms[2];
		const char *command;
		double others_ms, waits_ms;
	} cases[] = {
		{ 2, { 20, 20 }, NULL, 800, 0 },
		{ 1, { 20 }, NULL, 800, 0 },
		{ 2, { 20, 10 }, NULL, 600, 200 },
		{ 2, { 5, 5 }, NULL, 400, 400 }, /* one after the other, as far as is known */
		{ 1, { 20 }, "/usr/bin/gzip", 0, 800 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_account_select others = dw_account_select_states(1u << DW_ACCOUNT_OTHERS, DW_ACCOUNT_ALL);
		const struct dw_account *of;
		struct dw_account_sum sum;

		begin_run(0, 0);
		begin_forks(cases[i].count, cases[i].command);
		for (unsigned step = 0; step < 40; step++) {
			begin_step();
			runs(10, NULL, "prepare");
			for (unsigned fork = 0; fork < cases[i].count; fork++)
				fork_works(fork, cases[i].works_ms[fork], "multiply");
			waits(20, "waitpid", "gather");
			end_step();
		}
		of = account();
		REQUIRE(of);
		check_sums(of);
		CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_OTHERS, -1), cases[i].others_ms, 9);
		CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_CHILD), cases[i].waits_ms, 9);
		sum = dw_account_sum(of, &others);
		CHECK_STR(sum.function ? sum.function->name : "", cases[i].others_ms > 0 ? "multiply" : "");
		made_close(&made);
	}
}

/* The kernel looks at a sleeping thread's timer so late that all of its samples are in another range. The loop's thread waits for
 * none. */
TEST(threads_that_nobody_waits_for_are_in_no_cell)
{
	const struct dw_account *of;
	uint32_t mix, sort;

	begin_run(0, 1);
	mix = made_op(&made, DWELL_CATEGORY_ZONE, "mix");
	sort = made_op(&made, DWELL_CATEGORY_ZONE, "sort");
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		enter(mix);
		other_works(0, 5, "work");
		runs(5, NULL, "work");
		leave();
		enter(sort);
		runs(3, NULL, "work");
		leave();
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_EQ(of->state_ns[DW_ACCOUNT_OTHERS], 0);
	CHECK(ms_of(of, -1, DW_ACCOUNT_WAITS, -1) + ms_of(of, -1, DW_ACCOUNT_SPINS, -1) < 1);
	made_close(&made);
}

CHECK_MAIN
