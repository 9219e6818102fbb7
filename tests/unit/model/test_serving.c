/* Requests of a server: which stages and tokens are whose, where stages end, and what is in flight in a step. */
#include "made.h"
#include "format/keys.h"
#include "frameworks/frameworks.h"
#include "model/serving/serving.h"

static struct made made;
static uint32_t request, stage_a, stage_b, tokens, other;

static void begin(void)
{
	made_init(&made);
	/* The first of the name is no request: rows are by name, requests are apart from them. */
	other = made_op(&made, DWELL_CATEGORY_ZONE, "generate");
	request = dw_encode_op(&made.process, DWELL_CATEGORY_ZONE, "generate", DW_DETAIL_REQUEST, 0, NULL, 0);
	stage_a = dw_encode_op(&made.process, DWELL_CATEGORY_ZONE, "prefill", DW_DETAIL_STAGE, 0, NULL, 0);
	stage_b = dw_encode_op(&made.process, DWELL_CATEGORY_ZONE, "decode", DW_DETAIL_STAGE, 0, NULL, 0);
	tokens = dw_encode_op(&made.process, DWELL_CATEGORY_ZONE, "tokens", DW_DETAIL_REQUEST, 0, NULL, 0);
}

static void put(uint64_t ticks, enum dw_kind kind, uint32_t op, uint64_t handle)
{
	dw_encode_record(&made.stream, ticks, kind, op, &handle, 2);
}

static void answered(uint64_t ticks, uint32_t op, uint32_t handle, uint32_t from, uint32_t first, uint32_t last)
{
	dw_encode_answered(&made.stream, ticks, op, handle, (const uint64_t[3]){ from, first, last }, 7);
}

TEST(requests_of_connections_count_where_none_are_marked)
{
	for (int marked = 0; marked < 2; marked++) {
		begin();
		uint32_t get = dw_encode_op(&made.process, DWELL_CATEGORY_ZONE, "GET /", DW_DETAIL_ANSWERED, 0, NULL, 0);

		if (marked) {
			put(100, DW_ASYNC_BEGIN, request, 1);
			put(190, DW_ASYNC_END, request, 1);
		}
		answered(300, get, 1, 120, 150, 170); /* they are recorded later than other records */
		answered(310, get, 2, 110, 111, 290);
		REQUIRE(made_open(&made, NULL) == 0);
		const struct dw_serving *serving = dw_model_serving(made.model, &made.error);

		REQUIRE(serving && serving->count == (marked ? 1 : 2));
		const struct dw_served *first = &serving->requests[0], *second = &serving->requests[1];

		CHECK_EQ(first->tokens, marked ? 0 : 7);
		CHECK_EQ(first->end_ns - first->start_ns, marked ? 90 : 180);
		if (!marked) {
			CHECK_EQ(second->start_ns - first->start_ns, 10);
			CHECK_EQ(second->first_ns - second->start_ns, 30);
			CHECK_EQ(second->last_ns - second->start_ns, 50);
			CHECK_EQ(second->end_ns - second->start_ns, 50);
			CHECK(strcmp(serving->token_name, "sends") == 0);
		}
		made_close(&made);
	}
}

TEST(stages_end_with_the_next_and_tokens_are_of_the_open_request)
{
	begin();
	put(100, DW_ASYNC_BEGIN, request, 1);
	put(110, DW_ASYNC_BEGIN, other, 1); /* of the same handle, and no request */
	put(120, DW_ASYNC_BEGIN, stage_a, 1);
	dw_encode_tokens(&made.stream, 130, tokens, 1, 1);
	put(140, DW_ASYNC_BEGIN, stage_b, 1);
	put(145, DW_ASYNC_END, other, 1);
	dw_encode_tokens(&made.stream, 150, tokens, 1, 3);
	put(160, DW_ASYNC_END, request, 1);
	dw_encode_tokens(&made.stream, 165, tokens, 1, 9); /* of no request */
	put(170, DW_ASYNC_BEGIN, request, 1);              /* the handle again */
	put(180, DW_ASYNC_BEGIN, stage_a, 1);
	dw_encode_tokens(&made.stream, 190, tokens, 1, 2);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_serving *serving = dw_model_serving(made.model, &made.error);

	REQUIRE(serving && serving->count == 2 && serving->stage_count == 3);
	const struct dw_served *first = &serving->requests[0], *second = &serving->requests[1];

	CHECK_EQ(first->end_ns - first->start_ns, 60);
	CHECK_EQ(dw_served_queue_ns(serving, first), 20);
	CHECK_EQ(serving->stages[first->first_stage].end_ns - serving->stages[first->first_stage].start_ns, 20);
	CHECK_EQ(serving->stages[first->first_stage + 1].end_ns, first->end_ns);
	CHECK_EQ(first->first_ns - first->start_ns, 30);
	CHECK_EQ(first->last_ns - first->start_ns, 50);
	CHECK_EQ(first->tokens, 4);
	CHECK_EQ(second->tokens, 2);
	CHECK(second->open && !first->open);
	CHECK_EQ(second->stage_count, 1);
	CHECK(strcmp(serving->token_name, "tokens") == 0);
	made_close(&made);
}

/* What is in flight is counted in the middle of each step; a stage that begins there counts. */
TEST(batches_are_steps_with_what_is_in_flight)
{
	char text[200];

	begin();
	for (uint64_t i = 1; i <= 3; i++)
		put(100, DW_ASYNC_BEGIN, request, i);
	put(200, DW_ASYNC_BEGIN, stage_a, 1);
	put(300, DW_ASYNC_BEGIN, stage_b, 1);
	put(300, DW_ASYNC_BEGIN, stage_a, 2);
	dw_encode_tokens(&made.stream, 390, tokens, 1, 1);
	dw_encode_tokens(&made.stream, 395, tokens, 2, 1);
	put(400, DW_ASYNC_END, request, 1);
	put(400, DW_ASYNC_END, request, 2);
	dw_encode_step(&made.process, made.thread, 0, 200, 300, 0, DW_STEP_RECORDED);
	dw_encode_step(&made.process, made.thread, 1, 300, 400, 0, DW_STEP_RECORDED);
	put(500, DW_ASYNC_END, request, 3);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_serving *serving = dw_model_serving(made.model, &made.error);

	REQUIRE(serving && serving->batch_count == 2);
	dw_batch_write(serving, &serving->kinds[serving->batches[0].kind], text, sizeof text);
	CHECK(strcmp(text, "1 prefill") == 0);
	CHECK_EQ(serving->batches[0].waiting, 2);
	dw_batch_write(serving, &serving->kinds[serving->batches[1].kind], text, sizeof text);
	CHECK(strcmp(text, "1 prefill, 1 decode") == 0);
	CHECK_EQ(serving->batches[1].waiting, 1);
	CHECK_EQ(serving->batches[1].tokens, 2);
	made_close(&made);
}

TEST(names_of_steps_say_what_they_compute)
{
	static const struct {
		const char *name;
		struct dw_framework_batch batch;
	} named[] = {
		{ "execute_context_2(300)_generation_6(6)", { 2, 6, 0, 306 } },
		{ "execute_context_0(0)_generation_64(64)", { 0, 64, 0, 64 } },
		{ "execute_306_context_2(sq300sk300sqsq45000sqsk45000)_generation_6(sq6sk900sqsq6sqsk900)", { 2, 6, 0, 306 } },
		{ "step[DECODE bs=63]", { 0, 63, 0, 63 } },
		{ "step[EXTEND bs=17 toks=8192]", { 17, 0, 0, 8192 } },
		{ "step[MIXED bs=2]", { 0, 0, 2, 2 } },
	};
	static const char *const others[] = { "execute_context_menu", "execute", "step", "step[", "step[3]", "step[DECODE]", "" };
	struct dw_framework_batch batch;

	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		CHECK(dw_framework_is_batch(named[i].name, &batch) && memcmp(&batch, &named[i].batch, sizeof batch) == 0);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		CHECK(!dw_framework_is_batch(others[i], &batch));
}

TEST(a_trace_without_requests_has_none)
{
	begin();
	dw_encode_begin(&made.stream, 100, other);
	dw_encode_end(&made.stream, 200);
	REQUIRE(made_open(&made, NULL) == 0);
	const struct dw_serving *serving = dw_model_serving(made.model, &made.error);

	CHECK(serving && !serving->count && !serving->batch_count && !serving->token_name);
	made_close(&made);
}

CHECK_MAIN
