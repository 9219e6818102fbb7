/* Calls of the kernel that no library is in front of, for programs that are run with and without dwell. */
#pragma once

#include <sys/syscall.h>
#include <time.h>

static inline long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long fourth __asm__("r10") = d, fifth __asm__("r8") = e, sixth __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
	                 : "rcx", "r11", "memory");
	return result;
}

static inline void kernel_sleep_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	kernel(SYS_nanosleep, (long)&time, 0, 0, 0, 0, 0);
}

static inline double kernel_now(void)
{
	struct timespec now;

	kernel(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0, 0, 0, 0);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
