/*
 * Replaces functions of a library for everything else in the process.
 *
 * The address in the library's symbol table is replaced: what the loader binds from now on, and what dlsym()
 * finds, is the new function. Pointers that the loader has bound before are found by the relocations of all
 * loaded objects and replaced too. Two callers still reach the old function: one that
 * kept a pointer from an earlier dlsym(), and one that contains the library (static linking). Nothing is undone:
 * another thread may be about to call the new function.
 */
#include "cuda.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Stores a pointer in memory that has this protection. */
static bool redirect_store(uintptr_t *at, uintptr_t value, int protection)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *start = (void *)((uintptr_t)at & ~(page - 1));

	if (!(protection & PROT_WRITE) && mprotect(start, page, protection | PROT_WRITE) != 0)
		return false;
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
	if (!(protection & PROT_WRITE))
		mprotect(start, page, protection);
	return true;
}

static bool redirect_holds(const struct dl_phdr_info *object, const ElfW(Phdr) *segment, uintptr_t address)
{
	return address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz;
}

/* The protection of an address of an object; -1: not in it. The loader makes pages of GNU_RELRO read-only. */
static int redirect_protection(const struct dl_phdr_info *object, uintptr_t address)
{
	int protection = -1;

	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (!redirect_holds(object, segment, address))
			continue;
		if (segment->p_type == PT_GNU_RELRO)
			return PROT_READ;
		if (segment->p_type == PT_LOAD)
			protection = (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
			             (segment->p_flags & PF_X ? PROT_EXEC : 0);
	}
	return protection;
}

/* ---- the symbol table ------------------------------------------------------------------------------------- */

struct search {
	const struct dwc_replacement *all;
	size_t count;
	uintptr_t symbol_value; /* the address of an entry's value, or 0 */
	uintptr_t value;
};

#ifdef __GLIBC__ /* others have no dladdr1(), and no CUDA */
static int redirect_write_symbol(struct dl_phdr_info *object, size_t size, void *data)
{
	struct search *search = data;
	int protection = redirect_protection(object, search->symbol_value);

	(void)size;
	if (protection < 0)
		return 0;
	/* The loader adds the library's address, modulo 2^64. */
	redirect_store((uintptr_t *)search->symbol_value, search->value - object->dlpi_addr, protection);
	return 1;
}

static void redirect_symbol(const struct dwc_replacement *replacement)
{
	struct search search = { NULL, 0, 0, (uintptr_t)replacement->own };
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!dladdr1(replacement->real, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol || !info.dli_sname ||
	    info.dli_saddr != replacement->real || strcmp(info.dli_sname, replacement->name) != 0)
		return;
	search.symbol_value = (uintptr_t)&symbol->st_value;
	dl_iterate_phdr(redirect_write_symbol, &search);
}
#else
static void redirect_symbol(const struct dwc_replacement *replacement)
{
	(void)replacement;
}
#endif

/* ---- pointers that are bound ------------------------------------------------------------------------------ */

static void redirect_slots(const struct dl_phdr_info *object, const ElfW(Rela) *relocations, size_t bytes,
                           const struct search *search)
{
	for (size_t i = 0; relocations && i < bytes / sizeof *relocations; i++) {
		uintptr_t *slot = (uintptr_t *)(object->dlpi_addr + relocations[i].r_offset);
		int protection;

		if (!ELF64_R_SYM(relocations[i].r_info) || (uintptr_t)slot % sizeof *slot)
			continue;
		for (size_t k = 0; k < search->count; k++)
			if (*slot && *slot == (uintptr_t)search->all[k].real) {
				protection = redirect_protection(object, (uintptr_t)slot);
				if (protection >= 0)
					redirect_store(slot, (uintptr_t)search->all[k].own, protection);
				break;
			}
	}
}

static int redirect_object(struct dl_phdr_info *object, size_t size, void *data)
{
	const ElfW(Dyn) *entry = NULL;
	uintptr_t linkage = 0, others = 0;
	size_t linkage_bytes = 0, other_bytes = 0;

	(void)size;
	for (size_t i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++)
		switch (entry->d_tag) {
		case DT_JMPREL: linkage = entry->d_un.d_ptr; break;
		case DT_PLTRELSZ: linkage_bytes = entry->d_un.d_val; break;
		case DT_RELA: others = entry->d_un.d_ptr; break;
		case DT_RELASZ: other_bytes = entry->d_un.d_val; break;
		default: break;
		}
	/* The loader has made addresses of these; the kernel's own object has offsets, and nothing to replace. */
	if (linkage >= object->dlpi_addr)
		redirect_slots(object, (const void *)linkage, linkage_bytes, data);
	if (others >= object->dlpi_addr)
		redirect_slots(object, (const void *)others, other_bytes, data);
	return 0;
}

void dwc_redirect(const struct dwc_replacement *all, size_t count)
{
	struct search search = { all, count, 0, 0 };

	for (size_t i = 0; i < count; i++)
		if (all[i].real)
			redirect_symbol(&all[i]);
	dl_iterate_phdr(redirect_object, &search);
}
