/*
 * Modules: which file a piece of code came from.
 *
 * A frame is stored as (module, offset), so that a trace can be read where the
 * program never ran. The list of modules is read from /proc/self/maps (the
 * loader's own list takes a lock) when an address is met that no known module
 * holds. The build-id is read from the module's own notes in memory.
 *
 * A library may be unloaded and another one mapped to its addresses. So a known module
 * is compared with what is in memory before a frame is named by it: the first bytes of
 * its file, which hold its header and mostly its build-id. All memory is read by the kernel
 * for us, because another thread may unmap it at any time. Callers remember frames by
 * address; they forget them when dwell_code_generation changes.
 *
 * One thread reads the maps at a time. Others wait for it for a bounded time.
 */
#include "record/record.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define BLOCK_MODULES 512u
#define MAX_BLOCKS 128u
#define FIRST_BYTES 1024u /* of a file that are compared */
#define RECENT 4u         /* modules that the frames of one stack are mostly of */

/* Written by the thread that holds the maps, read by any: each field atomically, and valid
 * when `version` is even and the same before and after. */
struct module {
	uint32_t version;
	uint32_t id;           /* 0: code of no file */
	uintptr_t low, high;   /* of the executable mapping; both 0: it was unloaded */
	uintptr_t base;        /* where the file's first bytes are; 0: not mapped */
	uintptr_t bias;        /* address - offset in the file's own addresses */
	uint64_t first_bytes;  /* hash of what is at `base` */
	bool is_libc;
};

uint32_t dwell_code_generation = 1; /* 0 is what was never asked for */

static struct module *blocks[MAX_BLOCKS]; /* atomic */
static uint32_t module_count;             /* atomic; so many have been used, with unloaded ones */

/* ---- memory that may go away ------------------------------------------------------ */

static size_t read_by_file(void *to, uintptr_t from, size_t bytes)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : pread(fd, to, bytes, (off_t)from);

	if (fd >= 0)
		close(fd);
	return got > 0 ? (size_t)got : 0;
}

size_t dw_read_memory(void *to, uintptr_t from, size_t bytes)
{
	struct iovec ours = { to, bytes }, theirs = { (void *)from, bytes };
	long got = syscall(SYS_process_vm_readv, getpid(), &ours, 1ul, &theirs, 1ul, 0ul);

	if (got < 0 && errno != EFAULT)
		return read_by_file(to, from, bytes); /* a sandbox refuses the call */
	return got > 0 ? (size_t)got : 0;
}

/* 0: there is nothing. */
static uint64_t hash_first_bytes(uintptr_t base)
{
	char bytes[FIRST_BYTES];
	size_t got = base ? dw_read_memory(bytes, base, sizeof bytes) : 0;

	return got ? dw_hash(bytes, got, 0) | 1 : 0;
}

/* ---- reading one module ---------------------------------------------------------- */

static bool copy_build_id(struct dw_entry_module *entry, const char *note, size_t bytes)
{
	ElfW(Nhdr) header;

	while (bytes >= sizeof header) {
		memcpy(&header, note, sizeof header);
		size_t name = ((size_t)header.n_namesz + 3) & ~(size_t)3;
		size_t value = ((size_t)header.n_descsz + 3) & ~(size_t)3;

		if (sizeof header + name + value > bytes)
			return false;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    header.n_descsz <= sizeof entry->build_id) {
			entry->build_id_bytes = header.n_descsz;
			memcpy(entry->build_id, note + sizeof header + name, header.n_descsz);
			return true;
		}
		note += sizeof header + name + value;
		bytes -= sizeof header + name + value;
	}
	return false;
}

static void read_notes(struct dw_entry_module *entry, uintptr_t address, size_t bytes)
{
	char notes[512];

	if (bytes > sizeof notes)
		bytes = sizeof notes;
	copy_build_id(entry, notes, dw_read_memory(notes, address, bytes));
}

/* Fills the build-id; the module's bias. */
static uintptr_t read_header(struct dw_entry_module *entry, uintptr_t base)
{
	ElfW(Ehdr) elf;
	ElfW(Phdr) segment;
	uintptr_t bias = base;

	if (dw_read_memory(&elf, base, sizeof elf) != sizeof elf ||
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_phoff > 4096 || elf.e_phnum > 64)
		return base;
	for (int pass = 0; pass < 2; pass++) /* the bias first */
		for (unsigned i = 0; i < elf.e_phnum; i++) {
			if (dw_read_memory(&segment, base + elf.e_phoff + i * sizeof segment, sizeof segment) !=
			    sizeof segment)
				return bias;
			if (pass == 0 && segment.p_type == PT_LOAD && segment.p_offset == 0)
				bias = base - segment.p_vaddr;
			if (pass == 1 && segment.p_type == PT_NOTE && !entry->build_id_bytes)
				read_notes(entry, bias + segment.p_vaddr, segment.p_filesz);
		}
	return bias;
}

/* ---- the table --------------------------------------------------------------------- */

static struct module *module_at(uint32_t index)
{
	return &__atomic_load_n(&blocks[index / BLOCK_MODULES], __ATOMIC_RELAXED)[index % BLOCK_MODULES];
}

/* False: it is being written. */
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
	copy->is_libc = DW_LOAD(module->is_libc);
	/* The copy comes before the second look at the version. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return !(version & 1) && DW_LOAD(module->version) == version;
}

/* With the maps held. */
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
	DW_STORE(module->is_libc, from->is_libc);
	/* Pairs with the acquire of copy_module(). */
	__atomic_store_n(&module->version, version + 2, __ATOMIC_RELEASE);
}

/* Where the module of an address stands, and what it says; NULL: none is known. */
static struct module *find_module(uintptr_t address, struct module *copy)
{
	/* Pairs with the release of add_module(): the block is there. */
	uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);

	while (count-- > 0) {
		struct module *module = module_at(count);

		if (copy_module(copy, module) && address >= copy->low && address < copy->high)
			return module;
	}
	return NULL;
}

/* With the maps held. An unloaded one's place, or a new one. */
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

static bool is_same(const struct module *module)
{
	return !module->id || hash_first_bytes(module->base) == module->first_bytes;
}

/* ---- the maps ---------------------------------------------------------------------- */

/* One line: low-high rwxp offset device inode path. */
struct mapping {
	uintptr_t low, high;
	uint64_t offset, device, inode;
	bool executable;
	const char *path;
};

/* The thread that holds the maps uses it alone. Not on the stack: threads may have small ones. */
static struct {
	char text[4096 + 512]; /* a path has at most 4,096 bytes */
	uintptr_t base;        /* where the file with this device and inode begins; 0: not met */
	uint64_t device, inode;
} maps;

static uint64_t parse_number(const char **text, unsigned base)
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

static void parse_line(const char *line, struct mapping *mapping)
{
	mapping->low = (uintptr_t)parse_number(&line, 16);
	line += *line == '-';
	mapping->high = (uintptr_t)parse_number(&line, 16);
	mapping->executable = strlen(line) > 4 && line[3] == 'x';
	line += strcspn(line, "rwxps-");
	line += strcspn(line, " ");
	line += strspn(line, " ");
	mapping->offset = parse_number(&line, 16);
	line += *line == ' ';
	mapping->device = parse_number(&line, 16) << 32;
	line += *line == ':';
	mapping->device |= parse_number(&line, 16);
	line += *line == ' ';
	mapping->inode = parse_number(&line, 10);
	mapping->path = line + strspn(line, " ");
}

static void add_file(const struct mapping *mapping, uintptr_t base)
{
	struct dw_entry_module entry = { 0 };
	const char *name = strrchr(mapping->path, '/');
	struct module module = { .low = mapping->low, .high = mapping->high, .base = base };

	module.first_bytes = hash_first_bytes(base);
	module.bias = base ? read_header(&entry, base) : mapping->low - (uintptr_t)mapping->offset;
	module.is_libc = name && (strncmp(name, "/libc.so", 8) == 0 || strncmp(name, "/libc-", 6) == 0);
	entry.entry.tag = DW_ENTRY_TAG(DW_ENTRY_MODULE);
	entry.entry.bytes = sizeof entry;
	entry.entry.aux = 1;
	entry.base = module.bias;
	entry.bytes = mapping->high - (base ? base : mapping->low);
	entry.path = dw_intern_text(mapping->path);
	module.id = dw_intern(&entry.entry);
	if (module.id) /* else the entry had no place in the file: another time */
		add_module(&module);
}

/* With the maps held. */
static void forget_module(struct module *module, bool has_names)
{
	static const struct module none;

	write_module(module, &none);
	/* Release: whoever sees the new generation finds the module no more. */
	if (has_names)
		__atomic_fetch_add(&dwell_code_generation, 1, __ATOMIC_RELEASE);
}

/* Forgets the modules that are no longer what is mapped from low to high. Code that a program
 * made itself has no names, so nobody remembers one when it becomes other such code. */
static void forget_others(const struct mapping *mapping, bool is_file)
{
	struct module module;

	for (uint32_t i = 0; i < module_count; i++)
		if (copy_module(&module, module_at(i)) && module.low < mapping->high &&
		    module.high > mapping->low)
			forget_module(module_at(i), module.id || is_file);
}

static void read_line(const char *line)
{
	struct mapping mapping;
	struct module known;
	bool is_file;

	parse_line(line, &mapping);
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
	    (known.id != 0) == is_file && is_same(&known))
		return;
	forget_others(&mapping, is_file);
	if (is_file)
		add_file(&mapping, maps.base);
	else /* known, so that the maps are not read again for each frame */
		add_module(&(struct module){ .low = mapping.low, .high = mapping.high });
}

static void read_lines(int fd)
{
	size_t held = 0;
	ssize_t got;

	maps.base = 0;
	maps.inode = 0;
	while ((got = read(fd, maps.text + held, sizeof maps.text - 1 - held)) > 0) {
		char *line = maps.text, *end;

		held += (size_t)got;
		maps.text[held] = '\0';
		for (; (end = strchr(line, '\n')); line = end + 1) {
			*end = '\0';
			read_line(line);
		}
		held -= (size_t)(line - maps.text);
		memmove(maps.text, line, held);
		if (held >= sizeof maps.text - 1)
			held = 0; /* a path longer than any: passed over */
	}
}

/* False: this thread has them already (we are in a signal handler), or another keeps them
 * for longer than a second. */
static bool hold_maps(void)
{
	const struct timespec pause = { 0, 200000 };
	uint32_t self = (uint32_t)dw_gettid();

	for (int tries = 0; tries < 6000; tries++) {
		uint32_t owner = 0;

		/* Pairs with the release below: what holders before wrote is seen. */
		if (__atomic_compare_exchange_n(&dw_process->maps_reader, &owner, self, false,
		                                __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
		if (owner == self)
			return false;
		if (tries < 1000)
			sched_yield();
		else
			nanosleep(&pause, NULL);
		if (tries % 256 == 255 && dw_process_thread_dead(owner) &&
		    __atomic_compare_exchange_n(&dw_process->maps_reader, &owner, self, false,
		                                __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

/* When the maps are read although they may say the same as before: once in a hundred times
 * as long as it takes. */
static uint64_t module_is_later(uint64_t began)
{
	uint64_t now = dw_now();

	return now + 100 * (now - began);
}

/* Reads the maps, unless another thread has meanwhile or they had nothing there just before.
 * False: another thread reads them and does not end, or we interrupted it. */
static bool read_maps(uintptr_t address, bool again)
{
	struct module module, *known;
	uint64_t began;
	int fd;

	if (!hold_maps())
		return false;
	began = dw_now();
	known = find_module(address, &module);
	if (known && !is_same(&module))
		forget_module(known, true); /* no mapping may be in its place */
	again |= !find_module(address, &module) && began >= DW_LOAD(dw_process->maps_absent_until);
	if (again) {
		fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			read_lines(fd);
			close(fd);
		}
		DW_STORE(dw_process->maps_made_until, module_is_later(began));
		if (!find_module(address, &module))
			DW_STORE(dw_process->maps_absent_until, module_is_later(began));
	}
	__atomic_store_n(&dw_process->maps_reader, 0, __ATOMIC_RELEASE);
	return true;
}

/* What is at the address now. False: that could not be found out. */
static bool look_up(uintptr_t address, struct module *module)
{
	bool known = find_module(address, module) != NULL;
	bool changed = known && !is_same(module);

	/* Code without a file may have become a file's. */
	if (known && !module->id && dw_now() >= DW_LOAD(dw_process->maps_made_until))
		changed = true;
	if (known && !changed)
		return true;
	if (!read_maps(address, changed))
		return false;
	if (!find_module(address, module) || !is_same(module))
		*module = (struct module){ 0 };
	return true;
}

bool dw_module_is_code(uintptr_t address)
{
	struct module module;

	return look_up(address, &module) && module.id;
}

bool dw_module_is_libc(uintptr_t address)
{
	struct module module;

	return look_up(address, &module) && module.is_libc;
}

static uint32_t intern_frame(uintptr_t address, const struct module *module)
{
	struct dw_entry_frame entry = { .entry = { DW_ENTRY_TAG(DW_ENTRY_FRAME), sizeof entry, 0, 0 } };

	if (module->id) {
		entry.entry.aux = module->id;
		entry.offset = address - module->bias;
	} else {
		entry.function = dw_intern_text("[jit]");
	}
	return dw_intern(&entry.entry);
}

uint32_t dw_module_frame(uintptr_t address)
{
	struct module module;

	return dw_session_head() && look_up(address, &module) ? intern_frame(address, &module) : 0;
}

bool dw_module_frames(void *const *addresses, int count, uint32_t *frames)
{
	struct module recent[RECENT] = { 0 }; /* looked up for this stack */
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
			if (!look_up(address, &recent[at]))
				return false;
		}
		if (!(frames[i] = intern_frame(address, &recent[at])))
			return false;
	}
	return true;
}
