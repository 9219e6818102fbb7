/* Collectives: which ranges are one collective, when it is entered and left, and for how long a rank is
 * blocked in it. */
#include "made.h"
#include "model/collectives/collectives.h"

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

CHECK_MAIN
