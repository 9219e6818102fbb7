/*
 * Replaces the first instructions of a function by a jump to their copy, which calls dws_entry_save() first; see
 * entry.c.
 *
 * The copy lies in a page of its own that a jump reaches. The function's page is written to once, while the program has
 * one thread, or in a way that other threads cannot notice.
 */
#include "entry_patch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "entry_save.h"

#if defined __x86_64__ || defined __aarch64__

#define STRIDE ((uintptr_t)1 << 16) /* between the addresses that are tried for the copy */
#define SYNC_CORES (1 << 5)         /* MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE */
#define REGISTER_SYNC_CORES (1 << 6)

#ifdef __x86_64__

#define REACH ((uintptr_t)1 << 30) /* within which the copy lies: a jump has 32 bits */
#define JUMP DWS_MOVE_JUMP

typedef struct dws_move patch_move;

static const char *patch_choose(patch_move *move, const struct dws_move_file *file, const struct dws_copy *copy)
{
	return dws_move_choose(move, file, copy->code, copy->size);
}

static bool patch_begins_once(const struct dws_move_file *file, const struct dws_copy *copy)
{
	return dws_move_begins_once(file, copy->code, copy->size);
}

/* A shadow stack (CET) does not know an address that the copy stores. */
static bool patch_has_shadow_stack(void)
{
	unsigned long features = 0;

	return syscall(SYS_arch_prctl, 0x5005 /* ARCH_SHSTK_STATUS */, &features) == 0 && features;
}

/* Writes the copy and the jump to it. False: something is too far away. */
static bool patch_make(const patch_move *move, uint8_t *page, uint8_t jump[JUMP])
{
	int32_t distance = (int32_t)((intptr_t)page - (intptr_t)(move->code + JUMP));

	jump[0] = 0xe9;
	memcpy(jump + 1, &distance, sizeof distance);
	return dws_move_write(move, page, (uintptr_t)dws_entry_save);
}

/* Where other threads run: one that enters the function meanwhile waits in a jump to itself. Of two bytes in one line
 * of the cache, a processor sees both or none. */
static void patch_replace(uint8_t *code, const uint8_t jump[JUMP], bool is_alone)
{
	uint16_t wait = 0xfeeb, begin;

	if (is_alone) {
		memcpy(code, jump, JUMP);
		return;
	}
	memcpy(&begin, jump, sizeof begin);
	syscall(SYS_membarrier, REGISTER_SYNC_CORES, 0, 0);
	__atomic_store_n((uint16_t *)(void *)code, wait, __ATOMIC_SEQ_CST);
	syscall(SYS_membarrier, SYNC_CORES, 0, 0);
	memcpy(code + sizeof begin, jump + sizeof begin, JUMP - sizeof begin);
	__atomic_store_n((uint16_t *)(void *)code, begin, __ATOMIC_SEQ_CST);
	syscall(SYS_membarrier, SYNC_CORES, 0, 0);
}

static bool patch_is_split(const uint8_t *code)
{
	return ((uintptr_t)code & 63) == 63;
}

#else

#include <sys/prctl.h>

#define REACH ((uintptr_t)120 << 20) /* a branch has 28 bits */
#define JUMP 4u

typedef struct dws_arm_move patch_move;

static const char *patch_choose(patch_move *move, const struct dws_move_file *file, const struct dws_copy *copy)
{
	return dws_arm_choose(move, file, copy->code, copy->size);
}

static bool patch_begins_once(const struct dws_move_file *file, const struct dws_copy *copy)
{
	(void)file;
	(void)copy;
	return false;
}

/* A guarded control stack does not know an address that the copy stores. */
static bool patch_has_shadow_stack(void)
{
	unsigned long features = 0;

	return prctl(74 /* PR_GET_SHADOW_STACK_STATUS */, &features, 0, 0, 0) == 0 && features;
}

static bool patch_make(const patch_move *move, uint8_t *page, uint8_t jump[JUMP])
{
	uint32_t word;
	bool near = dws_arm_branch(move->code, page, &word);

	memcpy(jump, &word, sizeof word);
	if (!near || !dws_arm_write(move, page, (uintptr_t)dws_entry_save))
		return false;
	__builtin___clear_cache((char *)page, (char *)page + DWS_MOVE_COPY);
	return true;
}

/* It is one instruction: another thread executes the old one or the new one. */
static void patch_replace(uint8_t *code, const uint8_t jump[JUMP], bool is_alone)
{
	uint32_t word;

	memcpy(&word, jump, sizeof word);
	if (!is_alone)
		syscall(SYS_membarrier, REGISTER_SYNC_CORES, 0, 0);
	__atomic_store_n((uint32_t *)(void *)code, word, __ATOMIC_SEQ_CST);
	__builtin___clear_cache((char *)code, (char *)code + sizeof word);
	if (!is_alone)
		syscall(SYS_membarrier, SYNC_CORES, 0, 0);
}

static bool patch_is_split(const uint8_t *code)
{
	(void)code;
	return false;
}
#endif

/* A page that a jump from `code` reaches. */
static uint8_t *patch_near_page(uintptr_t code)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t middle = code & ~(STRIDE - 1);

	for (uintptr_t away = STRIDE; away < REACH; away += STRIDE)
		for (int up = 0; up < 2; up++) {
			uintptr_t wanted = up ? middle + away : middle - away;
			void *page = MAP_FAILED;

			if (up || middle > away + STRIDE)
				page = mmap((void *)wanted, page_bytes, PROT_READ | PROT_WRITE,
				            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (page == (void *)wanted)
				return page;
			if (page != MAP_FAILED) /* a kernel that does not know the flag */
				munmap(page, page_bytes);
		}
	return NULL;
}

bool dws_patch_is_alone(void)
{
	char text[4096], *threads;
	FILE *file = fopen("/proc/self/status", "re");
	size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;

	if (file)
		fclose(file);
	text[got] = '\0';
	threads = strstr(text, "\nThreads:");
	return threads && strtoul(threads + 9, NULL, 10) == 1;
}

/* Returns why it was not done, or NULL. */
static const char *patch_write(const patch_move *move, bool is_alone)
{
	const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE), code = (uintptr_t)move->code;
	const uintptr_t first = code & ~(page_bytes - 1), end = (code + JUMP + page_bytes - 1) & ~(page_bytes - 1);
	uint8_t jump[JUMP], *page = patch_near_page(code);

	if (!page)
		return "there is no free memory near it";
	if (!patch_make(move, page, jump) || mprotect(page, page_bytes, PROT_READ | PROT_EXEC) != 0 ||
	    mprotect((void *)first, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
		munmap(page, page_bytes);
		return "the system does not permit code to be changed (a sandbox, SELinux, or PR_SET_MDWE); mark steps with DWELL_STEP(), "
		       "or permit changed code, as SELinux does by execmod and execmem";
	}
	patch_replace((uint8_t *)code, jump, is_alone);
	mprotect((void *)first, end - first, PROT_READ | PROT_EXEC | (move->is_writable ? PROT_WRITE : 0));
	return NULL;
}

const char *dws_patch(const struct dws_move_file *file, const struct dws_copy *copy, bool is_alone)
{
	patch_move move;
	const char *problem = patch_choose(&move, file, copy);

	if (copy->is_go)
		return "it may be a function of Go, whose small stacks have no room for what a step does; name a function of C, or call "
		       "one with DWELL_STEP() by cgo";
	if (copy->is_changed)
		return "its code is not that of the file: a debugger or another tool has changed it";
	if (problem)
		return problem;
	if (move.pushes_return && patch_has_shadow_stack())
		return "its first instructions call a function, and there is a shadow stack";
	if (!is_alone && patch_is_split(move.code))
		return "other threads run, and its first bytes are not in one line of the cache";
	problem = dws_entry_prepare();
	return problem ? problem : patch_write(&move, is_alone);
}

bool dws_patch_may_trap(const struct dws_move_file *file, const struct dws_copy *copy)
{
	return !copy->is_go && !copy->is_changed && patch_begins_once(file, copy);
}
#endif
