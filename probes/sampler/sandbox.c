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

#include "base/system/system.h"
#include "entry_trap.h"

#define PUBLIC __attribute__((__visibility__("default"))) DWS_FRONT

#define SANDBOX "the program began a sandbox (seccomp), where a system call of dwell could end it; "

/* Rules without a filter begin nothing: programs ask in this way whether the kernel knows them. */
static bool sandbox_begins(long number, long a, long b, long c)
{
	if (number == SYS_prctl)
		return a == PR_SET_SECCOMP && (b == SECCOMP_MODE_STRICT || (b == SECCOMP_MODE_FILTER && c));
	return number == SYS_seccomp && (a == SECCOMP_SET_MODE_STRICT || (a == SECCOMP_SET_MODE_FILTER && c));
}

static void sandbox_note(void *unused)
{
	(void)unused;
	dws_note(true);
	dws_lack(dws_trap_leave() ? SANDBOX "samples and steps are of the time before" : SANDBOX "samples are of the time before");
	if (dws_recorder->account_close)
		dws_recorder->account_close(true);
}

static void sandbox_refused(void *unused)
{
	(void)unused;
	if (dws_recorder->account_close)
		dws_recorder->account_close(false);
}

static long sandbox_begin(long number, long a, long b, long c, long d, long e, long f)
{
	long period_ns, result;

	dws_apart(sandbox_note, NULL);
	period_ns = dws_timers_leave();
	if (dws_recorder->sandbox)
		dws_recorder->sandbox(true);
	result = dw_system(number, a, b, c, d, e, f);
	if (dw_system_failed(result)) {
		if (dws_recorder->sandbox)
			dws_recorder->sandbox(false);
		dws_apart(sandbox_refused, NULL);
		dws_timers_return(period_ns);
		dws_trap_thread();
	}
	return dw_system_errno(result);
}

/* Their own declarations have no number of arguments. All are in registers, as many as there may be. */
PUBLIC long dws_sandbox_syscall(long number, long a, long b, long c, long d, long e, long f) __asm__("syscall");
PUBLIC int dws_sandbox_prctl(int what, long b, long c, long d, long e) __asm__("prctl");

PUBLIC long dws_sandbox_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (DWELL_UNLIKELY(dws_waits_is_futex(number, b)))
		return dw_system_errno(dws_waits_futex(a, b, c, d, e, f, __builtin_return_address(0)));
	if (DWELL_UNLIKELY(dws_exec_is(number)))
		return dw_system_errno(dws_exec_call(number, a, b, c, d, e));
	if (DWELL_UNLIKELY(dws_process.period_ns && sandbox_begins(number, a, b, c)))
		return sandbox_begin(number, a, b, c, d, e, f);
	return dw_system_errno(dw_system(number, a, b, c, d, e, f));
}

PUBLIC int dws_sandbox_prctl(int what, long b, long c, long d, long e)
{
	return (int)dws_sandbox_syscall(SYS_prctl, what, b, c, d, e, 0);
}
