/*
 * The open ranges of one thread whose events come in order of their start.
 *
 * In files of other tools a range is one event with a start and an end. In a stream of records the
 * end is a record of its own. So an importer keeps a list of open ranges, and before each event it
 * ends those that are due. Ranges should nest. A range that partly overlaps another one ends out of
 * order (END_OF). With many open ranges the search for the earliest end would take long: then such
 * a range is cut at the end of the range around it and counted.
 */
#pragma once

#include "format/encode.h"

struct dw_range {
	uint64_t end_ns, handle; /* handle: of an asynchronous range; 0: an ordinary range */
	uint32_t name;           /* of a range without an end; 0: none */
};

struct dw_ranges {
	struct dw_range *open;
	size_t count, capacity;
	bool overlapping;     /* some range ends after one around it */
	bool failed;          /* out of memory */
	size_t overlaps, cut; /* numbers of ranges, for the note on the file */
};

/* Frees the list. */
void dw_ranges_reset(struct dw_ranges *ranges);
/* Adds a range whose BEGIN was written. */
void dw_ranges_push(struct dw_ranges *ranges, uint64_t end_ns, uint64_t handle);
/* The same of a range whose end is an event of its own: dw_ranges_end(). `name`: any number; 0: it has none. */
void dw_ranges_push_open(struct dw_ranges *ranges, uint32_t name);
/* Writes the ends of the ranges that end at `ns` or before. */
void dw_ranges_close_until(struct dw_ranges *ranges, struct dw_encode_stream *stream, uint64_t ns);
/* Ends the innermost range without an end that has this name; with 0 the innermost one. False if there is none. */
bool dw_ranges_end(struct dw_ranges *ranges, struct dw_encode_stream *stream, uint64_t ns, uint32_t name);
/* Ends all ranges: those without an end at `ns`, the others at their own end. Returns the number of
 * ranges without an end. */
size_t dw_ranges_close(struct dw_ranges *ranges, struct dw_encode_stream *stream, uint64_t ns);
