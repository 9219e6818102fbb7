/* The scanner of JSON: exact numbers, texts, what is refused, and windows that end anywhere. */
#include "check.h"

#include "import/json.h"

static struct dw_json json;

static const char *padded(const char *text)
{
	static char copies[4][1024];
	static unsigned next;
	char *copy = copies[next++ % 4];

	memset(copy, 0, sizeof copies[0]);
	snprintf(copy, sizeof copies[0] - 32, "%s", text);
	json = (struct dw_json){ .end = copy + strlen(copy), .last = true };
	return copy;
}

static struct dw_json_number number_of(const char *text)
{
	struct dw_json_number number;

	if (!dw_json_read_number(&json, padded(text), &number))
		number.cut = true;
	return number;
}

TEST(integers_have_64_bits)
{
	struct dw_json_number number = number_of("9007199254740993 ");
	uint64_t value;
	int64_t whole;

	CHECK(dw_json_u64(&number, &value) && value == 9007199254740993u);
	number = number_of("18446744073709551615,");
	CHECK(dw_json_u64(&number, &value) && value == UINT64_MAX);
	CHECK(!dw_json_i64(&number, &whole));
	number = number_of("18446744073709551616,");
	CHECK(!dw_json_u64(&number, &value));
	number = number_of("-9223372036854775808]");
	CHECK(dw_json_i64(&number, &whole) && whole == INT64_MIN);
	number = number_of("-9223372036854775809]");
	CHECK(!dw_json_i64(&number, &whole));
	number = number_of("12e3 ");
	CHECK(dw_json_u64(&number, &value) && value == 12000);
	number = number_of("68.0}");
	CHECK(dw_json_u64(&number, &value) && value == 68);
	number = number_of("68.5}");
	CHECK(!dw_json_u64(&number, &value));
}

TEST(numbers_of_any_length_are_exact)
{
	static const char all[] = "12345678901234567890";
	char text[40];

	for (unsigned length = 1; length <= 20; length++)
		for (unsigned behind = 0; behind < length; behind++) {
			struct dw_json_number number;
			uint64_t value = 0;

			for (unsigned i = 0; i < length; i++)
				value = value * 10 + (uint64_t)(all[i] - '0');
			snprintf(text, sizeof text, "%.*s%s%.*s%s", (int)(length - behind), all, behind ? "." : "", (int)behind,
			         all + length - behind, length % 2 ? "" : ",\"");
			number = number_of(text);
			CHECK(number.digits == value && number.exponent == -(int)behind && !number.cut);
		}
}

TEST(times_are_decimal_fractions)
{
	struct dw_json_number number = number_of("4458676524670.502,");
	int64_t ns;

	CHECK(dw_json_fixed(&number, 3, &ns) && ns == 4458676524670502);
	number = number_of("1712195495519689.047,");
	CHECK(dw_json_fixed(&number, 3, &ns) && ns == 1712195495519689047);
	number = number_of("-1.5,");
	CHECK(dw_json_fixed(&number, 3, &ns) && ns == -1500);
	number = number_of("0.1239,");
	CHECK(dw_json_fixed(&number, 3, &ns) && ns == 123);
	number = number_of("1e300,");
	CHECK(!dw_json_fixed(&number, 3, &ns));
	number = number_of("1e-300,");
	CHECK(dw_json_fixed(&number, 3, &ns) && ns == 0);
	number = number_of("2.25,");
	CHECK_NEAR(dw_json_double(&number), 2.25, 1e-12);
}

static const char *text_of(const char *source)
{
	static char text[1024];
	struct dw_json_string string;
	bool repaired = false;

	if (!dw_json_read_string(&json, padded(source), &string))
		return "(refused)";
	dw_json_unescape(&string, text, &repaired);
	return text;
}

TEST(escapes_become_utf_8)
{
	CHECK_STR(text_of("\"a\\\"b\\\\c\\/d\\n\""), "a\"b\\c/d\n");
	CHECK_STR(text_of("\"\\u00e9\\u20ac\""), "\xc3\xa9\xe2\x82\xac");
	CHECK_STR(text_of("\"\\ud83d\\ude00\""), "\xf0\x9f\x98\x80");
	CHECK_STR(text_of("\"\\ud83d-\""), "\xef\xbf\xbd-");
	CHECK_STR(text_of("\"a\\u0000b\""), "a\xef\xbf\xbd" "b");
	CHECK_STR(text_of("\"a\xff\xc3\""), "a\xef\xbf\xbd\xef\xbf\xbd");
	CHECK_STR(text_of("\"sixteen bytes or more of text, then \\t\""), "sixteen bytes or more of text, then \t");
}

TEST(what_is_no_json_is_refused_and_read_leniently)
{
	struct dw_json_string string;
	const char *at = padded("\"C:\\Users\"");

	CHECK(!dw_json_read_string(&json, at, &string) && json.why == DW_JSON_BAD);
	json.lenient = true;
	CHECK(dw_json_read_string(&json, at, &string) && DW_JSON_IS(&string, "C:\\Users"));
	at = padded("\"f(\"x\")\", \"a\": 1}");
	json.lenient = true;
	CHECK(dw_json_read_string(&json, at, &string) && DW_JSON_IS(&string, "f(\"x\")"));
	at = padded("\"two\nlines\",\"b\":2");
	CHECK(!dw_json_read_string(&json, at, &string));
	json.lenient = true;
	CHECK(dw_json_read_string(&json, at, &string) && DW_JSON_IS(&string, "two\nlines"));
	CHECK(!dw_json_skip(&json, padded("[1, inf]")));
	at = padded("[1, -inf, NaN]");
	json.lenient = true;
	CHECK(dw_json_skip(&json, at) != NULL);
}

TEST(any_value_can_be_skipped)
{
	static const char *const good[] = { "{}", "[]", "[[],{}]", "{\"a\":[1,2,{\"b\":null}],\"c\":\"}\"}",
		"true", "-0.5e-3 ", "\"x\"", " { \"a\" : [ ] } " };
	static const char *const bad[] = { "{", "[1,]", "{\"a\"}", "{a:1}", "[1 2]", "tru", "]", "", "{\"a\":1,}",
		"[}", "{]", "+1", "1.", "-", "\"x" };
	const char *at, *end;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		at = padded(good[i]);
		end = dw_json_skip(&json, at);
		CHECK(end && dw_json_space(end) == json.end);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		at = padded(bad[i]);
		if (dw_json_skip(&json, at))
			CHECK_FAIL("'%s' was accepted", bad[i]);
	}
}

TEST(deep_nesting_is_bounded)
{
	char text[900];

	memset(text, '[', sizeof text);
	text[800] = '\0';
	CHECK(!dw_json_skip(&json, padded(text)));
	text[100] = '\0';
	CHECK(!dw_json_skip(&json, padded(text)) && json.bad_at == json.end);
	for (unsigned i = 0; i < 100; i++)
		text[100 + i] = ']';
	text[200] = '\0';
	CHECK(dw_json_skip(&json, padded(text)) == json.end);
}

/* A window that ends anywhere asks for more, and never reads a value otherwise. */
TEST(a_cut_window_needs_more)
{
	static const char text[] = "{\"ph\":\"X\",\"ts\":12.5,\"args\":{\"a\":[1,true,\"\\u00e9\"]}}";
	char part[sizeof text + 32];

	for (size_t length = 0; length < sizeof text - 1; length++) {
		memset(part, 0, sizeof part);
		memcpy(part, text, length);
		for (unsigned lenient = 0; lenient < 2; lenient++) {
			json = (struct dw_json){ .end = part + length, .lenient = lenient };
			if (dw_json_skip(&json, part) || json.why != DW_JSON_NEEDS_MORE)
				CHECK_FAIL("%zu bytes, lenient %u", length, lenient);
		}
	}
}

CHECK_MAIN
