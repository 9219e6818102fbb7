/* Which functions facts name, of samples made by hand. */
#include "made.h"

#include <math.h>

#include "facts/work.h"
#include "format/keys.h"
#include "model/samples/hot.h"

static struct made made;
static const uint64_t ms = 1000000;

/* 40 steps of 10 ms with 10 ms between them; half of a step is an operator. Samples of the functions
 * `own` come in turn after the operator, and those of `between` between the steps. */
static void make(bool python, uint32_t steps, const char *const own[2], const char *between)
{
	uint32_t op, native, callers, in_step[2], out;

	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = python ? DW_PROCESS_PYTHON : 0;
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	native = dw_encode_frame(&made.process, "gemm", NULL, 0);
	callers = dw_encode_frame(&made.process, "main", "/srv/train.py", 9);
	callers = dw_encode_stack(&made.process, &callers, 1);
	for (unsigned i = 0; i < 2; i++)
		in_step[i] = dw_encode_frame(&made.process, own[i], "/srv/train.py", 10 * (i + 1));
	out = dw_encode_frame(&made.process, between, "/srv/train.py", 50);
	for (uint64_t i = 0; i < steps; i++) {
		uint64_t at = 100 + 20 * i;

		dw_encode_begin(&made.stream, at * ms, op);
		dw_encode_sample(&made.stream, (at + 2) * ms, native, callers, 1);
		dw_encode_end(&made.stream, (at + 5) * ms);
		dw_encode_sample(&made.stream, (at + 7) * ms, in_step[i % 4 == 0], callers, 1);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 10) * ms, 10 * ms, DW_STEP_RECORDED);
		dw_encode_sample(&made.stream, (at + 15) * ms, out, callers, 1);
	}
}

static const struct dw_fact *fact(const struct dw_facts *facts, enum dw_fact_id id)
{
	return &facts->at[id];
}

static const struct dw_facts *facts_of(void)
{
	return made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
}

TEST(the_function_with_most_of_a_part_is_named)
{
	const struct dw_facts *facts;

	make(true, 40, (const char *const[]){ "tokenize", "pad" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_STEP)->value, 2);
	/* tokenize in 30 steps, pad in 10, log between 39 pairs */
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_PYTHON)->name, "log");
	CHECK(fabs(fact(facts, DW_FACT_SAMPLES_PYTHON)->value - 39.0 / 79) < 1e-9);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_BETWEEN)->name, "log");
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_BETWEEN)->where, "train.py:50");
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_BETWEEN)->value, 1);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_FUNCTION)->name, "gemm");
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_FUNCTION)->value, 0.5);
	CHECK(fact(facts, DW_FACT_SAMPLES_FUNCTION)->low < 0.42 && fact(facts, DW_FACT_SAMPLES_FUNCTION)->high > 0.58);
	CHECK(!fact(facts, DW_FACT_SAMPLES_UNNAMED)->measured);
	made_close(&made);
}

TEST(the_engine_of_autograd_is_no_python)
{
	const struct dw_facts *facts;

	make(true, 40, (const char *const[]){ "_engine_run_backward", "pad" }, "pad");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(fabs(fact(facts, DW_FACT_SAMPLES_ENGINE)->value - 30.0 / 79) < 1e-9);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_PYTHON)->name, "pad");
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_PYTHON)->value, 1);
	made_close(&made);
}

/* Steps of 10 ms in no range: three of four samples are in the first function. `flags` of the process. */
static const struct dw_facts *facts_of_calls(uint32_t flags, const char *module, const char *first, const char *second)
{
	uint32_t frames[2], main, callers;

	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = flags;
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "10000000", true);
	frames[0] = dw_encode_frame_in(&made.process, module, first);
	frames[1] = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", second);
	main = dw_encode_frame(&made.process, "main", "/srv/train.py", 9);
	callers = dw_encode_stack(&made.process, &main, 1);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 100 + 10 * i;

		dw_encode_sample(&made.stream, (at + 5) * ms, frames[i % 4 == 0], callers, 1);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 10) * ms, 10 * ms, DW_STEP_RECORDED);
	}
	return facts_of();
}

TEST(products_of_numpy_are_no_python)
{
	const struct dw_facts *facts = facts_of_calls(DW_PROCESS_PYTHON, "/usr/lib/libscipy_openblas64_-32a4.so", "dgemm_kernel", "memcpy");

	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_ENGINE)->value, 0.75);
	made_close(&made);
}

TEST(memory_that_is_returned_is_no_python)
{
	const struct dw_facts *facts = facts_of_calls(DW_PROCESS_PYTHON, "/usr/lib/libc.so.6", "brk", "memcpy");

	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_ENGINE)->value, 0.75);
	made_close(&made);
}

/* A loop of the program that only another thread can end. */
TEST(a_thread_that_spins_waits_for_another)
{
	for (uint32_t spins = 0; spins < 2; spins++) {
		const struct dw_hot_ask ask = { .waits = true };
		struct dw_entry_symbol *symbol;
		struct dw_hot hot;
		uint32_t frames[2];

		made_init(&made);
		dw_encode_process_entry(&made.process);
		dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "10000000", true);
		for (unsigned i = 0; i < 2; i++) {
			frames[i] = dw_encode_frame_in(&made.process, "/srv/engine", i ? "compute" : "wait_for_helper");
			symbol = dw_encode_entry(&made.process, DW_ENTRY_SYMBOL, frames[i], 0, sizeof *symbol);
			symbol->function = dw_encode_string(&made.process, i ? "compute" : "wait_for_helper");
			symbol->loop = !i && spins ? DW_CODE_SPINS : DW_CODE_OTHER;
		}
		for (uint64_t i = 0; i < 100; i++) {
			uint64_t at = 100 + 10 * i;

			dw_encode_sample(&made.stream, (at + 5) * ms, frames[i % 4 != 0], 0, 1);
			dw_encode_step(&made.process, made.thread, i, at * ms, (at + 10) * ms, 10 * ms, DW_STEP_RECORDED);
		}
		REQUIRE(facts_of() != NULL);
		CHECK(dw_hot_make(&hot, made.model, &ask));
		CHECK_EQ(hot.spun_samples, spins ? 25 : 0);
		dw_hot_reset(&hot);
		made_close(&made);
	}
}

TEST(calls_for_files_are_a_share_of_the_time_in_no_range)
{
	const struct dw_facts *facts = facts_of_calls(0, "/usr/lib/libc.so.6", "open64", "write");

	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_FILES)->value, 1);
	made_close(&made);
	facts = facts_of_calls(0, "/usr/lib/libc.so.6", "write", "read"); /* of a socket, for all that is known */
	REQUIRE(facts != NULL);
	CHECK(!(fact(facts, DW_FACT_SAMPLES_FILES)->value > 0));
	made_close(&made);
}

TEST(in_c_the_function_of_time_in_no_range_is_named)
{
	const struct dw_facts *facts;

	make(false, 40, (const char *const[]){ "solve", "check" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_UNNAMED)->name, "solve");
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_UNNAMED)->where, "train.py:10");
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_UNNAMED)->value, 0.75);
	CHECK(!fact(facts, DW_FACT_SAMPLES_PYTHON)->measured);
	made_close(&made);
}

TEST(a_function_of_cxx_has_a_short_name)
{
	const struct dw_facts *facts;

	make(false, 40, (const char *const[]){ "(anonymous namespace)::Net::learn(std::vector<float, std::allocator<float> > const&)", "check" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_UNNAMED)->name, "Net::learn");
	made_close(&made);
}

/* A function of the C library without a name is named by the program's function that calls it. */
TEST(the_programs_function_is_named_if_a_librarys_has_no_line)
{
	const struct dw_facts *facts;
	uint32_t copy, insert, callers;

	made_init(&made);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	copy = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", "libc.so.6+0x16d800");
	insert = dw_encode_frame_in(&made.process, "/srv/agent", "insert_flight");
	callers = dw_encode_stack(&made.process, &insert, 1);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 100 + 10 * i;

		dw_encode_sample(&made.stream, (at + 5) * ms, copy, callers, 1);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 10) * ms, 10 * ms, DW_STEP_RECORDED);
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_UNNAMED)->name, "insert_flight");
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_UNNAMED)->value, 1);
	made_close(&made);
}

/* Other programs use half of two CPUs for `length_ms`. */
static void others_run(uint64_t length_ms)
{
	struct dw_entry_machine *machine = dw_encode_machine(&made.process, 100 * ms, (100 + length_ms) * ms);

	machine->program = 100;
	machine->looks = 100;
	machine->busy_ns = 2 * length_ms * ms;
	machine->own_ns = length_ms * ms;
	dw_encode_meta(&made.process, "host.cpus", "2", true);
}

/* What a team does while one of its threads works alone, or if another program has that one's CPU. */
enum team { TEAM_RESTS, TEAM_SPINS, TEAM_DISTURBED };

/* 40 steps of 20 ms: for 6 ms both threads work in "mix", then for 4 ms the first one alone in "collect", while the other
 * rests, or spins in OpenMP's runtime. In each third step the first one waits in the runtime too, at the end of "mix"; for 8 ms
 * of each step if others disturb them. */
static void make_team(enum team does)
{
	struct dw_encode_stream stream;
	uint32_t mix, collect, work, wait, own, callers, nothing;
	uint64_t late = does == TEAM_DISTURBED ? 8 : 0;

	made_init(&made);
	dw_encode_stream_init(&stream, &made.process, 1, dw_encode_thread(&made.process, 101, 1, 0, "team"));
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	mix = made_op(&made, DWELL_CATEGORY_ZONE, "mix");
	collect = made_op(&made, DWELL_CATEGORY_ZONE, "collect");
	work = dw_encode_frame(&made.process, "mix", "mix.c", 7);
	wait = dw_encode_frame_in(&made.process, "/usr/lib/libgomp.so.1.0.0", "GOMP_barrier");
	own = dw_encode_frame_in(&made.process, "/srv/mixer", "mix._omp_fn.0");
	callers = dw_encode_stack(&made.process, &own, 1);
	nothing = 0;
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 100 + 20 * i;

		dw_encode_begin(&made.stream, at * ms, mix);
		for (uint64_t t = 1; t < 6 + late; t++) {
			bool waits = t > 5 || (t < 5 && i % 3 == 0);

			if (t < 6)
				dw_encode_sample(&stream, (at + t) * ms, work, nothing, 1);
			dw_encode_sample(&made.stream, (at + t) * ms, waits ? wait : work, waits ? callers : nothing, 1);
		}
		at += late;
		dw_encode_end(&made.stream, (at + 6) * ms);
		dw_encode_begin(&made.stream, (at + 6) * ms, collect);
		for (uint64_t t = 7; t < 10; t++) {
			dw_encode_sample(&made.stream, (at + t) * ms, work, nothing, 1);
			if (does != TEAM_RESTS)
				dw_encode_sample(&stream, (at + t) * ms, wait, callers, 1);
		}
		dw_encode_end(&made.stream, (at + 10) * ms - 1);
		dw_encode_step(&made.process, made.thread, i, (at - late) * ms, (at + 10) * ms, (10 + late) * ms, DW_STEP_RECORDED);
	}
	if (does == TEAM_DISTURBED)
		others_run(40 * 20);
	dw_encode_close(&stream);
}

/* 40 steps: both threads work for 5 ms in "mix" and for 3 in "sort", and the second one sleeps between. The kernel looks at its
 * timer so late that all of its samples are in "mix". */
TEST(samples_that_come_late_let_no_team_rest)
{
	const struct dw_facts *facts;
	struct dw_encode_stream stream;
	uint32_t mix, sort, work;

	made_init(&made);
	dw_encode_stream_init(&stream, &made.process, 1, dw_encode_thread(&made.process, 101, 1, 0, "team"));
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	mix = made_op(&made, DWELL_CATEGORY_ZONE, "mix");
	sort = made_op(&made, DWELL_CATEGORY_ZONE, "sort");
	work = dw_encode_frame(&made.process, "work", "mix.c", 7);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 100 + 10 * i;

		for (uint64_t t = 0; t < 8; t++) {
			if (t == 0 || t == 5)
				dw_encode_begin(&made.stream, (at + t) * ms, t ? sort : mix);
			dw_encode_sample(&made.stream, (at + t) * ms + 1, work, 0, 1);
			if (t == 4 || t == 7)
				dw_encode_end(&made.stream, (at + t + 1) * ms - 1);
			dw_encode_sample(&stream, at * ms + (t + 1) * ms / 2, work, 0, 1);
		}
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 8) * ms, 8 * ms, DW_STEP_RECORDED);
	}
	dw_encode_close(&stream);
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(!fact(facts, DW_FACT_SAMPLES_NAMED_CPUS)->measured);
	made_close(&made);
}

TEST(a_range_in_which_a_team_rests_is_no_work)
{
	for (enum team does = TEAM_RESTS; does <= TEAM_DISTURBED; does++) {
		const struct dw_facts *facts;

		make_team(does);
		facts = facts_of();
		REQUIRE(facts != NULL);
		/* it is the smaller range, but half of the team's time there is lost */
		CHECK_STR(fact(facts, DW_FACT_STEP_NAMED_PART)->name, "collect");
		CHECK_EQ(fact(facts, DW_FACT_SAMPLES_NAMED_CPUS)->value, 1);
		/* of five samples in mix, four wait in each third step */
		CHECK(fabs(fact(facts, DW_FACT_SAMPLES_TEAM_CPUS)->value - (2 - 14 * 4 / 200.0)) < 1e-9);
		made_close(&made);
	}
}

/* 40 steps of 20 ms, in which the first thread works for `own` ms and spins for 8 until the other one has worked for 10. */
static const struct dw_facts *facts_of_parts(uint64_t own)
{
	struct dw_encode_stream stream;
	uint32_t work, wait, outer, callers;

	made_init(&made);
	dw_encode_process_entry(&made.process)->pid = 100;
	dw_encode_stream_init(&stream, &made.process, 1, dw_encode_thread(&made.process, 101, 1, 0, "team"));
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	work = dw_encode_frame(&made.process, "attend", "net.c", 7);
	wait = dw_encode_frame_in(&made.process, "/usr/lib/libgomp.so.1.0.0", "GOMP_barrier");
	outer = dw_encode_frame(&made.process, "attend", "net.c", 9);
	callers = dw_encode_stack(&made.process, &outer, 1);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 100 + 20 * i;
		struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, at * ms, (at + 20) * ms);

		usage->cpu_ns = (own + 8) * ms;
		usage->process_cpu_ns = usage->cpu_ns + 10 * ms;
		usage->delay_ns = 20 * ms - usage->cpu_ns;
		for (uint64_t t = 0; t < own + 8; t++)
			dw_encode_sample(&made.stream, (at + t) * ms + 1, t < own ? work : wait, t < own ? 0 : callers, 1);
		for (uint64_t t = 0; t < 10; t++)
			dw_encode_sample(&stream, (at + t) * ms + 1, work, 0, 1);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 20) * ms, (own + 18) * ms, DW_STEP_RECORDED);
	}
	others_run(40 * 20);
	dw_encode_close(&stream);
	return facts_of();
}

/* Next to other programs a thread spins for its team in any case. It waits for one that has more to do. */
TEST(a_thread_waits_for_one_that_has_more_to_do)
{
	const struct dw_facts *facts = facts_of_parts(5);

	REQUIRE(facts != NULL);
	CHECK(fact(facts, DW_FACT_CPU_OTHERS)->value > 0.4);
	CHECK(fact(facts, DW_FACT_WAIT_LOCK)->value > 0.3 && fact(facts, DW_FACT_WAIT_LOCK)->value < 0.4);
	CHECK_STR(fact(facts, DW_FACT_WAIT_LOCK)->name, "attend");
	made_close(&made);
	facts = facts_of_parts(10);
	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_WAIT_LOCK)->value, 0);
	made_close(&made);
}

/* Steps of 20 ms, in which the thread waits for a disk for 5; by the kernel's readings, which are further apart, for 2. */
TEST(waits_for_a_disk_are_at_least_those_of_samples)
{
	const struct dw_facts *facts;
	uint32_t sync, work, keep, callers;

	made_init(&made);
	dw_encode_process_entry(&made.process)->pid = 100;
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	work = dw_encode_frame(&made.process, "work", "net.c", 7);
	sync = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", "fsync");
	keep = dw_encode_frame(&made.process, "keep", "net.c", 9);
	callers = dw_encode_stack(&made.process, &keep, 1);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 100 + 20 * i;
		struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, at * ms, (at + 20) * ms);

		usage->cpu_ns = usage->process_cpu_ns = 12 * ms;
		usage->delay_ns = 6 * ms;
		for (uint64_t t = 0; t < 12; t++)
			dw_encode_sample(&made.stream, (at + t) * ms + 1, work, 0, 1);
		dw_encode_wait(&made.stream, (at + 19) * ms, sync, callers, 5);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 20) * ms, 12 * ms, DW_STEP_RECORDED);
	}
	others_run(40 * 20);
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_NEAR(fact(facts, DW_FACT_WAIT_FILE)->value, 0.25, 1e-3);
	CHECK_STR(fact(facts, DW_FACT_WAIT_FILE)->name, "keep");
	made_close(&made);
}

TEST(a_team_that_works_everywhere_has_no_range_in_which_it_rests)
{
	const struct dw_facts *facts;

	make(false, 40, (const char *const[]){ "solve", "check" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(!fact(facts, DW_FACT_SAMPLES_NAMED_CPUS)->measured);
	made_close(&made);
}

/* 80 steps without ranges: "solve" takes 10 ms of each; "sum", which walks a list that grows, 1 ms more in each fourth. */
TEST(a_function_that_grows_has_a_pace_of_its_own)
{
	const struct dw_facts *facts;
	uint32_t solve, sum;
	uint64_t at = 100;

	made_init(&made);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	solve = dw_encode_frame(&made.process, "solve", "net.c", 10);
	sum = dw_encode_frame(&made.process, "sum", "net.c", 20);
	for (uint64_t i = 0; i < 80; i++) {
		uint64_t first = at;

		for (uint64_t t = 0; t < 10 + i / 4; t++, at++)
			dw_encode_sample(&made.stream, at * ms + 1, t < 10 ? solve : sum, 0, 1);
		dw_encode_step(&made.process, made.thread, i, first * ms, at * ms, (at - first) * ms, DW_STEP_RECORDED);
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(fact(facts, DW_FACT_DRIFT_SLOPE)->value > 0.5);
	CHECK_STR(fact(facts, DW_FACT_DRIFT_SLOPE)->note, "sum");
	CHECK(fact(facts, DW_FACT_DRIFT_OWN)->value > 0.95);
	made_close(&made);
}

TEST(few_samples_name_nothing)
{
	const struct dw_facts *facts;

	make(true, 6, (const char *const[]){ "tokenize", "pad" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(!fact(facts, DW_FACT_SAMPLES_PYTHON)->measured);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_PYTHON)->missing, "fewer than 20 samples of call stacks lie there");
	made_close(&made);
}

/* In a program that was linked statically, whose C library has names that no function of its own has. */
TEST(memory_management_is_a_share_of_its_own)
{
	const struct dw_facts *facts;

	make(false, 40, (const char *const[]){ "_int_malloc", "__memcpy_avx_unaligned" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_ALLOCATION)->value, 0.375);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_COPY)->value, 0.125);
	made_close(&made);
}

TEST(functions_of_the_program_with_names_like_those_of_the_library_are_its_work)
{
	static const char *const names[][2] = { { "free_from_median", "memcpy_rows" }, { "freeze_layers", "memset_rows" }, { "free", "memmove" },
		                                    { "Pool::malloc", "memory_bank" } };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct dw_facts *facts;

		make(false, 40, names[i], "brk_fit");
		facts = facts_of();
		REQUIRE(facts != NULL);
		CHECK_EQ(fact(facts, DW_FACT_SAMPLES_ALLOCATION)->value, 0);
		CHECK_EQ(fact(facts, DW_FACT_SAMPLES_COPY)->value, 0);
		made_close(&made);
	}
}

/* The program's function makes nodes for half of its time, in functions of the C library that have no names; returns pages
 * for a quarter, and computes for a quarter. */
TEST(what_malloc_calls_is_allocation)
{
	const struct dw_facts *facts;
	uint32_t inner, unmap, grow, outer[2], callers;

	made_init(&made);
	dw_encode_process_entry(&made.process);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	inner = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", "libc.so.6+0x97360");
	unmap = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", "munmap");
	grow = dw_encode_frame(&made.process, "grow_tree", "/srv/tree.c", 20);
	outer[0] = dw_encode_frame_in(&made.process, "/usr/lib/libc.so.6", "malloc");
	outer[1] = grow;
	callers = dw_encode_stack(&made.process, outer, 2);
	for (uint64_t i = 0; i < 80; i++) {
		uint64_t at = 100 + 10 * i;

		dw_encode_sample(&made.stream, (at + 5) * ms, i % 2 ? inner : i % 4 ? unmap : grow, i % 2 || i % 4 ? callers : 0, 1);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 10) * ms, 10 * ms, DW_STEP_RECORDED);
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_ALLOCATION)->value, 0.5);
	CHECK_EQ(fact(facts, DW_FACT_MEMORY_ALLOCATOR)->value, 0.5);
	CHECK_STR(fact(facts, DW_FACT_MEMORY_ALLOCATOR)->name, "grow_tree");
	CHECK_STR(fact(facts, DW_FACT_MEMORY_ALLOCATOR)->where, "tree.c:20");
	made_close(&made);
}

TEST(samples_whose_stacks_were_not_read_are_in_no_function)
{
	const struct dw_facts *facts;

	made_init(&made);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	for (uint64_t i = 0; i < 40; i++) {
		dw_encode_sample(&made.stream, (100 + 10 * i) * ms + 1, 0, 0, 1);
		dw_encode_step(&made.process, made.thread, i, (100 + 10 * i) * ms, (110 + 10 * i) * ms, 10 * ms, DW_STEP_RECORDED);
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_STEP)->value, 1);
	CHECK_EQ(fact(facts, DW_FACT_SAMPLES_COPY)->value, 0);
	made_close(&made);
}

TEST(without_samples_the_facts_say_what_to_record)
{
	const struct dw_facts *facts;

	made_init(&made);
	dw_encode_step(&made.process, made.thread, 0, 100, 200, 0, DW_STEP_RECORDED);
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(!fact(facts, DW_FACT_SAMPLES_STEP)->measured);
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_STEP)->missing, "record with dwell run --sample 100");
	made_close(&made);
}

CHECK_MAIN
