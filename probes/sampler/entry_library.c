/* Finds a function in the libraries of the process, by the symbol tables of their files; see sampler_entry.h. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/symbol_name.h"
#include "sampler_entry.h"

#define SEARCHED 1024u /* libraries that are remembered; later ones are searched again */

struct library_file {
	const char *map;
	uint64_t bytes;
	uintptr_t base;
};

static const void *library_part(const struct library_file *file, uint64_t offset, uint64_t bytes)
{
	return offset <= file->bytes && bytes <= file->bytes - offset && offset % 8 == 0 ? file->map + offset : NULL;
}

static void library_take(struct dws_entry_found *found, unsigned rank, const char *symbol, uint8_t *code, uint64_t size)
{
	size_t length = strcspn(symbol, ".");

	if (length >= sizeof found->symbol)
		return;
	if (rank > found->rank) {
		found->rank = rank;
		found->count = 0;
		found->several = false;
		memcpy(found->symbol, symbol, length);
		found->symbol[length] = '\0';
	}
	for (unsigned i = 0; i < found->count; i++)
		if (found->at[i].code == code)
			return;
	found->several |= strncmp(found->symbol, symbol, length) != 0 || found->symbol[length] || found->count == DWS_ENTRY_COPIES;
	if (!found->several) {
		found->at[found->count].code = code;
		found->at[found->count++].size = size;
	}
}

static void library_search_table(const struct library_file *file, const Elf64_Shdr *table, const Elf64_Shdr *strings,
                                 struct dws_entry_found *found)
{
	const Elf64_Sym *symbols = library_part(file, table->sh_offset, table->sh_size);
	const char *names = file->map + strings->sh_offset, *last = strrchr(found->wanted, ':');
	char name[DW_SYMBOL_NAME_BYTES];

	last = last ? last + 1 : found->wanted;
	if (!symbols || strings->sh_offset > file->bytes || strings->sh_size > file->bytes - strings->sh_offset ||
	    !strings->sh_size || names[strings->sh_size - 1])
		return;
	for (uint64_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
		const char *symbol = symbols[i].st_name < strings->sh_size ? names + symbols[i].st_name : "";
		unsigned rank;

		if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || !symbols[i].st_shndx || !strstr(symbol, last) ||
		    dw_symbol_is_part(symbol) || !dw_symbol_name(symbol, name))
			continue;
		rank = dw_symbol_matches(name, found->wanted);
		if (rank && rank >= found->rank)
			library_take(found, rank, symbol, (uint8_t *)(file->base + symbols[i].st_value), symbols[i].st_size);
	}
}

/* The full symbol table; if the library is stripped, its table of exported functions. */
static void library_search(const struct library_file *file, struct dws_entry_found *found)
{
	const Elf64_Ehdr *head = library_part(file, 0, sizeof *head);
	const Elf64_Shdr *all, *table = NULL;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof *all)
		return;
	all = library_part(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof *all);
	for (unsigned i = 0; all && i < head->e_shnum; i++)
		if (all[i].sh_type == SHT_SYMTAB || (all[i].sh_type == SHT_DYNSYM && !table))
			table = &all[i];
	if (table && table->sh_link < head->e_shnum)
		library_search_table(file, table, &all[table->sh_link], found);
}

static int library_look(struct dl_phdr_info *info, size_t size, void *data)
{
	static uintptr_t searched[SEARCHED];
	static unsigned count;
	struct library_file file = { .base = info->dlpi_addr };
	const char *slash = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	struct stat status;
	void *map;
	int fd;

	(void)size;
	if (!slash || strncmp(slash + 1, "libdwell", 8) == 0)
		return 0;
	for (unsigned i = 0; i < count; i++)
		if (searched[i] == info->dlpi_addr)
			return 0;
	if (count < SEARCHED)
		searched[count++] = info->dlpi_addr;
	fd = open(info->dlpi_name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	map = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0
	          ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	close(fd);
	if (map == MAP_FAILED)
		return 0;
	file.map = map;
	file.bytes = (uint64_t)status.st_size;
	library_search(&file, data);
	munmap(map, file.bytes);
	return 0;
}

void dws_entry_find(struct dws_entry_found *found)
{
	dl_iterate_phdr(library_look, found);
}
