/* Facts of hand-made traces: each has a known division of its loop and its steps. */
#include "made_trace.h"

#include "format/keys.h"

/* The parts of a step add up to it. */
static double parts_sum(const struct dw_facts *facts)
{
	double sum = 0;

	for (unsigned id = DW_FACT_STEP_PROFILER; id <= DW_FACT_STEP_UNNAMED; id++)
		sum += facts->at[id].measured ? facts->at[id].value : 0;
	return sum;
}

TEST(names_are_unique_and_in_groups)
{
	for (unsigned id = 0; id < DW_FACT_COUNT; id++) {
		const struct dw_fact_kind *kind = dw_fact_kind((enum dw_fact_id)id);

		CHECK_EQ(dw_fact_find(kind->name), id);
		CHECK(strchr(kind->name, '.') != NULL);
		CHECK(*kind->meaning && *kind->source);
		if (kind->unit == DW_FACT_RATIO)
			CHECK(*kind->denominator != 0);
	}
	CHECK_EQ(dw_fact_find("no such fact"), DW_FACT_COUNT);
}

TEST(a_trace_without_steps_is_one_step)
{
	begin_trace(0);
	range(10, 20, made_op(&made, DWELL_CATEGORY_ZONE, "work"));
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(facts->iterations, DW_ITERATIONS_RUN);
	CHECK_EQ(facts->thread, 0);
	CHECK_EQ(VALUE(facts, STEP_COUNT), 1);
	CLOSE(VALUE(facts, STEP_WALL), VALUE(facts, RUN_WALL));
	CLOSE(VALUE(facts, LOOP_WALL), VALUE(facts, RUN_WALL));
	made_close(&made);
}

TEST(parts_of_a_steady_step)
{
	begin_trace(DW_PROCESS_PYTHON);
	make_steps(40, NULL, 0);
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, STEP_STEADY), 40);
	CLOSE(VALUE(facts, STEP_WALL), 10e6);
	CLOSE(VALUE(facts, STEP_DATA), 0.2);
	CLOSE(VALUE(facts, STEP_FORWARD), 0.5);
	CLOSE(VALUE(facts, STEP_FORWARD_ALL), 0.6);
	/* 10 ms of wall time, 6 of CPU time, 2 of waiting for data: 2 idle; the rest is Python's. */
	CLOSE(VALUE(facts, STEP_IDLE), 0.2);
	CLOSE(VALUE(facts, STEP_PYTHON), 0.1);
	CLOSE(parts_sum(facts), 1);
	CLOSE(VALUE(facts, LOOP_STEPS), 1);
	CLOSE(VALUE(facts, OPERATORS_LARGEST), 0.5);
	CHECK_STR(facts->at[DW_FACT_OPERATORS_LARGEST].name, "aten::mm");
	made_close(&made);
}

TEST(without_python_the_rest_is_unnamed)
{
	begin_trace(0);
	make_steps(40, NULL, 0);
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK(!facts->at[DW_FACT_STEP_PYTHON].measured);
	CLOSE(VALUE(facts, STEP_FORWARD), 0.6);
	CLOSE(VALUE(facts, STEP_UNNAMED) + VALUE(facts, STEP_IDLE), 0.2);
	CLOSE(parts_sum(facts), 1);
	made_close(&made);
}

TEST(slow_first_steps_are_the_warm_up)
{
	uint64_t lengths[50];

	for (size_t i = 0; i < 50; i++)
		lengths[i] = i == 0 ? 330 : i == 2 ? 60 : 10;
	begin_trace(DW_PROCESS_PYTHON);
	make_steps(50, lengths, 0);
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, STEP_WARM_UP), 3);
	CLOSE(VALUE(facts, STEP_WARM_UP_EXCESS), 370.0 / (330 + 60 + 480));
	CHECK_STR(facts->at[DW_FACT_STEP_WARM_UP_EXCESS].note, "python");
	CHECK_EQ(VALUE(facts, STEP_OUTLIERS), 0);
	CHECK_EQ(VALUE(facts, STEP_STEADY), 47);
	CLOSE(VALUE(facts, STEP_WALL), 10e6);
	CLOSE(VALUE(facts, STEP_DATA), 0.2);
	made_close(&made);
}

/* One of them may not be slow. Where they come at other times, or are few, nothing says that they are a phase. */
TEST(slow_steps_that_come_back_are_a_phase)
{
	static const struct {
		size_t slow[9];
		double every;
	} cases[] = {
		{ { 14, 24, 34, 44, 54, 64, 74, 84, 94 }, 10 }, { { 14, 24, 34, 44, 64, 74, 84, 94 }, 10 },
		{ { 14, 24, 34, 45, 54, 64, 74, 84, 94 }, 0 },  { { 14, 24, 34, 44, 54 }, 0 },
		{ { 30, 31, 32, 33, 34, 35, 36 }, 0 },
	};

	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		uint64_t lengths[100];

		for (size_t i = 0; i < 100; i++)
			lengths[i] = 10;
		for (size_t i = 0; i < 9; i++)
			lengths[cases[c].slow[i]] = cases[c].slow[i] ? 50 : 10;
		begin_trace(DW_PROCESS_PYTHON);
		make_steps(100, lengths, 0);
		const struct dw_facts *facts = facts_of();
		REQUIRE(facts != NULL);
		CHECK_EQ(facts->at[DW_FACT_STEP_RECURS].measured, cases[c].every > 0);
		if (cases[c].every > 0)
			CHECK_EQ(VALUE(facts, STEP_RECURS), cases[c].every);
		made_close(&made);
	}
}

TEST(a_rare_slow_step_is_an_outlier_and_a_recurring_one_counts)
{
	uint64_t lengths[60];
	double space[60], values[60];
	uint8_t roles[60];

	for (size_t i = 0; i < 60; i++)
		lengths[i] = i == 30 ? 50 : 10;
	begin_trace(DW_PROCESS_PYTHON);
	make_steps(60, lengths, 0);
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, STEP_OUTLIERS), 1);
	CHECK_EQ(VALUE(facts, STEP_STEADY), 59);
	CHECK_EQ(VALUE(facts, STEP_WARM_UP), 0);
	CLOSE(VALUE(facts, STEP_OUTLIERS_EXCESS), 40.0 / 640);
	made_close(&made);

	for (size_t i = 0; i < 60; i++)
		values[i] = i % 8 == 7 ? 50 : 10;
	dw_steps_find_roles(values, 60, true, roles, space);
	CHECK_EQ(roles[7], DW_ROLE_OUTLIER | DW_ROLE_STEADY);
	CHECK_EQ(roles[8], DW_ROLE_STEADY);
	for (size_t i = 0; i < 60; i++)
		values[i] = i % 3 == 2 ? 50 : 10; /* two usual lengths */
	dw_steps_find_roles(values, 60, true, roles, space);
	for (size_t i = 2; i < 60; i++)
		CHECK_EQ(roles[i], DW_ROLE_STEADY);
	for (size_t i = 0; i < 60; i++)
		values[i] = i < 30 ? 10 : 20; /* slower from the middle on: no warm-up, no outliers */
	dw_steps_find_roles(values, 60, true, roles, space);
	for (size_t i = 0; i < 60; i++)
		CHECK_EQ(roles[i], DW_ROLE_STEADY);
}

TEST(few_steps_are_all_steady_or_warm_up)
{
	double space[3], one[1] = { 5 }, two[2] = { 50, 5 }, three[3] = { 50, 5, 5 };
	uint8_t roles[3];

	dw_steps_find_roles(one, 1, true, roles, space);
	CHECK_EQ(roles[0], DW_ROLE_STEADY);
	dw_steps_find_roles(two, 2, true, roles, space);
	CHECK_EQ(roles[0], DW_ROLE_STEADY);
	dw_steps_find_roles(three, 3, true, roles, space);
	CHECK_EQ(roles[0], DW_ROLE_WARM_UP);
	CHECK_EQ(roles[2], DW_ROLE_STEADY);
	dw_steps_find_roles(three, 3, false, roles, space);
	CHECK_EQ(roles[1], DW_ROLE_STEADY);
	dw_steps_find_roles(NULL, 0, true, roles, space);
}

/* Idle time is each step's own: a process that was busy before the loop changes nothing. */
TEST(idle_after_a_busy_start_up)
{
	begin_trace(DW_PROCESS_PYTHON);
	uint32_t optimizer = made_op(&made, DWELL_CATEGORY_PHASE, "optimizer");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::add_");
	dw_encode_meta(&made.process, "dwell.delay_ns", "3000000000", true);

	for (uint64_t i = 0; i < 30; i++) {
		uint64_t at = 4000 + i * 31;

		dw_encode_begin(&made.stream, at * ms, optimizer);
		range(at, at + 1, op);
		dw_encode_end(&made.stream, (at + 1) * ms);
		step(i, at, at + 31, 1);
	}
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, STEP_IDLE), 30.0 / 31);
	CLOSE(VALUE(facts, STEP_PYTHON), 0);
	CLOSE(VALUE(facts, STEP_OPTIMIZER), 1.0 / 31);
	made_close(&made);
}

/* Evaluation at 45% of the loop, a checkpoint at 15%, and evaluation before the loop. */
TEST(time_outside_steps_is_divided)
{
	begin_trace(DW_PROCESS_PYTHON);
	uint32_t valid = made_op(&made, DWELL_CATEGORY_EVALUATION, "validation");
	uint32_t save = made_op(&made, DWELL_CATEGORY_CHECKPOINT, "torch.save");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	uint32_t log = made_op(&made, DWELL_CATEGORY_ZONE, "log");

	range(10, 90, valid);
	for (uint64_t i = 0; i <= 20; i++) {
		uint64_t at = 100 + i * 100;

		range(at, at + 20, op);
		step(i, at, at + 20, 20);
		dw_encode_begin(&made.stream, (at + 20) * ms, valid);
		range(at + 21, at + 60, op);
		dw_encode_end(&made.stream, (at + 65) * ms);
		range(at + 65, at + 80, save);
		range(at + 80, at + 86, op);
		range(at + 86, at + 90, log);
	}
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOOP_WALL), 2020e6);
	CLOSE(VALUE(facts, LOOP_STEPS), 21 * 20 / 2020.0);
	CLOSE(VALUE(facts, LOOP_EVALUATION), 20 * 45 / 2020.0);
	CLOSE(VALUE(facts, LOOP_CHECKPOINT), 20 * 15 / 2020.0);
	CLOSE(VALUE(facts, LOOP_OPERATORS), 20 * 6 / 2020.0);
	CHECK_STR(facts->at[DW_FACT_LOOP_OPERATORS].name, "aten::mm");
	CLOSE(VALUE(facts, LOOP_LOGGING), 20 * 4 / 2020.0);
	CLOSE(VALUE(facts, LOOP_PYTHON), 20 * 10 / 2020.0);
	CHECK_EQ(VALUE(facts, LOOP_EVALUATIONS), 20);
	made_close(&made);
}

/* A class Logger of the program's own: what it does is the program's. */
TEST(methods_of_the_program_with_names_of_python_are_its_work)
{
	static const char *const files[] = { "/srv/canal.py", "/usr/lib/python3.11/logging/__init__.py" };

	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const struct dw_facts *facts;
		uint32_t info;

		begin_trace(DW_PROCESS_PYTHON);
		info = dw_encode_op(&made.process, DWELL_CATEGORY_FUNCTION, "Logger.info", NULL, 0, files[i], 9);
		for (uint64_t s = 0; s < 20; s++) {
			range(103 + s * 10, 105 + s * 10, info);
			step(s, 100 + s * 10, 110 + s * 10, 10);
		}
		facts = facts_of();
		REQUIRE(facts != NULL);
		CLOSE(VALUE(facts, LOOP_LOGGING_ALL), i ? 0.2 : 0);
		made_close(&made);
	}
}

/* 20 steps of 10 ms. In 8 of them an operator, or none, calls one that copies or clears, which calls others for that. */
static const struct dw_facts *facts_of_moves(const char *around, const char *const moves[3])
{
	uint32_t ops[4] = { made_op(&made, DWELL_CATEGORY_OPERATOR, moves[0]), made_op(&made, DWELL_CATEGORY_OPERATOR, moves[1]),
		                made_op(&made, DWELL_CATEGORY_OPERATOR, moves[2]), 0 };

	ops[3] = around ? made_op(&made, DWELL_CATEGORY_OPERATOR, around) : 0;
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = 100 + 10 * i;

		if (around)
			dw_encode_begin(&made.stream, at * ms, ops[3]);
		dw_encode_begin(&made.stream, (at + 1) * ms, ops[0]);
		dw_encode_begin(&made.stream, (at + 2) * ms, ops[1]);
		range(at + 3, at + 8, ops[2]);
		dw_encode_end(&made.stream, (at + 8) * ms);
		dw_encode_end(&made.stream, (at + 8) * ms);
		if (around)
			dw_encode_end(&made.stream, (at + 10) * ms);
		step(i, at, at + 10, 10);
	}
	return facts_of();
}

TEST(memory_is_copied_and_cleared_for_the_operator_that_asks_for_it)
{
	const char *const zeros[] = { "aten::zeros", "aten::zero_", "aten::fill_" };
	const char *const copies[] = { "aten::contiguous", "aten::stack", "aten::copy_" };
	const struct dw_facts *facts;

	begin_trace(DW_PROCESS_PYTHON);
	facts = facts_of_moves("aten::embedding_dense_backward", zeros);
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, OPERATORS_CLEARS), 0.7);
	CLOSE(VALUE(facts, OPERATORS_COPIES), 0);
	CLOSE(VALUE(facts, OPERATORS_MOVED), 0.7);
	CHECK_STR(facts->at[DW_FACT_OPERATORS_CLEARS].name, "aten::fill_");
	CHECK_STR(facts->at[DW_FACT_OPERATORS_MOVED].name, "aten::embedding_dense_backward");
	made_close(&made);
	begin_trace(DW_PROCESS_PYTHON);
	facts = facts_of_moves(NULL, copies); /* the program asks for it */
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, OPERATORS_CLEARS), 0);
	CLOSE(VALUE(facts, OPERATORS_MOVED), 0.7);
	CHECK_STR(facts->at[DW_FACT_OPERATORS_MOVED].name, "aten::contiguous");
	made_close(&made);
}

/* `dwell run` counts the program's threads that want a CPU. In half of its looks there are a quarter more than CPUs. */
static const struct dw_facts *facts_of_looks(void)
{
	begin_trace(DW_PROCESS_PYTHON);
	dw_encode_process_entry(&made.process)->pid = 100; /* the tid of made.thread */
	for (uint64_t i = 0; i < 20; i++)
		step(i, 100 + i * 50, 150 + i * 50, 25);
	struct dw_entry_machine *entry = dw_encode_machine(&made.process, 0, 1200 * ms);

	entry->program = 100;
	entry->looks = 600; /* the loop is 1000 of the 1200 ms */
	entry->crowd_looks = entry->looks / 2;
	entry->crowded = entry->looks / 8 * 1000;
	return facts_of();
}

TEST(threads_that_want_more_cpus_than_there_are)
{
	const struct dw_facts *facts = facts_of_looks();

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, STEP_IDLE), 0.5);
	CLOSE(VALUE(facts, CPU_CROWDED), 0.25);
	CHECK_EQ(facts->at[DW_FACT_CPU_CROWDED].samples, 250);
	made_close(&made);
}

/* A quarter or more than half of the steps compiles, so that none of them is an outlier. Each takes 40 ms more. */
TEST(compilation_in_many_steps)
{
	for (int more = 0; more < 2; more++) {
		const struct dw_facts *facts;
		uint64_t at = 100, compiled = 0;

		begin_trace(DW_PROCESS_PYTHON);
		for (uint64_t i = 0; i < 40; i++) {
			char name[48];
			uint64_t length = 10;

			if (more ? i % 5 >= 2 : i % 4 == 3) {
				length = 50;
				compiled++;
			}
			snprintf(name, sizeof name, "Torch-Compiled Region: 0/%llu", (unsigned long long)compiled);
			range(at, at + length, made_op(&made, DWELL_CATEGORY_OPERATOR, name));
			step(i, at, at + length, length);
			at += length;
		}
		facts = facts_of();
		REQUIRE(facts != NULL);
		CLOSE(VALUE(facts, STEP_OUTLIERS), 0);
		CLOSE(VALUE(facts, OPERATORS_COMPILATIONS), (double)compiled);
		CLOSE(VALUE(facts, OPERATORS_COMPILATION), 40.0 * (double)compiled / (double)(at - 100));
		made_close(&made);
	}
}

/* Names of a C program that say that a layout changes, and others. Each is the only operator of its program. */
/* Of each step of 10 ms: 4 ms of products, 3 or 2 ms of a decomposition. */
TEST(an_operator_that_few_models_need_counts_from_a_quarter_of_a_step_on)
{
	for (uint64_t length = 2; length <= 3; length++) {
		const struct dw_facts *facts;

		begin_trace(DW_PROCESS_PYTHON);
		uint32_t product = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
		uint32_t decomposition = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::_linalg_eigh");
		for (uint64_t s = 0; s < 20; s++) {
			range(100 + s * 10, 104 + s * 10, product);
			range(104 + s * 10, 104 + length + s * 10, decomposition);
			step(s, 100 + s * 10, 110 + s * 10, 10);
		}
		facts = facts_of();
		REQUIRE(facts != NULL);
		CHECK_STR(facts->at[DW_FACT_OPERATORS_LARGEST].name, "aten::mm");
		CHECK_EQ(facts->at[DW_FACT_OPERATORS_UNCOMMON].measured, length == 3);
		CHECK(length != 3 || (VALUE(facts, OPERATORS_UNCOMMON) > 0.29 && VALUE(facts, OPERATORS_UNCOMMON_COUNT) == 1));
		made_close(&made);
	}
}

/* The types are those of the last step in which the probe read them. */
TEST(operators_in_64_bits)
{
	static const struct {
		const char *types;
		double part;
	} cases[] = {
		{ "none", 0 },       { "aten::mm=100", 0.5 }, { "aten::addmm=100", 0 }, { "aten::add=3 aten::mm=50", 0.25 },
		{ "aten::mm=x", 0 },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct dw_facts *facts;

		begin_trace(DW_PROCESS_PYTHON);
		dw_encode_meta(&made.process, DW_KEY_TORCH_FLOAT64, cases[i].types, false);
		for (uint64_t s = 0; s < 20; s++) {
			range(100 + s * 10, 105 + s * 10, made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm"));
			step(s, 100 + s * 10, 110 + s * 10, 10);
		}
		facts = facts_of();
		REQUIRE(facts != NULL);
		CLOSE(VALUE(facts, OPERATORS_FLOAT64), cases[i].part);
		made_close(&made);
	}
}

/* Steps of 10 ms, half of each in an operator of a program in C; if it `does` something, with a sample in each. */
static double layout_of(const char *name, enum dw_code_loop does)
{
	const struct dw_facts *facts;
	uint32_t op, frame;
	double layout;

	begin_trace(0);
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, name);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "5000000", true);
	frame = dw_encode_frame_in(&made.process, "/srv/train", "turn");
	if (does) {
		struct dw_entry_symbol *symbol = dw_encode_entry(&made.process, DW_ENTRY_SYMBOL, frame, 0, sizeof *symbol);

		symbol->function = dw_encode_string(&made.process, "turn");
		symbol->loop = does;
	}
	for (uint64_t s = 0; s < 30; s++) {
		dw_encode_begin(&made.stream, (100 + s * 10) * ms, op);
		if (does)
			dw_encode_sample(&made.stream, (102 + s * 10) * ms, frame, 0, 1);
		dw_encode_end(&made.stream, (105 + s * 10) * ms);
		step(s, 100 + s * 10, 110 + s * 10, 10);
	}
	facts = facts_of();
	layout = facts ? VALUE(facts, OPERATORS_LAYOUT) : NAN;
	made_close(&made);
	return layout;
}

TEST(operators_of_frameworks_that_change_a_layout)
{
	static const struct {
		const char *name;
		bool moves;
	} names[] = {
		{ "Transpose", true },  { "reorder", true },       { "aten::transpose", false }, { "conv_transpose", false },
		{ "conv_nhwc", false }, { "nchw_to_nhwc", false }, { "reorder_weights", false }, { "matmul_transposed", false },
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CLOSE(layout_of(names[i].name, DW_CODE_OTHER), names[i].moves ? 0.5 : 0);
}

/* What a program calls its operators says nothing: its samples do. */
TEST(operators_that_only_move_data_change_a_layout)
{
	CLOSE(layout_of("nchw_to_nhwc", DW_CODE_MOVES), 0.5);
	CLOSE(layout_of("evening_walk", DW_CODE_MOVES), 0.5);
	CLOSE(layout_of("nchw_to_nhwc", DW_CODE_SPINS), 0);
}

/* In 1200 ms the machine's CPUs ran for 900 ms and were taken by the hypervisor for 100: so is a ninth of what the
 * thread ran. */
TEST(what_the_hypervisor_took)
{
	for (int known = 0; known < 2; known++) {
		begin_trace(DW_PROCESS_PYTHON);
		for (uint64_t i = 0; i < 20; i++)
			step(i, 100 + i * 50, 150 + i * 50, 25);
		struct dw_entry_machine *entry = dw_encode_machine(&made.process, 0, 1200 * ms);

		entry->busy_ns = 900 * ms;
		entry->own_ns = 600 * ms;
		entry->stolen_us = 100000;
		if (known)
			entry->entry.aux |= DW_USAGE_STOLEN;
		const struct dw_facts *facts = facts_of();

		REQUIRE(facts != NULL);
		CHECK_EQ(facts->at[DW_FACT_CPU_STOLEN].measured, known);
		if (known)
			CLOSE(VALUE(facts, CPU_STOLEN), 0.1);
		CLOSE(VALUE(facts, STEP_IDLE), known ? (50 - 25 * 10 / 9.0) / 50 : 0.5);
		made_close(&made);
	}
}

TEST(counters_of_the_processor)
{
	const struct dw_facts *facts;

	for (int with = 0; with < 2; with++) {
		begin_trace(0);
		for (uint64_t i = 0; i < 30; i++) {
			uint64_t at = 100 + i * 50;
			struct dw_entry_usage *entry = dw_encode_usage(&made.process, made.thread, at * ms, (at + 50) * ms);

			entry->cycles = 150000000;
			entry->instructions = 300000000;
			entry->cache_misses = 4000;
			if (with)
				entry->entry.aux |= DW_USAGE_COUNTERS;
			step(i, at, at + 50, 50);
		}
		facts = facts_of();
		REQUIRE(facts != NULL);
		CHECK_EQ(facts->at[DW_FACT_CPU_CYCLES].measured, with == 1);
		if (!with) {
			CHECK(strstr(facts->at[DW_FACT_CPU_CYCLES].missing, "--counters") != NULL);
			CHECK(!facts->at[DW_FACT_CPU_PER_CYCLE].measured);
			made_close(&made);
			continue;
		}
		CLOSE(VALUE(facts, CPU_CYCLES), 150000000);
		CLOSE(VALUE(facts, CPU_INSTRUCTIONS), 300000000);
		CLOSE(VALUE(facts, CPU_PER_CYCLE), 2);
		CLOSE(VALUE(facts, CPU_CACHE_MISSES), 4000);
		made_close(&made);
	}
}

/* Between two steps of 40 ms the thread runs for 4 ms and has no CPU for 6. */
TEST(waits_for_a_cpu_between_steps_are_no_work)
{
	begin_trace(0);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = 100 + i * 50;
		struct dw_entry_usage *in = dw_encode_usage(&made.process, made.thread, at * ms, (at + 40) * ms);
		struct dw_entry_usage *between;

		in->cpu_ns = in->process_cpu_ns = 40 * ms;
		step(i, at, at + 40, 40);
		between = dw_encode_usage(&made.process, made.thread, (at + 40) * ms, (at + 50) * ms);
		between->cpu_ns = between->process_cpu_ns = 4 * ms;
		between->delay_ns = 6 * ms;
		in->minor_faults = 10;
		between->minor_faults = 300;
	}
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOOP_STEPS), 800 / 990.0);
	CLOSE(VALUE(facts, LOOP_WAITING), 0);
	CHECK_NEAR(VALUE(facts, LOOP_UNNAMED), 19 * 4 / 990.0, 1e-3);
	made_close(&made);
}

/* Readings of the kernel that cover a step and the time after it say that the thread waits in both. */
TEST(samples_of_waits_tell_waits_between_steps_from_those_in_steps)
{
	uint32_t receive, compute;

	begin_trace(0);
	compute = dw_encode_frame(&made.process, "compute", NULL, 0);
	dw_encode_meta(&made.process, DW_KEY_SAMPLE_PERIOD_NS, "1000000", true);
	receive = dw_encode_frame(&made.process, "read", NULL, 0);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = 100 + i * 50;
		struct dw_entry_usage *both = dw_encode_usage(&made.process, made.thread, at * ms, (at + 50) * ms);

		both->cpu_ns = both->process_cpu_ns = 35 * ms;
		both->waits = 2;
		step(i, at, at + 40, 0);
		dw_encode_sample(&made.stream, (at + 35) * ms, compute, 0, 35);
		dw_encode_wait(&made.stream, (at + 49) * ms, receive, 0, 9);
	}
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOOP_WAITING), 19 * 9 / 990.0);
	CHECK_NEAR(VALUE(facts, LOOP_UNNAMED), 19 * 1 / 990.0, 1e-3);
	made_close(&made);
}

TEST(functions_that_log_count_with_what_they_call)
{
	begin_trace(DW_PROCESS_PYTHON);
	uint32_t info = made_op(&made, DWELL_CATEGORY_FUNCTION, "Logger.info");
	uint32_t emit = made_op(&made, DWELL_CATEGORY_FUNCTION, "StreamHandler.emit");

	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = 100 + i * 10;

		dw_encode_begin(&made.stream, at * ms, info);
		range(at + 1, at + 3, emit);
		dw_encode_end(&made.stream, (at + 4) * ms);
		step(i, at, at + 10, 10);
	}
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOOP_LOGGING_ALL), 0.4);
	CHECK_STR(facts->at[DW_FACT_LOOP_LOGGING_ALL].name, "Logger.info");
	made_close(&made);
}

/* Two of three evaluations build graphs. */
TEST(evaluation_with_gradients)
{
	for (int named = 0; named < 2; named++) {
		begin_trace(DW_PROCESS_PYTHON);
		uint32_t without = made_op(&made, DWELL_CATEGORY_EVALUATION, "evaluation");
		uint32_t with = made_op(&made, DWELL_CATEGORY_EVALUATION, "evaluation with gradients");

		if (named)
			dw_encode_meta(&made.process, "torch.evaluation_gradients", "named", false);
		for (uint64_t i = 0; i < 30; i++) {
			uint64_t at = 100 + i * 10;

			step(i, at, at + 6, 6);
			range(at + 6, at + 9, i % 3 ? with : without);
		}
		const struct dw_facts *facts = facts_of();
		REQUIRE(facts != NULL);
		CHECK_EQ(facts->at[DW_FACT_EVALUATION_GRAPHS].measured, named);
		if (named)
			CLOSE(VALUE(facts, EVALUATION_GRAPHS), 2.0 / 3);
		made_close(&made);
	}
}

/* A model that is trained is called in evaluation mode for half as long as one that only acts. */
TEST(evaluation_of_the_trained_model)
{
	for (int named = 0; named < 2; named++) {
		begin_trace(DW_PROCESS_PYTHON);
		uint32_t trained = made_op(&made, DWELL_CATEGORY_EVALUATION, "evaluation");
		uint32_t acts = made_op(&made, DWELL_CATEGORY_EVALUATION, "inference");

		if (named)
			dw_encode_meta(&made.process, "torch.inference", "named", false);
		for (uint64_t i = 0; i < 30; i++) {
			uint64_t at = 100 + i * 10;

			step(i, at, at + 6, 6);
			range(at + 6, at + 9, i % 3 ? acts : trained);
		}
		const struct dw_facts *facts = facts_of();
		REQUIRE(facts != NULL);
		CHECK_EQ(facts->at[DW_FACT_EVALUATION_TRAINED].measured, named);
		if (named)
			CLOSE(VALUE(facts, EVALUATION_TRAINED), 1.0 / 3);
		made_close(&made);
	}
}

/* Memory that each step adds to, and a peak. */
TEST(memory_that_grows)
{
	begin_trace(DW_PROCESS_PYTHON);
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::normal_");
	uint32_t device = made_op(&made, DWELL_CATEGORY_ALLOCATION, "cpu");

	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 100 + i * 10;
		uint64_t words[2] = { 4096 + i * 16, 1 << 20 };

		dw_encode_begin(&made.stream, at * ms, op);
		dw_encode_record(&made.stream, (at + 1) * ms, DW_ALLOC, device, words, 4);
		dw_encode_end(&made.stream, (at + 9) * ms);
		step(i, at, at + 10, 10);
	}
	const struct dw_facts *facts = facts_of();
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, MEMORY_PEAK), 40.0 * (1 << 20));
	CHECK(VALUE(facts, MEMORY_GROWTH) > 0.9 * (1 << 20) && VALUE(facts, MEMORY_GROWTH) < 1.1 * (1 << 20));
	CHECK_STR(facts->at[DW_FACT_MEMORY_GROWTH].name, "aten::normal_");
	made_close(&made);
}

/* ---- ranks --------------------------------------------------------------------------------- */

/* Rank 1 takes 30 ms longer in its operators; rank 0 waits for it, in the steps or between them. `some`: only each
 * fifth step of rank 1 is recorded in full. */
static const struct dw_facts *facts_of_ranks(bool between, bool some)
{
	struct dw_encode_process second;
	struct dw_encode_stream stream;
	uint32_t thread;

	begin_trace(DW_PROCESS_PYTHON);
	dw_encode_process_entry(&made.process)->rank = 0;
	dw_encode_process_init(&second, &made.encode, 0)->pid = 0x7ffffffd;
	dw_encode_process_entry(&second)->rank = 1;
	dw_encode_process_entry(&second)->flags = DW_PROCESS_PYTHON;
	thread = dw_encode_thread(&second, 200, 0, 0, "main");
	dw_encode_stream_init(&stream, &second, 0, thread);
	uint32_t op[2] = { made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm"),
		               dw_encode_op(&second, DWELL_CATEGORY_OPERATOR, "aten::mm", NULL, 0, NULL, 0) };
	uint32_t wait[2] = { made_op(&made, DWELL_CATEGORY_COMMUNICATION, "Work.wait"),
		                 dw_encode_op(&second, DWELL_CATEGORY_COMMUNICATION, "Work.wait", NULL, 0, NULL, 0) };

	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = 100 + i * 50;

		range(at, at + 15, op[0]);
		range(at + 15, at + 50, wait[0]);
		step(i, at, at + (between ? 15 : 50), 15);
		dw_encode_begin(&stream, at * ms, op[1]);
		dw_encode_end(&stream, (at + 45) * ms);
		dw_encode_begin(&stream, (at + 45) * ms, wait[1]);
		dw_encode_end(&stream, (at + 50) * ms);
		dw_encode_step(&second, thread, i, at * ms, (at + (between ? 45 : 50)) * ms, 45 * ms,
		               some && i % 5 ? DW_STEP_REDUCED : DW_STEP_RECORDED);
	}
	dw_encode_close(&stream);
	return facts_of();
}

TEST(the_last_rank_and_what_the_other_one_waits)
{
	const struct dw_facts *facts = facts_of_ranks(false, false);

	REQUIRE(facts != NULL);
	CHECK_EQ(facts->loop_count, 2);
	CHECK_EQ(VALUE(facts, COMM_LAST_RANK), 1);
	CHECK_STR(facts->at[DW_FACT_COMM_LAST_RANK].note, "operators");
	CLOSE(VALUE(facts, COMM_LAST_RANK_SHARE), 1);
	CLOSE(VALUE(facts, COMM_WAIT), 0.6);
	CLOSE(VALUE(facts, COMM_EXPOSED), 0.7);
	CLOSE(VALUE(facts, COMM_LAST_RANK_EXCESS), 0.6);
	facts = dw_facts_of_loop(made.model, 1, &made.error);
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, STEP_COMMUNICATION), 0.1);
	CLOSE(VALUE(facts, COMM_WAIT), 0);
	made_close(&made);

	facts = facts_of_ranks(true, false);
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, STEP_COMMUNICATION), 0);
	CLOSE(VALUE(facts, COMM_LAST_RANK_SHARE), 1);
	CHECK_RANGE(VALUE(facts, COMM_WAIT), 0.55, 0.61);
	CHECK_RANGE(VALUE(facts, COMM_EXPOSED), 0.65, 0.71);
	made_close(&made);

	facts = facts_of_ranks(false, true);
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, COMM_LAST_RANK), 1);
	CHECK_STR(facts->at[DW_FACT_COMM_LAST_RANK].note, "operators");
	made_close(&made);
}

CHECK_MAIN
