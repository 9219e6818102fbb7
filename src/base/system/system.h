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
#include <sys/auxv.h>
#include <sys/mman.h>
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

#define DW_OWN_MEMORY (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

/*
 * Memory of this process, of zeros, that the program's limit of data (RLIMIT_DATA) does not count: the kernel takes it for
 * a stack that may grow. A page below that nobody may use keeps it from growing. Returns its address, or an error.
 */
static inline long dw_own_map(size_t bytes)
{
	const size_t page = getauxval(AT_PAGESZ);
	long memory = dw_call(SYS_mmap, NULL, bytes + page, PROT_NONE, DW_OWN_MEMORY, -1, 0), own;

	if (dw_system_failed(memory))
		return memory;
	own = dw_call(SYS_mmap, memory + (long)page, bytes, PROT_READ | PROT_WRITE, DW_OWN_MEMORY | MAP_FIXED | MAP_GROWSDOWN, -1, 0);
	if (dw_system_failed(own)) /* an emulated kernel may not know this */
		own = dw_call(SYS_mmap, memory + (long)page, bytes, PROT_READ | PROT_WRITE, DW_OWN_MEMORY | MAP_FIXED, -1, 0);
	if (dw_system_failed(own))
		dw_call(SYS_munmap, memory, bytes + page);
	return own;
}

/* Such memory, with zeros in it again. Returns an error where it cannot be mapped again. */
static inline long dw_own_clear(void *memory, size_t bytes)
{
	long own = dw_call(SYS_mmap, memory, bytes, PROT_READ | PROT_WRITE, DW_OWN_MEMORY | MAP_FIXED | MAP_GROWSDOWN, -1, 0);

	return dw_system_failed(own) ? dw_call(SYS_mmap, memory, bytes, PROT_READ | PROT_WRITE, DW_OWN_MEMORY | MAP_FIXED, -1, 0) : own;
}

static inline void dw_own_unmap(void *memory, size_t bytes)
{
	const size_t page = getauxval(AT_PAGESZ);

	dw_call(SYS_munmap, (char *)memory - page, bytes + page);
}
