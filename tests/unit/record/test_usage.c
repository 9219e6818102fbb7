/* Readings of what a thread used: compared with a sleep and a loop, and how often they are made. */
#include "check.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "dwell/dwell.h"
#include "session.h"

#include "record/usage.c"

static uint64_t now_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Runs for this long on a CPU, by the thread's own account. */
static void compute(uint64_t ns)
{
	uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID);

	while (now_ns(CLOCK_THREAD_CPUTIME_ID) - from < ns)
		;
}

/* Reads the USAGE entries of the session's file: their sum, and their number. */
static unsigned read_usages(struct dw_entry_usage *sum)
{
	static char block[DW_BLOCK_BYTES];
	FILE *file = fopen(session_path, "rb");
	unsigned count = 0;

	*sum = (struct dw_entry_usage){ .delay_ns = 0 };
	if (!file)
		return 0;
	while (fread(block, sizeof block, 1, file) == 1) {
		const struct dw_chunk *chunk = (const struct dw_chunk *)(const void *)block;

		if (chunk->magic != DW_CHUNK_MAGIC || chunk->type != DW_CHUNK_JOURNAL)
			continue;
		for (size_t at = sizeof *chunk; at + sizeof(struct dw_entry) < sizeof block;) {
			struct dw_entry_usage entry;

			memcpy(&entry.entry, block + at, sizeof entry.entry);
			if (!entry.entry.bytes)
				break;
			if (entry.entry.tag == DW_ENTRY_TAG(DW_ENTRY_USAGE)) {
				memcpy(&entry, block + at, sizeof entry);
				sum->cpu_ns += entry.cpu_ns;
				sum->process_cpu_ns += entry.process_cpu_ns;
				sum->waits += entry.waits;
				sum->minor_faults += entry.minor_faults;
				count++;
			}
			at += entry.entry.bytes;
		}
	}
	fclose(file);
	return count;
}

TEST(steps_that_compute_and_sleep)
{
	struct dw_entry_usage sum;
	uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID), until;
	unsigned count;

	REQUIRE(session_begin(0));
	dwell_step_begin();
	for (int i = 0; i < 4; i++) {
		compute(60000000); /* so long that a reading is due even where a reading is slow */
		usleep(60000);
		dwell_step();
	}
	dwell_step_end();
	until = now_ns(CLOCK_THREAD_CPUTIME_ID);
	count = read_usages(&sum);
	session_end();
	CHECK_RANGE(count, 1, 5);
	CHECK_RANGE(sum.cpu_ns, (count < 4 ? count : 4) * 60000000ull, until - from);
	CHECK(sum.process_cpu_ns >= sum.cpu_ns * 9 / 10);
	CHECK(sum.waits >= (count < 4 ? count : 4));
}

TEST(short_steps_share_a_reading)
{
	uint64_t from = now_ns(CLOCK_MONOTONIC), readings;
	struct dw_entry_usage sum;
	unsigned count;

	REQUIRE(session_begin(0));
	for (int i = 0; i < 1000; i++) {
		dwell_step();
		compute(50000);
	}
	dwell_step_end();
	readings = (now_ns(CLOCK_MONOTONIC) - from) / (1000000000u / USAGE_PER_SECOND);
	count = read_usages(&sum);
	session_end();
	CHECK_RANGE(count, 1, readings + 1);
}

TEST(a_program_without_steps_reads_nothing)
{
	struct dw_entry_usage sum;

	REQUIRE(session_begin(0));
	compute(20000000);
	CHECK_EQ(read_usages(&sum), 0);
	session_end();
}

TEST(errno_is_preserved)
{
	REQUIRE(session_begin(0));
	for (int i = 0; i < 3; i++) {
		compute(11000000);
		errno = 77;
		dwell_step();
		CHECK_EQ(errno, 77);
	}
	session_end();
}

CHECK_MAIN
