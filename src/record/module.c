/*
 * Modules: which file a piece of code came from.
 *
 * A frame is stored as (module, offset), so that a trace can be read where the
 * program never ran. The list of modules is read from /proc/self/maps (the
 * loader's own list takes a lock) when an address is met that no known module
 * holds; entries are added, never removed. The build-id is read from the module's
 * own notes in memory.
 */
#include "record/record.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_MODULES 1024

struct module {
	uintptr_t low, high;   /* of the executable mapping */
	uintptr_t bias;        /* address - offset in the file's own addresses */
	uint32_t id;
	bool is_libc;
};

static struct module modules[MAX_MODULES];
static uint32_t module_count; /* atomic; modules below it are whole */
static uint32_t reading;      /* atomic; 1: somebody reads the maps */

/* ---- reading one module ---------------------------------------------------------- */

static void copy_build_id(struct dw_entry_module *entry, const char *note, size_t bytes)
{
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *header = (const void *)note;
		size_t name = (header->n_namesz + 3u) & ~3u, value = (header->n_descsz + 3u) & ~3u;

		if (sizeof *header + name + value > bytes)
			return;
		if (header->n_type == NT_GNU_BUILD_ID && header->n_namesz == 4 &&
		    header->n_descsz <= sizeof entry->build_id) {
			entry->build_id_bytes = header->n_descsz;
			memcpy(entry->build_id, note + sizeof *header + name, header->n_descsz);
			return;
		}
		note += sizeof *header + name + value;
		bytes -= sizeof *header + name + value;
	}
}

/* `base` is where the file's first bytes are mapped. */
static uintptr_t read_header(struct dw_entry_module *entry, uintptr_t base)
{
	const ElfW(Ehdr) *elf = (const void *)base;
	const ElfW(Phdr) *segment = (const void *)(base + elf->e_phoff);
	uintptr_t bias = base;

	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phoff > 4096)
		return base;
	for (int i = 0; i < elf->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD && segment[i].p_offset == 0)
			bias = base - segment[i].p_vaddr;
	for (int i = 0; i < elf->e_phnum; i++)
		if (segment[i].p_type == PT_NOTE && segment[i].p_offset + segment[i].p_filesz <= 4096)
			copy_build_id(entry, (const char *)(bias + segment[i].p_vaddr), segment[i].p_filesz);
	return bias;
}

static void add_module(uintptr_t base, uintptr_t low, uintptr_t high, const char *path)
{
	struct dw_entry_module entry = { 0 };
	const char *name = strrchr(path, '/');
	uint32_t count = module_count;

	if (count == MAX_MODULES)
		return;
	struct module *module = &modules[count];
	module->low = low;
	module->high = high;
	module->bias = read_header(&entry, base);
	module->is_libc = name && (strncmp(name, "/libc.so", 8) == 0 || strncmp(name, "/libc-", 6) == 0);
	entry.entry.tag = DW_ENTRY_TAG(DW_ENTRY_MODULE);
	entry.entry.bytes = sizeof entry;
	entry.entry.aux = 1;
	entry.base = module->bias;
	entry.bytes = high - base;
	entry.path = dw_intern_text(path);
	module->id = dw_intern(&entry.entry);
	/* Pairs with the acquire of find(). */
	__atomic_store_n(&module_count, count + 1, __ATOMIC_RELEASE);
}

/* ---- reading the maps -------------------------------------------------------------- */

static const struct module *find(uintptr_t address)
{
	uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);

	while (count-- > 0)
		if (address - modules[count].low < modules[count].high - modules[count].low)
			return &modules[count];
	return NULL;
}

/* One line: low-high rwxp offset device inode path. */
static void read_line(const char *line, uintptr_t *base)
{
	unsigned long low, high, offset;
	char permissions[5], path[1024];

	if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %1023[^\n]", &low, &high, permissions, &offset, path) != 5 ||
	    path[0] != '/')
		return;
	if (offset == 0)
		*base = low;
	if (permissions[2] == 'x' && *base && !find(low))
		add_module(*base, low, high, path);
}

static void read_maps(void)
{
	char buffer[4096];
	size_t held = 0;
	uintptr_t base = 0;
	ssize_t got;
	int file;

	if (__atomic_exchange_n(&reading, 1, __ATOMIC_ACQUIRE))
		return; /* another thread, or this one below a handler: without it then */
	file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	while (file >= 0 && (got = read(file, buffer + held, sizeof buffer - 1 - held)) > 0) {
		char *line = buffer, *end;

		held += (size_t)got;
		buffer[held] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			read_line(line, &base);
		}
		held -= (size_t)(line - buffer);
		memmove(buffer, line, held);
		if (held >= sizeof buffer - 1)
			held = 0; /* a path longer than any: passed over */
	}
	if (file >= 0)
		close(file);
	__atomic_store_n(&reading, 0, __ATOMIC_RELEASE);
}

bool dw_module_is_libc(uintptr_t address)
{
	const struct module *module = find(address);

	if (!module) {
		read_maps();
		module = find(address);
	}
	return module && module->is_libc;
}

uint32_t dw_module_frame(uintptr_t address)
{
	const struct module *module = find(address);
	struct dw_entry_frame entry = { .entry = { DW_ENTRY_TAG(DW_ENTRY_FRAME), sizeof entry, 0, 0 } };

	if (!module) {
		read_maps();
		module = find(address);
	}
	if (module) {
		entry.entry.aux = module->id;
		entry.offset = address - module->bias;
	} else {
		entry.function = dw_intern_text("[jit]");
	}
	return dw_intern(&entry.entry);
}
