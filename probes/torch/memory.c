/*
 * Allocations and frees on the CPU, where libc10 calls its own allocator.
 *
 * libc10 reaches c10::alloc_cpu and c10::free_cpu through its procedure linkage
 * table, whose two entries are pointed here. PyTorch's own reporting would be in the
 * way of the program's torch.profiler. Which operator an allocation belongs to
 * follows from where it stands between the operators' records.
 *
 * alloc_cpu may throw: this file is compiled so that exceptions pass through.
 */
#include "torch.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *(*real_alloc)(size_t bytes);
static void (*real_free)(void *address);

static void *record_alloc(size_t bytes)
{
	void *address = real_alloc(bytes);

	if (address)
		DWELL_ALLOC("other", "cpu", address, bytes);
	return address;
}

static void record_free(void *address)
{
	if (address)
		DWELL_FREE(address);
	real_free(address);
}

static bool point_slot(void **slot, void *to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)slot & ~(page - 1);

	if (mprotect((void *)start, page, PROT_READ | PROT_WRITE) != 0)
		return false;
	__atomic_store_n(slot, to, __ATOMIC_RELEASE);
	return true;
}

struct tables {
	const ElfW(Rela) *relocations;
	size_t bytes;
	const ElfW(Sym) *symbols;
	const char *names;
};

static struct tables tables_of(const struct link_map *library)
{
	struct tables tables = { NULL, 0, NULL, NULL };

	for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++)
		switch (entry->d_tag) {
		case DT_JMPREL: tables.relocations = (const void *)entry->d_un.d_ptr; break;
		case DT_PLTRELSZ: tables.bytes = entry->d_un.d_val; break;
		case DT_SYMTAB: tables.symbols = (const void *)entry->d_un.d_ptr; break;
		case DT_STRTAB: tables.names = (const void *)entry->d_un.d_ptr; break;
		default: break;
		}
	return tables;
}

/* Both or neither: frees without allocations would be worse than nothing. */
void dwell_memory_attach(void *c10)
{
	const struct link_map *library = NULL;
	void **alloc_slot = NULL, **free_slot = NULL;

	*(void **)&real_alloc = dlsym(c10, "_ZN3c109alloc_cpuEm");
	*(void **)&real_free = dlsym(c10, "_ZN3c108free_cpuEPv");
	if (dlinfo(c10, RTLD_DI_LINKMAP, &library) != 0 || !real_alloc || !real_free)
		return;
	struct tables tables = tables_of(library);
	for (size_t i = 0; tables.relocations && i < tables.bytes / sizeof *tables.relocations; i++) {
		const ElfW(Rela) *relocation = &tables.relocations[i];
		const char *name = tables.names + tables.symbols[ELF64_R_SYM(relocation->r_info)].st_name;
		void **slot = (void **)(library->l_addr + relocation->r_offset);

		if (strcmp(name, "_ZN3c109alloc_cpuEm") == 0)
			alloc_slot = slot;
		else if (strcmp(name, "_ZN3c108free_cpuEPv") == 0)
			free_slot = slot;
	}
	if (alloc_slot && free_slot && point_slot(alloc_slot, (void *)(uintptr_t)record_alloc))
		point_slot(free_slot, (void *)(uintptr_t)record_free);
	else
		fprintf(stderr, "dwell: this PyTorch's allocations are not recorded: its allocator is not "
		                "called in a known way\n");
}
