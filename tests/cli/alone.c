/*
 * What a process inherits from the one that started it, which signals it gets, and an end.
 *
 *     alone show FILE   writes what it inherits to the file, a line each: NAME VALUE
 *     alone receive     prints its pid, then a line for each signal: NUMBER VALUE; ends at the second SIGTERM
 *     alone die NUMBER  dies of a signal
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#define DESCRIPTORS 1024

extern char **environ;

static void print_signals(void)
{
	struct sigaction action;
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (sigaction(signal, NULL, &action) == 0 && (sigismember(&blocked, signal) || action.sa_handler == SIG_IGN))
			printf("signal_%d%s%s\n", signal, sigismember(&blocked, signal) ? " blocked" : "", action.sa_handler == SIG_IGN ? " ignored" : "");
}

static void print_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit = { 0, 0 };

		getrlimit(i, &limit);
		printf("limit_%d %llu %llu\n", i, (unsigned long long)limit.rlim_cur, (unsigned long long)limit.rlim_max);
	}
}

static void print_file(const char *name, const char *path)
{
	char text[256] = "";
	FILE *file = fopen(path, "r");

	if (file && fgets(text, sizeof text, file))
		text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	printf("%s %s\n", name, text);
}

/* Those that are closed by exec were not inherited. */
static void read_descriptors(int flags[DESCRIPTORS])
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		flags[fd] = fcntl(fd, F_GETFD) == 0 ? fcntl(fd, F_GETFL) : -1;
}

static void print_descriptors(const int flags[DESCRIPTORS])
{
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (flags[fd] >= 0)
			printf("fd_%d %x\n", fd, (unsigned)flags[fd]);
}

static void print_timers(void)
{
	for (int i = 0; i < 3; i++) {
		struct itimerval timer;

		getitimer(i, &timer);
		printf("timer_%d %d %ld\n", i, timer.it_value.tv_sec || timer.it_value.tv_usec, (long)timer.it_interval.tv_sec);
	}
}

/* Signals that are blocked are not handled one after the other, but stay until they are taken: none is lost in between. */
static int receive(void)
{
	siginfo_t info;
	sigset_t all;

	sigfillset(&all);
	sigdelset(&all, SIGTSTP);
	sigdelset(&all, SIGCHLD);
	sigprocmask(SIG_SETMASK, &all, NULL);
	printf("%d\n", getpid());
	for (int ends = 0; ends < 2;) {
		fflush(stdout);
		if (sigwaitinfo(&all, &info) < 0)
			continue;
		printf("%d %d\n", info.si_signo, info.si_code == SI_QUEUE ? info.si_value.sival_int : 0);
		ends += info.si_signo == SIGTERM;
	}
	return 0;
}

static int die(int signal)
{
	const struct rlimit some = { 1 << 16, 1 << 16 };
	sigset_t none;

	setrlimit(RLIMIT_CORE, &some);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	raise(signal);
	return 0;
}

static void print_process(void)
{
	mode_t mask = umask(0);
	char folder[4096];
	cpu_set_t cpus;
	int death = 0;

	umask(mask);
	sched_getaffinity(0, sizeof cpus, &cpus);
	prctl(PR_GET_PDEATHSIG, &death);
	printf("umask %o\nnice %d\ngroup %d\nsession %d\n", mask, getpriority(PRIO_PROCESS, 0), getpgrp() == getpid(), getsid(0) == getpid());
	printf("scheduler %d\ncpus %d\nio %ld\n", sched_getscheduler(0), CPU_COUNT(&cpus), syscall(SYS_ioprio_get, 1, 0));
	printf("death_signal %d\ndumpable %d\nslack %d\nprivileges %d\nsecurebits %d\n", death, prctl(PR_GET_DUMPABLE),
	       prctl(PR_GET_TIMERSLACK), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_SECUREBITS));
	print_file("oom", "/proc/self/oom_score_adj");
	print_file("personality", "/proc/self/personality");
	printf("folder %s\n", getcwd(folder, sizeof folder) ? folder : strerror(errno));
}

static int show(int count, char **arguments)
{
	int flags[DESCRIPTORS];
	char byte;
	ssize_t got;

	read_descriptors(flags);
	got = flags[0] < 0 ? -1 : read(0, &byte, 1);
	if (!freopen(arguments[2], "w", stdout))
		return 1;
	printf("arguments %d %s\nstdin %zd\n", count, arguments[0], got);
	print_descriptors(flags);
	print_signals();
	print_limits();
	print_timers();
	print_process();
	for (char **variable = environ; *variable; variable++)
		printf("variable_%s\n", *variable);
	return 7;
}

int main(int count, char **arguments)
{
	const char *word = count > 1 ? arguments[1] : "";

	if (strcmp(word, "show") == 0)
		return show(count, arguments);
	return strcmp(word, "die") == 0 ? die(atoi(arguments[2])) : receive();
}
