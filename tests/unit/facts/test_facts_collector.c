/* Collections while the loop gets data are told from others. */
#include "check.h"
#include "facts/facts.h"
#include "made.h"

static struct made made;
static const uint64_t ms = 1000000;

static void range(uint64_t from_ms, uint64_t to_ms, uint32_t op)
{
	dw_encode_begin(&made.stream, from_ms * ms, op);
	dw_encode_end(&made.stream, to_ms * ms);
}

/* 20 steps of 20 ms: a request of 8 ms, 3 of them in the collector, and a collection of 1 ms outside it. */
TEST(collections_within_requests)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = DW_PROCESS_PYTHON;
	uint32_t next = made_op(&made, DWELL_CATEGORY_DATA, "DataLoader.__next__");
	uint32_t collector = made_op(&made, DWELL_CATEGORY_COLLECTOR, "gc generation 2");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	const struct dw_facts *facts;

	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = 100 + i * 20;

		dw_encode_begin(&made.stream, at * ms, next);
		range(at + 2, at + 5, collector);
		dw_encode_end(&made.stream, (at + 8) * ms);
		range(at + 8, at + 15, op);
		range(at + 15, at + 16, collector);
		dw_encode_step(&made.process, made.thread, i, at * ms, (at + 20) * ms, 20 * ms, DW_STEP_RECORDED);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	facts = dw_facts(made.model, &made.error);
	REQUIRE(facts != NULL);
	CHECK_NEAR(facts->at[DW_FACT_LOOP_COLLECTOR_ALL].value, 4 / 20.0, 1e-6);
	CHECK_NEAR(facts->at[DW_FACT_LOOP_DATA_ALL].value, 5 / 20.0, 1e-6);
	CHECK_NEAR(facts->at[DW_FACT_LOADER_COLLECTOR].value, 3 / 20.0, 1e-6);
	made_close(&made);
}

/* 40 steps of 10 ms after one of 200 ms, 150 of them in the collector. */
TEST(collections_of_the_warm_up_do_not_count)
{
	made_init(&made);
	dw_encode_process_entry(&made.process)->flags = DW_PROCESS_PYTHON;
	uint32_t collector = made_op(&made, DWELL_CATEGORY_COLLECTOR, "gc generation 2");
	uint32_t op = made_op(&made, DWELL_CATEGORY_OPERATOR, "aten::mm");
	const struct dw_facts *facts;

	range(100, 250, collector);
	range(250, 299, op);
	dw_encode_step(&made.process, made.thread, 0, 100 * ms, 300 * ms, 200 * ms, DW_STEP_RECORDED);
	for (uint64_t i = 0; i < 40; i++) {
		uint64_t at = 300 + i * 10;

		range(at, at + 8, op);
		range(at + 8, at + 9, collector);
		dw_encode_step(&made.process, made.thread, i + 1, at * ms, (at + 10) * ms, 10 * ms, DW_STEP_RECORDED);
	}
	REQUIRE(made_open(&made, NULL) == 0);
	facts = dw_facts(made.model, &made.error);
	REQUIRE(facts != NULL);
	CHECK_NEAR(facts->at[DW_FACT_STEP_WARM_UP].value, 1, 1e-6);
	CHECK_NEAR(facts->at[DW_FACT_LOOP_COLLECTOR_ALL].value, 40 / 600.0, 1e-6);
	made_close(&made);
}

CHECK_MAIN
