/*
 * Calls of the kernel without libc.
 *
 * Code that runs in signal handlers, within another library's call, or while any lock of libc is held calls the
 * kernel by these functions. libc's functions of the same name may be interposed by another library, may be points of
 * cancellation, and may take a lock at their first call, when the dynamic linker looks for them.
 *
 * Header-only, for the recorder and for the libraries that are loaded into other people's programs.
 */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>

/* Enters the kernel. Returns its result; -4095 to -1 is an error's number, negative. errno stays as it is. */
static inline __attribute__((always_inline)) long dw_system(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
	register long fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
	                 : "rcx", "r11", "memory");
#else
	register long which __asm__("x8") = number, result __asm__("x0") = a, second __asm__("x1") = b, third __asm__("x2") = c,
	                                          fourth __asm__("x3") = d, fifth __asm__("x4") = e, sixth __asm__("x5") = f;

	__asm__ volatile("svc 0"
	                 : "+r"(result)
	                 : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth)
	                 : "memory");
#endif
	return result;
}

/* Whether a result of dw_system() is an error. */
static inline __attribute__((always_inline)) int dw_system_failed(long result)
{
	return result < 0 && result >= -4095;
}

/* A call with up to six numbers or pointers: dw_call(SYS_read, fd, buffer, size). */
#define dw_call(...) DW_CALL_WITH(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define DW_CALL_WITH(number, a, b, c, d, e, f, ...) \
	dw_system(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* As libc: -1 and errno for an error. */
static inline __attribute__((always_inline)) long dw_system_errno(long result)
{
	if (!dw_system_failed(result))
		return result;
	errno = (int)-result;
	return -1;
}
