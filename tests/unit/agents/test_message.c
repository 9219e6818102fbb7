/* Places in a message of JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/mcp_message.h"
#include "check.h"

/* A message with the space that readers need behind it. */
static const char *message_of(const char *text)
{
	static char message[4096 + DW_MCP_SLACK];

	memset(message, 0, sizeof message);
	snprintf(message, 4096, "%s", text);
	return message;
}

static bool is_json(const char *text)
{
	return dw_mcp_is_json(message_of(text), strlen(text));
}

static bool member_is(const char *object, const char *name, const char *wanted)
{
	const char *value = dw_mcp_member(object, name);
	char *text = value ? dw_mcp_text(value) : NULL;
	bool is = text ? wanted && strcmp(text, wanted) == 0 : !wanted;

	free(text);
	return is;
}

TEST(a_message_is_one_value)
{
	CHECK(is_json("{}") && is_json(" [1, 2] ") && is_json("{\"a\":{\"b\":[null,true]}}"));
	CHECK(!is_json("") && !is_json("{") && !is_json("{}{}") && !is_json("{\"a\" 1}") && !is_json("[1,]") && !is_json("nul"));
	CHECK(!dw_mcp_is_json(message_of("{}"), 3)); /* a NUL is in it */
}

TEST(members_are_found_at_their_own_level)
{
	const char *object = message_of("{ \"id\" : 7 ,\"params\": {\"name\":\"x\\u00e9\\n\",\"id\":8}, \"name\" :\"outer\"}");

	CHECK(member_is(object, "id", "7"));
	CHECK(member_is(object, "name", "outer"));
	CHECK(member_is(dw_mcp_member(object, "params"), "name", "x\xc3\xa9\n"));
	CHECK(member_is(object, "na", NULL) && member_is(object, "", NULL));
	CHECK(!dw_mcp_member(NULL, "x") && !dw_mcp_member(message_of("{}"), "x") && !dw_mcp_member(message_of("[1]"), "x"));
	CHECK_EQ(dw_mcp_length(message_of("{\"a\":1} ,")), 7);
}

TEST(lists_have_items)
{
	const char *list = message_of("[ \"a\" ,\"b,]\", [3] ] "), *item = dw_mcp_item(list, NULL);
	char *text;

	REQUIRE(item);
	item = dw_mcp_item(list, item);
	REQUIRE(item);
	text = dw_mcp_text(item);
	CHECK_STR(text, "b,]");
	free(text);
	item = dw_mcp_item(list, item);
	REQUIRE(item);
	CHECK(!dw_mcp_text(item));
	CHECK(!dw_mcp_item(list, item));
	CHECK(!dw_mcp_item(message_of("[]"), NULL) && !dw_mcp_item(message_of("{}"), NULL) && !dw_mcp_item(NULL, NULL));
}

static bool count_name(void *to, const char *name)
{
	++*(unsigned *)to;
	return strcmp(name, "last") != 0;
}

TEST(names_of_members_are_listed_until_one_ends_it)
{
	unsigned count = 0;

	dw_mcp_names(message_of("{\"a\":1,\"last\":[{}],\"c\":2}"), count_name, &count);
	CHECK_EQ(count, 2);
}

CHECK_MAIN
