/*
 * Protocol buffers: writes fields into a buffer that grows, and reads them from untrusted bytes.
 *
 * Used by the exports whose formats are protocol buffers and by the capture service. There is no
 * schema: the caller gives field numbers. A message within a message is opened, filled and closed:
 *
 *     at = dw_proto_open(&proto, 3);
 *     dw_proto_u64(&proto, 1, 42);
 *     dw_proto_close(&proto, at);
 *
 * After each message of the outermost level the bytes may be written out and the buffer emptied
 * (`used` = 0), because a message is the sequence of its fields. After `failed` (out of memory) all
 * fields are dropped. A zeroed structure is an empty buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dw_proto {
	unsigned char *bytes;
	size_t used, size;
	bool failed;
};

void dw_proto_reset(struct dw_proto *proto);

/* Without a key: an item of a packed list, which is opened and closed like a message. */
void dw_proto_varint(struct dw_proto *proto, uint64_t value);
void dw_proto_u64(struct dw_proto *proto, uint32_t field, uint64_t value);
void dw_proto_fixed64(struct dw_proto *proto, uint32_t field, uint64_t value);
void dw_proto_double(struct dw_proto *proto, uint32_t field, double value);
void dw_proto_bytes(struct dw_proto *proto, uint32_t field, const void *bytes, size_t length);
/* Writes valid UTF-8 for any `text`: other bytes become U+FFFD. */
void dw_proto_text(struct dw_proto *proto, uint32_t field, const char *text);

size_t dw_proto_open(struct dw_proto *proto, uint32_t field);
void dw_proto_close(struct dw_proto *proto, size_t at);
/* Writes a number of at most 10 bytes at `to`. Returns how many. */
size_t dw_proto_put_varint(unsigned char *to, uint64_t value);

/* ---- reading ------------------------------------------------------------------------ */

enum dw_proto_wire { DW_PROTO_VARINT = 0, DW_PROTO_FIXED64 = 1, DW_PROTO_BYTES = 2,
	                 DW_PROTO_FIXED32 = 5 };

struct dw_proto_field {
	uint32_t field;
	enum dw_proto_wire wire;
	uint64_t number;            /* the value, unless it is BYTES */
	const unsigned char *bytes; /* the value of BYTES, within the bytes that are read */
	size_t length;
};

struct dw_proto_reader {
	const unsigned char *at, *end;
	bool bad; /* reading stopped at bytes that are not a field */
};

struct dw_proto_reader dw_proto_read(const void *bytes, size_t length);
/* False at the end, and at bytes that are not a field. */
bool dw_proto_next(struct dw_proto_reader *reader, struct dw_proto_field *field);
