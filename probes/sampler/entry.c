/*
 * Steps that begin where a function of a native program is entered: `dwell run --step-on FUNCTION`.
 *
 * Before main() the first instructions of the function are replaced by a jump. It leads to a copy of them with a call
 * before it, which begins the step, and from there back into the function. A step lasts until the next entry, so
 * no return has to be seen: exceptions, longjmp() and tail calls need no care. No signal is used, which a thread
 * might block, and the code is never changed again.
 *
 * It is done only where it is certain to leave the program as it is:
 *   - no other thread runs yet;
 *   - the instructions mean the same at another address: none is relative to it, none jumps. The last one may be a call: the
 *     copy pushes the address of the original's next instruction and jumps, so that the callee returns there;
 *   - the last of them moves the stack pointer by a push or a subtraction. A jump into the middle of them would do that
 *     twice, so no code of a compiler has one.
 * The first thread that enters the function has the steps. Only x86-64.
 *
 * A function that the program's file lacks is looked for in its libraries, and in those that it loads later: when a
 * dlopen() ends, before the program can call them.
 */
#include "sampler.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/keys.h"
#include "sampler_entry.h"

#ifdef __x86_64__
#include <cpuid.h>

#define REACH ((uintptr_t)1 << 30)  /* within which the copy lies: a jump has 32 bits */
#define STRIDE ((uintptr_t)1 << 16) /* between the addresses that are tried for it */
#define JUMP_BYTES 5u
#define SAVED_REGISTERS 0xe7u       /* x87, SSE, AVX, AVX-512: they may hold arguments */

/* Used by the code below, which link-time optimization does not see. */
__attribute__((visibility("hidden"), used)) uint32_t dws_entry_mask, dws_entry_bytes;
__attribute__((visibility("hidden"), used)) void dws_entry_called(void);
__attribute__((visibility("hidden"))) void dws_entry_save(void);

/* Keeps all registers in which arguments may be, also those of vectors. */
__asm__(".text\n"
        ".globl dws_entry_save\n"
        ".hidden dws_entry_save\n"
        ".type dws_entry_save, @function\n"
        "dws_entry_save:\n"
        "	.cfi_startproc\n"
        "	pushq %rbp\n"
        "	.cfi_def_cfa_offset 16\n"
        "	.cfi_offset 6, -16\n"
        "	movq %rsp, %rbp\n"
        "	.cfi_def_cfa_register 6\n"
        "	pushq %rax\n	pushq %rcx\n	pushq %rdx\n	pushq %rsi\n	pushq %rdi\n"
        "	pushq %r8\n	pushq %r9\n	pushq %r10\n	pushq %r11\n"
        "	movl dws_entry_bytes(%rip), %eax\n"
        "	subq %rax, %rsp\n"
        "	andq $-64, %rsp\n"
        "	xorl %edx, %edx\n"
        "	movq %rdx, 512(%rsp)\n	movq %rdx, 520(%rsp)\n	movq %rdx, 528(%rsp)\n	movq %rdx, 536(%rsp)\n"
        "	movq %rdx, 544(%rsp)\n	movq %rdx, 552(%rsp)\n	movq %rdx, 560(%rsp)\n	movq %rdx, 568(%rsp)\n"
        "	movl dws_entry_mask(%rip), %eax\n"
        "	xsave64 (%rsp)\n"
        "	call dws_entry_called\n"
        "	movl dws_entry_mask(%rip), %eax\n"
        "	xorl %edx, %edx\n"
        "	xrstor64 (%rsp)\n"
        "	leaq -72(%rbp), %rsp\n"
        "	popq %r11\n	popq %r10\n	popq %r9\n	popq %r8\n"
        "	popq %rdi\n	popq %rsi\n	popq %rdx\n	popq %rcx\n	popq %rax\n"
        "	popq %rbp\n"
        "	.cfi_def_cfa 7, 8\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size dws_entry_save, . - dws_entry_save\n");

static int taken;    /* atomic; a thread has the steps */
static bool refused; /* one copy of the function could not be changed: no step is better than some of them */
static __thread struct {
	bool steps, inside;
} mine __attribute__((__tls_model__("initial-exec")));

void dws_entry_called(void)
{
	if (mine.inside || refused || dws_recorder->meta != dwell_meta) /* a program that contains the recorder marks its own */
		return;
	mine.inside = true;
	if (!mine.steps && !__atomic_exchange_n(&taken, 1, __ATOMIC_RELAXED)) {
		mine.steps = true;
		dwell_meta(DW_KEY_NATIVE_STEP_ON, "steps");
	}
	if (mine.steps)
		dwell_step_begin();
	mine.inside = false;
}

/* Which registers there are, and how much memory they need. False: this processor or kernel does not say. */
static bool entry_measure(void)
{
	uint32_t a, b, c, d, low, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return false;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	dws_entry_mask = low & SAVED_REGISTERS;
	dws_entry_bytes = 512 + 64;
	for (uint32_t i = 2; i < 8; i++)
		if (dws_entry_mask >> i & 1 && __get_cpuid_count(0xd, i, &a, &b, &c, &d) && a + b > dws_entry_bytes)
			dws_entry_bytes = a + b;
	return true;
}

/* ---- the copy ---------------------------------------------------------------------------------- */

static void entry_put(uint8_t *at, int64_t value)
{
	int32_t near = (int32_t)value;

	memcpy(at, &near, sizeof near);
}

/* A page that a jump from `code` reaches. */
static uint8_t *entry_near_page(uintptr_t code)
{
	uintptr_t middle = code & ~(STRIDE - 1);

	for (uintptr_t away = STRIDE; away < REACH; away += STRIDE)
		for (int up = 0; up < 2; up++) {
			uintptr_t wanted = up ? middle + away : middle - away;
			void *page = MAP_FAILED;

			if (up || middle > away + STRIDE)
				page = mmap((void *)wanted, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (page == (void *)wanted)
				return page;
			if (page != MAP_FAILED) /* a kernel that does not know the flag */
				munmap(page, 4096);
		}
	return NULL;
}

#define ADDRESSES 64u /* in the page: what it calls, where the function goes on, and what that calls */

/* An instruction with one of the addresses as its operand. Returns the place behind it. */
static unsigned entry_write_with(uint8_t *page, unsigned at, uint8_t operation, unsigned address)
{
	page[at] = 0xff;
	page[at + 1] = operation;
	entry_put(page + at + 2, (int64_t)(ADDRESSES + address * 8) - (at + 6));
	return at + 6;
}

/* The call, the instructions, the jump back, and the addresses. */
static void entry_write_copy(uint8_t *page, const uint8_t *code, unsigned bytes)
{
	bool calls = dws_entry_ends_with_call(code, bytes);
	unsigned plain = calls ? bytes - DWS_ENTRY_CALL : bytes, at = entry_write_with(page, 0, 0x15, 0);
	uintptr_t addresses[3] = { (uintptr_t)dws_entry_save, (uintptr_t)(code + bytes) };

	memcpy(page + at, code, plain);
	at += plain;
	if (calls) {
		int32_t near;

		memcpy(&near, code + plain + 1, sizeof near);
		addresses[2] = (uintptr_t)(code + bytes) + (uintptr_t)(intptr_t)near;
		at = entry_write_with(page, at, 0x35, 1); /* push */
	}
	entry_write_with(page, at, 0x25, calls ? 2 : 1); /* jmp */
	memcpy(page + ADDRESSES, addresses, sizeof addresses);
}

/* A shadow stack (CET) does not know the address that the copy pushes. */
static bool entry_has_shadow_stack(void)
{
	unsigned long features = 0;

	return syscall(SYS_arch_prctl, 0x5005 /* ARCH_SHSTK_STATUS */, &features) == 0 && features;
}

struct text {
	const uint8_t *code;
	unsigned bytes;
	bool found;
};

/* Looks at the part of the file that contains the code. */
static int entry_look_at_file(struct dl_phdr_info *file, size_t bytes, void *data)
{
	struct text *text = data;

	(void)bytes;
	for (unsigned i = 0; i < file->dlpi_phnum; i++) {
		uintptr_t begin = file->dlpi_addr + file->dlpi_phdr[i].p_vaddr;

		if (file->dlpi_phdr[i].p_type == PT_LOAD && (file->dlpi_phdr[i].p_flags & PF_X) &&
		    (uintptr_t)text->code - begin < file->dlpi_phdr[i].p_filesz)
			text->found |= dws_entry_is_target((const uint8_t *)begin, file->dlpi_phdr[i].p_filesz, text->code, text->bytes);
	}
	return 1;
}

static bool entry_is_target(const uint8_t *code, unsigned bytes)
{
	struct text text = { code, bytes, false };

	dl_iterate_phdr(entry_look_at_file, &text);
	return text.found;
}

/* Returns why it was not done, or NULL. */
static const char *entry_patch(uint8_t *code, uint64_t size)
{
	uintptr_t first = (uintptr_t)code & ~(uintptr_t)4095, last = ((uintptr_t)code + JUMP_BYTES - 1) & ~(uintptr_t)4095;
	bool certain;
	unsigned bytes = dws_entry_movable(code, size, &certain);
	uint8_t *page, jump[JUMP_BYTES] = { 0xe9 };

	if (!bytes)
		return "its first instructions cannot be moved";
	if (dws_entry_ends_with_call(code, bytes) && entry_has_shadow_stack())
		return "its first instructions call a function, and there is a shadow stack";
	if (!certain && entry_is_target(code, bytes))
		return "code may jump between its first instructions";
	if (!entry_measure())
		return "this processor has no XSAVE";
	page = entry_near_page((uintptr_t)code);
	if (!page)
		return "there is no free memory near it";
	entry_write_copy(page, code, bytes);
	entry_put(jump + 1, (int64_t)(uintptr_t)page - (int64_t)((uintptr_t)code + JUMP_BYTES));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0 ||
	    mprotect((void *)first, last - first + 4096, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
		munmap(page, 4096);
		return "the system does not permit code to be changed";
	}
	memcpy(code, jump, sizeof jump);
	mprotect((void *)first, last - first + 4096, PROT_READ | PROT_EXEC);
	return NULL;
}

/* ---- where the function is ---------------------------------------------------------------------- */

static int entry_take_base(struct dl_phdr_info *file, size_t bytes, void *data)
{
	(void)bytes;
	*(uintptr_t *)data = file->dlpi_addr;
	return 1;
}

/* Whether this is the program in which `dwell run` found the function. */
static bool entry_is_program(const char *path)
{
	char own[4096];
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

	own[length > 0 ? length : 0] = '\0';
	return path && strcmp(path, own) == 0;
}

static bool entry_is_alone(void)
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

/* ---- libraries ---------------------------------------------------------------------------------- */

static char wanted[512];                                  /* the function, until it is found */
static struct dws_entry_found library = { .wanted = wanted };

static void entry_look_in_libraries(bool is_certain)
{
	const char *problem = NULL;

	dws_entry_find(&library);
	if (!library.count)
		return;
	if (library.several)
		problem = "several functions of libraries have this name: give the whole one, with its namespace or class";
	else if (!is_certain && !entry_is_alone())
		problem = "the library with it was loaded by a dlopen() that looks in the folders of its caller (RUNPATH), while other threads run";
	for (unsigned i = 0; i < library.count && !problem; i++)
		problem = entry_patch(library.at[i].code, library.at[i].size);
	wanted[0] = '\0';
	refused = problem != NULL;
	dwell_meta(DW_KEY_NATIVE_STEP_ON, problem ? problem : "there");
}

/* Called after the program has loaded libraries (probes/python/attach.c). `is_certain`: no others were loaded since the last call. */
__attribute__((visibility("default"))) void dws_entry_loaded(bool is_certain);

void dws_entry_loaded(bool is_certain)
{
	if (*wanted)
		entry_look_in_libraries(is_certain);
}

/* DWELL_STEP_ENTRY: "4011f0 2b 401300 40 /path/of/the/program": the address and the size of each copy of the function. Or
 * "?function /path/of/the/program": it is not in the program's file. */
__attribute__((constructor)) static void entry_begin(void)
{
	const char *text = getenv("DWELL_STEP_ENTRY"), *problem = NULL;
	uintptr_t base = 0;

	if (!text || !getenv("DWELL_TRACE") || !entry_is_program(strchr(text, '/')))
		return;
	if (!entry_is_alone())
		problem = "the program has threads before main()";
	if (*text == '?' && !problem) {
		snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(text + 1, " /"), text + 1);
		entry_look_in_libraries(true);
		return;
	}
	dl_iterate_phdr(entry_take_base, &base);
	while (!problem && *text && *text != '/') {
		char *end;
		uint64_t at = strtoull(text, &end, 16), size = strtoull(end, &end, 16);

		problem = entry_patch((uint8_t *)(base + at), size);
		text = end + 1;
	}
	refused = problem != NULL;
	dwell_meta(DW_KEY_NATIVE_STEP_ON, problem ? problem : "there");
}
#endif
