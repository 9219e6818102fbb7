/*
 * What call stacks must survive and show. usage: sampler_program shares [ROUNDS] | kernel | signals | calls SECONDS | threads | waits
 * Each mode prints what it knows of itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static double cpu_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Each differs by a number: equal functions would become one. */
#define BURN(name, number)                                        \
	__attribute__((noinline)) static void name(double s)    \
	{                                                       \
		for (double end = cpu_s() + s; cpu_s() < end;)      \
			for (int i = 0; i < 20000; i++)                 \
				sink += i * (number);                       \
	}
BURN(burn_60, 60)
BURN(burn_30, 30)
BURN(burn_10, 10)

static int rounds = 20; /* of 50 ms of CPU time */

static void *shares(void *unused)
{
	for (int i = 0; i < rounds; i++) {
		burn_60(0.03);
		burn_30(0.015);
		burn_10(0.005);
	}
	return unused;
}

__attribute__((noinline)) static void *read_zeros(void *unused)
{
	static char bytes[1 << 20];
	int zero = open("/dev/zero", O_RDONLY);

	for (double end = cpu_s() + 0.8; cpu_s() < end;)
		for (int i = 0; i < 20; i++)
			sink += (double)read(zero, bytes, sizeof bytes);
	close(zero);
	return unused;
}

/* ---- signals ----------------------------------------------------------------------------- */

static volatile int own_signals, timer_signals;

static void on_signal(int number)
{
	*(number == SIGURG ? &own_signals : &timer_signals) += 1;
}

static void *wait_for_signal(void *unused)
{
	sigset_t all;
	int number = 0;

	burn_10(0.2);
	sigfillset(&all);
	sigwait(&all, &number);
	printf("sigwait %s\n", number == SIGUSR1 ? "right" : "wrong");
	return unused;
}

static void signals(void)
{
	const struct itimerval often = { { 0, 10000 }, { 0, 10000 } }, never = { { 0, 0 }, { 0, 0 } };
	struct sigaction action;
	sigset_t all, before;
	pthread_t thread;

	sigaction(SIGURG, NULL, &action);
	printf("at first %s\n", action.sa_handler == SIG_DFL ? "default" : "wrong");
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	pthread_create(&thread, NULL, wait_for_signal, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	usleep(500000);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	signal(SIGURG, on_signal);
	signal(SIGPROF, on_signal);
	setitimer(ITIMER_PROF, &often, NULL);
	burn_30(0.3);
	raise(SIGURG);
	setitimer(ITIMER_PROF, &never, NULL);
	sigaction(SIGURG, NULL, &action);
	printf("own %d, timer %s, handler %s\n", own_signals, timer_signals > 5 ? "many" : "few",
	       action.sa_handler == on_signal ? "kept" : "lost");
	for (int number = 1; number < 32; number++)
		if (number != SIGKILL && number != SIGSTOP)
			signal(number, SIG_DFL);
	burn_30(0.2);
	puts("alive");
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();
		int status = 1;

		if (!child) {
			burn_10(0.03);
			execlp("true", "true", NULL);
			_exit(1);
		}
		while (waitpid(child, &status, 0) < 0)
			;
		if (status)
			puts("a child failed");
	}
}

/* ---- calls that a signal may interrupt ------------------------------------------------------ */

static long calls, interrupted;

static void count(const char *name, int result, int error)
{
	calls++;
	if (result < 0 && error == EINTR) {
		interrupted++;
		printf("EINTR in %s\n", name);
	}
}
#define TRY(name, call) (errno = 0, count(name, (int)(call), errno))

static void call_all(int seconds)
{
	struct timespec end, now, ms = { 0, 300000 };
	struct epoll_event event = { .events = EPOLLIN };
	int pipes[2], sockets[2], epoll = epoll_create1(0);
	struct timeval wait = { 0, 1000 };
	sem_t semaphore;

	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
		return;
	sem_init(&semaphore, 0, 0);
	epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event);
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	do {
		struct pollfd fds = { pipes[0], POLLIN, 0 };
		struct timeval half = { 0, 500 };
		struct timespec until;
		fd_set in;
		char byte;

		burn_10(0.0004);
		TRY("poll", poll(&fds, 1, 1));
		burn_10(0.0003);
		TRY("nanosleep", nanosleep(&ms, NULL));
		FD_ZERO(&in);
		FD_SET(pipes[0], &in);
		burn_10(0.0002);
		TRY("select", select(pipes[0] + 1, &in, NULL, NULL, &half));
		burn_10(0.0002);
		TRY("epoll_wait", epoll_wait(epoll, &event, 1, 1));
		clock_gettime(CLOCK_REALTIME, &until);
		burn_10(0.0002);
		TRY("sem_timedwait", sem_timedwait(&semaphore, &until));
		burn_10(0.0002);
		TRY("recv", recv(sockets[0], &byte, 1, 0));
		TRY("usleep", usleep(300));
		TRY("write", write(pipes[1], "x", 1));
		TRY("read", read(pipes[0], &byte, 1));
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec);
	printf("%s calls, %ld interrupted\n", calls > 100 ? "many" : "few", interrupted);
}

/* ---- threads and waits -------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;

static void *nothing(void *unused)
{
	return unused;
}

static void *hold(void *unused)
{
	pthread_setname_np(pthread_self(), "keeper");
	while (!stop) {
		pthread_mutex_lock(&mutex);
		usleep(20000);
		pthread_mutex_unlock(&mutex);
		usleep(1000);
	}
	return unused;
}

__attribute__((noinline)) static void wait_for_lock(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	__asm__ volatile("");
}

__attribute__((noinline)) static void nap_often(void)
{
	for (int i = 0; i < 50; i++)
		usleep(200);
}

static int pipes[2];

static void *feed(void *unused)
{
	for (int i = 0; i < 15; i++) {
		usleep(20000);
		if (write(pipes[1], "x", 1) != 1)
			break;
	}
	close(pipes[1]);
	return unused;
}

__attribute__((noinline)) static void wait_for_data(void)
{
	char byte;

	while (read(pipes[0], &byte, 1) == 1)
		;
	__asm__ volatile("");
}

/* Uses the stack pointer as a register for data, as kernels that a library generates do. Prints how many bytes around
 * the place that it points to were written. */
static void *use_stack_pointer(void *unused)
{
#ifdef __x86_64__
	enum { BYTES = 1 << 16 };
	static unsigned char memory[2][BYTES];
	unsigned char *mine = memory[unused != NULL];
	int written = 0;

	for (int i = 0; i < 40; i++)
		__asm__ volatile("mov %%rsp, %%r12\n\tmov %0, %%rsp\n\tmov $20000000, %%rcx\n1:\tdec %%rcx\n\tjnz 1b\n\t"
		                 "mov %%r12, %%rsp" : : "r"(mine + BYTES / 2) : "rcx", "r12", "memory", "cc");
	for (int i = 0; i < BYTES; i++)
		written += mine[i] != 0;
	printf("%d\n", written);
#endif
	return unused;
}

int main(int count_of, char **arguments)
{
	const char *mode = count_of > 1 ? arguments[1] : "";
	pthread_t thread;

	if (strcmp(mode, "shares") == 0) {
		rounds = count_of > 2 ? atoi(arguments[2]) : rounds;
		pthread_create(&thread, NULL, shares, NULL);
		shares(NULL);
		pthread_join(thread, NULL);
	} else if (strcmp(mode, "kernel") == 0) {
		pthread_create(&thread, NULL, read_zeros, NULL);
		read_zeros(NULL);
		pthread_join(thread, NULL);
	} else if (strcmp(mode, "signals") == 0) {
		signals();
	} else if (strcmp(mode, "calls") == 0) {
		call_all(atoi(arguments[2]));
	} else if (strcmp(mode, "threads") == 0) {
		for (int i = 0; i < 20000; i++)
			if (!pthread_create(&thread, NULL, nothing, NULL))
				pthread_join(thread, NULL);
		burn_60(0.1);
	} else if (strcmp(mode, "pointer") == 0) {
		use_stack_pointer(NULL);
		pthread_create(&thread, NULL, use_stack_pointer, &thread);
		pthread_join(thread, NULL);
	} else if (strcmp(mode, "waits") == 0) {
		pthread_create(&thread, NULL, hold, NULL);
		for (int i = 0; i < 30; i++) {
			wait_for_lock();
			nap_often();
		}
		stop = 1;
		pthread_join(thread, NULL);
		if (pipe(pipes) == 0 && !pthread_create(&thread, NULL, feed, NULL)) {
			wait_for_data();
			pthread_join(thread, NULL);
		}
	}
	return 0;
}
