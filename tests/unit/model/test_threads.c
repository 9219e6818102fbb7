/* Threads: records, ranges, covered time, losses and times in which records are missing. */
#include "made.h"

static struct made made;

static void range_in(struct dw_encode_stream *stream, uint64_t from, uint64_t to, uint32_t op)
{
	dw_encode_begin(stream, from, op);
	dw_encode_end(stream, to);
}

/* Ranges 100..200 with one in it, and 300..310: busy for 110. */
TEST(covered_time_counts_once)
{
	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_ZONE, "work");

	dw_encode_begin(&made.stream, 100, op);
	range_in(&made.stream, 120, 150, op);
	dw_encode_end(&made.stream, 200);
	range_in(&made.stream, 300, 310, op);
	dw_encode_record(&made.stream, 400, DW_MARK, made_op(&made, DWELL_CATEGORY_MARK, "m"), NULL, 0);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_threads *threads = dw_model_threads(made.model, &made.error);

	REQUIRE(threads && threads->count == 1);
	CHECK_EQ(threads->rows[0].ranges, 3);
	CHECK_EQ(threads->rows[0].records, 7);
	CHECK_EQ(threads->rows[0].busy_ns, 110);
	CHECK_EQ(threads->rows[0].first_ns, 100);
	CHECK_EQ(threads->rows[0].last_ns, 400);
	CHECK_EQ(threads->rows[0].lost, 0);
	CHECK_EQ(threads->missing[0]->start_ticks, UINT64_MAX);
	CHECK_NEAR(dw_model_coverage(made.model), 1, 0);
	made_close(&made);
}

TEST(a_signal_handlers_stream_has_a_row_of_its_own)
{
	struct dw_encode_stream nested;

	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_ZONE, "work");

	dw_encode_stream_init(&nested, &made.process, DW_STREAM_NESTED, made.thread);
	range_in(&made.stream, 100, 200, op);
	range_in(&nested, 140, 150, op);
	dw_encode_close(&nested);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_threads *threads = dw_model_threads(made.model, &made.error);

	REQUIRE(threads && threads->count == 2);
	CHECK(!threads->rows[0].nested && threads->rows[1].nested);
	CHECK_EQ(threads->rows[0].busy_ns, 100);
	CHECK_EQ(threads->rows[1].busy_ns, 10);
	CHECK_EQ(threads->rows[1].thread, 0);
	made_close(&made);
}

/* Chunks between 200 and 1000 were recycled. */
TEST(recycled_chunks_are_missing_time)
{
	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_ZONE, "work");

	range_in(&made.stream, 100, 200, op);
	dw_encode_gap(&made.stream, 3);
	made.stream.last_ticks = 1000; /* the next chunk begins there */
	range_in(&made.stream, 1000, 1100, op);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_threads *threads = dw_model_threads(made.model, &made.error);

	REQUIRE(threads && threads->count == 1);
	CHECK_EQ(threads->rows[0].gap_ns, 800);
	CHECK_EQ(threads->missing[0]->start_ticks, 200);
	CHECK_EQ(threads->missing[0]->end_ticks, 1000);
	CHECK_EQ(threads->process_missing[0]->end_ticks, 1000);
	CHECK_NEAR(dw_model_coverage(made.model), 0.2, 1e-9);
	made_close(&made);
}

TEST(a_scope_of_a_thread_has_its_row_alone)
{
	struct dw_scope scope = { .thread = "second" };
	struct dw_encode_stream stream;

	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_ZONE, "work");
	uint32_t second = dw_encode_thread(&made.process, 101, 1, 0, "second");

	dw_encode_stream_init(&stream, &made.process, 1, second);
	range_in(&made.stream, 100, 200, op);
	range_in(&stream, 110, 120, op);
	dw_encode_close(&stream);
	REQUIRE(made_open(&made, &scope) == 0);
	const struct dw_threads *threads = dw_model_threads(made.model, &made.error);

	REQUIRE(threads && threads->count == 1);
	CHECK_EQ(threads->rows[0].thread, 1);
	CHECK_EQ(threads->rows[0].busy_ns, 10);
	made_close(&made);
}

CHECK_MAIN
