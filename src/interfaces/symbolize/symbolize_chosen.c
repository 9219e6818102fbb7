/* Names of functions that are in no table of their library; see symbolize_chosen.h. */
#include "symbolize/symbolize_chosen.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/order.h"

#define MOST_WRAPPER 64 /* bytes of a function that only calls another one */

struct chosen {
	uint64_t offset;
	unsigned order; /* of several names of a function: the first one is shown */
	const char *name;
};

/* What was chosen of one library, by offset: frames are asked for by module. */
static struct {
	char module[4096];
	struct chosen *at;
	size_t count;
} chosen;

DW_ORDER(chosen_compare, struct chosen, DW_UP(offset))
DW_ORDER(chosen_compare_names, struct chosen, DW_UP(offset) DW_UP(order) DW_TEXT(name))

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

/* Where a short function goes with its last instruction, as vsnprintf() does to the function that has its work; 0: it
 * returns. */
static uintptr_t chosen_jump(uintptr_t code, uint64_t bytes)
{
	uintptr_t end = code + bytes, to;
	int32_t distance;

	if (bytes < 5 || bytes > MOST_WRAPPER)
		return 0;
#if defined __x86_64__
	if (*(const uint8_t *)(end - 5) != 0xe9) /* jmp rel32 */
		return 0;
	memcpy(&distance, (const void *)(end - 4), sizeof distance);
	to = end + (uintptr_t)(intptr_t)distance;
#else
	memcpy(&distance, (const void *)(end - 4), sizeof distance);
	if (((uint32_t)distance & 0xfc000000u) != 0x14000000u) /* b */
		return 0;
	to = end - 4 + (uintptr_t)((intptr_t)(int32_t)((uint32_t)distance << 6) >> 4);
#endif
	return to >= code && to < end ? 0 : to;
}

/* The function that a symbol names without being in it: what it chose, or what it goes to. 0: none. */
static uintptr_t chosen_target(const struct link_map *map, void *library, const Elf64_Sym *symbol, const char *name)
{
	if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
		return (uintptr_t)dlsym(library, name);
	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
		return 0;
	return chosen_jump(map->l_addr + symbol->st_value, symbol->st_size);
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
		const char *name = names + symbols[i].st_name;
		uintptr_t address = chosen_target(map, library, &symbols[i], name);

		if (address)
			chosen.at[chosen.count++] =
				(struct chosen){ address - map->l_addr,
				                 2u * (ELF64_ST_TYPE(symbols[i].st_info) == STT_FUNC) + (*name == '_'), name };
	}
	if (chosen.count)
		qsort(chosen.at, chosen.count, sizeof *chosen.at, chosen_compare_names);
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
	while (found && found > chosen.at && found[-1].offset == offset)
		found--;
	return found ? found->name : NULL;
}
