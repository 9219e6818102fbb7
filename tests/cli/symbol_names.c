/* Which function each address of a file belongs to, by all readers of symbols; for symbols_test.py.
 *
 *     symbol_names FILE < ADDRESSES
 *
 * A line for each address: the name that reports find, the same if only this address is asked for, where the function
 * begins by the unwind table, and the name that `dwell stacks` and `dwell attach` find. "-": none. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/code/elf_symbols.h"

#ifdef WITH_ELFUTILS
#include "process/inside.h"

static struct dw_process process;
static struct dw_unwind names = { .process = &process };
static Dwfl_Module *names_module;
static Dwarf_Addr names_bias;

static void names_open(const char *path)
{
	static char *no_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &no_path,
	};

	names.dwfl = dwfl_begin(&callbacks);
	names_module = dwfl_report_offline(names.dwfl, path, path, -1);
	dwfl_report_end(names.dwfl, NULL, NULL);
	dwfl_module_getelf(names_module, &names_bias);
}

static const char *names_find(uint64_t address)
{
	return dw_unwind_function(&names, names_module, address + names_bias);
}
#else
static void names_open(const char *path)
{
}
static const char *names_find(uint64_t address)
{
	return "?";
}
#endif

static const char *or_none(const char *name)
{
	return name ? name : "-";
}

int main(int count, char **words)
{
	struct dw_elf_symbols all, one;
	uint64_t address;

	if (count < 2 || dw_elf_open(&all, words[1], NULL, 0, NULL, 0) != 0)
		return 1;
	names_open(words[1]);
	while (scanf("%" SCNx64, &address) == 1) {
		if (dw_elf_open(&one, words[1], NULL, 0, &address, 1) != 0)
			return 1;
		printf("%s %s %" PRIx64 " %s\n", or_none(dw_elf_find(&all, address)), or_none(dw_elf_find(&one, address)),
		       dw_elf_function_start(&all, address), or_none(names_find(address)));
		dw_elf_close(&one);
	}
	dw_elf_close(&all);
	return 0;
}
