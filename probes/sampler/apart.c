/*
 * Stacks of this library: work that needs more than a few words of stack runs there, and not on a stack of the
 * program, which may be as small as a page.
 *
 * There is a fixed number of them. All signals are blocked meanwhile, so nothing can leave the work by a jump, and no
 * other work begins in this thread. When all are in use the work is not done, and its caller counts that.
 */
#include "sampler.h"

#include <signal.h>
#include <sys/mman.h>

#include "base/system/system.h"

#define STACKS 32u /* as many as there are bits below */

static char *stacks[STACKS]; /* atomic; mapped when first needed, by whoever uses them, and never unmapped */
static uint32_t used;        /* atomic; a bit for each stack */

/* dws_call_on(top, function, a, b, c): calls function(a, b, c) with the stack pointer at `top`, which is a multiple of 16.
 * The frame pointer leads back, so debuggers and exceptions find the caller. */
#ifdef __x86_64__
__asm__(".pushsection dws_fronts, \"ax\", %progbits\n"
        ".p2align 4\n"
        ".globl dws_call_on\n"
        ".hidden dws_call_on\n"
        ".type dws_call_on, @function\n"
        "dws_call_on:\n"
        "	.cfi_startproc\n"
        "	endbr64\n"
        "	pushq %rbp\n"
        "	.cfi_def_cfa_offset 16\n"
        "	.cfi_offset 6, -16\n"
        "	movq %rsp, %rbp\n"
        "	.cfi_def_cfa_register 6\n"
        "	movq %rdi, %rsp\n"
        "	movq %rsi, %rax\n"
        "	movq %rdx, %rdi\n"
        "	movq %rcx, %rsi\n"
        "	movq %r8, %rdx\n"
        "	call *%rax\n"
        "	movq %rbp, %rsp\n"
        "	popq %rbp\n"
        "	.cfi_def_cfa 7, 8\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size dws_call_on, . - dws_call_on\n"
        ".popsection\n");
#else
__asm__(".pushsection dws_fronts, \"ax\", %progbits\n"
        ".p2align 4\n"
        ".globl dws_call_on\n"
        ".hidden dws_call_on\n"
        ".type dws_call_on, @function\n"
        "dws_call_on:\n"
        "	.cfi_startproc\n"
        "	hint #34\n"
        "	stp x29, x30, [sp, #-16]!\n"
        "	.cfi_def_cfa_offset 16\n"
        "	.cfi_offset 29, -16\n"
        "	.cfi_offset 30, -8\n"
        "	mov x29, sp\n"
        "	.cfi_def_cfa_register 29\n"
        "	mov sp, x0\n"
        "	mov x9, x1\n"
        "	mov x0, x2\n"
        "	mov x1, x3\n"
        "	mov x2, x4\n"
        "	blr x9\n"
        "	mov sp, x29\n"
        "	.cfi_def_cfa_register 31\n"
        "	ldp x29, x30, [sp], #16\n"
        "	.cfi_def_cfa_offset 0\n"
        "	.cfi_restore 29\n"
        "	.cfi_restore 30\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size dws_call_on, . - dws_call_on\n"
        ".popsection\n");
#endif

bool dws_is_apart(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	for (unsigned i = 0; i < STACKS; i++) {
		char *stack = __atomic_load_n(&stacks[i], __ATOMIC_RELAXED);

		if (!stack)
			break; /* they are taken in order */
		if (here - (uintptr_t)stack < DWS_APART_BYTES)
			return true;
	}
	return false;
}

/* The stack that belongs to a bit, which the caller has set. NULL: there is no memory. */
static char *apart_stack(unsigned index)
{
	char *stack = __atomic_load_n(&stacks[index], __ATOMIC_RELAXED);
	long memory;

	if (DWELL_LIKELY(stack != NULL))
		return stack;
	memory = dw_own_map(DWS_APART_BYTES);
	if (dw_system_failed(memory))
		return NULL;
	__atomic_store_n(&stacks[index], (char *)memory, __ATOMIC_RELAXED);
	return (char *)memory;
}

bool dws_apart_masked(void (*function)(void *), void *argument)
{
	uint32_t before = __atomic_load_n(&used, __ATOMIC_RELAXED), bit;
	char *stack;

	do {
		if (before == UINT32_MAX)
			return false;
		bit = ~before & (before + 1);
		/* Acquire: pairs with the release below, so that the last user of the stack has left it. */
	} while (!__atomic_compare_exchange_n(&used, &before, before | bit, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
	stack = apart_stack((unsigned)__builtin_ctz(bit));
	if (stack)
		dws_call_on(stack + DWS_APART_BYTES, (void *)(uintptr_t)function, (long)(uintptr_t)argument, 0, 0);
	__atomic_fetch_and(&used, ~bit, __ATOMIC_RELEASE);
	return stack != NULL;
}

bool dws_apart(void (*function)(void *), void *argument)
{
	uint64_t all = DWS_ALL_SIGNALS, before = 0;
	bool done;

	if (dw_system_failed(dw_system(SYS_rt_sigprocmask, SIG_SETMASK, (long)(uintptr_t)&all, (long)(uintptr_t)&before, 8, 0, 0)))
		return false;
	done = dws_apart_masked(function, argument);
	dw_system(SYS_rt_sigprocmask, SIG_SETMASK, (long)(uintptr_t)&before, 0, 8, 0, 0);
	return done;
}

void dws_apart_forked(void)
{
	used = 0;
}
