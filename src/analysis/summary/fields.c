/* The tables of a summary's fields; see fields.h. */
#include "summary/fields.h"

#include "summary/summary.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define FIELD(number, kind, merge, type, member) \
	{ \
		number, DW_FIELD_##kind, DW_MERGE_##merge, offsetof(struct type, member), 0, 0, 0, NULL, NULL \
	}
#define ENUM(number, type, member, last) \
	{ \
		number, DW_FIELD_ENUM, DW_MERGE_NOT, offsetof(struct type, member), 0, 0, last, NULL, NULL \
	}
#define WITHIN(number, type, member, message) \
	{ \
		number, DW_FIELD_WITHIN, DW_MERGE_NOT, offsetof(struct type, member), 0, 0, 0, NULL, message \
	}
#define ARRAY(number, kind, type, member, counter, most, too_many, message) \
	{ \
		number, DW_FIELD_##kind, DW_MERGE_NOT, offsetof(struct type, member), offsetof(struct type, counter), \
			sizeof *((struct type *)0)->member, most, too_many, message \
	}

static const struct dw_summary_field name_fields[] = {
	FIELD(NAME_NAME, TEXT, NOT, dw_summary_name, name),
	FIELD(NAME_COMMUNICATION, BOOL, NOT, dw_summary_name, communication),
	FIELD(NAME_CALLS, U64, SUM, dw_summary_name, calls),
	FIELD(NAME_SELF, U64, SUM, dw_summary_name, self_ns),
};
const struct dw_summary_message dw_summary_name_message = { name_fields, COUNT(name_fields),
	                                                        "a name's message is damaged" };

static const struct dw_summary_field open_fields[] = {
	FIELD(OPEN_NAME, TEXT, NOT, dw_summary_open, name),
	FIELD(OPEN_COMMUNICATION, BOOL, NOT, dw_summary_open, communication),
	FIELD(OPEN_NS, U64, NOT, dw_summary_open, ns),
	ENUM(OPEN_PAUSE, dw_summary_open, pause, DW_PAUSE_CHECKPOINT),
};
static const struct dw_summary_message open_message = { open_fields, COUNT(open_fields),
	                                                    "an open range's message is damaged" };

static const struct dw_summary_field unrecorded_fields[] = {
	FIELD(UNRECORDED_ID, TEXT, NOT, dw_unrecorded, id),
	FIELD(UNRECORDED_FILE, CHARS, NOT, dw_unrecorded, file),
	FIELD(UNRECORDED_PARTLY, BOOL, NOT, dw_unrecorded, partly),
	FIELD(UNRECORDED_WHY, TEXT, NOT, dw_unrecorded, why),
};
const struct dw_summary_message dw_summary_unrecorded_message = {
	unrecorded_fields, COUNT(unrecorded_fields), "the message of a library that was not recorded is damaged"
};
_Static_assert(sizeof((struct dw_unrecorded *)0)->file == DW_FIELD_CHARS_SIZE, "the one member of kind CHARS");

static const struct dw_summary_field collective_fields[] = {
	FIELD(COLLECTIVE_GROUP, TEXT, NOT, dw_summary_collective, group),
	FIELD(COLLECTIVE_OPERATION, TEXT, NOT, dw_summary_collective, operation),
	FIELD(COLLECTIVE_COUNT, U64, SUM, dw_summary_collective, count),
	FIELD(COLLECTIVE_BYTES, U64, SUM, dw_summary_collective, bytes),
	FIELD(COLLECTIVE_FLIGHT, U64, SUM, dw_summary_collective, flight_ns),
	FIELD(COLLECTIVE_BLOCKED, U64, SUM, dw_summary_collective, blocked_ns),
	FIELD(COLLECTIVE_LAST, U64, NOT, dw_summary_collective, last_sequence),
	FIELD(COLLECTIVE_OPEN, BOOL, NOT, dw_summary_collective, open),
	ARRAY(COLLECTIVE_ARRIVALS, ARRIVALS, dw_summary_collective, arrivals, arrival_count, DW_SUMMARY_ARRIVALS, NULL,
	      NULL),
};
const struct dw_summary_message dw_summary_collective_message = { collective_fields, COUNT(collective_fields),
	                                                              "a collective's message is damaged" };

static const struct dw_summary_field where_fields[] = {
	FIELD(WHERE_COLLECTIVES, U64, NOT, dw_summary_rank, communications),
	FIELD(WHERE_SILENT, U64, NOT, dw_summary_rank, silent_ns),
	ARRAY(WHERE_OPEN, LIST, dw_summary_rank, open, open_count, DW_SUMMARY_OPEN, "a rank has too many open ranges",
	      &open_message),
	FIELD(WHERE_END, U64, NOT, dw_summary_rank, end_ns),
	FIELD(WHERE_FOLLOWED, BOOL, NOT, dw_summary_rank, followed),
};
static const struct dw_summary_message where_message = { where_fields, COUNT(where_fields),
	                                                     "a rank's last place is damaged" };

static const struct dw_summary_field rank_fields[] = {
	FIELD(RANK_JOB, TEXT, NOT, dw_summary_rank, job),
	FIELD(RANK_HOST, TEXT, NOT, dw_summary_rank, host),
	FIELD(RANK_COMMAND, TEXT, NOT, dw_summary_rank, command),
	FIELD(RANK_RANK, FROM_1, NOT, dw_summary_rank, rank),
	FIELD(RANK_LOCAL_RANK, FROM_1, NOT, dw_summary_rank, local_rank),
	FIELD(RANK_WORLD_SIZE, FROM_1, NOT, dw_summary_rank, world_size),
	FIELD(RANK_PID, U32, NOT, dw_summary_rank, pid),
	FIELD(RANK_START, U64, NOT, dw_summary_rank, start_ns),
	FIELD(RANK_WALL, U64, NOT, dw_summary_rank, wall_ns),
	FIELD(RANK_STEPS, U64, SUM, dw_summary_rank, steps),
	FIELD(RANK_NS, U64, SUM, dw_summary_rank, ns),
	FIELD(RANK_WARM_UP_STEPS, U64, SUM, dw_summary_rank, warm_up_steps),
	FIELD(RANK_WARM_UP_NS, U64, SUM, dw_summary_rank, warm_up_ns),
	FIELD(RANK_MISSING_STEPS, U64, SUM, dw_summary_rank, missing_steps),
	FIELD(RANK_LAST_STEP, U64, NOT, dw_summary_rank, last_step),
	FIELD(RANK_LAST_OPEN, BOOL, NOT, dw_summary_rank, last_open),
	ARRAY(RANK_DURATIONS, BUCKETS, dw_summary_rank, durations, duration_count, DW_SUMMARY_BUCKETS, NULL, NULL),
	FIELD(RANK_SPAN_LOG2, LOG2, NOT, dw_summary_rank, span_log2),
	ARRAY(RANK_SPAN, SPANS, dw_summary_rank, spans, span_count, DW_SUMMARY_SPANS, "a rank has too many spans", NULL),
	FIELD(RANK_NAMED_STEPS, U64, SUM, dw_summary_rank, named_steps),
	ARRAY(RANK_NAME, LIST, dw_summary_rank, names, name_count, DW_SUMMARY_NAMES, "a rank has too many names",
	      &dw_summary_name_message),
	FIELD(RANK_OTHER, U64, SUM, dw_summary_rank, other_ns),
	FIELD(RANK_LOST, LOST, NOT, dw_summary_rank, lost),
	WITHIN(RANK_WHERE, dw_summary_rank, where_known, &where_message),
	FIELD(RANK_MEMORY_PEAK, U64, MOST, dw_summary_rank, memory_peak_bytes),
	ARRAY(RANK_COLLECTIVE, LIST, dw_summary_rank, collectives, collective_count, DW_SUMMARY_COLLECTIVES,
	      "a rank has too many kinds of collectives", &dw_summary_collective_message),
	FIELD(RANK_ARRIVAL_LOG2, LOG2, NOT, dw_summary_rank, arrival_log2),
	FIELD(RANK_IN_FLIGHT, U64, SUM, dw_summary_rank, in_flight_ns),
	FIELD(RANK_LAYER_STEPS, U64, SUM, dw_summary_rank, layer_steps),
	ARRAY(RANK_LAYER, LIST, dw_summary_rank, layers, layer_count, DW_SUMMARY_LAYERS, "a rank has too many layers",
	      &dw_summary_name_message),
	FIELD(RANK_OTHER_LAYERS, U64, SUM, dw_summary_rank, other_layers_ns),
	FIELD(RANK_ALLOCATED, U64, SUM, dw_summary_rank, allocated_bytes),
	FIELD(RANK_INPUT, U64, SUM, dw_summary_rank, input_bytes),
	ARRAY(RANK_UNRECORDED, LIST, dw_summary_rank, unrecorded, unrecorded_count, DW_UNRECORDED_MOST, NULL,
	      &dw_summary_unrecorded_message),
	ARRAY(RANK_PLACE, LIST, dw_summary_rank, places, place_count, DW_SUMMARY_PLACES, "a rank has too many places",
	      &dw_summary_name_message),
	FIELD(RANK_RESIDENT, U64, NOT, dw_summary_rank, resident_bytes),
	FIELD(RANK_LEFT, U64, NOT, dw_summary_rank, left_bytes),
	FIELD(RANK_LOOP_END, U64, MOST, dw_summary_rank, loop_end_ns),
	FIELD(RANK_CPU, U64, NOT, dw_summary_rank, cpu_ns),
	FIELD(RANK_FAILED, U32, NOT, dw_summary_rank, failed),
	ENUM(RANK_WELL, dw_summary_rank, well, DW_WELL_LAUNCHER_FAILED),
	FIELD(RANK_ROUND, U64, NOT, dw_summary_rank, round_collectives),
	FIELD(RANK_FUNCTION_STEPS, U64, NOT, dw_summary_rank, function_steps),
	ARRAY(RANK_FUNCTION, LIST, dw_summary_rank, functions, function_count, DW_SUMMARY_FUNCTIONS, "a rank has too many functions",
	      &dw_summary_name_message),
	ARRAY(RANK_WAIT, LIST, dw_summary_rank, waits, wait_count, DW_SUMMARY_FUNCTIONS, "a rank has too many functions that wait",
	      &dw_summary_name_message),
	ARRAY(RANK_ALONE, SPANS, dw_summary_rank, alone, alone_count, DW_SUMMARY_ALONE, "a rank has too many steps alone", NULL),
};
const struct dw_summary_message dw_summary_rank_message = { rank_fields, COUNT(rank_fields),
	                                                        "a rank's message is damaged" };

uint64_t dw_field_number(const struct dw_summary_field *field, const void *of)
{
	const void *at = dw_field_at(field, of);

	switch (field->kind) {
	case DW_FIELD_U32:
	case DW_FIELD_ENUM:
	case DW_FIELD_LOG2:
		return *(const uint32_t *)at;
	case DW_FIELD_BOOL:
		return *(const bool *)at;
	case DW_FIELD_FROM_1:
		return (uint64_t)((int64_t) * (const int32_t *)at + 1);
	default:
		return *(const uint64_t *)at;
	}
}

void dw_field_set_number(const struct dw_summary_field *field, void *of, uint64_t number)
{
	void *at = dw_field_at(field, of);

	switch (field->kind) {
	case DW_FIELD_U32:
		*(uint32_t *)at = number <= UINT32_MAX ? (uint32_t)number : 0;
		break;
	case DW_FIELD_LOG2:
		*(unsigned *)at = number < 64 ? (unsigned)number : 63;
		break;
	case DW_FIELD_BOOL:
		*(bool *)at = number;
		break;
	case DW_FIELD_FROM_1:
		*(int32_t *)at = number <= INT32_MAX ? (int32_t)number - 1 : -1;
		break;
	case DW_FIELD_ENUM:
		*(unsigned *)at = number <= field->most ? (unsigned)number : 0;
		break;
	default:
		*(uint64_t *)at = number;
	}
}

void dw_summary_merge(const struct dw_summary_message *message, void *into, const void *earlier)
{
	for (size_t i = 0; i < message->count; i++) {
		const struct dw_summary_field *field = &message->fields[i];
		uint64_t a = dw_field_is_number(field) ? dw_field_number(field, into) : 0;
		uint64_t b = dw_field_is_number(field) ? dw_field_number(field, earlier) : 0;

		if (field->merge == DW_MERGE_SUM)
			dw_field_set_number(field, into, a + b);
		else if (field->merge == DW_MERGE_MOST && b > a)
			dw_field_set_number(field, into, b);
	}
}
