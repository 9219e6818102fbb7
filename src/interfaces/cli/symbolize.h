/*
 * Names for the frames of a trace.
 *
 * `dwell run` calls it after the program has ended. The modules are still on this machine then;
 * with the names in the trace, it can be read on any other machine.
 */
#pragma once

#include <stdint.h>

/* Appends SYMBOL entries for every frame of the session's trace that is in a module's symbol or unwind table:
 * one for the function, with its line, and one for each function that was inlined there.
 * Modules that have changed (build-id) or no longer exist are skipped: their frames remain (module,
 * offset). */
void dw_symbolize(void);

/* Its part for code that was made at run time: reads the names from the files in which the processes announced them, perf's
 * map (/tmp/perf-PID.map) and jitdump (jit-PID.dump, wherever it was mapped). Says what could not be read, also in the
 * trace. */
struct dw_source;
void dw_symbolize_made(const struct dw_source *source);
/* Appends one SYMBOL. `nesting` 0: the function itself; more: it was inlined there. */
void dw_symbolize_put(uint32_t frame, uint32_t nesting, const char *name, const char *file, int line);
