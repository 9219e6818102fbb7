/* Modules: an address belongs to the module that is mapped there now, not to an earlier one. */
#include "check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/system.h"

static unsigned reads;

static long counted_system(long number, long a, long b, long c, long d, long e, long f)
{
	long result = dw_system(number, a, b, c, d, e, f);

	reads += number == SYS_read && result == 0; /* the end of one pass */
	return result;
}

#define dw_system counted_system
#include "record/module.c"
#undef dw_system

#include "session.h"

#define SIZE 8192u

/* A file like a library: its code begins at VADDR, which is at OFFSET of the file. `mark` makes it another one. */
#define OFFSET 4096u
#define VADDR 0x401000u

static int open_library(const char *name, unsigned mark)
{
	char path[160], bytes[SIZE] = { 0 };
	ElfW(Ehdr) *elf = (void *)bytes;
	int file;

	snprintf(path, sizeof path, "%s/%s", session_folder, name);
	memcpy(elf->e_ident, ELFMAG, SELFMAG);
	elf->e_version = mark;
	elf->e_phoff = sizeof *elf;
	elf->e_phnum = 2;
	((ElfW(Phdr) *)(elf + 1))[0] = (ElfW(Phdr)){ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = OFFSET };
	((ElfW(Phdr) *)(elf + 1))[1] = (ElfW(Phdr)){
		.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = OFFSET, .p_vaddr = VADDR, .p_filesz = SIZE - OFFSET
	};
	file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (write(file, bytes, sizeof bytes) != (ssize_t)sizeof bytes)
		abort();
	return file;
}

static void *map_library(void *at, const char *name, unsigned mark)
{
	char path[160];
	void *mapped;
	int file = open_library(name, mark);

	snprintf(path, sizeof path, "%s/%s", session_folder, name);
	mapped = mmap(at, SIZE, PROT_READ | PROT_EXEC, MAP_PRIVATE | (at ? MAP_FIXED : 0), file, 0);
	close(file);
	unlink(path);
	return mapped;
}

/* The path of the module that a FRAME names; "" for none. */
static const char *module_name(uintptr_t address)
{
	struct module module;
	const char *slash;
	static char line[600];
	FILE *maps_file;

	if (!module_find(address, &module) || !module.id)
		return "";
	/* what the table says must be what the kernel says */
	maps_file = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof line, maps_file)) {
		unsigned long low, high;

		if (sscanf(line, "%lx-%lx", &low, &high) == 2 && address >= low && address < high)
			break;
	}
	fclose(maps_file);
	slash = strrchr(line, '/');
	return slash ? slash + 1 : "";
}

TEST(another_library_at_the_same_address)
{
	REQUIRE(session_begin(0));
	void *at = map_library(NULL, "liba.so", 1);
	uint32_t generation = dwell_code_generation, a, b;

	a = dw_module_frame((uintptr_t)at + 100);
	CHECK(a != 0);
	CHECK_EQ(dw_module_frame((uintptr_t)at + 100), a);
	CHECK_EQ(dwell_code_generation, generation);
	munmap(at, SIZE);
	CHECK(map_library(at, "libb.so", 2) == at);
	b = dw_module_frame((uintptr_t)at + 100);
	CHECK(b != 0 && b != a);
	CHECK(strncmp(module_name((uintptr_t)at + 100), "libb.so", 7) == 0);
	CHECK(dwell_code_generation != generation); /* an id that was kept for `a` is not valid any more */
	munmap(at, SIZE);
	CHECK(dw_module_frame((uintptr_t)at + 100) != b); /* and of no library now */
	session_end();
}

static uint32_t frame_of_sample(uintptr_t address)
{
	void *place = (void *)(address + 1);
	uint32_t frame = 0;

	return dw_module_frames(&place, 1, true, &frame) ? frame : 0;
}

/* A sample takes a module that was there a moment ago for granted. It does not after the program has unloaded one. */
TEST(another_library_within_a_moment)
{
	REQUIRE(session_begin(0));
	void *at = map_library(NULL, "liba.so", 1);
	uint32_t a, b;

	a = frame_of_sample((uintptr_t)at + 100);
	munmap(at, SIZE);
	CHECK(map_library(at, "libb.so", 2) == at);
	__atomic_fetch_add(&dwell_code_generation, 1, __ATOMIC_RELEASE);
	b = frame_of_sample((uintptr_t)at + 100);
	CHECK(b != 0 && b != a);
	munmap(at, SIZE);
	session_end();
}

/* Two files without build-ids whose first bytes are equal. */
TEST(another_library_with_the_same_head)
{
	REQUIRE(session_begin(0));
	void *at = map_library(NULL, "liba.so", 1);
	uint32_t a, b;

	a = dw_module_frame((uintptr_t)at + 100);
	CHECK_EQ(frame_of_sample((uintptr_t)at + 100), a);
	munmap(at, SIZE);
	CHECK(map_library(at, "libb.so", 1) == at);
	__atomic_fetch_add(&dwell_code_generation, 1, __ATOMIC_RELEASE);
	b = frame_of_sample((uintptr_t)at + 100);
	CHECK(b != 0 && b != a);
	reads = 0;
	for (unsigned i = 0; i < 100; i++)
		CHECK_EQ(dw_module_frame((uintptr_t)at + 100), b);
	CHECK_EQ(reads, 0); /* the maps are read once after each change */
	munmap(at, SIZE);
	session_end();
}

/* Code that comes where none was found a moment ago. */
TEST(a_library_where_nothing_was)
{
	REQUIRE(session_begin(0));
	void *at = mmap(NULL, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct module module;

	DW_STORE(dw_process->maps_absent_until, 0);
	(void)dw_module_frame((uintptr_t)at + 100);
	DW_STORE(dw_process->maps_absent_until, UINT64_MAX);
	CHECK(map_library(at, "liba.so", 1) == at);
	__atomic_fetch_add(&dwell_code_generation, 1, __ATOMIC_RELEASE);
	CHECK(module_find((uintptr_t)at + 100, &module) && module.id);
	DW_STORE(dw_process->maps_absent_until, 0);
	munmap(at, SIZE);
	session_end();
}

/* A program maps its code a second time, without the head of the file. The offset is still the file's address. */
TEST(code_that_is_mapped_again)
{
	if (getenv("DWELL_TEST_SLOW")) /* under an emulator, whose /proc/self/maps does not have each mapping */
		return;
	REQUIRE(session_begin(0));
	int file = open_library("remap.so", 1);
	char *room = mmap(NULL, 4 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *alone = mmap(NULL, SIZE - OFFSET, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, OFFSET);
	/* as the loader does it, the file's first bytes below; and the code once more right behind it */
	char *first = mmap(room, OFFSET, PROT_READ, MAP_PRIVATE | MAP_FIXED, file, 0);
	char *code = mmap(room + OFFSET, SIZE - OFFSET, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, OFFSET);
	char *again = mmap(room + SIZE, SIZE - OFFSET, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, file, OFFSET);
	char *const places[] = { alone, code, again };

	CHECK(first == room);
	close(file);
	for (unsigned i = 0; i < 3; i++) {
		struct module module;

		CHECK(module_find((uintptr_t)places[i] + 8, &module) && module.id);
		CHECK_EQ((uintptr_t)places[i] + 8 - module.bias, VADDR + 8);
	}
	munmap(room, 4 * SIZE);
	munmap(alone, SIZE - OFFSET);
	session_end();
}

TEST(more_libraries_than_one_block_holds)
{
	enum { MANY = 1300 };
	static void *at[MANY];
	uint32_t count, wrong = 0;

	if (check_is_slow())
		return; /* reading the maps of thousands of libraries takes half a minute */
	REQUIRE(session_begin(0));
	for (unsigned i = 0; i < MANY; i++)
		at[i] = map_library(NULL, "many.so", i);
	/* An earlier test looked for unknown code. If reading the maps is slow, as under qemu, the
	 * next reading would be later than this. */
	DW_STORE(dw_process->maps_absent_until, 0);
	for (unsigned i = 0; i < MANY; i++)
		wrong += strncmp(module_name((uintptr_t)at[i] + 64), "many.so", 7) != 0;
	CHECK_EQ(wrong, 0);
	count = module_count;
	CHECK(count > 2 * BLOCK_MODULES);
	/* Places of unloaded ones are used again. */
	for (unsigned i = 0; i < MANY; i++) {
		munmap(at[i], SIZE);
		at[i] = map_library(at[i], "again.so", MANY + i);
	}
	for (unsigned i = 0; i < MANY; i++)
		wrong += strncmp(module_name((uintptr_t)at[i] + 64), "again.so", 8) != 0;
	CHECK_EQ(wrong, 0);
	CHECK_EQ(module_count, count);
	for (unsigned i = 0; i < MANY; i++)
		munmap(at[i], SIZE);
	session_end();
}

/* Code without a file, and what is no code, do not make the maps be read each time. */
TEST(unknown_code_is_cheap)
{
	char *code = mmap(NULL, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *hole = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t id, same = 0;

	REQUIRE(session_begin(0));
	reads = 0;
	id = dw_module_frame((uintptr_t)code);
	CHECK(id != 0);
	for (uintptr_t i = 1; i < 20000; i++)
		same += dw_module_frame((uintptr_t)code + i) == id;
	CHECK_EQ(same, 0); /* the name of each may be found out later */
	for (uintptr_t i = 0; i < 20000; i++)
		(void)dw_module_frame((uintptr_t)hole + i);
	printf("    %u passes over the maps for 40,000 frames\n", reads);
	CHECK(reads < 400);
	/* The dictionary is bounded: from some number on, places have one frame. */
	for (uintptr_t i = 0; i < MOST_MADE; i++)
		(void)dw_module_frame((uintptr_t)code + i);
	CHECK_EQ(dw_module_frame((uintptr_t)code + MOST_MADE), dw_module_frame((uintptr_t)code + MOST_MADE + 1));
	/* A library that comes meanwhile is found at once. */
	void *library = map_library(NULL, "late.so", 77);
	(void)dw_module_frame((uintptr_t)code);
	CHECK(dw_module_frame((uintptr_t)library + 8) != 0);
	session_end();
}

TEST(a_child_of_fork_reads_the_maps)
{
	pid_t child;
	int status = -1;

	REQUIRE(session_begin(0));
	(void)dw_module_frame((uintptr_t)&dw_intern);
	/* as if another thread read them at the moment of the fork */
	__atomic_store_n(&dw_process->maps_reader, (uint32_t)getppid(), __ATOMIC_RELEASE);
	child = fork();
	if (child == 0) {
		void *at = map_library(NULL, "child.so", 5);

		_exit(strncmp(module_name((uintptr_t)at + 8), "child.so", 8) == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	__atomic_store_n(&dw_process->maps_reader, 0, __ATOMIC_RELEASE);
	session_end();
}

TEST(lines_of_the_maps)
{
	struct mapping mapping;

	module_parse_line("7f0c1a028000-7f0c1a1bd000 r-xp 00028000 fe:01 393230       /usr/lib/a b.so", &mapping);
	CHECK_EQ(mapping.low, 0x7f0c1a028000);
	CHECK_EQ(mapping.high, 0x7f0c1a1bd000);
	CHECK(mapping.executable);
	CHECK_EQ(mapping.offset, 0x28000);
	CHECK_EQ(mapping.device, (uint64_t)0xfe << 32 | 1);
	CHECK_EQ(mapping.inode, 393230);
	CHECK(strcmp(mapping.path, "/usr/lib/a b.so") == 0);
	module_parse_line("7ffd0-7ffe0 rw-p 00000000 00:00 0 ", &mapping);
	CHECK(!mapping.executable && !*mapping.path && mapping.high == 0x7ffe0);
	module_parse_line("", &mapping);
	CHECK(!mapping.executable && !*mapping.path);
}

CHECK_MAIN
