/* Names of functions that a library chooses for the processor; see symbolize_chosen.h. */
#include "symbolize/symbolize_chosen.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/order.h"

struct chosen {
	uint64_t offset;
	const char *name;
};

/* What was chosen of one library, by offset: frames are asked for by module. */
static struct {
	char module[4096];
	struct chosen *at;
	size_t count;
} chosen;

DW_ORDER(chosen_compare, struct chosen, DW_UP(offset))

/* The library of this process that is the file; NULL: none is. */
static const struct link_map *chosen_find(const char *module)
{
	const struct link_map *map = NULL;
	void *program = dlopen(NULL, RTLD_LAZY);
	struct stat wanted, found;

	if (!program || dlinfo(program, RTLD_DI_LINKMAP, &map) != 0 || stat(module, &wanted) != 0)
		map = NULL;
	while (map && !(*map->l_name && stat(map->l_name, &found) == 0 && found.st_dev == wanted.st_dev &&
	                found.st_ino == wanted.st_ino))
		map = map->l_next;
	if (program)
		dlclose(program);
	return map;
}

/* How many symbols the library's table has: it ends where that of their names begins, in each library that ld made. */
static size_t chosen_count_symbols(const struct link_map *map, const Elf64_Sym **symbols, const char **names)
{
	uintptr_t table = 0, texts = 0;

	for (const Elf64_Dyn *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
		table = entry->d_tag == DT_SYMTAB ? entry->d_un.d_ptr : table;
		texts = entry->d_tag == DT_STRTAB ? entry->d_un.d_ptr : texts;
	}
	/* glibc has made addresses of these offsets, musl has not. */
	*symbols = (const Elf64_Sym *)(table < map->l_addr ? table + map->l_addr : table);
	*names = (const char *)(texts < map->l_addr ? texts + map->l_addr : texts);
	return table && table < texts ? (texts - table) / sizeof **symbols : 0;
}

static void chosen_load(const char *module)
{
	const struct link_map *map = chosen_find(module);
	const Elf64_Sym *symbols;
	const char *names;
	size_t count = map ? chosen_count_symbols(map, &symbols, &names) : 0;
	void *library = count ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;

	free(chosen.at);
	chosen.at = library ? calloc(count, sizeof *chosen.at) : NULL;
	chosen.count = 0;
	for (size_t i = 0; chosen.at && i < count; i++) {
		void *address = ELF64_ST_TYPE(symbols[i].st_info) == STT_GNU_IFUNC ? dlsym(library, names + symbols[i].st_name) : NULL;

		if (address)
			chosen.at[chosen.count++] = (struct chosen){ (uint64_t)(uintptr_t)address - map->l_addr,
				names + symbols[i].st_name };
	}
	if (chosen.count)
		qsort(chosen.at, chosen.count, sizeof *chosen.at, chosen_compare);
	if (library)
		dlclose(library);
}

const char *dw_chosen_name(const char *module, uint64_t offset)
{
	const struct chosen wanted = { .offset = offset };
	const struct chosen *found;

	if (strlen(module) >= sizeof chosen.module)
		return NULL;
	if (strcmp(chosen.module, module) != 0) {
		memcpy(chosen.module, module, strlen(module) + 1);
		chosen_load(module);
	}
	found = chosen.count ? bsearch(&wanted, chosen.at, chosen.count, sizeof *chosen.at, chosen_compare) : NULL;
	return found ? found->name : NULL;
}
