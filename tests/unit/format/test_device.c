/* Device records: what is written is read back, in the bytes that doc/reference/format.md names. */
#include "check.h"

#include "format/decode.h"
#include "format/device.h"
#include "format/encode.h"

static struct dw_encode encode;
static struct dw_encode_process process;

static void begin(void)
{
	dw_encode_init(&encode, DW_CLOCK_MONOTONIC, 1000000000);
	dw_encode_process_init(&process, &encode, 0);
}

/* The i-th device chunk of the image. */
static const struct dw_chunk *device_chunk(uint32_t i)
{
	for (uint32_t block = 1; block < encode.blocks; block++) {
		const struct dw_chunk *chunk = dw_encode_chunk(&encode, block);

		if (chunk->type == DW_CHUNK_DEVICE && !i--)
			return chunk;
	}
	return NULL;
}

TEST(a_kernel_takes_32_bytes_at_their_places)
{
	struct dw_encode_events events;
	const unsigned char *at;
	const struct dw_chunk *chunk;

	begin();
	dw_encode_events_init(&events, &process, 3, 9, false);
	dw_encode_event(&events, &(struct dw_device_event_in){
		.kind = DW_DEVICE_KERNEL, .queue = 0x0abcdef, .start_ticks = 0x0102030405060708,
		.duration_ticks = 0x0000112233445566, .correlation = 0x99887766, .name = 0x1234567, .node = 5,
		.external = 1 });
	dw_encode_events_close(&events);
	chunk = device_chunk(0);
	REQUIRE(chunk);
	CHECK_EQ(chunk->stream, 3);
	CHECK_EQ(chunk->clock, 9);
	CHECK_EQ(chunk->record_bytes, 32);
	CHECK_EQ(chunk->end_bytes, 64 + 32);
	CHECK_EQ(chunk->end_ticks, 0x0102030405060708 + 0x0000112233445566);
	at = (const unsigned char *)(chunk + 1);
	CHECK_EQ(at[0], 8);                     /* start */
	CHECK_EQ(at[8], 0x66);                  /* duration */
	CHECK_EQ(at[13], 0x11);
	CHECK_EQ(at[14] | at[15], 0);           /* detail */
	CHECK_EQ(at[16], 0x67);                 /* name */
	CHECK_EQ(at[20], 5);                    /* node */
	CHECK_EQ(at[24], 0xef);                 /* queue */
	CHECK_EQ(at[27], 0x10);                 /* kind 1 */
	CHECK_EQ(at[28], 0x66);                 /* correlation */
	CHECK_EQ(at[31], 0x99);
	dw_encode_reset(&encode);
}

TEST(a_copy_keeps_its_bytes_and_memories)
{
	struct dw_encode_events events;
	const struct dw_device_record_wide *record;
	char text[DW_DEVICE_NAME_BYTES];

	begin();
	dw_encode_events_init(&events, &process, 0, 0, true);
	dw_encode_event(&events, &(struct dw_device_event_in){
		.kind = DW_DEVICE_COPY, .queue = 7, .start_ticks = 5, .duration_ticks = UINT64_MAX,
		.bytes = (uint64_t)1 << 50, .detail = DW_MEMORY_PINNED | DW_MEMORY_DEVICE << 4 | DW_COPY_ASYNC,
		.external = UINT64_MAX, .other_name = 12, .recorded_by = 13 });
	dw_encode_events_close(&events);
	REQUIRE(device_chunk(0));
	record = (const void *)(device_chunk(0) + 1);
	CHECK_EQ(dw_device_kind(&record->record), DW_DEVICE_COPY);
	CHECK_EQ(dw_device_queue(&record->record), 7);
	CHECK_EQ(dw_device_duration(&record->record), DW_DEVICE_LENGTH_MASK); /* as long as it can be */
	CHECK_EQ(record->record.bytes, (uint64_t)1 << 50);
	CHECK_EQ(record->external, UINT64_MAX);
	CHECK_EQ(record->name, 12);
	CHECK_EQ(record->recorded_by, 13);
	CHECK_STR(dw_device_usual_name(DW_DEVICE_COPY, dw_device_detail(&record->record), text),
	          "Memcpy HtoD (Pinned -> Device)");
	dw_encode_reset(&encode);
}

TEST(events_go_on_in_the_next_chunk)
{
	struct dw_encode_events events;

	begin();
	dw_encode_events_init(&events, &process, 0, 0, false);
	for (uint32_t i = 0; i < 2047; i++) /* 65472 / 32 = 2046 fit */
		dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_SET,
			.start_ticks = 100 - i % 100, .queue = 1 });
	dw_encode_events_close(&events);
	REQUIRE(device_chunk(0) && device_chunk(1));
	CHECK_EQ(device_chunk(0)->end_bytes, DW_BLOCK_BYTES);
	CHECK_EQ(device_chunk(1)->end_bytes, 64 + 32);
	CHECK_EQ(device_chunk(0)->number, 1);
	CHECK_EQ(device_chunk(1)->number, 2);
	CHECK(device_chunk(0)->next != 0);
	dw_encode_reset(&encode);
}

TEST(names_of_events_that_need_none)
{
	static const struct { uint32_t kind, detail; const char *name; } names[] = {
		{ DW_DEVICE_COPY, DW_MEMORY_DEVICE | DW_MEMORY_PAGEABLE << 4, "Memcpy DtoH (Device -> Pageable)" },
		{ DW_DEVICE_COPY, DW_MEMORY_DEVICE | DW_MEMORY_DEVICE << 4, "Memcpy DtoD (Device -> Device)" },
		{ DW_DEVICE_COPY, DW_MEMORY_DEVICE | DW_MEMORY_DEVICE << 4 | DW_COPY_PEER,
		  "Memcpy PtoP (Device -> Device)" },
		{ DW_DEVICE_COPY, DW_MEMORY_ARRAY | DW_MEMORY_MANAGED << 4, "Memcpy AtoD (Array -> Managed)" },
		{ DW_DEVICE_COPY, 15, "Memcpy Unknown (Unknown -> Unknown)" },
		{ DW_DEVICE_SET, DW_MEMORY_DEVICE << 4, "Memset (Device)" },
		{ DW_DEVICE_SYNC, DW_SYNC_QUEUE_WAIT, "Stream Wait Event" },
		{ DW_DEVICE_SYNC, DW_SYNC_QUEUE, "Stream Sync" },
		{ DW_DEVICE_SYNC, DW_SYNC_CONTEXT, "Context Sync" },
		{ DW_DEVICE_SYNC, DW_SYNC_EVENT, "Event Sync" },
		{ DW_DEVICE_SYNC, 999, "Sync" },
		{ DW_DEVICE_MEMORY, DW_CHANGE_FREED | DW_MEMORY_DEVICE << 4, "Free (Device)" },
		{ DW_DEVICE_MEMORY, DW_CHANGE_POOL_TRIMMED | DW_MEMORY_DEVICE << 4, "Trim Pool (Device)" },
		{ DW_DEVICE_MEMORY, 15, "Memory (Unknown)" },
		{ 15, 0, "(unknown)" },
	};
	char text[DW_DEVICE_NAME_BYTES];

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		CHECK_STR(dw_device_usual_name(names[i].kind, names[i].detail, text), names[i].name);
}

static uint32_t seen_correlation;
static uint64_t seen_external, seen_ticks;
static unsigned seen_ends;

static void on_begin(void *context, uint64_t ticks, uint32_t id)
{
}

static void on_end(void *context, uint64_t ticks)
{
	seen_ends++;
	seen_ticks = ticks;
}

static void on_other(void *context, uint64_t ticks, const struct dw_record *record)
{
	if (record->kind != DW_EXT)
		return;
	if (record->id >> DW_EXT_TYPE_SHIFT == DW_EXT_CORRELATION)
		seen_correlation = record->payload[0];
	if (record->id >> DW_EXT_TYPE_SHIFT == DW_EXT_EXTERNAL)
		seen_external = dw_record_u64(record, 2);
}

TEST(a_range_gets_its_correlation_and_keeps_its_time)
{
	struct dw_encode_stream stream;
	struct dw_decode_time time = { .ticks = 0 };
	const struct dw_chunk *chunk;

	begin();
	dw_encode_stream_init(&stream, &process, 0, 0);
	dw_encode_begin(&stream, 1000, 5);
	dw_encode_correlation(&stream, 0xfffffffe);
	dw_encode_external(&stream, 1000, 0x123456789abcdef0);
	dw_encode_end(&stream, 1500);
	dw_encode_close(&stream);
	chunk = dw_encode_chunk(&encode, encode.blocks - 1);
	time.ticks = chunk->base_ticks;
	dw_decode_words((const uint32_t *)(const void *)(chunk + 1), (chunk->end_bytes - 64) / 4, &time,
	                NULL, on_begin, on_end, on_other);
	CHECK_EQ(seen_correlation, 0xfffffffe);
	CHECK_EQ(seen_external, 0x123456789abcdef0);
	CHECK_EQ(seen_ends, 1);
	CHECK_EQ(seen_ticks, 1500);
	CHECK_EQ(time.damaged, 0);
	dw_encode_reset(&encode);
}
CHECK_MAIN
