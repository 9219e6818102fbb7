/*
 * The buffer of an output; formatting of numbers and strings; see out.h.
 *
 * printf is used only for numbers that need more than six decimals, because it is slow.
 */
#include "export/out.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#define ROW(d) d "0" d "1" d "2" d "3" d "4" d "5" d "6" d "7" d "8" d "9"
const char dw_digit_pairs[200] =
	ROW("0") ROW("1") ROW("2") ROW("3") ROW("4") ROW("5") ROW("6") ROW("7") ROW("8") ROW("9");

void dw_out_init_memory(struct dw_writer_out *out)
{
	memset(out, 0, sizeof *out);
	out->memory = true;
	out->fd = -1;
}

void dw_out_reset(struct dw_writer_out *out)
{
	free(out->buffer);
	out->buffer = NULL;
	out->used = out->size = 0;
}

static void out_grow(struct dw_writer_out *out, size_t bytes)
{
	size_t size = out->size ? out->size : 256;
	char *grown;

	while (size - out->used < bytes) {
		if (size > SIZE_MAX / 2) {
			out->error = ENOMEM;
			return;
		}
		size *= 2;
	}
	grown = realloc(out->buffer, size);
	if (!grown) {
		out->error = ENOMEM;
		return;
	}
	out->buffer = grown;
	out->size = size;
}

void dw_out_make_space(struct dw_writer_out *out, size_t bytes)
{
	if (out->memory)
		out_grow(out, bytes);
	else
		dw_out_drain(out);
}

void dw_out_bytes(struct dw_writer_out *out, const char *bytes, size_t length)
{
	while (length) {
		size_t part = length < DW_OUT_MOST ? length : DW_OUT_MOST;
		char *to = dw_out_reserve(out, part);

		if (!to)
			return;
		dw_out_wrote(out, dw_copy(to, bytes, part));
		bytes += part;
		length -= part;
	}
}

void dw_out_text(struct dw_writer_out *out, const char *text)
{
	dw_out_bytes(out, text, strlen(text));
}

/* ---- numbers ------------------------------------------------------------------------ */

void dw_out_u64(struct dw_writer_out *out, uint64_t value)
{
	char *to = dw_out_reserve(out, DW_PUT_U64);

	if (to)
		dw_out_wrote(out, dw_put_u64(to, value));
}

void dw_out_us(struct dw_writer_out *out, uint64_t ns)
{
	char *to = dw_out_reserve(out, DW_PUT_US);

	if (to)
		dw_out_wrote(out, dw_put_us(to, ns));
}

void dw_out_i64(struct dw_writer_out *out, int64_t value)
{
	if (value < 0)
		dw_out_bytes(out, "-", 1);
	dw_out_u64(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void dw_out_big(struct dw_writer_out *out, uint64_t value)
{
	bool big = value > (uint64_t)1 << 53;

	dw_out_bytes(out, "\"", big);
	dw_out_u64(out, value);
	dw_out_bytes(out, "\"", big);
}

void dw_out_hex(struct dw_writer_out *out, uint64_t value)
{
	char text[24], *at = text + sizeof text;

	*--at = '"';
	do {
		*--at = "0123456789abcdef"[value & 15];
		value >>= 4;
	} while (value);
	at -= 3;
	memcpy(at, "\"0x", 3);
	dw_out_bytes(out, at, (size_t)(text + sizeof text - at));
}

/* Writes a value with up to six decimals, which covers most counters. Returns false if it has
 * more. */
static bool out_put_short(struct dw_writer_out *out, double magnitude, bool negative)
{
	char text[40], *end = text;
	uint64_t scaled, whole, rest;

	if (magnitude >= 1e9)
		return false;
	scaled = (uint64_t)(magnitude * 1e6 + 0.5);
	if ((double)scaled / 1e6 != magnitude)
		return false;
	whole = scaled / 1000000;
	rest = scaled % 1000000;
	if (negative)
		*end++ = '-';
	end = dw_put_u64(end, whole);
	if (rest) {
		/* a leading 1 keeps the zeros after the point */
		char *point = end;

		end = dw_put_u64(end, rest + 1000000);
		*point = '.';
		while (end[-1] == '0')
			end--;
	}
	dw_out_bytes(out, text, (size_t)(end - text));
	return true;
}

void dw_out_real(struct dw_writer_out *out, double value)
{
	char text[40];
	int length;

	if (!isfinite(value)) {
		dw_out_text(out, "null");
		return;
	}
	if (fabs(value) <= 9007199254740992.0 && value == (double)(int64_t)value) {
		dw_out_i64(out, (int64_t)value);
		return;
	}
	if (out_put_short(out, fabs(value), value < 0))
		return;
	length = snprintf(text, sizeof text, "%.17g", value);
	/* the program's locale may have another decimal point */
	for (int i = 0; i < length; i++)
		if (!strchr("0123456789+-e", text[i]))
			text[i] = '.';
	dw_out_bytes(out, text, (size_t)length);
}

/* ---- strings ------------------------------------------------------------------------ */

static void out_put_part(void *to, const char *bytes, size_t length)
{
	dw_out_bytes(to, bytes, length);
}

/* Returns the length of the ASCII text at the start that needs no escapes in JSON. */
static size_t out_plain_length(const char *text)
{
	const char *at = text;

	while ((unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f && *at != '"' && *at != '\\')
		at++;
	return (size_t)(at - text);
}

void dw_out_string(struct dw_writer_out *out, const char *text)
{
	size_t plain;

	if (!text) {
		dw_out_text(out, "null");
		return;
	}
	plain = out_plain_length(text);
	if (text[plain]) {
		dw_json_text(out_put_part, out, text);
		return;
	}
	dw_out_bytes(out, "\"", 1);
	dw_out_bytes(out, text, plain);
	dw_out_bytes(out, "\"", 1);
}

void dw_out_put(void *out, const char *bytes, size_t length)
{
	dw_out_bytes(out, bytes, length);
}
