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
	CHECK(!fact(facts, DW_FACT_SAMPLES_UNNAMED)->measured);
	made_close(&made);
}

TEST(an_operator_is_in_the_function_that_calls_it)
{
	const struct dw_facts *facts;

	make(true, 40, (const char *const[]){ "tokenize", "pad" }, "log");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_STR(fact(facts, DW_FACT_OPERATORS_LARGEST)->where, "main (train.py:9)");
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_LOOP)->name, "main");
	CHECK_STR(fact(facts, DW_FACT_SAMPLES_LOOP)->where, "train.py:9");
	made_close(&made);
}

TEST(embeddings_with_half_of_the_parameters)
{
	static const struct {
		const char *text;
		bool measured;
	} cases[] = { { "500 1000 Net.items", true }, { "499 1000 Net.items", false }, { "0 0 Net", false }, { "", false } };

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_facts *facts;

		make(true, 40, (const char *const[]){ "tokenize", "pad" }, "log");
		dw_encode_meta(&made.process, DW_KEY_TORCH_DENSE_EMBEDDINGS, cases[i].text, false);
		facts = facts_of();
		REQUIRE(facts != NULL);
		CHECK_EQ(fact(facts, DW_FACT_GRADIENTS_EMBEDDINGS)->measured, cases[i].measured);
		if (cases[i].measured)
			CHECK_STR(fact(facts, DW_FACT_GRADIENTS_EMBEDDINGS)->note, "Net.items");
		made_close(&made);
	}
}

TEST(gradients_that_no_optimizer_uses)
{
	static const struct {
		const char *text;
		bool measured;
		double part;
		const char *of;
	} cases[] = {
		{ "900 1000 Net.encoder", true, 0.9, "Net.encoder" },
		{ "900 1000", true, 0.9, NULL },
		{ "0 1000 Net", false, 0, NULL },
		{ "900", false, 0, NULL },
		{ "", false, 0, NULL },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_facts *facts;

		make(true, 40, (const char *const[]){ "tokenize", "pad" }, "log");
		dw_encode_meta(&made.process, DW_KEY_TORCH_UNUSED_GRADIENTS, cases[i].text, false);
		facts = facts_of();
		REQUIRE(facts != NULL);
		CHECK_EQ(fact(facts, DW_FACT_GRADIENTS_UNUSED)->measured, cases[i].measured);
		CHECK(!cases[i].measured || fabs(fact(facts, DW_FACT_GRADIENTS_UNUSED)->value - cases[i].part) < 1e-9);
		if (cases[i].of)
			CHECK_STR(fact(facts, DW_FACT_GRADIENTS_UNUSED)->note, cases[i].of);
		else
			CHECK(!fact(facts, DW_FACT_GRADIENTS_UNUSED)->note);
		made_close(&made);
	}
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

/* Another thread runs `function` in three of four of its samples. A function that is also on the loop's stack is no work of the others. */
static const struct dw_facts *facts_of_two_threads(const char *function, enum dw_code_loop loop)
{
	struct dw_encode_stream other;
	struct dw_entry_symbol *symbol;
	uint32_t own, work, rest, thread, main, callers;

	made_init(&made);
	dw_encode_process_entry(&made.process);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "10000000", true);
	thread = dw_encode_thread(&made.process, 101, 0, 0, "reader");
	dw_encode_stream_init(&other, &made.process, 1, thread);
	main = dw_encode_frame(&made.process, "main", "/srv/engine.c", 9);
	callers = dw_encode_stack(&made.process, &main, 1);
	own = dw_encode_frame(&made.process, "decode", "/srv/engine.c", 20);
	rest = dw_encode_frame(&made.process, "log", "/srv/engine.c", 30);
	work = dw_encode_frame_in(&made.process, "/srv/engine", function);
	symbol = dw_encode_entry(&made.process, DW_ENTRY_SYMBOL, work, 0, sizeof *symbol);
	symbol->function = dw_encode_string(&made.process, function);
	symbol->file = dw_encode_string(&made.process, "/srv/engine.c");
	symbol->line = 40;
	symbol->loop = loop;
	for (uint64_t i = 0; i < 100; i++) {
		uint64_t at = 100 + 10 * i;

		dw_encode_sample(&made.stream, (at + 5) * ms, own, callers, 1);
		dw_encode_sample(&other, (at + 6) * ms, i % 4 ? work : rest, callers, 1);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 10) * ms, 10 * ms, DW_STEP_RECORDED);
	}
	return facts_of();
}

TEST(what_other_threads_use_cpus_for)
{
	for (unsigned spins = 0; spins < 2; spins++) {
		const struct dw_facts *facts = facts_of_two_threads("wait_for_ring", spins ? DW_CODE_SPINS : DW_CODE_OTHER);

		REQUIRE(facts != NULL);
		CHECK_STR(fact(facts, DW_FACT_CPU_TAKEN)->name, "wait_for_ring");
		CHECK_STR(fact(facts, DW_FACT_CPU_TAKEN)->where, "engine.c:40");
		CHECK_EQ(fact(facts, DW_FACT_CPU_TAKEN)->value, 0.75);
		CHECK_EQ(fact(facts, DW_FACT_CPU_SPUN)->measured, spins == 1);
		made_close(&made);
	}
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

/* 120 steps, twice as long from the 60th on: of `first` ms of "march" and `second` ms of "shade" before, and after. */
static const struct dw_facts *facts_of_change(const uint64_t before[2], const uint64_t after[2])
{
	uint32_t march, shade;
	uint64_t at = 100;

	made_init(&made);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	march = dw_encode_frame(&made.process, "march", "scene.c", 10);
	shade = dw_encode_frame(&made.process, "shade", "scene.c", 20);
	for (uint64_t i = 0; i < 120; i++) {
		const uint64_t *times = i < 60 ? before : after;
		uint64_t first = at;

		for (uint64_t t = 0; t < times[0] + times[1]; t++, at++)
			dw_encode_sample(&made.stream, at * ms + 1, t < times[0] ? march : shade, 0, 1);
		dw_encode_step(&made.process, made.thread, i, first * ms, at * ms, (at - first) * ms, DW_STEP_RECORDED);
	}
	return facts_of();
}

/* What steps have more to do of takes longer in proportion, and is no pace of the program's. */
TEST(more_of_the_same_work_is_told_from_a_function_that_takes_longer)
{
	const struct dw_facts *facts = facts_of_change((const uint64_t[]){ 6, 4 }, (const uint64_t[]){ 12, 8 });

	REQUIRE(facts != NULL);
	CHECK_NEAR(fact(facts, DW_FACT_DRIFT_CHANGE)->value, 1, 0.01);
	CHECK(fact(facts, DW_FACT_DRIFT_OWN)->value < 0.1);
	made_close(&made);
	facts = facts_of_change((const uint64_t[]){ 6, 4 }, (const uint64_t[]){ 16, 4 });
	REQUIRE(facts != NULL);
	CHECK_NEAR(fact(facts, DW_FACT_DRIFT_CHANGE)->value, 1, 0.01);
	CHECK(fact(facts, DW_FACT_DRIFT_OWN)->value > 0.9);
	CHECK_STR(fact(facts, DW_FACT_DRIFT_CHANGE)->note, "march");
	made_close(&made);
	/* Of one function alone nobody can tell. */
	facts = facts_of_change((const uint64_t[]){ 10, 0 }, (const uint64_t[]){ 20, 0 });
	REQUIRE(facts != NULL);
	CHECK(fact(facts, DW_FACT_DRIFT_OWN)->value > 0.9);
	made_close(&made);
}

/* 40 steps of 50 ms: in the last 10 ms of each the thread asks for data, and waits. */
static const struct dw_facts *facts_of_data(const char *wait)
{
	uint32_t next, compute, in_wait, callers;

	made_init(&made);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "5000000", true);
	next = made_op(&made, DWELL_CATEGORY_DATA, "next batch");
	compute = dw_encode_frame(&made.process, "gemm", NULL, 0);
	in_wait = dw_encode_frame(&made.process, wait, NULL, 0);
	callers = dw_encode_stack(&made.process, &compute, 1);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 100 + i * 50;
		struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, at * ms, (at + 50) * ms);

		usage->cpu_ns = usage->process_cpu_ns = 40 * ms;
		for (uint64_t t = 2; t < 40; t += 5)
			dw_encode_sample(&made.stream, (at + t) * ms, compute, 0, 1);
		dw_encode_begin(&made.stream, (at + 40) * ms, next);
		dw_encode_wait(&made.stream, (at + 49) * ms, in_wait, callers, 2);
		dw_encode_end(&made.stream, (at + 50) * ms);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 50) * ms, 40 * ms, DW_STEP_RECORDED);
	}
	return facts_of();
}

TEST(data_that_another_thread_makes)
{
	const struct dw_facts *facts = facts_of_data("pthread_cond_wait");

	REQUIRE(facts != NULL);
	CHECK_NEAR(fact(facts, DW_FACT_LOADER_THREADS)->value, 0.2, 0.005);
	made_close(&made);
	facts = facts_of_data("usleep");
	REQUIRE(facts != NULL);
	CHECK_EQ(fact(facts, DW_FACT_LOADER_THREADS)->value, 0);
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
