/* Which ranges nest, compared with a check of all pairs. */
#include "check.h"
#include "export/nest.h"

#define MOST 4096

static struct {
	uint64_t start, end;
} taken[MOST];
static size_t taken_count;
static struct dw_nest nest;

static bool fits_all(uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < taken_count; i++)
		if (taken[i].start < start && start < taken[i].end)
			return false;
	return true;
}

static int add(uint64_t start, uint64_t end, uint32_t depth)
{
	int nests = dw_nest_add(&nest, start, end, depth);

	if (nests == 1) {
		taken[taken_count].start = start;
		taken[taken_count++].end = end;
	}
	return nests;
}

static void start(void)
{
	taken_count = 0;
	dw_nest_start(&nest);
}

TEST(ranges_in_order_nest)
{
	start();
	CHECK_EQ(add(10, 20, 1), 1);
	CHECK_EQ(add(20, 30, 1), 1);
	CHECK_EQ(add(0, 30, 0), 1);
	CHECK_EQ(add(30, 30, 0), 1);
	free(nest.spans);
	memset(&nest, 0, sizeof nest);
}

TEST(a_range_ended_out_of_order_overlaps_the_next)
{
	start();
	CHECK_EQ(add(100, 600, 2), 1);  /* b, while a and c are open */
	CHECK_EQ(add(650, 700, 2), 1);  /* in c */
	CHECK_EQ(add(300, 1000, 1), 0); /* c began in b */
	CHECK_EQ(add(1100, 1200, 1), 1);
	CHECK_EQ(add(0, 1500, 0), 1);
	free(nest.spans);
	memset(&nest, 0, sizeof nest);
}

TEST(many_children_of_an_open_range_are_one_span)
{
	start();
	for (uint64_t i = 0; i < 1000; i++)
		CHECK_EQ(add(i * 10 + 5, i * 10 + 9, 1), 1);
	CHECK_EQ(nest.count, 1);
	CHECK_EQ(add(0, 100000, 0), 1);
	free(nest.spans);
	memset(&nest, 0, sizeof nest);
}

/* Random begins and ends, some out of order: never a wrong yes, and never a no in order. */
TEST(random_ranges_agree_with_all_pairs)
{
	uint64_t random = 1;

	for (int round = 0; round < 300; round++) {
		uint64_t open[64], now = 0;
		unsigned count = 0;
		bool disorder = round % 3 == 0;

		start();
		nest.never_joined = round % 2;
		for (int i = 0; i < 400; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			now += random >> 60;
			if (count < 12 && random >> 33 & 1) {
				open[count++] = now;
			} else if (count) {
				unsigned which = disorder && (random >> 40) % 7 == 0
				                     ? (unsigned)(random >> 44) % count
				                     : count - 1;
				uint64_t begin = open[which];
				bool fits = fits_all(begin, now);
				int nests;

				memmove(&open[which], &open[which + 1], (count - which - 1) * sizeof *open);
				nests = add(begin, now, --count);
				CHECK(nests == 0 || fits);
				CHECK(nests == 1 || disorder);
				if (nest.never_joined)
					CHECK_EQ(nests, fits);
			}
		}
	}
	free(nest.spans);
	memset(&nest, 0, sizeof nest);
}

CHECK_MAIN
