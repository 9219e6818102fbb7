/*
 * Patterns for names: `*` matches any characters, `?` one, any other character itself.
 *
 * Used by the recorder in probes and by readers, so that a list means the same to both. It
 * allocates nothing, does not depend on the locale, and takes at most time in proportion to the
 * product of both lengths.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the first `length` bytes of `pattern` match all of `text`. */
bool dw_glob_match(const char *pattern, size_t length, const char *text);

/* Whether one of the patterns in a list such as "A.b,C.*,D" matches. Empty patterns match
 * nothing. */
bool dw_glob_any(const char *list, const char *text);

/* The next pattern in a list: returns the pattern at *list with its length and moves *list to its
 * end; NULL at the end of the list. Blanks around patterns are skipped. */
const char *dw_glob_next(const char **list, size_t *length);
