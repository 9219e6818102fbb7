/* The function symbols of an ELF file; see elf_symbols.h. */
#include "base/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bisect.h"
#include "base/free.h"
#include "base/order.h"

/* A part of the file, or NULL if it is not within the file. */
static const void *elf_part(const struct dw_elf_symbols *elf, uint64_t offset, uint64_t bytes)
{
	if (offset > elf->size_bytes || bytes > elf->size_bytes - offset || offset % 4)
		return NULL;
	return elf->map + offset;
}

/* A copy of a part, with a NUL appended; the caller frees it. */
static void *elf_copy_part(const struct dw_elf_symbols *elf, uint64_t offset, uint64_t bytes)
{
	const void *from = elf_part(elf, offset, bytes);
	char *copy = from ? malloc(bytes + 1) : NULL;

	if (copy) {
		memcpy(copy, from, bytes);
		copy[bytes] = '\0';
		__asm__ volatile("" : : : "memory"); /* the original is not read again */
	}
	return copy;
}

static Elf64_Shdr *elf_copy_sections(const struct dw_elf_symbols *elf, unsigned *count)
{
	const void *there = elf_part(elf, 0, sizeof(Elf64_Ehdr));
	Elf64_Ehdr header;

	if (!there)
		return NULL;
	memcpy(&header, there, sizeof header);
	__asm__ volatile("" : : : "memory");
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_shentsize != sizeof(Elf64_Shdr))
		return NULL;
	*count = header.e_shnum;
	return elf_copy_part(elf, header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr));
}

static bool elf_build_id_is(const struct dw_elf_symbols *elf, const Elf64_Shdr *section,
                            const uint8_t *build_id, size_t bytes)
{
	const char *note = elf_part(elf, section->sh_offset, section->sh_size);
	Elf64_Nhdr header;

	if (!note || section->sh_size < sizeof header + 4 + bytes)
		return false;
	memcpy(&header, note, sizeof header);
	return header.n_namesz == 4 && header.n_type == NT_GNU_BUILD_ID && header.n_descsz == bytes &&
	       memcmp(note + sizeof header + 4, build_id, bytes) == 0;
}

/* `index`: 0 or 1, for one table of each kind. */
static void elf_add_functions(struct dw_elf_symbols *elf, const Elf64_Shdr *all, unsigned sections_count,
                              const Elf64_Shdr *table, unsigned index)
{
	const char *symbols = elf_part(elf, table->sh_offset, table->sh_size);
	const Elf64_Shdr *strings = table->sh_link < sections_count ? &all[table->sh_link] : NULL;
	size_t count = table->sh_size / sizeof(Elf64_Sym);
	struct dw_elf_function *grown;

	if (!symbols || !count || !strings || elf->strings[index].bytes || strings->sh_offset > elf->size_bytes ||
	    strings->sh_size > elf->size_bytes - strings->sh_offset)
		return;
	grown = realloc(elf->functions, (elf->count + count) * sizeof *grown);
	if (!grown)
		return;
	elf->functions = grown;
	elf->strings[index].offset = strings->sh_offset;
	elf->strings[index].bytes = strings->sh_size;
	for (size_t i = 0; i < count; i++) {
		Elf64_Sym symbol;
		unsigned type;

		memcpy(&symbol, symbols + i * sizeof symbol, sizeof symbol);
		__asm__ volatile("" : : : "memory");
		type = ELF64_ST_TYPE(symbol.st_info);
		if ((type != STT_FUNC && type != STT_GNU_IFUNC) || !symbol.st_value || symbol.st_name >= strings->sh_size)
			continue;
		grown[elf->count++] = (struct dw_elf_function){ symbol.st_value,
			symbol.st_value + symbol.st_size, symbol.st_name, index };
	}
}

DW_ORDER(elf_compare_starts, struct dw_elf_function, DW_UP(start) DW_UP(table) DW_UP(name))

/* Sorts the functions by start. A large library has 100,000 and more, which are spread evenly: they are put into as many
 * groups by their address, and each of these few is sorted. */
static void elf_sort_functions(struct dw_elf_symbols *elf)
{
	size_t count = elf->count;
	struct dw_elf_function *sorted = malloc((count + 1) * sizeof *sorted);
	uint32_t *ends = calloc(count + 2, sizeof *ends); /* of a group; while it is filled, its next place */
	uint64_t last = 0;
	unsigned shift = 0;

	if (!sorted || !ends || count > UINT32_MAX) {
		DW_FREE(sorted, ends);
		DW_SORT(elf->functions, count, elf_compare_starts);
		return;
	}
	for (size_t i = 0; i < count; i++)
		last = elf->functions[i].start > last ? elf->functions[i].start : last;
	while (last >> shift > count)
		shift++;
	for (size_t i = 0; i < count; i++)
		ends[(elf->functions[i].start >> shift) + 1]++;
	for (size_t i = 0; i < count; i++)
		ends[i + 1] += ends[i];
	for (size_t i = 0; i < count; i++)
		sorted[ends[elf->functions[i].start >> shift]++] = elf->functions[i];
	for (size_t group = 0; group <= count; group++) {
		size_t first = group ? ends[group - 1] : 0;

		DW_SORT(sorted + first, ends[group] - first, elf_compare_starts);
	}
	DW_FREE(elf->functions, ends);
	elf->functions = sorted;
}

static int elf_map_file(struct dw_elf_symbols *elf, const char *path)
{
	struct stat status;
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	void *map;

	if (file < 0)
		return -1;
	if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
		close(file);
		return -1;
	}
	map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	if (map == MAP_FAILED)
		return -1;
	elf->map = map;
	elf->size_bytes = (size_t)status.st_size;
	return 0;
}

int dw_elf_open(struct dw_elf_symbols *elf, const char *path, const uint8_t *build_id, size_t build_id_bytes)
{
	unsigned count = 0;
	Elf64_Shdr *all;
	bool right = !build_id_bytes;

	memset(elf, 0, sizeof *elf);
	if (elf_map_file(elf, path) != 0)
		return -1;
	all = elf_copy_sections(elf, &count);
	for (unsigned i = 0; all && i < count; i++)
		if (all[i].sh_type == SHT_NOTE && build_id_bytes)
			right |= elf_build_id_is(elf, &all[i], build_id, build_id_bytes);
	if (!all || !right) {
		free(all);
		dw_elf_close(elf);
		return -1;
	}
	for (unsigned i = 0; i < count; i++)
		if (all[i].sh_type == SHT_SYMTAB || all[i].sh_type == SHT_DYNSYM)
			elf_add_functions(elf, all, count, &all[i], all[i].sh_type == SHT_DYNSYM);
	free(all);
	elf_sort_functions(elf);
	return 0;
}

const char *dw_elf_name(struct dw_elf_symbols *elf, const struct dw_elf_function *function)
{
	const char *from = elf->map + elf->strings[function->table].offset + function->name;
	size_t most = elf->strings[function->table].bytes - function->name;
	const char *copy = dw_arena_text(&elf->names, from, strnlen(from, most));

	return copy ? copy : "";
}

/* Several symbols may begin at one address: the last one by name is used. Some have no size. */
const char *dw_elf_find(struct dw_elf_symbols *elf, uint64_t offset)
{
	size_t low = DW_BISECT(0, elf->count, i, elf->functions[i].start <= offset);
	const struct dw_elf_function *found = NULL;
	const char *name = NULL;

	for (size_t back = 0; back < 8 && low > back; back++) {
		const struct dw_elf_function *function = &elf->functions[low - 1 - back];
		const char *other;

		if (found && found->start != function->start)
			break;
		if (offset >= function->end && function->end != function->start)
			continue;
		other = dw_elf_name(elf, function);
		if (!name || strcmp(other, name) > 0)
			name = other;
		found = function;
	}
	return name;
}

/* The table of .eh_frame_hdr: its count and the part of the file where it begins; NULL: there is none that the linker
 * has sorted. *address: what its entries are relative to. */
static const char *elf_unwind_table(const struct dw_elf_symbols *elf, uint32_t *count, uint64_t *address)
{
	const void *there = elf_part(elf, 0, sizeof(Elf64_Ehdr));
	Elf64_Ehdr header;
	Elf64_Phdr part;

	if (!there)
		return NULL;
	memcpy(&header, there, sizeof header);
	for (unsigned i = 0; i < header.e_phnum && header.e_phentsize == sizeof part; i++) {
		const unsigned char *at;
		const void *from = elf_part(elf, header.e_phoff + i * sizeof part, sizeof part);
		unsigned char encoding[4];

		if (!from)
			return NULL;
		memcpy(&part, from, sizeof part);
		at = part.p_type == PT_GNU_EH_FRAME && part.p_filesz >= 12 ? elf_part(elf, part.p_offset, part.p_filesz) : NULL;
		if (!at)
			continue;
		memcpy(encoding, at, sizeof encoding);
		memcpy(count, at + 8, sizeof *count);
		*address = part.p_vaddr;
		/* 4 bytes each: the pointer to .eh_frame, the count, and pairs relative to the table's begin */
		return encoding[0] == 1 && encoding[2] == 0x03 && encoding[3] == 0x3b && *count <= (part.p_filesz - 12) / 8
		           ? (const char *)at + 12 : NULL;
	}
	return NULL;
}

#define LARGEST_FUNCTION (1u << 20) /* bytes; farther from the begin of one, code is in none */

static uint64_t elf_unwind_start(const char *table, size_t i, uint64_t address)
{
	int32_t start;

	memcpy(&start, table + i * 8, sizeof start);
	return address + (uint64_t)(int64_t)start;
}

uint64_t dw_elf_function_start(const struct dw_elf_symbols *elf, uint64_t offset)
{
	uint64_t address = 0, start;
	uint32_t count = 0;
	const char *table = elf_unwind_table(elf, &count, &address);
	size_t low = table ? DW_BISECT(0, (size_t)count, i, elf_unwind_start(table, i, address) <= offset) : 0;

	if (!low)
		return 0;
	start = elf_unwind_start(table, low - 1, address);
	return offset - start < LARGEST_FUNCTION ? start : 0;
}

void dw_elf_close(struct dw_elf_symbols *elf)
{
	free(elf->functions);
	dw_arena_reset(&elf->names);
	if (elf->map)
		munmap((void *)(uintptr_t)elf->map, elf->size_bytes);
	memset(elf, 0, sizeof *elf);
}
