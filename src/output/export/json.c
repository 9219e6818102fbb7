/*
 * Checks whether a text is JSON (RFC 8259), for texts that a program stored as JSON.
 *
 * A valid text is copied to the output unchanged, so the check is strict: no NaN, no trailing
 * commas, UTF-8 only. Depth is limited, because recursive parsers have a limited stack.
 */

#include "base/text.h"
#include "export/json.h"

#define DEEPEST 64u

static const char *json_skip_blanks(const char *at)
{
	return at + strspn(at, " \t\r\n");
}

/* Each of these functions returns the first byte after the item that it skips, or NULL if the item
 * is not there. */
static const char *json_skip_string(const char *at)
{
	if (*at++ != '"')
		return NULL;
	while (*at != '"') {
		const char *was = at;
		uint32_t code = dw_utf8_next(&at);

		if (dw_utf8_steers(code) || (code == 0xfffd && at - was == 1))
			return NULL;
		if (code != '\\')
			continue;
		if (*at == 'u') {
			if (strspn(at + 1, "0123456789abcdefABCDEF") < 4)
				return NULL;
			at += 5;
		} else if (*at && strchr("\"\\/bfnrt", *at)) {
			at++;
		} else {
			return NULL;
		}
	}
	return at + 1;
}

static const char *json_skip_digits(const char *at)
{
	size_t length = strspn(at, "0123456789");

	return length ? at + length : NULL;
}

static const char *json_skip_number(const char *at)
{
	at += *at == '-';
	at = *at == '0' ? at + 1 : json_skip_digits(at);
	if (at && *at == '.')
		at = json_skip_digits(at + 1);
	if (at && (*at == 'e' || *at == 'E')) {
		at++;
		at = json_skip_digits(at + (*at == '+' || *at == '-'));
	}
	return at;
}

static const char *json_skip_scalar(const char *at)
{
	static const char *const words[] = { "true", "false", "null" };

	if (*at == '"')
		return json_skip_string(at);
	for (size_t i = 0; i < 3; i++)
		if (strncmp(at, words[i], strlen(words[i])) == 0)
			return at + strlen(words[i]);
	return json_skip_number(at);
}

/* Skips "name" : before the value of a member. */
static const char *json_skip_key(const char *at)
{
	at = json_skip_string(json_skip_blanks(at));
	if (!at)
		return NULL;
	at = json_skip_blanks(at);
	return *at == ':' ? at + 1 : NULL;
}

bool dw_json_valid(const char *text)
{
	char closers[DEEPEST];
	unsigned depth = 0;
	const char *at = text;

	for (;;) {
		bool empty = false;

		at = json_skip_blanks(at);
		if (*at == '{' || *at == '[') {
			if (depth == DEEPEST)
				return false;
			closers[depth++] = *at == '{' ? '}' : ']';
			at = json_skip_blanks(at + 1);
			empty = *at == closers[depth - 1];
			if (!empty) {
				if (closers[depth - 1] == '}' && !(at = json_skip_key(at)))
					return false;
				continue;
			}
		} else if (!(at = json_skip_scalar(at))) {
			return false;
		}
		/* after a value, or at the end of an empty object or array */
		for (at = json_skip_blanks(at); depth && *at == closers[depth - 1]; at = json_skip_blanks(at + 1))
			depth--;
		if (!depth)
			return !*at;
		if (*at++ != ',')
			return false;
		if (closers[depth - 1] == '}' && !(at = json_skip_key(at)))
			return false;
	}
}
