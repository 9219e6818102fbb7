/*
 * Steps that begin where a function of a native program is entered: `dwell run --step-on FUNCTION`.
 *
 * Each process of the run looks for the function in its own program and libraries before main(), and in libraries that
 * it loads later when the dlopen() ends, before the program can call them. So it does not matter who starts the
 * program.
 *
 * The first instructions of the function are replaced by a jump. It leads to a copy of them with a call before it,
 * which begins the step, and from there back into the function (entry_move.h). A step lasts until the next entry, so no
 * return has to be seen: exceptions, longjmp() and tail calls need no care. No signal is used, which a thread might
 * block, and the code is never changed again. Where it is not certain that the program goes on as before, the function
 * is refused, with the reason.
 *
 * The first thread that enters the function has the steps. Only x86-64.
 */
#include "sampler.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "entry_find.h"
#include "entry_move.h"
#include "format/keys.h"

#ifdef __x86_64__
#include <cpuid.h>

#define REACH ((uintptr_t)1 << 30)  /* within which the copy lies: a jump has 32 bits */
#define STRIDE ((uintptr_t)1 << 16) /* between the addresses that are tried for it */
#define SYNC_CORES (1 << 5)         /* MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE */
#define REGISTER_SYNC_CORES (1 << 6)
#define SAVED_REGISTERS 0xe7u /* x87, SSE, AVX, AVX-512: they may hold arguments */

/* Used by the code below, which link-time optimization does not see. */
#define SEEN_BY_CODE __attribute__((visibility("hidden"), used))
SEEN_BY_CODE uint32_t dws_entry_mask, dws_entry_bytes; /* of XSAVE */
SEEN_BY_CODE uint32_t dws_entry_has_use;               /* the processor says which registers are in use */
SEEN_BY_CODE uint32_t dws_entry_taken;                 /* atomic; a thread has the steps */
SEEN_BY_CODE __thread bool dws_entry_steps __attribute__((__tls_model__("initial-exec"))); /* this one */
SEEN_BY_CODE void dws_entry_called(void);
__attribute__((visibility("hidden"))) void dws_entry_save(void);

#define TO_15 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define TO_31 "16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
/* Moves registers of a kind, which are at 64 bytes each from `base` on. */
#define SAVE(move, kind, numbers, base) "	.irp r," numbers "\n	" move " %" kind "\\r, " base "+64*\\r(%rsp)\n	.endr\n"
#define LOAD(move, kind, numbers, base) "	.irp r," numbers "\n	" move " " base "+64*\\r(%rsp), %" kind "\\r\n	.endr\n"
/* Those in use, by the bits in %bl: of zmm0 to zmm15 0x40, of ymm 4; zmm16 to zmm31 0x80; k0 to k7 0x20. */
#define MOVE_IN_USE(DO)                                              \
	"	testb $0x40, %bl\n	jnz 2f\n	testb $4, %bl\n	jnz 1f\n" DO("movaps", "xmm", TO_15, "0") \
	"	jmp 3f\n1:\n" DO("vmovups", "ymm", TO_15, "0")               \
	"	jmp 3f\n2:\n" DO("vmovups", "zmm", TO_15, "0")               \
	"3:	testb $0x80, %bl\n	jz 4f\n" DO("vmovups", "zmm", TO_31, "0") \
	"4:	testb $0x20, %bl\n	jz 5f\n" DO("kmovq", "k", "0,1,2,3,4,5,6,7", "2048") "5:\n"

/*
 * Keeps all registers in which the caller may have something. A caller in the same file may know which registers the
 * function leaves alone, so these are not only arguments.
 *
 * XSAVE and XRSTOR take 0.16 us. Moves of the registers in use take a quarter of that. Registers that were not in use are zero
 * and must not be touched by such a move: legacy SSE would be slow from then on. If the call took them into use, XRSTOR
 * makes them unused again.
 */
__asm__(".text\n"
        ".globl dws_entry_save\n"
        ".hidden dws_entry_save\n"
        ".type dws_entry_save, @function\n"
        "dws_entry_save:\n"
        "	.cfi_startproc\n"
        "	endbr64\n"
        "	cmpl $0, dws_entry_taken(%rip)\n" /* another thread has the steps: nothing is to be done */
        "	je 1f\n"
        "	pushq %rax\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	movq dws_entry_steps@gottpoff(%rip), %rax\n"
        "	cmpb $0, %fs:(%rax)\n"
        "	popq %rax\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	jne 1f\n"
        "	ret\n"
        "1:	pushq %rbp\n"
        "	.cfi_def_cfa_offset 16\n"
        "	.cfi_offset 6, -16\n"
        "	movq %rsp, %rbp\n"
        "	.cfi_def_cfa_register 6\n"
        "	pushq %rax\n	pushq %rcx\n	pushq %rdx\n	pushq %rsi\n	pushq %rdi\n"
        "	pushq %r8\n	pushq %r9\n	pushq %r10\n	pushq %r11\n	pushq %rbx\n"
        "	.cfi_offset 3, -96\n"
        "	cmpl $0, dws_entry_has_use(%rip)\n"
        "	je 7f\n"
        "	subq $3200, %rsp\n"
        "	andq $-64, %rsp\n"
        "	movl $1, %ecx\n	xgetbv\n	movl %eax, %ebx\n" MOVE_IN_USE(SAVE)
        "	call dws_entry_called\n"
        "	movl $1, %ecx\n	xgetbv\n"
        "	movl %ebx, %edx\n	notl %edx\n	andl %edx, %eax\n	andl $0xe4, %eax\n"
        "	jz 6f\n"
        "	stmxcsr 2560+24(%rsp)\n"
        "	xorl %edx, %edx\n"
        "	.irp i,0,1,2,3,4,5,6,7\n	movq %rdx, 2560+512+8*\\i(%rsp)\n	.endr\n"
        "	xrstor64 2560(%rsp)\n"
        "6:\n" MOVE_IN_USE(LOAD)
        "	jmp 8f\n"
        "7:	movl dws_entry_bytes(%rip), %eax\n"
        "	subq %rax, %rsp\n"
        "	andq $-64, %rsp\n"
        "	xorl %edx, %edx\n"
        "	.irp i,0,1,2,3,4,5,6,7\n	movq %rdx, 512+8*\\i(%rsp)\n	.endr\n"
        "	movl dws_entry_mask(%rip), %eax\n"
        "	xsave64 (%rsp)\n"
        "	call dws_entry_called\n"
        "	movl dws_entry_mask(%rip), %eax\n"
        "	xorl %edx, %edx\n"
        "	xrstor64 (%rsp)\n"
        "8:	leaq -80(%rbp), %rsp\n"
        "	popq %rbx\n	popq %r11\n	popq %r10\n	popq %r9\n	popq %r8\n"
        "	popq %rdi\n	popq %rsi\n	popq %rdx\n	popq %rcx\n	popq %rax\n"
        "	popq %rbp\n"
        "	.cfi_def_cfa 7, 8\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size dws_entry_save, . - dws_entry_save\n");

static bool refused; /* one copy of the function could not be changed: no step is better than some of them */
static __thread bool inside __attribute__((__tls_model__("initial-exec")));

#define MEASURED 32u

/* How long the beginnings of the first steps took, without the first one. */
static struct {
	unsigned count;
	uint64_t ns[MEASURED];
} cost;

/* Writes the median, which a report takes for the cost of each step. */
static void entry_note_cost(void)
{
	char text[24];

	for (unsigned i = 1; i < MEASURED; i++)
		for (unsigned k = i; k > 0 && cost.ns[k] < cost.ns[k - 1]; k--) {
			uint64_t more = cost.ns[k - 1];

			cost.ns[k - 1] = cost.ns[k];
			cost.ns[k] = more;
		}
	snprintf(text, sizeof text, "%u", (unsigned)cost.ns[MEASURED / 2]);
	dwell_meta_json(DW_KEY_NATIVE_STEP_NS, text);
}

/* The readings of the clock take about as long as what dws_entry_save() does. */
static void entry_begin_measured(void)
{
	uint64_t before = dws_now_ns();

	dwell_step_begin();
	cost.ns[cost.count++] = dws_now_ns() - before;
	if (cost.count == MEASURED)
		entry_note_cost();
}

void dws_entry_called(void)
{
	if (inside || refused || dws_recorder->meta != dwell_meta) /* a program that contains the recorder marks its own */
		return;
	inside = true;
	if (dws_entry_steps && cost.count < MEASURED) {
		entry_begin_measured();
	} else if (dws_entry_steps) {
		dwell_step_begin();
	} else if (!__atomic_exchange_n(&dws_entry_taken, 1, __ATOMIC_RELAXED)) {
		dws_entry_steps = true;
		dwell_meta(DW_KEY_NATIVE_STEP_ON, "steps");
		dwell_step_begin();
	}
	inside = false;
}

#define AVX512 0xe0u

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
	if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d))
		dws_entry_has_use = a >> 2 & 1;
	if (low & AVX512 && (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX512BW)))
		dws_entry_has_use = 0;
	return true;
}

/* ---- the code ----------------------------------------------------------------------------------- */

/* A page that a jump from `code` reaches. */
static uint8_t *entry_near_page(uintptr_t code)
{
	uintptr_t middle = code & ~(STRIDE - 1);

	for (uintptr_t away = STRIDE; away < REACH; away += STRIDE)
		for (int up = 0; up < 2; up++) {
			uintptr_t wanted = up ? middle + away : middle - away;
			void *page = MAP_FAILED;

			if (up || middle > away + STRIDE)
				page = mmap((void *)wanted, 4096, PROT_READ | PROT_WRITE,
				            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (page == (void *)wanted)
				return page;
			if (page != MAP_FAILED) /* a kernel that does not know the flag */
				munmap(page, 4096);
		}
	return NULL;
}

/* A shadow stack (CET) does not know an address that the copy stores. */
static bool entry_has_shadow_stack(void)
{
	unsigned long features = 0;

	return syscall(SYS_arch_prctl, 0x5005 /* ARCH_SHSTK_STATUS */, &features) == 0 && features;
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

/* Where other threads run: one that enters the function meanwhile waits in a jump to itself. Of two bytes in one line
 * of the cache, a processor sees both or none. */
static void entry_replace(uint8_t *code, const uint8_t jump[DWS_MOVE_JUMP])
{
	uint16_t wait = 0xfeeb, begin;

	memcpy(&begin, jump, sizeof begin);
	syscall(SYS_membarrier, REGISTER_SYNC_CORES, 0, 0);
	__atomic_store_n((uint16_t *)(void *)code, wait, __ATOMIC_SEQ_CST);
	syscall(SYS_membarrier, SYNC_CORES, 0, 0);
	memcpy(code + sizeof begin, jump + sizeof begin, DWS_MOVE_JUMP - sizeof begin);
	__atomic_store_n((uint16_t *)(void *)code, begin, __ATOMIC_SEQ_CST);
	syscall(SYS_membarrier, SYNC_CORES, 0, 0);
}

/* Returns why it was not done, or NULL. */
static const char *entry_write(const struct dws_move *move, bool is_alone)
{
	uint8_t *code = (uint8_t *)(uintptr_t)move->code, jump[DWS_MOVE_JUMP] = { 0xe9 }, *page;
	uintptr_t first = (uintptr_t)code & ~(uintptr_t)4095,
			  end = ((uintptr_t)code + DWS_MOVE_JUMP + 4095) & ~(uintptr_t)4095;
	int32_t distance;

	page = entry_near_page((uintptr_t)code);
	if (!page)
		return "there is no free memory near it";
	distance = (int32_t)((intptr_t)page - (intptr_t)(code + DWS_MOVE_JUMP));
	memcpy(jump + 1, &distance, sizeof distance);
	if (!dws_move_write(move, page, (uintptr_t)dws_entry_save) || mprotect(page, 4096, PROT_READ | PROT_EXEC) != 0 ||
	    mprotect((void *)first, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
		munmap(page, 4096);
		return "the system does not permit code to be changed (a sandbox, SELinux, or PR_SET_MDWE)";
	}
	if (is_alone)
		memcpy(code, jump, sizeof jump);
	else
		entry_replace(code, jump);
	mprotect((void *)first, end - first, PROT_READ | PROT_EXEC | (move->is_writable ? PROT_WRITE : 0));
	return NULL;
}

/* Returns why steps cannot begin there, or NULL. */
static const char *entry_patch(const struct dws_move_file *file, const struct dws_copy *copy, bool is_alone)
{
	struct dws_move move;
	const char *problem = dws_move_choose(&move, file, copy->code, copy->size);

	if (copy->is_changed)
		return "its code is not that of the file: a debugger or another tool has changed it";
	if (problem)
		return problem;
	if (move.pushes_return && entry_has_shadow_stack())
		return "its first instructions call a function, and there is a shadow stack";
	if (!is_alone && ((uintptr_t)move.code & 63) == 63)
		return "other threads run, and its first bytes are not in one line of the cache";
	return entry_measure() ? entry_write(&move, is_alone) : "this processor has no XSAVE";
}

/* ---- the function ------------------------------------------------------------------------------- */

#define REMEDY "name a function that it calls or that calls it, or mark steps with DWELL_STEP()"

/* What the user named. No name: nothing. */
static const char *wanted, *wanted_file;
static unsigned wanted_file_bytes;
static uint64_t wanted_address;
static int is_found; /* atomic; a thread has found it */

static void entry_note(const struct dws_found *found, const char *problem)
{
	static char text[2048] = "there";

	if (found->several)
		snprintf(text, sizeof text, "several functions have this name: %s; give the whole name, or FILE:NAME", found->others);
	else if (problem)
		snprintf(text, sizeof text, "%s: %s; " REMEDY, found->path, problem);
	else if (!found->is_program)
		dwell_meta(DW_KEY_NATIVE_STEP_ON_FILE, found->path);
	dwell_meta(DW_KEY_NATIVE_STEP_ON, text);
}

static void entry_use(const struct dws_found *found, bool is_certain)
{
	const char *problem = NULL;
	bool is_alone = entry_is_alone();

	if (found->is_no_begin)
		problem = "no function begins there by the unwind table";
	else if (!is_certain && !is_alone)
		problem = "it was loaded by a dlopen() that looks in the folders of its caller (RUNPATH), while other threads run";
	for (unsigned i = 0; i < found->count && !problem && !found->several; i++)
		problem = entry_patch(&found->parts, &found->at[i], is_alone);
	refused = problem || found->several;
	entry_note(found, problem);
}

/* Several threads may be here at once: each looks in libraries of its own. */
static void entry_look(bool is_certain)
{
	struct dws_found found = { .file = wanted_file, .file_bytes = wanted_file_bytes, .name = wanted, .address = wanted_address };

	if (__atomic_load_n(&is_found, __ATOMIC_RELAXED))
		return;
	dws_find(&found);
	if (found.count && !__atomic_exchange_n(&is_found, 1, __ATOMIC_ACQ_REL))
		entry_use(&found, is_certain);
	free(found.symbol);
}

/* Called after the program has loaded libraries (probes/python/attach.c). `is_certain`: no others were loaded since the
 * last call. */
__attribute__((visibility("default"))) void dws_entry_loaded(bool is_certain);

void dws_entry_loaded(bool is_certain)
{
	if (wanted)
		entry_look(is_certain);
}

/* There a name without a file is a function of Python, which its probe looks for. */
static bool entry_is_python(void)
{
	char own[4096];
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
	const char *slash;

	own[length > 0 ? length : 0] = '\0';
	slash = strrchr(own, '/');
	return slash && strncmp(slash + 1, "python", 6) == 0;
}

/* NAME, FILE:NAME or FILE+0xADDRESS, as the user wrote it. */
static void entry_name(const char *text)
{
	const char *colon, *plus;

	wanted = wanted_file = strdup(text); /* the program may change its environment */
	if (!wanted)
		return;
	colon = strchr(wanted, ':');
	plus = strstr(wanted, "+0x");
	if (colon && colon[1] && colon[1] != ':') {
		wanted_file_bytes = (unsigned)(colon - wanted_file);
		wanted = colon + 1;
	} else if (plus && plus > wanted) {
		wanted_address = strtoull(plus + 3, NULL, 16);
		wanted_file_bytes = (unsigned)(plus - wanted_file);
	}
}

/* A child has the thread that called fork() alone: if that one has no steps, the next one that enters the function has them. */
static void entry_in_child(void)
{
	dws_entry_taken = dws_entry_steps;
}

/* DWELL_STEP_ENTRY: the function. */
__attribute__((constructor)) static void entry_begin(void)
{
	const char *text = getenv("DWELL_STEP_ENTRY");

	if (!text || !*text || !getenv("DWELL_TRACE"))
		return;
	entry_name(text);
	if (wanted && !wanted_file_bytes && entry_is_python())
		wanted = NULL;
	if (!wanted)
		return;
	pthread_atfork(NULL, NULL, entry_in_child);
	entry_look(true);
}
#endif
