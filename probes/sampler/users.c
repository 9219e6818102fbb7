/*
 * Programs with threads that change their user or group while the kernel's events are in place of timers.
 *
 * glibc tells each thread by the signal that is this library's too, and waits until all have handled it. A thread that
 * holds the signal back (dws_perf_hold()) would let it wait, for ever if nothing ends the thread's call. So events end
 * in all threads before libc's function begins, and timers are in their place. The other of glibc's two signals reaches
 * a thread in a call that holds the first one; its handler changes the mask to which the kernel returns. To the program
 * this is what glibc's own signal is: the call that waits goes on, or fails with EINTR, as without this library.
 */
#include "sampler.h"

#include <grp.h>
#include <unistd.h>

#include "base/system/system.h"
#include "wrapped.h"

#define PUBLIC __attribute__((__visibility__("default"))) DWS_FRONT
#define SIGNAL 32 /* SIGCANCEL */

static struct dws_kernel_action glibcs;

/* All signals are blocked here. */
static void users_handle(int number, siginfo_t *info, void *given)
{
	ucontext_t *context = given;

	if (info->si_code == SI_QUEUE && info->si_value.sival_ptr == &dws_process) {
		dws_perf_clear(&context->uc_sigmask);
		dws_timers_pause();
		dws_timers_resume();
	} else if (dws_is_handler(&glibcs)) {
		glibcs.handler(number, info, context);
	}
}

static void users_tell(uint32_t thread)
{
	siginfo_t info = { .si_signo = SIGNAL, .si_code = SI_QUEUE };

	info.si_value.sival_ptr = &dws_process;
	info.si_pid = dws_process.pid;
	dw_call(SYS_rt_tgsigqueueinfo, dws_process.pid, thread, SIGNAL, &info);
}

/* Before a call that tells all threads. Several threads may do this at once. */
static void users_change(void)
{
	uint32_t self = (uint32_t)dw_call(SYS_gettid);

	if (!dws_process.has_perf || dws_process.in_sandbox || dws_process.pid != (int)dw_call(SYS_getpid))
		return;
	dws_lack(
		"the program changed its user or group: from then on samples are taken by timers, without the kernel's functions");
	dws_timers_without_perf();
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* pairs with that of dws_perf_hold() */
	if (!dws_signal_install(SIGNAL, users_handle, &glibcs))
		return;
	for (uint32_t i = 0; i < DWS_EVENT_THREADS; i++) {
		uint32_t thread = dws_event_thread(i);

		if (thread && thread != self)
			users_tell(thread);
	}
	dws_timers_pause();
	dws_timers_resume();
}

#define CHANGES(name, parameters, arguments) \
	PUBLIC int name parameters \
	{ \
		static struct dws_wrapped wrapped DWS_WRAPPED = { #name, NULL, NULL, 0 }; \
		int(*next) parameters; \
\
		if (DWELL_UNLIKELY(dws_process.has_perf)) \
			users_change(); \
		*(void **)&next = dws_target(&wrapped); \
		return next arguments; \
	}

CHANGES(setuid, (uid_t user), (user))
CHANGES(seteuid, (uid_t user), (user))
CHANGES(setreuid, (uid_t real, uid_t effective), (real, effective))
CHANGES(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
CHANGES(setgid, (gid_t group), (group))
CHANGES(setegid, (gid_t group), (group))
CHANGES(setregid, (gid_t real, gid_t effective), (real, effective))
CHANGES(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
CHANGES(setgroups, (size_t count, const gid_t *groups), (count, groups))
CHANGES(initgroups, (const char *user, gid_t group), (user, group))
