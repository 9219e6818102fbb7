/*
 * Finds a function in the program and the libraries of the process, by the symbol tables of their files; see
 * entry_find.h.
 *
 * Copies of one function that the compiler made, as f.constprop.0, are one function; so are symbols at one address.
 * Others of one name are different functions, also in two libraries: which one the user means is not guessed.
 */
#include "entry_find.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/code/demangle_rust.h"
#include "format/symbol_match.h"
#include "sampler.h"

#define SEARCHED 1024u /* libraries that are remembered; later ones are searched again */
#define HIDDEN 0x8000u /* a version of a symbol for programs that were linked long ago */

struct find_file {
	struct dws_found *found;
	const struct dl_phdr_info *info;
	const char *path;
	const char *map;
	uint64_t bytes;
	const char *source; /* of local symbols */
	bool is_named;      /* the user named this file, or none */
	struct dw_symbol_last last;
};

/* ---- names ------------------------------------------------------------------------------------- */

/* Of the program's C++ library, if it has one. To look for it later would wait for the loader's lock, and change what
 * dlerror() returns. */
extern char *__cxa_demangle(const char *name, char *to, size_t *bytes, int *status) __attribute__((weak));

/* The caller frees the result. NULL: the name is not mangled, or nothing in the process demangles it. */
static char *find_demangle(const char *symbol)
{
	int status;

	if (strncmp(symbol, "_R", 2) == 0)
		return dw_demangle_rust(symbol);
	return strncmp(symbol, "_Z", 2) == 0 && __cxa_demangle ? __cxa_demangle(symbol, NULL, NULL, &status) : NULL;
}

/* Whether what the user named is this file, as "libnet.so" is libnet.so.2. */
static bool find_is_file(const struct dws_found *found, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char next = strncmp(name, found->file, found->file_bytes) == 0 ? name[found->file_bytes] : '?';

	return next == '\0' || next == '.';
}

static void find_add_other(struct dws_found *found, const struct find_file *file, const char *symbol)
{
	char *clear = find_demangle(symbol);
	const char *source = file->source ? file->source : "", *slash = strrchr(file->path, '/');
	size_t used = strlen(found->others);

	if (used < sizeof found->others / 2)
		snprintf(found->others + used, sizeof found->others - used, "%s%.120s (%.40s%s%.40s)", used ? ", " : "",
		         clear ? clear : symbol, slash ? slash + 1 : file->path, *source ? ", " : "", source);
	free(clear);
}

/* ---- matches ------------------------------------------------------------------------------------ */

static void find_take_parts(const struct dl_phdr_info *info, struct dws_move_file *to)
{
	to->count = 0;
	for (unsigned i = 0; i < info->dlpi_phnum && to->count < DWS_MOVE_PARTS; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_LOAD && part->p_flags & PF_R)
			to->parts[to->count++] =
				(struct dws_move_part){ (const uint8_t *)(info->dlpi_addr + part->p_vaddr), part->p_filesz,
				                        (part->p_flags & PF_X) != 0, (part->p_flags & PF_W) != 0 };
	}
}

static bool find_is_changed(const struct find_file *file, const Elf64_Sym *symbol)
{
	uint64_t bytes = symbol->st_size < DW_INSTRUCTION_MOST ? symbol->st_size : DW_INSTRUCTION_MOST;

	for (unsigned i = 0; i < file->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &file->info->dlpi_phdr[i];
		uint64_t in = symbol->st_value - part->p_vaddr, at = part->p_offset + in;

		if (part->p_type == PT_LOAD && part->p_flags & PF_R && in < part->p_filesz && bytes <= part->p_filesz - in &&
		    at <= file->bytes && bytes <= file->bytes - at)
			return memcmp(file->map + at, (const char *)(file->info->dlpi_addr + symbol->st_value), bytes) != 0;
	}
	return false;
}

/* A part of the file at an offset that is a multiple of `align`, or NULL. */
static const void *find_part(const struct find_file *file, uint64_t offset, uint64_t bytes, unsigned align)
{
	return offset <= file->bytes && bytes <= file->bytes - offset && offset % align == 0 ? file->map + offset : NULL;
}

static bool find_has_section(const struct find_file *file, const char *wanted)
{
	const Elf64_Ehdr *head = find_part(file, 0, sizeof *head, 8);
	const Elf64_Shdr *all = head ? find_part(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof *all, 8) : NULL;
	const Elf64_Shdr *strings = all && head->e_shstrndx < head->e_shnum ? &all[head->e_shstrndx] : NULL;
	const char *names = strings && strings->sh_size ? find_part(file, strings->sh_offset, strings->sh_size, 1) : NULL;

	for (unsigned i = 0; names && !names[strings->sh_size - 1] && i < head->e_shnum; i++)
		if (all[i].sh_name < strings->sh_size && strcmp(names + all[i].sh_name, wanted) == 0)
			return true;
	return false;
}

/* The names of Go's functions have a ".", as "main.train". In a stripped file it is not known which functions are in C. */
static bool find_is_go(const struct find_file *file, const char *symbol)
{
	return (file->found->address || strchr(symbol, '.')) && find_has_section(file, ".gopclntab");
}

/* Whether both are copies of one function: their names differ by marks alone. */
static bool find_is_copy(const struct dws_found *found, const struct find_file *file, const char *symbol)
{
	size_t length = dw_symbol_base(symbol);

	return strcmp(found->path, file->path) == 0 && strcmp(found->symbol, symbol) != 0 &&
	       dw_symbol_base(found->symbol) == length && strncmp(found->symbol, symbol, length) == 0;
}

static void find_take(const struct find_file *file, unsigned rank, const char *name, const Elf64_Sym *symbol)
{
	struct dws_found *found = file->found;
	uint8_t *code = (uint8_t *)(file->info->dlpi_addr + symbol->st_value);

	if (rank < found->rank)
		return;
	if (rank > found->rank) {
		free(found->symbol);
		found->symbol = strdup(name);
		found->rank = found->symbol ? rank : 0;
		found->count = 0;
		found->several = false;
		found->others[0] = '\0';
		snprintf(found->path, sizeof found->path, "%s", file->path);
		found->is_program = !file->info->dlpi_name || !*file->info->dlpi_name;
		find_take_parts(file->info, &found->parts);
	}
	for (unsigned i = 0; i < found->count; i++)
		if (found->at[i].code == code)
			return;
	if (!found->symbol)
		return;
	find_add_other(found, file, name);
	found->several |= found->count == DWS_FIND_COPIES || (found->count && !find_is_copy(found, file, name));
	if (!found->several)
		found->at[found->count++] = (struct dws_copy){ code, symbol->st_size, find_is_changed(file, symbol),
		                                            find_is_go(file, name) };
}

/* ---- files --------------------------------------------------------------------------------------- */

static void find_compare(const struct find_file *file, const char *name, const Elf64_Sym *symbol)
{
	const char *version = strchr(name, '@');
	char *clear;
	unsigned rank;

	if (!dw_symbol_may_match(name, &file->last) || (version && version[1] != '@'))
		return;
	clear = strncmp(file->found->name, "_Z", 2) == 0 ? NULL : find_demangle(name);
	rank = dw_symbol_rank(name, clear, file->found->name);
	free(clear);
	if (rank)
		find_take(file, rank, name, symbol);
}

/* `versions`: of the symbols; NULL: they have none. */
static void find_search_table(struct find_file *file, const Elf64_Shdr *table, const Elf64_Shdr *strings,
                              const uint16_t *versions)
{
	const Elf64_Sym *symbols = find_part(file, table->sh_offset, table->sh_size, 8);
	const char *names = find_part(file, strings->sh_offset, strings->sh_size, 1);
	bool is_named = false;

	if (!symbols || !names || !strings->sh_size || names[strings->sh_size - 1])
		return;
	file->source = NULL;
	for (uint64_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
		const char *name = symbols[i].st_name < strings->sh_size ? names + symbols[i].st_name : "";
		unsigned kind = ELF64_ST_TYPE(symbols[i].st_info);

		if (ELF64_ST_BIND(symbols[i].st_info) != STB_LOCAL)
			file->source = NULL;
		else if (kind == STT_FILE)
			file->source = name;
		is_named = file->is_named || (file->source && find_is_file(file->found, file->source));
		if (is_named && kind == STT_FUNC && symbols[i].st_shndx && !(versions && versions[i] & HIDDEN))
			find_compare(file, name, &symbols[i]);
	}
}

/* The full symbol table; if the file is stripped, its table of exported functions. */
static void find_search(struct find_file *file)
{
	const Elf64_Ehdr *head = find_part(file, 0, sizeof *head, 8);
	const Elf64_Shdr *all, *table = NULL;
	const uint16_t *versions = NULL;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof *all)
		return;
	all = find_part(file, head->e_shoff, (uint64_t)head->e_shnum * sizeof *all, 8);
	for (unsigned i = 0; all && i < head->e_shnum; i++)
		if (all[i].sh_type == SHT_SYMTAB || (all[i].sh_type == SHT_DYNSYM && !table))
			table = &all[i];
	for (unsigned i = 0; table && table->sh_type == SHT_DYNSYM && i < head->e_shnum; i++)
		if (all[i].sh_type == SHT_GNU_versym && all[i].sh_size / 2 >= table->sh_size / sizeof(Elf64_Sym))
			versions = find_part(file, all[i].sh_offset, all[i].sh_size, 2);
	if (table && table->sh_link < head->e_shnum)
		find_search_table(file, table, &all[table->sh_link], versions);
}

static void find_map(struct find_file *file, const char *path)
{
	const Elf64_Sym there = { .st_value = file->found->address, .st_size = DW_INSTRUCTION_MOST };
	struct stat status;
	void *map = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
		map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return;
	file->map = map;
	file->bytes = (uint64_t)status.st_size;
	file->is_named = !file->found->file_bytes || find_is_file(file->found, file->path);
	if (!file->found->address)
		find_search(file);
	else if (file->is_named)
		find_take(file, DW_SYMBOL_EXACT, file->found->name, &there);
	munmap(map, file->bytes);
}

/* Whether a file was looked at before. Two threads may load libraries at once, and none waits: then a file may be looked at
 * twice. */
static bool find_is_known(uintptr_t base, const char *path)
{
	static struct {
		uintptr_t base, name;
	} known[SEARCHED];
	static unsigned count;
	uintptr_t name = 0;
	unsigned most;

	for (const char *at = path; *at; at++)
		name = name * 31 + (uint8_t)*at;
	most = __atomic_load_n(&count, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < most && i < SEARCHED; i++)
		if (__atomic_load_n(&known[i].base, __ATOMIC_RELAXED) == base && __atomic_load_n(&known[i].name, __ATOMIC_RELAXED) == name)
			return true;
	if (most < SEARCHED) {
		most = __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&known[most % SEARCHED].base, base, __ATOMIC_RELAXED);
		__atomic_store_n(&known[most % SEARCHED].name, name, __ATOMIC_RELAXED);
	}
	return false;
}

static int find_look(struct dl_phdr_info *info, size_t size, void *data)
{
	struct find_file file = { .found = data, .info = info, .path = info->dlpi_name ? info->dlpi_name : "" };
	const char *slash = strrchr(file.path, '/');
	bool is_program = !*file.path;
	char own[1024];
	ssize_t length;

	(void)size;
	if (!is_program && (!slash || strncmp(slash + 1, "libdwell", 8) == 0 || (file.found->count && file.found->is_program)))
		return 0;
	if (find_is_known(info->dlpi_addr, file.path))
		return 0;
	if (is_program) {
		length = readlink("/proc/self/exe", own, sizeof own - 1);
		own[length > 0 ? length : 0] = '\0';
		file.path = own;
	}
	dw_symbol_last_word(file.found->name, &file.last);
	find_map(&file, is_program ? "/proc/self/exe" : info->dlpi_name);
	return 0;
}

void dws_find(struct dws_found *found)
{
	dl_iterate_phdr(find_look, found);
	if (!found->address || found->count != 1)
		return;
	found->at[0].size = dws_cfi_function((uintptr_t)found->at[0].code);
	found->is_no_begin = !found->at[0].size;
}
