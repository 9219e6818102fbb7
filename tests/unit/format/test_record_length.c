/* Decoding returns what was encoded, and ignores incomplete records. */
#include "check.h"

#include "format/decode.h"
#include "../../tools/encode_records.h"
#include "format/record_length.h"

struct seen {
	uint64_t begins, ends, others, last_ticks;
	uint32_t last_id, last_kind;
	double value;
	uint64_t handle;
};

static void on_begin(void *context, uint64_t ticks, uint32_t id)
{
	struct seen *seen = context;

	seen->begins++;
	seen->last_ticks = ticks;
	seen->last_id = id;
}

static void on_end(void *context, uint64_t ticks)
{
	struct seen *seen = context;

	seen->ends++;
	seen->last_ticks = ticks;
}

static void on_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	struct seen *seen = context;

	seen->others++;
	seen->last_ticks = ticks;
	seen->last_kind = record->kind;
	if (record->kind == DW_COUNTER)
		seen->value = dw_record_f64(record, 0);
	if (record->kind == DW_FLOW_IN)
		seen->handle = dw_record_u64(record, 0);
}

static struct seen decode(const uint32_t *words, uint32_t count, struct dw_decode_time *time,
                          uint32_t *used)
{
	struct seen seen = { 0 };

	*used = dw_decode_words(words, count, time, &seen, on_begin, on_end, on_other);
	return seen;
}

TEST(records_come_back_as_they_went)
{
	struct dw_encode encode;
	struct dw_encode_process process;
	struct dw_encode_stream stream;
	struct dw_decode_time time = { 0 };
	double value = 2.5;
	uint64_t handle = 0x123456789abcdef0;
	uint32_t used;

	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0);
	dw_encode_stream_init(&stream, &process, 0, 0);
	dw_encode_begin(&stream, 100, 77);
	dw_encode_record(&stream, 200, DW_COUNTER, 5, &value, 2);
	dw_encode_record(&stream, 5000000000, DW_FLOW_IN, 6, &handle, 2); /* EXT TIME before it */
	dw_encode_end(&stream, 5000000007);
	dw_encode_close(&stream);
	REQUIRE(!encode.failed && encode.blocks == 3);
	const struct dw_chunk *chunk = (const void *)(encode.image + 2 * (size_t)DW_BLOCK_BYTES);
	CHECK_EQ(chunk->end_ticks, 5000000007);
	CHECK_EQ(chunk->end_bytes, 64 + 8 + 16 + 16 + 16 + 4);
	dw_time_set(&time, chunk->base_ticks);
	struct seen seen = decode((const uint32_t *)(const void *)(chunk + 1), 16368, &time, &used);
	CHECK_EQ(used * 4 + 64, chunk->end_bytes);
	CHECK_EQ(seen.begins, 1);
	CHECK_EQ(seen.ends, 1);
	CHECK_EQ(seen.others, 3);
	CHECK_EQ(seen.last_id, 77);
	CHECK_EQ(seen.last_ticks, 5000000007);
	CHECK_NEAR(seen.value, 2.5, 0);
	CHECK(seen.handle == handle);
	CHECK_EQ(time.records, 5);
	dw_encode_reset(&encode);
}

/* A reader that does not know the type skips it by its words and has its time. */
TEST(what_a_block_is_has_its_time_and_its_words)
{
	struct dw_encode encode;
	struct dw_encode_process process;
	struct dw_encode_stream stream;
	struct dw_decode_time time = { 0 };
	uint32_t used;

	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0);
	dw_encode_stream_init(&stream, &process, 0, 0);
	dw_encode_begin(&stream, 100, 77);
	dw_encode_alloc_is(&stream, 250, 9, 0x123456789abc);
	dw_encode_end(&stream, 300);
	dw_encode_close(&stream);
	const struct dw_chunk *chunk = (const void *)(encode.image + 2 * (size_t)DW_BLOCK_BYTES);
	const uint32_t *words = (const void *)(chunk + 1);
	dw_time_set(&time, chunk->base_ticks);
	struct seen seen = decode(words, 16368, &time, &used);
	CHECK_EQ(seen.others, 1);
	CHECK_EQ(seen.last_kind, DW_EXT);
	CHECK_EQ(seen.last_ticks, 300);
	CHECK_EQ(dw_record_words(words + 2), 2 + DW_ALLOC_IS_WORDS);
	CHECK_EQ(words[3] & DW_ID_MASK, DW_EXT_ALLOC_IS << DW_EXT_TYPE_SHIFT | DW_ALLOC_IS_WORDS);
	CHECK_EQ(words[4], 250);
	CHECK_EQ(words[6], 0x56789abc);
	CHECK_EQ(words[7], 0x1234);
	CHECK_EQ(words[8], 9);
	CHECK_EQ(used, 2 + 2 + DW_ALLOC_IS_WORDS + 1);
	dw_encode_reset(&encode);
}

TEST(a_collective_has_its_group_its_number_and_its_bytes)
{
	struct dw_encode encode;
	struct dw_encode_process process;
	struct dw_encode_stream stream;

	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0);
	dw_encode_stream_init(&stream, &process, 0, 0);
	CHECK_EQ(dw_encode_head(&encode)->flags & DW_HEAD_COLLECTIVES, 0);
	dw_encode_begin(&stream, 100, 77);
	dw_encode_collective(&stream, 250, 9, 0x123456789abc, 0xfedcba987654);
	dw_encode_close(&stream);
	CHECK(dw_encode_head(&encode)->flags & DW_HEAD_COLLECTIVES);
	const struct dw_chunk *chunk = (const void *)(encode.image + 2 * (size_t)DW_BLOCK_BYTES);
	const uint32_t *words = (const void *)(chunk + 1);

	CHECK_EQ(words[3] & DW_ID_MASK, DW_EXT_COLLECTIVE << DW_EXT_TYPE_SHIFT | DW_COLLECTIVE_WORDS);
	CHECK_EQ(words[4], 250);
	CHECK_EQ(words[6], 9);
	CHECK_EQ(words[7], 0x56789abc);
	CHECK_EQ(words[8], 0x1234);
	CHECK_EQ(words[9], 0xba987654);
	CHECK_EQ(words[10], 0xfedc);
	dw_encode_reset(&encode);
}

TEST(a_record_that_does_not_fit_is_left)
{
	uint32_t words[] = { 1, 3 << DW_KIND_SHIFT | 9, 1, 2, 3, 4, 3 };
	uint32_t used;

	for (uint32_t count = 0; count <= 7; count++) {
		struct dw_decode_time time = { 0 };
		struct seen seen = decode(words, count, &time, &used);

		CHECK_EQ(seen.others, count >= 6);
		CHECK_EQ(used, count < 6 ? 0 : count);
	}
	CHECK_EQ(dw_record_words(words), 6);
}

TEST(zero_ends_the_data_and_garbage_is_damage)
{
	uint32_t zero[] = { 3, 0, 3 }, garbage[] = { 3, 2, 3 };
	struct dw_decode_time time = { 0 };
	uint32_t used;

	CHECK_EQ(decode(zero, 3, &time, &used).ends, 1);
	CHECK(!time.damaged);
	CHECK_EQ(decode(garbage, 3, &time, &used).ends, 1);
	CHECK(time.damaged);
}

TEST(time_is_held_until_the_counter_has_caught_up)
{
	/* +10, back to 5, +2 (7: held at 10), +5 (12) */
	uint32_t words[] = { 10 << 2 | 3, 1, 15u << DW_KIND_SHIFT | DW_EXT_TIME << 12 | 2, 5, 0,
		                 2 << 2 | 3, 5 << 2 | 3 };
	struct dw_decode_time time = { 0 };
	uint32_t used;

	CHECK_EQ(decode(words, 6, &time, &used).last_ticks, 10);
	time = (struct dw_decode_time){ 0 };
	CHECK_EQ(decode(words, 7, &time, &used).last_ticks, 12);
	CHECK_EQ(time.backward, 1);
}

TEST(a_full_chunk_goes_on_in_the_next)
{
	struct dw_encode encode;
	struct dw_encode_process process;
	struct dw_encode_stream stream;
	uint64_t ends = 0, last = 0;

	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0);
	dw_encode_stream_init(&stream, &process, 0, 0);
	for (uint64_t i = 0; i < 40000; i++) {
		dw_encode_begin(&stream, i * 10, 1);
		dw_encode_end(&stream, i * 10 + 5);
	}
	dw_encode_close(&stream);
	for (uint32_t block = 2; block < encode.blocks; block++) {
		const struct dw_chunk *chunk = (const void *)(encode.image + (size_t)block * DW_BLOCK_BYTES);
		struct dw_decode_time time = { .ticks = chunk->base_ticks };
		uint32_t used;

		CHECK_EQ(chunk->number, block - 1);
		CHECK_EQ(chunk->base_ticks, last);
		CHECK_EQ(chunk->next, block + 1 < encode.blocks ? block + 1 : 0);
		ends += decode((const uint32_t *)(const void *)(chunk + 1), (chunk->end_bytes - 64) / 4,
		               &time, &used).ends;
		last = chunk->end_ticks;
	}
	CHECK_EQ(ends, 40000);
	dw_encode_reset(&encode);
}

CHECK_MAIN
