/* The account of marked steps: the times of their parts, and what the thread does in each of them. */
#include "made_steps.h"

#include "model/steps/steps.h"

/* ---- parts --------------------------------------------------------------------------------------------------- */

/* The time of a share by the records, without that of merged parts. */
static double of_records(enum dw_share share)
{
	const struct dw_steps *all = dw_model_steps(made.model, NULL);
	double ns = (double)all->loops[0].outside_ns[share];

	for (size_t i = 0; i < all->count; i++)
		ns += (double)all->steps[i].share_ns[share];
	return ns / (double)MS;
}

/* Steps with data, forward, backward, an optimizer, operators, two ranges of the program and time in none; between them
 * a checkpoint, an evaluation, a range, and time in none. */
static void make_all_parts(unsigned count)
{
	uint32_t data = made_op(&made, DWELL_CATEGORY_DATA, "next batch"),
			 forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	uint32_t backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward"),
			 optimizer = made_op(&made, DWELL_CATEGORY_PHASE, "optimizer");
	uint32_t product = made_op(&made, DWELL_CATEGORY_OPERATOR, "gemm"),
			 metrics = made_op(&made, DWELL_CATEGORY_ZONE, "metrics");
	uint32_t plots = made_op(&made, DWELL_CATEGORY_ZONE, "plots"),
			 save = made_op(&made, DWELL_CATEGORY_CHECKPOINT, "save");
	uint32_t check = made_op(&made, DWELL_CATEGORY_EVALUATION, "evaluation"),
			 report = made_op(&made, DWELL_CATEGORY_ZONE, "report");
	const uint32_t in_step[] = { data, forward, backward, optimizer, product, metrics, plots },
				   between[] = { save, check, report };

	for (unsigned i = 0; i < count; i++) {
		begin_step();
		for (unsigned part = 0; part < 7; part++) {
			enter(in_step[part]);
			runs(2 + part, NULL, "work");
			leave();
		}
		waits(3, "recv", "ask");
		end_step();
		for (unsigned part = 0; part < 3 && i + 1 < count; part++) {
			enter(between[part]);
			runs(1 + part, NULL, "work");
			leave();
		}
		runs(i + 1 < count ? 2 : 0, NULL, "work");
	}
}

static void check_parts(const struct dw_account *of)
{
	for (unsigned share = 0; share < DW_SHARE_COUNT; share++)
		if (share != DW_SHARE_NAMED)
			CHECK_NEAR(ms_of(of, (int)share, -1, -1), of_records((enum dw_share)share), 1e-3);
	CHECK_NEAR(ms_of_range(of, "metrics", -1, -1), 20 * 7, 1e-3);
	CHECK_NEAR(ms_of_range(of, "plots", -1, -1), 20 * 8, 1e-3);
	CHECK_NEAR(ms_of_range(of, "report", -1, -1), 19 * 3, 1e-3);
	CHECK_NEAR(ms_of(of, DW_SHARE_NAMED, -1, -1), 20 * 15 + 19 * 3, 1e-3);
}

/* With samples and the kernel's account, and without either. */
TEST(parts_have_exactly_the_times_of_the_records)
{
	for (unsigned known = 0; known < 2; known++) {
		const struct dw_account *of;

		begin_run(0, 0);
		make_all_parts(20);
		of = account_with_kernel(known);
		REQUIRE(of);
		CHECK_EQ(of->known, known);
		check_sums(of);
		check_parts(of);
		made_close(&made);
	}
}

/* Whatever samples say of where the thread was. */
TEST(samples_that_contradict_records_change_no_part)
{
	const struct dw_account *of;
	uint32_t metrics;

	begin_run(0, 0);
	metrics = made_op(&made, DWELL_CATEGORY_ZONE, "metrics");
	for (unsigned i = 0; i < 20; i++) {
		begin_step();
		enter(metrics);
		sample(&made.stream, 1, NULL, "count");
		now_ms += 20;
		leave();
		dw_encode_sample(&made.stream, now_ms * MS + MS, main_frame, 0,
		                 10); /* nearly all samples, in a tenth of the time */
		now_ms += 2;
		kernel.run_ms += 22;
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of_range(of, "metrics", -1, -1), 400, 1e-3);
	CHECK_NEAR(ms_of_range(of, "metrics", DW_ACCOUNT_RUNS, -1), 400, 1e-3);
	made_close(&made);
}

/* ---- the fit ------------------------------------------------------------------------------------------------- */

static uint64_t seed = 1;

static double chance(double most)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return most * (double)(seed >> 33) / (double)(1u << 31);
}

/* Parts with any times and samples, some of them without a sample, and sums of the kernel that need not be those of the
 * samples. */
static void check_any_fit(size_t count)
{
	struct dw_account_part at[64];
	struct dw_account_parts parts = { .at = at, .count = count };
	double state_ns[DW_ACCOUNT_STATE_COUNT] = { 0 }, wall_ns = 0, left_ns;

	for (size_t i = 0; i < count; i++) {
		at[i] = (struct dw_account_part){ .share = DW_SHARE_NAMED, .named = (uint32_t)i, .ns = 1e3 + chance(1e9) };
		at[i].sampled_ns[DW_ACCOUNT_RUNS] = chance(1) < 0.3 ? 0 : chance(1.5 * at[i].ns);
		at[i].sampled_ns[DW_ACCOUNT_WAITS] = chance(1) < 0.6 ? 0 : chance(1.5 * at[i].ns);
		wall_ns += at[i].ns;
	}
	left_ns = wall_ns;
	left_ns -= state_ns[DW_ACCOUNT_RUNS] = chance(left_ns);
	left_ns -= state_ns[DW_ACCOUNT_NO_CPU] = chance(1) < 0.5 ? 0 : chance(left_ns);
	state_ns[DW_ACCOUNT_WAITS] = left_ns;
	dw_account_parts_fit(&parts, state_ns, NULL, 1e6);
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++) {
		double sum = 0;

		for (size_t i = 0; i < count; i++)
			sum += at[i].state_ns[state];
		CHECK_NEAR(sum / wall_ns, state_ns[state] / wall_ns, 2e-6);
	}
	for (size_t i = 0; i < count; i++) {
		double sum = 0;

		for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++) {
			CHECK(at[i].state_ns[state] >= 0);
			sum += at[i].state_ns[state];
		}
		CHECK_NEAR(sum / at[i].ns, 1, 1e-9);
	}
}

TEST(a_fit_keeps_the_times_of_parts_and_of_states)
{
	for (unsigned i = 0; i < 2000; i++)
		check_any_fit(1 + i % 64);
}

/* ---- where a state is -------------------------------------------------------------------------------------------- */

/* 20 ms of each step wait in one range, 30 ms compute in another one, and 10 ms in none do both. */
static const struct dw_account *account_of_two_ranges(uint64_t lost_ms)
{
	uint32_t ask, solve;

	begin_run(0, 0);
	ask = made_op(&made, DWELL_CATEGORY_ZONE, "ask server");
	solve = made_op(&made, DWELL_CATEGORY_ZONE, "solve");
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		enter(ask);
		waits(20, "recv", "ask");
		leave();
		enter(solve);
		runs(30, NULL, "multiply");
		has_no_cpu(lost_ms);
		leave();
		runs(5, "malloc", "grow");
		waits(5, "usleep", "pause");
		end_step();
	}
	return account();
}

TEST(what_samples_show_in_a_part_is_there)
{
	const struct dw_account *of = account_of_two_ranges(0);

	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(of->own_ns, of->wall_ns, 1);
	CHECK_NEAR(ms_of_range(of, "ask server", DW_ACCOUNT_WAITS, DW_ACTIVITY_SOCKET), 800, 4);
	CHECK_NEAR(ms_of_range(of, "solve", DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN), 1200, 4);
	CHECK_NEAR(ms_of(of, DW_SHARE_OTHER, DW_ACCOUNT_WAITS, DW_ACTIVITY_SLEEP), 200, 4);
	CHECK_NEAR(ms_of(of, DW_SHARE_OTHER, DW_ACCOUNT_RUNS, DW_ACTIVITY_ALLOCATES), 200, 4);
	CHECK(ms_of_range(of, "ask server", DW_ACCOUNT_RUNS, -1) < 4);
	CHECK(ms_of_range(of, "solve", DW_ACCOUNT_WAITS, -1) < 4);
	made_close(&made);
}

/* Where it was is not known: the kernel counts it, and no sample shows it. It is in no share. */
TEST(time_without_a_cpu_is_spread_and_in_no_share)
{
	const struct dw_account *of = account_of_two_ranges(15);
	const struct dw_account_select sleeps = dw_account_select_states(1u << DW_ACCOUNT_WAITS, DW_ACTIVITY_SET(SLEEP));

	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(of->state_ns[DW_ACCOUNT_NO_CPU] / (double)MS, 600, 0.01);
	CHECK(near_ms(of->own_ns, 40 * 75 - 600));
	CHECK(ms_of_range(of, "solve", DW_ACCOUNT_NO_CPU, -1) > 300); /* the largest part, with least of other things */
	CHECK(ms_of_range(of, "ask server", DW_ACCOUNT_NO_CPU, -1) > 0);
	CHECK(ms_of(of, DW_SHARE_OTHER, DW_ACCOUNT_NO_CPU, -1) > 0);
	CHECK_NEAR(dw_account_sum(of, &sleeps).ns / of->own_ns, 200 / 2400.0, 0.01);
	made_close(&made);
}

/* What the kernel says that samples do not is of no kind. */
TEST(a_wait_that_no_sample_shows_is_for_what_is_not_known)
{
	const struct dw_account *of;
	uint32_t ask;

	begin_run(0, 0);
	ask = made_op(&made, DWELL_CATEGORY_ZONE, "ask server");
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		runs(30, NULL, "multiply");
		enter(ask);
		waits(20, NULL, NULL);
		leave();
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of_range(of, "ask server", DW_ACCOUNT_WAITS, DW_ACTIVITY_UNKNOWN), 800, 25);
	made_close(&made);
}

/* The kernel's account has the last word: 5 ms of each step by samples, and 2 ms by the kernel. */
TEST(samples_of_waits_are_no_more_than_the_kernel_says)
{
	const struct dw_account *of;

	begin_run(0, 0);
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		runs(12, NULL, "work");
		waits(5, "fsync", "keep");
		kernel.wait_ms -= 3;
		kernel.lost_ms += 3;
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_DISK), 80, 0.1);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_NO_CPU, -1), 120, 0.1);
	made_close(&made);
}

/* All samples are of waits in 2 of 22 ms; by the kernel it waits for 5 and runs for 17, and no sample shows where. */
TEST(waits_longer_than_the_parts_with_their_samples)
{
	const struct dw_account *of;
	uint32_t ask;

	begin_run(0, 0);
	ask = made_op(&made, DWELL_CATEGORY_ZONE, "ask server");
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		now_ms += 20;
		enter(ask);
		waits(2, NULL, NULL);
		dw_encode_wait(&made.stream, now_ms * MS - MS / 2, dw_encode_frame(&made.process, "recv", NULL, 0), 0, 10);
		leave();
		kernel.wait_ms += 3;
		kernel.run_ms += 17;
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK(near_ms(of->state_ns[DW_ACCOUNT_WAITS], 200));
	CHECK(near_ms(of->state_ns[DW_ACCOUNT_RUNS], 680));
	made_close(&made);
}

/* The kernel counts no wait: what its sums lack is none. */
TEST(a_thread_that_never_waits_does_not_wait)
{
	const struct dw_account *of;

	for (unsigned waits = 0; waits < 2; waits++) {
		begin_run(0, 0);
		for (unsigned i = 0; i < 40; i++) {
			struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, now_ms * MS, (now_ms + 50) * MS);

			usage->cpu_ns = usage->process_cpu_ns = 40 * MS;
			usage->waits = waits;
			usage->preemptions = 3;
			begin_step();
			runs(40, NULL, "work");
			now_ms += 10;
			end_step();
		}
		of = account_with_kernel(false);
		REQUIRE(of);
		check_sums(of);
		CHECK_NEAR(of->state_ns[DW_ACCOUNT_WAITS] / (double)MS, waits ? 400 : 0, 0.1);
		CHECK_NEAR(of->state_ns[DW_ACCOUNT_UNKNOWN] / (double)MS, waits ? 0 : 400, 0.1);
		made_close(&made);
	}
}

/* In 1000 ms the machine's CPUs ran for 900 ms, and a hypervisor took them for 100: so it took a ninth of what the
 * thread ran. */
TEST(what_a_hypervisor_takes_is_no_wait)
{
	const struct dw_account *of;
	struct dw_entry_machine *machine;

	begin_run(0, 0);
	for (unsigned i = 0; i < 20; i++) {
		begin_step();
		runs(27, NULL, "work");
		waits(20, "recv", "ask");
		now_ms += 3;
		end_step();
	}
	machine = dw_encode_machine(&made.process, start_ms * MS, now_ms * MS);
	machine->busy_ns = 900 * MS;
	machine->own_ns = 600 * MS;
	machine->stolen_us = 100000;
	machine->entry.aux |= DW_USAGE_STOLEN;
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(of->state_ns[DW_ACCOUNT_NO_CPU] / (double)MS, 60, 0.01);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_SOCKET), 400, 0.1);
	CHECK(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_UNKNOWN) < 0.1);
	made_close(&made);
}

/* ---- Python ------------------------------------------------------------------------------------------------------ */

/* In each step, Python runs in forward, in a layer and in nothing, and calls operators. */
static const struct dw_account *account_of_python(uint32_t state)
{
	uint32_t forward, layer, product, metrics, frame, stack = 0;

	begin_run(DW_PROCESS_PYTHON, 0);
	dw_encode_process_entry(&made.process)->pid = 100; /* the tid of made.thread */
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	layer = made_op(&made, DWELL_CATEGORY_LAYER, "Linear");
	product = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	metrics = made_op(&made, DWELL_CATEGORY_ZONE, "metrics");
	frame = dw_encode_frame(&made.process, "call", "/srv/train.py", 7);
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		enter(forward);
		for (unsigned part = 0; part < 4; part++) {
			if (part == 1 || part == 2)
				enter(part == 1 ? layer : product);
			for (unsigned t = 0; t < 5; t++)
				dw_encode_sample(&made.stream, (now_ms + t) * MS + MS / 2, frame, stack, 1);
			now_ms += 5;
			kernel.run_ms += 5;
			if (part == 1 || part == 2)
				leave();
		}
		leave();
		for (unsigned t = 0; t < 10; t++)
			dw_encode_sample(&made.stream, (now_ms + t) * MS + MS / 2, frame, stack, 1);
		now_ms += 10;
		enter(metrics);
		now_ms += 10;
		leave();
		kernel.run_ms += 20;
		end_step_as(i % 2 ? state : DW_STEP_RECORDED);
	}
	return account();
}

/* Samples cannot tell them apart: a layer's records come before its operators run, and after. */
TEST(the_interpreters_time_is_one_part)
{
	const struct dw_account *of = account_of_python(DW_STEP_RECORDED);

	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of(of, DW_SHARE_FORWARD, -1, -1), 200, 1e-3); /* in operators */
	CHECK_NEAR(ms_of_range(of, "metrics", -1, -1), 400, 1e-3);
	CHECK_NEAR(ms_of(of, DW_SHARE_OTHER, -1, -1), 1000, 1e-3);
	CHECK_EQ(ms_of(of, DW_SHARE_PYTHON, -1, -1) + ms_of(of, DW_SHARE_LAYERS, -1, -1) +
	             ms_of(of, DW_SHARE_FUNCTIONS, -1, -1),
	         0);
	made_close(&made);
}

/* In half of the steps operators are not recorded: then phases have no time of their own in the account. */
TEST(steps_without_operators_have_no_phases)
{
	const struct dw_account *of = account_of_python(DW_STEP_REDUCED);

	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of_range(of, "metrics", -1, -1), 400, 1e-3);
	CHECK_NEAR(ms_of(of, DW_SHARE_OTHER, -1, -1), 1200, 1e-3);
	made_close(&made);
}

/* ---- what is odd ------------------------------------------------------------------------------------------------- */

/* 40 ms of 200 pass in page faults, which no sample shows: in what touches memory. */
TEST(page_faults_are_cells_of_what_touches_memory)
{
	const struct dw_account *of;

	begin_run(0, 0);
	dw_encode_meta(&made.process, DW_KEY_FAULT_NS, "2000", true);
	for (unsigned i = 0; i < 20; i++) {
		begin_step();
		runs(8, NULL, "fill");
		runs(2, "snprintf", "report");
		end_step();
	}
	kernel.faults = 20000;
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_RUNS, DW_ACTIVITY_FAULT), 40, 1e-3);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN), 120, 1e-3);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_RUNS, DW_ACTIVITY_TEXT), 40, 1e-3);
	made_close(&made);
}

TEST(a_loop_with_one_step)
{
	const struct dw_account *of;
	uint32_t solve;

	begin_run(0, 0);
	solve = made_op(&made, DWELL_CATEGORY_ZONE, "solve");
	begin_step();
	enter(solve);
	runs(30, NULL, "multiply");
	leave();
	waits(20, "recv", "ask");
	end_step();
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK(near_ms(of->wall_ns, 50));
	CHECK_NEAR(ms_of_range(of, "solve", DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN), 30, 1);
	CHECK_NEAR(ms_of(of, DW_SHARE_OTHER, DW_ACCOUNT_WAITS, DW_ACTIVITY_SOCKET), 20, 1);
	made_close(&made);
}

#define NAMES (check_is_slow() ? 2000u : 10000u)

/* While another thread works, for which the thread waits in each of the ranges. */
TEST(thousands_of_names)
{
	const struct dw_account *of;
	char name[32];

	begin_run(0, 1);
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		for (unsigned n = 0; n < NAMES / 40; n++) {
			snprintf(name, sizeof name, "part %u", i * (NAMES / 40) + n);
			enter(made_op(&made, DWELL_CATEGORY_ZONE, name));
			other_works(0, 2, "help");
			runs(1, NULL, "work");
			waits(1, "pthread_join", "work");
			leave();
		}
		end_step();
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK_NEAR(ms_of(of, DW_SHARE_NAMED, -1, -1), 2 * NAMES, 0.1);
	CHECK_NEAR(ms_of(of, DW_SHARE_NAMED, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN), NAMES, 0.1);
	CHECK(ms_of(of, -1, DW_ACCOUNT_OTHERS, -1) > NAMES / 3.0);
	CHECK_NEAR(ms_of_range(of, "part 1711", -1, -1), 2, 1e-6);
	made_close(&made);
}

/* The program was killed in its last step. */
TEST(a_step_that_did_not_end)
{
	const struct dw_account *of;

	begin_run(0, 0);
	for (unsigned i = 0; i < 10; i++) {
		begin_step();
		runs(20, NULL, "work");
		if (i < 9)
			end_step();
	}
	dw_encode_step(&made.process, made.thread, steps, step_ms * MS, 0, 0, DW_STEP_RECORDED);
	enter(made_op(&made, DWELL_CATEGORY_ZONE, "last"));
	waits(30, "recv", "ask");
	leave();
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK(of->wall_ns >= 180 * (double)MS);
	made_close(&made);
}

TEST(without_samples_only_the_sums_are_known)
{
	const struct dw_account *of;
	uint32_t solve;

	begin_run(0, 0);
	solve = made_op(&made, DWELL_CATEGORY_ZONE, "solve");
	for (unsigned i = 0; i < 10; i++) {
		begin_step();
		enter(solve);
		now_ms += 30;
		leave();
		now_ms += 20;
		end_step();
	}
	kernel.run_ms = 300;
	of = account();
	REQUIRE(of);
	check_sums(of);
	CHECK(!dw_account_is_divided(of));
	CHECK_NEAR(ms_of_range(of, "solve", -1, -1), 300, 1e-3);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_RUNS, DW_ACTIVITY_UNKNOWN), 300, 0.01);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_UNKNOWN), 200, 0.01);
	made_close(&made);
}

/* What samples stand for is known without the kernel; the rest may be anything. */
TEST(without_the_kernels_account_samples_say_what_they_stand_for)
{
	const struct dw_account *of;

	begin_run(0, 0);
	for (unsigned i = 0; i < 40; i++) {
		begin_step();
		runs(10, NULL, "work");
		waits(6, "recv", "ask");
		now_ms += 4;
		end_step();
	}
	of = account_with_kernel(false);
	REQUIRE(of);
	check_sums(of);
	CHECK(!of->known && !of->waits_known);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_RUNS, DW_ACTIVITY_OWN), 400, 0.1);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_WAITS, DW_ACTIVITY_SOCKET), 240, 0.1);
	CHECK_NEAR(ms_of(of, -1, DW_ACCOUNT_UNKNOWN, -1), 160, 0.1);
	made_close(&made);
}

/* A clock that was set back: a step, a reading, a range, a sample and a wait end before they begin. */
TEST(clocks_that_jump_backwards)
{
	const struct dw_account *of;
	struct dw_entry_usage *usage;
	uint32_t solve, frame, stack;

	begin_run(0, 0);
	solve = made_op(&made, DWELL_CATEGORY_ZONE, "solve");
	for (unsigned i = 0; i < 20; i++) {
		begin_step();
		enter(solve);
		runs(10, NULL, "work");
		if (i == 10)
			now_ms -= 25;
		leave();
		end_step();
	}
	stack = stack_of("recv", "ask", &frame);
	dw_encode_wait(&made.stream, 50 * MS, frame, stack, 500);
	dw_encode_sample(&made.stream, 20 * MS, frame, stack, 1);
	usage = dw_encode_usage(&made.process, made.thread, now_ms * MS, start_ms * MS);
	usage->cpu_ns = 100 * MS;
	usage = dw_encode_usage(&made.process, made.thread, start_ms * MS, now_ms * MS);
	usage->cpu_ns = 500 * MS; /* more than passed */
	usage->delay_ns = 500 * MS;
	of = account_with_kernel(false);
	REQUIRE(of);
	check_sums(of);
	made_close(&made);
}

/* A range begins in a step and ends in the next one; a step begins before the last one ends. */
TEST(ranges_and_steps_that_overlap)
{
	const struct dw_account *of;
	uint32_t outer, inner;

	begin_run(0, 0);
	outer = made_op(&made, DWELL_CATEGORY_ZONE, "outer");
	inner = made_op(&made, DWELL_CATEGORY_ZONE, "inner");
	for (unsigned i = 0; i < 20; i++) {
		begin_step();
		runs(5, NULL, "work");
		if (i % 2)
			leave();
		enter(inner);
		runs(10, NULL, "work");
		leave();
		if (i % 2 == 0)
			enter(outer);
		runs(5, NULL, "work");
		end_step();
		if (i % 5 == 4)
			dw_encode_step(&made.process, made.thread, steps++, (now_ms - 3) * MS, (now_ms + 2) * MS, 0,
			               DW_STEP_RECORDED);
		runs(2, NULL, "work");
	}
	of = account();
	REQUIRE(of);
	check_sums(of);
	made_close(&made);
}

CHECK_MAIN
