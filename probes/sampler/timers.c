/*
 * A timer for each thread, and the signal that it sends.
 *
 * The timers count the CPU time of their thread, so a thread that waits is not disturbed: its calls are not
 * interrupted. The signal is the second of the two that glibc keeps for itself (SIGSETXID, 33). Through libc no program can
 * block it, wait for it or change its handler, so blocked signals, sigsuspend(), signalfd() and handlers are as
 * without this library. glibc uses it when a program with threads changes its user: then the signal is passed on.
 * glibc sets its handler when the first thread is created, and may do so at any creation: dws_timers_keep() looks.
 *
 * Samples may take one part in a thousand of a thread's CPU time, if the user did not choose their number: each signal
 * adds to what the thread may spend, each sample takes what it took, and a signal that finds nothing left only adds to
 * the weight of the next sample. A thread begins with 5 ms, so that short programs have samples, too. Each signal adds
 * four times as much until the thread's samples have taken 40 ms: the first hundreds of samples tell most.
 *
 * The first tick comes after a part of a period, by chance in the first thread. What a thread has used since
 * its last tick is handed on to the next thread with the same function. So threads that live for less than a period are
 * sampled as often as their sum of time says.
 *
 * POSIX timers are not inherited by a child of fork, which makes its own.
 */
#include "requests.h"
#include "sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/system/system.h"
#include "entry_trap.h"
#include "format/keys.h"
#include "wrapped.h"

#define THREAD_LOCAL static __thread __attribute__((__tls_model__("initial-exec")))
#define FIRST_CREDIT_NS 5000000
#define MOST_CREDIT_NS 1000000 /* later */
#define EARLY_NS 40000000      /* while a thread has spent less time than this on samples, it earns more for them */
#define EARLY_TIMES 4          /* by this factor */
#define LONG_PERIODS 5         /* a process that used more CPU time has samples, or the trace says why not */
#define MOST_PERIODS 64        /* that a thread hands on to the next */
#define HANDED_ON 64u          /* places for functions of threads; functions may share one */
#define TIMERS 65536u          /* the kernel numbers them from 0 */
#define RESTORER 0x04000000ul  /* SA_RESTORER */

/* The kernel's structure, because libc's differ between C libraries. */
struct kernel_event {
	union sigval value;
	int signal, notify, thread, unused[11];
};

static long share;     /* a sample may take this part of a period: 1/share; 0: no limit */
static bool wants_perf;
static pthread_key_t at_end; /* its destructor runs at the end of a thread */
static struct dws_kernel_action glibcs; /* what was there before this library's handler */

static uint64_t timers[TIMERS / 64]; /* atomic; a bit for each timer of this library, by the kernel's number */

static int64_t took_ns; /* atomic; CPU time of all samples */

/* CPU time in ns that ended threads have used since their last tick, by the thread's function. Atomic. */
static int64_t handed_on[HANDED_ON];

THREAD_LOCAL struct {
	int timer;       /* one more than the kernel's number; 0: none */
	struct dws_perf perf; /* in place of the timer */
	uint32_t place;  /* among threads with events */
	uintptr_t function; /* of the thread */
	int64_t before_ns; /* CPU time that was handed on to this thread, less its own before the timer */
	uint64_t periods;  /* that samples stand for */
	uint32_t weight; /* periods since the last sample */
	long credit_ns, spent_ns; /* for samples */
} mine;

/* ---- a thread's timer ------------------------------------------------------------------------- */

bool dws_timers_run(void)
{
	return mine.timer || mine.perf.ring;
}

static int64_t timers_used_ns(void)
{
	struct timespec now = { 0, 0 };

	dw_system(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)(uintptr_t)&now, 0, 0, 0, 0);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t *timers_place(uintptr_t function)
{
	return &handed_on[dws_sampler_hash(7, function) % HANDED_ON];
}

static void timers_mark(int timer, bool runs)
{
	uint64_t bit = (uint64_t)1 << (timer & 63);

	if (timer < 0 || timer >= (int)TIMERS)
		return;
	if (runs)
		__atomic_fetch_or(&timers[timer / 64], bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&timers[timer / 64], ~bit, __ATOMIC_RELAXED);
}

/* Sets the timer so that the first tick comes when a period is full. Returns the system's error, or 0. */
static long timers_set(void)
{
	struct kernel_event event = { .value.sival_ptr = &dws_process, .signal = DWS_SIGNAL, .notify = SIGEV_THREAD_ID };
	int64_t left = dws_process.period_ns - mine.before_ns;
	struct itimerspec times = { { dws_process.period_ns / 1000000000, dws_process.period_ns % 1000000000 }, { 0, 0 } };
	int timer = 0;
	long result;

	left = left > 0 ? left : 1;
	times.it_value = (struct timespec){ left / 1000000000, left % 1000000000 };
	event.thread = (int)dw_system(SYS_gettid, 0, 0, 0, 0, 0, 0);
	result = dw_system(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, (long)(uintptr_t)&event, (long)(uintptr_t)&timer, 0, 0, 0);
	if (dw_system_failed(result))
		return -result;
	mine.timer = timer + 1;
	timers_mark(timer, true);
	dw_system(SYS_timer_settime, timer, 0, (long)(uintptr_t)&times, 0, 0, 0);
	return 0;
}

static bool timers_set_perf(void)
{
	if (!wants_perf || !dws_event_threads_enter(&mine.place))
		return false;
	if (dws_perf_start(&mine.perf, dws_process.period_ns))
		return true;
	dws_event_threads_leave(&mine.place);
	return false;
}

void dws_timers_start(uintptr_t function, bool is_new)
{
	long error = 0;

	if (!dws_process.period_ns)
		return;
	mine.weight = 0;
	mine.periods = 0;
	mine.credit_ns = FIRST_CREDIT_NS;
	mine.function = function;
	mine.before_ns = __atomic_exchange_n(timers_place(function), 0, __ATOMIC_RELAXED);
	mine.weight = (uint32_t)(mine.before_ns / dws_process.period_ns);
	mine.before_ns -= (int64_t)mine.weight * dws_process.period_ns;
	dws_signals_begin();
	if (timers_set_perf())
		dws_process.has_perf = true;
	else
		error = timers_set();
	if (error)
		dws_lack(error == EAGAIN ? "threads have more timers than the limit of pending signals (ulimit -i) permits"
		                         : "the system refuses timers (timer_create), as a sandbox may");
	mine.before_ns += (int64_t)mine.weight * dws_process.period_ns - (is_new ? 0 : timers_used_ns());
}

/* The CPU time since the last tick. */
static int64_t timers_left_ns(int64_t used_ns)
{
	int64_t left = mine.before_ns + used_ns - (int64_t)mine.periods * dws_process.period_ns;

	return left > 0 && left < MOST_PERIODS * dws_process.period_ns ? left : 0;
}

void dws_timers_watch(void)
{
	if (dws_timers_run())
		pthread_setspecific(at_end, &mine);
}

void dws_timers_pause(void)
{
	if (mine.timer) {
		timers_mark(mine.timer - 1, false);
		dw_system(SYS_timer_delete, mine.timer - 1, 0, 0, 0, 0, 0);
	}
	mine.timer = 0;
	dws_perf_stop(&mine.perf);
	dws_event_threads_leave(&mine.place);
}

void dws_timers_resume(void)
{
	__atomic_fetch_add(timers_place(mine.function), timers_left_ns(timers_used_ns()), __ATOMIC_RELAXED);
	dws_timers_start(mine.function, false);
}

static void timers_stop(int64_t used_ns)
{
	dws_waits_calls(true);
	if (dws_process.in_sandbox || !dws_timers_run())
		return;
	dws_timers_pause();
	__atomic_fetch_add(timers_place(mine.function), timers_left_ns(used_ns ? used_ns : timers_used_ns()), __ATOMIC_RELAXED);
	dws_signals_end();
}

/* ---- the account of CPU time -------------------------------------------------------------------- */

static bool timers_is_blocked(void)
{
	uint64_t blocked = 0;

	dw_system(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)(uintptr_t)&blocked, sizeof blocked, 0, 0);
	return blocked >> (DWS_SIGNAL - 1) & 1;
}

struct leave {
	bool blocked;
	int64_t used_ns; /* CPU time of the thread that ends; 0: not known */
};

static void timers_leave_thread(void *given)
{
	struct leave *leave = given;

	if (dws_recorder->thread_leave)
		leave->used_ns = (int64_t)dws_recorder->thread_leave(leave->blocked);
	dws_own_write();
}

static void timers_at_thread_end(void *unused)
{
	uint64_t began_ns = dws_now_ns(), blocked = 0, all = DWS_ALL_SIGNALS;
	struct leave leave = { .used_ns = 0 };

	(void)unused;
	if (dws_timers_run() && !dws_process.in_sandbox &&
	    !dw_system_failed(dw_system(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&blocked, sizeof all, 0, 0))) {
		leave.blocked = blocked >> (DWS_SIGNAL - 1) & 1;
		dws_apart_masked(timers_leave_thread, &leave);
		dw_system(SYS_rt_sigprocmask, SIG_SETMASK, (long)&blocked, 0, sizeof blocked, 0, 0);
	}
	timers_stop(leave.used_ns);
	dws_own_add(began_ns, false);
}

static void timers_note_number(const char *key, uint64_t number)
{
	char text[24];
	size_t at = sizeof text - 1;

	text[at] = '\0';
	for (; number && at; number /= 10)
		text[--at] = (char)('0' + number % 10);
	if (text[at])
		dws_recorder->meta_try(key, text + at, true);
}

/* What samples took, and what this library did in front of libc's functions; each measured call read the clock twice. */
static void timers_note_work(void)
{
	timers_note_number(DW_KEY_SAMPLE_CALLS, dws_waits_calls(true));
	timers_note_number(DW_KEY_SAMPLE_TOOK_NS, (uint64_t)__atomic_load_n(&took_ns, __ATOMIC_RELAXED));
}

static void timers_leave_process(void *leave)
{
	if (!dws_note(true))
		return;
	timers_note_work();
	dws_own_write();
	if (dws_timers_run())
		timers_leave_thread(leave);
	dws_recorder->account_close(true);
}

/* A process that used the CPU is in the trace at its end, also if no timer ran, or the signal was blocked. In a sandbox
 * nothing is done, nor in a child of vfork(), which has its parent's memory. */
static bool timers_has_account(void)
{
	bool noted = __atomic_load_n(&dws_process.noted, __ATOMIC_RELAXED);

	return dws_process.period_ns && !dws_process.in_sandbox &&
	       dws_process.pid == (int)dw_system(SYS_getpid, 0, 0, 0, 0, 0, 0) &&
	       (noted || (dws_sampler_records() && dws_has_worked(LONG_PERIODS)));
}

void dws_timers_end_process(void)
{
	struct leave leave = { .used_ns = 0 };

	dws_requests_end();
	if (!timers_has_account())
		return;
	leave.blocked = timers_is_blocked();
	dws_apart(timers_leave_process, &leave);
}

__attribute__((destructor)) static void timers_at_exit(void)
{
	dws_timers_end_process();
}

static void timers_account(void *closed)
{
	if (*(const bool *)closed ? dws_note(true) : true)
		dws_recorder->account_close(*(const bool *)closed);
}

bool dws_timers_close_account(void)
{
	bool closed = timers_has_account() && dws_recorder->account_close;

	if (closed)
		dws_apart(timers_account, &closed);
	return closed;
}

void dws_timers_open_account(void)
{
	bool closed = false;

	dws_apart(timers_account, &closed);
}

/* ---- the signal ------------------------------------------------------------------------------- */

static bool timers_is_ours(const siginfo_t *info)
{
	return (info->si_code == SI_TIMER && info->si_value.sival_ptr == &dws_process) ||
	       (info->si_code == POLL_IN && info->si_fd == mine.perf.number - 1);
}

static void timers_tick(uint32_t periods, const ucontext_t *context, const struct dws_kernel *kernel)
{
	int64_t began;
	long took;

	mine.weight += periods;
	if (share) {
		long more = (long)periods * (dws_process.period_ns / share) * (mine.spent_ns < EARLY_NS ? EARLY_TIMES : 1);

		mine.credit_ns += mine.credit_ns + more < MOST_CREDIT_NS ? more : 0;
		if (mine.credit_ns <= 0)
			return;
	}
	if (!dws_note(true) && dws_sampler_records())
		return;
	began = timers_used_ns();
	if (dws_sample(context, dws_own_stack(), kernel, mine.weight)) {
		mine.periods += mine.weight;
		mine.weight = 0;
	}
	took = (long)(timers_used_ns() - began);
	mine.credit_ns -= took;
	mine.spent_ns += took;
	__atomic_fetch_add(&took_ns, took, __ATOMIC_RELAXED);
}

struct tick {
	const siginfo_t *info;
	ucontext_t *context;
};

static void timers_take(void *given)
{
	const struct tick *tick = given;
	struct dws_kernel kernel;
	uint32_t periods;

	kernel.count = 0;
	dws_signals_end_stack();
	if (dws_recorder->hurry)
		dws_recorder->hurry(true);
	dws_own_write();
	if (!mine.perf.ring)
		timers_tick(1u + (tick->info->si_overrun > 0 ? (uint32_t)tick->info->si_overrun : 0), tick->context, &kernel);
	else
		while ((periods = dws_perf_next(&mine.perf, &kernel)) != 0)
			timers_tick(periods, tick->context, &kernel);
	if (dws_recorder->hurry)
		dws_recorder->hurry(false);
}

bool dws_is_handler(const struct dws_kernel_action *action)
{
	return action->handler != (void (*)(int, siginfo_t *, void *))(void (*)(void))SIG_DFL &&
	       action->handler != (void (*)(int, siginfo_t *, void *))(void (*)(void))SIG_IGN;
}

/* All signals are blocked, and errno is the program's: nothing here changes it. */
static void timers_handle(int number, siginfo_t *info, void *context)
{
	struct tick tick = { info, context };
	bool is_trap = dws_trap_take(info, context);

	if (!timers_is_ours(info)) {
		if (!is_trap && dws_is_handler(&glibcs))
			glibcs.handler(number, info, context);
		return;
	}
	/* Another thread may have begun a sandbox at this moment. A child of vfork() has no timer of its own. */
	if (dws_process.in_sandbox || !dws_timers_run() || dws_process.pid != (int)dw_system(SYS_getpid, 0, 0, 0, 0, 0, 0))
		return;
	dws_signals_mend(context);
	if (!dws_apart_masked(timers_take, &tick))
		mine.weight++;
}

static long timers_action(int number, const struct dws_kernel_action *action, struct dws_kernel_action *before)
{
	return dw_system(SYS_rt_sigaction, number, (long)(uintptr_t)action, (long)(uintptr_t)before, 8, 0, 0);
}

#ifdef __x86_64__
/* Returns from a handler. Debuggers and exceptions know these instructions. */
__asm__(".text\n"
        ".p2align 4\n"
        "	nop\n"
        ".globl dws_return_from_signal\n"
        ".hidden dws_return_from_signal\n"
        ".type dws_return_from_signal, @function\n"
        "dws_return_from_signal:\n"
        "	movq $15, %rax\n"
        "	syscall\n"
        ".size dws_return_from_signal, . - dws_return_from_signal\n");
void dws_return_from_signal(void);
#endif

/* No other handler may begin during this one: it could leave it by a jump. */
bool dws_signal_install(int number, void (*handler)(int, siginfo_t *, void *), struct dws_kernel_action *before)
{
	struct dws_kernel_action now,
		action = { .handler = handler, .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK, .mask = DWS_ALL_SIGNALS };

#ifdef __x86_64__
	action.flags |= RESTORER;
	action.restorer = dws_return_from_signal;
#endif
	if (dw_system_failed(timers_action(number, NULL, &now)))
		return false;
	if (now.handler != handler)
		*before = now;
	return !dw_system_failed(timers_action(number, &action, NULL));
}

static bool timers_install(void)
{
	return dws_signal_install(DWS_SIGNAL, timers_handle, &glibcs);
}

void dws_timers_keep(void)
{
	struct dws_kernel_action now;

	if (dws_process.period_ns && dws_process.pid == (int)dw_system(SYS_getpid, 0, 0, 0, 0, 0, 0) &&
	    !dw_system_failed(timers_action(DWS_SIGNAL, NULL, &now)) && now.handler != timers_handle)
		timers_install();
}

/* Those of other threads, too: a tick would return from its handler by a system call. */
static void timers_delete_all(void)
{
	for (unsigned word = 0; word < TIMERS / 64; word++) {
		uint64_t bits = __atomic_exchange_n(&timers[word], 0, __ATOMIC_RELAXED);

		for (; bits; bits &= bits - 1)
			dw_call(SYS_timer_delete, word * 64 + (unsigned)__builtin_ctzll(bits));
	}
}

void dws_timers_without_perf(void)
{
	wants_perf = false;
	dws_process.has_perf = false;
}

long dws_timers_leave(void)
{
	long period_ns = dws_process.period_ns;

	timers_stop(0);
	dws_process.in_sandbox = true;
	dws_process.period_ns = 0;
	dws_waits_stop(true);
	timers_delete_all();
	return period_ns;
}

void dws_timers_return(long period_ns)
{
	int saved = errno;

	dws_process.in_sandbox = false;
	dws_process.period_ns = period_ns;
	dws_waits_stop(false);
	dws_timers_start(mine.function, false);
	errno = saved;
}

/* ---- the start ---------------------------------------------------------------------------------- */

/* A part of a period, by chance: a process that uses less is sampled with the probability that its time says. */
static void timers_seed(uintptr_t function)
{
	uint64_t chance = dws_sampler_hash(dws_now_ns(), (uint64_t)getpid());

	*timers_place(function) = (int64_t)((unsigned __int128)chance * (uint64_t)dws_process.period_ns >> 64);
}

/* At the begin of a process. One that uses little CPU writes nothing else to the trace. */
static void timers_write_own(void *unused)
{
	(void)unused;
	dws_own_write();
}

static void timers_in_child(void)
{
	uint64_t began_ns = dws_now_ns();

	if (dws_process.in_sandbox)
		return;
	mine.timer = 0;
	mine.perf.ring = NULL; /* children do not get the mapping */
	mine.place = 0;
	dws_event_threads_forked();
	dws_own_forked();
	mine.spent_ns = took_ns = 0;
	dws_process.pid = getpid();
	dws_process.noted = 0;
	dws_process.is_program = false;
	dws_apart_forked();
	dws_sample_forked();
	dws_requests_forked();
	dws_clear(handed_on, sizeof handed_on);
	dws_clear(timers, sizeof timers);
	timers_seed(0);
	dws_timers_start(0, false);
	dws_timers_watch();
	dws_own_add(began_ns, true);
	dws_apart(timers_write_own, NULL);
}

__attribute__((constructor)) static void timers_begin(void)
{
	const char *wanted = getenv("DWELL_SAMPLE"); /* the period, after a slash the share, and "perf" */
	const char *slash = wanted ? strchr(wanted, '/') : NULL;
	long period = wanted && getenv("DWELL_TRACE") ? strtol(wanted, NULL, 10) : 0;
	uint64_t began_ns = dws_now_ns();

	dws_targets_resolve();
	if (period < 1000000 || period > 10000000000 || pthread_key_create(&at_end, timers_at_thread_end) != 0 || !timers_install())
		return;
	dws_prepare();
	pthread_atfork(NULL, NULL, timers_in_child);
	wants_perf = strstr(wanted, "perf") != NULL;
	share = slash ? strtol(slash + 1, NULL, 10) : 0;
	dws_process.period_ns = period;
	dws_waits_set_period(period);
	timers_seed(0);
	dws_timers_start(0, false);
	dws_timers_watch();
	dws_own_add(began_ns, true);
	dws_apart(timers_write_own, NULL);
}
