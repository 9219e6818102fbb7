/*
 * Lines and inlined functions of a program's file that need not run: for the names that `dwell run`
 * writes when a program has ended. From debug information in the file, or apart in the places where
 * distributions install it, with the same build-id.
 */
#include <stdlib.h>

#include "process/inside.h"
#include "process/lines.h"

_Static_assert(DW_LINES_MOST == DW_UNWIND_INLINED, "all functions of an address are passed on");

struct dw_lines {
	struct dw_process process; /* its arena holds all texts */
	struct dw_unwind unwind;
	Dwfl_Module *module;
	Dwarf_Addr bias;           /* from addresses of the file to those of elfutils */
};

struct dw_lines *dw_lines_open(const char *path, bool for_names)
{
	static char *no_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address, .debuginfo_path = &no_path,
	};
	struct dw_lines *lines = calloc(1, sizeof *lines);

	if (!lines)
		return NULL;
	lines->unwind = (struct dw_unwind){ .dwfl = dwfl_begin(&callbacks), .process = &lines->process };
	if (lines->unwind.dwfl)
		lines->module = dwfl_report_offline(lines->unwind.dwfl, path, path, -1);
	if (lines->module && dwfl_report_end(lines->unwind.dwfl, NULL, NULL) == 0 &&
	    (for_names ? (void *)dwfl_module_getelf(lines->module, &lines->bias)
	               : (void *)dwfl_module_getdwarf(lines->module, &lines->bias)))
		return lines;
	dw_lines_close(lines);
	return NULL;
}

const char *dw_lines_function(struct dw_lines *lines, uint64_t offset)
{
	return dw_unwind_function(&lines->unwind, lines->module, offset + lines->bias);
}

size_t dw_lines_at(struct dw_lines *lines, uint64_t offset, struct dw_line to[DW_LINES_MOST])
{
	struct dw_process_frame frames[DW_UNWIND_INLINED];
	size_t count = dw_unwind_inlined(&lines->unwind, lines->module, offset + lines->bias, frames);

	for (size_t i = 0; i < count; i++)
		to[i] = (struct dw_line){ frames[i].function, frames[i].file, frames[i].line };
	if (count)
		to[count - 1].function = dw_lines_function(lines, offset);
	return count;
}

size_t dw_lines_inlined_into(struct dw_lines *lines, const char *name, char *text, size_t size)
{
	return dw_unwind_inlined_into(&lines->unwind, lines->module, name, text, size);
}

void dw_lines_close(struct dw_lines *lines)
{
	dw_unwind_close(&lines->unwind);
	dw_arena_reset(&lines->process.arena);
	free(lines);
}
