/* Events of the kernel as a thread finds them: around the end of the ring, lost ones, and records that nobody expects. */
#include "../check.h"

#include "perf.c"

struct dws_process dws_process;

bool dws_is_apart(void)
{
	return false;
}

static union {
	struct dws_ring ring;
	uint64_t words[16384]; /* two pages of at most 64 KB */
} shared;
static const struct dws_perf perf = { &shared.ring, 1 };

static void put(uint64_t word)
{
	const uint64_t words = getauxval(AT_PAGESZ) / 8;

	shared.words[words + shared.ring.head / 8 % words] = word;
	shared.ring.head += 8;
}

static void put_sample(uint64_t mark, unsigned count)
{
	put((uint64_t)(8 + 8 + 8 * (count + 1)) << 48 | RECORD_SAMPLE);
	put(count + 1);
	put(mark);
	for (unsigned i = 0; i < count; i++)
		put(0xffffffff81000000 + i * 16);
}

static void begin(uint64_t at)
{
	memset(&shared, 0, sizeof shared);
	shared.ring.head = shared.ring.tail = at;
}

TEST(functions_of_the_kernel_are_the_place_and_its_callers)
{
	struct dws_kernel kernel;

	begin(0);
	put_sample((uint64_t)-128, 3);
	put_sample((uint64_t)-128, 0);
	CHECK_EQ(dws_perf_next(&perf, &kernel), 1);
	CHECK_EQ(kernel.count, 3);
	CHECK_EQ(kernel.places[0], 0xffffffff81000000);
	CHECK_EQ(kernel.places[2], 0xffffffff8100001f);
	CHECK_EQ(dws_perf_next(&perf, &kernel), 1);
	CHECK_EQ(kernel.count, 0);
	CHECK_EQ(dws_perf_next(&perf, &kernel), 0);
	CHECK_EQ(shared.ring.tail, shared.ring.head);
}

TEST(records_go_around_the_end_of_the_ring)
{
	struct dws_kernel kernel;

	begin(7 * getauxval(AT_PAGESZ) - 24);
	put_sample((uint64_t)-128, 5);
	CHECK_EQ(dws_perf_next(&perf, &kernel), 1);
	CHECK_EQ(kernel.count, 5);
	CHECK_EQ(kernel.places[4], 0xffffffff8100003f);
}

TEST(lost_events_have_their_weight)
{
	struct dws_kernel kernel;

	begin(4096);
	put(24ull << 48 | RECORD_LOST);
	put(1);
	put(17);
	CHECK_EQ(dws_perf_next(&perf, &kernel), 17);
	CHECK_EQ(kernel.count, 0);
}

TEST(other_and_damaged_records_are_passed_over)
{
	struct dws_kernel kernel;

	begin(0);
	put(16ull << 48 | 5); /* throttled */
	put(0);
	put_sample((uint64_t)-128, DWS_KERNEL_FRAMES + 20);
	put(16ull << 48 | RECORD_SAMPLE); /* its stack is longer than the record */
	put(1000);
	put(0);
	CHECK_EQ(dws_perf_next(&perf, &kernel), 1);
	CHECK_EQ(kernel.count, DWS_KERNEL_FRAMES);
	CHECK_EQ(dws_perf_next(&perf, &kernel), 1);
	CHECK_EQ(kernel.count, 0);
	CHECK_EQ(dws_perf_next(&perf, &kernel), 0);
	CHECK_EQ(shared.ring.tail, shared.ring.head);
}

CHECK_MAIN
