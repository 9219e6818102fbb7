/*
 * Modules: the executable file or library that a piece of code belongs to.
 *
 * A frame is stored as (module, offset), so that a trace can be read on a machine where the
 * program never ran. The list of modules is read from /proc/self/maps when an address is in no
 * known module. The loader's own list is not used, because reading it takes a lock. The build-id
 * is read from the module's notes in memory.
 *
 * A library may be unloaded and another one mapped to its addresses. So before a module names a
 * frame, the first bytes of its file are compared with what is in memory; they hold the file's
 * header and usually its build-id. The kernel copies all memory that is read here, because
 * another thread may unmap it at any time.
 *
 * Callers cache frames by address; they clear their caches when dwell_code_generation changes. Whoever sees that the
 * program loaded or unloaded a library adds 1 to it. What was compared in an earlier generation is compared again, and
 * modules that their first bytes do not identify are looked up in the maps.
 *
 * One thread at a time reads the maps. Other threads wait for it, for a bounded time.
 */
#include "record/ids.h"
#include "record/process_state.h"
#include "record/record.h"
#include "record/session_state.h"
#include "record/stacks.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/system/descriptor.h"
#include "base/system/system.h"
#include "format/keys.h"

#define BLOCK_MODULES 512u
#define MAX_BLOCKS 128u
#define FIRST_BYTES 1024u /* of a file, which are compared */
#define MOST_SEGMENTS 64u
#define MOST_MADE 65536u /* frames of code in no file that are told apart by their addresses, of a process */
#define RECENT 4u        /* modules that are cached while the frames of one stack are resolved */

/* Written by the thread that holds the maps, read by any thread. Each field is accessed atomically.
 * A copy is valid if `version` is even and the same before and after copying. */
struct module {
	uint32_t version;
	uint32_t id;          /* 0 means code that is in no file */
	uintptr_t low, high;  /* of the executable mapping; both 0: it was unloaded */
	uintptr_t base;       /* address of the file's first bytes; 0 means not mapped */
	uintptr_t bias;       /* address minus the address that the file itself uses */
	uint64_t first_bytes; /* hash of the bytes at `base` */
	uint32_t path;        /* STRING */
	uint64_t checked;     /* when they were compared for samples; not copied */
	uint32_t generation;  /* dwell_code_generation then; not copied */
	bool identified;      /* the build-id is among the first bytes */
	bool is_libc;
};

uint32_t dwell_code_generation = 1; /* 0 means that nothing was looked up yet */

static struct module *blocks[MAX_BLOCKS]; /* atomic */
static uint32_t module_count;             /* atomic; entries in use, unloaded modules included */
static uint32_t made_frames;              /* atomic; lookups, so also of frames that were known */
static uint32_t maps_generation;          /* atomic; dwell_code_generation when the maps were last read */
static uint32_t forgotten;                /* how often forget_module() changed it; of the thread that holds the maps */

/* ---- memory that may be unmapped --------------------------------------------------- */

static size_t module_read_by_file(void *to, uintptr_t from, size_t bytes)
{
	int fd = dw_descriptor_open("/proc/self/mem", O_RDONLY, 0);
	long got = fd < 0 ? -1 : dw_call(SYS_pread64, fd, to, bytes, from);

	dw_descriptor_close(fd);
	return got > 0 ? (size_t)got : 0;
}

size_t dw_read_memory(void *to, uintptr_t from, size_t bytes)
{
	struct iovec ours = { to, bytes }, theirs = { (void *)from, bytes };
	long got;

	if (!dw_may_call())
		return 0;
	got = dw_call(SYS_process_vm_readv, dw_call(SYS_getpid), &ours, 1, &theirs, 1, 0);

	if (got < 0 && got != -EFAULT)
		return module_read_by_file(to, from, bytes); /* a sandbox refuses the system call */
	return got > 0 ? (size_t)got : 0;
}

/* 0 means the memory cannot be read. */
static uint64_t module_hash_first_bytes(uintptr_t base)
{
	char bytes[FIRST_BYTES];
	size_t got = base ? dw_read_memory(bytes, base, sizeof bytes) : 0;

	return got ? dw_hash(bytes, got, 0) | 1 : 0;
}

/* ---- reading one module ---------------------------------------------------------- */

/* One line of the maps: low-high rwxp offset device inode path. */
struct mapping {
	uintptr_t low, high;
	uint64_t offset, device, inode;
	bool executable;
	const char *path;
};

/* The head of a file: in memory, or read from the file where the program did not map it. Used only by the thread that
 * holds the maps. */
static struct {
	uintptr_t base; /* 0: read from `fd` */
	int fd;
	ElfW(Ehdr) elf;
	ElfW(Phdr) segments[MOST_SEGMENTS];
	unsigned count;
} module_head;

static size_t module_read_head_bytes(void *to, uint64_t offset, size_t bytes)
{
	long got;

	if (module_head.base)
		return dw_read_memory(to, module_head.base + (uintptr_t)offset, bytes);
	got = dw_system(SYS_pread64, module_head.fd, (long)to, (long)bytes, (long)offset, 0, 0);
	return dw_system_failed(got) ? 0 : (size_t)got;
}

static void module_read_head(void)
{
	size_t bytes;

	module_head.count = 0;
	if (module_read_head_bytes(&module_head.elf, 0, sizeof module_head.elf) != sizeof module_head.elf ||
	    memcmp(module_head.elf.e_ident, ELFMAG, SELFMAG) != 0 || module_head.elf.e_phoff > 4096 ||
	    module_head.elf.e_phnum > MOST_SEGMENTS)
		return;
	bytes = module_head.elf.e_phnum * sizeof *module_head.segments;
	if (module_read_head_bytes(module_head.segments, module_head.elf.e_phoff, bytes) == bytes)
		module_head.count = module_head.elf.e_phnum;
}

/* How far the file's own addresses of a mapping are below the addresses in memory. A file may be mapped in part, or
 * its code a second time: then the segment that the mapping begins in tells. */
static uintptr_t module_find_bias(const struct mapping *mapping)
{
	const uintptr_t page = (uintptr_t)getauxval(AT_PAGESZ) - 1;
	uintptr_t first = module_head.base ? module_head.base : mapping->low - (uintptr_t)mapping->offset, bias = first;
	bool found = false;

	for (unsigned i = 0; i < module_head.count; i++)
		if (module_head.base && module_head.segments[i].p_type == PT_LOAD && module_head.segments[i].p_offset == 0)
			bias = first = module_head.base - module_head.segments[i].p_vaddr;
	for (unsigned i = 0; i < module_head.count; i++) {
		const ElfW(Phdr) *segment = &module_head.segments[i];
		uintptr_t here = mapping->low - (uintptr_t)mapping->offset - (segment->p_vaddr - segment->p_offset);

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || mapping->offset < (segment->p_offset & ~page) ||
		    mapping->offset >= segment->p_offset + segment->p_filesz)
			continue;
		if (here == first) /* it is where the loader has placed it */
			return first;
		if (!found)
			bias = here;
		found = true;
	}
	return bias;
}

static bool module_copy_build_id(struct dw_entry_module *entry, const char *note, size_t bytes)
{
	ElfW(Nhdr) header;

	while (bytes >= sizeof header) {
		memcpy(&header, note, sizeof header);
		size_t name = ((size_t)header.n_namesz + 3) & ~(size_t)3;
		size_t value = ((size_t)header.n_descsz + 3) & ~(size_t)3;

		if (sizeof header + name + value > bytes)
			return false;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && header.n_descsz <= sizeof entry->build_id) {
			entry->build_id_bytes = header.n_descsz;
			memcpy(entry->build_id, note + sizeof header + name, header.n_descsz);
			return true;
		}
		note += sizeof header + name + value;
		bytes -= sizeof header + name + value;
	}
	return false;
}

/* Fills in the build-id. Returns whether it is among the file's first bytes. */
static bool module_read_build_id(struct dw_entry_module *entry, uintptr_t bias)
{
	char notes[512];

	for (unsigned i = 0; i < module_head.count; i++) {
		const ElfW(Phdr) *segment = &module_head.segments[i];
		size_t bytes = segment->p_filesz < sizeof notes ? segment->p_filesz : sizeof notes;

		if (segment->p_type != PT_NOTE)
			continue;
		bytes = module_head.base ? dw_read_memory(notes, bias + segment->p_vaddr, bytes)
		                  : module_read_head_bytes(notes, segment->p_offset, bytes);
		if (module_copy_build_id(entry, notes, bytes))
			return module_head.base && segment->p_offset + bytes <= FIRST_BYTES;
	}
	return false;
}

/* ---- the table --------------------------------------------------------------------- */

static struct module *module_at(uint32_t index)
{
	return &__atomic_load_n(&blocks[index / BLOCK_MODULES], __ATOMIC_RELAXED)[index % BLOCK_MODULES];
}

/* False: another thread is changing the module. */
static bool copy_module(struct module *copy, const struct module *module)
{
	/* Pairs with the release of write_module(). */
	uint32_t version = __atomic_load_n(&module->version, __ATOMIC_ACQUIRE);

	copy->id = DW_LOAD(module->id);
	copy->low = DW_LOAD(module->low);
	copy->high = DW_LOAD(module->high);
	copy->base = DW_LOAD(module->base);
	copy->bias = DW_LOAD(module->bias);
	copy->first_bytes = DW_LOAD(module->first_bytes);
	copy->path = DW_LOAD(module->path);
	copy->identified = DW_LOAD(module->identified);
	copy->is_libc = DW_LOAD(module->is_libc);
	/* The copy is made before the version is read again. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(version & 1) && DW_LOAD(module->version) == version;
}

/* The caller holds the maps. */
static void write_module(struct module *module, const struct module *from)
{
	uint32_t version = DW_LOAD(module->version);

	DW_STORE(module->version, version + 1);
	/* Pairs with the fence of copy_module(): a copy with a new field has the new version. */
	__atomic_thread_fence(__ATOMIC_RELEASE);
	DW_STORE(module->id, from->id);
	DW_STORE(module->low, from->low);
	DW_STORE(module->high, from->high);
	DW_STORE(module->base, from->base);
	DW_STORE(module->bias, from->bias);
	DW_STORE(module->first_bytes, from->first_bytes);
	DW_STORE(module->path, from->path);
	DW_STORE(module->identified, from->identified);
	DW_STORE(module->is_libc, from->is_libc);
	/* Pairs with the acquire of copy_module(). */
	__atomic_store_n(&module->version, version + 2, __ATOMIC_RELEASE);
}

/* Finds the module of an address and copies it; NULL: no module is known there. Programs have hundreds, so the one
 * that was found last for a part of the address space is looked at first. */
static struct module *find_module(uintptr_t address, struct module *copy)
{
	static uint32_t hints[256]; /* atomic; indices */
	uint32_t *hint = &hints[address >> 18 & 255];
	/* Pairs with the release of add_module(): the block is visible. */
	uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE), at = DW_LOAD(*hint);

	for (uint32_t left = count + 1; left-- > 0; at = left - 1) {
		struct module *module = at < count ? module_at(at) : NULL;

		if (module && copy_module(copy, module) && address >= copy->low && address < copy->high) {
			DW_STORE(*hint, at);
			return module;
		}
	}
	return NULL;
}

/* Reuses the entry of an unloaded module or adds one. The caller holds the maps. */
static void add_module(const struct module *from)
{
	uint32_t count = module_count, at = 0;

	while (at < count && DW_LOAD(module_at(at)->high))
		at++;
	if (at / BLOCK_MODULES >= MAX_BLOCKS)
		return;
	if (!blocks[at / BLOCK_MODULES])
		DW_STORE(blocks[at / BLOCK_MODULES], dw_intern_memory(BLOCK_MODULES * sizeof(struct module)));
	if (!blocks[at / BLOCK_MODULES])
		return;
	write_module(module_at(at), from);
	if (at == count) /* Pairs with the acquire of find_module(). */
		__atomic_store_n(&module_count, count + 1, __ATOMIC_RELEASE);
}

static bool module_is_same(const struct module *module)
{
	return !module->id || module_hash_first_bytes(module->base) == module->first_bytes;
}

/* ---- the maps ---------------------------------------------------------------------- */

/* Used only by the thread that holds the maps. Static, because a thread's stack may be small. */
static struct {
	char text[4096 + 512]; /* a path has at most 4,096 bytes */
	uintptr_t base;        /* first bytes of the file with this device and inode; 0 means not found */
	uint64_t device, inode;
} maps;

static uint64_t module_parse_number(const char **text, unsigned base)
{
	uint64_t value = 0;

	for (;; (*text)++) {
		char c = **text;
		unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0')
		                 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
		                                        : 16;

		if (digit >= base)
			return value;
		value = value * base + digit;
	}
}

static void module_parse_line(const char *line, struct mapping *mapping)
{
	mapping->low = (uintptr_t)module_parse_number(&line, 16);
	line += *line == '-';
	mapping->high = (uintptr_t)module_parse_number(&line, 16);
	mapping->executable = strlen(line) > 4 && line[3] == 'x';
	line += strcspn(line, "rwxps-");
	line += strcspn(line, " ");
	line += strspn(line, " ");
	mapping->offset = module_parse_number(&line, 16);
	line += *line == ' ';
	mapping->device = module_parse_number(&line, 16) << 32;
	line += *line == ':';
	mapping->device |= module_parse_number(&line, 16);
	line += *line == ' ';
	mapping->inode = module_parse_number(&line, 10);
	mapping->path = line + strspn(line, " ");
}

/* The path without what the kernel adds when the file is removed: the mapping stays the same. */
static uint32_t module_intern_path(const char *path)
{
	static const char removed[] = " (deleted)";
	size_t length = strlen(path), added = sizeof removed - 1;

	if (length > added && memcmp(path + length - added, removed, added) == 0)
		length -= added;
	return dw_intern_string(path, length);
}

/* Opens the file of a mapping, if it is still the one that was mapped. */
static int module_open_file(const struct mapping *mapping)
{
	struct stat file;
	int fd = dw_descriptor_open(mapping->path, O_RDONLY | O_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (dw_call(SYS_fstat, fd, &file) == 0 && file.st_ino == mapping->inode)
		return fd;
	dw_descriptor_close(fd);
	return -1;
}

/* Reads the head of the mapping's file, and fills in what it says. */
static void module_read_file(struct module *module, struct dw_entry_module *entry, const struct mapping *mapping)
{
	module_head.base = module->base;
	module_head.fd = module_head.base ? -1 : module_open_file(mapping);
	module_read_head();
	module->bias = module_find_bias(mapping);
	module->identified = module_read_build_id(entry, module->bias);
	dw_descriptor_close(module_head.fd);
}

static void module_add_file(const struct mapping *mapping, uintptr_t base)
{
	struct dw_entry_module entry = { 0 };
	const char *name = strrchr(mapping->path, '/');
	struct module module = { .low = mapping->low, .high = mapping->high, .base = base };

	module.path = module_intern_path(mapping->path);
	module.first_bytes = module_hash_first_bytes(base);
	module.is_libc = name && (strncmp(name, "/libc.so", 8) == 0 || strncmp(name, "/libc-", 6) == 0);
	module_read_file(&module, &entry, mapping);
	entry.entry.tag = DW_ENTRY_TAG(DW_ENTRY_MODULE);
	entry.entry.bytes = sizeof entry;
	entry.entry.aux = 1;
	entry.base = module.bias;
	entry.bytes = mapping->high - (base && base < mapping->low ? base : mapping->low);
	entry.path = dw_intern_text(mapping->path);
	module.id = dw_intern(&entry.entry);
	if (module.id) /* without an id, the file had no space for the entry: it is tried again later */
		add_module(&module);
}

/* The caller holds the maps. */
static void forget_module(struct module *module, bool has_names)
{
	static const struct module none;

	write_module(module, &none);
	/* Release: a thread that sees the new generation does not find the old module. */
	if (has_names) {
		__atomic_fetch_add(&dwell_code_generation, 1, __ATOMIC_RELEASE);
		forgotten++;
	}
}

/* Forgets the modules that are no longer mapped from low to high. Code that a program generated
 * has no names. If it is replaced by other generated code, no cache has to be cleared. */
static void module_forget_others(const struct mapping *mapping, bool is_file)
{
	struct module module;

	for (uint32_t i = 0; i < module_count; i++)
		if (copy_module(&module, module_at(i)) && module.low < mapping->high && module.high > mapping->low)
			forget_module(module_at(i), module.id || is_file);
}

static void module_read_line(const char *line, void *unused)
{
	struct mapping mapping;
	struct module known;
	bool is_file;

	(void)unused;
	module_parse_line(line, &mapping);
	is_file = mapping.path[0] == '/';
	if (mapping.device != maps.device || mapping.inode != maps.inode)
		maps.base = 0;
	maps.device = mapping.device;
	maps.inode = mapping.inode;
	if (mapping.offset == 0 && is_file)
		maps.base = mapping.low;
	if (!mapping.executable || mapping.high <= mapping.low)
		return;
	if (find_module(mapping.low, &known) && known.low == mapping.low && known.high == mapping.high &&
	    (known.id != 0) == is_file && (!is_file || known.path == module_intern_path(mapping.path)) &&
	    module_is_same(&known))
		return;
	module_forget_others(&mapping, is_file);
	if (is_file)
		module_add_file(&mapping, maps.base);
	else /* added, so that the maps are not read again for each frame */
		add_module(&(struct module){ .low = mapping.low, .high = mapping.high });
}

/* Calls `visit` for each line. */
static void module_read_lines(int fd, void (*visit)(const char *line, void *context), void *context)
{
	size_t held = 0;
	long got;

	maps.base = 0;
	maps.inode = 0;
	while ((got = dw_call(SYS_read, fd, maps.text + held, sizeof maps.text - 1 - held)) > 0) {
		char *line = maps.text, *end;

		held += (size_t)got;
		maps.text[held] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			visit(line, context);
		}
		held -= (size_t)(line - maps.text);
		memmove(maps.text, line, held);
		if (held >= sizeof maps.text - 1)
			held = 0; /* a line longer than the longest path: skipped */
	}
}

/* The earliest time at which the maps are read again without a new reason: after 100 times as long
 * as reading them took. */
static uint64_t module_is_later(uint64_t began)
{
	uint64_t now = dw_now();

	return now + 100 * (now - began);
}

/* The caller holds the maps. */
static void module_read_all(void)
{
	/* Pairs with the release of whoever adds 1: the maps that are read now do not have the unloaded library. */
	uint32_t before = __atomic_load_n(&dwell_code_generation, __ATOMIC_ACQUIRE), already = forgotten;
	int fd = dw_descriptor_open("/proc/self/maps", O_RDONLY, 0);

	if (fd >= 0)
		module_read_lines(fd, module_read_line, NULL);
	dw_descriptor_close(fd);
	DW_STORE(maps_generation, before + forgotten - already);
}

/* Whether the program loaded or unloaded a library since the maps were read. */
static bool module_is_stale(void)
{
	return DW_LOAD(maps_generation) != DW_LOAD(dwell_code_generation);
}

/* Reads the maps, unless another thread did so meanwhile or they recently had nothing at this
 * address. False: another thread does not finish reading them, or the caller interrupted it. */
static bool module_read_maps(uintptr_t address, bool again)
{
	struct module module, *known;
	uint64_t began;

	if (dw_process_hold(&dw_process->maps_reader) != DW_HOLD_TAKEN)
		return false;
	began = dw_now();
	known = find_module(address, &module);
	if (known && !module_is_same(&module))
		forget_module(known, true); /* there may be no new mapping that replaces it */
	if (find_module(address, &module))
		again |= !module.identified && module_is_stale();
	else
		again |= module_is_stale() || began >= DW_LOAD(dw_process->maps_absent_until);
	if (again) {
		module_read_all();
		DW_STORE(dw_process->maps_made_until, module_is_later(began));
		if (!find_module(address, &module))
			DW_STORE(dw_process->maps_absent_until, module_is_later(began));
	}
	dw_process_release(&dw_process->maps_reader);
	return true;
}

/* Whom dw_module_each_file() calls. */
struct module_visitor {
	void (*see)(const char *path, void *context);
	void *context;
};

static void module_show_file(const char *line, void *context)
{
	const struct module_visitor *visitor = context;
	struct mapping mapping;

	module_parse_line(line, &mapping);
	if (mapping.executable && *mapping.path == '/')
		visitor->see(mapping.path, visitor->context);
}

bool dw_module_each_file(void (*see)(const char *path, void *context), void *context)
{
	struct module_visitor visitor = { see, context };
	int fd;

	if (dw_process_hold(&dw_process->maps_reader) != DW_HOLD_TAKEN)
		return false;
	fd = dw_descriptor_open("/proc/self/maps", O_RDONLY, 0);
	if (fd >= 0)
		module_read_lines(fd, module_show_file, &visitor);
	dw_descriptor_close(fd);
	dw_process_release(&dw_process->maps_reader);
	return fd >= 0;
}

/* Half of the address space is the kernel's. */
static bool module_is_kernel(uintptr_t address)
{
	return (intptr_t)address < 0;
}

/* Finds the module at the address now. False: it cannot be found out. */
static bool module_find(uintptr_t address, struct module *module)
{
	bool known, changed;

	if (module_is_kernel(address)) {
		*module = (struct module){ 0 };
		return true;
	}
	known = find_module(address, module) != NULL;
	changed = known && !module_is_same(module);

	/* At an address of generated code there may be a file's code now. */
	if (known && !module->id && dw_now() >= DW_LOAD(dw_process->maps_made_until))
		changed = true;
	if (known && !changed && (module->identified || !module_is_stale()))
		return true;
	if (!module_read_maps(address, changed))
		return false;
	if (!find_module(address, module) || !module_is_same(module))
		*module = (struct module){ 0 };
	return true;
}

bool dw_module_is_code(uintptr_t address)
{
	struct module module;

	return module_find(address, &module) && module.id;
}

bool dw_module_is_libc(uintptr_t address)
{
	struct module module;

	return module_find(address, &module) && module.is_libc;
}

static uint32_t module_intern_frame(uintptr_t address, const struct module *module)
{
	struct dw_entry_frame entry = { .entry = { DW_ENTRY_TAG(DW_ENTRY_FRAME), sizeof entry, 0, 0 } };

	if (module->id) {
		entry.entry.aux = module->id;
		entry.offset = address - module->bias;
	} else {
		/* The kernel's own library, which is in no file, has a few pages. */
		bool is_vdso = address - (uintptr_t)getauxval(AT_SYSINFO_EHDR) < 16384;

		entry.function = dw_intern_text(is_vdso ? "[vdso]" : module_is_kernel(address) ? DW_KERNEL : "[jit]");
		/* `dwell run` looks for the function's name by this address when the program has ended. */
		if (!is_vdso && DW_LOAD(made_frames) < MOST_MADE) {
			__atomic_fetch_add(&made_frames, 1, __ATOMIC_RELAXED);
			entry.offset = address;
			entry.process = DW_LOAD(dw_process->id);
		}
	}
	return dw_intern(&entry.entry);
}

uint32_t dw_module_frame(uintptr_t address)
{
	struct module module;

	return dw_session_head() && module_find(address, &module) ? module_intern_frame(address, &module) : 0;
}

/* The same, but a module that was the same less than 1/16 s ago counts as unchanged: for samples, of which each has
 * new addresses. */
static bool module_find_lately(uintptr_t address, struct module *module)
{
	struct module *known = find_module(address, module), copy;
	/* Pairs with the release of whoever adds 1: what is compared below is compared after the unloading. */
	uint32_t generation = __atomic_load_n(&dwell_code_generation, __ATOMIC_ACQUIRE);
	uint64_t now = dw_now();

	if (known && module->id && DW_LOAD(known->generation) == generation &&
	    now - DW_LOAD(known->checked) < dw_session_map()->ticks_per_second / 16)
		return true;
	if (!module_find(address, module))
		return false;
	known = find_module(address, &copy);
	if (known) {
		DW_STORE(known->checked, now);
		DW_STORE(known->generation, generation);
	}
	return true;
}

bool dw_module_frames(void *const *addresses, int count, bool lately, uint32_t *frames)
{
	struct module recent[RECENT] = { 0 }; /* modules that were looked up for this stack */
	unsigned next = 0;

	if (!dw_session_head())
		return false;
	for (int i = 0; i < count; i++) {
		uintptr_t address = (uintptr_t)addresses[i] - 1;
		unsigned at = 0;

		while (at < RECENT && (address < recent[at].low || address >= recent[at].high))
			at++;
		if (at == RECENT) {
			at = next++ % RECENT;
			if (!(lately ? module_find_lately : module_find)(address, &recent[at]))
				return false;
		}
		if (!(frames[i] = module_intern_frame(address, &recent[at])))
			return false;
	}
	return true;
}

uint32_t dw_intern_function(uintptr_t address)
{
	struct dw_entry_op op = {
		.entry = { DW_ENTRY_TAG(DW_ENTRY_OP), sizeof op, 0, DWELL_CATEGORY_FUNCTION },
		.frame = dw_module_frame(address),
	};

	return op.frame ? dw_intern(&op.entry) : 0;
}
