/* What a user is told of `dwell run --step-on FUNCTION`, if no process has the function; see run_entry.h. */
#include "launch/run_entry.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code/demangle.h"
#include "base/code/elf_symbols.h"
#include "base/nearest.h"
#include "format/symbol_match.h"
#include "program/executable.h"

#if defined __x86_64__ || defined __aarch64__
#define STEPS_NATIVE true
#else
#define STEPS_NATIVE false
#endif

/* Whether the program's file has it. */
static bool entry_is_there(struct dw_elf_symbols *elf, const char *name)
{
	struct dw_symbol_last last;
	bool is = false;

	dw_symbol_last_word(name, &last);
	for (size_t i = 0; i < elf->count && !is; i++) {
		const char *symbol = dw_elf_name(elf, &elf->functions[i]);
		char *clear = dw_symbol_may_match(symbol, &last) ? dw_demangle(symbol) : NULL;

		is = elf->functions[i].sized && dw_symbol_rank(symbol, clear, name) > 0;
		free(clear);
	}
	return is;
}

/* The function of the program with the nearest name, in `to`; "" if none is near. */
static void entry_find_near(const char *wanted, struct dw_elf_symbols *elf, char to[DW_SYMBOL_NAME_BYTES])
{
	char name[DW_SYMBOL_NAME_BYTES], *tail;
	struct dw_nearest nearest;

	to[0] = '\0';
	dw_nearest_init(&nearest, wanted);
	for (size_t i = 0; i < elf->count; i++) {
		unsigned before = nearest.distance;
		bool had = nearest.best != NULL;

		if (!dw_symbol_name(dw_elf_name(elf, &elf->functions[i]), name))
			continue;
		tail = strrchr(name, ':');
		dw_nearest_try(&nearest, name);
		if (tail)
			dw_nearest_try(&nearest, tail + 1);
		if (nearest.best && (!had || nearest.distance != before))
			snprintf(to, DW_SYMBOL_NAME_BYTES, "%s", name);
	}
}

#define NOT_IN_FILE \
	"no file of this name that was loaded has this function, and no range of ITT or NVTX this name (FILE is its name in its folder " \
	"up to a dot, as libz.so; of a stripped file FILE+0xADDRESS is the function that begins there); or dwell was not loaded into " \
	"the program, as behind sudo and env -i: write dwell run behind them"

const char *dw_run_set_entry(const struct dw_executable *executable, const char *name)
{
	static char problem[PATH_MAX + 1024];
	const char *colon = strchr(name, ':'), *function = colon && colon[1] && colon[1] != ':' ? colon + 1 : name;
	char path[PATH_MAX], near[DW_SYMBOL_NAME_BYTES] = "";
	bool has_file = function != name || strstr(name, "+0x"), is_there;
	struct dw_elf_symbols elf;

	setenv("DWELL_STEP_ENTRY", name, 1);
	if (!*executable->path || !realpath(executable->path, path))
		return NULL;
	if (dw_executable_is_python(path) || dw_elf_open(&elf, path, NULL, 0, NULL, 0) != 0)
		return has_file ? NOT_IN_FILE : NULL;
	is_there = entry_is_there(&elf, function);
	if (!is_there)
		entry_find_near(function, &elf, near);
	dw_elf_close(&elf);
	if (is_there)
		snprintf(problem, sizeof problem,
		         "%s has this function, and %s: dwell attach samples it, and DWELL_STEP() in its source marks steps",
		         path,
		         STEPS_NATIVE ? "loaded no library of dwell (it may be static)"
		                      : "steps at native functions are on x86-64 and aarch64 only");
	else if (has_file)
		return NOT_IN_FILE;
	else
		snprintf(
			problem, sizeof problem,
			"no function of this name is in the symbol table of a program that ran or of a library that it "
			"loaded (it may be inlined everywhere, the file stripped, or dwell not loaded into it, as behind sudo and env -i: "
			"write dwell run behind them), and no range of ITT or NVTX has it%s%.300s; "
			"dwell report --view hot lists functions that were called; those of a stripped file may be given as it "
			"names them, FILE+0xADDRESS",
			*near ? "; a similar one of the program is " : "", near);
	return problem;
}
