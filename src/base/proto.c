/*
 * Protocol buffers; see proto.h.
 *
 * Writing: a message's length comes before it and is known only at its end. One byte is left for it, which
 * is enough up to 127. A longer message is moved, so that its length is encoded in the fewest
 * bytes, as every reader expects.
 *
 * Reading: the bytes may have any value, and a field is returned only if all of it is within them. Groups (wire
 * types 3 and 4) are refused, because no schema that dwell reads has them.
 */
#include "base/proto.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define MOST_VARINT 10u
#define MOST_FIELD ((1u << 29) - 1)
enum wire { VARINT = 0, FIXED64 = 1, DELIMITED = 2 };

void dw_proto_reset(struct dw_proto *proto)
{
	free(proto->bytes);
	memset(proto, 0, sizeof *proto);
}

/* A place for `bytes`, or NULL. */
static unsigned char *proto_reserve(struct dw_proto *proto, size_t bytes)
{
	size_t size = proto->size ? proto->size : 256;
	unsigned char *grown;

	if (proto->failed)
		return NULL;
	if (proto->size - proto->used >= bytes)
		return proto->bytes + proto->used;
	while (size - proto->used < bytes && size <= SIZE_MAX / 2)
		size *= 2;
	grown = size - proto->used < bytes ? NULL : realloc(proto->bytes, size);
	if (!grown) {
		proto->failed = true;
		return NULL;
	}
	proto->bytes = grown;
	proto->size = size;
	return grown + proto->used;
}

size_t dw_proto_put_varint(unsigned char *to, uint64_t value)
{
	size_t length = 0;

	for (; value >= 0x80; value >>= 7)
		to[length++] = (unsigned char)(value | 0x80);
	to[length++] = (unsigned char)value;
	return length;
}

void dw_proto_varint(struct dw_proto *proto, uint64_t value)
{
	unsigned char *to = proto_reserve(proto, MOST_VARINT);

	if (to)
		proto->used += dw_proto_put_varint(to, value);
}

static void proto_put_key(struct dw_proto *proto, uint32_t field, enum wire wire)
{
	dw_proto_varint(proto, (uint64_t)field << 3 | wire);
}

void dw_proto_u64(struct dw_proto *proto, uint32_t field, uint64_t value)
{
	proto_put_key(proto, field, VARINT);
	dw_proto_varint(proto, value);
}

void dw_proto_fixed64(struct dw_proto *proto, uint32_t field, uint64_t value)
{
	unsigned char *to;

	proto_put_key(proto, field, FIXED64);
	to = proto_reserve(proto, 8);
	if (!to)
		return;
	for (unsigned i = 0; i < 8; i++)
		to[i] = (unsigned char)(value >> i * 8);
	proto->used += 8;
}

void dw_proto_double(struct dw_proto *proto, uint32_t field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof bits);
	dw_proto_fixed64(proto, field, bits);
}

void dw_proto_bytes(struct dw_proto *proto, uint32_t field, const void *bytes, size_t length)
{
	unsigned char *to;

	proto_put_key(proto, field, DELIMITED);
	dw_proto_varint(proto, length);
	to = proto_reserve(proto, length);
	if (!to || !length)
		return;
	memcpy(to, bytes, length);
	proto->used += length;
}

void dw_proto_text(struct dw_proto *proto, uint32_t field, const char *text)
{
	size_t at = dw_proto_open(proto, field);

	while (*text) {
		unsigned char *to = proto_reserve(proto, 4);

		if (!to)
			return;
		if ((unsigned char)*text < 0x80) {
			*to = (unsigned char)*text++;
			proto->used++;
		} else {
			proto->used += dw_utf8_put((char *)to, dw_utf8_next(&text));
		}
	}
	dw_proto_close(proto, at);
}

size_t dw_proto_open(struct dw_proto *proto, uint32_t field)
{
	proto_put_key(proto, field, DELIMITED);
	if (proto_reserve(proto, 1))
		proto->used++;
	return proto->used;
}

void dw_proto_close(struct dw_proto *proto, size_t at)
{
	unsigned char length[MOST_VARINT];
	size_t bytes, inside = proto->used - at;

	if (proto->failed)
		return;
	bytes = dw_proto_put_varint(length, inside);
	if (!proto_reserve(proto, bytes))
		return;
	memmove(proto->bytes + at - 1 + bytes, proto->bytes + at, inside);
	memcpy(proto->bytes + at - 1, length, bytes);
	proto->used += bytes - 1;
}

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
