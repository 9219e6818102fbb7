/* Which texts are JSON. */
#include "check.h"
#include "export/json.h"

TEST(json_is_recognised)
{
	static const char *const texts[] = {
		"1",      "-0.5e+3", " null ",
		"true",   "\"\"",    "{}",
		"[]",     "[ ]",     "{ \"a\" : [1, {\"b\": \"\\u00e4\\n\"}, [[]]], \"c\":{} }",
		"\"ä€\"", "[1,2]\n", "1E5",
		"[{},{}]"
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (!dw_json_valid(texts[i]))
			CHECK_FAIL("refused: %s", texts[i]);
}

TEST(what_is_no_json_is_refused)
{
	static const char *const texts[] = {
		"",         " ",           "NaN",      "Infinity",   "-",
		"01",       "1.",          ".5",       "1e",         "+1",
		"nul",      "nullx",       "{",        "}",          "[1,]",
		"[,1]",     "{\"a\"}",     "{\"a\":}", "{\"a\":1,}", "{a:1}",
		"{1:1}",    "[1 2]",       "[1]]",     "1 2",        "\"",
		"\"\\x\"",  "\"\\u12g4\"", "\"\\u12",  "'a'",        "\"a\nb\"",
		"\"\xff\"", "[}",          "{]",       "\"\\",       "{\"a\":1 \"b\":2}",
		"["
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (dw_json_valid(texts[i]))
			CHECK_FAIL("taken: %s", texts[i]);
}

TEST(depth_is_limited)
{
	char text[201];

	memset(text, '[', 100);
	memset(text + 100, ']', 100);
	text[200] = '\0';
	CHECK(!dw_json_valid(text));
	CHECK(dw_json_valid(text + 36) == false); /* not closed as often as opened */
	text[164] = '\0';
	CHECK(dw_json_valid(text + 36));
}

CHECK_MAIN
