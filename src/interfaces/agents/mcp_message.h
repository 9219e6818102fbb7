/* Places in a message of JSON, which ends with a NUL and has DW_MCP_SLACK bytes behind it; see mcp.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DW_MCP_SLACK 32u

/* Whether the text is one value of JSON. */
bool dw_mcp_is_json(const char *text, size_t length);
/* The value of an object's member; NULL: it has none of that name, or `object` is no object. */
const char *dw_mcp_member(const char *object, const char *name);
/* The first item of a list, or the next behind `item`; NULL: there is none. */
const char *dw_mcp_item(const char *list, const char *item);
/* The value's length. */
size_t dw_mcp_length(const char *value);
/* The text of a string, or of a number as it is written; NULL: it is neither, has a NUL, or memory is out. The caller frees it. */
char *dw_mcp_text(const char *value);
/* Calls `take` for each member's name; it returns false to end. */
void dw_mcp_names(const char *object, bool (*take)(void *to, const char *name), void *to);
