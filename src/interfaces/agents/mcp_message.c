/* Places in a message; see mcp.h. */
#include "agents/mcp_message.h"

#include <stdlib.h>
#include <string.h>

#include "import/json.h"

/* The scanner for a message that is known to be JSON, or is looked at for the first time. */
static struct dw_json message_scanner(const char *text, size_t length)
{
	return (struct dw_json){ .end = text + length, .last = true };
}

bool dw_mcp_is_json(const char *text, size_t length)
{
	struct dw_json json = message_scanner(text, length);
	const char *end = strlen(text) == length ? dw_json_skip(&json, text) : NULL;

	return end && dw_json_space(end) == text + length;
}

/* Reads the name at `at`, and sets *value to the place of its value. Returns the place behind the value. */
static const char *message_read_member(struct dw_json *json, const char *at, struct dw_json_string *name, const char **value)
{
	at = dw_json_read_string(json, dw_json_space(at), name);
	*value = at ? dw_json_space(dw_json_space(at) + 1) : NULL; /* behind the colon */
	return at ? dw_json_skip(json, *value) : NULL;
}

/* Calls `take` for each member, with the name as text; ends when it returns false. */
static void message_walk(const char *object, bool (*take)(void *to, const char *name, const char *value), void *to)
{
	struct dw_json json;
	const char *at = object;

	if (!object || *object != '{' || *dw_json_space(object + 1) == '}')
		return;
	json = message_scanner(object, strlen(object));
	do {
		struct dw_json_string name;
		const char *value;
		char text[256];
		bool repaired = false, goes_on;

		at = message_read_member(&json, at + 1, &name, &value);
		if (!at)
			return;
		if (name.length * 3 + 1 <= sizeof text) {
			dw_json_unescape(&name, text, &repaired);
			goes_on = take(to, text, value);
		} else {
			goes_on = take(to, "", value);
		}
		if (!goes_on)
			return;
		at = dw_json_space(at);
	} while (*at == ',');
}

struct message_search {
	const char *name, *value;
};

static bool message_is_it(void *to, const char *name, const char *value)
{
	struct message_search *search = to;

	if (strcmp(name, search->name) == 0)
		search->value = value;
	return !search->value;
}

const char *dw_mcp_member(const char *object, const char *name)
{
	struct message_search search = { name, NULL };

	message_walk(object, message_is_it, &search);
	return search.value;
}

struct message_names {
	bool (*take)(void *to, const char *name);
	void *to;
};

static bool message_take_name(void *to, const char *name, const char *value)
{
	const struct message_names *names = to;

	return names->take(names->to, name);
}

void dw_mcp_names(const char *object, bool (*take)(void *to, const char *name), void *to)
{
	struct message_names names = { take, to };

	message_walk(object, message_take_name, &names);
}

const char *dw_mcp_item(const char *list, const char *item)
{
	struct dw_json json;
	const char *at = list;

	if (!list || *list != '[')
		return NULL;
	if (item) {
		json = message_scanner(list, strlen(list));
		at = dw_json_skip(&json, item);
		at = at ? dw_json_space(at) : NULL;
	}
	if (!at || *at == (item ? ']' : '\0'))
		return NULL;
	at = dw_json_space(at + 1);
	return *at == ']' ? NULL : at;
}

size_t dw_mcp_length(const char *value)
{
	struct dw_json json = message_scanner(value, strlen(value));
	const char *end = dw_json_skip(&json, value);

	return end ? (size_t)(end - value) : 0;
}

char *dw_mcp_text(const char *value)
{
	struct dw_json json = message_scanner(value, strlen(value));
	struct dw_json_string string;
	bool repaired = false;
	char *text;

	if (*value == '-' || (*value >= '0' && *value <= '9'))
		return strndup(value, dw_mcp_length(value));
	if (*value != '"' || !dw_json_read_string(&json, value, &string))
		return NULL;
	text = malloc((size_t)string.length * 3 + 1);
	if (text)
		dw_json_unescape(&string, text, &repaired);
	return text;
}
