/* The function symbols of an ELF file; see elf_symbols.h. */
#include "base/code/elf_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/code/code_repeats.h"
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

/* A table of symbols in the file. */
struct elf_table {
	const char *symbols;
	size_t count;
	const char *names;
	uint64_t names_bytes;
};

/* `index`: 0 or 1, for one table of each kind. */
static void elf_find_table(struct dw_elf_symbols *elf, const Elf64_Shdr *all, unsigned sections_count,
                           const Elf64_Shdr *section, unsigned index, struct elf_table *table)
{
	const char *symbols = elf_part(elf, section->sh_offset, section->sh_size);
	const Elf64_Shdr *strings = section->sh_link < sections_count ? &all[section->sh_link] : NULL;

	if (!symbols || !strings || elf->strings[index].bytes || strings->sh_offset > elf->size_bytes ||
	    strings->sh_size > elf->size_bytes - strings->sh_offset)
		return;
	elf->strings[index].offset = strings->sh_offset;
	elf->strings[index].bytes = strings->sh_size;
	*table = (struct elf_table){ symbols, section->sh_size / sizeof(Elf64_Sym), elf->map + strings->sh_offset,
		                         strings->sh_size };
}

/* The sections of code. False: out of memory. */
static bool elf_find_code(struct dw_elf_symbols *elf, const Elf64_Shdr *all, unsigned count)
{
	elf->code = calloc(count + (size_t)1, sizeof *elf->code);
	for (unsigned i = 0; elf->code && i < count; i++)
		if ((all[i].sh_flags & SHF_ALLOC) && (all[i].sh_flags & SHF_EXECINSTR)) {
			elf->code[elf->code_count].start = all[i].sh_addr;
			elf->code[elf->code_count++].end = all[i].sh_addr + all[i].sh_size;
		}
	return elf->code != NULL;
}

/* Where the section of code ends that an address is in; 0: it is in none. */
static uint64_t elf_code_end(const struct dw_elf_symbols *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->code_count; i++)
		if (address >= elf->code[i].start && address < elf->code[i].end)
			return elf->code[i].end;
	return 0;
}

/* Whether a symbol without a type is a mark within a function: of the assembler ("$x"), or a local label of NASM
 * ("function.loop"). */
static bool elf_is_mark(const char *name, size_t most, bool is_local)
{
	size_t length = strnlen(name, most);

	return !length || *name == '$' || *name == '.' || (is_local && memchr(name, '.', length));
}

/* Copies a symbol; false if it is not a function. */
static bool elf_copy_function(const struct dw_elf_symbols *elf, const struct elf_table *table, size_t i,
                              Elf64_Sym *symbol)
{
	unsigned type;

	memcpy(symbol, table->symbols + i * sizeof *symbol, sizeof *symbol);
	__asm__ volatile("" : : : "memory");
	type = ELF64_ST_TYPE(symbol->st_info);
	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	if (!symbol->st_value || symbol->st_name >= table->names_bytes || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_shndx == SHN_ABS || !elf_code_end(elf, symbol->st_value))
		return false;
	return type != STT_NOTYPE || !elf_is_mark(table->names + symbol->st_name, table->names_bytes - symbol->st_name,
	                                          ELF64_ST_BIND(symbol->st_info) == STB_LOCAL);
}

/* At one start, functions with a size are first. */
DW_ORDER(elf_compare_starts, struct dw_elf_function, DW_UP(start) DW_DOWN(sized) DW_UP(table) DW_UP(name))

#define MOST_BACK 8u  /* functions before an address that dw_elf_find() looks at */
#define GROUP_SIZE 8u /* functions of a group, on average */

/* Groups of functions by address. A large library has some 100,000 functions, of which few are asked for. */
struct elf_groups {
	size_t count;
	unsigned shift;  /* the group of an address is address >> shift */
	uint32_t *first; /* how many functions it has; then its first one; then that of the next group */
	uint32_t *sized; /* how many of them have a size */
	bool *wanted;
};

/* Marks the groups that dw_elf_find() looks at for one of the addresses. */
static void elf_groups_mark(struct elf_groups *groups, const uint64_t *near, size_t near_count)
{
	if (!near)
		memset(groups->wanted, true, groups->count);
	for (size_t i = 0; near && i < near_count; i++) {
		size_t group = near[i] >> groups->shift < groups->count ? near[i] >> groups->shift : groups->count - 1;
		size_t before = 0;

		groups->wanted[group] = true;
		while (group-- > 0 && before < MOST_BACK) {
			groups->wanted[group] = true;
			before += groups->sized[group];
		}
	}
}

/* Copies the functions of wanted groups, by start. If another process changes the file meanwhile, some may be left out. */
static void elf_groups_fill(struct dw_elf_symbols *elf, struct elf_groups *groups, const struct elf_table *tables)
{
	uint32_t kept = 0, from = 0;
	Elf64_Sym symbol;

	for (size_t i = 0; i < groups->count; i++) {
		uint32_t functions = groups->wanted[i] ? groups->first[i] : 0;

		groups->first[i] = kept;
		kept += functions;
	}
	elf->functions = calloc(kept + 1, sizeof *elf->functions);
	elf->count = elf->functions ? kept : 0;
	for (unsigned t = 0; t < 2; t++)
		for (size_t i = 0; elf->count && i < tables[t].count; i++) {
			size_t group = elf_copy_function(elf, &tables[t], i, &symbol) ? symbol.st_value >> groups->shift : SIZE_MAX;

			if (group < groups->count && groups->wanted[group] && groups->first[group] < kept)
				elf->functions[groups->first[group]++] =
					(struct dw_elf_function){ symbol.st_value, symbol.st_value + symbol.st_size, symbol.st_name,
					                          (uint8_t)t, symbol.st_size != 0 };
		}
	for (size_t i = 0; elf->count && i < groups->count; from = groups->first[i++])
		if (groups->first[i] > from)
			DW_SORT(elf->functions + from, groups->first[i] - from, elf_compare_starts);
}

/* Ends each function. Those without a size are left out within a function that has one. */
static void elf_end_functions(struct dw_elf_symbols *elf)
{
	uint64_t covered = 0, next = UINT64_MAX, after = UINT64_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < elf->count; i++) {
		struct dw_elf_function *function = &elf->functions[i];

		if (!function->sized && function->start < covered)
			continue;
		if (function->sized && function->end > covered)
			covered = function->end;
		elf->functions[kept++] = *function;
	}
	elf->count = kept;
	for (size_t i = kept; i-- > 0;) {
		struct dw_elf_function *function = &elf->functions[i];
		uint64_t end = elf_code_end(elf, function->start);

		after = next != function->start ? next : after; /* the next start behind this one */
		next = function->start;
		if (!function->sized || function->end > end || function->end < function->start)
			function->end = function->sized || end < after ? end : after;
	}
}

static void elf_count_group(struct elf_groups *groups, const Elf64_Sym *symbol)
{
	uint64_t group = symbol->st_value >> groups->shift;

	if (group < groups->count) {
		groups->first[group]++;
		groups->sized[group] += symbol->st_size != 0;
	}
}

static void elf_take_functions(struct dw_elf_symbols *elf, const struct elf_table *tables, const uint64_t *near, size_t near_count)
{
	struct elf_groups groups = { .count = 1 };
	uint64_t last = 0;
	Elf64_Sym symbol;

	for (unsigned t = 0; t < 2; t++) {
		groups.count += tables[t].count / GROUP_SIZE;
		for (size_t i = 0; i < tables[t].count; i++)
			if (elf_copy_function(elf, &tables[t], i, &symbol) && symbol.st_value > last)
				last = symbol.st_value;
	}
	while (last >> groups.shift >= groups.count)
		groups.shift++;
	if (groups.count < UINT32_MAX / GROUP_SIZE / 2 && DW_NEW(&groups.first, groups.count) &&
	    DW_NEW(&groups.sized, groups.count) && DW_NEW(&groups.wanted, groups.count)) {
		for (unsigned t = 0; t < 2; t++)
			for (size_t i = 0; i < tables[t].count; i++)
				if (elf_copy_function(elf, &tables[t], i, &symbol))
					elf_count_group(&groups, &symbol);
		elf_groups_mark(&groups, near, near_count);
		elf_groups_fill(elf, &groups, tables);
		elf_end_functions(elf);
	}
	DW_FREE(groups.first, groups.sized, groups.wanted);
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

int dw_elf_open(struct dw_elf_symbols *elf, const char *path, const uint8_t *build_id, size_t build_id_bytes,
                const uint64_t *near, size_t near_count)
{
	struct elf_table tables[2] = { { 0 } };
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
	if (!all || !right || !elf_find_code(elf, all, count)) {
		free(all);
		dw_elf_close(elf);
		return -1;
	}
	for (unsigned i = 0; i < count; i++)
		if (all[i].sh_type == SHT_SYMTAB || all[i].sh_type == SHT_DYNSYM)
			elf_find_table(elf, all, count, &all[i], all[i].sh_type == SHT_DYNSYM,
			               &tables[all[i].sh_type == SHT_DYNSYM]);
	free(all);
	elf_take_functions(elf, tables, near, near_count);
	return 0;
}

const char *dw_elf_name(struct dw_elf_symbols *elf, const struct dw_elf_function *function)
{
	const char *from = elf->map + elf->strings[function->table].offset + function->name;
	size_t most = elf->strings[function->table].bytes - function->name;
	const char *copy = dw_arena_text(&elf->names, from, strnlen(from, most));

	return copy ? copy : "";
}

/* The first program header of a kind: with `address`, one whose part of the file has what is loaded at this address. */
static bool elf_find_header(const struct dw_elf_symbols *elf, uint32_t kind, const uint64_t *address, Elf64_Phdr *part)
{
	const void *there = elf_part(elf, 0, sizeof(Elf64_Ehdr));
	Elf64_Ehdr header;

	if (!there)
		return false;
	memcpy(&header, there, sizeof header);
	for (unsigned i = 0; i < header.e_phnum && header.e_phentsize == sizeof *part; i++) {
		const void *from = elf_part(elf, header.e_phoff + i * sizeof *part, sizeof *part);

		if (!from)
			return false;
		memcpy(part, from, sizeof *part);
		if (part->p_type == kind && (!address || (*address >= part->p_vaddr && *address - part->p_vaddr < part->p_filesz)))
			return true;
	}
	return false;
}

/* The table of .eh_frame_hdr: its count and the part of the file where it begins; NULL: there is none that the linker
 * has sorted. *address: what its entries are relative to. */
static const char *elf_unwind_table(const struct dw_elf_symbols *elf, uint32_t *count, uint64_t *address)
{
	const unsigned char *at;
	unsigned char encoding[4];
	Elf64_Phdr part;

	if (!elf_find_header(elf, PT_GNU_EH_FRAME, NULL, &part) || part.p_filesz < 12)
		return NULL;
	at = elf_part(elf, part.p_offset, part.p_filesz);
	if (!at)
		return NULL;
	memcpy(encoding, at, sizeof encoding);
	memcpy(count, at + 8, sizeof *count);
	*address = part.p_vaddr;
	/* 4 bytes each: the pointer to .eh_frame, the count, and pairs relative to the table's begin */
	return encoding[0] == 1 && encoding[2] == 0x03 && encoding[3] == 0x3b && *count <= (part.p_filesz - 12) / 8
	           ? (const char *)at + 12 : NULL;
}

/* Whether the place is in a loop of the function that contains it by a symbol with a size. */
static bool elf_repeats(const struct dw_elf_symbols *elf, const Elf64_Phdr *part, uint64_t offset)
{
	size_t count = DW_FIRST(i, 0, elf->count, elf->functions[i].start > offset);

	for (size_t i = count; i > 0 && count - i < MOST_BACK; i--) {
		const struct dw_elf_function *function = &elf->functions[i - 1];

		if (function->sized && offset < function->end && function->start >= part->p_vaddr &&
		    function->end <= part->p_vaddr + part->p_filesz)
			return dw_code_repeats((const uint8_t *)elf->map + part->p_offset + (function->start - part->p_vaddr),
			                       function->end - function->start, offset - function->start);
	}
	return false;
}

enum dw_code_loop dw_elf_loop(const struct dw_elf_symbols *elf, uint64_t offset)
{
	uint8_t code[3 * DW_CODE_LOOP] = { 0 };
	enum dw_code_loop loop;
	uint64_t before, behind;
	Elf64_Phdr part;

	if (!elf_find_header(elf, PT_LOAD, &offset, &part) || part.p_offset > elf->size_bytes ||
	    part.p_filesz > elf->size_bytes - part.p_offset)
		return DW_CODE_OTHER;
	before = offset - part.p_vaddr < DW_CODE_LOOP ? offset - part.p_vaddr : DW_CODE_LOOP;
	behind = part.p_vaddr + part.p_filesz - offset < sizeof code - before ? part.p_vaddr + part.p_filesz - offset
	                                                                      : sizeof code - before;
	memcpy(code, elf->map + part.p_offset + (offset - before - part.p_vaddr), before + behind);
	loop = dw_code_loop(code, sizeof code, before);
	return loop == DW_CODE_OTHER && elf_repeats(elf, &part, offset) ? DW_CODE_REPEATS : loop;
}

#define LARGEST_FUNCTION (1u << 20) /* bytes; farther from the begin of one, code is in none */

static uint64_t elf_unwind_address(const char *table, size_t i, uint64_t address)
{
	int32_t start;

	memcpy(&start, table + i * sizeof start, sizeof start);
	return address + (uint64_t)(int64_t)start;
}

/* Copies what is loaded at an address. */
static bool elf_copy_loaded(const struct dw_elf_symbols *elf, uint64_t address, void *to, size_t bytes)
{
	Elf64_Phdr part;

	if (!elf_find_header(elf, PT_LOAD, &address, &part) || bytes > part.p_vaddr + part.p_filesz - address ||
	    part.p_offset > elf->size_bytes || address - part.p_vaddr > elf->size_bytes - part.p_offset ||
	    bytes > elf->size_bytes - part.p_offset - (address - part.p_vaddr))
		return false;
	memcpy(to, elf->map + part.p_offset + (address - part.p_vaddr), bytes);
	return true;
}

/* Where a function ends by its entry of .eh_frame; UINT64_MAX: not known. Compilers write addresses of 4 bytes relative
 * to their own place. In other forms the begin is another one, or the size is 0 or too large. */
static uint64_t elf_unwind_end(const struct dw_elf_symbols *elf, uint64_t entry, uint64_t start)
{
	struct {
		uint32_t length, common;
		int32_t start;
		uint32_t bytes;
	} head;

	if (!elf_copy_loaded(elf, entry, &head, sizeof head) ||
	    entry + offsetof(__typeof__(head), start) + (uint64_t)(int64_t)head.start != start || !head.bytes ||
	    head.bytes > INT32_MAX)
		return UINT64_MAX;
	return start + head.bytes;
}

uint64_t dw_elf_function_start(const struct dw_elf_symbols *elf, uint64_t offset)
{
	uint64_t address = 0, start, end;
	uint32_t count = 0;
	const char *table = elf_unwind_table(elf, &count, &address);
	size_t low = table ? DW_FIRST(i, 0, (size_t)count, elf_unwind_address(table, 2 * i, address) > offset) : 0;

	if (!low)
		return 0;
	start = elf_unwind_address(table, 2 * (low - 1), address);
	end = elf_unwind_end(elf, elf_unwind_address(table, 2 * (low - 1) + 1, address), start);
	start = offset < end ? start : end;
	return offset - start < LARGEST_FUNCTION && elf_code_end(elf, start) == elf_code_end(elf, offset) ? start : 0;
}

/* Several symbols may begin at one address: "pow", "powf64" and "__pow". Programs call the short one that is not reserved. */
static bool elf_is_better_name(const char *name, const char *than)
{
	size_t length = strlen(name), other = strlen(than);

	if ((*name == '_') != (*than == '_'))
		return *than == '_';
	return length != other ? length < other : strcmp(name, than) > 0;
}

const char *dw_elf_find(struct dw_elf_symbols *elf, uint64_t offset)
{
	size_t low = DW_FIRST(i, 0, elf->count, elf->functions[i].start > offset);
	const struct dw_elf_function *found = NULL;
	const char *name = NULL;

	for (size_t back = 0; back < MOST_BACK && low > back; back++) {
		const struct dw_elf_function *function = &elf->functions[low - 1 - back];
		const char *other;

		if (found && found->start != function->start)
			break;
		if (offset >= function->end || (!function->sized && dw_elf_function_start(elf, offset) > function->start))
			continue;
		other = dw_elf_name(elf, function);
		if (!name || elf_is_better_name(other, name))
			name = other;
		found = function;
	}
	return name;
}

void dw_elf_close(struct dw_elf_symbols *elf)
{
	DW_FREE(elf->functions, elf->code);
	dw_arena_reset(&elf->names);
	if (elf->map)
		munmap((void *)(uintptr_t)elf->map, elf->size_bytes);
	memset(elf, 0, sizeof *elf);
}
