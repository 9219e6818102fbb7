/* Text; see text.h. */
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- quantities ------------------------------------------------------------------ */

struct scale {
	const char *unit;
	double factor;
};

static const struct scale durations[] = {
	{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 },
};
static const struct scale sizes[] = {
	{ "B", 1 },
	{ "KiB", 1024.0 },
	{ "MiB", 1024.0 * 1024 },
	{ "GiB", 1024.0 * 1024 * 1024 },
	{ "TiB", 1024.0 * 1024 * 1024 * 1024 },
};

/* The number of digits after the point that makes three digits in all. */
static int text_decimals(double value, double smallest_factor)
{
	value = fabs(value);
	if (smallest_factor == 1 || value >= 99.95)
		return 0;
	return value >= 9.995 ? 1 : 2;
}

/* The scale with which the number has less than four digits before the point. */
static const struct scale *text_pick(const struct scale *scales, size_t count, double value)
{
	size_t i = 0;

	while (i + 1 < count && fabs(value) / scales[i].factor >= 999.5)
		i++;
	return &scales[i];
}

static struct dw_text text_scaled(const struct scale *scales, size_t count, double value, const char *gap)
{
	const struct scale *scale = text_pick(scales, count, value);
	double number = value / scale->factor;
	struct dw_text text;

	if (value == 0 || !isfinite(value))
		snprintf(text.at, sizeof text.at, "%s", value == 0 ? "0" : "-");
	else if (fabs(number) >= 999.5)
		snprintf(text.at, sizeof text.at, "%s%s%s", dw_text_count(llround(number)).at, gap, scale->unit);
	else
		snprintf(text.at, sizeof text.at, "%.*f%s%s", text_decimals(number, scale->factor), number, gap, scale->unit);
	return text;
}

struct dw_text dw_text_ns(double ns, const char *gap)
{
	return text_scaled(durations, sizeof durations / sizeof *durations, ns, gap);
}

bool dw_text_parse_ns(const char *text, const char **end, uint64_t *ns)
{
	static const struct { const char *unit; double ns; } units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 6e10 } };
	double value = 0, place = 1;
	const char *at = text;

	/* strtod() would depend on the locale, and would take "inf". */
	for (; *at >= '0' && *at <= '9'; at++)
		value = value * 10 + (*at - '0');
	if (at == text)
		return false;
	if (at[0] == '.' && at[1] >= '0' && at[1] <= '9')
		for (at++; *at >= '0' && *at <= '9'; at++)
			value += (*at - '0') * (place /= 10);
	at += strspn(at, " ");
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t length = strlen(units[i].unit);

		/* "m" must not take the beginning of "ms", which comes before it */
		if (strncmp(at, units[i].unit, length) != 0 || value * units[i].ns >= 1e18)
			continue;
		*end = at + length;
		*ns = (uint64_t)(value * units[i].ns + 0.5);
		return true;
	}
	return false;
}

const char *dw_text_ns_unit(double like_ns)
{
	return text_pick(durations, sizeof durations / sizeof *durations, like_ns)->unit;
}

struct dw_text dw_text_ns_like(double ns, double like_ns)
{
	const struct scale *scale = text_pick(durations, sizeof durations / sizeof *durations, like_ns);
	struct dw_text text;
	int places = text_decimals(like_ns / scale->factor, scale->factor);

	snprintf(text.at, sizeof text.at, "%.*f", places, ns / scale->factor);
	return text;
}

double dw_text_like(double most_ns)
{
	return most_ns >= 1e3 && !strchr(dw_text_ns_like(most_ns, most_ns).at, '.') ? most_ns / 10 : most_ns;
}

struct dw_text dw_text_bytes(double bytes, const char *gap)
{
	return text_scaled(sizes, sizeof sizes / sizeof *sizes, bytes, gap);
}

struct dw_text dw_text_count(int64_t count)
{
	char digits[24];
	struct dw_text text;
	uint64_t size = count < 0 ? -(uint64_t)count : (uint64_t)count;
	size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, size), to = 0;

	if (count < 0)
		text.at[to++] = '-';
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text.at[to++] = ',';
		text.at[to++] = digits[i];
	}
	text.at[to] = '\0';
	return text;
}

struct dw_text dw_text_percent(double ratio)
{
	struct dw_text text;

	snprintf(text.at, sizeof text.at, "%.1f%%", fabs(ratio) < 0.0005 ? 0 : ratio * 100); /* not -0.0% */
	if (!isfinite(ratio))
		snprintf(text.at, sizeof text.at, "-");
	return text;
}

struct dw_text dw_text_number(double value)
{
	struct dw_text text;

	if (!isfinite(value)) {
		snprintf(text.at, sizeof text.at, "-");
		return text;
	}
	if (fabs(value) >= 999.5 && fabs(value) < 9e18)
		return dw_text_count(llround(value));
	snprintf(text.at, sizeof text.at, "%.3g", value);
	return text;
}

/* ---- UTF-8 ------------------------------------------------------------------------ */

uint32_t dw_utf8_next(const char **text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *at = (const unsigned char *)*text;
	unsigned length = *at < 0x80         ? 1
	                  : *at >> 5 == 6  ? 2
	                  : *at >> 4 == 14 ? 3
	                  : *at >> 3 == 30 ? 4
	                                   : 0;
	uint32_t code = length == 1 ? *at : length ? *at & (0xffu >> (length + 1)) : 0;

	if (!*at)
		return 0;
	for (unsigned i = 1; i < length; i++) {
		if (at[i] >> 6 != 2) {
			length = 0;
			break;
		}
		code = code << 6 | (at[i] & 0x3f);
	}
	/* Overlong forms, surrogates and codes beyond Unicode are not characters. */
	if (!length || code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
		*text += 1;
		return 0xfffd;
	}
	*text += length;
	return code;
}

unsigned dw_utf8_put(char *to, uint32_t code)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		to[0] = (char)(0xe0 | code >> 12);
		to[1] = (char)(0x80 | (code >> 6 & 0x3f));
		to[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | code >> 18);
	to[1] = (char)(0x80 | (code >> 12 & 0x3f));
	to[2] = (char)(0x80 | (code >> 6 & 0x3f));
	to[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

bool dw_utf8_steers(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

void dw_text_disarm(char *text, bool lines)
{
	const char *at = text;
	char *to = text;

	while (*at) {
		const char *was = at;
		uint32_t code = dw_utf8_next(&at);

		if ((code == 0xfffd && at - was == 1) || (dw_utf8_steers(code) && !(lines && (code == '\n' || code == '\t')))) {
			*to++ = '?';
			continue;
		}
		while (was < at)
			*to++ = *was++;
	}
	*to = '\0';
}

/* Not wcwidth(), which depends on setlocale(): only the program may call that. */
unsigned dw_utf8_columns(uint32_t code)
{
	static const uint32_t none[][2] = {
		{ 0x300, 0x36f }, { 0x483, 0x489 }, { 0x591, 0x5bd }, { 0x610, 0x61a }, { 0x64b, 0x65f },
		{ 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x2064 }, { 0x20d0, 0x20f0 },
		{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff }, { 0xe0100, 0xe01ef },
	};
	static const uint32_t two[][2] = {
		{ 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0xa4cf }, { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
	};

	if (code < 0x300)
		return 1;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (code >= none[i][0] && code <= none[i][1])
			return 0;
	for (size_t i = 0; i < sizeof two / sizeof *two; i++)
		if (code >= two[i][0] && code <= two[i][1])
			return 2;
	return 1;
}

bool dw_utf8_locale(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		const char *value = getenv(names[i]);

		/* the first variable that is set counts */
		if (value && *value)
			return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
	}
	return false;
}

/* ---- JSON -------------------------------------------------------------------------- */

void dw_json_text(dw_put *put, void *to, const char *text)
{
	const char *plain = text;
	char escape[8];

	put(to, "\"", 1);
	while (*text) {
		const char *at = text;
		uint32_t code = dw_utf8_next(&text);
		size_t length;

		if (code == 0xfffd && text - at == 1)
			length = dw_utf8_put(escape, code);
		else if (code == '"' || code == '\\')
			length = (size_t)snprintf(escape, sizeof escape, "\\%c", (char)code);
		else if (code == '\n' || code == '\t')
			length = (size_t)snprintf(escape, sizeof escape, "\\%c", code == '\n' ? 'n' : 't');
		else if (dw_utf8_steers(code))
			length = (size_t)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)code);
		else
			continue;
		put(to, plain, (size_t)(at - plain));
		put(to, escape, length);
		plain = text;
	}
	put(to, plain, strlen(plain));
	put(to, "\"", 1);
}
