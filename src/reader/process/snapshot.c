/*
 * One thread of another process: its registers, and a copy of the newest part of its stack.
 *
 * For a blocked thread the kernel publishes the stack pointer and the program counter in
 * /proc/PID/task/TID/syscall. Most stacks of blocked threads can be unwound from these two alone,
 * because a function that saves no registers needs no others. So a program that hangs is not
 * disturbed: a ptrace stop would make epoll_wait() and some other calls return EINTR.
 */
#include "base/system/clock.h"
#include "base/system/proc.h"
#include "process/inside.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#define SNAPSHOT_PAGE 4096u
#define SNAPSHOT_RED_ZONE 128u /* below the stack pointer a function may keep data */
#define SNAPSHOT_LATE 64u

static uint32_t late[SNAPSHOT_LATE]; /* threads that stop late */
static unsigned late_count;

const char *dw_process_explain(int code)
{
	return code == EPERM || code == EACCES ? "the kernel does not permit it: run dwell as the same user or as root, with the "
	                                         "capability SYS_PTRACE in a container, or set "
	                                         "/proc/sys/kernel/yama/ptrace_scope to 0"
	       : code == ESRCH || code == ENOENT ? "it has ended" : strerror(code);
}

bool dw_process_memory(uint32_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)address, size };

	return process_vm_readv((pid_t)pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool dw_snapshot_memory(const struct dw_snapshot *snapshot, uint64_t address, void *to, size_t size)
{
	uint64_t at = address - snapshot->low;

	if (at < snapshot->size && snapshot->size - at >= size) {
		memcpy(to, snapshot->stack + at, size);
		return true;
	}
	return dw_process_memory(snapshot->pid, address, to, size);
}

/* Copies what can be read from the stack pointer on. The kernel reads whole elements of the list or
 * none of an element, so each page is an element. */
static void snapshot_copy_stack(struct dw_snapshot *snapshot, size_t most)
{
	struct iovec there[sizeof snapshot->stack / SNAPSHOT_PAGE], here = { snapshot->stack, most };
	uint64_t low = snapshot->sp - SNAPSHOT_RED_ZONE, at = low, end = low + most;
	unsigned long count = 0;
	ssize_t got;

	for (; at < end && count < sizeof there / sizeof *there; count++) {
		uint64_t next = (at / SNAPSHOT_PAGE + 1) * SNAPSHOT_PAGE;

		there[count] = (struct iovec){ (void *)(uintptr_t)at, (size_t)((next < end ? next : end) - at) };
		at = next;
	}
	got = process_vm_readv((pid_t)snapshot->pid, &here, 1, there, count, 0);
	snapshot->low = low;
	snapshot->size = got > 0 ? (size_t)got : 0;
}

static void snapshot_set(struct dw_snapshot *snapshot, unsigned number, uint64_t value)
{
	snapshot->registers[number] = value;
	snapshot->known |= (uint64_t)1 << number;
}

/* ---- without stopping it ----------------------------------------------------------------------- */

/* "202 0x7f.. 0x80 0x0 0x0 0x0 0x0 0x7ffd.. 0x7f.."; "-1 0x7ffd.. 0x7f.."; "running". */
static bool snapshot_read_call(uint32_t pid, uint32_t tid, long *call, uint64_t *argument, uint64_t *sp, uint64_t *pc)
{
	char line[256];
	unsigned long long a[6] = { 0 }, stack, counter;

	if (dw_proc_read(pid, tid, "syscall", line, sizeof line) <= 0)
		return false;
	if (sscanf(line, "%ld %llx %llx %llx %llx %llx %llx %llx %llx", call, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5],
	           &stack, &counter) != 9) {
		if (sscanf(line, "-1 %llx %llx", &stack, &counter) != 2)
			return false;
		*call = -1;
	}
	*argument = a[0];
	*sp = stack;
	*pc = counter;
	return true;
}

bool dw_snapshot_blocked(struct dw_snapshot *snapshot)
{
	snapshot->known = 0;
	snapshot->blocked = snapshot_read_call(snapshot->pid, snapshot->tid, &snapshot->call, &snapshot->argument,
	                                       &snapshot->sp, &snapshot->pc);
	if (!snapshot->blocked)
		return false;
#ifdef __x86_64__
	snapshot_set(snapshot, 16, snapshot->pc);
#endif
	snapshot_set(snapshot, DW_PROCESS_SP, snapshot->sp);
	snapshot_copy_stack(snapshot, sizeof snapshot->stack);
	return true;
}

bool dw_snapshot_holds(const struct dw_snapshot *snapshot)
{
	uint64_t argument, sp, pc;
	long call;

	return snapshot_read_call(snapshot->pid, snapshot->tid, &call, &argument, &sp, &pc) && call == snapshot->call &&
	       argument == snapshot->argument && sp == snapshot->sp && pc == snapshot->pc;
}

/* ---- calls that a stop ends -------------------------------------------------------------------- */

/* Calls that fail with EINTR if a stop comes while they begin, although no signal was handled (signal(7)), and that may be
 * made again. */
static bool snapshot_may_repeat(uint64_t call)
{
	static const long calls[] = { SYS_epoll_pwait, SYS_semtimedop, SYS_semop, SYS_rt_sigtimedwait, SYS_io_getevents, SYS_recvfrom,
		SYS_recvmsg, SYS_accept, SYS_accept4, SYS_read, SYS_readv, SYS_sendto, SYS_sendmsg, SYS_write, SYS_writev,
#ifdef SYS_epoll_wait
		SYS_epoll_wait,
#endif
#ifdef SYS_epoll_pwait2
		SYS_epoll_pwait2,
#endif
	};

	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (call == (uint64_t)calls[i])
			return true;
	return false;
}

static uint64_t snapshot_signals(const char *status, const char *name)
{
	const char *line = strstr(status, name);

	return line ? strtoull(line + strlen(name), NULL, 16) : 0;
}

/* Whether a signal for the thread waits, which the call may have ended for. */
static bool snapshot_has_signal(uint32_t tid)
{
	char text[4096];

	if (dw_proc_read(tid, tid, "status", text, sizeof text) < 0)
		return true;
	return ((snapshot_signals(text, "\nSigPnd:") | snapshot_signals(text, "\nShdPnd:")) & ~snapshot_signals(text, "\nSigBlk:")) != 0;
}

#ifdef __x86_64__
static bool snapshot_get_registers(uint32_t tid, struct user_regs_struct *user)
{
	struct iovec to = { user, sizeof *user };

	return ptrace(PTRACE_GETREGSET, (pid_t)tid, (void *)NT_PRSTATUS, &to) == 0;
}

/* Lets a thread make a call again that ended because of the stop `status`, and not for a signal. As the kernel repeats
 * other calls: two bytes before is the instruction of the call. */
static void snapshot_repeat_call(uint32_t tid, int status, struct user_regs_struct *user)
{
	struct iovec from = { user, sizeof *user };

	if (status >> 16 == 0 || (long long)user->orig_rax < 0 || (long long)user->rax != -EINTR || !snapshot_may_repeat(user->orig_rax) ||
	    snapshot_has_signal(tid))
		return;
	user->rax = user->orig_rax;
	user->rip -= 2;
	ptrace(PTRACE_SETREGSET, (pid_t)tid, (void *)NT_PRSTATUS, &from);
}

/* The same for a thread of which nothing was read, because it stopped too late. */
static void snapshot_mend_call(uint32_t tid, int status)
{
	struct user_regs_struct user;

	if (snapshot_get_registers(tid, &user))
		snapshot_repeat_call(tid, status, &user);
}
#else
static void snapshot_mend_call(uint32_t tid, int status)
{
	(void)tid, (void)status;
}
#endif

/* ---- by stopping it ---------------------------------------------------------------------------- */

static bool snapshot_read_registers(struct dw_snapshot *snapshot, int status)
{
	struct user_regs_struct user;
#ifdef __x86_64__
	if (!snapshot_get_registers(snapshot->tid, &user))
		return false;
	{
		const unsigned long long by_number[] = { user.rax, user.rdx, user.rcx, user.rbx, user.rsi, user.rdi, user.rbp,
			user.rsp, user.r8, user.r9, user.r10, user.r11, user.r12, user.r13, user.r14, user.r15, user.rip };

		for (unsigned i = 0; i < sizeof by_number / sizeof *by_number; i++)
			snapshot_set(snapshot, i, by_number[i]);
		snapshot->sp = user.rsp;
		snapshot->pc = user.rip;
		snapshot->in_call = (long long)user.orig_rax >= 0;
		snapshot_repeat_call(snapshot->tid, status, &user);
	}
#else
	struct iovec to = { &user, sizeof user };

	(void)status;
	if (ptrace(PTRACE_GETREGSET, (pid_t)snapshot->tid, (void *)NT_PRSTATUS, &to) != 0)
		return false;
	for (unsigned i = 0; i < 31; i++)
		snapshot_set(snapshot, i, user.regs[i]);
	snapshot_set(snapshot, 31, user.sp);
	snapshot->sp = user.sp;
	snapshot->pc = user.pc;
	{
		int call = -1;
		struct iovec to_call = { &call, sizeof call };

		snapshot->in_call =
		    ptrace(PTRACE_GETREGSET, (pid_t)snapshot->tid, (void *)NT_ARM_SYSTEM_CALL, &to_call) == 0 && call >= 0;
	}
#endif
	return true;
}

void dw_snapshot_hurry(bool hurry)
{
	static bool refused;
	const struct sched_param first = { .sched_priority = 1 }, normal = { .sched_priority = 0 };

	if (!refused)
		refused = sched_setscheduler(0, hurry ? SCHED_FIFO : SCHED_OTHER, hurry ? &first : &normal) != 0;
}

/* A signal that arrived in the same moment is delivered now. */
static int snapshot_detach(pid_t tid, int status)
{
	int signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;

	return ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)signal) == 0 ? 0 : errno;
}

/* Waits until the thread has stopped, which SIGCHLD says. */
static int snapshot_wait(pid_t tid, int *status, uint64_t patience_ns)
{
	const struct timespec patience = { (time_t)(patience_ns / 1000000000u), (long)(patience_ns % 1000000000u) };
	uint64_t end_ns = dw_clock_monotonic_ns() + patience_ns;
	int code = ETIMEDOUT;
	sigset_t child, before;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &before);
	do {
		pid_t got = waitpid(tid, status, __WALL | WNOHANG);

		if (got)
			code = got != tid ? errno : WIFSTOPPED(*status) ? 0 : ESRCH;
		else
			sigtimedwait(&child, NULL, &patience);
	} while (code == ETIMEDOUT && dw_clock_monotonic_ns() < end_ns);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

static int snapshot_stop(struct dw_snapshot *snapshot, size_t most, uint64_t patience_ns,
                         void (*inside)(void *context), void *context)
{
	pid_t tid = (pid_t)snapshot->tid;
	uint64_t start_ns = dw_clock_monotonic_ns();
	int status = 0, code = 0, detached;

	snapshot->known = 0;
	snapshot->blocked = false;
	snapshot->call = -1;
	snapshot->size = 0;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0)
		return errno;
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) != 0)
		code = errno;
	else
		code = snapshot_wait(tid, &status, late_count < SNAPSHOT_LATE ? patience_ns : UINT32_MAX);
	if (code == ETIMEDOUT) {
		late[late_count++] = (uint32_t)tid;
		return code;
	}
	if (!code && !snapshot_read_registers(snapshot, status))
		code = errno;
	if (!code) {
		snapshot_copy_stack(snapshot, most < sizeof snapshot->stack ? most : sizeof snapshot->stack);
		if (inside)
			inside(context);
	}
	detached = snapshot_detach(tid, status);
	snapshot->stopped_ns = dw_clock_monotonic_ns() - start_ns;
	return code ? code : detached == ESRCH ? ESRCH : 0;
}

bool dw_snapshot_is_late(uint32_t tid)
{
	for (unsigned i = 0; i < late_count; i++)
		if (late[i] == tid)
			return true;
	return false;
}

int dw_snapshot_stop(struct dw_snapshot *snapshot, size_t most, uint64_t patience_ns, void (*inside)(void *context),
                     void *context)
{
	int code;

	if (dw_snapshot_is_late(snapshot->tid))
		return ETIMEDOUT; /* it was told to stop, and would be taken for another debugger's */
	dw_snapshot_hurry(true);
	code = snapshot_stop(snapshot, most, patience_ns, inside, context);
	dw_snapshot_hurry(false);
	return code;
}

bool dw_snapshot_let_go(void)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < late_count; i++) {
		int status;
		pid_t got = waitpid((pid_t)late[i], &status, __WALL | WNOHANG);

		if (got == (pid_t)late[i] && WIFSTOPPED(status)) {
			snapshot_mend_call(late[i], status);
			snapshot_detach((pid_t)late[i], status);
		} else if (got == 0)
			late[kept++] = late[i];
	}
	late_count = kept;
	return kept == 0;
}

bool dw_snapshot_sleep(uint64_t ns)
{
	uint64_t end_ns = dw_clock_monotonic_ns() + ns, now_ns = end_ns - ns;
	sigset_t child, before;
	bool interrupted = false;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &before);
	dw_snapshot_let_go();
	do {
		uint64_t left_ns = end_ns - now_ns;
		struct timespec left = { (time_t)(left_ns / 1000000000u), (long)(left_ns % 1000000000u) };

		interrupted = sigtimedwait(&child, NULL, &left) < 0 && errno == EINTR;
		dw_snapshot_let_go();
		now_ns = dw_clock_monotonic_ns();
	} while (now_ns < end_ns && !interrupted);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return interrupted;
}
