/*
 * Names for the frames of a trace.
 *
 * `dwell run` calls it after the program has ended. The modules are still on this machine then;
 * with the names in the trace, it can be read on any other machine.
 */
#pragma once

#include "read/source.h"

/* Appends SYMBOL entries for every frame of the session's trace that is in a module's symbol or unwind table:
 * one for the function, with its line, and one for each function that was inlined there.
 * Modules that have changed (build-id) or no longer exist are skipped: their frames remain (module,
 * offset). */
void dw_symbolize(const struct dw_source *source);
/* The functions of a file into which the compiler inlined one of this name, as "step, main": at most three, and how many there are.
 * False: it has no debug information. */
bool dw_symbolize_inlined_into(const char *path, const char *name, char *text, size_t size, size_t *count);
