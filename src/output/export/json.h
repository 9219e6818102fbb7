/* Whether a text is JSON; see json.c. */
#pragma once

#include <stdbool.h>

/* A whole JSON value, well-formed UTF-8, at most 64 levels deep. */
bool dw_json_valid(const char *text);
