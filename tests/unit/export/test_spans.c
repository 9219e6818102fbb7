/* Ranges as begins and ends in order of time, compared with all ranges at each moment. */
#include "export/spans.h"
#include "made.h"

#define MOST 400

static struct made made;

static struct {
	uint64_t last_ns, open_ns[8]; /* by symbol: the sum of its time */
	uint32_t stack[MOST], depth;
	size_t opens, closes;
	bool wrong;
} seen;

static void see(void *to, bool opens, uint32_t symbol, uint64_t ns)
{
	for (uint32_t i = 0; i < seen.depth; i++)
		seen.open_ns[seen.stack[i]] += ns - seen.last_ns;
	seen.wrong |= ns < seen.last_ns;
	seen.last_ns = ns;
	seen.opens += opens;
	seen.closes += !opens;
	if (opens && seen.depth < MOST)
		seen.stack[seen.depth++] = symbol;
	else if (!opens && seen.depth && seen.stack[seen.depth - 1] == symbol)
		seen.depth--;
	else
		seen.wrong = true;
}

static void count(void *to, bool opens, uint32_t symbol, uint64_t ns)
{
	seen.opens += opens;
	seen.closes += !opens;
}

static void replay(const struct dw_span *spans, size_t number)
{
	memset(&seen, 0, sizeof seen);
	CHECK(dw_spans_replay(spans, number, see, NULL));
	CHECK(!seen.wrong);
	CHECK_EQ(seen.depth, 0);
	CHECK_EQ(seen.opens, seen.closes);
}

TEST(ranges_that_nest_are_opened_and_closed_once)
{
	static const struct dw_span spans[] = { { 0, 100, 0, 0, 0 }, { 0, 50, 1, 1, 0 },  { 10, 10, 2, 2, 0 },
		                                    { 20, 50, 2, 2, 0 }, { 50, 60, 1, 1, 0 }, { 100, 130, 3, 0, 0 } };

	replay(spans, 6);
	CHECK_EQ(seen.opens, 6);
	CHECK_EQ(seen.open_ns[0], 100);
	CHECK_EQ(seen.open_ns[1], 60);
	CHECK_EQ(seen.open_ns[2], 30);
	CHECK_EQ(seen.open_ns[3], 30);
}

TEST(ranges_that_overlap_in_part_keep_their_time)
{
	static const struct dw_span spans[] = { { 0, 50, 0, 0, 0 }, { 10, 80, 1, 1, 0 }, { 20, 90, 2, 2, 0 } };

	replay(spans, 3);
	CHECK_EQ(seen.open_ns[0], 50);
	CHECK_EQ(seen.open_ns[1], 70);
	CHECK_EQ(seen.open_ns[2], 70);
}

static int compare(const void *left, const void *right)
{
	const struct dw_span *a = left, *b = right;

	return a->start_ns != b->start_ns ? (a->start_ns < b->start_ns ? -1 : 1)
	                                  : (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

TEST(any_ranges_keep_their_time)
{
	uint32_t random = 1;

	for (unsigned round = 0; round < 200; round++) {
		struct dw_span spans[60];
		uint64_t sums[8] = { 0 };

		for (unsigned i = 0; i < 60; i++) {
			random = random * 1664525u + 1013904223u;
			spans[i] = (struct dw_span){ .start_ns = random >> 24, .symbol = random >> 21 & 7 };
			spans[i].end_ns = spans[i].start_ns + (random >> 12 & 63);
			sums[spans[i].symbol] += spans[i].end_ns - spans[i].start_ns;
		}
		qsort(spans, 60, sizeof *spans, compare);
		replay(spans, 60);
		for (unsigned i = 0; i < 8; i++)
			CHECK_EQ(seen.open_ns[i], sums[i]);
	}
}

/* With many open ranges that overlap, each end would close and open all of them. */
TEST(overlaps_without_end_stay_small)
{
	struct dw_span *spans = calloc(100000, sizeof *spans);

	REQUIRE(spans);
	for (unsigned i = 0; i < 100000; i++)
		spans[i] = (struct dw_span){ .start_ns = i, .end_ns = i + 300 };
	memset(&seen, 0, sizeof seen);
	CHECK(dw_spans_replay(spans, 100000, count, NULL));
	CHECK_EQ(seen.opens, seen.closes);
	CHECK(seen.opens < 100000 * 257u);
	free(spans);
}

static void record(uint32_t op, uint64_t start, uint64_t length)
{
	dw_encode_begin(&made.stream, start, op);
	dw_encode_end(&made.stream, start + length);
}

TEST(of_too_many_the_shortest_are_left_out)
{
	struct dw_export_filter filter = { .pattern = NULL };
	struct dw_spans spans;
	uint64_t kept = 0, shortest = UINT64_MAX;
	uint32_t op;

	made_init(&made);
	op = made_op(&made, DWELL_CATEGORY_ZONE, "a");
	for (unsigned i = 0; i < 1000; i++)
		record(op, i * UINT64_C(1000000), (i * 37 % 1000) * 10);
	REQUIRE(made_open(&made, NULL) == 0);
	REQUIRE(dw_spans_collect(&spans, made.model, &filter, 100, &made.error) == 0);
	CHECK(spans.count <= 100 && spans.count >= 40);
	CHECK_EQ(spans.count + spans.left_out, 1000);
	for (size_t i = 0; i < spans.count; i++) {
		uint64_t ns = spans.list[i].end_ns - spans.list[i].start_ns;

		kept += ns;
		shortest = ns < shortest ? ns : shortest;
		CHECK(!i || spans.list[i].start_ns > spans.list[i - 1].start_ns);
	}
	CHECK(kept > 0 && shortest >= 8000);
	CHECK(spans.longest_left_out_ns >= 8000 && spans.longest_left_out_ns < 9990);
	dw_spans_reset(&spans);
	REQUIRE(dw_spans_collect(&spans, made.model, &filter, 1000, &made.error) == 0);
	CHECK_EQ(spans.count, 1000);
	CHECK_EQ(spans.left_out, 0);
	dw_spans_reset(&spans);
	filter.least_ns = 5000;
	REQUIRE(dw_spans_collect(&spans, made.model, &filter, 1000, &made.error) == 0);
	CHECK_EQ(spans.count, 500);
	dw_spans_reset(&spans);
	made_close(&made);
}

CHECK_MAIN
