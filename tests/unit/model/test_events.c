/* Events in order: ranges with their details, asynchronous pairs, filters. */
#include "made.h"

static struct made made;

static struct dw_event seen[64];
static size_t seen_count;

static int take(void *context, const struct dw_event *event)
{
	size_t *most = context;

	if (seen_count == sizeof seen / sizeof *seen)
		return 1;
	seen[seen_count++] = *event;
	return most && seen_count == *most ? 42 : 0;
}

static int walk(enum dw_event_streams which)
{
	seen_count = 0;
	return dw_model_events_of(made.model, which, take, NULL, &made.error);
}

static const char *name_of(size_t i)
{
	return dw_model_symbols(made.model, NULL)[seen[i].symbol].name;
}

TEST(ranges_come_when_they_end_with_what_was_said_of_them)
{
	uint64_t sequence = 77;

	made_init(&made);
	uint32_t outer = made_op(&made, DWELL_CATEGORY_OPERATOR, "outer");
	uint32_t inner = made_op(&made, DWELL_CATEGORY_OPERATOR, "inner");
	uint32_t args = dw_encode_string(&made.process, "x=1");
	uint32_t link[3] = { (uint32_t)sequence, 0, made.thread };

	dw_encode_begin(&made.stream, 100, outer);
	dw_encode_record(&made.stream, 100, DW_ARGS, args, NULL, 0);
	dw_encode_begin(&made.stream, 110, inner);
	dw_encode_record(&made.stream, 110, DW_LINK, 0, link, 3);
	dw_encode_end(&made.stream, 120);
	dw_encode_end(&made.stream, 200);
	dw_encode_begin(&made.stream, 210, outer); /* never ends */
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(walk(DW_EVENTS_ALL) == 0 && seen_count == 3);
	CHECK_STR(name_of(0), "inner");
	CHECK_EQ(seen[0].depth, 1);
	CHECK_EQ(seen[0].sequence, 77);
	CHECK_EQ(seen[0].forward_thread, 0);
	CHECK_EQ(seen[0].start_ns, 110);
	CHECK_EQ(seen[0].end_ns, 120);
	CHECK(!seen[0].args);
	CHECK_STR(name_of(1), "outer");
	CHECK_STR(seen[1].args, "x=1");
	CHECK_EQ(seen[1].sequence, UINT64_MAX);
	CHECK_EQ(seen[1].depth, 0);
	CHECK(!seen[1].open && seen[2].open);
	made_close(&made);
}

TEST(records_have_their_values)
{
	uint64_t memory[2] = { 0x1000, 64 }, handle = 9;
	double value = 2.5;

	made_init(&made);
	uint32_t mark = made_op(&made, DWELL_CATEGORY_MARK, "mark");
	uint32_t counter = made_op(&made, DWELL_CATEGORY_COUNTER, "loss");
	uint32_t tensor = made_op(&made, DWELL_CATEGORY_ALLOCATION, "tensor");
	uint32_t flow = made_op(&made, DWELL_CATEGORY_FLOW, "batch");

	dw_encode_record(&made.stream, 100, DW_MARK, mark, NULL, 0);
	dw_encode_record(&made.stream, 110, DW_COUNTER, counter, &value, 2);
	dw_encode_record(&made.stream, 120, DW_ALLOC, tensor, memory, 4);
	dw_encode_record(&made.stream, 130, DW_FREE, tensor, memory, 2);
	dw_encode_record(&made.stream, 140, DW_FLOW_OUT, flow, &handle, 2);
	dw_encode_record(&made.stream, 150, DW_FLOW_IN, flow, &handle, 2);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(walk(DW_EVENTS_ALL) == 0 && seen_count == 6);
	CHECK_EQ(seen[0].type, DW_EVENT_MARK);
	CHECK_EQ(seen[1].type, DW_EVENT_COUNTER);
	CHECK_NEAR(seen[1].value, 2.5, 0);
	CHECK_EQ(seen[2].type, DW_EVENT_ALLOC);
	CHECK_EQ(seen[2].size_bytes, 64);
	CHECK_EQ(seen[3].type, DW_EVENT_FREE);
	CHECK_EQ(seen[3].handle, 0x1000);
	CHECK_EQ(seen[4].type, DW_EVENT_FLOW_OUT);
	CHECK_EQ(seen[5].handle, 9);
	CHECK_EQ(seen[5].start_ns, 150);
	made_close(&made);
}

/* A handle that is given back and used again at the same tick makes two ranges. */
TEST(asynchronous_ranges_are_paired_by_handle)
{
	uint64_t handles[2] = { 1, 2 };

	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "send");

	dw_encode_record(&made.stream, 100, DW_ASYNC_BEGIN, op, &handles[0], 2);
	dw_encode_record(&made.stream, 110, DW_ASYNC_BEGIN, op, &handles[1], 2);
	dw_encode_record(&made.stream, 150, DW_ASYNC_END, op, &handles[0], 2);
	dw_encode_record(&made.stream, 150, DW_ASYNC_BEGIN, op, &handles[0], 2);
	dw_encode_record(&made.stream, 180, DW_ASYNC_END, op, &handles[0], 2);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(walk(DW_EVENTS_ALL) == 0 && seen_count == 3);
	CHECK_EQ(seen[0].type, DW_EVENT_ASYNC);
	CHECK_EQ(seen[0].start_ns, 100);
	CHECK_EQ(seen[0].end_ns, 150);
	CHECK_EQ(seen[1].start_ns, 150);
	CHECK_EQ(seen[1].end_ns, 180);
	CHECK_EQ(seen[2].handle, 2);
	CHECK(seen[2].open);
	made_close(&made);
}

TEST(a_signal_handlers_stream_is_apart)
{
	struct dw_encode_stream nested;

	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_ZONE, "work");
	uint32_t tick = made_op(&made, DWELL_CATEGORY_ZONE, "tick");

	dw_encode_stream_init(&nested, &made.process, DW_STREAM_NESTED, made.thread);
	dw_encode_begin(&made.stream, 100, op);
	dw_encode_begin(&nested, 140, tick);
	dw_encode_end(&nested, 150);
	dw_encode_end(&made.stream, 200);
	dw_encode_close(&nested);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(walk(DW_EVENTS_ALL) == 0);
	CHECK_EQ(seen_count, 2);
	REQUIRE(walk(DW_EVENTS_OF_THREADS) == 0 && seen_count == 1);
	CHECK_STR(name_of(0), "work");
	CHECK(!seen[0].nested);
	REQUIRE(walk(DW_EVENTS_OF_HANDLERS) == 0 && seen_count == 1);
	CHECK_STR(name_of(0), "tick");
	CHECK(seen[0].nested);
	made_close(&made);
}

TEST(the_first_result_that_is_not_0_ends_the_walk)
{
	size_t most = 2;

	made_init(&made);
	uint32_t mark = made_op(&made, DWELL_CATEGORY_MARK, "mark");

	for (uint64_t i = 0; i < 5; i++)
		dw_encode_record(&made.stream, 100 + i, DW_MARK, mark, NULL, 0);
	REQUIRE(made_open(&made, NULL) == 0);
	seen_count = 0;
	CHECK_EQ(dw_model_events(made.model, take, &most, &made.error), 42);
	CHECK_EQ(seen_count, 2);
	made_close(&made);
}

CHECK_MAIN
