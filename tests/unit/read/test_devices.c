/* Devices, queues, their clocks and chunks as a source offers them; damaged ones are bounded. */
#include "made.h"

#include "format/device.h"
#include "read/source.h"

/* The i-th event of all chunks. */
static const struct dw_device_record *event_at(const struct made *made, size_t i,
                                               const struct dw_source_events **chunk)
{
	for (size_t c = 0; c < made->source->events_count; c++) {
		const struct dw_source_events *events = &made->source->events[c];
		size_t count = (size_t)events->chunk.word_count * 4 / events->record_bytes;

		if (i < count) {
			*chunk = events;
			return (const void *)((const char *)events->chunk.words + i * events->record_bytes);
		}
		i -= count;
	}
	return NULL;
}

TEST(a_trace_without_devices_has_none)
{
	struct made made;

	made_init(&made);
	CHECK_EQ(made_open(&made, NULL), 0);
	CHECK_EQ(made.source->events_count, 0);
	CHECK(!made.source->queues && !made.source->devices && !made.source->files[0].queue_by_id);
	made_close(&made);
}

TEST(devices_queues_and_launches_are_found)
{
	struct made made;
	struct dw_encode_events events;
	const struct dw_source_events *chunk;
	const struct dw_device_record *record;
	const struct dw_source_queue *queue;
	uint32_t device, stream, op, launch;

	made_init(&made);
	device = dw_encode_device(&made.process, 3, "NVIDIA A100", DW_API_CUDA);
	stream = dw_encode_queue(&made.process, device, 7, 1, "default");
	op = made_op(&made, DWELL_CATEGORY_DEVICE, "gemm");
	launch = dw_encode_launch(&made.process, op, &(struct dw_launch_shape){ .grid = { 8, 16, 5 },
		.block = { 128, 1, 1 }, .registers = 122 });
	dw_encode_events_init(&events, &made.process, 0, 0, false);
	dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_KERNEL, .queue = stream,
		.start_ticks = 900, .duration_ticks = 100, .correlation = 4, .name = launch });
	dw_encode_events_close(&events);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made.source->events_count, 1);
	record = event_at(&made, 0, &chunk);
	REQUIRE(record);
	CHECK_EQ(dw_device_duration(record), 100);
	CHECK_EQ(dw_source_device_ticks(&chunk->clock, record->start_ticks), 900);
	queue = &made.source->queues[made.source->files[0].queue_by_id[dw_device_queue(record)]];
	CHECK_EQ(queue->number, 7);
	CHECK_STR(queue->name, "default");
	CHECK_EQ(made.source->devices[queue->device].number, 3);
	CHECK_STR(made.source->devices[queue->device].name, "NVIDIA A100");
	CHECK_STR(made.source->files[0].symbols[launch].name, "gemm");
	CHECK_EQ(made.source->files[0].launches[launch]->grid[2], 5);
	CHECK(!made.source->files[0].launches[op]);
	CHECK_EQ(made.source->end_ns, 1000); /* the device's work is part of the run */
	CHECK_EQ(made.source->processes[0].end_ns, 0); /* no open range lasts until then */
	made_close(&made);
}

TEST(a_device_clock_is_interpolated_between_its_pairings)
{
	struct made made;
	struct dw_encode_events events;
	const struct dw_source_device_clock *clock;
	uint32_t id;

	made_init(&made);
	/* 1 device tick = 2 ns up to 1000, then 4 ns */
	id = dw_encode_device_clock(&made.process, 0, 1000, 5000, 500000000, 30);
	dw_encode_device_clock(&made.process, id, 2000, 9000, 500000000, 10);
	dw_encode_device_clock(&made.process, id, 500, 4000, 500000000, 20);
	dw_encode_device_clock(&made.process, id, 2500, 8000, 500000000, 20); /* backward: left out */
	dw_encode_events_init(&events, &made.process, 0, id, false);
	dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_SET, .start_ticks = 1 });
	dw_encode_events_close(&events);
	REQUIRE(made_open(&made, NULL) == 0 && made.source->events_count == 1);
	clock = &made.source->events[0].clock;
	CHECK_EQ(clock->error_ns, 30);
	CHECK_EQ(clock->pairing_count, 3);
	CHECK_EQ(dw_source_device_ticks(clock, 500), 4000);
	CHECK_EQ(dw_source_device_ticks(clock, 750), 4500);
	CHECK_EQ(dw_source_device_ticks(clock, 1500), 7000);
	CHECK_EQ(dw_source_device_ticks(clock, 2000), 9000);
	CHECK_EQ(dw_source_device_ticks(clock, 2300), 10000); /* 5000 / 1500 beyond the last */
	CHECK_EQ(dw_source_device_ticks(clock, 250), 3500);
	made_close(&made);
}

TEST(one_pairing_uses_the_rate_that_it_names)
{
	struct made made;
	struct dw_encode_events events;
	uint32_t id;

	made_init(&made);
	id = dw_encode_device_clock(&made.process, 0, 1000, 5000, 250000000, 0);
	dw_encode_events_init(&events, &made.process, 0, id, false);
	dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_SET, .start_ticks = 1 });
	dw_encode_events_close(&events);
	REQUIRE(made_open(&made, NULL) == 0 && made.source->events_count == 1);
	CHECK_EQ(dw_source_device_ticks(&made.source->events[0].clock, 1100), 5400);
	CHECK_EQ(dw_source_device_ticks(&made.source->events[0].clock, 900), 4600);
	made_close(&made);
}

TEST(events_without_a_queue_or_a_device_have_placeholders)
{
	struct made made;
	struct dw_encode_events events;
	uint32_t orphan;

	made_init(&made);
	orphan = dw_encode_queue(&made.process, 0x00ffffff, 1, 1, NULL); /* of no device */
	dw_encode_events_init(&events, &made.process, 0, 0x00fffff0, false); /* of no clock */
	dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_KERNEL, .queue = orphan });
	dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_KERNEL,
		.queue = made.thread });
	dw_encode_events_close(&events);
	REQUIRE(made_open(&made, NULL) == 0);
	CHECK_EQ(made.source->device_count, 1);
	CHECK_EQ(made.source->queue_count, 2);
	CHECK_EQ(made.source->queues[made.source->files[0].queue_by_id[orphan]].device, 0);
	CHECK_EQ(made.source->queues[made.source->files[0].queue_by_id[made.thread]].id, 0);
	made_close(&made);
}

TEST(an_open_chunk_ends_at_the_first_event_that_was_not_written)
{
	struct made made;
	struct dw_encode_events events;

	made_init(&made);
	dw_encode_events_init(&events, &made.process, 0, 0, true);
	for (uint32_t i = 0; i < 5; i++)
		dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_SET, .queue = 1,
			.start_ticks = 100 - i * 10, .duration_ticks = 7 });
	REQUIRE(made_open(&made, NULL) == 0 && made.source->events_count == 1);
	CHECK_EQ(made.source->events[0].chunk.word_count, 5 * 12);
	CHECK_EQ(made.source->events[0].chunk.end_ticks, 107);
	made_close(&made);
}

TEST(chunks_with_a_size_that_makes_no_sense_are_left_out)
{
	static const uint32_t sizes[] = { 0, 8, 31, 33, 36, DW_BLOCK_BYTES, UINT32_MAX };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		struct made made;
		struct dw_encode_events events;

		made_init(&made);
		dw_encode_events_init(&events, &made.process, 0, 0, false);
		dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_SET, .queue = 1 });
		dw_encode_chunk(&made.encode, events.last_block)->record_bytes = sizes[i];
		CHECK_EQ(made_open(&made, NULL), 0);
		CHECK_EQ(made.source->events_count, 0);
		CHECK_EQ(made.source->repair_count, 1);
		made_close(&made);
	}
}

TEST(longer_records_of_a_later_version_are_read)
{
	struct made made;
	struct dw_encode_events events;
	struct dw_chunk *chunk;
	const struct dw_source_events *from;
	const struct dw_device_record *second;

	made_init(&made);
	dw_encode_events_init(&events, &made.process, 0, 0, false);
	events.record_bytes = DW_DEVICE_WIDE_BYTES;
	for (uint32_t i = 0; i < 4; i++)
		dw_encode_event(&events, &(struct dw_device_event_in){ .kind = DW_DEVICE_SET, .queue = 1,
			.start_ticks = 10 + i });
	dw_encode_events_close(&events);
	chunk = dw_encode_chunk(&made.encode, events.last_block);
	chunk->record_bytes = 2 * DW_DEVICE_WIDE_BYTES; /* as if each had as much again */
	REQUIRE(made_open(&made, NULL) == 0);
	second = event_at(&made, 1, &from);
	REQUIRE(second);
	CHECK_EQ(second->start_ticks, 12);
	CHECK(!event_at(&made, 2, &from));
	made_close(&made);
}
CHECK_MAIN
