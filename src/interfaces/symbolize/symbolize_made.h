/* The part of symbolize.h for code that was made at run time. */
#pragma once

#include "read/source.h"

/* Reads names from the files in which the processes announced them, perf's map (/tmp/perf-PID.map) and jitdump
 * (jit-PID.dump, wherever it was mapped), and appends SYMBOL entries. Says what could not be read, also in the trace. */
void dw_symbolize_made(const struct dw_source *source);
/* Appends one SYMBOL. `nesting` 0: the function itself; more: it was inlined there. */
void dw_symbolize_put(uint32_t frame, uint32_t nesting, const char *name, const char *file, int line, enum dw_code_loop loop);
