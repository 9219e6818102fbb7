/* Lines and inlined functions at addresses of a file of code; in libdwell-process.so. */
#pragma once

#include <stdbool.h>

#include "dwell/dwell.h"

struct dw_line {
	const char *function;  /* NULL: no symbol table has a name for it */
	const char *file;      /* NULL: not known */
	int line;
};

struct dw_lines;
/* NULL: the file has no debug information, or memory ran out. `for_names`: dw_lines_function() alone will be called, for which
 * symbol tables are enough. */
DWELL_API struct dw_lines *dw_lines_open(const char *path, bool for_names);
/* The function at an address, also from a symbol table that is apart. NULL: no table has it. */
DWELL_API const char *dw_lines_function(struct dw_lines *lines, uint64_t offset);
/* The functions that the compiler inlined at an address of the file, innermost first, and at last the
 * function itself. Returns their number; 0: not known. Texts are valid until dw_lines_close(). */
#define DW_LINES_MOST 32u
DWELL_API size_t dw_lines_at(struct dw_lines *lines, uint64_t offset, struct dw_line to[DW_LINES_MOST]);
/* The functions of the file into which the compiler inlined one of this name, as "step, main": at most three. Returns how many
 * there are. */
DWELL_API size_t dw_lines_inlined_into(struct dw_lines *lines, const char *name, char *text, size_t size);
DWELL_API void dw_lines_close(struct dw_lines *lines);
