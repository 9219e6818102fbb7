/* Which range under a program's own name is least likely work, of samples made by hand. */
#include "check.h"
#include "facts/facts.h"
#include "format/keys.h"
#include "made.h"

#define STEPS 40

static struct made made;
static const uint64_t ms = 1000000;

#define VALUE(facts, id) ((facts)->at[DW_FACT_##id].value)
#define CLOSE(value, expected) CHECK_NEAR(value, expected, 0.005)

struct plan {
	const char *library;     /* of the function in the second range; NULL: the program; "": it has no module */
	const char *wait;        /* function in which the thread waits for the last 10 ms of the second range, or NULL */
	uint32_t category;       /* of the second range */
	uint64_t elsewhere_ms;   /* the thread waits between the ranges */
	uint64_t waiting_ms;     /* by the kernel's account */
	const char *name;        /* of the second range; NULL: "exchange" */
	const char *call;        /* the function in the second range; NULL: "print" */
	enum dw_code_loop loop;  /* what this function does */
};

/* Steps of 50 ms in a program without Python: 25 in "solve", 25 in "exchange", with a sample each 5 ms of a CPU. */
static const struct dw_facts *facts_of(struct plan plan)
{
	uint32_t solve, exchange, compute, other, wait, nap, callers;

	made_init(&made);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "5000000", true);
	solve = made_op(&made, DWELL_CATEGORY_ZONE, "solve");
	exchange = made_op(&made, plan.category ? plan.category : DWELL_CATEGORY_ZONE, plan.name ? plan.name : "exchange");
	compute = dw_encode_frame(&made.process, "gemm", NULL, 0);
	other = plan.library && !*plan.library
	            ? dw_encode_frame(&made.process, plan.call, NULL, 0)
	            : dw_encode_frame_in(&made.process, plan.library ? plan.library : "/srv/train", plan.call ? plan.call : "print");
	if (plan.loop) {
		struct dw_entry_symbol *symbol = dw_encode_entry(&made.process, DW_ENTRY_SYMBOL, other, 0, sizeof *symbol);

		struct dw_entry_machine *machine;

		symbol->function = dw_encode_string(&made.process, "print");
		symbol->loop = plan.loop;
		dw_encode_process_entry(&made.process)->pid = 100; /* the tid of made.thread */
		machine = dw_encode_machine(&made.process, 100 * ms, (100 + STEPS * 50) * ms);
		machine->program = 100;
		machine->looks = 100;
	}
	wait = dw_encode_frame(&made.process, plan.wait ? plan.wait : "", NULL, 0);
	nap = dw_encode_frame(&made.process, "usleep", NULL, 0);
	callers = dw_encode_stack(&made.process, &compute, 1);
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 50, end = at + 50;
		struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, at * ms, end * ms);

		usage->cpu_ns = usage->process_cpu_ns = (50 - plan.waiting_ms) * ms;
		dw_encode_begin(&made.stream, at * ms, solve);
		for (uint64_t t = 2; t < 25; t += 5)
			dw_encode_sample(&made.stream, (at + t) * ms, compute, callers, 1);
		dw_encode_end(&made.stream, (at + 25 - plan.elsewhere_ms) * ms);
		if (plan.elsewhere_ms)
			dw_encode_wait(&made.stream, (at + 25) * ms - 1, nap, callers, (uint32_t)plan.elsewhere_ms / 5);
		dw_encode_begin(&made.stream, (at + 25) * ms, exchange);
		for (uint64_t t = 27; t < (plan.wait ? 40 : 50); t += 5)
			dw_encode_sample(&made.stream, (at + t) * ms, other, callers, 1);
		if (plan.wait)
			dw_encode_wait(&made.stream, (at + 49) * ms, wait, callers, 2);
		dw_encode_end(&made.stream, end * ms);
		dw_encode_step(&made.process, made.thread, i, at * ms, end * ms, (50 - plan.waiting_ms) * ms, DW_STEP_RECORDED);
	}
	return made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
}

TEST(of_ranges_that_compute_the_largest_counts)
{
	const struct dw_facts *facts = facts_of((struct plan){ .library = "/lib/libm.so.6" });

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, STEP_NAMED_PART), 0.5);
	CHECK_STR(facts->at[DW_FACT_STEP_NAMED_PART].name, facts->at[DW_FACT_STEP_NAMED_LARGEST].name);
	CLOSE(VALUE(facts, SAMPLES_NAMED_LIBRARY), 0);
	CLOSE(VALUE(facts, STEP_NAMED_WAITING), 0);
	made_close(&made);
}

/* Whatever it is called: what it does is what its samples do. */
TEST(names_of_ranges_do_not_count)
{
	static const char *const names[] = { "tokenize", "batch.load", "read_config_table", "learn_rate", "memory_bank", "transpose" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const struct dw_facts *facts = facts_of((struct plan){ .name = names[i] });

		REQUIRE(facts != NULL);
		CHECK_STR(facts->at[DW_FACT_STEP_NAMED_PART].name, facts->at[DW_FACT_STEP_NAMED_LARGEST].name);
		made_close(&made);
		facts = facts_of((struct plan){ .name = names[i], .library = "/lib/libc.so.6", .call = "strtod" });
		REQUIRE(facts != NULL);
		CHECK_STR(facts->at[DW_FACT_STEP_NAMED_PART].name, names[i]);
		made_close(&made);
	}
}

TEST(a_range_in_the_library_of_c_counts_first)
{
	const struct dw_facts *facts = facts_of((struct plan){ .library = "/lib/libc.so.6", .elsewhere_ms = 0 });

	REQUIRE(facts != NULL);
	CHECK_STR(facts->at[DW_FACT_STEP_NAMED_PART].name, "exchange");
	CLOSE(VALUE(facts, SAMPLES_NAMED_LIBRARY), 1);
	made_close(&made);
	facts = facts_of((struct plan){ .library = "", .call = "[vdso]" }); /* a loop that reads the clock */
	REQUIRE(facts != NULL);
	CHECK_STR(facts->at[DW_FACT_STEP_NAMED_PART].name, "exchange");
	CLOSE(VALUE(facts, SAMPLES_NAMED_LIBRARY), 1);
	made_close(&made);
}

TEST(a_range_that_only_moves_data_counts_first)
{
	const struct dw_facts *facts = facts_of((struct plan){ .loop = DW_CODE_MOVES });

	REQUIRE(facts != NULL);
	CHECK_STR(facts->at[DW_FACT_STEP_NAMED_PART].name, "exchange");
	CLOSE(VALUE(facts, SAMPLES_NAMED_MOVES), 1);
	made_close(&made);
}

TEST(a_range_that_prints_to_files_waits_for_them)
{
	static const struct { const char *call; double waits; } calls[] = { { "fprintf", 0.5 }, { "memcpy", 0 } };

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
		const struct dw_facts *facts = facts_of((struct plan){ .library = "/lib/libc.so.6", .call = calls[i].call });

		REQUIRE(facts != NULL);
		CHECK_STR(facts->at[DW_FACT_STEP_NAMED_PART].name, "exchange");
		CLOSE(VALUE(facts, STEP_NAMED_WAITING), calls[i].waits);
		CHECK_EQ(facts->at[DW_FACT_STEP_NAMED_WAITING].name != NULL, calls[i].waits > 0);
		made_close(&made);
	}
}

TEST(a_range_that_spins_waits)
{
	const struct dw_facts *facts = facts_of((struct plan){ .loop = DW_CODE_SPINS });

	REQUIRE(facts != NULL);
	CHECK_STR(facts->at[DW_FACT_STEP_NAMED_PART].name, "exchange");
	CLOSE(VALUE(facts, WAIT_LOCK), 0.5);
	CLOSE(VALUE(facts, STEP_NAMED_WAITING), 0.5);
	made_close(&made);
}

TEST(a_range_that_waits_counts_first)
{
	const struct dw_facts *facts = facts_of((struct plan){ .wait = "pthread_cond_wait", .waiting_ms = 10 });

	REQUIRE(facts != NULL);
	CHECK_STR(facts->at[DW_FACT_STEP_NAMED_PART].name, "exchange");
	CLOSE(VALUE(facts, STEP_NAMED_WAITING), 0.2);
	made_close(&made);
}

/* 10 ms by the kernel's account, all of it outside the range. */
TEST(waits_outside_the_range_are_none_in_it)
{
	const struct dw_facts *facts = facts_of((struct plan){ .elsewhere_ms = 10, .waiting_ms = 10 });

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, CPU_WAITING), 0.2);
	CLOSE(VALUE(facts, STEP_NAMED_WAITING), 0);
	made_close(&made);
}

/* Functions for files are not sampled as waits. */
TEST(waits_that_no_sample_shows_are_in_the_range)
{
	const struct dw_facts *facts = facts_of((struct plan){ .waiting_ms = 10 });

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, STEP_NAMED_WAITING), 0.2);
	made_close(&made);
}

TEST(data_that_another_thread_makes)
{
	const struct dw_facts *facts = facts_of((struct plan){ .wait = "pthread_cond_wait", .category = DWELL_CATEGORY_DATA,
	                                                       .waiting_ms = 10 });

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOADER_THREADS), 0.2);
	made_close(&made);
	facts = facts_of((struct plan){ .wait = "usleep", .category = DWELL_CATEGORY_DATA, .waiting_ms = 10 });
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOADER_THREADS), 0);
	made_close(&made);
}

/* ---- steps that share a reading ------------------------------------------------------------------- */

/* Steps of 2 ms, of which each tenth loses its CPU for 20 ms in "late"; a reading covers ten of them. */
TEST(a_step_that_lost_its_cpu_is_not_slow)
{
	const struct dw_facts *facts;
	uint32_t late, rest;
	uint64_t at = 100;

	made_init(&made);
	late = made_op(&made, DWELL_CATEGORY_ZONE, "late");
	rest = made_op(&made, DWELL_CATEGORY_ZONE, "rest");
	for (uint64_t i = 0; i < 10 * STEPS; i++) {
		uint64_t length = i % 10 == 5 ? 22 : 2;

		if (i % 10 == 0) {
			struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, at * ms, (at + 40) * ms);

			usage->cpu_ns = usage->process_cpu_ns = 20 * ms;
			usage->delay_ns = 20 * ms;
			usage->preemptions = 1;
		}
		dw_encode_begin(&made.stream, at * ms, late);
		dw_encode_end(&made.stream, (at + length - 1) * ms);
		dw_encode_begin(&made.stream, (at + length - 1) * ms, rest);
		dw_encode_end(&made.stream, (at + length) * ms);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + length) * ms, 2 * ms, DW_STEP_RECORDED);
		at += length;
	}
	facts = made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, STEP_OUTLIERS), 0);
	CLOSE(VALUE(facts, CPU_WAITING), 0);
	/* 9 steps of 2 ms with 1 ms in it, and one that counts as 2 ms with 21 of 22. By the clock it is 75%. */
	CLOSE(VALUE(facts, STEP_NAMED_LARGEST), (9 + 2 * 21.0 / 22) / 20);
	made_close(&made);
}

CHECK_MAIN
