/*
 * Text: quantities in readable units, UTF-8, JSON strings.
 *
 * Used by views (sentences), renderers (cells), exporters and the command. A quantity is returned
 * by value, so that it can be an argument of printf():
 *
 *     dw_table_head(table, "%s a step", dw_text_ns(mean_ns, " ").at);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dw_text {
	char at[40];
};

/* Three significant digits and the unit: "812ns", "99.6ms", "3.11s"; `gap` is put between the
 * two. */
struct dw_text dw_text_ns(double ns, const char *gap);
/* In the unit and with the decimals of `like_ns`, but without the unit. */
struct dw_text dw_text_ns_like(double ns, double like_ns);
/* What the parts of a whole, of which this is the largest, are displayed like: so that each has a decimal. */
double dw_text_like(double most_ns);
const char *dw_text_ns_unit(double like_ns);
struct dw_text dw_text_bytes(double bytes, const char *gap); /* KiB, MiB, ... */
struct dw_text dw_text_count(int64_t count);                 /* "1,204,331" */
struct dw_text dw_text_percent(double ratio);                /* "26.5%" */
struct dw_text dw_text_number(double value);                 /* three digits, no trailing zeros */

/* Reads a time with its unit, "10us", "1.5 ms", "2s" or "1m", up to its end; *end is the first
 * byte after it. False: it is none. */
bool dw_text_parse_ns(const char *text, const char **end, uint64_t *ns);

/* "s", or "" if the count is one. */
static inline const char *dw_text_plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/* Whether both are the same text, or both are NULL. */
static inline bool dw_text_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The name of a file without its folders. */
static inline const char *dw_text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* For lists of X(name, text): the texts, as the initialiser of an array. */
#define DW_LIST_TEXT(name, text) text,

/* The next code point, 0 at the end. Each byte that is not valid UTF-8 gives U+FFFD. */
uint32_t dw_utf8_next(const char **text);
/* Returns the number of bytes written, at most 4; adds no NUL. */
unsigned dw_utf8_put(char *to, uint32_t code);
/* Whether a terminal executes the code point instead of showing it: control characters of both sets
 * (C0, DEL and C1) and changes of the direction of writing. */
bool dw_utf8_steers(uint32_t code);
/* Replaces code points that a terminal executes, and invalid UTF-8, by '?', in place. `lines`:
 * keeps line ends and tabs. All code that prints texts from a trace uses one of the two
 * functions. */
void dw_text_disarm(char *text, bool lines);
/* The width in columns of a terminal: 0, 1 or 2. */
unsigned dw_utf8_columns(uint32_t code);
/* Whether the environment's locale uses UTF-8. */
bool dw_utf8_locale(void);

typedef void dw_put(void *to, const char *bytes, size_t length);

/* Writes a JSON string with its quotes; invalid UTF-8 becomes U+FFFD. */
void dw_json_text(dw_put *put, void *to, const char *text);

/* Defines a function that names each value of an enum, which a list made: LIST(X) with X(VALUE, "its name") for each. */
#define DW_NAMES(function, type, LIST)              \
	const char *function(type value)                \
	{                                               \
		static const char *const names[] = { LIST(DW_NAMES_TEXT) }; \
                                                    \
		return names[value];                        \
	}
#define DW_NAMES_TEXT(value, name) name,
