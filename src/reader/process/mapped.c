/*
 * Where the files of a process are mapped. elfutils takes each row of mappings of a file for a whole file that begins
 * there. A program may map a part of its code once more, as V8 does with its built-in functions.
 */
#include "process/inside.h"

#include "base/free.h"
#include "base/grow.h"
#include "base/system/proc.h"

static bool mapped_add(void *context, const struct dw_proc_mapping *mapping)
{
	struct dw_mapped *mapped = context;

	if (mapping->access[2] != 'x' || !*mapping->path)
		return true;
	if (!DW_GROW(&mapped->parts, &mapped->capacity, mapped->count))
		return false;
	mapped->parts[mapped->count] = (struct dw_mapped_part){ mapping->low, mapping->high, mapping->offset, strdup(mapping->path) };
	return mapped->parts[mapped->count++].path != NULL;
}

void dw_mapped_read(struct dw_mapped *mapped, uint32_t pid)
{
	dw_mapped_reset(mapped);
	dw_proc_read_maps(pid, mapped_add, mapped);
}

void dw_mapped_reset(struct dw_mapped *mapped)
{
	for (size_t i = 0; i < mapped->count; i++)
		free(mapped->parts[i].path);
	free(mapped->parts);
	*mapped = (struct dw_mapped){ 0 };
}

struct mapped_wanted {
	const char *path;
	uint64_t offset, pc; /* pc: the result */
	Dwfl_Module *module;
};

/* Where the module has the code that is at the offset in its file. */
static int mapped_look_at(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start, void *context)
{
	struct mapped_wanted *wanted = context;
	Dwarf_Addr end;
	GElf_Addr bias;
	GElf_Phdr part;
	size_t count = 0;
	Elf *elf;

	if (!name || strcmp(name, wanted->path) != 0 || !(elf = dwfl_module_getelf(module, &bias)) ||
	    elf_getphdrnum(elf, &count) != 0)
		return DWARF_CB_OK;
	dwfl_module_info(module, NULL, NULL, &end, NULL, NULL, NULL, NULL);
	for (int i = 0; i < (int)count && !wanted->module; i++) {
		if (!gelf_getphdr(elf, i, &part) || part.p_type != PT_LOAD || !(part.p_flags & PF_X) ||
		    wanted->offset - part.p_offset >= part.p_filesz)
			continue;
		wanted->pc = bias + part.p_vaddr + (wanted->offset - part.p_offset);
		if (wanted->pc >= start && wanted->pc < end)
			wanted->module = module;
	}
	return wanted->module ? DWARF_CB_ABORT : DWARF_CB_OK;
}

Dwfl_Module *dw_mapped_find(const struct dw_mapped *mapped, Dwfl *dwfl, uint64_t *pc)
{
	struct mapped_wanted wanted = { .module = NULL };
	size_t i = 0;

	while (i < mapped->count && (*pc < mapped->parts[i].low || *pc >= mapped->parts[i].high))
		i++;
	if (i == mapped->count)
		return NULL;
	wanted.path = mapped->parts[i].path;
	wanted.offset = *pc - mapped->parts[i].low + mapped->parts[i].offset;
	dwfl_getmodules(dwfl, mapped_look_at, &wanted, 0);
	if (wanted.module)
		*pc = wanted.pc;
	return wanted.module;
}
