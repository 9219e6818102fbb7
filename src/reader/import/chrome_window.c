/* The window of a Chrome trace: what of the file lies in memory; see chrome.h. */
#include "import/chrome.h"

#include <stdio.h>
#include <string.h>

bool chrome_more(struct chrome *chrome)
{
	bool more = dw_input_more(&chrome->input);

	chrome->json.end = chrome->input.end;
	chrome->json.last = chrome->input.last;
	return more;
}

char chrome_peek(struct chrome *chrome)
{
	for (;;) {
		chrome_consume(chrome, dw_json_space(chrome->input.at));
		if (chrome->input.at < chrome->input.end)
			return *chrome->input.at;
		if (!chrome_more(chrome))
			return '\0';
	}
}

bool chrome_take(struct chrome *chrome, char c)
{
	if (chrome_peek(chrome) != c || !c)
		return false;
	chrome_consume(chrome, chrome->input.at + 1);
	return true;
}

const char *chrome_parse_value(struct chrome *chrome)
{
	const char *end;

	while (!(end = dw_json_skip(&chrome->json, chrome->input.at)) && chrome->json.why == DW_JSON_NEEDS_MORE &&
	       chrome_more(chrome))
		;
	return end;
}

/* Takes the key and the colon of the next member, and a comma before it. False: the object ends, which was taken, or
 * the file does (*ended is false). Only the first bytes of a long key are kept. */
bool chrome_next_member(struct chrome *chrome, char key[CHROME_KEY], bool *ended)
{
	struct dw_json_string found;
	const char *end;

	chrome_take(chrome, ',');
	*ended = chrome_take(chrome, '}');
	if (*ended || chrome_peek(chrome) != '"')
		return false;
	while (!(end = dw_json_read_string(&chrome->json, chrome->input.at, &found)) &&
	       chrome->json.why == DW_JSON_NEEDS_MORE && chrome_more(chrome))
		;
	if (!end)
		return false;
	snprintf(key, CHROME_KEY, "%.*s", (int)(found.length < CHROME_KEY ? found.length : CHROME_KEY - 1), found.at);
	chrome_consume(chrome, end);
	return chrome_take(chrome, ':');
}

bool chrome_skip(struct chrome *chrome, unsigned depth, uint64_t *records)
{
	char next = chrome_peek(chrome), key[CHROME_KEY];
	const char *end;
	bool ended;

	if (depth && chrome_take(chrome, '[')) {
		while (!chrome_take(chrome, ']')) {
			if (chrome_take(chrome, ','))
				continue;
			if (!chrome_skip(chrome, 0, records))
				return false;
			++*records;
		}
		return true;
	}
	if (depth && next == '{') {
		chrome_take(chrome, '{');
		while (chrome_next_member(chrome, key, &ended))
			if (!chrome_skip(chrome, depth - 1, records))
				return false;
		return ended;
	}
	end = next ? chrome_parse_value(chrome) : NULL;
	if (end)
		chrome_consume(chrome, end);
	return end != NULL;
}

bool chrome_leave_out(struct chrome *chrome, const char *name, bool records)
{
	uint64_t count = 0;
	bool good = chrome_skip(chrome, 1, &count);

	count = records ? count : 1;
	if (!count)
		return good;
	chrome->unread.count += count;
	if (!chrome->unread_kinds || !strstr(chrome->unread_kinds, name))
		chrome->unread_kinds = dw_arena_printf(chrome->arena, "%s%s%s", chrome->unread_kinds ? chrome->unread_kinds : "",
		                                       chrome->unread_kinds ? ", " : "", name);
	return good;
}
