/*
 * Output of an export: bytes to a file, and numbers and strings in the syntax of JSON.
 *
 * Called by the formats. All output goes through one buffer. Code that runs for every event
 * reserves space once per event with dw_out_reserve() and fills it with the dw_put_*() functions,
 * which are inline and call nothing. Errors are sticky: after the first error all output is
 * dropped, and dw_out_close() reports the error.
 *
 * A file is written under a temporary name in the same folder and renamed when it is complete. An
 * output that is not a regular file (a pipe, /dev/null) is written in place. An output in memory
 * (dw_out_init_memory) grows, and fails only if out of memory.
 */
#pragma once

#include <string.h>

#include "dwell/dwell.h"

#define DW_OUT_BYTES (256u << 10)
#define DW_OUT_MOST (DW_OUT_BYTES / 2) /* maximum size for dw_out_reserve() */

struct dw_out_gzip;

struct dw_writer_out {
	char *buffer;
	size_t used, size;
	int error;   /* errno of the first failure, or 0 */
	bool memory; /* in memory only: the members below are not used */
	int fd;
	const char *path; /* as the user named it; NULL: standard output */
	char *target;     /* the final name of the file; NULL: written in place */
	char *temporary;  /* its name until it is complete, or NULL */
	struct dw_out_gzip *gzip;
	uint64_t bytes; /* written so far, before compression */
};

/* `path` is kept, not copied. */
int dw_out_open(struct dw_writer_out *out, const char *path, struct dwell_error *error);
/* If `keep` is false, removes what was written. */
int dw_out_close(struct dw_writer_out *out, bool keep, struct dwell_error *error);
void dw_out_drain(struct dw_writer_out *out);
/* dw_out_bytes() with the signature that the pictures need: `out` is a struct dw_writer_out. */
void dw_out_put(void *out, const char *bytes, size_t length);
/* The output's name in messages and in the export itself. */
const char *dw_out_name(const struct dw_writer_out *out);

/* out.c. The caller frees it with dw_out_reset(). */
void dw_out_init_memory(struct dw_writer_out *out);
void dw_out_reset(struct dw_writer_out *out);
void dw_out_make_space(struct dw_writer_out *out, size_t bytes);
void dw_out_bytes(struct dw_writer_out *out, const char *bytes, size_t length);
void dw_out_text(struct dw_writer_out *out, const char *text);
void dw_out_u64(struct dw_writer_out *out, uint64_t value);
void dw_out_i64(struct dw_writer_out *out, int64_t value);
void dw_out_us(struct dw_writer_out *out, uint64_t ns); /* see dw_put_us() */
/* Writes a number that reads back as the same value. Infinities and NaN become null. */
void dw_out_real(struct dw_writer_out *out, double value);
/* Writes a string with quotes. Bytes that are not UTF-8 are replaced; NULL becomes null. */
void dw_out_string(struct dw_writer_out *out, const char *text);
/* Writes an integer, as a string if it is too large for a number of JavaScript. */
void dw_out_big(struct dw_writer_out *out, uint64_t value);
void dw_out_hex(struct dw_writer_out *out, uint64_t value); /* "0x1f", with quotes */

/* DW_OUT_JSON(out, ",'rank':#,'name':#", rank, name): "'" stands for a quote, each "#" for the next value: an integer, a
 * real, or a text, which is written as dw_out_string() does. At most eight values. Not for what is written for each event. */
struct dw_out_value {
	enum { DW_OUT_U64, DW_OUT_I64, DW_OUT_REAL, DW_OUT_STRING } type;
	union {
		uint64_t number;
		int64_t signed_number;
		double real;
		const char *text;
	};
};
void dw_out_json(struct dw_writer_out *out, const char *json, const struct dw_out_value *values,
                 void (*put_text)(struct dw_writer_out *out, const char *text));
#define DW_OUT_JSON(out, json, ...) \
	dw_out_json(out, json, (const struct dw_out_value[]){ DW_OUT_VALUES(__VA_ARGS__) }, dw_out_string)

static inline struct dw_out_value dw_out_of_u64(uint64_t number)
{
	return (struct dw_out_value){ DW_OUT_U64, { .number = number } };
}
static inline struct dw_out_value dw_out_of_i64(int64_t number)
{
	return (struct dw_out_value){ DW_OUT_I64, { .signed_number = number } };
}
static inline struct dw_out_value dw_out_of_real(double real)
{
	return (struct dw_out_value){ DW_OUT_REAL, { .real = real } };
}
static inline struct dw_out_value dw_out_of_text(const char *text)
{
	return (struct dw_out_value){ DW_OUT_STRING, { .text = text } };
}
#define DW_OUT_VALUE(value)                                                                  \
	_Generic((value), char *: dw_out_of_text, const char *: dw_out_of_text, double: dw_out_of_real, \
	         uint64_t: dw_out_of_u64, default: dw_out_of_i64)(value)
#define DW_OUT_1(a) DW_OUT_VALUE(a)
#define DW_OUT_2(a, ...) DW_OUT_VALUE(a), DW_OUT_1(__VA_ARGS__)
#define DW_OUT_3(a, ...) DW_OUT_VALUE(a), DW_OUT_2(__VA_ARGS__)
#define DW_OUT_4(a, ...) DW_OUT_VALUE(a), DW_OUT_3(__VA_ARGS__)
#define DW_OUT_5(a, ...) DW_OUT_VALUE(a), DW_OUT_4(__VA_ARGS__)
#define DW_OUT_6(a, ...) DW_OUT_VALUE(a), DW_OUT_5(__VA_ARGS__)
#define DW_OUT_7(a, ...) DW_OUT_VALUE(a), DW_OUT_6(__VA_ARGS__)
#define DW_OUT_8(a, ...) DW_OUT_VALUE(a), DW_OUT_7(__VA_ARGS__)
#define DW_OUT_PICK(a, b, c, d, e, f, g, h, name, ...) name
#define DW_OUT_VALUES(...)                                                                       \
	DW_OUT_PICK(__VA_ARGS__, DW_OUT_8, DW_OUT_7, DW_OUT_6, DW_OUT_5, DW_OUT_4, DW_OUT_3, DW_OUT_2, \
	            DW_OUT_1, )(__VA_ARGS__)

/* Returns space for up to `bytes` (at most DW_OUT_MOST); call dw_out_wrote() after filling it.
 * Returns NULL only for an output in memory, if out of memory. */
static inline char *dw_out_reserve(struct dw_writer_out *out, size_t bytes)
{
	if (__builtin_expect(out->size - out->used < bytes, 0)) {
		dw_out_make_space(out, bytes);
		if (out->size - out->used < bytes)
			return NULL;
	}
	return out->buffer + out->used;
}

static inline void dw_out_wrote(struct dw_writer_out *out, const char *end)
{
	out->used = (size_t)(end - out->buffer);
}

/* ---- into the buffer ---------------------------------------------------------------- */

extern const char dw_digit_pairs[200]; /* "00" to "99" */

static inline char *dw_copy(char *to, const char *bytes, size_t length)
{
	memcpy(to, bytes, length);
	return to + length;
}
#define DW_PUT(to, literal) dw_copy(to, literal, sizeof literal - 1)

static inline unsigned dw_digits(uint64_t value)
{
	unsigned digits = 1;

	for (;; digits += 4, value /= 10000) {
		if (value < 10)
			return digits;
		if (value < 100)
			return digits + 1;
		if (value < 1000)
			return digits + 2;
		if (value < 10000)
			return digits + 3;
	}
}

#define DW_PUT_U64 20 /* bytes at most */
static inline char *dw_put_u64(char *to, uint64_t value)
{
	char *end = to + dw_digits(value), *at = end;

	while (value >= 100) {
		at -= 2;
		memcpy(at, dw_digit_pairs + value % 100 * 2, 2);
		value /= 100;
	}
	if (value >= 10)
		memcpy(at - 2, dw_digit_pairs + value * 2, 2);
	else
		at[-1] = (char)('0' + value);
	return end;
}

/* Writes nanoseconds as microseconds with three decimals, so nanoseconds are kept. */
#define DW_PUT_US 24
static inline char *dw_put_us(char *to, uint64_t ns)
{
	unsigned rest = (unsigned)(ns % 1000);

	to = dw_put_u64(to, ns / 1000);
	to[0] = '.';
	to[1] = (char)('0' + rest / 100);
	memcpy(to + 2, dw_digit_pairs + rest % 100 * 2, 2);
	return to + 4;
}
