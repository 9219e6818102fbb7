/*
 * Protocol buffers, the writing half; see proto.h.
 *
 * A message's length comes before it and is known only at its end. One byte is left for it, which
 * is enough up to 127. A longer message is moved, so that its length is encoded in the fewest
 * bytes, as every reader expects.
 */
#include "base/proto.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define MOST_VARINT 10u
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
