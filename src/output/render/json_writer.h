/* Writes JSON to a file, value by value: puts the commas, and escapes texts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct dw_json {
	FILE *file;
	bool more;        /* something stands before in this object or list */
	const char *line; /* a line break that stands before the next value, or NULL */
};

/* Begins a value. The functions below call it. `key` is NULL in a list. */
void dw_json_key(struct dw_json *json, const char *key);
/* The next value begins on a new line, after `line`: a line break and blanks. */
void dw_json_line(struct dw_json *json, const char *line);
/* An object or a list, by its bracket. */
void dw_json_open(struct dw_json *json, const char *key, char bracket);
void dw_json_close(struct dw_json *json, char bracket);
/* NULL is null. */
void dw_json_put_text(struct dw_json *json, const char *key, const char *text);
void dw_json_put_texts(struct dw_json *json, const char *key, const char *const *texts, size_t count);
void dw_json_put_whole(struct dw_json *json, const char *key, uint64_t value);
/* NaN and infinities are null. */
void dw_json_put_real(struct dw_json *json, const char *key, double value);
void dw_json_put_flag(struct dw_json *json, const char *key, bool value);
