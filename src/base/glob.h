/*
 * Names by pattern: `*` is any characters, `?` one of them, all else itself.
 *
 * Used by the recorder in probes and by readers, so that a list means the same to both:
 * it allocates nothing, asks no locale and takes time in the product of both lengths at
 * most.
 */
#ifndef DW_BASE_GLOB_H
#define DW_BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* The first `length` bytes of `pattern` against all of `text`. */
bool dw_glob_match(const char *pattern, size_t length, const char *text);

/* A list "A.b,C.*,D": whether one of its patterns matches. Empty ones match nothing. */
bool dw_glob_any(const char *list, const char *text);

/* Steps through a list: the pattern at *list with its length, and *list moved past it;
 * NULL at the end. Blanks around patterns are left out. */
const char *dw_glob_next(const char **list, size_t *length);

#endif
