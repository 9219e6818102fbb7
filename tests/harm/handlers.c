/* Handlers of signals: how they are left, what they run on, what the kernel is told of them. */
#define _GNU_SOURCE
#include "harm.h"
#include <alloca.h>
#include <semaphore.h>
#include <setjmp.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <ucontext.h>

static sigjmp_buf with_mask;
static jmp_buf without_mask;
static ucontext_t context;
static volatile int returned;

/* ---- a handler is left by a jump ---- */

enum { SIGLONGJMP, LONGJMP, PLAIN_LONGJMP, SETCONTEXT, ON_STACK = 10, NODEFER = 20, OVERFLOW = 100 };
static int leave_by;

static void leave_handler(int number)
{
	if (leave_by == SIGLONGJMP)
		siglongjmp(with_mask, number);
	if (leave_by == SETCONTEXT) {
		returned = 1;
		setcontext(&context);
	}
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	if (leave_by == LONGJMP)
		longjmp(without_mask, number);
	_longjmp(without_mask, number);
}

static NOINLINE int leave_recurse(int depth)
{
	volatile char frame[4096];
	frame[0] = (char)depth;
	return leave_recurse(depth + 1) + frame[0];
}

static void leave_signal(bool overflow)
{
	if (overflow)
		leave_recurse(0);
	harm_compute(.003);
	raise(SIGUSR1);
}

static void leave_once(bool overflow)
{
	returned = 0;
	if (leave_by == SIGLONGJMP) {
		if (!sigsetjmp(with_mask, 1))
			leave_signal(overflow);
	} else if (leave_by == SETCONTEXT) {
		getcontext(&context);
		if (!returned)
			leave_signal(overflow);
	} else if (leave_by == LONGJMP) {
		if (!setjmp(without_mask))
			leave_signal(overflow);
	} else if (!_setjmp(without_mask)) {
		leave_signal(overflow);
	}
}

static void leave_main(long value)
{
	static char stack[65536];
	bool overflow = value >= OVERFLOW;
	leave_by = (int)(value % 10);
	int flags = (value / 10 & 1 ? SA_ONSTACK : 0) | (value / 20 & 1 ? SA_NODEFER : 0);
	if (flags & SA_ONSTACK) {
		stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
		sigaltstack(&own, NULL);
	}
	struct sigaction action = { .sa_handler = leave_handler, .sa_flags = flags };
	sigaction(overflow ? SIGSEGV : SIGUSR1, &action, NULL);
	for (int i = 0; i < 10; i++) {
		leave_once(overflow);
		harm_compute(.006);
	}
	harm_say_mask("after 10");
	harm_execute("state", ".mask");
}

/* ---- a blocked call is left by a jump ---- */

enum { J_READ, J_POLL, J_SELECT, J_SEM, J_NANOSLEEP, J_COND, J_MSGRCV, J_JOIN, J_PAUSE, J_USLEEP };

static void jump_handler(int number UNUSED)
{
	siglongjmp(with_mask, 1);
}

static void *jump_sleep(void *value UNUSED)
{
	sigset_t set;
	sigfillset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
	usleep(700000);
	return NULL;
}

static void jump_block(long call)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
	int pipes[2];
	char byte[64];
	sem_t semaphore;
	struct timespec time = harm_time(5);
	struct timeval long_time = { 5, 0 };
	pthread_t thread;
	sem_init(&semaphore, 0, 0);
	if (pipe(pipes))
		return;
	fd_set set;
	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	switch (call) {
	case J_READ:
		harm_result("read", read(pipes[0], byte, 1));
		break;
	case J_POLL:
		harm_result("poll", poll(NULL, 0, 5000));
		break;
	case J_SELECT:
		harm_result("select", select(pipes[0] + 1, &set, NULL, NULL, &long_time));
		break;
	case J_SEM:
		harm_result("sem_wait", sem_wait(&semaphore));
		break;
	case J_NANOSLEEP:
		harm_result("nanosleep", nanosleep(&time, NULL));
		break;
	case J_COND:
		pthread_mutex_lock(&lock);
		harm_result("pthread_cond_wait", pthread_cond_wait(&condition, &lock));
		break;
	case J_MSGRCV:
		harm_result("msgrcv", msgrcv(msgget(IPC_PRIVATE, 0600), byte, 10, 0, 0));
		break;
	case J_JOIN:
		pthread_create(&thread, NULL, jump_sleep, NULL);
		pthread_join(thread, NULL);
		break;
	case J_PAUSE:
		harm_result("pause", pause());
		break;
	default:
		harm_result("usleep", usleep(900000));
	}
}

static void jump_main(long call)
{
	signal(SIGALRM, jump_handler);
	if (!sigsetjmp(with_mask, 1)) {
		harm_alarm(.05);
		jump_block(call);
		harm_say("was not interrupted\n");
	}
	for (int i = 0; i < 5; i++) {
		harm_compute(.01);
		harm_result("usleep", usleep(5000));
		harm_result("poll", poll(NULL, 0, 5));
	}
}

/* ---- handlers with large locals ---- */

static long large_bytes;

static void large_handler(int number UNUSED)
{
	volatile char *local = alloca((size_t)large_bytes);
	memset((void *)local, 1, (size_t)large_bytes);
	harm_say("handler has %ld bytes %d\n", large_bytes, local[large_bytes / 2]);
}

static void *large_thread(void *value UNUSED)
{
	harm_compute(TICKS);
	raise(SIGUSR1);
	return NULL;
}

static void large_main(long value)
{
	large_bytes = labs(value);
	struct sigaction action = { .sa_handler = large_handler, .sa_flags = SA_ONSTACK };
	sigaction(SIGUSR1, &action, NULL);
	harm_compute(TICKS);
	if (value < 0)
		harm_thread(large_thread, NULL, NULL);
	else
		raise(SIGUSR1);
}

/* ---- what sigaction() answers ---- */

static void answers_other(int number UNUSED)
{
}

static void answers_say(int number)
{
	struct sigaction now;
	if (sigaction(number, NULL, &now)) {
		harm_say("%d: %s\n", number, strerrorname_np(errno));
		return;
	}
	const char *handler = now.sa_handler == SIG_DFL         ? "default"
	                      : now.sa_handler == SIG_IGN       ? "ignored"
	                      : now.sa_handler == answers_other ? "own"
	                                                        : "another";
	if (now.sa_handler != SIG_DFL || now.sa_flags & ~0x04000000) {
		harm_say("%d: %s, flags %x\n", number, handler, (unsigned)now.sa_flags & ~0x04000000u);
		harm_say_set("  its mask", &now.sa_mask);
	}
}

static void answers_main(long value)
{
	harm_compute(value == 3 ? TICKS : 0);
	for (int i = 1; i <= 64; i++) {
		struct sigaction action = { .sa_handler = answers_other,
			                        .sa_flags = i % 2 ? SA_RESTART : SA_ONSTACK | SA_NODEFER };
		sigemptyset(&action.sa_mask);
		sigaddset(&action.sa_mask, i % 31 + 1);
		if (value == 1 && sigaction(i, &action, NULL))
			harm_say("%d: refused, %s\n", i, strerrorname_np(errno));
		if (value == 2)
			signal(i, i % 2 ? SIG_IGN : answers_other);
		answers_say(i);
	}
	harm_compute(TICKS);
	for (int i = 1; i <= 64; i++)
		answers_say(i);
}

/* What the mask is inside of a handler, and after it. */
static void inside_handler(int number)
{
	char where[32];
	snprintf(where, sizeof where, "handler of %d", number);
	harm_compute(.02);
	harm_say_mask(where);
	harm_execute("state", ".mask");
	if (number == SIGUSR1)
		raise(SIGUSR2);
}

static void inside_main(long value)
{
	static char stack[65536];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
	if (value & SA_ONSTACK)
		sigaltstack(&own, NULL);
	struct sigaction action = { .sa_handler = inside_handler, .sa_flags = (int)value };
	sigaddset(&action.sa_mask, SIGHUP);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	harm_compute(TICKS);
	raise(SIGUSR1);
}

static int order[16], orders;

static void order_handler(int number UNUSED, siginfo_t *info, void *more UNUSED)
{
	if (orders < 16)
		order[orders++] = info->si_value.sival_int;
}

static void order_main(long value UNUSED)
{
	struct sigaction action = { .sa_sigaction = order_handler, .sa_flags = SA_SIGINFO };
	sigset_t set;
	sigfillset(&action.sa_mask);
	sigemptyset(&set);
	for (int i = 0; i < 3; i++) {
		sigaction(SIGRTMIN + i, &action, NULL);
		sigaddset(&set, SIGRTMIN + i);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 9; i++) {
		harm_result("sigqueue", sigqueue(getpid(), SIGRTMIN + 2 - i % 3, (union sigval){ .sival_int = i }));
		harm_compute(.01);
	}
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	for (int i = 0; i < orders; i++)
		harm_say("value %d\n", order[i]);
}

static void interrupting_main(long value UNUSED)
{
	signal(SIGUSR1, answers_other);
	siginterrupt(SIGUSR1, 1);
	answers_say(SIGUSR1);
	siginterrupt(SIGUSR1, 0);
	answers_say(SIGUSR1);
	sigset(SIGUSR1, SIG_HOLD);
	harm_say_mask("SIG_HOLD");
	sigrelse(SIGUSR1);
	sighold(SIGUSR2);
	harm_say_mask("sighold");
	sigignore(SIGUSR2);
	answers_say(SIGUSR2);
}

#define LEAVE(name, by) \
	{ "leave a handler", name, leave_main, by }, \
	{ \
		"leave a handler", name ", SA_ONSTACK", leave_main, (by) + ON_STACK \
	}
#define JUMP(name, call) \
	{ \
		"leave a call", name, jump_main, call \
	}

const struct harm_program harm_handlers[] = {
	LEAVE("siglongjmp", SIGLONGJMP),
	LEAVE("longjmp", LONGJMP),
	LEAVE("_longjmp", PLAIN_LONGJMP),
	LEAVE("setcontext", SETCONTEXT),
	{ "leave a handler", "_longjmp, SA_NODEFER, SA_ONSTACK", leave_main, PLAIN_LONGJMP + ON_STACK + NODEFER },
	{ "leave a handler", "overflow, siglongjmp", leave_main, OVERFLOW + SIGLONGJMP + ON_STACK },
	{ "leave a handler", "overflow, _longjmp", leave_main, OVERFLOW + 10 * 2 + PLAIN_LONGJMP + ON_STACK },
	JUMP("read", J_READ),
	JUMP("poll", J_POLL),
	JUMP("select", J_SELECT),
	JUMP("sem_wait", J_SEM),
	JUMP("nanosleep", J_NANOSLEEP),
	JUMP("pthread_cond_wait", J_COND),
	JUMP("msgrcv", J_MSGRCV),
	JUMP("pthread_join", J_JOIN),
	JUMP("pause", J_PAUSE),
	JUMP("usleep", J_USLEEP),
	{ "large handler", "30 KB", large_main, 30000 },
	{ "large handler", "100 KB", large_main, 100000 },
	{ "large handler", "1 MB", large_main, 1000000 },
	{ "large handler", "4 MB", large_main, 4000000 },
	{ "large handler", "100 KB in a thread", large_main, -100000 },
	{ "large handler", "4 MB in a thread", large_main, -4000000 },
	{ "sigaction", "as at the start", answers_main, 0 },
	{ "sigaction", "after sigaction", answers_main, 1 },
	{ "sigaction", "after signal", answers_main, 2 },
	{ "sigaction", "after some time", answers_main, 3 },
	{ "sigaction", "sigset and others", interrupting_main, 0 },
	{ "inside a handler", "no flags", inside_main, 0 },
	{ "inside a handler", "SA_NODEFER", inside_main, SA_NODEFER },
	{ "inside a handler", "SA_ONSTACK", inside_main, SA_ONSTACK },
	{ "inside a handler", "SA_ONSTACK, SA_NODEFER", inside_main, SA_ONSTACK | SA_NODEFER },
	{ "inside a handler", "order of real-time signals", order_main, 0 },
	{ NULL, NULL, NULL, 0 },
};
