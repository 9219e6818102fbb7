/* Signals that are blocked, waited for and pending, and SIGURG in a program of its own. */
#define _GNU_SOURCE
#include "harm.h"
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>

enum { SIGSUSPEND, PPOLL, PSELECT, EPOLL_PWAIT, EPOLL_PWAIT2, SIGWAIT, SIGWAITINFO, SIGTIMEDWAIT, SIGNALFD };
enum { FOR_ALARM = 100 };

static long masked_call(int call, const sigset_t *wait, double seconds)
{
	struct timespec time = harm_time(seconds);
	struct epoll_event event;
	siginfo_t info;
	sigset_t all;
	sigfillset(&all);
	int number = 0, epoll = epoll_create1(0);
	switch (call) {
	case SIGSUSPEND:
		return sigsuspend(wait);
	case PPOLL:
		return ppoll(NULL, 0, &time, wait);
	case PSELECT:
		return pselect(0, NULL, NULL, NULL, &time, wait);
	case EPOLL_PWAIT:
		return epoll_pwait(epoll, &event, 1, (int)(seconds * 1000), wait);
	case EPOLL_PWAIT2:
		return epoll_pwait2(epoll, &event, 1, &time, wait);
	case SIGWAIT:
		return sigwait(&all, &number) ? -1 : number;
	case SIGWAITINFO:
		return sigwaitinfo(&all, &info);
	case SIGTIMEDWAIT:
		return sigtimedwait(&all, &info, &time);
	default:
		return -2;
	}
}

/* All signals are blocked while the program computes. Then it waits with a mask that permits SIGALRM only, or all
 * signals. */
static void masked_wait(long value)
{
	bool for_alarm = value >= FOR_ALARM;
	sigset_t wait;
	harm_block_all();
	harm_compute(TICKS);
	sigemptyset(&wait);
	if (for_alarm) {
		harm_handle(SIGALRM, 0);
		sigfillset(&wait);
		sigdelset(&wait, SIGALRM);
	}
	double begin = harm_now();
	if (for_alarm)
		harm_alarm(.1);
	long result = masked_call(value % FOR_ALARM, &wait, for_alarm ? 3 : .1);
	harm_result("wait", result);
	harm_say("waited long enough %d, alarms %d\n", harm_now() - begin > .08, harm_seen[SIGALRM]);
}

/* Many short waits, each after some computation. */
static void masked_loop(long value)
{
	sigset_t wait;
	int other = 0;
	harm_block_all();
	sigemptyset(&wait);
	for (int i = 0; i < 20; i++) {
		harm_compute(.005);
		long result = masked_call((int)value, &wait, .003);
		other += value == SIGTIMEDWAIT ? !(result < 0 && errno == EAGAIN) : result != 0;
	}
	harm_say("not what was asked for: %d of 20\n", other);
}

static void *masked_thread(void *value)
{
	masked_loop((long)value);
	return NULL;
}

static void masked_in_thread(long value)
{
	harm_thread(masked_thread, (void *)value, NULL);
}

static void masked_signalfd(long value)
{
	sigset_t set;
	struct signalfd_siginfo info[8];
	harm_block_all();
	sigfillset(&set);
	int fd = signalfd(-1, &set, SFD_NONBLOCK), count = 0, urgent = 0;
	if (value)
		harm_alarm(.05);
	harm_compute(.1);
	struct pollfd wait = { fd, POLLIN, 0 };
	harm_result("poll", poll(&wait, 1, value ? 1000 : 100));
	for (ssize_t size; (size = read(fd, info, sizeof info)) > 0;)
		for (size_t i = 0; i < (size_t)size / sizeof *info; i++) {
			count += info[i].ssi_signo == SIGALRM;
			urgent += info[i].ssi_signo != SIGALRM;
		}
	harm_say("alarms %d, others %d\n", count, urgent);
}

static void masked_pause(long value)
{
	if (value) {
		sigset_t set;
		sigfillset(&set);
		sigdelset(&set, SIGALRM);
		sigprocmask(SIG_SETMASK, &set, NULL);
	}
	harm_handle(SIGALRM, 0);
	harm_compute(TICKS);
	double begin = harm_now();
	harm_alarm(.1);
	harm_result("pause", pause());
	harm_say("waited long enough %d, alarms %d\n", harm_now() - begin > .08, harm_seen[SIGALRM]);
}

static void *pending_thread(void *value UNUSED)
{
	harm_block_all();
	harm_compute(TICKS);
	harm_say_mask("a thread");
	return NULL;
}

static void pending_child(long value UNUSED)
{
	harm_compute(TICKS);
	harm_say_mask("a child");
}

static void pending_look(long value)
{
	harm_block_all();
	harm_compute(TICKS);
	if (value == 1)
		harm_thread(pending_thread, NULL, NULL);
	if (value == 2)
		harm_child("a child", pending_child, 0);
	if (value == 3) {
		sigset_t all;
		sigfillset(&all);
		struct timespec none = { 0, 0 };
		harm_result("sigtimedwait", sigtimedwait(&all, NULL, &none));
	}
	if (value == 4) { /* a signal that is pending when all are permitted */
		harm_handle(SIGUSR1, 0);
		raise(SIGUSR1);
		harm_say_mask("before");
		sigset_t none;
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		harm_say("SIGUSR1 %d, code %d\n", harm_seen[SIGUSR1], harm_code[SIGUSR1]);
	}
	harm_say_mask("main");
}

/* ---- SIGURG ---- */

enum { BY_SIGACTION, BY_SIGNAL, BY_SIGSET, BY_SYSV, BY_SSIGNAL, BY_NODEFER, BY_RESETHAND, BY_ONSTACK, BY_IGNORE };
static volatile sig_atomic_t plain_seen;
extern void (*__sysv_signal(int, void (*)(int)))(int);

static void urgent_count(int number UNUSED)
{
	plain_seen++;
}

static const char *urgent_name(void (*handler)(int))
{
	return handler == SIG_DFL        ? "default"
	       : handler == SIG_IGN      ? "ignored"
	       : handler == urgent_count ? "own"
	                                 : "another";
}

static void urgent_install(long value)
{
	struct sigaction action = { .sa_handler = urgent_count };
	static char stack[65536];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof stack };
	switch (value) {
	case BY_SIGNAL:
		harm_say("signal: %s\n", urgent_name(signal(SIGURG, urgent_count)));
		return;
	case BY_SIGSET:
		harm_say("sigset: %s\n", urgent_name(sigset(SIGURG, urgent_count)));
		return;
	case BY_SYSV:
		harm_say("sysv_signal: %s\n", urgent_name(__sysv_signal(SIGURG, urgent_count)));
		return;
	case BY_SSIGNAL:
		harm_say("ssignal: %s\n", urgent_name(ssignal(SIGURG, urgent_count)));
		return;
	case BY_NODEFER:
		action.sa_flags = SA_NODEFER;
		break;
	case BY_RESETHAND:
		action.sa_flags = SA_RESETHAND;
		break;
	case BY_ONSTACK:
		sigaltstack(&own, NULL);
		action.sa_flags = SA_ONSTACK;
		break;
	case BY_IGNORE:
		action.sa_handler = SIG_IGN;
		break;
	default:
		break;
	}
	harm_result("sigaction", sigaction(SIGURG, &action, NULL));
}

static void urgent_handled(long value)
{
	urgent_install(value);
	harm_compute(TICKS * 2);
	harm_say("without a signal: %d\n", plain_seen);
	raise(SIGURG);
	harm_say("after one: %d\n", plain_seen);
	harm_compute(TICKS);
	kill(getpid(), SIGURG);
	pthread_kill(pthread_self(), SIGURG);
	harm_compute(TICKS);
	harm_say("after three: %d\n", plain_seen);
	struct sigaction now;
	sigaction(SIGURG, NULL, &now);
	harm_say("now %s, flags %x\n", urgent_name(now.sa_handler), (unsigned)now.sa_flags & ~0x04000000u);
	harm_say("signal: %s\n", urgent_name(signal(SIGURG, SIG_DFL)));
	raise(SIGURG);
	harm_compute(TICKS);
	harm_say("after the default: %d\n", plain_seen);
}

static void urgent_codes(long value)
{
	harm_handle(SIGURG, value ? SA_RESTART : 0);
	harm_compute(TICKS);
	sigqueue(getpid(), SIGURG, (union sigval){ .sival_int = 42 });
	harm_say("seen %d code %d value %d\n", harm_seen[SIGURG], harm_code[SIGURG], harm_value[SIGURG]);
	kill(getpid(), SIGURG);
	harm_say("seen %d code %d\n", harm_seen[SIGURG], harm_code[SIGURG]);
	raise(SIGURG);
	harm_say("seen %d code %d\n", harm_seen[SIGURG], harm_code[SIGURG]);
}

/* Data out of band: the kernel sends SIGURG to the owner of the socket. */
static void urgent_data(long value)
{
	int listening = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof address;
	bind(listening, (struct sockaddr *)&address, size);
	listen(listening, 1);
	getsockname(listening, (struct sockaddr *)&address, &size);
	connect(client, (struct sockaddr *)&address, size);
	int accepted = accept(listening, NULL, NULL);
	if (value)
		harm_handle(SIGURG, SA_RESTART);
	fcntl(accepted, F_SETOWN, getpid());
	for (int i = 0; i < 3; i++) {
		char byte = 0;
		harm_compute(.02);
		send(client, "!", 1, MSG_OOB);
		for (int k = 0; k < 200 && harm_seen[SIGURG] <= i && value; k++)
			usleep(2000);
		usleep(20000);
		harm_result("recv", recv(accepted, &byte, 1, MSG_OOB));
		harm_say("byte %c, signals %d\n", byte, harm_seen[SIGURG]);
	}
}

static void urgent_signalfd(long value)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_NONBLOCK);
	struct signalfd_siginfo info;
	harm_compute(TICKS * 2);
	harm_result("read", read(fd, &info, sizeof info));
	if (value)
		sigqueue(getpid(), SIGURG, (union sigval){ .sival_int = 5 });
	if (value && read(fd, &info, sizeof info) > 0)
		harm_say("code %d value %d\n", info.ssi_code, info.ssi_int);
	harm_result("read", read(fd, &info, sizeof info));
}

static void urgent_wait(long value)
{
	sigset_t set;
	siginfo_t info;
	sigemptyset(&set);
	sigaddset(&set, SIGURG);
	sigprocmask(SIG_BLOCK, &set, NULL);
	harm_compute(TICKS * 2);
	struct timespec time = harm_time(.05);
	harm_result("sigtimedwait", sigtimedwait(&set, &info, &time));
	if (value) {
		kill(getpid(), SIGURG);
		harm_result("sigwaitinfo", sigwaitinfo(&set, &info));
		harm_say("code %d\n", info.si_code);
	}
}

#define BOTH(name, call) \
	{ "masked", name " alone", masked_wait, call }, \
	{ \
		"masked", name " for SIGALRM", masked_wait, FOR_ALARM + (call) \
	}
#define LOOP(name, call) \
	{ "masked loop", name, masked_loop, call }, \
	{ \
		"masked loop", name " in a thread", masked_in_thread, call \
	}

const struct harm_program harm_signals[] = {
	BOTH("ppoll", PPOLL),
	BOTH("pselect", PSELECT),
	BOTH("epoll_pwait", EPOLL_PWAIT),
	BOTH("epoll_pwait2", EPOLL_PWAIT2),
	{ "masked", "sigsuspend for SIGALRM", masked_wait, FOR_ALARM + SIGSUSPEND },
	{ "masked", "sigwait for SIGALRM", masked_wait, FOR_ALARM + SIGWAIT },
	{ "masked", "sigwaitinfo for SIGALRM", masked_wait, FOR_ALARM + SIGWAITINFO },
	BOTH("sigtimedwait", SIGTIMEDWAIT),
	{ "masked", "signalfd alone", masked_signalfd, 0 },
	{ "masked", "signalfd for SIGALRM", masked_signalfd, 1 },
	{ "masked", "pause", masked_pause, 0 },
	{ "masked", "pause, others blocked", masked_pause, 1 },
	LOOP("ppoll", PPOLL),
	LOOP("pselect", PSELECT),
	LOOP("epoll_pwait", EPOLL_PWAIT),
	LOOP("sigtimedwait", SIGTIMEDWAIT),
	{ "pending", "main", pending_look, 0 },
	{ "pending", "a thread", pending_look, 1 },
	{ "pending", "a child", pending_look, 2 },
	{ "pending", "sigtimedwait", pending_look, 3 },
	{ "pending", "SIGUSR1", pending_look, 4 },
	{ "SIGURG", "sigaction", urgent_handled, BY_SIGACTION },
	{ "SIGURG", "signal", urgent_handled, BY_SIGNAL },
	{ "SIGURG", "sigset", urgent_handled, BY_SIGSET },
	{ "SIGURG", "sysv_signal", urgent_handled, BY_SYSV },
	{ "SIGURG", "ssignal", urgent_handled, BY_SSIGNAL },
	{ "SIGURG", "SA_NODEFER", urgent_handled, BY_NODEFER },
	{ "SIGURG", "SA_RESETHAND", urgent_handled, BY_RESETHAND },
	{ "SIGURG", "SA_ONSTACK", urgent_handled, BY_ONSTACK },
	{ "SIGURG", "ignored", urgent_handled, BY_IGNORE },
	{ "SIGURG", "codes", urgent_codes, 0 },
	{ "SIGURG", "codes, SA_RESTART", urgent_codes, 1 },
	{ "SIGURG", "data out of band", urgent_data, 1 },
	{ "SIGURG", "data out of band, no handler", urgent_data, 0 },
	{ "SIGURG", "signalfd", urgent_signalfd, 0 },
	{ "SIGURG", "signalfd and sigqueue", urgent_signalfd, 1 },
	{ "SIGURG", "sigtimedwait", urgent_wait, 0 },
	{ "SIGURG", "sigwaitinfo", urgent_wait, 1 },
	{ NULL, NULL, NULL, 0 },
};
