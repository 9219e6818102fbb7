/* Facts that tell one cause from another: ranges that log, the program's own calls of operators, a closure in the
 * optimizer, steps that become longer because they compute more, threads that never wait. */
#include "check.h"
#include "facts/facts.h"
#include "made.h"

#define STEPS 60

static struct made made;
static const uint64_t ms = 1000000;

#define VALUE(facts, id) ((facts)->at[DW_FACT_##id].value)
#define CLOSE(value, expected) CHECK_NEAR(value, expected, 0.005)

static void begin_trace(uint32_t flags)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags |= flags;
}

static const struct dw_facts *facts_of(void)
{
	return made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
}

static void range(uint64_t from_ms, uint64_t to_ms, uint32_t op)
{
	dw_encode_begin(&made.stream, from_ms * ms, op);
	dw_encode_end(&made.stream, to_ms * ms);
}

static void step(uint64_t number, uint64_t from_ms, uint64_t to_ms, uint64_t cpu_ms)
{
	dw_encode_step(&made.process, made.thread, number, from_ms * ms, to_ms * ms, cpu_ms * ms, DW_STEP_RECORDED);
}

/* A program in C with steps of 10 ms, of which a range under the name takes 3, and one between the steps 2 of 12. */
static const struct dw_facts *facts_of_range(const char *inside, const char *outside)
{
	uint32_t in, out;

	begin_trace(0);
	in = made_op(&made, DWELL_CATEGORY_ZONE, inside);
	out = made_op(&made, DWELL_CATEGORY_ZONE, outside);
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 12;

		range(at + 1, at + 4, in);
		step(i, at, at + 10, 10);
		range(at + 10, at + 12, out);
	}
	return facts_of();
}

static void check_range(const char *inside, const char *outside, double expected)
{
	const struct dw_facts *facts = facts_of_range(inside, outside);

	REQUIRE(facts != NULL);
	if (expected > 0)
		CLOSE(VALUE(facts, LOOP_LOGGING_ALL), expected);
	else
		CHECK(!facts->at[DW_FACT_LOOP_LOGGING_ALL].measured);
	made_close(&made);
}

TEST(ranges_in_steps_log_too)
{
	const double loop = STEPS * 12 - 2;

	check_range("logging", "other", STEPS * 3 / loop);
	check_range("Logging", "log", (STEPS * 3 + (STEPS - 1) * 2) / loop);
}

/* The program says that a range logs by its whole name. Else what the range does counts. */
TEST(words_in_names_are_no_log)
{
	check_range("print_free_energy", "progressive_resize", 0);
	check_range("log_likelihood", "summary_statistics", 0);
	check_range("logits", "catalog", 0);
	check_range("log_softmax", "log probabilities", 0);
	check_range("logistic", "prologue", 0);
	check_range("metrics", "metrics", 0);
}

/* In each step of 10 ms the program calls an operator, which calls another one, and backward calls two more. */
TEST(calls_of_the_program_are_not_those_of_operators)
{
	const struct dw_facts *facts;
	uint32_t operator, backward;

	begin_trace(DW_PROCESS_PYTHON);
	operator= made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::linear");
	backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 10;

		dw_encode_begin(&made.stream, (at + 1) * ms, operator);
		range(at + 2, at + 3, operator);
		dw_encode_end(&made.stream, (at + 4) * ms);
		dw_encode_begin(&made.stream, (at + 5) * ms, backward);
		range(at + 5, at + 6, operator);
		range(at + 6, at + 7, operator);
		dw_encode_end(&made.stream, (at + 8) * ms);
		step(i, at, at + 10, 10);
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_NEAR(VALUE(facts, OPERATORS_COUNT), 4, 1e-9);
	made_close(&made);
}

/* The optimizer's step of 9 ms calls forward for 3 and backward for 4: the update takes 2. */
TEST(a_closure_is_no_update)
{
	const struct dw_facts *facts;
	uint32_t optimizer, forward, backward;

	begin_trace(DW_PROCESS_PYTHON);
	optimizer = made_op(&made, DWELL_CATEGORY_PHASE, "optimizer");
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 10;

		dw_encode_begin(&made.stream, at * ms, optimizer);
		range(at + 1, at + 4, forward);
		range(at + 4, at + 8, backward);
		dw_encode_end(&made.stream, (at + 9) * ms);
		step(i, at, at + 10, 10);
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, STEP_OPTIMIZER_ALL), 0.2);
	CLOSE(VALUE(facts, STEP_FORWARD_ALL), 0.3);
	CLOSE(VALUE(facts, STEP_BACKWARD_ALL), 0.4);
	made_close(&made);
}

/* From the middle on all parts of a step take 1.5 times as long: 10 and 15 ms. They have `more` as many operators. */
static const struct dw_facts *facts_of_longer(unsigned more_of_ten)
{
	uint64_t at = 100;
	uint32_t forward, backward, operator;

	begin_trace(0);
	forward = made_op(&made, DWELL_CATEGORY_PHASE, "forward");
	backward = made_op(&made, DWELL_CATEGORY_PHASE, "backward");
	operator= made_op(&made, DWELL_CATEGORY_OPERATOR, "cell");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t length = i < STEPS / 2 ? 10 : 15, half = length * ms / 2;
		unsigned count = i < STEPS / 2 ? 10 : more_of_ten;

		dw_encode_begin(&made.stream, at * ms, forward);
		for (unsigned n = 0; n < count; n++) {
			dw_encode_begin(&made.stream, at * ms + n * half / count, operator);
			dw_encode_end(&made.stream, at * ms + (n + 1) * half / count);
		}
		dw_encode_end(&made.stream, at * ms + half);
		dw_encode_begin(&made.stream, at * ms + half, backward);
		dw_encode_end(&made.stream, (at + length) * ms);
		step(i, at, at + length, length);
		at += length;
	}
	return facts_of();
}

TEST(more_operators_are_the_programs_own_change)
{
	const struct dw_facts *facts = facts_of_longer(15);

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, DRIFT_CHANGE), 0.5);
	CHECK(VALUE(facts, DRIFT_OWN) > 0.95);
	made_close(&made);
	facts = facts_of_longer(10); /* as a slower clock does */
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, DRIFT_CHANGE), 0.5);
	CHECK(VALUE(facts, DRIFT_OWN) < 0.1);
	made_close(&made);
}

/* Steps of three ranges that the program names: from the middle on the last one takes 9 ms in place of 3, or all take
 * half as much again. */
static const struct dw_facts *facts_of_ranges(bool alike)
{
	static const char *const names[] = { "match", "prefill", "keep" };
	uint64_t at = 100;
	uint32_t ranges[3];

	begin_trace(0);
	for (unsigned r = 0; r < 3; r++)
		ranges[r] = made_op(&made, DWELL_CATEGORY_ZONE, names[r]);
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t lengths[] = { 2, 6, 4 }, first = at;

		for (unsigned r = 0; i >= STEPS / 2 && r < 3; r++)
			lengths[r] += alike ? lengths[r] / 2 : r == 2 ? 6 : 0;
		for (unsigned r = 0; r < 3; r++, at += lengths[r - 1])
			range(at, at + lengths[r], ranges[r]);
		step(i, first, at, at - first);
	}
	return facts_of();
}

TEST(a_range_of_the_program_has_a_pace_of_its_own)
{
	const struct dw_facts *facts = facts_of_ranges(false);

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, DRIFT_CHANGE), 0.5);
	CHECK(VALUE(facts, DRIFT_OWN) > 0.95);
	CHECK_STR(facts->at[DW_FACT_DRIFT_CHANGE].note, "keep");
	made_close(&made);
	facts = facts_of_ranges(true);
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, DRIFT_CHANGE), 0.5);
	CHECK(VALUE(facts, DRIFT_OWN) < 0.1);
	made_close(&made);
}

/* Steps of 50 ms in a range; the kernel's sums lack 10 ms of each. The thread gives up its CPU `waits` times a step. */
static const struct dw_facts *facts_of_gap(uint32_t waits)
{
	uint32_t work;

	begin_trace(0);
	work = made_op(&made, DWELL_CATEGORY_ZONE, "work");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 50;
		struct dw_entry_usage *usage = dw_encode_usage(&made.process, made.thread, at * ms, (at + 50) * ms);

		usage->cpu_ns = usage->process_cpu_ns = 40 * ms;
		usage->waits = waits;
		usage->preemptions = 3;
		range(at, at + 50, work);
		step(i, at, at + 50, 40);
	}
	return facts_of();
}

TEST(a_thread_that_never_waits_is_not_idle)
{
	const struct dw_facts *facts = facts_of_gap(0);

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, CPU_WAITING), 0);
	made_close(&made);
	facts = facts_of_gap(1);
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, CPU_WAITING), 0.2);
	made_close(&made);
}

/* Between two steps of 40 ms, 10 ms pass, in 6 of which the thread has no CPU, because it lost it or after waits. */
static const struct dw_facts *facts_of_delay(uint32_t waits)
{
	begin_trace(DW_PROCESS_PYTHON);
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t at = 100 + i * 50;
		struct dw_entry_usage *in = dw_encode_usage(&made.process, made.thread, at * ms, (at + 40) * ms);
		struct dw_entry_usage *between;

		in->cpu_ns = in->process_cpu_ns = 40 * ms;
		in->preemptions = 1;
		step(i, at, at + 40, 40);
		between = dw_encode_usage(&made.process, made.thread, (at + 40) * ms, (at + 50) * ms);
		between->cpu_ns = between->process_cpu_ns = 4 * ms;
		between->delay_ns = 6 * ms;
		between->waits = waits;
		between->preemptions = waits ? 0 : 2;
	}
	return facts_of();
}

TEST(python_that_loses_its_cpu_takes_longer)
{
	const struct dw_facts *facts = facts_of_delay(0);

	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOOP_PYTHON), 4 / 44.0); /* of the time with a CPU, as in the steps */
	made_close(&made);
	facts = facts_of_delay(2);
	REQUIRE(facts != NULL);
	CLOSE(VALUE(facts, LOOP_PYTHON), 4 / 50.0);
	made_close(&made);
}

/* Steps of one range; each tenth step is longer in it, and has a second range. */
static const struct dw_facts *facts_of_slow_steps(uint64_t decode_ms, uint64_t more_decode_ms, uint64_t more_other_ms)
{
	uint64_t at = 100;
	uint32_t decode, other;

	begin_trace(0);
	decode = made_op(&made, DWELL_CATEGORY_ZONE, "decode");
	other = made_op(&made, DWELL_CATEGORY_ZONE, "compact");
	for (uint64_t i = 0; i < STEPS; i++) {
		uint64_t first = decode_ms + (i % 10 == 5) * more_decode_ms, second = (i % 10 == 5) * more_other_ms;

		range(at, at + first, decode);
		if (second)
			range(at + first, at + first + second, other);
		step(i, at, at + first + second, first + second);
		at += first + second;
	}
	return facts_of();
}

/* How unlike slow iterations are to the others. */
static double unlike(const struct dw_facts *facts)
{
	struct dw_account_select slow = dw_account_select_states((1u << DW_ACCOUNT_STATE_COUNT) - 1, DW_ACCOUNT_ALL);

	slow.classes = 1u << DW_ITERATION_SLOW;
	slow.beyond = true;
	return dw_account_unlike(facts->account, &slow);
}

TEST(a_range_that_only_slow_steps_have_is_what_makes_them_slow)
{
	const struct dw_facts *facts = facts_of_slow_steps(10, 0, 40);

	REQUIRE(facts != NULL);
	CHECK(unlike(facts) > 0.95);
	made_close(&made);
	facts = facts_of_slow_steps(10, 12, 0); /* as on a slower machine */
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, STEP_OUTLIERS), 6);
	CHECK(unlike(facts) < 0.1);
	made_close(&made);
}

/* From step 160 of 200 on, steps take 50 ms and no longer 10 or 11; the second half of those begins with more of 11. */
TEST(steps_that_stay_long_are_a_change_and_no_outliers)
{
	const struct dw_facts *facts;
	uint64_t at = 100;

	begin_trace(0);
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t length = i >= 160 ? 50 : 10 + (i < 100 ? i % 3 == 0 : i % 3 > 0);

		step(i, at, at + length, length);
		at += length;
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_EQ(VALUE(facts, STEP_OUTLIERS), 0);
	CHECK(VALUE(facts, DRIFT_CHANGE) > 3);
	CHECK_RANGE(VALUE(facts, DRIFT_CHANGE_STEP), 155, 165);
	made_close(&made);
}

CHECK_MAIN
