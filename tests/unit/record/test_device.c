/* Events of devices: written to chunks of their own, recycled when the file is full, and counted. */
#include "check.h"

#include <string.h>
#include <sys/wait.h>

#include "dwell/probe_abi.h"
#include "session.h"

#define PER_CHUNK ((DW_BLOCK_BYTES - sizeof(struct dw_chunk)) / DW_DEVICE_WIDE_BYTES)

struct found {
	unsigned chunks, events;
	uint64_t first, last; /* start_ns of those that are found */
	uint32_t clock;
	unsigned devices, queues, clocks;
};

static void count_entries(const char *block, struct found *found)
{
	for (size_t at = sizeof(struct dw_chunk); at + sizeof(struct dw_entry) < DW_BLOCK_BYTES;) {
		struct dw_entry entry;

		memcpy(&entry, block + at, sizeof entry);
		if (!entry.bytes)
			break;
		found->devices += entry.tag == DW_ENTRY_TAG(DW_ENTRY_DEVICE);
		found->queues += entry.tag == DW_ENTRY_TAG(DW_ENTRY_QUEUE);
		found->clocks += entry.tag == DW_ENTRY_TAG(DW_ENTRY_DEVICE_CLOCK);
		at += entry.bytes;
	}
}

static void count_events(const char *block, struct found *found)
{
	const struct dw_chunk *chunk = (const void *)block;

	CHECK_EQ(chunk->record_bytes, DW_DEVICE_WIDE_BYTES);
	found->chunks++;
	found->clock = chunk->clock;
	for (size_t at = sizeof *chunk; at + DW_DEVICE_WIDE_BYTES <= DW_BLOCK_BYTES; at += DW_DEVICE_WIDE_BYTES) {
		struct dw_device_record_wide record;

		memcpy(&record, block + at, sizeof record);
		if (!record.record.what)
			break;
		if (!found->events++ || record.record.start_ticks < found->first)
			found->first = record.record.start_ticks;
		if (record.record.start_ticks > found->last)
			found->last = record.record.start_ticks;
	}
}

static struct found read_file(void)
{
	static _Alignas(64) char block[DW_BLOCK_BYTES];
	struct found found = { 0 };
	FILE *file = fopen(session_path, "rb");

	while (file && fread(block, sizeof block, 1, file) == 1) {
		const struct dw_chunk *chunk = (const void *)block;

		if (chunk->magic == DW_CHUNK_MAGIC && chunk->type == DW_CHUNK_JOURNAL)
			count_entries(block, &found);
		else if (chunk->magic == DW_CHUNK_MAGIC && chunk->type == DW_CHUNK_DEVICE && chunk->number)
			count_events(block, &found);
	}
	if (file)
		fclose(file);
	return found;
}

static void write_events(uint64_t first, unsigned count)
{
	uint32_t epoch = dwell_device_epoch(), clock = dwell_device_clock(0, 1, dwell_device_ticks(), 0);
	uint32_t device = dwell_intern_device(&(struct dwell_device){ .api = 1, .name = "one" });
	uint32_t queue = dwell_intern_queue(device, 7, 1, 0, false);

	CHECK(epoch && clock && device && queue);
	CHECK_EQ(dwell_intern_queue(device, 7, 1, 0, false), queue);
	for (unsigned i = 0; i < count; i++) {
		struct dwell_device_event event = { .start_ns = first + i, .length_ns = 5, .queue = queue,
			                                .kind = DWELL_DEVICE_SET, .value = 64 };

		dwell_device_events(epoch, clock, &event, 1);
	}
}

static uint64_t lost(enum dw_loss cause)
{
	return dw_session_head()->lost[cause];
}

TEST(events_fill_chunks_of_their_own)
{
	REQUIRE(session_begin(0));
	write_events(100, PER_CHUNK + 10);
	struct found found = read_file();
	CHECK_EQ(found.chunks, 2);
	CHECK_EQ(found.events, PER_CHUNK + 10);
	CHECK_EQ(found.first, 100);
	CHECK_EQ(found.last, 100 + PER_CHUNK + 9);
	CHECK(found.clock && found.devices && found.queues && found.clocks == 1);
	CHECK_EQ(lost(DW_LOSS_RECYCLED), 0);
	session_end();
}

TEST(a_full_file_keeps_the_newest)
{
	const unsigned count = 100 * PER_CHUNK;

	REQUIRE(session_begin((uint64_t)4 << 20));
	write_events(0, count);
	struct found found = read_file();
	CHECK(found.events < count);
	CHECK_EQ(found.last, count - 1);
	CHECK_EQ(found.events + lost(DW_LOSS_RECYCLED) + lost(DW_LOSS_FULL), count);
	session_end();
}

TEST(a_new_session_and_a_child_have_their_own_ids)
{
	REQUIRE(session_begin(0));
	uint32_t epoch = dwell_device_epoch();
	unsigned before = read_file().devices; /* names of the process's earlier sessions */
	write_events(0, 3);
	pid_t child = fork();
	if (child == 0) {
		uint32_t own = dwell_device_epoch();

		dwell_device_events(epoch, 0, &(struct dwell_device_event){ .kind = DWELL_DEVICE_SET }, 1);
		if (own && own != epoch)
			write_events(10, 2);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	struct found found = read_file();
	CHECK_EQ(found.events, 5);
	CHECK_EQ(found.devices, before + 2);
	CHECK_EQ(lost(DW_LOSS_STOPPED), 1);
	session_end();
	CHECK_EQ(dwell_device_epoch(), 0);
	REQUIRE(session_begin(0));
	CHECK(dwell_device_epoch() != epoch);
	write_events(0, 4);
	found = read_file();
	CHECK_EQ(found.events, 4);
	dwell_device_lost(7);
	CHECK_EQ(lost(DW_LOSS_DEVICE), 7);
	session_end();
}

TEST(threads_are_found_by_their_numbers)
{
	REQUIRE(session_begin(0));
	CHECK_EQ(dwell_thread_of((uint32_t)dw_gettid()), 0);
	DWELL_MARK("here");
	CHECK(dwell_thread_of((uint32_t)dw_gettid()) != 0);
	CHECK_EQ(dwell_thread_of(1), 0);
	session_end();
}

CHECK_MAIN
