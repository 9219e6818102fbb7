/*
 * A scanner of JSON text; see json.h.
 *
 * Text is read up to 15 bytes behind the window's NUL where SSE2 is used: the window has space for
 * that (input.c).
 */
#include "import/json.h"

#include <string.h>

#include "base/text.h"

#define DEEPEST 128u /* objects and arrays within each other */

const char *dw_json_fail(struct dw_json *json, const char *at)
{
	json->why = at >= json->end && !json->last ? DW_JSON_NEEDS_MORE : DW_JSON_BAD;
	json->bad_at = at;
	return NULL;
}

/* ---- texts ------------------------------------------------------------------------------- */

static bool json_is_escape(char c)
{
	return c && strchr("\"\\/bfnrtu", c) != NULL;
}

/* Whether the bytes behind the quote at `at` show that it can end a string. NULL: more bytes are
 * needed. */
static const char *json_ends_text(struct dw_json *json, const char *at, bool *ends)
{
	const char *next = dw_json_space(at + 1);

	if (next >= json->end && !json->last)
		return dw_json_fail(json, next);
	*ends = *next == ':' || *next == '}' || *next == ']' || next >= json->end;
	if (*next != ',')
		return next;
	next = dw_json_space(next + 1);
	if (next >= json->end && !json->last)
		return dw_json_fail(json, next);
	*ends = *next && strchr("\"{[-0123456789tfnNI", *next) != NULL;
	return next;
}

const char *dw_json_read_other(struct dw_json *json, const char *at, struct dw_json_string *string)
{
	const char *start = at + 1;
	bool ends = true;

	if (*at != '"')
		return dw_json_fail(json, at);
	string->escaped = false;
	for (at = dw_json_find_special(start);; at = dw_json_find_special(at)) {
		if (at >= json->end)
			return dw_json_fail(json, at);
		if (*at == '"') {
			if (json->lenient && !json_ends_text(json, at, &ends))
				return NULL;
			if (ends)
				break;
			at++;
		} else if (*at == '\\') {
			string->escaped = true;
			if (at + 1 >= json->end)
				return dw_json_fail(json, at + 1);
			if (json_is_escape(at[1]))
				at += 2;
			else if (json->lenient)
				at++;
			else
				return dw_json_fail(json, at);
		} else if (!json->lenient) {
			return dw_json_fail(json, at);
		} else {
			at++;
		}
	}
	if (at - start > INT32_MAX)
		return dw_json_fail(json, start);
	string->at = start;
	string->length = (uint32_t)(at - start);
	return at + 1;
}

static int json_hex4(const char *at, const char *end, uint32_t *code)
{
	*code = 0;
	if (end - at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = at[i], lower = (char)(c | 0x20);

		if (c >= '0' && c <= '9')
			*code = *code << 4 | (uint32_t)(c - '0');
		else if (lower >= 'a' && lower <= 'f')
			*code = *code << 4 | (uint32_t)(lower - 'a' + 10);
		else
			return -1;
	}
	return 0;
}

/* Reads the escape at `at`, a backslash. A backslash that begins no escape stands for itself. */
static const char *json_read_escape(const char *at, const char *end, uint32_t *code)
{
	static const char letters[] = "bfnrt", values[] = "\b\f\n\r\t";
	const char *letter = at + 1 < end && at[1] ? strchr(letters, at[1]) : NULL;
	uint32_t low;

	*code = '\\';
	if (letter) {
		*code = (uint32_t)values[letter - letters];
		return at + 2;
	}
	if (at + 1 < end && (at[1] == '"' || at[1] == '\\' || at[1] == '/')) {
		*code = (uint32_t)at[1];
		return at + 2;
	}
	if (at + 1 >= end || at[1] != 'u' || json_hex4(at + 2, end, code)) {
		*code = '\\';
		return at + 1;
	}
	at += 6;
	if (*code >= 0xd800 && *code < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u' &&
	    json_hex4(at + 2, end, &low) == 0 && low >= 0xdc00 && low < 0xe000) {
		*code = 0x10000 + ((*code - 0xd800) << 10 | (low - 0xdc00));
		return at + 6;
	}
	return at;
}

size_t dw_json_unescape(const struct dw_json_string *string, char *to, bool *repaired)
{
	const char *at = string->at, *end = at + string->length;
	char *start = to, part[5];
	uint32_t code;

	while (at < end) {
		bool escape = *at == '\\' && string->escaped;

		if ((signed char)*at > 0 && !escape) {
			*to++ = *at++;
			continue;
		}
		if (escape) {
			at = json_read_escape(at, end, &code);
		} else {
			/* A sequence of UTF-8 may not continue behind the text. */
			size_t length = (size_t)(end - at) < 4 ? (size_t)(end - at) : 4;
			const char *next = part;

			memcpy(part, at, length);
			part[length] = '\0';
			code = *at ? dw_utf8_next(&next) : 0;
			at += *at ? next - part : 1;
		}
		if (!code || (code >= 0xd800 && code < 0xe000))
			code = 0xfffd;
		*repaired |= code == 0xfffd;
		to += dw_utf8_put(to, code);
	}
	*to = '\0';
	return (size_t)(to - start);
}

/* ---- numbers ----------------------------------------------------------------------------- */

/* Whether there are eight digits; reads them at once. The upper half of each byte is 3, and remains so when 6 is added. */
static bool json_read_eight(const char *at, uint64_t *value)
{
	uint64_t word;

	memcpy(&word, at, 8);
	if (((word & 0xf0f0f0f0f0f0f0f0u) | ((word + 0x0606060606060606u) & 0xf0f0f0f0f0f0f0f0u) >> 4) != 0x3333333333333333u)
		return false;
	word = (word & 0x0f0f0f0f0f0f0f0fu) * 10 + (word >> 8 & 0x0f0f0f0f0f0f0f0fu);
	*value = ((word & 0x000000ff000000ffu) * (100 + (1000000ull << 32)) +
	          (word >> 16 & 0x000000ff000000ffu) * (1 + (10000ull << 32))) >> 32;
	return true;
}

static inline __attribute__((always_inline)) const char *json_read_digits(const char *at, const char *end,
                                                                          struct dw_json_number *number, int32_t each)
{
	const char *begin = at;
	uint64_t sum = number->digits, value;

	/* Fast path: eight digits, and then another one, fit without a check. */
	for (; sum < UINT64_MAX / 1000000000 && end - at >= 8 && json_read_eight(at, &value); at += 8)
		sum = sum * 100000000 + value;
	for (; sum < UINT64_MAX / 100 && *at >= '0' && *at <= '9'; at++)
		sum = sum * 10 + (uint64_t)(*at - '0');
	number->digits = sum;
	number->exponent += (int32_t)(at - begin) * each;
	for (; *at >= '0' && *at <= '9'; at++) {
		uint64_t digits;

		if (number->cut || __builtin_mul_overflow(number->digits, 10, &digits) ||
		    __builtin_add_overflow(digits, (uint64_t)(*at - '0'), &digits)) {
			number->cut = true;
			number->exponent += 1 + each < INT32_MAX / 2 - number->exponent ? 1 + each : 0;
			continue;
		}
		number->digits = digits;
		number->exponent += each;
	}
	return at;
}

static const char *json_read_exponent(struct dw_json *json, const char *at, struct dw_json_number *number)
{
	bool negative = at[1] == '-';
	int32_t exponent = 0;

	at += at[1] == '-' || at[1] == '+' ? 2 : 1;
	if (*at < '0' || *at > '9')
		return dw_json_fail(json, at);
	for (; *at >= '0' && *at <= '9'; at++)
		exponent = exponent < 100000 ? exponent * 10 + (*at - '0') : exponent;
	number->exponent += negative ? -exponent : exponent;
	return at;
}

const char *dw_json_read_number(struct dw_json *json, const char *at, struct dw_json_number *number)
{
	const char *digits;

	*number = (struct dw_json_number){ .negative = *at == '-' };
	at += number->negative;
	digits = at;
	at = json_read_digits(at, json->end, number, 0);
	if (at == digits)
		return dw_json_fail(json, at);
	if (*at == '.') {
		digits = ++at;
		at = json_read_digits(at, json->end, number, -1);
		if (at == digits)
			return dw_json_fail(json, at);
	}
	if (*at == 'e' || *at == 'E') {
		at = json_read_exponent(json, at, number);
		if (!at)
			return NULL;
	}
	return at >= json->end && !json->last ? dw_json_fail(json, at) : at;
}

bool dw_json_u64(const struct dw_json_number *number, uint64_t *value)
{
	uint64_t digits = number->digits;
	int32_t exponent = number->exponent;

	if (!exponent && !number->negative) { /* most are so */
		*value = digits;
		return !number->cut;
	}
	for (; exponent < 0 && digits % 10 == 0 && digits; exponent++)
		digits /= 10;
	for (; exponent > 0 && digits; exponent--)
		if (__builtin_mul_overflow(digits, 10, &digits))
			return false;
	*value = digits;
	return !number->cut && (!exponent || !digits) && (!number->negative || !digits);
}

bool dw_json_i64(const struct dw_json_number *number, int64_t *value)
{
	struct dw_json_number size;
	uint64_t digits;

	if (!number->exponent && !number->negative && !number->cut && number->digits <= INT64_MAX) {
		*value = (int64_t)number->digits;
		return true;
	}
	size = *number;
	size.negative = false;
	if (!dw_json_u64(&size, &digits) || digits > (uint64_t)INT64_MAX + number->negative)
		return false;
	*value = number->negative ? (int64_t)(0 - digits) : (int64_t)digits;
	return true;
}

bool dw_json_fixed(const struct dw_json_number *number, int decimals, int64_t *value)
{
	uint64_t digits = number->digits;
	int32_t exponent = number->exponent + decimals;

	for (; exponent < 0 && digits; exponent++)
		digits /= 10;
	for (; exponent > 0 && digits; exponent--)
		if (__builtin_mul_overflow(digits, 10, &digits))
			return false;
	if (digits > INT64_MAX)
		return false;
	*value = number->negative ? -(int64_t)digits : (int64_t)digits;
	return true;
}

double dw_json_double(const struct dw_json_number *number)
{
	double value = (double)number->digits, power = 10;
	uint32_t left = (uint32_t)(number->exponent < 0 ? -number->exponent : number->exponent);

	for (; left; left >>= 1, power *= power)
		if (left & 1)
			value = number->exponent < 0 ? value / power : value * power;
	return number->negative ? -value : value;
}

/* ---- any value --------------------------------------------------------------------------- */

static const char *json_skip_word(struct dw_json *json, const char *at)
{
	static const char *const words[] = { "true", "false", "null" };
	const char *word = at;

	while ((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (json->lenient && *at == '-'))
		at++;
	if (at >= json->end && !json->last)
		return dw_json_fail(json, at);
	for (unsigned i = 0; i < 3; i++)
		if ((size_t)(at - word) == strlen(words[i]) && memcmp(word, words[i], strlen(words[i])) == 0)
			return at;
	/* C and Python print values that are no numbers as inf, -nan or Infinity. */
	return json->lenient && at > word ? at : dw_json_fail(json, word);
}

static const char *json_skip_scalar(struct dw_json *json, const char *at)
{
	struct dw_json_string string;
	struct dw_json_number number;

	if (json->lenient && (*at == ',' || *at == '}'))
		return at; /* a member without a value */
	if (*at == '"')
		return dw_json_read_string(json, at, &string);
	if ((*at >= '0' && *at <= '9') || (*at == '-' && !(json->lenient && at[1] > '9')))
		return dw_json_read_number(json, at, &number);
	return json_skip_word(json, at);
}

/* Behind the key and the colon of a member. */
static const char *json_skip_key(struct dw_json *json, const char *at)
{
	struct dw_json_string key;

	at = dw_json_read_string(json, dw_json_space(at), &key);
	if (!at)
		return NULL;
	at = dw_json_space(at);
	return *at == ':' ? at + 1 : dw_json_fail(json, at);
}

const char *dw_json_skip(struct dw_json *json, const char *at)
{
	uint64_t objects[DEEPEST / 64] = { 0 };
	unsigned depth = 0;

	for (;;) {
		at = dw_json_space(at);
		if (*at == '{' || *at == '[') {
			bool object = *at == '{';

			if (depth == DEEPEST)
				return dw_json_fail(json, at);
			objects[depth / 64] = (objects[depth / 64] & ~((uint64_t)1 << depth % 64)) |
			                      (uint64_t)object << depth % 64;
			depth++;
			at = dw_json_space(at + 1);
			if (*at != (object ? '}' : ']')) {
				if (object && !(at = json_skip_key(json, at)))
					return NULL;
				continue;
			}
		} else if (!(at = json_skip_scalar(json, at))) {
			return NULL;
		}
		/* Behind a value, or at the end of an empty object or array. */
		for (;; at++) {
			bool object;

			if (!depth)
				return at;
			object = objects[(depth - 1) / 64] >> (depth - 1) % 64 & 1;
			at = dw_json_space(at);
			if (*at == (object ? '}' : ']')) {
				depth--;
				continue;
			}
			if (*at != ',')
				return dw_json_fail(json, at);
			at++;
			if (object && !(at = json_skip_key(json, at)))
				return NULL;
			break;
		}
	}
}
