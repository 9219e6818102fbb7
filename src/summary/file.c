/*
 * The file of a summary: 24 bytes, then a message of protocol buffers (doc/summary.md).
 *
 * Fields are written in the order of their numbers, and zeros are left out, so that equal summaries
 * are equal bytes. Reading checks all that other code relies on: order and range of spans, sums,
 * buckets, and the sizes of lists.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "summary/summary.h"

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
	RANK_IN_FLIGHT
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
enum { WHERE_COLLECTIVES = 1, WHERE_SILENT, WHERE_OPEN, WHERE_END };
enum { OPEN_NAME = 1, OPEN_COMMUNICATION, OPEN_NS };
enum { NAME_NAME = 1, NAME_COMMUNICATION, NAME_CALLS, NAME_SELF };

/* ---- the head ---------------------------------------------------------------------------------
 */

/* FNV-1a over words of 8 bytes. It finds damage; it is no protection from forgery. */
static uint64_t file_checksum(const unsigned char *bytes, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return hash;
}

static void file_put(unsigned char *to, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t file_get(const unsigned char *from, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

bool dw_summary_is(const void *bytes, size_t length)
{
	return length >= sizeof MAGIC - 1 && memcmp(bytes, MAGIC, sizeof MAGIC - 1) == 0;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void file_put_number(struct dw_proto *proto, uint32_t field, uint64_t value)
{
	if (value)
		dw_proto_u64(proto, field, value);
}

static void file_put_text(struct dw_proto *proto, uint32_t field, const char *text)
{
	if (*text)
		dw_proto_text(proto, field, text);
}

/* Pairs of index and value, for those that are not 0. */
static void file_put_pairs(struct dw_proto *proto, uint32_t field, const uint64_t *values,
                           size_t count)
{
	size_t at = 0;
	bool opened = false;

	for (size_t i = 0; i < count; i++) {
		if (!values[i])
			continue;
		if (!opened)
			at = dw_proto_open(proto, field);
		opened = true;
		dw_proto_varint(proto, i);
		dw_proto_varint(proto, values[i]);
	}
	if (opened)
		dw_proto_close(proto, at);
}

static void file_put_span(struct dw_proto *proto, const struct dw_summary_span *span)
{
	size_t at = dw_proto_open(proto, RANK_SPAN);

	dw_proto_varint(proto, span->index);
	dw_proto_varint(proto, span->steps);
	dw_proto_varint(proto, span->longest_ns);
	dw_proto_varint(proto, span->longest);
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		if (span->part_ns[p]) {
			dw_proto_varint(proto, p);
			dw_proto_varint(proto, span->part_ns[p]);
		}
	dw_proto_close(proto, at);
}

static void file_put_name(struct dw_proto *proto, const struct dw_summary_name *name)
{
	size_t at = dw_proto_open(proto, RANK_NAME);

	file_put_text(proto, NAME_NAME, name->name);
	file_put_number(proto, NAME_COMMUNICATION, name->communication);
	file_put_number(proto, NAME_CALLS, name->calls);
	file_put_number(proto, NAME_SELF, name->self_ns);
	dw_proto_close(proto, at);
}

static void file_put_where(struct dw_proto *proto, const struct dw_summary_rank *rank)
{
	size_t at = dw_proto_open(proto, RANK_WHERE), inner;

	file_put_number(proto, WHERE_COLLECTIVES, rank->communications);
	file_put_number(proto, WHERE_SILENT, rank->silent_ns);
	for (size_t i = 0; i < rank->open_count; i++) {
		inner = dw_proto_open(proto, WHERE_OPEN);
		file_put_text(proto, OPEN_NAME, rank->open[i].name);
		file_put_number(proto, OPEN_COMMUNICATION, rank->open[i].communication);
		file_put_number(proto, OPEN_NS, rank->open[i].ns);
		dw_proto_close(proto, inner);
	}
	file_put_number(proto, WHERE_END, rank->end_ns);
	dw_proto_close(proto, at);
}

/* Arrivals are near to each other in time and number, so differences take fewer bytes. The difference of
 * two times wraps around if the second is earlier. */
static void file_put_collective(struct dw_proto *proto, const struct dw_summary_collective *row)
{
	size_t at = dw_proto_open(proto, RANK_COLLECTIVE), inner;
	uint64_t sequence = 0, enter_ns = 0;

	file_put_text(proto, COLLECTIVE_GROUP, row->group);
	file_put_text(proto, COLLECTIVE_OPERATION, row->operation);
	file_put_number(proto, COLLECTIVE_COUNT, row->count);
	file_put_number(proto, COLLECTIVE_BYTES, row->bytes);
	file_put_number(proto, COLLECTIVE_FLIGHT, row->flight_ns);
	file_put_number(proto, COLLECTIVE_BLOCKED, row->blocked_ns);
	file_put_number(proto, COLLECTIVE_LAST, row->last_sequence);
	file_put_number(proto, COLLECTIVE_OPEN, row->open);
	if (row->arrival_count) {
		inner = dw_proto_open(proto, COLLECTIVE_ARRIVALS);
		for (size_t i = 0; i < row->arrival_count; i++) {
			dw_proto_varint(proto, row->arrivals[i].sequence - sequence);
			dw_proto_varint(proto, row->arrivals[i].enter_ns - enter_ns);
			dw_proto_varint(proto, row->arrivals[i].flight_ns);
			dw_proto_varint(proto, row->arrivals[i].blocked_ns);
			sequence = row->arrivals[i].sequence;
			enter_ns = row->arrivals[i].enter_ns;
		}
		dw_proto_close(proto, inner);
	}
	dw_proto_close(proto, at);
}

static void file_put_rank(struct dw_proto *proto, const struct dw_summary_rank *rank)
{
	size_t at = dw_proto_open(proto, SUMMARY_RANK);

	file_put_text(proto, RANK_JOB, rank->job);
	file_put_text(proto, RANK_HOST, rank->host);
	file_put_text(proto, RANK_COMMAND, rank->command);
	file_put_number(proto, RANK_RANK, (uint64_t)((int64_t)rank->rank + 1));
	file_put_number(proto, RANK_LOCAL_RANK, (uint64_t)((int64_t)rank->local_rank + 1));
	file_put_number(proto, RANK_WORLD_SIZE, (uint64_t)((int64_t)rank->world_size + 1));
	file_put_number(proto, RANK_PID, rank->pid);
	file_put_number(proto, RANK_START, rank->start_ns);
	file_put_number(proto, RANK_WALL, rank->wall_ns);
	file_put_number(proto, RANK_STEPS, rank->steps);
	file_put_number(proto, RANK_NS, rank->ns);
	file_put_number(proto, RANK_WARM_UP_STEPS, rank->warm_up_steps);
	file_put_number(proto, RANK_WARM_UP_NS, rank->warm_up_ns);
	file_put_number(proto, RANK_MISSING_STEPS, rank->missing_steps);
	file_put_number(proto, RANK_LAST_STEP, rank->last_step);
	file_put_number(proto, RANK_LAST_OPEN, rank->last_open);
	file_put_pairs(proto, RANK_DURATIONS, rank->durations, DW_SUMMARY_BUCKETS);
	file_put_number(proto, RANK_SPAN_LOG2, rank->span_log2);
	for (size_t i = 0; i < rank->span_count; i++)
		file_put_span(proto, &rank->spans[i]);
	file_put_number(proto, RANK_NAMED_STEPS, rank->named_steps);
	for (size_t i = 0; i < rank->name_count; i++)
		file_put_name(proto, &rank->names[i]);
	file_put_number(proto, RANK_OTHER, rank->other_ns);
	file_put_pairs(proto, RANK_LOST, rank->lost, DW_LOSS_SLOTS);
	if (rank->where_known)
		file_put_where(proto, rank);
	file_put_number(proto, RANK_MEMORY_PEAK, rank->memory_peak_bytes);
	for (size_t i = 0; i < rank->collective_count; i++)
		file_put_collective(proto, &rank->collectives[i]);
	file_put_number(proto, RANK_ARRIVAL_LOG2, rank->arrival_log2);
	file_put_number(proto, RANK_IN_FLIGHT, rank->in_flight_ns);
	dw_proto_close(proto, at);
}

void dw_summary_encode(const struct dw_summary *summary, struct dw_proto *proto)
{
	size_t head = proto->used;

	/* Items without a key: bytes of the head. */
	for (unsigned i = 0; i < HEAD_BYTES; i++)
		dw_proto_varint(proto, 0);
	for (size_t i = 0; i < summary->count; i++)
		file_put_rank(proto, &summary->ranks[i]);
	if (proto->failed)
		return;
	memcpy(proto->bytes + head, MAGIC, sizeof MAGIC - 1);
	file_put(proto->bytes + head + 8, DW_SUMMARY_VERSION, 4);
	file_put(proto->bytes + head + 16,
	         file_checksum(proto->bytes + head + HEAD_BYTES, proto->used - head - HEAD_BYTES), 8);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

struct reading {
	struct dw_summary *summary;
	const unsigned char *start;
	const char *path, *wrong; /* NULL: nothing is wrong */
	size_t at;                /* offset of what is wrong */
};

static bool file_read_fail(struct reading *reading, const unsigned char *at, const char *wrong)
{
	if (!reading->wrong) {
		reading->wrong = wrong;
		reading->at = (size_t)(at - reading->start);
	}
	return false;
}

static bool file_read_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
		uint64_t byte = *(*at)++;

		*value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/* Adds pairs of an index below `count` and a number. */
static bool file_read_pairs(struct reading *reading, const unsigned char *at,
                            const unsigned char *end, uint64_t *values, uint64_t count,
                            uint64_t *sum)
{
	while (at < end) {
		const unsigned char *place = at;
		uint64_t index, value;

		if (!file_read_varint(&at, end, &index) || !file_read_varint(&at, end, &value) ||
		    index >= count || __builtin_add_overflow(values[index], value, &values[index]) ||
		    __builtin_add_overflow(*sum, value, sum))
			return file_read_fail(reading, place, "a list of numbers is not valid");
	}
	return true;
}

static const char *file_read_text(struct reading *reading, const struct dw_proto_field *field)
{
	const char *text;

	if (field->length > 1024) {
		file_read_fail(reading, field->bytes, "a name is longer than 1,024 bytes");
		return "";
	}
	text = dw_arena_text(&reading->summary->arena, (const char *)field->bytes, field->length);
	reading->summary->failed |= !text;
	return text ? text : "";
}

static bool file_read_span(struct reading *reading, struct dw_summary_rank *rank, size_t most,
                           const struct dw_proto_field *field)
{
	const unsigned char *at = field->bytes, *end = at + field->length;
	struct dw_summary_span *span = &rank->spans[rank->span_count];

	if (rank->span_count == most)
		return file_read_fail(reading, field->bytes, "there are more spans than at first");
	if (!file_read_varint(&at, end, &span->index) || !file_read_varint(&at, end, &span->steps) ||
	    !file_read_varint(&at, end, &span->longest_ns) ||
	    !file_read_varint(&at, end, &span->longest) ||
	    !file_read_pairs(reading, at, end, span->part_ns, DW_PART_COUNT, &span->ns))
		return file_read_fail(reading, field->bytes, "a span is cut off");
	if (!span->steps || span->longest_ns > span->ns)
		return file_read_fail(reading, field->bytes,
		                      "a span has no steps or a step longer than itself");
	if (rank->span_count && span[-1].index >= span->index)
		return file_read_fail(reading, field->bytes, "spans are not in order");
	rank->span_count++;
	return true;
}

static bool file_read_name(struct reading *reading, struct dw_summary_rank *rank, size_t most,
                           const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_summary_name *name = &rank->names[rank->name_count];
	struct dw_proto_field field;

	if (rank->name_count == most)
		return file_read_fail(reading, from->bytes, "there are more names than at first");
	name->name = "";
	while (dw_proto_next(&reader, &field)) {
		if (field.field == NAME_NAME && field.wire == DW_PROTO_BYTES)
			name->name = file_read_text(reading, &field);
		else if (field.wire == DW_PROTO_VARINT && field.field == NAME_COMMUNICATION)
			name->communication = field.number;
		else if (field.wire == DW_PROTO_VARINT && field.field == NAME_CALLS)
			name->calls = field.number;
		else if (field.wire == DW_PROTO_VARINT && field.field == NAME_SELF)
			name->self_ns = field.number;
	}
	rank->name_count++;
	return !reader.bad || file_read_fail(reading, from->bytes, "a name's message is damaged");
}

static bool file_read_open(struct reading *reading, struct dw_summary_rank *rank,
                           const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_summary_open *open = &rank->open[rank->open_count];
	struct dw_proto_field field;

	if (rank->open_count == DW_SUMMARY_OPEN)
		return file_read_fail(reading, from->bytes, "a rank has too many open ranges");
	open->name = "";
	while (dw_proto_next(&reader, &field)) {
		if (field.field == OPEN_NAME && field.wire == DW_PROTO_BYTES)
			open->name = file_read_text(reading, &field);
		else if (field.field == OPEN_COMMUNICATION && field.wire == DW_PROTO_VARINT)
			open->communication = field.number;
		else if (field.field == OPEN_NS && field.wire == DW_PROTO_VARINT)
			open->ns = field.number;
	}
	rank->open_count++;
	return !reader.bad ||
	       file_read_fail(reading, from->bytes, "an open range's message is damaged");
}

static bool file_read_where(struct reading *reading, struct dw_summary_rank *rank,
                            const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;

	rank->where_known = true;
	if (!rank->open)
		rank->open = dw_arena_alloc(&reading->summary->arena, DW_SUMMARY_OPEN * sizeof *rank->open);
	reading->summary->failed |= !rank->open;
	while (rank->open && !reading->wrong && dw_proto_next(&reader, &field)) {
		if (field.field == WHERE_OPEN && field.wire == DW_PROTO_BYTES)
			file_read_open(reading, rank, &field);
		else if (field.field == WHERE_COLLECTIVES && field.wire == DW_PROTO_VARINT)
			rank->communications = field.number;
		else if (field.field == WHERE_SILENT && field.wire == DW_PROTO_VARINT)
			rank->silent_ns = field.number;
		else if (field.field == WHERE_END && field.wire == DW_PROTO_VARINT)
			rank->end_ns = field.number;
	}
	return !reader.bad || file_read_fail(reading, from->bytes, "a rank's last place is damaged");
}

static bool file_read_arrivals(struct reading *reading, struct dw_summary_collective *row,
                               const struct dw_proto_field *from)
{
	const unsigned char *at = from->bytes, *end = at + from->length;
	struct dw_summary_arrival arrival = { 0, 0, 0, 0 };

	row->arrivals = dw_arena_alloc(&reading->summary->arena, (from->length / 4 + 1) * sizeof *row->arrivals);
	reading->summary->failed |= !row->arrivals;
	while (row->arrivals && at < end) {
		const unsigned char *place = at;
		uint64_t sequence, enter;

		if (!file_read_varint(&at, end, &sequence) || !file_read_varint(&at, end, &enter) ||
		    !file_read_varint(&at, end, &arrival.flight_ns) ||
		    !file_read_varint(&at, end, &arrival.blocked_ns) || !sequence ||
		    __builtin_add_overflow(arrival.sequence, sequence, &arrival.sequence) ||
		    row->arrival_count == DW_SUMMARY_ARRIVALS)
			return file_read_fail(reading, place, "arrivals at a collective are not valid");
		arrival.enter_ns += enter;
		row->arrivals[row->arrival_count++] = arrival;
	}
	return !reading->summary->failed;
}

static bool file_read_collective(struct reading *reading, struct dw_summary_rank *rank,
                                 const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_summary_collective row = { .group = "", .operation = "" };
	struct dw_proto_field field;

	if (rank->collective_count == DW_SUMMARY_COLLECTIVES)
		return file_read_fail(reading, from->bytes, "a rank has too many kinds of collectives");
	if (!rank->collectives)
		rank->collectives = dw_arena_alloc(&reading->summary->arena,
		                                   DW_SUMMARY_COLLECTIVES * sizeof *rank->collectives);
	reading->summary->failed |= !rank->collectives;
	while (rank->collectives && !reading->wrong && dw_proto_next(&reader, &field)) {
		uint64_t *const numbers[] = { [COLLECTIVE_COUNT] = &row.count,
			                          [COLLECTIVE_BYTES] = &row.bytes,
			                          [COLLECTIVE_FLIGHT] = &row.flight_ns,
			                          [COLLECTIVE_BLOCKED] = &row.blocked_ns,
			                          [COLLECTIVE_LAST] = &row.last_sequence };

		if (field.wire == DW_PROTO_BYTES && field.field == COLLECTIVE_GROUP)
			row.group = file_read_text(reading, &field);
		else if (field.wire == DW_PROTO_BYTES && field.field == COLLECTIVE_OPERATION)
			row.operation = file_read_text(reading, &field);
		else if (field.wire == DW_PROTO_BYTES && field.field == COLLECTIVE_ARRIVALS && !row.arrivals)
			file_read_arrivals(reading, &row, &field);
		else if (field.wire == DW_PROTO_VARINT && field.field == COLLECTIVE_OPEN)
			row.open = field.number;
		else if (field.wire == DW_PROTO_VARINT && field.field >= COLLECTIVE_COUNT &&
		         field.field <= COLLECTIVE_LAST)
			*numbers[field.field] = field.number;
	}
	if (reader.bad)
		return file_read_fail(reading, from->bytes, "a collective's message is damaged");
	if (rank->collectives)
		rank->collectives[rank->collective_count++] = row;
	return !reading->wrong;
}

static void file_read_number(struct dw_summary_rank *rank, const struct dw_proto_field *field)
{
	uint64_t number = field->number;
	int32_t whole = number <= INT32_MAX ? (int32_t)number - 1 : -1;

	switch (field->field) {
	case RANK_RANK:
		rank->rank = whole;
		break;
	case RANK_LOCAL_RANK:
		rank->local_rank = whole;
		break;
	case RANK_WORLD_SIZE:
		rank->world_size = whole;
		break;
	case RANK_PID:
		rank->pid = (uint32_t)number;
		break;
	case RANK_START:
		rank->start_ns = number;
		break;
	case RANK_WALL:
		rank->wall_ns = number;
		break;
	case RANK_STEPS:
		rank->steps = number;
		break;
	case RANK_NS:
		rank->ns = number;
		break;
	case RANK_WARM_UP_STEPS:
		rank->warm_up_steps = number;
		break;
	case RANK_WARM_UP_NS:
		rank->warm_up_ns = number;
		break;
	case RANK_MISSING_STEPS:
		rank->missing_steps = number;
		break;
	case RANK_LAST_STEP:
		rank->last_step = number;
		break;
	case RANK_LAST_OPEN:
		rank->last_open = number;
		break;
	case RANK_SPAN_LOG2:
		rank->span_log2 = number < 64 ? (unsigned)number : 63;
		break;
	case RANK_NAMED_STEPS:
		rank->named_steps = number;
		break;
	case RANK_OTHER:
		rank->other_ns = number;
		break;
	case RANK_MEMORY_PEAK:
		rank->memory_peak_bytes = number;
		break;
	case RANK_ARRIVAL_LOG2:
		rank->arrival_log2 = number < 64 ? (unsigned)number : 63;
		break;
	case RANK_IN_FLIGHT:
		rank->in_flight_ns = number;
		break;
	default:
		break; /* of a newer version */
	}
}

/* Makes space for as many spans and names as the message has. */
static bool file_read_prepare(struct reading *reading, struct dw_summary_rank *rank,
                              const struct dw_proto_field *from, size_t *spans, size_t *names)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;

	*rank = (struct dw_summary_rank){
		.job = "", .host = "", .command = "", .rank = -1, .local_rank = -1, .world_size = -1
	};
	*spans = *names = 0;
	while (dw_proto_next(&reader, &field)) {
		*spans += field.field == RANK_SPAN && field.wire == DW_PROTO_BYTES;
		*names += field.field == RANK_NAME && field.wire == DW_PROTO_BYTES;
	}
	if (reader.bad)
		return file_read_fail(reading, from->bytes, "a rank's message is damaged");
	if (*spans > DW_SUMMARY_SPANS || *names > DW_SUMMARY_NAMES)
		return file_read_fail(reading, from->bytes, "a rank has too many spans or names");
	rank->spans = dw_arena_alloc(&reading->summary->arena, (*spans + 1) * sizeof *rank->spans);
	rank->names = dw_arena_alloc(&reading->summary->arena, (*names + 1) * sizeof *rank->names);
	reading->summary->failed |= !rank->spans || !rank->names;
	return !reading->summary->failed;
}

static bool file_read_list(struct reading *reading, struct dw_summary_rank *rank,
                           const struct dw_proto_field *field, size_t spans, size_t names)
{
	const unsigned char *end = field->bytes + field->length;
	uint64_t sum = 0;

	switch (field->field) {
	case RANK_JOB:
		rank->job = file_read_text(reading, field);
		return true;
	case RANK_HOST:
		rank->host = file_read_text(reading, field);
		return true;
	case RANK_COMMAND:
		rank->command = file_read_text(reading, field);
		return true;
	case RANK_DURATIONS:
		return file_read_pairs(reading, field->bytes, end, rank->durations, DW_SUMMARY_BUCKETS,
		                       &sum);
	case RANK_LOST:
		return file_read_pairs(reading, field->bytes, end, rank->lost, DW_LOSS_SLOTS, &sum);
	case RANK_WHERE:
		return file_read_where(reading, rank, field);
	case RANK_COLLECTIVE:
		return file_read_collective(reading, rank, field);
	case RANK_SPAN:
		return file_read_span(reading, rank, spans, field);
	case RANK_NAME:
		return file_read_name(reading, rank, names, field);
	default:
		return true;
	}
}

static bool file_read_rank(struct reading *reading, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;
	struct dw_summary_rank rank, *place;
	size_t spans, names;

	if (!file_read_prepare(reading, &rank, from, &spans, &names))
		return false;
	while (dw_proto_next(&reader, &field) && !reading->wrong) {
		if (field.wire == DW_PROTO_BYTES)
			file_read_list(reading, &rank, &field, spans, names);
		else if (field.wire == DW_PROTO_VARINT)
			file_read_number(&rank, &field);
	}
	place = reading->wrong ? NULL
	                       : DW_GROW(&reading->summary->ranks, &reading->summary->capacity,
	                                 reading->summary->count);
	if (place) {
		*place = rank;
		reading->summary->count++;
	}
	reading->summary->failed |= !reading->wrong && !place;
	return place != NULL;
}

static int file_read_head(const char *path, const unsigned char *bytes, size_t length,
                          struct dwell_error *error)
{
	uint64_t version;

	if (!dw_summary_is(bytes, length))
		return dw_error_set(error, DWELL_E_NOT_TRACE, "%s is not a summary of dwell", path);
	if (length < HEAD_BYTES)
		return dw_error_set(error, DWELL_E_CORRUPT, "%s: the summary is cut off at byte %zu", path,
		                    length);
	version = file_get(bytes + 8, 4);
	if (version > DW_SUMMARY_VERSION)
		return dw_error_set(
			error, DWELL_E_VERSION,
			"%s: the summary has version %llu; this dwell reads up to %u: update dwell", path,
			(unsigned long long)version, DW_SUMMARY_VERSION);
	if (file_get(bytes + 16, 8) != file_checksum(bytes + HEAD_BYTES, length - HEAD_BYTES))
		return dw_error_set(error, DWELL_E_CORRUPT,
		                    "%s: the summary is cut off or damaged: its checksum is wrong. Make it "
		                    "again with dwell summarize",
		                    path);
	return 0;
}

int dw_summary_decode(struct dw_summary *summary, const char *path, const void *bytes,
                      size_t length, struct dwell_error *error)
{
	struct reading reading = { summary, bytes, path, NULL, 0 };
	size_t before = summary->count;
	struct dw_proto_reader reader;
	struct dw_proto_field field;
	int code = file_read_head(path, bytes, length, error);

	if (code)
		return code;
	reader = dw_proto_read(reading.start + HEAD_BYTES, length - HEAD_BYTES);
	while (!reading.wrong && !summary->failed && dw_proto_next(&reader, &field))
		if (field.field == SUMMARY_RANK && field.wire == DW_PROTO_BYTES)
			file_read_rank(&reading, &field);
	if (reader.bad)
		file_read_fail(&reading, reader.at, "there is no field here");
	if (reading.wrong || summary->failed)
		summary->count = before;
	if (summary->failed)
		return dw_error_set(error, DWELL_E_NOMEM, "%s: no memory for the summary", path);
	if (reading.wrong)
		return dw_error_set(error, DWELL_E_CORRUPT, "%s: byte %zu: %s", path, reading.at,
		                    reading.wrong);
	return 0;
}
