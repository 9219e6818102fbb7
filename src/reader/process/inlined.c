/*
 * The functions that the compiler inlined at an address, and lines, from debug information.
 *
 * dwarf_getscopes() leaves the unit at the first inlined function, for the scopes of its definition. With -flto and in
 * Rust that is in another unit, where it finds nothing. So the unit's own tree is searched: only what contains the address
 * is entered, besides namespaces and types, which have no address.
 */
#include "process/inside.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/code/demangle.h"
#include "format/symbol_match.h"

#define MOST_SCOPES 64u

struct scopes {
	Dwarf_Addr pc; /* as the debug information counts */
	Dwarf_Die inlined[MOST_SCOPES]; /* outermost first */
	size_t count;
};

static bool inlined_contains(Dwarf_Die *die, Dwarf_Addr pc)
{
	return dwarf_haspc(die, pc) == 1;
}

/* Enters what contains the address below a DIE. True: it is found. */
static bool inlined_search(struct scopes *scopes, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die child;

	if (depth > MOST_SCOPES || dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);

		switch (tag) {
		case DW_TAG_inlined_subroutine:
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
			if (!inlined_contains(&child, scopes->pc))
				break;
			if (tag == DW_TAG_inlined_subroutine && scopes->count < MOST_SCOPES)
				scopes->inlined[scopes->count++] = child;
			inlined_search(scopes, &child, depth + 1);
			return true;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			if (inlined_search(scopes, &child, depth + 1))
				return true;
			break;
		default: break;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* The unit that contains an address. Compilers other than GCC write no table of addresses; elfutils then takes a unit
 * that has one and lies before. */
static Dwarf_Die *inlined_unit(Dwfl_Module *module, uint64_t pc, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, pc, bias);

	if (unit && inlined_contains(unit, pc - *bias))
		return unit;
	for (unit = NULL; (unit = dwfl_module_nextcu(module, unit, bias)) != NULL;)
		if (inlined_contains(unit, pc - *bias))
			return unit;
	return NULL;
}

const char *dw_unwind_keep(struct dw_unwind *unwind, const char *text)
{
	const char *kept = text ? dw_arena_text(&unwind->process->arena, text, strlen(text)) : NULL;

	unwind->no_memory |= text && !kept;
	return kept;
}

char *dw_unwind_plain(const char *symbol)
{
	char *plain = dw_demangle(symbol);

	plain = plain ? plain : strdup(symbol);
	if (plain)
		plain[dw_plain_length(plain)] = 0;
	return plain;
}

/* The declaration of an inlined function: in its class. */
static Dwarf_Die inlined_declaration(Dwarf_Die die)
{
	static const unsigned to[] = { DW_AT_abstract_origin, DW_AT_specification };
	Dwarf_Attribute attribute;
	Dwarf_Die other;

	for (size_t i = 0; i < sizeof to / sizeof *to; i++)
		if (dwarf_formref_die(dwarf_attr(&die, to[i], &attribute), &other))
			die = other;
	return die;
}

/* "Curve::Curve": a function of a class without a name for the linker, as in a namespace without a name. */
static char *inlined_qualified(Dwarf_Die *die, const char *plain)
{
	Dwarf_Die declared = inlined_declaration(*die), *parents = NULL;
	int depth = dwarf_getscopes_die(&declared, &parents);
	char *name = strdup(plain), *longer;

	for (int i = 1; i < depth && name; i++) {
		int tag = dwarf_tag(&parents[i]);
		const char *class = tag == DW_TAG_class_type || tag == DW_TAG_structure_type ? dwarf_diename(&parents[i]) : NULL;

		if (!class || asprintf(&longer, "%s::%s", class, name) < 0)
			continue;
		free(name);
		name = longer;
	}
	free(parents);
	return name;
}

static const char *inlined_name(struct dw_unwind *unwind, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	const char *plain = dwarf_diename(die);
	char *clear = linkage ? dw_unwind_plain(linkage) : plain ? inlined_qualified(die, plain) : NULL;
	const char *name = dw_unwind_keep(unwind, clear ? clear : plain);

	free(clear);
	return name;
}

/* Where an inlined function is called. */
static void inlined_take_call(struct dw_unwind *unwind, Dwarf_Die *die, Dwarf_Files *files, struct dw_process_frame *to)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	*to = (struct dw_process_frame){ 0 };
	if (files && dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &value) == 0)
		to->file = dw_unwind_keep(unwind, dwarf_filesrc(files, (size_t)value, NULL, NULL));
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &value) == 0)
		to->line = (int)value;
}

/* Whether the source says that the function is no one of its own, as the intrinsics of processors: it is its caller's. */
static bool inlined_is_artificial(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	bool is = false;

	return dwarf_formflag(dwarf_attr_integrate(die, DW_AT_artificial, &attribute), &is) == 0 && is;
}

size_t dw_unwind_inlined(struct dw_unwind *unwind, Dwfl_Module *module, uint64_t pc,
                         struct dw_process_frame inlined[DW_UNWIND_INLINED])
{
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = inlined_unit(module, pc, &bias);
	struct scopes scopes = { .pc = pc - bias };
	Dwarf_Line *line = unit ? dwarf_getsrc_die(unit, pc - bias) : NULL;
	Dwarf_Files *files = NULL;
	size_t count = 0;

	if (!line)
		return 0;
	inlined[0] = (struct dw_process_frame){ .file = dw_unwind_keep(unwind, dwarf_linesrc(line, NULL, NULL)) };
	dwarf_lineno(line, &inlined[0].line);
	dwarf_getsrcfiles(unit, &files, NULL);
	inlined_search(&scopes, unit, 0);
	while (scopes.count-- > 0 && count < DW_UNWIND_INLINED - 1) {
		Dwarf_Die *die = &scopes.inlined[scopes.count];

		if (!inlined_is_artificial(die)) {
			inlined[count].function = inlined_name(unwind, die);
			inlined[count++].inlined = true;
		}
		inlined_take_call(unwind, die, files, &inlined[count]);
	}
	return count + 1;
}

/* ---- the functions that a function was inlined into --------------------------------------------------------- */

#define MOST_ENTRIES 20000000u /* of debug information; to look at so many takes some seconds */

/* What is looked for, and the functions that contain it. */
struct into {
	struct dw_unwind *unwind;
	const char *name;
	struct dw_symbol_last last;
	unsigned seen;
	size_t count;
	char *text;
	size_t size;
};

static bool into_is_wanted(const struct into *into, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *plain = dwarf_diename(die), *linkage;
	char *clear;
	bool is;

	if (!plain || strncmp(plain, into->last.plain, strlen(into->last.plain)) != 0)
		return false;
	linkage = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
	clear = linkage ? dw_demangle(linkage) : NULL;
	is = dw_symbol_rank(linkage ? linkage : plain, clear, into->name) > 0;
	free(clear);
	return is;
}

/* "train_step, main": each once. */
static void into_add(struct into *into, Dwarf_Die *function)
{
	const char *name = inlined_name(into->unwind, function), *at = into->text;
	size_t length = name ? strlen(name) : 0, used = strlen(into->text);

	while (length && (at = strstr(at, name)) != NULL &&
	       !((at == into->text || at[-1] == ' ') && (at[length] == ',' || !at[length])))
		at += length;
	if (!length || (at && *into->text))
		return;
	if (into->count++ < 3 && used + length + 3 < into->size)
		snprintf(into->text + used, into->size - used, "%s%s", used ? ", " : "", name);
}

/* `function`: the one with code that contains the DIE. */
static void into_search(struct into *into, Dwarf_Die *die, Dwarf_Die *function, unsigned depth)
{
	Dwarf_Die child;

	if (depth > MOST_SCOPES || dwarf_child(die, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if (++into->seen > MOST_ENTRIES)
			return;
		if (tag == DW_TAG_inlined_subroutine && function && into_is_wanted(into, &child))
			into_add(into, function);
		if (tag == DW_TAG_subprogram)
			into_search(into, &child,
			            dwarf_hasattr(&child, DW_AT_low_pc) || dwarf_hasattr(&child, DW_AT_ranges) ? &child : NULL, depth + 1);
		else if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
		         tag == DW_TAG_structure_type || tag == DW_TAG_class_type)
			into_search(into, &child, function, depth + 1);
	} while (dwarf_siblingof(&child, &child) == 0);
}

size_t dw_unwind_inlined_into(struct dw_unwind *unwind, Dwfl_Module *module, const char *name, char *text, size_t size)
{
	struct into into = { .unwind = unwind, .name = name, .text = text, .size = size };
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;

	*text = '\0';
	dw_symbol_last_word(name, &into.last);
	while (*into.last.plain && (unit = dwfl_module_nextcu(module, unit, &bias)) != NULL)
		into_search(&into, unit, NULL, 0);
	return into.count;
}
