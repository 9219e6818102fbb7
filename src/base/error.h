/*
 * Fills a caller's dwell_error.
 *
 * dw_error_set() returns the code, so that a failing function can end with
 * `return dw_error_set(error, DWELL_E_IO, "cannot open %s: %s; ...", ...)`.
 * The message names the file, the place and the remedy.
 */
#pragma once

#include "dwell/dwell.h"

int dw_error_set(struct dwell_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
