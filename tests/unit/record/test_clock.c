/* The run's clock: CLOCK entries while recording goes on, and a counter that is reset. */
#include "check.h"

#include <time.h>

#include "session.h"

static int clock_entries(void)
{
	int found = 0;

	for (uint32_t w = 0; w < dw_process->window_count; w++) {
		const struct dw_window *window = &dw_process->windows[w];

		for (uint32_t b = 0; b < window->count; b++) {
			const char *block = window->base + (size_t)b * DW_BLOCK_BYTES;
			const struct dw_chunk *chunk = (const void *)block;

			if (chunk->magic != DW_CHUNK_MAGIC || chunk->type != DW_CHUNK_JOURNAL)
				continue;
			for (size_t at = sizeof *chunk; at + sizeof(struct dw_entry) <= DW_BLOCK_BYTES; at += 8)
				found += ((const struct dw_entry *)(const void *)(block + at))->tag ==
				         DW_ENTRY_TAG(DW_ENTRY_CLOCK);
		}
	}
	return found;
}

static void sleep_20_ms(void)
{
	nanosleep(&(struct timespec){ 0, 20000000 }, NULL);
}

/* Skipped where there is no counter: the clock is the kernel's then. */
static bool counter_begin(void)
{
	setenv("DWELL_CLOCK", "tsc", 1);
	if (!session_begin(0))
		return false;
	return DW_LOAD(dw_session.clock_kind) != DW_CLOCK_MONOTONIC;
}

TEST(each_window_has_a_pairing)
{
	if (!counter_begin()) {
		session_end();
		return;
	}
	for (int i = 0; i < 1500000; i++) { /* 18 MB: 5 windows */
		DWELL_ZONE("filler");
	}
	CHECK_RANGE(clock_entries(), 4, 8);
	session_end();
}

TEST(a_counter_that_is_reset_goes_on)
{
	uint64_t before, second, last;

	if (!counter_begin()) {
		session_end();
		return;
	}
	second = dw_session_map()->ticks_per_second;
	{ DWELL_ZONE("before"); }
	/* As if the counter had been an hour further when that was recorded. */
	dwell_this_stream->last_ticks += 3600 * second;
	last = dwell_this_stream->last_ticks;
	before = dw_now();
	CHECK(before < last);
	{ DWELL_ZONE("after"); }
	CHECK(dw_now() >= last);
	CHECK(dwell_this_stream->last_ticks - last < second);
	{
		DWELL_ZONE("20 ms");
		last = dwell_this_stream->last_ticks;
		sleep_20_ms();
	}
	CHECK_RANGE((double)(dwell_this_stream->last_ticks - last) / (double)second, 0.019, 5.0);
	session_end();
	/* The next session has the counter as it is. */
	REQUIRE(session_begin(0));
	CHECK(dw_session_inline());
	session_end();
}

CHECK_MAIN
