/*
 * Finds the function of `dwell run --step-on FUNCTION` in the program's file; see run_entry.h.
 *
 * A name of C++ may be given mangled, or as it is in the source, with or without parameters; and without namespaces and
 * classes, if one function has it then.
 */
#include "cli/run_entry.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/demangle.h"
#include "base/elf_symbols.h"
#include "base/nearest.h"
#include "cli/preload.h"
#include "format/symbol_name.h"

/* Whether `name` is the whole of the symbol, or all before its parameters or before a mark of the compiler, as
 * ".constprop.0". */
static bool entry_is(const char *symbol, const char *name)
{
	size_t length = strlen(name);

	return strncmp(symbol, name, length) == 0 &&
	       (symbol[length] == '\0' || symbol[length] == '(' || symbol[length] == '.');
}

/* How well a symbol fits: 3: the name is given as it is in the source or mangled; else as dw_symbol_matches(). */
static unsigned entry_rank(const char *symbol, const char *name, const char *plain)
{
	char *clear = symbol[0] == '_' ? dw_demangle(symbol) : NULL, own[DW_SYMBOL_NAME_BYTES];
	bool is = entry_is(symbol, name) || (clear && entry_is(clear, name));

	free(clear);
	if (dw_symbol_is_part(symbol)) /* a part that the user names itself is a function of its own */
		return strcmp(symbol, name) == 0 ? 3 : 0;
	return is ? 3 : dw_symbol_name(symbol, own) ? dw_symbol_matches(own, plain) : 0;
}

/* Whether both are copies that the compiler made of one function. */
static bool entry_is_copy(const char *a, const char *b)
{
	size_t length = strcspn(a, ".");

	return length == strcspn(b, ".") && strncmp(a, b, length) == 0;
}

struct entry {
	const char *name;                   /* as the user wrote it */
	char plain[DW_SYMBOL_NAME_BYTES];   /* and without parameters */
	unsigned rank;
	const char *symbol;                 /* the first one of this rank */
	bool several;
	char places[512];                   /* "4011f0 2b ..." of the copies */
	int used;
	char others[300];                   /* the names, if there are several */
};

static void entry_add_other(struct entry *entry, const char *symbol)
{
	char *clear = dw_demangle(symbol);
	size_t used = strlen(entry->others);

	if (used < sizeof entry->others / 2)
		snprintf(entry->others + used, sizeof entry->others - used, "%s%.140s", used ? ", " : "", clear ? clear : symbol);
	free(clear);
}

static void entry_find(struct entry *entry, struct dw_elf_symbols *elf)
{
	uint64_t start = 0;

	for (size_t i = 0; i < elf->count; i++) {
		const struct dw_elf_function *next = &elf->functions[i];
		const char *symbol = dw_elf_name(elf, next);
		unsigned rank = entry_rank(symbol, entry->name, entry->plain);

		if (!rank || rank < entry->rank || (entry->symbol && rank == entry->rank && start == next->start))
			continue;
		if (rank > entry->rank) {
			entry->rank = rank;
			entry->symbol = symbol;
			entry->several = false;
			entry->used = 0;
			entry->others[0] = '\0';
		}
		if (entry->used > 400 || !entry_is_copy(entry->symbol, symbol))
			entry->several = true;
		else
			entry->used += snprintf(entry->places + entry->used, sizeof entry->places - (size_t)entry->used, "%llx %llx ",
			                        (unsigned long long)next->start, (unsigned long long)(next->end - next->start));
		entry_add_other(entry, symbol);
		start = next->start;
	}
}

/* The function of the program with the nearest name, in `to`; "" if none is near. */
static void entry_find_near(const struct entry *entry, struct dw_elf_symbols *elf, char to[DW_SYMBOL_NAME_BYTES])
{
	char name[DW_SYMBOL_NAME_BYTES], *tail;
	struct dw_nearest nearest;

	to[0] = '\0';
	dw_nearest_init(&nearest, entry->plain);
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

const char *dw_run_set_entry(const char *program, const char *name)
{
	static char problem[1024];
	char found[4096], path[PATH_MAX], text[PATH_MAX + DW_SYMBOL_NAME_BYTES + 8], near[DW_SYMBOL_NAME_BYTES];
	struct entry entry = { .name = name };
	struct dw_elf_symbols elf;

	unsetenv("DWELL_STEP_ENTRY");
	if (!dw_find_program(program, found) || !realpath(found, path) || strncmp(strrchr(path, '/') + 1, "python", 6) == 0 ||
	    dw_elf_open(&elf, path, NULL, 0, NULL, 0) != 0)
		return "";
	dw_symbol_plain(name, entry.plain);
	entry.plain[strcspn(entry.plain, "(<")] = '\0';
	entry_find(&entry, &elf);
	problem[0] = '\0';
	text[0] = '\0';
	if (!entry.rank) {
		entry_find_near(&entry, &elf, near);
		snprintf(problem, sizeof problem, "no function of this name is in the symbol table of the program or of a library that it "
		         "loaded (it may be inlined everywhere, or the file stripped), and no range of ITT or NVTX has it%s%.300s",
		         *near ? "; a similar one of the program is " : "", near);
		if (*entry.plain && !strpbrk(entry.plain, " /"))
			snprintf(text, sizeof text, "?%s %s", entry.plain, path);
	} else if (entry.several) {
		snprintf(problem, sizeof problem, "several functions of the program have this name: %s", entry.others);
	} else {
		snprintf(text, sizeof text, "%s%s", entry.places, path);
	}
	dw_elf_close(&elf);
#ifdef __x86_64__
	if (*text)
		setenv("DWELL_STEP_ENTRY", text, 1);
#else
	if (entry.rank && !entry.several)
		snprintf(problem, sizeof problem, "steps at functions of native programs are on x86-64 only");
#endif
	return *problem ? problem : NULL;
}
