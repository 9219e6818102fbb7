/* What a range costs on this machine, measured; see cost.h. */
#include "record/cost.h"

#include <sys/mman.h>

#include "base/numbers.h"
#include "base/system/clock.h"

#include "record/record.h"

#define ROUNDS 5
#define ROUND_BYTES (DW_BLOCK_BYTES / 4)

/* The same inline code as in a probe, writing a quarter of a chunk into fresh memory. */
static double cost_inline_round(void)
{
	struct dwell_stream stream = { 0 }, *saved = dwell_this_stream;
	size_t ranges = 0;
	double start = (double)dw_clock_monotonic_ns();
	char *memory = mmap(NULL, ROUND_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return 0;
	stream.cursor = memory;
	stream.limit = stream.cursor + ROUND_BYTES - DW_CHUNK_TAIL_BYTES;
	stream.last_ticks = dwell_ticks();
	dwell_this_stream = &stream;
	for (; stream.limit - stream.cursor > 16; ranges++) {
		dwell_put_begin(1);
		dwell_put_end();
	}
	dwell_this_stream = saved;
	munmap(memory, ROUND_BYTES);
	return ((double)dw_clock_monotonic_ns() - start) / (double)ranges;
}

/* If reading the clock needs a call, the two calls take nearly all of the time. */
static double cost_clock_round(void)
{
	const int count = 500;
	uint64_t sum = 0;
	double start = (double)dw_clock_monotonic_ns();

	for (int i = 0; i < 2 * count; i++)
		sum += dw_clock_read(DW_CLOCK_MONOTONIC);
	__asm__ volatile("" : : "r"(sum)); /* keeps the compiler from removing the calls */
	return ((double)dw_clock_monotonic_ns() - start) / count + 15;
}

double dw_cost_range_ns(uint32_t clock_kind)
{
	double rounds[ROUNDS];

	for (int i = 0; i < ROUNDS; i++)
		rounds[i] = clock_kind == DW_CLOCK_MONOTONIC ? cost_clock_round() : cost_inline_round();
	dw_sort_numbers(rounds, ROUNDS);
	return rounds[ROUNDS / 2];
}
