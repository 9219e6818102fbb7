/* Decoding of hostile and torn streams, and of scopes that longjmp() left. */
#include "check.h"

#include <time.h>

#include "format/decode.h"
#include "../../tools/encode_records.h"

/* A visitor that keeps the ids of what is open, as a consumer does. */
struct stack {
	uint32_t ids[64];
	uint32_t depth, deepest, begins, ends, ends_of, others;
	uint64_t end_ticks;
};

static void on_begin(void *context, uint64_t ticks, uint32_t id)
{
	struct stack *stack = context;

	stack->begins++;
	if (stack->depth < 64)
		stack->ids[stack->depth++] = id;
	if (stack->depth > stack->deepest)
		stack->deepest = stack->depth;
}

static void on_end(void *context, uint64_t ticks)
{
	struct stack *stack = context;

	stack->ends++;
	stack->end_ticks = ticks;
	stack->depth -= stack->depth != 0;
}

static void on_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	struct stack *stack = context;
	uint32_t n = record->payload[0];

	stack->others++;
	if (record->kind != DW_END_OF || n >= stack->depth)
		return;
	stack->ends_of++;
	memmove(&stack->ids[stack->depth - 1 - n], &stack->ids[stack->depth - n], n * sizeof *stack->ids);
	stack->depth--;
}

static struct dw_encode encode;
static struct dw_encode_process process;
static struct dw_encode_stream stream;
static struct dw_decode_time decoded;
static struct dw_decode_open open_ranges;

static void begin_stream(void)
{
	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0);
	dw_encode_stream_init(&stream, &process, 0, 0);
	decoded = (struct dw_decode_time){ 0 };
	open_ranges = (struct dw_decode_open){ 0 };
}

/* All chunks of the one stream, with or without the list of open ranges. */
static struct stack decode_all(bool named)
{
	struct stack seen = { 0 };

	dw_encode_close(&stream);
	decoded.open = named ? &open_ranges : NULL;
	for (uint32_t block = 1; block < encode.blocks; block++) {
		const struct dw_chunk *chunk = dw_encode_chunk(&encode, block);

		if (chunk->type != DW_CHUNK_STREAM)
			continue;
		dw_time_set(&decoded, chunk->base_ticks);
		dw_decode_words((const uint32_t *)(const void *)(chunk + 1),
		                (chunk->end_bytes - DW_CHUNK_HEADER_BYTES) / 4, &decoded, &seen, on_begin,
		                on_end, on_other);
	}
	free(open_ranges.ids);
	dw_encode_reset(&encode);
	return seen;
}

static void put_longjmp(void)
{
	begin_stream();
	dw_encode_begin(&stream, 10, 1); /* outside */
	dw_encode_scope_begin(&stream, 20);
	dw_encode_begin(&stream, 30, 2);
	dw_encode_begin(&stream, 40, 3);
	dw_encode_end(&stream, 50); /* of 3 */
	dw_encode_begin(&stream, 60, 4); /* 2 and 4 are skipped by longjmp() */
	dw_encode_scope_end(&stream, 70);
}

TEST(what_a_longjmp_skipped_ends_with_its_scope)
{
	for (int named = 0; named < 2; named++) {
		put_longjmp();
		struct stack seen = decode_all(named);

		CHECK_EQ(seen.begins, 4);
		CHECK_EQ(seen.ends, 3);
		CHECK_EQ(seen.depth, 1);
		CHECK_EQ(seen.ids[0], 1);
		CHECK_EQ(seen.end_ticks, 70);
		CHECK_EQ(decoded.cut, 2);
		if (named)
			CHECK_EQ(open_ranges.depth, 1);
	}
}

TEST(a_scope_that_balances_cuts_nothing)
{
	begin_stream();
	for (uint64_t i = 0; i < 20000; i++) { /* over several chunks */
		dw_encode_scope_begin(&stream, i * 100);
		dw_encode_begin(&stream, i * 100 + 10, 1);
		dw_encode_begin(&stream, i * 100 + 20, 2);
		dw_encode_end(&stream, i * 100 + 30);
		dw_encode_end(&stream, i * 100 + 40);
		dw_encode_scope_end(&stream, i * 100 + 50);
	}
	struct stack seen = decode_all(false);
	CHECK_EQ(seen.ends, 40000);
	CHECK_EQ(seen.depth, 0);
	CHECK_EQ(decoded.cut, 0);
}

TEST(a_scope_goes_on_in_the_next_chunk)
{
	begin_stream();
	dw_encode_scope_begin(&stream, 10);
	dw_encode_begin(&stream, 20, 1);
	dw_encode_close(&stream);
	dw_encode_scope_end(&stream, 30);
	struct stack seen = decode_all(false);
	CHECK_EQ(seen.ends, 1);
	CHECK_EQ(decoded.cut, 1);
}

TEST(ends_of_ranges_from_before_the_scope_do_not_count_as_its_own)
{
	begin_stream();
	dw_encode_begin(&stream, 10, 1);
	dw_encode_scope_begin(&stream, 20);
	dw_encode_end(&stream, 30); /* of 1 */
	dw_encode_end(&stream, 31); /* of nothing */
	dw_encode_begin(&stream, 40, 2);
	dw_encode_scope_end(&stream, 50);
	struct stack seen = decode_all(false);
	CHECK_EQ(seen.ends, 3);
	CHECK_EQ(decoded.cut, 1);
	CHECK_EQ(seen.depth, 0);
}

TEST(an_end_of_counts_where_its_range_began)
{
	for (int outer = 0; outer < 2; outer++) {
		uint32_t n = outer ? 2 : 1;

		begin_stream();
		dw_encode_begin(&stream, 10, 1);
		dw_encode_scope_begin(&stream, 20);
		dw_encode_begin(&stream, 30, 2);
		dw_encode_begin(&stream, 40, 3);
		dw_encode_record(&stream, 50, DW_END_OF, 0, &n, 1);
		dw_encode_scope_end(&stream, 60);
		struct stack seen = decode_all(true);
		CHECK_EQ(seen.ends_of, 1);
		CHECK_EQ(decoded.cut, outer ? 2 : 1);
		CHECK_EQ(seen.depth, outer ? 0 : 1);
	}
}

TEST(ranges_that_end_by_name_end_with_the_scope_too)
{
	uint32_t none = 0;

	begin_stream();
	dw_encode_scope_begin(&stream, 10);
	dw_encode_begin(&stream, 20, 5);
	dw_encode_record(&stream, 20, DW_EXT, DW_EXT_BY_NAME << DW_EXT_TYPE_SHIFT, NULL, 0);
	dw_encode_scope_end(&stream, 30);
	dw_encode_record(&stream, 40, DW_END_OF, 5, &none, 1); /* it has ended */
	struct stack seen = decode_all(true);
	CHECK_EQ(decoded.cut, 1);
	CHECK_EQ(seen.ends, 1);
	CHECK_EQ(seen.ends_of, 0);
	CHECK_EQ(seen.depth, 0);
}

TEST(an_end_by_name_chooses_among_ranges_of_its_name)
{
	const uint32_t n[] = { 1, 0, 7, 1 };

	begin_stream();
	for (uint32_t i = 0; i < 3; i++)
		dw_encode_begin(&stream, 10 + i, 5 + i % 2); /* 5, 6, 5 */
	dw_encode_record(&stream, 20, DW_END_OF, 5, &n[0], 1); /* the first */
	dw_encode_record(&stream, 30, DW_END_OF, 5, &n[1], 1); /* the third */
	dw_encode_record(&stream, 40, DW_END_OF, 6, &n[2], 1); /* none */
	dw_encode_record(&stream, 50, DW_END_OF, 6, &n[3], 1); /* none */
	struct stack seen = decode_all(true);
	CHECK_EQ(seen.ends_of, 2);
	CHECK_EQ(seen.depth, 1);
}

TEST(only_the_last_begin_of_a_scope_counts)
{
	begin_stream();
	dw_encode_scope_begin(&stream, 10);
	dw_encode_begin(&stream, 20, 1);
	dw_encode_scope_begin(&stream, 30); /* its end was lost */
	dw_encode_begin(&stream, 40, 2);
	dw_encode_scope_end(&stream, 50);
	dw_encode_begin(&stream, 60, 3);
	dw_encode_scope_end(&stream, 70); /* without a begin */
	struct stack seen = decode_all(false);
	CHECK_EQ(decoded.cut, 1);
	CHECK_EQ(seen.ends, 1);
	CHECK_EQ(seen.depth, 2);
}

TEST(another_thread_a_loss_and_a_gap_end_the_scope)
{
	uint64_t lost = 5;

	for (int how = 0; how < 2; how++) {
		begin_stream();
		dw_encode_scope_begin(&stream, 10);
		dw_encode_begin(&stream, 20, 1);
		if (how)
			dw_encode_record(&stream, 30, DW_THREAD, 9, NULL, 0);
		else
			dw_encode_record(&stream, 30, DW_LOSS, DW_LOSS_FULL, &lost, 2);
		dw_encode_begin(&stream, 40, 2);
		dw_encode_scope_end(&stream, 50);
		CHECK_EQ(decode_all(false).ends, 0);
		CHECK_EQ(decoded.cut, 0);
	}
	decoded = (struct dw_decode_time){ .inside = 3, .in_scope = true };
	dw_decode_end_all(&decoded); /* what a reader calls at a gap */
	CHECK(!decoded.inside && !decoded.in_scope);
}

/* ---- time ---------------------------------------------------------------------------- */

static double cpu_seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* `deep` open ranges, then `ends` END_OFs of `id` with `n`. */
static double seconds_of(uint32_t deep, uint32_t ends, uint32_t id, uint32_t n, bool named)
{
	double start;

	begin_stream();
	for (uint32_t i = 0; i < deep; i++)
		dw_encode_begin(&stream, i, 5);
	for (uint32_t i = 0; i < ends; i++)
		dw_encode_record(&stream, deep + i, DW_END_OF, id, &n, 1);
	start = cpu_seconds();
	decode_all(named);
	return cpu_seconds() - start;
}

TEST(ends_far_from_the_innermost_take_bounded_time)
{
	/* 4 MB each; without a bound on the search they took a thousand times as long as ends of
	 * the innermost range. How fast this machine is, those show. */
	const uint32_t deep = check_is_slow() ? 50000 : 250000, ends = deep / 5 * 3, far = deep / 5 * 2;
	double most = 0.2 + 300 * seconds_of(deep, ends, 0, 0, true);

	CHECK(seconds_of(deep, ends, 7, 0, true) < most);   /* no such range is open */
	CHECK(seconds_of(deep, ends, 0, far, true) < most); /* a far one each time */
	CHECK(decoded.skipped > 0);
	CHECK(seconds_of(deep, ends, 0, far, false) < most);
	CHECK(decoded.skipped > 0);
}

TEST(ends_near_the_innermost_are_never_left_out)
{
	const uint32_t ends = check_is_slow() ? 20000 : 200000;
	uint32_t n = 20;

	begin_stream();
	for (uint32_t i = 0; i < 30; i++)
		dw_encode_begin(&stream, i, 5);
	for (uint32_t i = 0; i < ends; i++) {
		dw_encode_record(&stream, 100 + i, DW_END_OF, 0, &n, 1);
		dw_encode_begin(&stream, 100 + i, 5);
	}
	CHECK_EQ(decode_all(true).ends_of, ends);
	CHECK_EQ(decoded.skipped, 0);
}

/* ---- words that change ----------------------------------------------------------------- */

static uint32_t changing[8];

static void change_payload(void *context, uint64_t ticks, const struct dw_record *record)
{
	struct stack *stack = context;
	uint32_t before = record->payload[2];

	memset(changing, 0xff, sizeof changing); /* as another process may at any time */
	stack->others += before == record->payload[2] && before == 3;
}

TEST(a_payload_that_changes_is_seen_as_it_was_checked)
{
	struct dw_decode_time time = { 0 };
	struct stack seen = { 0 };

	memcpy(changing, (uint32_t[]){ 5, (uint32_t)DW_LINK << DW_KIND_SHIFT, 1, 2, 3 }, 20);
	dw_decode_words(changing, 5, &time, &seen, on_begin, on_end, change_payload);
	CHECK_EQ(seen.others, 1);
}

/* ---- ranges that a visitor leaves out ----------------------------------------------------------------- */

#define LEFT_OUT 7u

/* What a visitor sees that does not care for what is in a range LEFT_OUT. */
struct outside {
	uint32_t depth, left_out; /* left_out: depth of that range; 0: none is open */
	uint64_t hash, visits;
};

static void outside_see(struct outside *outside, uint64_t what)
{
	outside->visits++;
	if (!outside->left_out)
		outside->hash = (outside->hash + what) * 0x9e3779b97f4a7c15;
}

static void outside_begin(void *context, uint64_t ticks, uint32_t id)
{
	struct outside *outside = context;

	outside_see(outside, ticks * 16 + id);
	outside->depth++;
	if (!outside->left_out && id == LEFT_OUT)
		outside->left_out = outside->depth;
}

static void outside_end(void *context, uint64_t ticks)
{
	struct outside *outside = context;

	if (outside->left_out == outside->depth)
		outside->left_out = 0;
	outside_see(outside, ticks);
	outside->depth -= outside->depth != 0;
}

static void outside_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	outside_see(context, ticks + record->kind);
}

static bool outside_over(void *context)
{
	const struct outside *outside = context;

	return outside->left_out && outside->left_out == outside->depth;
}

/* Many begins and ends, and now and then a counter, over several chunks. */
static void put_many(uint32_t seed)
{
	uint64_t ticks = 10;

	begin_stream();
	for (uint32_t i = 0, depth = 0; i < 60000; i++, ticks += seed >> 28) {
		seed = seed * 1664525 + 1013904223;
		if (seed >> 20 < 8)
			dw_encode_record(&stream, ticks, DW_MARK, 2, NULL, 0);
		else if (!depth || (depth < 40 && seed >> 16 & 1))
			dw_encode_begin(&stream, ticks, 1 + (seed >> 17) % 12), depth++;
		else
			dw_encode_end(&stream, ticks), depth--;
	}
	dw_encode_close(&stream);
}

TEST(what_is_left_out_changes_nothing_outside)
{
	for (uint32_t seed = 1; seed < 20; seed++) {
		struct outside all = { 0 }, over = { 0 };
		struct dw_decode_time times[2] = { { 0 }, { 0 } };

		put_many(seed);
		for (uint32_t block = 1; block < encode.blocks; block++) {
			const struct dw_chunk *chunk = dw_encode_chunk(&encode, block);
			const uint32_t *words = (const uint32_t *)(const void *)(chunk + 1);
			uint32_t count = (chunk->end_bytes - DW_CHUNK_HEADER_BYTES) / 4;

			if (chunk->type != DW_CHUNK_STREAM)
				continue;
			for (int i = 0; i < 2; i++)
				dw_time_set(&times[i], chunk->base_ticks);
			dw_decode_words(words, count, &times[0], &all, outside_begin, outside_end, outside_other);
			dw_decode_words_over(words, count, &times[1], &over, outside_begin, outside_end, outside_other, outside_over, NULL);
		}
		CHECK_EQ(over.hash, all.hash);
		CHECK_EQ(over.depth, all.depth);
		CHECK_EQ(times[1].ticks, times[0].ticks);
		CHECK(over.visits < all.visits);
		dw_encode_reset(&encode);
	}
}

CHECK_MAIN
