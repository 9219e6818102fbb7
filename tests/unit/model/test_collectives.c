/* Collectives: which ranges are one collective, when it is entered and left, and for how long a rank is
 * blocked in it. */
#include "made.h"
#include "model/collectives/collectives.h"
#include "model/collectives/rounds.h"
#include "model/joint/joint.h"

static struct made made;

static const struct dw_collectives *opened(void)
{
	return made_open(&made, NULL) == 0 ? dw_model_collectives(made.model, &made.error) : NULL;
}

/* A range that belongs to the collectives from `first` to `last` of a group. */
static void range_of(uint64_t from, uint64_t to, uint32_t op, uint32_t group, uint64_t first, uint64_t last,
                     uint64_t bytes)
{
	dw_encode_begin(&made.stream, from, op);
	for (uint64_t i = first; i <= last; i++)
		dw_encode_collective(&made.stream, from, group, i, bytes);
	dw_encode_end(&made.stream, to);
}

TEST(start_and_wait_are_one_collective)
{
	made_init(&made);
	uint32_t start = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "all_reduce");
	uint32_t wait = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "wait");
	uint32_t group = dw_encode_string(&made.process, "world"), other = dw_encode_string(&made.process, "pair");

	range_of(100, 110, start, group, 1, 1, 64);
	range_of(120, 125, start, group, 2, 2, 32);
	range_of(130, 135, start, other, 1, 1, 8);
	range_of(200, 300, wait, group, 1, 2, 0); /* waits for both: for the second one last */
	const struct dw_collectives *found = opened();

	REQUIRE(found && found->count == 3 && found->group_count == 2);
	const struct dw_collective *at = found->collectives;
	const struct dw_symbol *symbols = dw_model_symbols(made.model, NULL);

	CHECK(strcmp(found->groups[at[0].group], "world") == 0 && strcmp(found->groups[at[2].group], "pair") == 0);
	CHECK(strcmp(symbols[at[0].symbol].name, "all_reduce") == 0);
	CHECK_EQ(at[0].sequence, 1);
	CHECK_EQ(at[0].bytes, 64);
	CHECK_EQ(at[0].enter_ns, 100);
	CHECK_EQ(at[0].leave_ns, 300);
	CHECK_EQ(at[0].blocked_ns, 10);
	CHECK_EQ(at[1].enter_ns, 120);
	CHECK_EQ(at[1].leave_ns, 300);
	CHECK_EQ(at[1].blocked_ns, 5 + 100);
	CHECK_EQ(at[2].leave_ns, 135);
	CHECK(!at[0].open && !at[1].open && !at[2].open);
	made_close(&made);
}

TEST(point_to_point_is_not_joined_and_an_open_range_is_open)
{
	made_init(&made);
	uint32_t send = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "send");
	uint32_t group = dw_encode_string(&made.process, "world");

	range_of(100, 110, send, group, 0, 0, 4);
	range_of(120, 130, send, group, 0, 0, 4);
	dw_encode_begin(&made.stream, 200, send);
	dw_encode_collective(&made.stream, 200, group, 7, 1);
	const struct dw_collectives *found = opened();

	REQUIRE(found && found->count == 3);
	CHECK_EQ(found->collectives[1].enter_ns, 120);
	CHECK_EQ(found->collectives[2].sequence, 7);
	CHECK(found->collectives[2].open && !found->collectives[0].open);
	made_close(&made);
}

/* Two threads have collectives of two groups, which they meet in different orders; some ranges do not end. */
TEST(the_walk_for_summaries_finds_the_same)
{
	const struct dw_collectives *got, *want;
	struct dw_encode_stream own = { .thread = 0 };
	struct dw_model *model = NULL;

	made_init(&made);
	uint32_t reduce = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "all_reduce");
	uint32_t send = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "send");
	uint32_t groups[] = { dw_encode_string(&made.process, "world"), dw_encode_string(&made.process, "pair") };
	uint32_t thread = dw_encode_thread(&made.process, 101, 1, 0, "other");

	own = made.stream;
	dw_encode_stream_init(&made.stream, &made.process, 1, thread);
	for (uint64_t i = 1; i < 200; i++) {
		range_of(i * 1000 + 5, i * 1000 + 400, reduce, groups[i % 2], i, i + i % 3, 64);
		range_of(i * 1000 + 500, i * 1000 + 510, send, groups[0], 0, 0, 8);
	}
	dw_encode_begin(&made.stream, 300000, reduce);
	dw_encode_collective(&made.stream, 300000, groups[1], 300, 1);
	dw_encode_close(&made.stream);
	made.stream = own;
	for (uint64_t i = 1; i < 200; i++) {
		dw_encode_begin(&made.stream, i * 1000, send);
		range_of(i * 1000 + 20, i * 1000 + 900, reduce, groups[1], i, i, 32);
		dw_encode_end(&made.stream, i * 1000 + 950);
		dw_encode_step(&made.process, made.thread, i, i * 1000, i * 1000 + 1000, 1, DW_STEP_RECORDED);
	}
	want = opened();
	REQUIRE(want && want->count > 400 && want->group_count == 2);
	REQUIRE(dw_model_create(&model, dw_model_source(made.model), NULL, &made.error) == 0);
	CHECK_EQ(dw_model_compute_ranks_together(model, &made.error), 0);
	got = dw_model_collectives(model, &made.error);
	REQUIRE(got && got->count == want->count && got->group_count == want->group_count);
	for (uint32_t i = 0; i < got->group_count; i++)
		CHECK_STR(got->groups[i], want->groups[i]);
	for (size_t i = 0; i < got->count; i++) {
		const struct dw_collective *a = &got->collectives[i], *b = &want->collectives[i];

		CHECK(a->process == b->process && a->group == b->group && a->symbol == b->symbol);
		CHECK(a->open == b->open && a->sequence == b->sequence && a->bytes == b->bytes);
		CHECK_EQ(a->enter_ns, b->enter_ns);
		CHECK_EQ(a->leave_ns, b->leave_ns);
		CHECK_EQ(a->blocked_ns, b->blocked_ns);
	}
	dw_model_destroy(model);
	made_close(&made);
}

TEST(without_records_there_are_none)
{
	made_init(&made);
	uint32_t op = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "all_reduce");

	dw_encode_begin(&made.stream, 100, op);
	dw_encode_end(&made.stream, 200);
	const struct dw_collectives *found = opened();

	REQUIRE(found);
	CHECK_EQ(found->count, 0);
	made_close(&made);
}

/* Each round: work, a sum, work, a barrier. */
static void rounds_of(uint32_t sum, uint32_t barrier, uint32_t group, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t at = 1000 + i * 1000u;

		range_of(at + 300, at + 400, sum, group, 2 * i + 1, 2 * i + 1, 64);
		range_of(at + 800, at + 1000, barrier, group, 2 * i + 2, 2 * i + 2, 0);
	}
}

TEST(what_a_rank_repeats_between_collectives_is_a_round)
{
	made_init(&made);
	uint32_t sum = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "all_reduce");
	uint32_t barrier = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "barrier");
	uint32_t pair = dw_encode_string(&made.process, "0 -> 1 of world");

	for (uint64_t i = 1; i < 100; i++) /* messages are no rounds: other ranks do not have them */
		range_of(i * 4, i * 4 + 2, sum, pair, i, i, 8);
	rounds_of(sum, barrier, dw_encode_string(&made.process, "world"), 20);
	const struct dw_rounds *rounds = made_open(&made, NULL) == 0 ? dw_model_rounds(made.model, &made.error) : NULL;

	REQUIRE(rounds && rounds->model);
	const struct dw_source *source = dw_model_source(rounds->model);

	CHECK_EQ(rounds->widths[0], 2);
	CHECK_EQ(source->step_count, 19); /* when the first one began is not known */
	CHECK_EQ(source->steps[0].number, 1);
	CHECK_EQ(source->steps[0].start_ns, 2000);
	CHECK_EQ(source->steps[0].end_ns, 3000);
	CHECK(!source->steps[18].open);
	made_close(&made);
}

TEST(a_run_with_steps_has_no_rounds)
{
	made_init(&made);
	uint32_t sum = made_op(&made, DWELL_CATEGORY_COMMUNICATION, "all_reduce");

	rounds_of(sum, sum, dw_encode_string(&made.process, "world"), 20);
	dw_encode_step(&made.process, made.thread, 1, 1000, 2000, 1, DW_STEP_RECORDED);
	const struct dw_rounds *rounds = made_open(&made, NULL) == 0 ? dw_model_rounds(made.model, &made.error) : NULL;

	REQUIRE(rounds);
	CHECK(!rounds->model);
	made_close(&made);
}

CHECK_MAIN
