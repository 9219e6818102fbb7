/*
 * Reads the file of a summary (doc/reference/summary.md). Reading checks all that other code relies on: order
 * and range of spans, sums, buckets, and the sizes of lists.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/grow.h"
#include "summary/fields.h"
#include "summary/summary.h"

static uint64_t read_word(const unsigned char *from, unsigned bytes)
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

struct reading {
	struct dw_summary *summary;
	const unsigned char *start;
	const char *path, *wrong; /* NULL: nothing is wrong */
	size_t at;                /* offset of what is wrong */
};

static bool read_fail(struct reading *reading, const unsigned char *at, const char *wrong)
{
	if (!reading->wrong) {
		reading->wrong = wrong;
		reading->at = (size_t)(at - reading->start);
	}
	return false;
}

static bool read_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
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
static bool read_pairs(struct reading *reading, const unsigned char *at, const unsigned char *end, uint64_t *values,
                       uint64_t count, uint64_t *sum)
{
	while (at < end) {
		const unsigned char *place = at;
		uint64_t index, value;

		if (!read_varint(&at, end, &index) || !read_varint(&at, end, &value) || index >= count ||
		    __builtin_add_overflow(values[index], value, &values[index]) || __builtin_add_overflow(*sum, value, sum))
			return read_fail(reading, place, "a list of numbers is not valid");
	}
	return true;
}

static bool read_durations(struct reading *reading, struct dw_summary_rank *rank, const struct dw_proto_field *from)
{
	const unsigned char *at = from->bytes, *end = at + from->length;
	uint64_t next = 0;

	if (rank->durations)
		return read_fail(reading, at, "a rank has two lists of durations");
	rank->durations = dw_arena_alloc(&reading->summary->arena, (from->length / 2 + 1) * sizeof *rank->durations);
	reading->summary->failed |= !rank->durations;
	while (rank->durations && at < end) {
		const unsigned char *place = at;
		uint64_t bucket, steps;

		if (!read_varint(&at, end, &bucket) || !read_varint(&at, end, &steps) || bucket < next ||
		    bucket >= DW_SUMMARY_BUCKETS || !steps)
			return read_fail(reading, place, "a list of durations is not valid");
		rank->durations[rank->duration_count++] = (struct dw_summary_bucket){ (uint32_t)bucket, steps };
		next = bucket + 1;
	}
	return rank->durations != NULL;
}

static const char *read_text(struct reading *reading, const struct dw_proto_field *field)
{
	if (field->length > 1024) {
		read_fail(reading, field->bytes, "a name is longer than 1,024 bytes");
		return "";
	}
	return dw_summary_text(reading->summary, (const char *)field->bytes, field->length);
}

static bool read_parts(struct reading *reading, const unsigned char *at, const unsigned char *end,
                       struct dw_summary_span *span)
{
	while (at < end) {
		const unsigned char *place = at;
		uint64_t part, ns, *to, *sum;

		if (!read_varint(&at, end, &part) || !read_varint(&at, end, &ns) ||
		    (part >= DW_PART_COUNT && part != SPAN_BETWEEN))
			return read_fail(reading, place, "the parts of a span are not valid");
		to = part == SPAN_BETWEEN ? &span->between_ns : &span->part_ns[part];
		sum = part == SPAN_BETWEEN ? to : &span->ns;
		if (__builtin_add_overflow(*to, ns, to) || (sum != to && __builtin_add_overflow(*sum, ns, sum)))
			return read_fail(reading, place, "the parts of a span are too long");
	}
	return true;
}

static bool read_span(struct reading *reading, struct dw_summary_rank *rank, size_t most,
                      const struct dw_proto_field *field)
{
	const unsigned char *at = field->bytes, *end = at + field->length;
	struct dw_summary_span *span = &rank->spans[rank->span_count];

	if (rank->span_count == most)
		return read_fail(reading, field->bytes, "there are more spans than at first");
	if (!read_varint(&at, end, &span->index) || !read_varint(&at, end, &span->steps) ||
	    !read_varint(&at, end, &span->longest_ns) || !read_varint(&at, end, &span->longest) ||
	    !read_parts(reading, at, end, span))
		return read_fail(reading, field->bytes, "a span is cut off");
	if (!span->steps || span->longest_ns > span->ns)
		return read_fail(reading, field->bytes, "a span has no steps or a step longer than itself");
	if (rank->span_count && span[-1].index >= span->index)
		return read_fail(reading, field->bytes, "spans are not in order");
	rank->span_count++;
	return true;
}

/* Appends a name to a list that has space for `most`. */
static bool read_name(struct reading *reading, struct dw_summary_name *names, size_t *count, size_t most,
                      const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_summary_name *name = &names[*count];
	struct dw_proto_field field;

	if (*count == most)
		return read_fail(reading, from->bytes, "there are more names than at first");
	name->name = "";
	while (dw_proto_next(&reader, &field)) {
		if (field.field == NAME_NAME && field.wire == DW_PROTO_BYTES)
			name->name = read_text(reading, &field);
		else if (field.wire == DW_PROTO_VARINT && field.field == NAME_COMMUNICATION)
			name->communication = field.number;
		else if (field.wire == DW_PROTO_VARINT && field.field == NAME_CALLS)
			name->calls = field.number;
		else if (field.wire == DW_PROTO_VARINT && field.field == NAME_SELF)
			name->self_ns = field.number;
	}
	++*count;
	return !reader.bad || read_fail(reading, from->bytes, "a name's message is damaged");
}

/* What a newer dwell records besides is left out. */
static bool read_unrecorded(struct reading *reading, struct dw_summary_rank *rank, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	const char *id = "", *file = "", *why = "";
	struct dw_proto_field field;
	struct dw_unrecorded what;
	bool partly = false;

	while (dw_proto_next(&reader, &field)) {
		if (field.wire == DW_PROTO_BYTES && field.field == UNRECORDED_ID)
			id = read_text(reading, &field);
		else if (field.wire == DW_PROTO_BYTES && field.field == UNRECORDED_FILE)
			file = read_text(reading, &field);
		else if (field.wire == DW_PROTO_BYTES && field.field == UNRECORDED_WHY)
			why = read_text(reading, &field);
		else if (field.wire == DW_PROTO_VARINT && field.field == UNRECORDED_PARTLY)
			partly = field.number;
	}
	if (reader.bad)
		return read_fail(reading, from->bytes, "the message of a library that was not recorded is damaged");
	if (!rank->unrecorded)
		rank->unrecorded = dw_arena_alloc(&reading->summary->arena, DW_UNRECORDED_MOST * sizeof *rank->unrecorded);
	reading->summary->failed |= !rank->unrecorded;
	if (!rank->unrecorded || rank->unrecorded_count == DW_UNRECORDED_MOST || !dw_unrecorded_of(id, &what))
		return true;
	what.why = why;
	what.partly = partly;
	snprintf(what.file, sizeof what.file, "%s", file);
	rank->unrecorded[rank->unrecorded_count++] = what;
	return true;
}

static bool read_open(struct reading *reading, struct dw_summary_rank *rank, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_summary_open *open = &rank->open[rank->open_count];
	struct dw_proto_field field;

	if (rank->open_count == DW_SUMMARY_OPEN)
		return read_fail(reading, from->bytes, "a rank has too many open ranges");
	open->name = "";
	while (dw_proto_next(&reader, &field)) {
		if (field.field == OPEN_NAME && field.wire == DW_PROTO_BYTES)
			open->name = read_text(reading, &field);
		else if (field.field == OPEN_COMMUNICATION && field.wire == DW_PROTO_VARINT)
			open->communication = field.number;
		else if (field.field == OPEN_NS && field.wire == DW_PROTO_VARINT)
			open->ns = field.number;
		else if (field.field == OPEN_PAUSE && field.wire == DW_PROTO_VARINT && field.number <= DW_PAUSE_CHECKPOINT)
			open->pause = (enum dw_summary_pause)field.number;
	}
	rank->open_count++;
	return !reader.bad || read_fail(reading, from->bytes, "an open range's message is damaged");
}

static bool read_where(struct reading *reading, struct dw_summary_rank *rank, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;

	rank->where_known = true;
	if (!rank->open)
		rank->open = dw_arena_alloc(&reading->summary->arena, DW_SUMMARY_OPEN * sizeof *rank->open);
	reading->summary->failed |= !rank->open;
	while (rank->open && !reading->wrong && dw_proto_next(&reader, &field)) {
		if (field.field == WHERE_OPEN && field.wire == DW_PROTO_BYTES)
			read_open(reading, rank, &field);
		else if (field.field == WHERE_COLLECTIVES && field.wire == DW_PROTO_VARINT)
			rank->communications = field.number;
		else if (field.field == WHERE_SILENT && field.wire == DW_PROTO_VARINT)
			rank->silent_ns = field.number;
		else if (field.field == WHERE_END && field.wire == DW_PROTO_VARINT)
			rank->end_ns = field.number;
		else if (field.field == WHERE_FOLLOWED && field.wire == DW_PROTO_VARINT)
			rank->followed = field.number;
	}
	return !reader.bad || read_fail(reading, from->bytes, "a rank's last place is damaged");
}

static bool read_arrivals(struct reading *reading, struct dw_summary_collective *row, const struct dw_proto_field *from)
{
	const unsigned char *at = from->bytes, *end = at + from->length;
	struct dw_summary_arrival arrival = { 0, 0, 0, 0 };

	row->arrivals = dw_arena_alloc(&reading->summary->arena, (from->length / 4 + 1) * sizeof *row->arrivals);
	reading->summary->failed |= !row->arrivals;
	while (row->arrivals && at < end) {
		const unsigned char *place = at;
		uint64_t sequence, enter;

		if (!read_varint(&at, end, &sequence) || !read_varint(&at, end, &enter) ||
		    !read_varint(&at, end, &arrival.flight_ns) || !read_varint(&at, end, &arrival.blocked_ns) || !sequence ||
		    __builtin_add_overflow(arrival.sequence, sequence, &arrival.sequence) ||
		    row->arrival_count == DW_SUMMARY_ARRIVALS)
			return read_fail(reading, place, "arrivals at a collective are not valid");
		arrival.enter_ns += enter;
		row->arrivals[row->arrival_count++] = arrival;
	}
	return !reading->summary->failed;
}

static bool read_collective(struct reading *reading, struct dw_summary_rank *rank, size_t most,
                            const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_summary_collective row = { .group = "", .operation = "" };
	struct dw_proto_field field;

	if (rank->collective_count == most)
		return read_fail(reading, from->bytes, "there are more collectives than at first");
	while (!reading->wrong && dw_proto_next(&reader, &field)) {
		uint64_t *const numbers[] = { [COLLECTIVE_COUNT] = &row.count,
			                          [COLLECTIVE_BYTES] = &row.bytes,
			                          [COLLECTIVE_FLIGHT] = &row.flight_ns,
			                          [COLLECTIVE_BLOCKED] = &row.blocked_ns,
			                          [COLLECTIVE_LAST] = &row.last_sequence };

		if (field.wire == DW_PROTO_BYTES && field.field == COLLECTIVE_GROUP)
			row.group = read_text(reading, &field);
		else if (field.wire == DW_PROTO_BYTES && field.field == COLLECTIVE_OPERATION)
			row.operation = read_text(reading, &field);
		else if (field.wire == DW_PROTO_BYTES && field.field == COLLECTIVE_ARRIVALS && !row.arrivals)
			read_arrivals(reading, &row, &field);
		else if (field.wire == DW_PROTO_VARINT && field.field == COLLECTIVE_OPEN)
			row.open = field.number;
		else if (field.wire == DW_PROTO_VARINT && field.field >= COLLECTIVE_COUNT && field.field <= COLLECTIVE_LAST)
			*numbers[field.field] = field.number;
	}
	if (reader.bad)
		return read_fail(reading, from->bytes, "a collective's message is damaged");
	rank->collectives[rank->collective_count++] = row;
	return !reading->wrong;
}

static void read_number(struct dw_summary_rank *rank, const struct dw_proto_field *field)
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
	case RANK_LAYER_STEPS:
		rank->layer_steps = number;
		break;
	case RANK_OTHER_LAYERS:
		rank->other_layers_ns = number;
		break;
	case RANK_ALLOCATED:
		rank->allocated_bytes = number;
		break;
	case RANK_INPUT:
		rank->input_bytes = number;
		break;
	case RANK_RESIDENT:
		rank->resident_bytes = number;
		break;
	case RANK_LEFT:
		rank->left_bytes = number;
		break;
	case RANK_LOOP_END:
		rank->loop_end_ns = number;
		break;
	case RANK_CPU:
		rank->cpu_ns = number;
		break;
	case RANK_FAILED:
		rank->failed = number <= UINT32_MAX ? (uint32_t)number : 0;
		break;
	case RANK_WELL:
		rank->well = number <= DW_WELL_LAUNCHER ? (enum dw_summary_well)number : DW_WELL_UNKNOWN;
		break;
	default:
		break; /* of a newer version */
	}
}

/* How many of each list a rank's message has. */
struct lengths {
	size_t spans, names, layers, collectives;
};

/* Makes space for as many spans, names, layers and collectives as the message has. */
static bool read_prepare(struct reading *reading, struct dw_summary_rank *rank, const struct dw_proto_field *from,
                         struct lengths *lengths)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;

	*rank = (struct dw_summary_rank){
		.job = "", .host = "", .command = "", .rank = -1, .local_rank = -1, .world_size = -1
	};
	*lengths = (struct lengths){ 0, 0, 0, 0 };
	while (dw_proto_next(&reader, &field)) {
		lengths->spans += field.field == RANK_SPAN && field.wire == DW_PROTO_BYTES;
		lengths->names += field.field == RANK_NAME && field.wire == DW_PROTO_BYTES;
		lengths->layers += field.field == RANK_LAYER && field.wire == DW_PROTO_BYTES;
		lengths->collectives += field.field == RANK_COLLECTIVE && field.wire == DW_PROTO_BYTES;
	}
	if (reader.bad)
		return read_fail(reading, from->bytes, "a rank's message is damaged");
	if (lengths->spans > DW_SUMMARY_SPANS || lengths->names > DW_SUMMARY_NAMES || lengths->layers > DW_SUMMARY_LAYERS ||
	    lengths->collectives > DW_SUMMARY_COLLECTIVES)
		return read_fail(reading, from->bytes, "a rank has too many spans, names, layers or kinds of collectives");
	rank->spans = dw_arena_alloc(&reading->summary->arena, (lengths->spans + 1) * sizeof *rank->spans);
	rank->names = dw_arena_alloc(&reading->summary->arena, (lengths->names + 1) * sizeof *rank->names);
	rank->places = dw_arena_alloc(&reading->summary->arena, DW_SUMMARY_PLACES * sizeof *rank->places);
	rank->layers = dw_arena_alloc(&reading->summary->arena, (lengths->layers + 1) * sizeof *rank->layers);
	rank->collectives =
		dw_arena_alloc(&reading->summary->arena, (lengths->collectives + 1) * sizeof *rank->collectives);
	reading->summary->failed |= !rank->spans || !rank->names || !rank->layers || !rank->places || !rank->collectives;
	return !reading->summary->failed;
}

static bool read_list(struct reading *reading, struct dw_summary_rank *rank, const struct dw_proto_field *field,
                      const struct lengths *lengths)
{
	const unsigned char *end = field->bytes + field->length;
	uint64_t sum = 0;

	switch (field->field) {
	case RANK_JOB:
		rank->job = read_text(reading, field);
		return true;
	case RANK_HOST:
		rank->host = read_text(reading, field);
		return true;
	case RANK_COMMAND:
		rank->command = read_text(reading, field);
		return true;
	case RANK_DURATIONS:
		return read_durations(reading, rank, field);
	case RANK_LOST:
		return read_pairs(reading, field->bytes, end, rank->lost, DW_LOSS_SLOTS, &sum);
	case RANK_WHERE:
		return read_where(reading, rank, field);
	case RANK_COLLECTIVE:
		return read_collective(reading, rank, lengths->collectives, field);
	case RANK_SPAN:
		return read_span(reading, rank, lengths->spans, field);
	case RANK_NAME:
		return read_name(reading, rank->names, &rank->name_count, lengths->names, field);
	case RANK_LAYER:
		return read_name(reading, rank->layers, &rank->layer_count, lengths->layers, field);
	case RANK_PLACE:
		return read_name(reading, rank->places, &rank->place_count, DW_SUMMARY_PLACES, field);
	case RANK_UNRECORDED:
		return read_unrecorded(reading, rank, field);
	default:
		return true;
	}
}

static bool read_rank(struct reading *reading, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;
	struct dw_summary *summary = reading->summary;
	struct dw_summary_rank rank;
	struct lengths lengths;

	if (!read_prepare(reading, &rank, from, &lengths))
		return false;
	while (dw_proto_next(&reader, &field) && !reading->wrong) {
		if (field.wire == DW_PROTO_BYTES)
			read_list(reading, &rank, &field, &lengths);
		else if (field.wire == DW_PROTO_VARINT)
			read_number(&rank, &field);
	}
	if (!reading->wrong && rank.span_count && rank.span_log2 &&
	    rank.spans[rank.span_count - 1].index >> (64 - rank.span_log2))
		read_fail(reading, from->bytes, "the number of a step is too large");
	if (!reading->wrong && DW_APPEND(&summary->ranks, &summary->capacity, &summary->count, rank))
		return true;
	summary->failed |= !reading->wrong;
	return false;
}

static int read_head(const char *path, const unsigned char *bytes, size_t length, struct dwell_error *error)
{
	uint64_t version;

	if (!dw_summary_is(bytes, length))
		return dw_error_set(error, DWELL_E_NOT_TRACE, "%s is not a summary of dwell", path);
	if (length < HEAD_BYTES)
		return dw_error_set(error, DWELL_E_CORRUPT, "%s: the summary is cut off at byte %zu", path, length);
	version = read_word(bytes + 8, 4);
	if (version > DW_SUMMARY_VERSION)
		return dw_error_set(error, DWELL_E_VERSION,
		                    "%s: the summary has version %llu; this dwell reads up to %u: update dwell", path,
		                    (unsigned long long)version, DW_SUMMARY_VERSION);
	if (read_word(bytes + 16, 8) != dw_summary_checksum(bytes + HEAD_BYTES, length - HEAD_BYTES))
		return dw_error_set(error, DWELL_E_CORRUPT,
		                    "%s: the summary is cut off or damaged: its checksum is wrong. Make it "
		                    "again with dwell summarize",
		                    path);
	return 0;
}

int dw_summary_decode(struct dw_summary *summary, const char *path, const void *bytes, size_t length,
                      struct dwell_error *error)
{
	struct reading reading = { summary, bytes, path, NULL, 0 };
	size_t before = summary->count;
	struct dw_proto_reader reader;
	struct dw_proto_field field;
	int code = read_head(path, bytes, length, error);

	if (code)
		return code;
	reader = dw_proto_read(reading.start + HEAD_BYTES, length - HEAD_BYTES);
	while (!reading.wrong && !summary->failed && dw_proto_next(&reader, &field))
		if (field.field == SUMMARY_RANK && field.wire == DW_PROTO_BYTES) {
			if (summary->count - before < DW_SUMMARY_RANKS)
				read_rank(&reading, &field);
			else
				read_fail(&reading, field.bytes, "there are too many ranks");
		}
	if (reader.bad)
		read_fail(&reading, reader.at, "there is no field here");
	if (reading.wrong || summary->failed)
		summary->count = before;
	if (summary->failed)
		return dw_error_set(error, DWELL_E_NOMEM, "%s: no memory for the summary", path);
	if (reading.wrong)
		return dw_error_set(error, DWELL_E_CORRUPT, "%s: byte %zu: %s", path, reading.at, reading.wrong);
	return 0;
}
