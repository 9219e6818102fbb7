/*
 * Programs of C that use stacks, signals, threads and processes in ways that few do. usage: odd MODE
 * Each mode prints what it knows of itself, and works in a function of the mode's name, if anywhere.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile double sink;

static double cpu_s(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static inline __attribute__((always_inline)) void burn(double s)
{
	for (double end = cpu_s() + s; cpu_s() < end;)
		for (int i = 0; i < 20000; i++)
			sink += i;
}

/* Memory that ends a program that writes below it. */
static char *guarded(size_t bytes)
{
	char *memory = mmap(NULL, bytes + 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + 65536, bytes, PROT_READ | PROT_WRITE) != 0)
		abort();
	return memory + 65536;
}

/* ---- coroutines on small stacks --------------------------------------------------------------- */

enum { COROUTINES = 50, ROUNDS = 20, SMALL = 16384 };
static ucontext_t scheduler, coroutines[COROUTINES];
static int running;

static NOINLINE void context(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		burn(0.0004);
		swapcontext(&coroutines[running], &scheduler);
	}
}

static void contexts(void)
{
	for (int i = 0; i < COROUTINES; i++) {
		getcontext(&coroutines[i]);
		coroutines[i].uc_stack.ss_sp = guarded(SMALL);
		coroutines[i].uc_stack.ss_size = SMALL;
		coroutines[i].uc_link = &scheduler;
		makecontext(&coroutines[i], context, 0);
	}
	for (int round = 0; round <= ROUNDS; round++)
		for (running = 0; running < COROUTINES; running++)
			swapcontext(&scheduler, &coroutines[running]);
	puts("all coroutines ended");
}

/* ---- alternate signal stacks ----------------------------------------------------------------------- */

static sigjmp_buf back;
static int caught;

static NOINLINE void altstack(int number)
{
	(void)number;
	caught++;
	burn(0.05);
}

static void on_overflow(int number)
{
	(void)number;
	siglongjmp(back, 1);
}

static NOINLINE int overflow(int depth)
{
	volatile char bytes[4096];

	bytes[0] = (char)depth;
	return overflow(depth + 1) + bytes[0];
}

/* A stack of signal handlers that is as small as it may be for a signal's frame and some calls. */
static void *altstacks(void *unused)
{
	stack_t mine = { .ss_size = 8192 };

	mine.ss_sp = guarded(mine.ss_size);
	if (sigaltstack(&mine, NULL) != 0)
		abort();
	for (int i = 0; i < 5; i++) {
		raise(SIGUSR1);
		burn(0.05);
	}
	for (int i = 0; i < 5; i++)
		if (!sigsetjmp(back, 1))
			overflow(0);
		else
			caught++;
	sigaltstack(NULL, &mine);
	printf("stack of %zu bytes, %d caught\n", mine.ss_size, caught);
	return unused;
}

static void altstack_users(void)
{
	struct sigaction action = { .sa_handler = altstack, .sa_flags = SA_ONSTACK };
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = on_overflow;
	sigaction(SIGSEGV, &action, NULL);
	altstacks(NULL);
	pthread_create(&thread, NULL, altstacks, NULL);
	pthread_join(thread, NULL);
}

/* ---- handlers that do not return ---------------------------------------------------------------------- */

static void end_thread(int number)
{
	(void)number;
	pthread_exit((void *)7);
}

static NOINLINE void *leave(void *number)
{
	burn(0.02);
	raise((int)(long)number);
	return NULL;
}

static void jump(int number)
{
	(void)number;
	longjmp(back, 1); /* the signal stays blocked, and no other one */
}

static void leavers(void)
{
	static const int numbers[] = { SIGUSR1, SIGURG };
	sigset_t set;
	int ended = 0;

	for (int i = 0; i < 40; i++) {
		void *result = NULL;
		pthread_t thread;

		signal(numbers[i % 2], end_thread);
		pthread_create(&thread, NULL, leave, (void *)(long)numbers[i % 2]);
		pthread_join(thread, &result);
		ended += result == (void *)7;
	}
	signal(SIGURG, jump);
	if (!setjmp(back))
		raise(SIGURG);
	pthread_sigmask(SIG_BLOCK, NULL, &set);
	printf("%d threads ended in a handler; blocked:", ended);
	for (int number = 1; number < 32; number++)
		if (sigismember(&set, number))
			printf(" %d", number);
	puts("");
}

/* ---- processes ---------------------------------------------------------------------------------------- */

static NOINLINE void *vforks(void *unused)
{
	int good = 0, status;

	for (int i = 0; i < 30; i++) {
		pid_t child = vfork();

		if (!child) {
			usleep(100);
			if (i % 2)
				_exit(3);
			execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
			_exit(1);
		}
		burn(0.002);
		good += waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3;
	}
	printf("%d children ended as they should\n", good);
	return unused;
}

static void vfork_in_two(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, vforks, NULL);
	vforks(NULL);
	pthread_join(thread, NULL);
}

static NOINLINE void execs(char **arguments)
{
	int left = arguments[2] ? atoi(arguments[2]) : 300;
	char text[16];

	burn(0.001);
	if (!left) {
		puts("the last one");
		exit(5);
	}
	snprintf(text, sizeof text, "%d", left - 1);
	execl(arguments[0], arguments[0], arguments[1], text, (char *)NULL);
	abort();
}

/* ---- many threads, deep stacks --------------------------------------------------------------------------- */

enum { CROWD = 10000 };
static pthread_barrier_t together;

static NOINLINE void *crowd(void *unused)
{
	sink += 1;
	pthread_barrier_wait(&together);
	return unused;
}

static void crowds(void)
{
	static pthread_t threads[CROWD];
	pthread_attr_t attributes;
	int made = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 32768);
	pthread_barrier_init(&together, NULL, CROWD + 1);
	while (made < CROWD && !pthread_create(&threads[made], &attributes, crowd, NULL))
		made++;
	printf("%d threads\n", made);
	if (made < CROWD)
		exit(0);
	pthread_barrier_wait(&together);
	for (int i = 0; i < CROWD; i++)
		pthread_join(threads[i], NULL);
	burn(0.3);
}

static NOINLINE void deep(void)
{
	burn(0.3);
}

/* A megabyte of stack in 20,000 frames, then one frame of a megabyte. */
static NOINLINE int descend(int left)
{
	volatile char bytes[1 << 20];
	int result;

	if (left) {
		result = descend(left - 1);
		__asm__ volatile("" : : "r"(left) : "memory");
		return result + 1;
	}
	bytes[0] = 1;
	deep();
	return bytes[0];
}

static NOINLINE int descend_small(int left)
{
	int result = left ? descend_small(left - 1) : descend(3);

	__asm__ volatile("" : : "r"(left) : "memory");
	return result + 1;
}

/* ---- a sandbox ----------------------------------------------------------------------------------------------- */

/* Becomes the program in a sandbox that refuses timers, as some of containers and browsers do. */
static void refuse(char **command)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_create, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof rules / sizeof *rules, rules };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		exit(77);
	execvp(*command, command);
	exit(1);
}

/* Without a system call but those that strict mode permits. */
static NOINLINE void in_sandbox(void)
{
	for (long i = 0; i < 30000000; i++)
		sink += (double)i;
}

static volatile int is_outside, left_sandbox;

static void *outside(void *unused)
{
	is_outside = 1;
	while (!left_sandbox)
		in_sandbox();
	puts("the other thread ends the process");
	exit(5);
	return unused;
}

/* What a library of sandboxes asks first; then strict mode, and work. By `call`, as libseccomp does it. */
static void strict(int by_call)
{
	static const char text[] = "worked in strict mode\n";
	pthread_t thread;

	burn(0.2);
	if (!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) || errno != EFAULT || !syscall(SYS_seccomp, 77, 0, NULL) || errno != EINVAL)
		exit(78);
	pthread_create(&thread, NULL, outside, NULL);
	while (!is_outside)
		usleep(100);
	if (by_call ? syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL) : prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		exit(77);
	in_sandbox();
	if (write(1, text, sizeof text - 1) < 0)
		syscall(SYS_exit, 1);
	left_sandbox = 1;
	syscall(SYS_exit, 0);
}

/* A sandbox that ends the process at a call that it does not name. */
static void strict_filter(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof rules / sizeof *rules, rules };
	pthread_t thread;

	burn(0.2);
	pthread_create(&thread, NULL, outside, NULL);
	while (!is_outside)
		usleep(100);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		exit(77);
	in_sandbox();
	if (write(1, "filtered\n", 9) < 0)
		_exit(1);
	_exit(6);
}

static NOINLINE void work(void)
{
	burn(0.3);
	puts("worked");
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "";

	if (strcmp(mode, "context") == 0)
		contexts();
	else if (strcmp(mode, "altstack") == 0)
		altstack_users();
	else if (strcmp(mode, "leave") == 0)
		leavers();
	else if (strcmp(mode, "vforks") == 0)
		vfork_in_two();
	else if (strcmp(mode, "execs") == 0)
		execs(arguments);
	else if (strcmp(mode, "crowd") == 0)
		crowds();
	else if (strcmp(mode, "deep") == 0)
		printf("%d frames\n", descend_small(20000));
	else if (strcmp(mode, "strict") == 0)
		strict(count > 2);
	else if (strcmp(mode, "filter") == 0)
		strict_filter();
	else if (strcmp(mode, "refuse") == 0)
		refuse(arguments + 2);
	else
		work();
	return 0;
}
