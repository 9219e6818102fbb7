/*
 * The fields of a summary's file (doc/reference/summary.md).
 *
 * The tables of fields.c say of each: its number, its kind, where it is in the struct, and how an earlier summary's is
 * merged into a later one's. By them read.c reads, write.c writes, merge.c copies and continue.c merges.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
	RANK_WELL,
	RANK_ROUND,
	RANK_FUNCTION_STEPS,
	RANK_FUNCTION,
	RANK_WAIT,
	RANK_ALONE
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

enum dw_field_kind {
	DW_FIELD_TEXT,  /* const char *; of a new struct "" */
	DW_FIELD_CHARS, /* char[DW_FIELD_CHARS_SIZE] */
	DW_FIELD_U64,
	DW_FIELD_U32,
	DW_FIELD_BOOL,
	DW_FIELD_FROM_1,   /* int32_t from -1 on, which is also what a new struct has. The file has the number plus 1 */
	DW_FIELD_LOG2,     /* unsigned, at most 63 */
	DW_FIELD_ENUM,     /* an enum of which `most` is the last; a newer version's is 0 */
	DW_FIELD_WITHIN,   /* bool; a message whose fields are in the same struct, and which the file has if it is true */
	DW_FIELD_LIST,     /* an array of structs, each a message */
	DW_FIELD_SPANS,    /* this and the next three have a notation of their own. An array; each item is a field */
	DW_FIELD_BUCKETS,  /* an array; one field */
	DW_FIELD_ARRIVALS, /* the same */
	DW_FIELD_LOST,     /* uint64_t[DW_LOSS_SLOTS] */
};
#define DW_FIELD_CHARS_SIZE 64u

/* What becomes of an earlier summary's value. */
enum dw_field_merge {
	DW_MERGE_NOT,  /* the later summary's is kept, or continue.c merges it */
	DW_MERGE_SUM,  /* it is added */
	DW_MERGE_MOST, /* the larger one is kept */
};

struct dw_summary_field {
	uint32_t number;
	enum dw_field_kind kind;
	enum dw_field_merge merge;
	size_t offset;
	/* Of an array; `most` also of an enum. */
	size_t count_offset, item_bytes, most;
	const char *too_many;                     /* what a reader says of more than `most`; NULL: it leaves them out */
	const struct dw_summary_message *message; /* LIST, WITHIN */
};

struct dw_summary_message {
	const struct dw_summary_field *fields; /* in the order in which they are written */
	size_t count;
	const char *damaged; /* what a reader says of it */
};

extern const struct dw_summary_message dw_summary_rank_message, dw_summary_collective_message, dw_summary_name_message,
	dw_summary_unrecorded_message;

static inline bool dw_field_is_array(const struct dw_summary_field *field)
{
	return field->item_bytes > 0;
}

static inline bool dw_field_is_number(const struct dw_summary_field *field)
{
	return field->kind >= DW_FIELD_U64 && field->kind <= DW_FIELD_ENUM;
}

/* A member of the struct `of`. */
static inline void *dw_field_at(const struct dw_summary_field *field, const void *of)
{
	return (char *)(uintptr_t)of + field->offset;
}

/* An array and the number of its items. */
static inline char *dw_field_array(const struct dw_summary_field *field, const void *of)
{
	char *array;

	memcpy(&array, dw_field_at(field, of), sizeof array);
	return array;
}

static inline void dw_field_set_array(const struct dw_summary_field *field, void *of, const void *array)
{
	memcpy(dw_field_at(field, of), &array, sizeof array);
}

static inline size_t *dw_field_count(const struct dw_summary_field *field, const void *of)
{
	return (size_t *)(void *)((char *)(uintptr_t)of + field->count_offset);
}

/* A number as the file has it. */
uint64_t dw_field_number(const struct dw_summary_field *field, const void *of);
void dw_field_set_number(const struct dw_summary_field *field, void *of, uint64_t number);
/* Adds the sums of an earlier summary's struct to those of a later one's, and keeps the larger of what is a most. */
void dw_summary_merge(const struct dw_summary_message *message, void *into, const void *earlier);

/* FNV-1a. It finds damage; it is no protection from forgery. */
static inline uint64_t dw_summary_checksum(const unsigned char *bytes, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}
