/*
 * Protocol buffers, the reading half; see proto.h.
 *
 * The bytes may have any value: a field is returned only if all of it is within them. Groups (wire
 * types 3 and 4) are refused, because no schema that dwell reads has them.
 */
#include "base/proto.h"

#include <string.h>

#define MOST_FIELD ((1u << 29) - 1)

struct dw_proto_reader dw_proto_read(const void *bytes, size_t length)
{
	const unsigned char *from = bytes;

	return (struct dw_proto_reader){ from, length ? from + length : from, false };
}

static bool proto_take_varint(struct dw_proto_reader *reader, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
		unsigned char byte = *reader->at++;

		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool proto_take_fixed(struct dw_proto_reader *reader, unsigned bytes, uint64_t *value)
{
	if ((size_t)(reader->end - reader->at) < bytes)
		return false;
	*value = 0;
	for (unsigned i = 0; i < bytes; i++)
		*value |= (uint64_t)reader->at[i] << i * 8;
	reader->at += bytes;
	return true;
}

static bool proto_take_value(struct dw_proto_reader *reader, struct dw_proto_field *field)
{
	switch (field->wire) {
	case DW_PROTO_VARINT:
		return proto_take_varint(reader, &field->number);
	case DW_PROTO_FIXED64:
		return proto_take_fixed(reader, 8, &field->number);
	case DW_PROTO_FIXED32:
		return proto_take_fixed(reader, 4, &field->number);
	case DW_PROTO_BYTES:
		if (!proto_take_varint(reader, &field->number) || field->number > (size_t)(reader->end - reader->at))
			return false;
		field->bytes = reader->at;
		field->length = (size_t)field->number;
		reader->at += field->length;
		return true;
	}
	return false;
}

bool dw_proto_next(struct dw_proto_reader *reader, struct dw_proto_field *field)
{
	uint64_t key;

	memset(field, 0, sizeof *field);
	if (reader->bad || reader->at == reader->end)
		return false;
	if (proto_take_varint(reader, &key) && key >> 3 && key >> 3 <= MOST_FIELD) {
		field->field = (uint32_t)(key >> 3);
		field->wire = (enum dw_proto_wire)(key & 7);
		if (proto_take_value(reader, field))
			return true;
	}
	reader->bad = true;
	return false;
}
