/*
 * Sandboxes. A program that gives up system calls (seccomp) is ended by one that it did not expect, and samples make
 * some: the whole process is no longer sampled, from before the rules hold. The two functions of libc by which programs
 * and libseccomp begin a sandbox are in front of libc's. They enter the kernel themselves, as libc's do.
 */
#include "sampler.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define PUBLIC __attribute__((__visibility__("default")))

static inline long sandbox_enter(long number, long a, long b, long c, long d, long e, long f)
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
	if (DWELL_UNLIKELY(result < 0 && result > -4096)) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

/* Rules without a filter begin nothing: programs ask in this way whether the kernel knows them. */
static bool sandbox_begins(long number, long a, long b, long c)
{
	if (number == SYS_prctl)
		return a == PR_SET_SECCOMP && (b == SECCOMP_MODE_STRICT || (b == SECCOMP_MODE_FILTER && c));
	return number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || (a == SECCOMP_SET_MODE_FILTER && c));
}

/* Their own declarations have no number of arguments. All are in registers, as many as there may be. */
PUBLIC long dws_sandbox_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
PUBLIC int dws_sandbox_prctl(int what, long b, long c, long d, long e) __asm__("prctl");

PUBLIC long dws_sandbox_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	long period_ns, result;

	if (DWELL_LIKELY(!dws_process.period_ns || !sandbox_begins(number, a, b, c)))
		return sandbox_enter(number, a, b, c, d, e, f);
	dws_note(true);
	period_ns = dws_timers_leave();
	result = sandbox_enter(number, a, b, c, d, e, f);
	if (result < 0)
		dws_timers_return(period_ns);
	return result;
}

PUBLIC int dws_sandbox_prctl(int what, long b, long c, long d, long e)
{
	return (int)dws_sandbox_syscall(SYS_prctl, what, b, c, d, e, 0);
}
