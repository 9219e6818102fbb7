/* Numbers, strings and the buffer of an export's output. */
#include <locale.h>

#include "check.h"
#include "export/out.h"

static struct dw_writer_out out;

static const char *text(void)
{
	dw_out_bytes(&out, "", 1);
	return out.buffer;
}

#define CHECK_WRITES(call, expected) \
	do { \
		dw_out_init_memory(&out); \
		call; \
		CHECK_STR(text(), expected); \
		dw_out_reset(&out); \
	} while (0)

TEST(integers_have_their_digits)
{
	char expected[32];
	uint64_t value = 1;

	CHECK_WRITES(dw_out_u64(&out, 0), "0");
	CHECK_WRITES(dw_out_u64(&out, UINT64_MAX), "18446744073709551615");
	CHECK_WRITES(dw_out_i64(&out, INT64_MIN), "-9223372036854775808");
	CHECK_WRITES(dw_out_i64(&out, -1), "-1");
	for (int i = 0; i < 20; i++, value *= 10) {
		for (int d = -1; d <= 1; d++) {
			snprintf(expected, sizeof expected, "%" PRIu64, value + (uint64_t)d);
			CHECK_WRITES(dw_out_u64(&out, value + (uint64_t)d), expected);
		}
	}
}

TEST(microseconds_keep_every_nanosecond)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{ 0, "0.000" },
		{ 1, "0.001" },
		{ 10, "0.010" },
		{ 999, "0.999" },
		{ 1000, "1.000" },
		{ 123456789, "123456.789" },
		{ UINT64_MAX, "18446744073709551.615" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char buffer[DW_PUT_US + 1], *end = dw_put_us(buffer, cases[i].ns);

		CHECK(end - buffer <= DW_PUT_US);
		*end = '\0';
		CHECK_STR(buffer, cases[i].text);
	}
}

TEST(reals_read_back_as_they_were)
{
	static const double values[] = { 0.1,
		                             0.25,
		                             1.0 / 3,
		                             1e-7,
		                             5e-324,
		                             1e300,
		                             -2.5,
		                             123456.654321,
		                             999999999.5,
		                             1e9 + 0.5,
		                             0.000001,
		                             -0.000001,
		                             9007199254740993.0,
		                             2.2250738585072014e-308 };

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		dw_out_init_memory(&out);
		dw_out_real(&out, values[i]);
		CHECK(strtod(text(), NULL) == values[i]);
		dw_out_reset(&out);
	}
	CHECK_WRITES(dw_out_real(&out, 0.25), "0.25");
	CHECK_WRITES(dw_out_real(&out, -0.000001), "-0.000001");
	CHECK_WRITES(dw_out_real(&out, 3), "3");
	CHECK_WRITES(dw_out_real(&out, -4096), "-4096");
}

TEST(reals_that_json_has_not_are_null)
{
	CHECK_WRITES(dw_out_real(&out, NAN), "null");
	CHECK_WRITES(dw_out_real(&out, INFINITY), "null");
	CHECK_WRITES(dw_out_real(&out, -INFINITY), "null");
}

TEST(reals_have_a_point_in_every_locale)
{
	const char *locale = setlocale(LC_ALL, "de_DE.UTF-8");

	CHECK_WRITES(dw_out_real(&out, 1.0 / 3), "0.33333333333333331");
	CHECK_WRITES(dw_out_real(&out, 1e-9), "1.0000000000000001e-09");
	if (locale)
		setlocale(LC_ALL, "C");
}

TEST(big_integers_are_strings)
{
	CHECK_WRITES(dw_out_big(&out, (uint64_t)1 << 53), "9007199254740992");
	CHECK_WRITES(dw_out_big(&out, ((uint64_t)1 << 53) + 1), "\"9007199254740993\"");
	CHECK_WRITES(dw_out_hex(&out, 0), "\"0x0\"");
	CHECK_WRITES(dw_out_hex(&out, UINT64_MAX), "\"0xffffffffffffffff\"");
}

TEST(strings_are_escaped)
{
	CHECK_WRITES(dw_out_string(&out, "aten::add"), "\"aten::add\"");
	CHECK_WRITES(dw_out_string(&out, ""), "\"\"");
	CHECK_WRITES(dw_out_string(&out, NULL), "null");
	CHECK_WRITES(dw_out_string(&out, "a\"b\\c"), "\"a\\\"b\\\\c\"");
	CHECK_WRITES(dw_out_string(&out, "a\nb\tc\x01"), "\"a\\nb\\tc\\u0001\"");
	CHECK_WRITES(dw_out_string(&out, "\x7f\x1f"), "\"\\u007f\\u001f\"");
}

TEST(strings_are_utf8_whatever_they_were)
{
	CHECK_WRITES(dw_out_string(&out, "größe €𝄞"), "\"größe €𝄞\"");
	CHECK_WRITES(dw_out_string(&out, "a\xff"
	                                 "b"),
	             "\"a\xef\xbf\xbd"
	             "b\"");
	CHECK_WRITES(dw_out_string(&out, "\xc0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
	CHECK_WRITES(dw_out_string(&out, "\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	CHECK_WRITES(dw_out_string(&out, "cut \xe2\x82"), "\"cut \xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(an_output_in_memory_grows)
{
	size_t length = 3 * DW_OUT_BYTES;
	char *many = malloc(length);

	REQUIRE(many);
	memset(many, 'x', length);
	dw_out_init_memory(&out);
	dw_out_bytes(&out, many, length);
	dw_out_u64(&out, 7);
	CHECK_EQ(out.used, length + 1);
	CHECK(out.buffer[length] == '7' && memcmp(out.buffer, many, length) == 0);
	dw_out_reset(&out);
	free(many);
}

CHECK_MAIN
