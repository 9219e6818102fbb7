/*
 * The contents of a trace, for bench/run: the number of its records, of those that the recorder
 * wrote about itself, and the time of the recorder's slow paths.
 *
 *     bench_records TRACE
 */
#include <stdio.h>
#include <string.h>

#include "decode.h"

struct own_time {
	uint64_t begin, ticks, first, last;
};

static void see(void *context, const struct trace_record *record)
{
	struct own_time *own = context;

	if (!own->first || record->ticks < own->first)
		own->first = record->ticks;
	if (record->ticks > own->last)
		own->last = record->ticks;
	if (strncmp(record->name, "dwell: ", 7) != 0)
		return;
	if (record->kind == DW_BEGIN)
		own->begin = record->ticks;
	else if (record->kind == TRACE_END)
		own->ticks += record->ticks - own->begin;
}

int main(int count, char **arguments)
{
	static struct trace trace;
	struct own_time own = { 0, 0, 0, 0 };

	if (count != 2 || trace_open(&trace, arguments[1]) != 0)
		return 1;
	trace_walk(&trace, see, &own);
	double second = (double)trace.head->ticks_per_second;
	printf("records %llu\nown_ns %.0f\nspan_s %.6f\nlost %llu\nbad %llu\n",
	       (unsigned long long)trace.records, (double)own.ticks / second * 1e9,
	       (double)(own.last - own.first) / second, (unsigned long long)trace_lost_all(&trace),
	       (unsigned long long)trace.bad);
	return 0;
}
