/*
 * A timer for each thread, and the signal that it sends.
 *
 * The timers count the CPU time of their thread, so a thread that waits is not disturbed: its calls are not
 * interrupted. The signal is SIGURG, because the kernel ignores it by default: a program that resets all signals
 * is not ended by it. A program that uses SIGURG itself keeps its use: its handler is called for its own
 * signals, and waits for signals (sigwait and the like) do not return for a timer's.
 *
 * Samples may take one part in a thousand of a thread's CPU time, if the user did not choose their number: each signal
 * adds to what the thread may spend, each sample takes what it took, and a signal that finds nothing left only adds to
 * the weight of the next sample. A thread begins with 5 ms, so that short programs have samples, too.
 *
 * Threads are known by pthread_create(), which this library has in front of libc's. A thread that is made in another
 * way has no samples. POSIX timers are not inherited by a child of fork, which makes its own. Nor are events of the
 * kernel, which send the same signal if the user asks for them.
 */
#include "sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "format/keys.h"

#define PUBLIC __attribute__((__visibility__("default")))
#define THREAD_LOCAL static __thread __attribute__((__tls_model__("initial-exec")))
#define SIGNAL SIGURG
#define FIRST_CREDIT_NS 5000000
#define MOST_CREDIT_NS 1000000 /* later */
#define SIGNAL_STACK_BYTES ((size_t)64 << 10)
#define MOST_COST_NS 200000    /* of a sample; what is longer was a wait for a CPU */

/* The kernel's structures, because libc's differ between C libraries. */
struct kernel_event {
	union sigval value;
	int signal, notify, thread, unused[11];
};

static long share;     /* a sample may take this part of a period: 1/share; 0: no limit */
static bool wants_perf;
static pthread_key_t at_end;
static int (*real_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
static int (*real_sigaction)(int, const struct sigaction *, struct sigaction *);
static struct sigaction programs; /* what the program asked for SIGNAL */

THREAD_LOCAL struct {
	int timer;       /* one more than the kernel's number; 0: none */
	struct dws_perf perf; /* in place of the timer */
	bool busy;
	uint32_t weight; /* periods since the last sample */
	long credit_ns;
	char *stack;     /* for the handler; NULL: there is none */
} mine;

/* ---- a stack for the handler ------------------------------------------------------------------ */

/* Code may use the stack pointer for something else, as kernels do that oneDNN generates, and a coroutine's stack may
 * be small. There the kernel must not put a signal's frame. If the thread has a stack for signals already, the kernel
 * puts the frame there, and the handler goes to this one: the other one may be as small as a frame. */
static void timers_take_signal_stack(void)
{
	stack_t now, ours = { .ss_size = SIGNAL_STACK_BYTES };

	if (mine.stack)
		return;
	ours.ss_sp = mmap(NULL, ours.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (ours.ss_sp == MAP_FAILED)
		return;
	mine.stack = ours.ss_sp;
	if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE))
		sigaltstack(&ours, NULL);
}

/* Of a stack that was disabled meanwhile it is not known whether it is still mapped: AddressSanitizer unmaps it. */
static void timers_return_signal_stack(void)
{
	stack_t now, none = { .ss_flags = SS_DISABLE };

	if (!mine.stack || sigaltstack(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE))
		return;
	if (now.ss_sp != mine.stack || sigaltstack(&none, NULL) == 0)
		munmap(mine.stack, SIGNAL_STACK_BYTES);
	mine.stack = NULL;
}

/* Whether the program has a stack of its own for signals, and the caller runs on it. */
static bool timers_is_elsewhere(const ucontext_t *context)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return mine.stack && context->uc_stack.ss_sp != mine.stack &&
	       here - (uintptr_t)context->uc_stack.ss_sp < context->uc_stack.ss_size;
}

/* Calls a function on the handler's stack. All signals are blocked. */
static void timers_call_there(void (*function)(const siginfo_t *, const ucontext_t *), const siginfo_t *info,
                              const ucontext_t *context)
{
	char *top = mine.stack + SIGNAL_STACK_BYTES;

#ifdef __x86_64__
	__asm__ volatile("movq %%rsp, %%rbx\n\tmovq %[top], %%rsp\n\tcall *%[function]\n\tmovq %%rbx, %%rsp"
	                 : [function] "+r"(function), "+D"(info), "+S"(context), [top] "+r"(top)
	                 :
	                 : "rbx", "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
#else
	register const siginfo_t *first __asm__("x0") = info;
	register const ucontext_t *second __asm__("x1") = context;

	__asm__ volatile("mov x19, sp\n\tmov sp, %[top]\n\tblr %[function]\n\tmov sp, x19"
	                 : "+r"(first), "+r"(second), [function] "+r"(function), [top] "+r"(top)
	                 :
	                 : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17",
	                   "x18", "x19", "x30", "memory", "cc");
#endif
}

/* ---- a thread's timer ------------------------------------------------------------------------- */

static bool timers_run(void)
{
	return mine.timer || mine.perf.ring;
}

static void timers_start(void)
{
	struct kernel_event event = { .value.sival_ptr = &dws_process, .signal = SIGNAL, .notify = SIGEV_THREAD_ID };
	struct itimerspec times = { { dws_process.period_ns / 1000000000, dws_process.period_ns % 1000000000 },
		                        { dws_process.period_ns / 1000000000, dws_process.period_ns % 1000000000 } };
	int timer;

	mine.weight = 0;
	mine.credit_ns = FIRST_CREDIT_NS;
	if (wants_perf && dws_perf_start(&mine.perf, dws_process.period_ns, SIGNAL)) {
		dws_process.has_perf = true;
		timers_take_signal_stack();
		return;
	}
	event.thread = (int)syscall(SYS_gettid);
	if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) {
		dws_lack(errno == EAGAIN ? "threads have more timers than the limit of pending signals (ulimit -i) permits"
		                         : "the system refuses timers (timer_create), as a sandbox may");
		return;
	}
	timers_take_signal_stack();
	mine.timer = timer + 1;
	syscall(SYS_timer_settime, timer, 0, &times, NULL);
}

static void timers_stop(void *unused)
{
	(void)unused;
	if (dws_process.in_sandbox)
		return;
	if (mine.timer)
		syscall(SYS_timer_delete, mine.timer - 1);
	mine.timer = 0;
	dws_perf_stop(&mine.perf);
	timers_return_signal_stack();
}

/* ---- the signal ------------------------------------------------------------------------------- */

static bool timers_is_ours(const siginfo_t *info)
{
	return (info->si_code == SI_TIMER && info->si_value.sival_ptr == &dws_process) ||
	       (info->si_code == POLL_IN && info->si_fd == mine.perf.number - 1);
}

static void timers_tick(uint32_t periods, const ucontext_t *context, const struct dws_kernel *kernel)
{
	uint64_t began;
	long took;

	mine.weight += periods;
	if (share) {
		long more = (long)periods * (dws_process.period_ns / share);

		mine.credit_ns += mine.credit_ns + more < MOST_CREDIT_NS ? more : 0;
		if (mine.credit_ns <= 0)
			return;
	}
	dws_note(true);
	began = dws_now_ns();
	if (dws_sample(context, dws_own_stack(), kernel, mine.weight))
		mine.weight = 0;
	took = (long)(dws_now_ns() - began);
	mine.credit_ns -= took < MOST_COST_NS ? took : MOST_COST_NS;
}

static void timers_take(const siginfo_t *info, const ucontext_t *context)
{
	struct dws_kernel kernel;
	uint32_t periods;

	kernel.count = 0;
	if (!mine.perf.ring)
		timers_tick(1u + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0), context, &kernel);
	else
		while ((periods = dws_perf_next(&mine.perf, &kernel)) != 0)
			timers_tick(periods, context, &kernel);
}

/* The program's handler runs as if the kernel had called it: a jump out of it leaves these signals blocked. */
static void timers_pass_on(int number, siginfo_t *info, ucontext_t *context)
{
	struct sigaction action = programs;
	uint64_t blocked, more;

	if (!(action.sa_flags & SA_SIGINFO) && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN))
		return;
	if (action.sa_flags & (int)SA_RESETHAND)
		programs.sa_handler = SIG_DFL, programs.sa_flags = 0;
	memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
	memcpy(&more, &action.sa_mask, sizeof more);
	blocked |= more | (action.sa_flags & SA_NODEFER ? 0 : 1ul << (number - 1));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof blocked);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

static void timers_handle(int number, siginfo_t *info, void *context)
{
	int saved = errno;

	if (dws_process.in_sandbox && timers_is_ours(info)) {
		/* another thread began the sandbox at this moment */
	} else if (timers_is_ours(info)) {
		if (!mine.busy && timers_run() && dws_process.pid == getpid()) {
			mine.busy = true;
			dws_waits_pause(true);
			if (timers_is_elsewhere(context))
				timers_call_there(timers_take, info, context);
			else
				timers_take(info, context);
			dws_waits_pause(false);
			mine.busy = false;
		}
	} else {
		timers_pass_on(number, info, context);
	}
	errno = saved;
}

/* The handler blocks all signals: no other handler may leave it by a jump. */
static bool timers_install(void)
{
	struct sigaction before, action = { .sa_sigaction = timers_handle, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	sigfillset(&action.sa_mask);
	sigdelset(&action.sa_mask, SIGBUS); /* the recorder handles faults in its file */
	if (real_sigaction(SIGNAL, NULL, &before) != 0 || (before.sa_flags & SA_SIGINFO) ||
	    (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN))
		return false;
	programs = before;
	return real_sigaction(SIGNAL, &action, NULL) == 0;
}

/* The other threads' timers go on: without a handler the kernel ignores the signal. */
long dws_timers_leave(void)
{
	long period_ns = dws_process.period_ns;

	dws_lack("the program began a sandbox (seccomp), where a system call of dwell could end it; samples are of the time before");
	timers_stop(NULL);
	dws_process.in_sandbox = true;
	dws_process.period_ns = 0;
	real_sigaction(SIGNAL, &programs, NULL);
	return period_ns;
}

void dws_timers_return(long period_ns)
{
	int saved = errno;

	dws_process.in_sandbox = !timers_install();
	if (!dws_process.in_sandbox) {
		dws_process.period_ns = period_ns;
		timers_start();
	}
	errno = saved;
}

/* ---- functions of libc that this library is in front of -------------------------------------------- */

struct begin {
	void *(*function)(void *);
	void *argument;
};

static void *timers_run_thread(void *given)
{
	struct begin begin = *(struct begin *)given;

	free(given);
	dws_take_stack();
	if (dws_process.period_ns)
		timers_start();
	if (timers_run())
		pthread_setspecific(at_end, &mine);
	return begin.function(begin.argument);
}

PUBLIC int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)
{
	struct begin *begin;
	int code;

	if (!real_create)
		*(void **)&real_create = dws_next("pthread_create");
	begin = dws_process.pid ? malloc(sizeof *begin) : NULL;
	if (!begin)
		return real_create(thread, attributes, function, argument);
	*begin = (struct begin){ function, argument };
	code = real_create(thread, attributes, timers_run_thread, begin);
	if (code)
		free(begin);
	return code;
}

/* A handler of the program's that runs on a stack for signals is not sampled: its stack may be too small for two. */
PUBLIC int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	static uint64_t added; /* atomic; to the masks of these signals */
	struct sigaction old = programs, masked;
	uint64_t bit = number > 0 && number <= 64 ? 1ul << (number - 1) : 0;
	bool adds = false, had = bit & __atomic_load_n(&added, __ATOMIC_RELAXED);
	int code;

	if (!real_sigaction)
		*(void **)&real_sigaction = dws_next("sigaction");
	if (dws_process.period_ns && number == SIGNAL) {
		if (action)
			programs = *action;
		if (before)
			*before = old;
		return 0;
	}
	if (dws_process.period_ns && action && (action->sa_flags & SA_ONSTACK) && !sigismember(&action->sa_mask, SIGNAL)) {
		masked = *action;
		sigaddset(&masked.sa_mask, SIGNAL);
		adds = true;
	}
	code = real_sigaction(number, adds ? &masked : action, before);
	if (!code && before && had)
		sigdelset(&before->sa_mask, SIGNAL);
	if (!code && action && adds)
		__atomic_fetch_or(&added, bit, __ATOMIC_RELAXED);
	else if (!code && action)
		__atomic_fetch_and(&added, ~bit, __ATOMIC_RELAXED);
	return code;
}

PUBLIC void (*signal(int number, void (*handler)(int)))(int)
{
	static void (*(*next)(int, void (*)(int)))(int);
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART }, before;

	if (!next)
		*(void **)&next = dws_next("signal");
	if (!dws_process.period_ns || number != SIGNAL)
		return next(number, handler);
	sigaction(number, &action, &before);
	return before.sa_handler;
}

/* Waits for a signal of the set that no timer of this library sent. */
PUBLIC int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	static int (*next)(const sigset_t *, siginfo_t *, const struct timespec *);
	siginfo_t own;
	int number;

	if (!next)
		*(void **)&next = dws_next("sigtimedwait");
	do
		number = next(set, info ? info : &own, timeout);
	while (dws_process.period_ns && number == SIGNAL && timers_is_ours(info ? info : &own));
	return number;
}

PUBLIC int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	return sigtimedwait(set, info, NULL);
}

PUBLIC int sigwait(const sigset_t *set, int *number)
{
	int got;

	do
		got = sigtimedwait(set, NULL, NULL);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno;
	*number = got;
	return 0;
}

/* ---- the start ---------------------------------------------------------------------------------- */

static void timers_in_child(void)
{
	if (dws_process.in_sandbox)
		return;
	mine.timer = 0;
	mine.perf.ring = NULL; /* children do not get the mapping */
	mine.busy = false;
	dws_process.pid = getpid();
	dws_process.noted = 0;
	dws_process.is_program = false;
	dws_sample_forked();
	timers_start();
}

__attribute__((constructor)) static void timers_begin(void)
{
	const char *wanted = getenv("DWELL_SAMPLE"); /* the period, after a slash the share, and "perf" */
	const char *slash = wanted ? strchr(wanted, '/') : NULL;
	long period = wanted && getenv("DWELL_TRACE") ? strtol(wanted, NULL, 10) : 0;

	if (period < 1000000 || period > 10000000000)
		return;
	*(void **)&real_sigaction = dws_next("sigaction");
	*(void **)&real_create = dws_next("pthread_create");
	if (!real_sigaction || !real_create || pthread_key_create(&at_end, timers_stop) != 0 || !timers_install())
		return;
	dws_prepare();
	pthread_atfork(NULL, NULL, timers_in_child);
	wants_perf = strstr(wanted, "perf") != NULL;
	share = slash ? strtol(slash + 1, NULL, 10) : 0;
	dws_process.period_ns = period;
	timers_start();
}
