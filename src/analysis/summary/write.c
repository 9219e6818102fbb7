/*
 * Writes the file of a summary: 24 bytes, then a message of protocol buffers (doc/reference/summary.md).
 *
 * Fields are written in the order of the tables (fields.c), and zeros are left out, so that equal summaries are
 * equal bytes.
 */
#include <string.h>

#include "summary/fields.h"
#include "summary/summary.h"

static void write_word(unsigned char *to, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

/* Pairs of index and value, for those that are not 0. */
static void write_pairs(struct dw_proto *proto, uint32_t field, const uint64_t *values, size_t count)
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

static void write_durations(struct dw_proto *proto, const struct dw_summary_rank *rank)
{
	size_t at;

	if (!rank->duration_count)
		return;
	at = dw_proto_open(proto, RANK_DURATIONS);
	for (size_t i = 0; i < rank->duration_count; i++) {
		dw_proto_varint(proto, rank->durations[i].bucket);
		dw_proto_varint(proto, rank->durations[i].steps);
	}
	dw_proto_close(proto, at);
}

static void write_span(struct dw_proto *proto, uint32_t number, const struct dw_summary_span *span)
{
	size_t at = dw_proto_open(proto, number);

	dw_proto_varint(proto, span->index);
	dw_proto_varint(proto, span->steps);
	dw_proto_varint(proto, span->longest_ns);
	dw_proto_varint(proto, span->longest);
	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		if (span->part_ns[p]) {
			dw_proto_varint(proto, p);
			dw_proto_varint(proto, span->part_ns[p]);
		}
	if (span->between_ns) {
		dw_proto_varint(proto, SPAN_BETWEEN);
		dw_proto_varint(proto, span->between_ns);
	}
	dw_proto_close(proto, at);
}

/* Arrivals are near to each other in time and number, so differences take fewer bytes. The difference of
 * two times wraps around if the second is earlier. */
static void write_arrivals(struct dw_proto *proto, const struct dw_summary_collective *row)
{
	uint64_t sequence = 0, enter_ns = 0;
	size_t at;

	if (!row->arrival_count)
		return;
	at = dw_proto_open(proto, COLLECTIVE_ARRIVALS);
	for (size_t i = 0; i < row->arrival_count; i++) {
		dw_proto_varint(proto, row->arrivals[i].sequence - sequence);
		dw_proto_varint(proto, row->arrivals[i].enter_ns - enter_ns);
		dw_proto_varint(proto, row->arrivals[i].flight_ns);
		dw_proto_varint(proto, row->arrivals[i].blocked_ns);
		sequence = row->arrivals[i].sequence;
		enter_ns = row->arrivals[i].enter_ns;
	}
	dw_proto_close(proto, at);
}

static void write_message(struct dw_proto *proto, uint32_t number, const struct dw_summary_message *message,
                          const void *of);

static void write_text(struct dw_proto *proto, uint32_t number, const char *text)
{
	if (*text)
		dw_proto_text(proto, number, text);
}

/* A text, a number, or a message of its own. */
static void write_plain(struct dw_proto *proto, const struct dw_summary_field *field, const void *of)
{
	const void *at = dw_field_at(field, of);

	if (field->kind == DW_FIELD_TEXT)
		write_text(proto, field->number, *(const char *const *)at);
	else if (field->kind == DW_FIELD_CHARS)
		write_text(proto, field->number, at);
	else if (field->kind == DW_FIELD_WITHIN && *(const bool *)at)
		write_message(proto, field->number, field->message, of);
	else if (dw_field_is_number(field) && dw_field_number(field, of))
		dw_proto_u64(proto, field->number, dw_field_number(field, of));
}

static void write_field(struct dw_proto *proto, const struct dw_summary_field *field, const void *of)
{
	switch (field->kind) {
	case DW_FIELD_LIST:
		for (size_t i = 0; i < *dw_field_count(field, of); i++)
			write_message(proto, field->number, field->message, dw_field_array(field, of) + i * field->item_bytes);
		break;
	case DW_FIELD_SPANS:
		for (size_t i = 0; i < *dw_field_count(field, of); i++)
			write_span(proto, field->number, (const void *)(dw_field_array(field, of) + i * field->item_bytes));
		break;
	case DW_FIELD_BUCKETS:
		write_durations(proto, of);
		break;
	case DW_FIELD_ARRIVALS:
		write_arrivals(proto, of);
		break;
	case DW_FIELD_LOST:
		write_pairs(proto, field->number, dw_field_at(field, of), DW_LOSS_SLOTS);
		break;
	default:
		write_plain(proto, field, of);
	}
}

static void write_message(struct dw_proto *proto, uint32_t number, const struct dw_summary_message *message,
                          const void *of)
{
	size_t at = dw_proto_open(proto, number);

	for (size_t i = 0; i < message->count; i++)
		write_field(proto, &message->fields[i], of);
	dw_proto_close(proto, at);
}

void dw_summary_encode(const struct dw_summary *summary, struct dw_proto *proto)
{
	size_t head = proto->used;

	/* Items without a key: bytes of the head. */
	for (unsigned i = 0; i < HEAD_BYTES; i++)
		dw_proto_varint(proto, 0);
	for (size_t i = 0; i < summary->count; i++)
		write_message(proto, SUMMARY_RANK, &dw_summary_rank_message, &summary->ranks[i]);
	if (proto->failed)
		return;
	memcpy(proto->bytes + head, MAGIC, sizeof MAGIC - 1);
	write_word(proto->bytes + head + 8, DW_SUMMARY_VERSION, 4);
	write_word(proto->bytes + head + 16,
	           dw_summary_checksum(proto->bytes + head + HEAD_BYTES, proto->used - head - HEAD_BYTES), 8);
}
