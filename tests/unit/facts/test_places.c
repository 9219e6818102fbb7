/* Which lines facts name, of hand-made sums. */
#include "made.h"

#include "facts/work.h"

static struct made made;
static const uint64_t ms = 1000000;
static uint32_t frames[8]; /* line n * 10 of train.py */

/* 40 steps of 10 ms with 10 ms between them: 2 ms of an operator, 5 ms on a CPU. */
static void begin_trace(void)
{
	uint32_t op;

	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = DW_PROCESS_PYTHON;
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 100 + 20 * i;
		struct dw_entry_usage *usage =
		    dw_encode_usage(&made.process, made.thread, at * ms, (at + 20) * ms);

		dw_encode_begin(&made.stream, at * ms, op);
		dw_encode_end(&made.stream, (at + 2) * ms);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 10) * ms, 5 * ms, DW_STEP_RECORDED);
		usage->cpu_ns = 10 * ms;
	}
	for (uint32_t i = 1; i < 8; i++)
		frames[i] = dw_encode_frame(&made.process, "train", "/srv/of/train.py", 10 * i);
}

static struct dw_entry_place *place(uint32_t kind, unsigned from, unsigned to, uint64_t step_ms,
                                    uint64_t other_ms, double running)
{
	struct dw_entry_place *entry = dw_encode_place(&made.process, made.thread, kind, frames[from], to ? frames[to] : 0);

	entry->count = 40;
	entry->step_ticks = step_ms * ms;
	entry->other_ticks = other_ms * ms;
	entry->longest_ticks = (step_ms + other_ms) * ms / 40;
	entry->cpu_ticks = (step_ms + other_ms) * ms;
	entry->cpu_ns = (uint64_t)(running * (double)entry->cpu_ticks);
	return entry;
}

static const struct dw_facts *facts_of(void)
{
	return made_open(&made, NULL) ? NULL : dw_facts(made.model, &made.error);
}

#define WHERE(facts, id) ((facts)->at[DW_FACT_##id].where)
#define NOWHERE(facts, id) CHECK((facts)->at[DW_FACT_##id].measured && !WHERE(facts, id))

TEST(python_and_waits_have_lines_of_their_own)
{
	const struct dw_facts *facts;

	begin_trace();
	place(DW_PLACE_BETWEEN, 1, 2, 110, 0, 1);
	place(DW_PLACE_BETWEEN, 3, 4, 190, 0, 0);
	place(DW_PLACE_BETWEEN, 5, 5, 0, 190, 0.95);
	place(DW_PLACE_BETWEEN, 5, 6, 0, 180, 0.05);
	place(DW_PLACE_OPERATOR, 7, 0, 70, 0, 1)->op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_STR(WHERE(facts, STEP_PYTHON), "train.py:10 and train.py:20");
	CHECK_STR(WHERE(facts, STEP_IDLE), "train.py:30 and train.py:40");
	CHECK_STR(WHERE(facts, LOOP_PYTHON), "train.py:50");
	CHECK_STR(WHERE(facts, LOOP_WAITING), "train.py:50 and train.py:60");
	CHECK_STR(WHERE(facts, OPERATORS_LARGEST), "train (train.py:70)");
	CHECK_STR(WHERE(facts, PLACES_LARGEST), "train.py:30 and train.py:40");
	made_close(&made);
}

TEST(a_place_of_little_time_is_not_named)
{
	const struct dw_facts *facts;

	begin_trace();
	place(DW_PLACE_BETWEEN, 1, 2, 40, 0, 1);
	place(DW_PLACE_BETWEEN, 2, 3, 40, 0, 1);
	place(DW_PLACE_BETWEEN, 3, 4, 60, 0, 0);
	/* One long time: the first step compiled. The others are short. */
	place(DW_PLACE_BETWEEN, 6, 7, 5000, 0, 1)->longest_ticks = 4990 * ms;
	facts = facts_of();
	REQUIRE(facts != NULL);
	NOWHERE(facts, STEP_PYTHON);
	NOWHERE(facts, STEP_IDLE);
	NOWHERE(facts, LOOP_PYTHON);
	made_close(&made);
}

TEST(operators_of_c_have_the_line_of_their_probe)
{
	const struct dw_facts *facts;
	uint32_t op;

	made_init(&made);
	op = dw_encode_op(&made.process, DWELL_CATEGORY_OPERATOR, "convolution", NULL, 0, "src/op_conv.c", 143);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = 100 + 20 * i;

		dw_encode_begin(&made.stream, at * ms, op);
		dw_encode_end(&made.stream, (at + 15) * ms);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 20) * ms, 20 * ms, DW_STEP_RECORDED);
	}
	facts = facts_of();
	REQUIRE(facts != NULL);
	CHECK_STR(WHERE(facts, OPERATORS_LARGEST), "op_conv.c:143");
	made_close(&made);
}

TEST(a_trace_without_places_says_so)
{
	const struct dw_facts *facts;

	begin_trace();
	facts = facts_of();
	REQUIRE(facts != NULL);
	NOWHERE(facts, STEP_PYTHON);
	CHECK(!facts->at[DW_FACT_PLACES_LARGEST].measured);
	made_close(&made);
}

CHECK_MAIN
