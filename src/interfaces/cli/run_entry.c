/*
 * Finds the function of `dwell run --step-on FUNCTION` in the program's file; see run_entry.h.
 *
 * A name of C++ may be given mangled, or as it is in the source, with or without parameters.
 */
#include "cli/run_entry.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/elf_symbols.h"
#include "cli/preload.h"

/* Whether `name` is the whole of the symbol, or all before its parameters or before a mark of the compiler, as
 * ".constprop.0". */
static bool entry_is(const char *symbol, const char *name)
{
	size_t length = strlen(name);

	return strncmp(symbol, name, length) == 0 &&
	       (symbol[length] == '\0' || symbol[length] == '(' || symbol[length] == '.');
}

/* Not of a part of a function that the compiler put apart. */
static bool entry_has_name(const char *symbol, const char *name)
{
	char *clear = symbol[0] == '_' ? dw_demangle(symbol) : NULL;
	bool part = strstr(symbol, ".cold") || strstr(symbol, ".part.");
	bool is = !part && (entry_is(symbol, name) || (clear && entry_is(clear, name)));

	free(clear);
	return is;
}

/* Whether both are copies that the compiler made of one function. */
static bool entry_is_copy(const char *a, const char *b)
{
	size_t length = strcspn(a, ".");

	return length == strcspn(b, ".") && strncmp(a, b, length) == 0;
}

const char *dw_run_set_entry(const char *program, const char *name)
{
	char found[4096], path[PATH_MAX], text[PATH_MAX + 512];
	const struct dw_elf_function *function = NULL;
	const char *problem = NULL, *function_name = "";
	struct dw_elf_symbols elf;
	int used = 0;

	unsetenv("DWELL_STEP_ENTRY");
	if (!dw_find_program(program, found) || !realpath(found, path) || dw_elf_open(&elf, path, NULL, 0) != 0)
		return "";
	if (strncmp(strrchr(path, '/') + 1, "python", 6) == 0)
		problem = "";
	for (size_t i = 0; i < elf.count && !problem; i++) {
		const struct dw_elf_function *next = &elf.functions[i];
		const char *next_name = dw_elf_name(&elf, next);

		if (!entry_has_name(next_name, name) || (function && function->start == next->start))
			continue;
		if (used > 400 || (function && !entry_is_copy(function_name, next_name)))
			problem = "several functions of the program have this name";
		function = next;
		function_name = next_name;
		used += snprintf(text + used, sizeof text - (size_t)used, "%llx %llx ", (unsigned long long)next->start,
		                 (unsigned long long)(next->end - next->start));
	}
	if (!problem && !function)
		problem = "no function of this name is in the program's symbol table (it may be inlined everywhere, or the program "
		          "stripped), and no range of ITT or NVTX has it";
#ifndef __x86_64__
	if (!problem)
		problem = "steps at functions of native programs are on x86-64 only";
#endif
	if (!problem) {
		snprintf(text + used, sizeof text - (size_t)used, "%s", path);
		setenv("DWELL_STEP_ENTRY", text, 1);
	}
	dw_elf_close(&elf);
	return problem;
}
