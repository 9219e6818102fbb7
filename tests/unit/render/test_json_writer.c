/* JSON, value by value. */
#include "check.h"

#include "render/json_writer.h"

static char text[512];
static struct dw_json json;

static void begin(void)
{
	json = (struct dw_json){ .file = fmemopen(text, sizeof text, "w") };
}

static void end(void)
{
	fclose(json.file);
}

TEST(commas_stand_between_values_of_an_object_or_list)
{
	static const char *const texts[] = { "a", "b" };

	begin();
	dw_json_open(&json, NULL, '{');
	dw_json_put_whole(&json, "whole", UINT64_MAX);
	dw_json_open(&json, "list", '[');
	dw_json_open(&json, NULL, '{');
	dw_json_close(&json, '}');
	dw_json_put_flag(&json, NULL, true);
	dw_json_close(&json, ']');
	dw_json_put_texts(&json, "texts", texts, 2);
	dw_json_put_texts(&json, "none", texts, 0);
	dw_json_close(&json, '}');
	end();
	CHECK_STR(text, "{\"whole\":18446744073709551615,\"list\":[{},true],\"texts\":[\"a\",\"b\"],\"none\":[]}");
}

TEST(what_is_no_number_or_text_is_null)
{
	begin();
	dw_json_open(&json, NULL, '[');
	dw_json_put_real(&json, NULL, 1.5);
	dw_json_put_real(&json, NULL, NAN);
	dw_json_put_real(&json, NULL, INFINITY);
	dw_json_put_text(&json, NULL, NULL);
	dw_json_put_text(&json, NULL, "a \"b\"\n");
	dw_json_close(&json, ']');
	end();
	CHECK_STR(text, "[1.5,null,null,null,\"a \\\"b\\\"\\n\"]");
}

TEST(a_line_begins_behind_the_comma)
{
	begin();
	dw_json_open(&json, NULL, '[');
	dw_json_line(&json, "\n ");
	dw_json_put_whole(&json, NULL, 1);
	dw_json_line(&json, "\n ");
	dw_json_put_whole(&json, NULL, 2);
	dw_json_put_whole(&json, NULL, 3);
	dw_json_close(&json, ']');
	end();
	CHECK_STR(text, "[\n 1,\n 2,3]");
}

CHECK_MAIN
