/*
 * A scanner of JSON text in a window of bytes.
 *
 * A reading function gets the place where it begins, and returns the place behind what it has read.
 * On failure it returns NULL. Then `why` says whether the window ended (more bytes may help) or the
 * text is no JSON, and `bad_at` is the place. The window ends with a NUL at `end`, so no function
 * tests for the end at each byte.
 *
 * Strings point into the window and contain their escapes; dw_json_unescape() makes a copy without
 * them. Numbers are exact: integers have 64 bits, and times are decimal fractions and not doubles.
 *
 * Some writers do not escape quotes, backslashes or control characters in names. `lenient` reads
 * such strings: a quote ends a string only if the bytes behind it can follow a string.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum dw_json_why { DW_JSON_FINE, DW_JSON_NEEDS_MORE, DW_JSON_BAD };

struct dw_json {
	const char *end;    /* of the window */
	bool last;          /* nothing follows the window */
	bool lenient;
	enum dw_json_why why;
	const char *bad_at;
};

/* A string without its quotes, in the window. */
struct dw_json_string {
	const char *at;
	uint32_t length;
	bool escaped;       /* it contains a backslash, which begins an escape; otherwise one is a letter */
};

/* A decimal number: value = (negative ? -1 : 1) * digits * 10^exponent. */
struct dw_json_number {
	uint64_t digits;
	int32_t exponent;
	bool negative;
	bool cut;           /* it has more digits than fit in 64 bits; further digits were dropped */
};

/* The place behind white space. */
static inline const char *dw_json_space(const char *at)
{
	while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')
		at++;
	return at;
}

/* The same in a window of input.h, which has space behind it. Branches are better than a vector here: a processor
 * guesses them, and reads on before it knows how many blanks there were. */
static inline const char *dw_json_window_space(const char *at)
{
	uint32_t four;

	if ((unsigned char)*at > ' ')
		return at;
	if (*at == ' ' && (unsigned char)at[1] > ' ')
		return at + 1;
	at += *at == '\n';
	for (;; at += 4) {
		__builtin_memcpy(&four, at, 4);
		if (four != 0x20202020)
			return dw_json_space(at);
	}
}

/* Sets `why` and `bad_at`. Always returns NULL. */
const char *dw_json_fail(struct dw_json *json, const char *at);

/* The next quote, backslash or control character; the NUL behind the window is one. */
static inline const char *dw_json_find_special(const char *at)
{
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1f);

	for (;; at += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
		__m128i found = _mm_or_si128(
		    _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)),
		    _mm_cmpeq_epi8(_mm_max_epu8(bytes, control), control));
		int mask = _mm_movemask_epi8(found);

		if (mask)
			return at + __builtin_ctz((unsigned)mask);
	}
#else
	while ((unsigned char)*at >= 0x20 && *at != '"' && *at != '\\')
		at++;
	return at;
#endif
}

/* `at` is the opening quote. */
const char *dw_json_read_other(struct dw_json *json, const char *at, struct dw_json_string *string);
static inline const char *dw_json_read_string(struct dw_json *json, const char *at, struct dw_json_string *string)
{
	const char *end = dw_json_find_special(at + 1);

	/* A short string without escapes. All others and all faults are for the function that is not inline. */
	if (*at != '"' || *end != '"' || end >= json->end || json->lenient || end - at > INT16_MAX)
		return dw_json_read_other(json, at, string);
	*string = (struct dw_json_string){ at + 1, (uint32_t)(end - at - 1), false };
	return end + 1;
}
const char *dw_json_read_number(struct dw_json *json, const char *at, struct dw_json_number *number);
/* Skips a value of any kind. */
const char *dw_json_skip(struct dw_json *json, const char *at);

/* Copies a string without its escapes, as UTF-8 with a NUL behind it. Bytes that are no UTF-8, NUL
 * characters and unpaired surrogates become U+FFFD; then *repaired is set to true, and otherwise it
 * stays as it is. Returns the length in bytes. `to` must have length * 3 + 1 bytes. */
size_t dw_json_unescape(const struct dw_json_string *string, char *to, bool *repaired);

/* Converts to an integer. False if the number is no integer or does not fit in 64 bits. */
bool dw_json_u64(const struct dw_json_number *number, uint64_t *value);
bool dw_json_i64(const struct dw_json_number *number, int64_t *value);
/* Converts to the number times 10^decimals, rounded towards zero. False if the result does not
 * fit. */
bool dw_json_fixed(const struct dw_json_number *number, int decimals, int64_t *value);
double dw_json_double(const struct dw_json_number *number);

static inline bool dw_json_is(const struct dw_json_string *string, const char *text, size_t length)
{
	return string->length == length && __builtin_memcmp(string->at, text, length) == 0;
}
#define DW_JSON_IS(string, text) dw_json_is(string, text, sizeof(text) - 1)
