/*
 * Replaces functions that a library of PyTorch calls through its procedure linkage table, by
 * replacing the pointer that such a call reads.
 *
 * Called when PyTorch is attached. A replacement is never undone, because another thread may be
 * about to call the new function.
 */
#include "private.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct tables {
	const ElfW(Rela) *relocations, *others; /* of the linkage table; of data */
	size_t bytes, other_bytes;
	const ElfW(Sym) *symbols;
	const char *names;
};

static struct tables redirect_read_tables(const struct link_map *library)
{
	struct tables tables = { NULL, NULL, 0, 0, NULL, NULL };

	for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++)
		switch (entry->d_tag) {
		case DT_JMPREL: tables.relocations = (const void *)entry->d_un.d_ptr; break;
		case DT_PLTRELSZ: tables.bytes = entry->d_un.d_val; break;
		case DT_RELA: tables.others = (const void *)entry->d_un.d_ptr; break;
		case DT_RELASZ: tables.other_bytes = entry->d_un.d_val; break;
		case DT_SYMTAB: tables.symbols = (const void *)entry->d_un.d_ptr; break;
		case DT_STRTAB: tables.names = (const void *)entry->d_un.d_ptr; break;
		default: break;
		}
	return tables;
}

static void **redirect_find(const struct link_map *library, const struct tables *tables,
                            const ElfW(Rela) *relocations, size_t bytes, const char *function)
{
	for (size_t i = 0; relocations && i < bytes / sizeof *relocations; i++) {
		size_t symbol = ELF64_R_SYM(relocations[i].r_info);

		if (symbol && strcmp(tables->names + tables->symbols[symbol].st_name, function) == 0)
			return (void **)(library->l_addr + relocations[i].r_offset);
	}
	return NULL;
}

void **dwp_abi_find_slot(void *handle, const char *function)
{
	const struct link_map *library = NULL;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &library) != 0)
		return NULL;
	struct tables tables = redirect_read_tables(library);
	return redirect_find(library, &tables, tables.relocations, tables.bytes, function);
}

void **dwp_abi_find_any_slot(void *handle, const char *function)
{
	const struct link_map *library = NULL;
	struct tables tables;
	void **slot;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &library) != 0)
		return NULL;
	tables = redirect_read_tables(library);
	slot = redirect_find(library, &tables, tables.relocations, tables.bytes, function);
	return slot ? slot : redirect_find(library, &tables, tables.others, tables.other_bytes, function);
}

bool dwp_abi_replace(void **slot, void *to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)slot & ~(page - 1);

	if (mprotect((void *)start, page, PROT_READ | PROT_WRITE) != 0)
		return false;
	__atomic_store_n(slot, to, __ATOMIC_RELEASE);
	return true;
}
