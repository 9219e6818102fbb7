/* Patterns; see glob.h. */
#include "base/glob.h"

#include <string.h>

bool dw_glob_match(const char *pattern, size_t length, const char *text)
{
	const char *end = pattern + length, *star = NULL, *from = NULL;

	/* A star first matches as little as possible. Only the last star may have to match more,
	 * because what matched before it stays matched. */
	while (*text) {
		if (pattern < end && *pattern == '*') {
			star = pattern++;
			from = text;
		} else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++from;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

const char *dw_glob_next(const char **list, size_t *length)
{
	const char *at = *list + strspn(*list, ", ");

	*length = strcspn(at, ",");
	*list = at + *length;
	while (*length && at[*length - 1] == ' ')
		--*length;
	return *length ? at : NULL;
}

bool dw_glob_any(const char *list, const char *text)
{
	const char *pattern;
	size_t length;

	while ((pattern = dw_glob_next(&list, &length)))
		if (dw_glob_match(pattern, length, text))
			return true;
	return false;
}
