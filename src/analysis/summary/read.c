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

/* `spans` has space for one more. */
static bool read_span(struct reading *reading, struct dw_summary_span *spans, size_t *count, const struct dw_proto_field *field)
{
	const unsigned char *at = field->bytes, *end = at + field->length;
	struct dw_summary_span *span = &spans[*count];

	if (!read_varint(&at, end, &span->index) || !read_varint(&at, end, &span->steps) ||
	    !read_varint(&at, end, &span->longest_ns) || !read_varint(&at, end, &span->longest) ||
	    !read_parts(reading, at, end, span))
		return read_fail(reading, field->bytes, "a span is cut off");
	if (!span->steps || span->longest_ns > span->ns)
		return read_fail(reading, field->bytes, "a span has no steps or a step longer than itself");
	if (*count && span[-1].index >= span->index)
		return read_fail(reading, field->bytes, "spans are not in order");
	++*count;
	return true;
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

/* ---- messages ---------------------------------------------------------------------------------- */

static bool read_message(struct reading *reading, const struct dw_summary_message *message, void *to,
                         const struct dw_proto_field *from);
static bool read_fields(struct reading *reading, const struct dw_summary_message *message, void *to,
                        const struct dw_proto_field *from);

static void read_new(const struct dw_summary_message *message, void *to)
{
	for (size_t i = 0; i < message->count; i++) {
		const struct dw_summary_field *field = &message->fields[i];

		if (field->kind == DW_FIELD_TEXT)
			*(const char **)dw_field_at(field, to) = "";
		else if (field->kind == DW_FIELD_FROM_1)
			*(int32_t *)dw_field_at(field, to) = -1;
	}
}

static size_t read_count(const struct dw_proto_field *whole, uint32_t number)
{
	struct dw_proto_reader reader = dw_proto_read(whole->bytes, whole->length);
	struct dw_proto_field field;
	size_t count = 0;

	while (dw_proto_next(&reader, &field))
		count += field.field == number && field.wire == DW_PROTO_BYTES;
	return count;
}

/* The place of the next item of an array, in a message that has all of its items. NULL: it is left out, there is no
 * memory, or something is wrong. */
static void *read_item(struct reading *reading, const struct dw_summary_field *array, void *to,
                       const struct dw_proto_field *whole)
{
	size_t *count = dw_field_count(array, to);

	if (!dw_field_array(array, to)) {
		size_t items = read_count(whole, array->number), most = items < array->most ? items : array->most;

		if (items > array->most && array->too_many) {
			read_fail(reading, whole->bytes, array->too_many);
			return NULL;
		}
		dw_field_set_array(array, to, dw_arena_alloc(&reading->summary->arena, (most + 1) * array->item_bytes));
		reading->summary->failed |= !dw_field_array(array, to);
	}
	return dw_field_array(array, to) && *count < array->most ? dw_field_array(array, to) + *count * array->item_bytes
	                                                         : NULL;
}

/* Adds what this dwell knows of a library. False: it is of a newer one, and is left out. */
static bool read_library(struct dw_unrecorded *what)
{
	struct dw_unrecorded given = *what;

	if (!dw_unrecorded_of(given.id, what))
		return false;
	what->why = given.why;
	what->partly = given.partly;
	memcpy(what->file, given.file, sizeof what->file);
	return true;
}

static bool read_list(struct reading *reading, const struct dw_summary_field *list, void *to,
                      const struct dw_proto_field *field, const struct dw_proto_field *whole)
{
	void *item = read_item(reading, list, to, whole);

	if (!item)
		return !reading->wrong;
	memset(item, 0, list->item_bytes);
	if (!read_message(reading, list->message, item, field))
		return false;
	*dw_field_count(list, to) += list->message != &dw_summary_unrecorded_message || read_library(item);
	return true;
}

/* A field that is not a number. */
static bool read_bytes(struct reading *reading, const struct dw_summary_field *field, void *to,
                       const struct dw_proto_field *from, const struct dw_proto_field *whole)
{
	const unsigned char *end = from->bytes + from->length;
	void *at = dw_field_at(field, to);
	uint64_t sum = 0;

	switch (field->kind) {
	case DW_FIELD_TEXT:
		*(const char **)at = read_text(reading, from);
		return true;
	case DW_FIELD_CHARS:
		snprintf(at, DW_FIELD_CHARS_SIZE, "%s", read_text(reading, from));
		return true;
	case DW_FIELD_WITHIN:
		*(bool *)at = true;
		return read_fields(reading, field->message, to, from);
	case DW_FIELD_LIST:
		return read_list(reading, field, to, from, whole);
	case DW_FIELD_SPANS:
		return !read_item(reading, field, to, whole) ||
		       read_span(reading, (void *)dw_field_array(field, to), dw_field_count(field, to), from);
	case DW_FIELD_BUCKETS:
		return read_durations(reading, to, from);
	case DW_FIELD_ARRIVALS:
		return dw_field_array(field, to) || read_arrivals(reading, to, from);
	case DW_FIELD_LOST:
		return read_pairs(reading, from->bytes, end, at, DW_LOSS_SLOTS, &sum);
	default:
		return true;
	}
}

/* Fields that are not in the table are of a newer version. */
static bool read_fields(struct reading *reading, const struct dw_summary_message *message, void *to,
                        const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;

	while (!reading->wrong && !reading->summary->failed && dw_proto_next(&reader, &field)) {
		const struct dw_summary_field *known = NULL;

		for (size_t i = 0; i < message->count && !known; i++)
			known = message->fields[i].number == field.field ? &message->fields[i] : NULL;
		if (known && field.wire == DW_PROTO_VARINT && dw_field_is_number(known))
			dw_field_set_number(known, to, field.number);
		else if (known && field.wire == DW_PROTO_BYTES && !dw_field_is_number(known))
			read_bytes(reading, known, to, &field, from);
	}
	return reader.bad ? read_fail(reading, from->bytes, message->damaged) : !reading->wrong;
}

static bool read_message(struct reading *reading, const struct dw_summary_message *message, void *to,
                         const struct dw_proto_field *from)
{
	read_new(message, to);
	return read_fields(reading, message, to, from);
}

static bool read_rank(struct reading *reading, const struct dw_proto_field *from)
{
	struct dw_summary *summary = reading->summary;
	struct dw_summary_rank rank = { .span_count = 0 };

	if (!read_message(reading, &dw_summary_rank_message, &rank, from))
		return false;
	if (rank.span_count && rank.span_log2 && rank.spans[rank.span_count - 1].index >> (64 - rank.span_log2))
		return read_fail(reading, from->bytes, "the number of a step is too large");
	summary->failed |= !DW_APPEND(&summary->ranks, &summary->capacity, &summary->count, rank);
	return !summary->failed;
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
