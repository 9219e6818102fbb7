/* Numbers in Python's format: the output of f"{value:.5}" in CPython 3.11. */
#include "check.h"

#include "layouts/python.h"

TEST(reals_are_as_python_formats_them)
{
	static const struct { double value; const char *text; } cases[] = {
		{ 0.0, "0.0" }, { 1.0, "1.0" }, { 74.9, "74.9" }, { 49.9114, "49.911" },
		{ 0.010002, "0.010002" }, { 2.15e-06, "2.15e-06" }, { 0.0001, "0.0001" },
		{ 0.00001, "1e-05" }, { 9999.0, "9999.0" }, { 9999.96, "1e+04" },
		{ 12345.0, "1.2345e+04" }, { 1234.56, "1234.6" }, { 100000.0, "1e+05" },
		{ 99999.6, "1e+05" }, { 0.99999999, "1.0" }, { 0.0000999996, "0.0001" },
		{ 1e-300, "1e-300" }, { 6.1558, "6.1558" },
	};
	char text[32];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		dw_layout_python_real(text, cases[i].value, 5);
		CHECK_STR(text, cases[i].text);
	}
}

TEST(characters_are_code_points)
{
	CHECK_EQ(dw_layout_characters("", 0), 0);
	CHECK_EQ(dw_layout_characters("abcd", 3), 3);
	CHECK_EQ(dw_layout_characters("\xc3\x9c" "ber", 5), 4);
}

CHECK_MAIN
