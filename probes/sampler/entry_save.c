/*
 * What a step at a function begins with: dws_entry_save() keeps all registers in which the caller may have something, and calls
 * dws_entry_called(); see entry.c. A caller in the same file may know which registers the function leaves alone, so these are
 * not only arguments.
 */
#include "entry_save.h"

SEEN_BY_CODE uint32_t dws_entry_taken; /* where the code is: link-time optimization does not see that it is used */

#ifdef __x86_64__
#include <cpuid.h>

#define SAVED_REGISTERS 0xe7u /* x87, SSE, AVX, AVX-512: they may hold arguments */

/* Used by the code below. */
SEEN_BY_CODE uint32_t dws_entry_mask, dws_entry_bytes; /* of XSAVE */
SEEN_BY_CODE uint32_t dws_entry_has_use;               /* the processor says which registers are in use */

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

#define AVX512 0xe0u

/* Which registers there are, and how much memory they need. */
const char *dws_entry_prepare(void)
{
	uint32_t a, b, c, d, low, high;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return "this processor has no XSAVE; mark steps with DWELL_STEP()";
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
	return NULL;
}

#elif defined __aarch64__
#include <sys/auxv.h>

#define HAS_SVE (1ul << 22)  /* of AT_HWCAP */
#define HAS_SME (1ul << 23)  /* of AT_HWCAP2 */

SEEN_BY_CODE uint32_t dws_entry_has_sve;
SEEN_BY_CODE uint32_t dws_entry_has_sme;

#define QUADS(move)                                                                                                   \
	"	" move " q0, q1, [sp]\n	" move " q2, q3, [sp, 32]\n	" move " q4, q5, [sp, 64]\n	" move " q6, q7, [sp, 96]\n" \
	"	" move " q8, q9, [sp, 128]\n	" move " q10, q11, [sp, 160]\n	" move " q12, q13, [sp, 192]\n"                 \
	"	" move " q14, q15, [sp, 224]\n	" move " q16, q17, [sp, 256]\n	" move " q18, q19, [sp, 288]\n"               \
	"	" move " q20, q21, [sp, 320]\n	" move " q22, q23, [sp, 352]\n	" move " q24, q25, [sp, 384]\n"               \
	"	" move " q26, q27, [sp, 416]\n	" move " q28, q29, [sp, 448]\n	" move " q30, q31, [sp, 480]\n"
#define SCALABLE(move)                                                                                    \
	"	.irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n	" move " p\\r, [sp, #\\r, mul vl]\n	.endr\n"     \
	"	.irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n	" move \
	" z\\r, [sp, #\\r+2, mul vl]\n	.endr\n"

/*
 * It is jumped to, with the place in x17 where it goes on; x30 still leads to the function's caller.
 *
 * Where the processor has scalable vectors, C code that uses a register of the old ones clears the rest of it, so all of it is kept.
 * In the mode for streams of SME that code cannot run: no step begins.
 */
__asm__(".text\n"
        ".arch_extension sve\n"
        ".globl dws_entry_save\n"
        ".hidden dws_entry_save\n"
        ".type dws_entry_save, @function\n"
        ".balign 16\n"
        "dws_entry_save:\n"
        "	.cfi_startproc\n"
        "	hint #38\n" /* indirect jumps may arrive here */
        "	adrp x16, dws_entry_taken\n"
        "	ldr w16, [x16, :lo12:dws_entry_taken]\n"
        "	cbz w16, 1f\n"
        "	str x0, [sp, -16]!\n"
        "	adrp x16, :gottprel:dws_entry_steps\n"
        "	ldr x16, [x16, :gottprel_lo12:dws_entry_steps]\n"
        "	mrs x0, tpidr_el0\n"
        "	ldrb w16, [x0, x16]\n"
        "	ldr x0, [sp], 16\n"
        "	cbnz w16, 1f\n"
        "	br x17\n" /* another thread has the steps: nothing is to be done */
        "1:	adrp x16, dws_entry_has_sme\n"
        "	ldr w16, [x16, :lo12:dws_entry_has_sme]\n"
        "	cbz w16, 2f\n"
        "	mrs x16, s3_3_c4_c2_2\n" /* SVCR */
        "	tbz x16, 0, 2f\n"
        "	br x17\n"
        "2:	stp x29, x30, [sp, -16]!\n"
        "	.cfi_def_cfa_offset 16\n"
        "	.cfi_offset 29, -16\n"
        "	.cfi_offset 30, -8\n"
        "	mov x29, sp\n"
        "	.cfi_def_cfa_register 29\n"
        "	stp x17, x18, [sp, -176]!\n"
        "	stp x0, x1, [sp, 16]\n	stp x2, x3, [sp, 32]\n	stp x4, x5, [sp, 48]\n	stp x6, x7, [sp, 64]\n"
        "	stp x8, x9, [sp, 80]\n	stp x10, x11, [sp, 96]\n	stp x12, x13, [sp, 112]\n	stp x14, x15, [sp, 128]\n"
        "	mrs x0, fpsr\n	mrs x1, nzcv\n	stp x0, x1, [sp, 144]\n"
        "	str x19, [sp, 160]\n"
        "	.cfi_offset 19, -32\n"
        "	adrp x19, dws_entry_has_sve\n"
        "	ldr w19, [x19, :lo12:dws_entry_has_sve]\n"
        "	cbz w19, 3f\n"
        "	addvl sp, sp, #-17\n	addvl sp, sp, #-17\n" SCALABLE("str")
        "	bl dws_entry_called\n" SCALABLE("ldr")
        "	addvl sp, sp, #17\n	addvl sp, sp, #17\n"
        "	b 4f\n"
        "3:	sub sp, sp, 512\n" QUADS("stp")
        "	bl dws_entry_called\n" QUADS("ldp")
        "	add sp, sp, 512\n"
        "4:	ldr x19, [sp, 160]\n"
        "	ldp x0, x1, [sp, 144]\n	msr fpsr, x0\n	msr nzcv, x1\n"
        "	ldp x0, x1, [sp, 16]\n	ldp x2, x3, [sp, 32]\n	ldp x4, x5, [sp, 48]\n	ldp x6, x7, [sp, 64]\n"
        "	ldp x8, x9, [sp, 80]\n	ldp x10, x11, [sp, 96]\n	ldp x12, x13, [sp, 112]\n	ldp x14, x15, [sp, 128]\n"
        "	ldp x17, x18, [sp], 176\n"
        "	ldp x29, x30, [sp], 16\n"
        "	.cfi_def_cfa 31, 0\n"
        "	br x17\n"
        "	.cfi_endproc\n"
        ".size dws_entry_save, . - dws_entry_save\n"
        ".arch_extension nosve\n");

const char *dws_entry_prepare(void)
{
	dws_entry_has_sve = (getauxval(AT_HWCAP) & HAS_SVE) != 0;
	dws_entry_has_sme = (getauxval(AT_HWCAP2) & HAS_SME) != 0;
	return NULL;
}
#endif
