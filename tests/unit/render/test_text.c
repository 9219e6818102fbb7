/* Quantities, UTF-8 and JSON strings; and rendering of missing and infinite values. */
#include "check.h"

#include "base/text.h"
#include "render/render.h"

TEST(durations_have_three_digits_and_round_into_the_next_unit)
{
	CHECK_STR(dw_text_ns(0, " ").at, "0");
	CHECK_STR(dw_text_ns(1, " ").at, "1 ns");
	CHECK_STR(dw_text_ns(999, "").at, "999ns");
	CHECK_STR(dw_text_ns(999.4, "").at, "999ns");
	CHECK_STR(dw_text_ns(999.6, "").at, "1.00us");
	CHECK_STR(dw_text_ns(1000, "").at, "1.00us");
	CHECK_STR(dw_text_ns(9994, "").at, "9.99us");
	CHECK_STR(dw_text_ns(9996, "").at, "10.0us");
	CHECK_STR(dw_text_ns(99940, "").at, "99.9us");
	CHECK_STR(dw_text_ns(99960, "").at, "100us");
	CHECK_STR(dw_text_ns(999499, "").at, "999us");
	CHECK_STR(dw_text_ns(999500, "").at, "1.00ms");
	CHECK_STR(dw_text_ns(93.4e9, " ").at, "93.4 s");
	CHECK_STR(dw_text_ns(999.6e9, "").at, "1,000s");
	CHECK_STR(dw_text_ns(12345e9, "").at, "12,345s");
	CHECK_STR(dw_text_ns(-1500, "").at, "-1.50us");
	CHECK_STR(dw_text_ns(NAN, "").at, "-");
}

TEST(a_duration_like_another_has_its_unit_and_decimals)
{
	CHECK_STR(dw_text_ns_like(104.7e6, 99.6e6).at, "104.7");
	CHECK_STR(dw_text_ns_like(0.4e6, 42.1e6).at, "0.4");
	CHECK_STR(dw_text_ns_like(15, 5).at, "15");
	CHECK_STR(dw_text_ns_unit(99.6e6), "ms");
	CHECK_STR(dw_text_ns_unit(0), "ns");
}

TEST(bytes_counts_and_percentages)
{
	CHECK_STR(dw_text_bytes(0, " ").at, "0");
	CHECK_STR(dw_text_bytes(512, " ").at, "512 B");
	CHECK_STR(dw_text_bytes(1536, "").at, "1.50KiB");
	CHECK_STR(dw_text_bytes(41.2 * 1048576, " ").at, "41.2 MiB");
	CHECK_STR(dw_text_count(0).at, "0");
	CHECK_STR(dw_text_count(999).at, "999");
	CHECK_STR(dw_text_count(1000).at, "1,000");
	CHECK_STR(dw_text_count(1204331).at, "1,204,331");
	CHECK_STR(dw_text_count(INT64_MIN).at, "-9,223,372,036,854,775,808");
	CHECK_STR(dw_text_percent(0.2653).at, "26.5%");
	CHECK_STR(dw_text_percent(NAN).at, "-");
	CHECK_STR(dw_text_number(0.5).at, "0.5");
	CHECK_STR(dw_text_number(1234567).at, "1,234,567");
}

/* What is no UTF-8: a lone byte, an overlong slash, a surrogate, a cut character. */
TEST(invalid_bytes_are_replaced_one_by_one)
{
	const char *texts[] = { "\xff", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x82", "\xf4\x90\x80\x80" };
	const size_t counts[] = { 1, 2, 3, 2, 4 };

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		const char *at = texts[i];
		size_t count = 0;
		uint32_t code;

		while ((code = dw_utf8_next(&at)) != 0) {
			CHECK_EQ(code, 0xfffd);
			count++;
		}
		CHECK_EQ(count, counts[i]);
	}
}

TEST(valid_characters_come_back_as_they_were)
{
	const char *text = "a\u00e9\u6f22\U0001f600\ufffd", *at = text;
	char again[32];
	size_t used = 0;
	uint32_t code;

	while ((code = dw_utf8_next(&at)) != 0)
		used += dw_utf8_put(again + used, code);
	again[used] = '\0';
	CHECK_STR(again, text);
	CHECK_EQ(dw_utf8_columns('a'), 1);
	CHECK_EQ(dw_utf8_columns(0x301), 0);
	CHECK_EQ(dw_utf8_columns(0x6f22), 2);
}

static void append(void *to, const char *bytes, size_t length)
{
	strncat(to, bytes, length);
}

TEST(json_strings_are_escaped)
{
	char text[128] = "";

	dw_json_text(append, text, "a\"b\\c\n\t\x01\x7f\xffz\ufffd\u00e9");
	CHECK_STR(text, "\"a\\\"b\\\\c\\n\\t\\u0001\\u007f\ufffdz\ufffd\u00e9\"");
}

/* ---- renderers -------------------------------------------------------------------------- */

static const struct dw_column columns[] = {
	DW_COLUMN("name", "name", NONE, TEXT),
	DW_COLUMN("value", "value", RATIO, REAL),
	DW_COLUMN("count", "count", COUNT, INT),
};

static const char *rendered(const char *format, unsigned width)
{
	static char text[4096];
	const double values[] = { NAN, INFINITY, 0.5 };
	struct dwell_table *table = dw_table_create("test", columns, 3);
	struct dwell_print_options options = { .width = width };
	FILE *file = fmemopen(text, sizeof text, "w");

	for (int i = 0; i < 3; i++) {
		struct dw_cell *row = dw_table_row(table, 0);

		dw_cell_text(table, &row[0], i == 0 ? "a,\"b\"" : "a|\x1b[0m");
		dw_cell_real(&row[1], values[i]);
		if (i)
			dw_cell_int(&row[2], INT64_MAX);
	}
	CHECK_EQ(dw_render(dw_renderer_find(format, NULL), (const struct dwell_table *const[]){ table }, 1,
	                   file, &options, NULL), 0);
	fclose(file);
	dw_table_destroy(table);
	return text;
}

TEST(values_that_are_none_are_blank_empty_or_null)
{
	CHECK_STR(rendered("csv", 0), "name,value,count\r\n\"a,\"\"b\"\"\",,\r\n"
	                              "a|\x1b[0m,,9223372036854775807\r\n"
	                              "a|\x1b[0m,0.5,9223372036854775807\r\n");
	CHECK_HAS(rendered("json", 0), "[\"a,\\\"b\\\"\",null,null]");
	CHECK_HAS(rendered("json", 0), "[\"a|\\u001b[0m\",null,9223372036854775807]");
	CHECK_HAS(rendered("text", 0), "a,\"b\"\n");
	CHECK_HAS(rendered("md", 0), "| a\\| \\[0m | 50.0% | 9,223,372,036,854,775,807 |");
}

TEST(nothing_that_steers_a_terminal_reaches_it)
{
	CHECK(!strchr(rendered("text", 0), '\x1b'));
	CHECK(!strchr(rendered("text", 80), '\x1b'));
	CHECK(!strchr(rendered("csv", 80), '\x1b'));
}

TEST(an_unknown_format_is_told_the_nearest)
{
	struct dwell_error error = { 0, "" };

	CHECK(!dw_renderer_find("jsn", &error));
	CHECK_EQ(error.code, DWELL_E_NAME);
	CHECK_HAS(error.message, "did you mean 'json'");
}

CHECK_MAIN
