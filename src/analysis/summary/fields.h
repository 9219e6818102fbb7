/* The fields of a summary's file (doc/reference/summary.md), for write.c and read.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MAGIC "dwellsum"
#define HEAD_BYTES 24u /* magic, u32 version, u32 zero, u64 checksum of the rest */

enum { SUMMARY_RANK = 1 };
enum {
	RANK_JOB = 1,
	RANK_HOST,
	RANK_COMMAND,
	RANK_RANK,
	RANK_LOCAL_RANK,
	RANK_WORLD_SIZE,
	RANK_PID,
	RANK_START,
	RANK_WALL,
	RANK_STEPS,
	RANK_NS,
	RANK_WARM_UP_STEPS,
	RANK_WARM_UP_NS,
	RANK_MISSING_STEPS,
	RANK_LAST_STEP,
	RANK_LAST_OPEN,
	RANK_DURATIONS,
	RANK_SPAN_LOG2,
	RANK_SPAN,
	RANK_NAMED_STEPS,
	RANK_NAME,
	RANK_OTHER,
	RANK_LOST,
	RANK_WHERE,
	RANK_MEMORY_PEAK,
	RANK_COLLECTIVE,
	RANK_ARRIVAL_LOG2,
	RANK_IN_FLIGHT,
	RANK_LAYER_STEPS,
	RANK_LAYER,
	RANK_OTHER_LAYERS,
	RANK_ALLOCATED,
	RANK_INPUT,
	RANK_UNRECORDED,
	RANK_PLACE,
	RANK_RESIDENT,
	RANK_LEFT,
	RANK_LOOP_END,
	RANK_CPU,
	RANK_FAILED,
	RANK_WELL
};
enum {
	COLLECTIVE_GROUP = 1,
	COLLECTIVE_OPERATION,
	COLLECTIVE_COUNT,
	COLLECTIVE_BYTES,
	COLLECTIVE_FLIGHT,
	COLLECTIVE_BLOCKED,
	COLLECTIVE_LAST,
	COLLECTIVE_OPEN,
	COLLECTIVE_ARRIVALS
};
/* In a span, in place of a part: the time between steps. */
#define SPAN_BETWEEN 31u
enum { WHERE_COLLECTIVES = 1, WHERE_SILENT, WHERE_OPEN, WHERE_END, WHERE_FOLLOWED };
enum { OPEN_NAME = 1, OPEN_COMMUNICATION, OPEN_NS, OPEN_PAUSE };
enum { UNRECORDED_ID = 1, UNRECORDED_FILE, UNRECORDED_PARTLY, UNRECORDED_WHY };
enum { NAME_NAME = 1, NAME_COMMUNICATION, NAME_CALLS, NAME_SELF };

/* FNV-1a. It finds damage; it is no protection from forgery. */
static inline uint64_t dw_summary_checksum(const unsigned char *bytes, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}
