/* See glance.h. */
#include "watch/glance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "summary/fields.h"

struct glance_row {
	char group[100], operation[64];
	uint64_t last, open;
};

/* ---- from either source -------------------------------------------------------------------------------- */

static void glance_add_collective(struct dw_glance *glance, const struct glance_row *from)
{
	uint32_t name = dw_map_hash_bytes(0, from->group, strlen(from->group)) | 1;
	unsigned i = 0;

	if (!from->last)
		return;
	if (glance->collective_count < DW_GLANCE_COLLECTIVES) {
		struct dw_glance_collective *kept = &glance->collectives[glance->collective_count++];

		*kept = (struct dw_glance_collective){ name, from->last, "" };
		/* A message is sent by one operation and received by another. */
		if (!dw_summary_is_pair(from->group, NULL, NULL))
			snprintf(kept->operation, sizeof kept->operation, "%.31s", from->operation);
	}
	while (i < glance->group_count && glance->groups[i].name != name)
		i++;
	if (i == glance->group_count && i < DW_GLANCE_GROUPS)
		glance->groups[glance->group_count++] = (struct dw_glance_group){ name, 0 };
	if (i < glance->group_count && from->last > glance->groups[i].sequence)
		glance->groups[i].sequence = from->last;
	if (!from->open || (glance->wait_group && from->last >= glance->wait_number))
		return;
	glance->wait_group = name;
	glance->wait_number = from->last;
	glance->communication = true;
	snprintf(glance->where, sizeof glance->where, "in %s of group %s, number %llu", from->operation, from->group,
	         (unsigned long long)from->last);
}

/* Open ranges come from the outermost one inwards: the first communication counts, else the innermost range. */
static void glance_add_open(struct dw_glance *glance, const char *name, bool communication, enum dw_summary_pause pause,
                            uint64_t ns)
{
	if (glance->communication)
		return;
	glance->pause = pause > glance->pause ? pause : glance->pause;
	glance->communication = communication;
	glance->inside_ns = communication ? ns : 0;
	snprintf(glance->where, sizeof glance->where, "in %.190s", name);
}

static void glance_add_unrecorded(struct dw_glance *glance, const char *id)
{
	glance->spins |= strcmp(id, "mpi") == 0 || strcmp(id, "nccl") == 0 || strcmp(id, "cuda") == 0;
}

static void glance_add_bucket(struct dw_glance *glance, uint64_t bucket, uint64_t steps, uint64_t *until, uint64_t all)
{
	if (2 * *until < all && 2 * (*until + steps) >= all)
		glance->usual_ns = exp2(8.0 + ((double)bucket + 0.5) / 4);
	*until += steps;
}

void dw_glance_take(struct dw_glance *glance, const struct dw_summary_rank *rank)
{
	struct glance_row collective;
	uint64_t all = 0, until = 0;

	memset(glance, 0, offsetof(struct dw_glance, spans));
	snprintf(glance->job, sizeof glance->job, "%s", rank->job);
	snprintf(glance->host, sizeof glance->host, "%s", rank->host);
	glance->rank = rank->rank;
	glance->pid = rank->pid;
	glance->steps = rank->steps;
	glance->ns = rank->ns;
	glance->last_step = rank->last_step;
	glance->last_open = rank->last_open;
	glance->resident_bytes = rank->resident_bytes;
	glance->left_bytes = rank->left_bytes;
	glance->where_known = rank->where_known;
	glance->end_ns = rank->end_ns;
	glance->followed = rank->followed;
	glance->silent_ns = rank->silent_ns;
	for (size_t i = 0; i < rank->duration_count; i++)
		all += rank->durations[i].steps;
	for (size_t i = 0; i < rank->duration_count; i++)
		glance_add_bucket(glance, rank->durations[i].bucket, rank->durations[i].steps, &until, all);
	for (size_t i = 0; i < rank->open_count; i++)
		glance_add_open(glance, rank->open[i].name, rank->open[i].communication, rank->open[i].pause, rank->open[i].ns);
	for (size_t i = 0; i < rank->unrecorded_count; i++)
		glance_add_unrecorded(glance, rank->unrecorded[i].id);
	glance->cpu_ns = rank->cpu_ns;
	glance->failed = rank->failed;
	glance->well = rank->well;
	for (size_t i = 0; i < rank->collective_count; i++) {
		snprintf(collective.group, sizeof collective.group, "%s", rank->collectives[i].group);
		snprintf(collective.operation, sizeof collective.operation, "%s", rank->collectives[i].operation);
		collective.last = rank->collectives[i].last_sequence;
		collective.open = rank->collectives[i].open;
		glance_add_collective(glance, &collective);
	}
	glance->span_log2 = rank->span_log2;
	glance->made = rank->spans;
	glance->span_count = rank->span_count;
}

/* ---- from a file --------------------------------------------------------------------------------------- */

static bool glance_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
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

static void glance_text(char *to, size_t size, const struct dw_proto_field *field)
{
	size_t length = field->length < size ? field->length : size - 1;

	memcpy(to, field->bytes, length);
	to[length] = '\0';
}

static bool glance_read_durations(struct dw_glance *glance, const struct dw_proto_field *field)
{
	const unsigned char *end = field->bytes + field->length;
	uint64_t all = 0, until = 0, bucket, steps;

	for (const unsigned char *at = field->bytes; at < end; all += steps)
		if (!glance_varint(&at, end, &bucket) || !glance_varint(&at, end, &steps) || bucket >= DW_SUMMARY_BUCKETS)
			return false;
	for (const unsigned char *at = field->bytes; at < end;) {
		glance_varint(&at, end, &bucket);
		glance_varint(&at, end, &steps);
		glance_add_bucket(glance, bucket, steps, &until, all);
	}
	return true;
}

static bool glance_read_open(struct dw_glance *glance, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;
	char name[200] = "";
	bool communication = false;
	uint64_t ns = 0, pause = 0;

	while (dw_proto_next(&reader, &field))
		if (field.field == OPEN_NAME && field.wire == DW_PROTO_BYTES)
			glance_text(name, sizeof name, &field);
		else if (field.field == OPEN_COMMUNICATION && field.wire == DW_PROTO_VARINT)
			communication = field.number;
		else if (field.field == OPEN_NS && field.wire == DW_PROTO_VARINT)
			ns = field.number;
		else if (field.field == OPEN_PAUSE && field.wire == DW_PROTO_VARINT && field.number <= DW_PAUSE_CHECKPOINT)
			pause = field.number;
	glance_add_open(glance, name, communication, (enum dw_summary_pause)pause, ns);
	return !reader.bad;
}

static bool glance_read_where(struct dw_glance *glance, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;
	bool good = true;

	glance->where_known = true;
	while (dw_proto_next(&reader, &field))
		if (field.field == WHERE_OPEN && field.wire == DW_PROTO_BYTES)
			good &= glance_read_open(glance, &field);
		else if (field.field == WHERE_SILENT && field.wire == DW_PROTO_VARINT)
			glance->silent_ns = field.number;
		else if (field.field == WHERE_END && field.wire == DW_PROTO_VARINT)
			glance->end_ns = field.number;
		else if (field.field == WHERE_FOLLOWED && field.wire == DW_PROTO_VARINT)
			glance->followed = field.number;
	return good && !reader.bad;
}

static bool glance_read_collective(struct dw_glance *glance, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct glance_row collective = { "", "", 0, 0 };
	struct dw_proto_field field;

	while (dw_proto_next(&reader, &field))
		if (field.field == COLLECTIVE_GROUP && field.wire == DW_PROTO_BYTES)
			glance_text(collective.group, sizeof collective.group, &field);
		else if (field.field == COLLECTIVE_OPERATION && field.wire == DW_PROTO_BYTES)
			glance_text(collective.operation, sizeof collective.operation, &field);
		else if (field.field == COLLECTIVE_LAST && field.wire == DW_PROTO_VARINT)
			collective.last = field.number;
		else if (field.field == COLLECTIVE_OPEN && field.wire == DW_PROTO_VARINT)
			collective.open = field.number;
	glance_add_collective(glance, &collective);
	return !reader.bad;
}

static bool glance_read_unrecorded(struct dw_glance *glance, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;
	char id[16] = "";

	while (dw_proto_next(&reader, &field))
		if (field.field == UNRECORDED_ID && field.wire == DW_PROTO_BYTES)
			glance_text(id, sizeof id, &field);
	glance_add_unrecorded(glance, id);
	return !reader.bad;
}

static bool glance_read_bytes(struct dw_glance *glance, const struct dw_proto_field *field)
{
	switch (field->field) {
	case RANK_JOB:
		glance_text(glance->job, sizeof glance->job, field);
		return true;
	case RANK_HOST:
		glance_text(glance->host, sizeof glance->host, field);
		return true;
	case RANK_DURATIONS:
		return glance_read_durations(glance, field);
	case RANK_WHERE:
		return glance_read_where(glance, field);
	case RANK_UNRECORDED:
		return glance_read_unrecorded(glance, field);
	case RANK_COLLECTIVE:
		return glance_read_collective(glance, field);
	case RANK_SPAN:
		if (glance->span_count == DW_SUMMARY_SPANS)
			return false;
		glance->spans[glance->span_count].bytes = field->bytes;
		glance->spans[glance->span_count++].length = field->length;
		return true;
	default:
		return true;
	}
}

static void glance_read_number(struct dw_glance *glance, const struct dw_proto_field *field)
{
	switch (field->field) {
	case RANK_RANK:
		glance->rank = field->number <= INT32_MAX ? (int32_t)field->number - 1 : -1;
		break;
	case RANK_PID:
		glance->pid = (uint32_t)field->number;
		break;
	case RANK_STEPS:
		glance->steps = field->number;
		break;
	case RANK_NS:
		glance->ns = field->number;
		break;
	case RANK_LAST_STEP:
		glance->last_step = field->number;
		break;
	case RANK_LAST_OPEN:
		glance->last_open = field->number;
		break;
	case RANK_SPAN_LOG2:
		glance->span_log2 = field->number < 64 ? (unsigned)field->number : 63;
		break;
	case RANK_RESIDENT:
		glance->resident_bytes = field->number;
		break;
	case RANK_CPU:
		glance->cpu_ns = field->number;
		break;
	case RANK_FAILED:
		glance->failed = field->number <= UINT32_MAX ? (uint32_t)field->number : 0;
		break;
	case RANK_WELL:
		glance->well = field->number <= DW_WELL_LAUNCHER_FAILED ? (enum dw_summary_well)field->number : DW_WELL_UNKNOWN;
		break;
	case RANK_LEFT:
		glance->left_bytes = field->number;
		break;
	default:
		break;
	}
}

/* Takes spans and skips names, up to another field: a rank has a thousand of them, and dw_proto_next() takes longer.
 * What is not as here (two bytes of the key, one of the length) is left to it. */
static void glance_read_spans(struct dw_glance *glance, struct dw_proto_reader *reader)
{
	enum { SPAN_KEY = (RANK_SPAN << 3 | DW_PROTO_BYTES) & 0x7f, NAME_KEY = (RANK_NAME << 3 | DW_PROTO_BYTES) & 0x7f };

	while (reader->end - reader->at > 3 && reader->at[1] == 1 && reader->at[2] < 0x80 &&
	       reader->at[2] <= reader->end - reader->at - 3) {
		bool span = reader->at[0] == (SPAN_KEY | 0x80);

		if ((!span && reader->at[0] != (NAME_KEY | 0x80)) || glance->span_count == DW_SUMMARY_SPANS)
			return;
		if (span) {
			glance->spans[glance->span_count].bytes = reader->at + 3;
			glance->spans[glance->span_count++].length = reader->at[2];
		}
		reader->at += 3 + reader->at[2];
	}
}

static bool glance_read_rank(struct dw_glance *glance, const struct dw_proto_field *from)
{
	struct dw_proto_reader reader = dw_proto_read(from->bytes, from->length);
	struct dw_proto_field field;

	memset(glance, 0, offsetof(struct dw_glance, spans));
	glance->span_count = 0;
	glance->rank = -1;
	for (;;) {
		glance_read_spans(glance, &reader);
		if (!dw_proto_next(&reader, &field))
			return !reader.bad;
		if (field.wire == DW_PROTO_VARINT)
			glance_read_number(glance, &field);
		else if (field.wire == DW_PROTO_BYTES && !glance_read_bytes(glance, &field))
			return false;
	}
}

bool dw_glance_read(struct dw_glance *glance, const unsigned char *bytes, size_t length,
                    void (*found)(void *context, const struct dw_glance *glance), void *context)
{
	struct dw_proto_reader reader;
	struct dw_proto_field field;

	if (length < HEAD_BYTES || !dw_summary_is(bytes, length) || bytes[8] > DW_SUMMARY_VERSION || bytes[9] ||
	    bytes[10] || bytes[11])
		return false;
	reader = dw_proto_read(bytes + HEAD_BYTES, length - HEAD_BYTES);
	while (dw_proto_next(&reader, &field))
		if (field.field == SUMMARY_RANK && field.wire == DW_PROTO_BYTES) {
			if (!glance_read_rank(glance, &field))
				return false;
			found(context, glance);
		}
	return !reader.bad;
}

/* ---- work ---------------------------------------------------------------------------------------------- */

/* What a span has, and its index. A message that is not valid has nothing. */
static struct dw_glance_sum glance_span(const struct dw_glance *glance, size_t i, uint64_t *index)
{
	const unsigned char *at = glance->spans[i].bytes, *end = at + glance->spans[i].length;
	struct dw_glance_sum sum = { 0 };
	uint64_t skipped, part, ns;

	*index = 0;
	if (glance->made) {
		const struct dw_summary_span *span = &glance->made[i];

		*index = span->index;
		return (struct dw_glance_sum){ span->steps, span->ns,
			                           span->ns - span->part_ns[DW_PART_COMMUNICATION] + span->between_ns };
	}
	if (!glance_varint(&at, end, index) || !glance_varint(&at, end, &sum.steps) || !glance_varint(&at, end, &skipped) ||
	    !glance_varint(&at, end, &skipped))
		return (struct dw_glance_sum){ 0 };
	while (at < end && glance_varint(&at, end, &part) && glance_varint(&at, end, &ns)) {
		sum.ns += part < DW_PART_COUNT ? ns : 0; /* and not the time between steps */
		sum.work_ns += part == DW_PART_COMMUNICATION ? 0 : ns;
	}
	return sum;
}

struct dw_glance_sum dw_glance_sum(const struct dw_glance *glance, uint64_t from, uint64_t *newest,
                                   struct dw_glance_sum *of_newest)
{
	struct dw_glance_sum sum = { 0 };
	uint64_t index;

	*newest = 0;
	*of_newest = sum;
	for (size_t i = glance->span_count; i--;) {
		struct dw_glance_sum one = glance_span(glance, i, &index);

		if (i + 1 == glance->span_count) {
			*newest = index;
			*of_newest = one;
		}
		if (index < from)
			break;
		sum.steps += one.steps;
		sum.ns += one.ns;
		sum.work_ns += one.work_ns;
	}
	return sum;
}
