/*
 * Threads and processes whose CPU time samples can miss. Each kind uses a known amount, and main uses some by itself.
 *
 *     account_program KIND      prints the CPU time of the process in ns, by the kernel's account
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;
static volatile int done;

static long used_ns(clockid_t clock)
{
	struct timespec now;

	syscall(SYS_clock_gettime, clock, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

__attribute__((noinline)) static void burn_ms(long ms)
{
	long end = used_ns(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000;

	while (used_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 10000; i++)
			sum += i;
}

static void *short_thread(void *ms)
{
	burn_ms((long)ms);
	return NULL;
}

static void short_threads(void)
{
	for (int i = 0; i < 150; i++) {
		pthread_t thread;

		pthread_create(&thread, NULL, short_thread, (void *)8L);
		pthread_join(thread, NULL);
	}
}

static int c11_thread(void *ms)
{
	burn_ms((long)ms);
	return 0;
}

static void c11_threads(void)
{
	thrd_t thread;

	thrd_create(&thread, c11_thread, (void *)900L);
	thrd_join(thread, NULL);
}

/* It has no thread pointer of its own: nothing of libc may be called. */
static int raw_thread(void *unused)
{
	(void)unused;
	burn_ms(900);
	done = 1;
	syscall(SYS_exit, 0);
	return 0;
}

static void raw_threads(void)
{
	const size_t bytes = 1 << 20;
	char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	clone(raw_thread, stack + bytes, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM,
	      NULL);
	while (!done)
		usleep(1000);
}

/* By the kernel's call: libc keeps the signal of the sampler for itself, and never blocks it. */
static void blocked_signal(void)
{
	const unsigned long all = ~0ul;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof all);
	burn_ms(900);
}

/* Without samples, and without the end of a program. */
static void end_at_once(bool kill_it)
{
	burn_ms(300);
	blocked_signal();
	printf("%ld\n", used_ns(CLOCK_PROCESS_CPUTIME_ID));
	fflush(stdout);
	if (kill_it)
		kill(getpid(), SIGKILL);
	_exit(3);
}

static void child_ends(bool kill_it)
{
	pid_t child = fork();

	if (!child)
		end_at_once(kill_it);
	waitpid(child, NULL, 0);
	_exit(0);
}

static void forked(void)
{
	pid_t child = fork();

	if (!child) {
		burn_ms(900);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(int count, char **arguments)
{
	const char *kind = count > 1 ? arguments[1] : "";

	if (strcmp(kind, "again") == 0) {
		burn_ms(600);
	} else if (strcmp(kind, "kill") == 0 || strcmp(kind, "leave") == 0) {
		end_at_once(strcmp(kind, "kill") == 0);
	} else if (strcmp(kind, "kill child") == 0 || strcmp(kind, "leave child") == 0) {
		child_ends(strcmp(kind, "kill child") == 0);
	} else if (strcmp(kind, "kill later") == 0) {
		burn_ms(600);
		execl("/proc/self/exe", arguments[0], "kill", NULL);
	} else if (strcmp(kind, "exec") == 0) {
		burn_ms(600);
		execl("/proc/self/exe", arguments[0], "again", NULL);
	} else if (strcmp(kind, "short") == 0) {
		short_threads();
	} else if (strcmp(kind, "c11") == 0) {
		c11_threads();
	} else if (strcmp(kind, "raw") == 0) {
		raw_threads();
	} else if (strcmp(kind, "blocked") == 0) {
		blocked_signal();
	} else if (strcmp(kind, "fork") == 0) {
		forked();
	} else if (strcmp(kind, "plain") == 0) {
		burn_ms(900);
	}
	burn_ms(300);
	printf("%ld\n", used_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
