/* For how long a rank recorded nothing, at the end of a trace. */
#include "made.h"

#include "summary/summary.h"

static struct made made;

/* A thread that loops without an end is sampled: its chunks become full, which the profiler records. */
TEST(what_the_profiler_records_of_itself_is_no_record_of_the_rank)
{
	struct dw_summary summary = { .ranks = NULL };
	uint32_t op, chunk;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_OPERATOR, "op");
	chunk = made_op(&made, DWELL_CATEGORY_PROFILER, "dwell: new chunk");
	for (uint64_t i = 0; i < 4; i++) {
		dw_encode_begin(&made.stream, 100 + i * 100, op);
		dw_encode_end(&made.stream, 150 + i * 100);
		dw_encode_step(&made.process, made.thread, i, 100 + i * 100, 180 + i * 100, 0, DW_STEP_RECORDED);
	}
	dw_encode_begin(&made.stream, 8000, chunk);
	dw_encode_end(&made.stream, 8010);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_summary_add_model(&summary, made.model, &made.error));
	REQUIRE(summary.count == 1);
	CHECK(summary.ranks[0].where_known);
	CHECK_EQ(summary.ranks[0].silent_ns, 8010 - 450);
	dw_summary_reset(&summary);
	made_close(&made);
}

CHECK_MAIN
