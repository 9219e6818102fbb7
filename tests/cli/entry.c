/*
 * A program whose functions become steps by dwell run --step-on. Each mode ends with 0 if all arguments arrived.
 *
 *   args     20 calls, with arguments in all kinds of registers; all signals are blocked
 *   jump     20 calls, of which every third is left by longjmp()
 *   threads  four threads make 50 calls each at the same time
 *   fork     5 calls, then 7 in the child
 *   exec     5 calls, then "args" in a new program
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile double sum;
static volatile int wrong;
static jmp_buf back;

static NOINLINE double inner(double a, int count)
{
	for (int i = 0; i < count; i++)
		sum += a * i;
	return sum;
}

NOINLINE double train_step(long a, long b, long c, long d, long e, long f, double g, float h, double i, double j, double k,
                           double l, double m, double n, long o)
{
	double before = inner(g, 1000);

	wrong |= a != 1 || b != 2 || c != 3 || d != 4 || e != 5 || f != 6 || g != 7 || h != 8 || i != 9 || j != 10 || k != 11 ||
	         l != 12 || m != 13 || n != 14 || o < 15;
	if (o == 16)
		longjmp(back, 1);
	return inner(j, 10) - before;
}

NOINLINE double with_list(int count, ...)
{
	double total = 0;
	va_list list;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		total += va_arg(list, double);
	va_end(list);
	inner(total, 10);
	return total;
}

static NOINLINE int counted(int add)
{
	static int count;

	return count += add;
}

/* It begins with a call. */
NOINLINE double first_calls(int add)
{
	return counted(add) + 0.5;
}

/* Its first call is the begin of a loop. */
NOINLINE void loops_to_call(void)
{
	do
		sum += counted(0);
	while (sum < 0);
}

/* Its first instructions jump. */
NOINLINE int first_jumps(int count)
{
	int total = 0;

	while (count > 0)
		total += count-- ^ total;
	return total;
}

#if defined __x86_64__ && defined __GNUC__
typedef double wide __attribute__((vector_size(32)));

__attribute__((target("avx"))) NOINLINE wide with_vectors(wide a, wide b)
{
	inner(1, 10);
	return a + b;
}

__attribute__((target("avx"))) static int vectors(void)
{
	for (int i = 0; i < 20 && __builtin_cpu_supports("avx"); i++) {
		wide got = with_vectors((wide){ 1, 2, 3, 4 }, (wide){ 10, 20, 30, i });

		wrong |= got[0] != 11 || got[1] != 22 || got[2] != 33 || got[3] != 4 + i;
	}
	return wrong;
}
#else
static int vectors(void)
{
	return 0;
}
#endif

static void call(long last)
{
	train_step(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, last);
}

static void *calls(void *argument)
{
	for (int i = 0; i < 50; i++)
		call(15);
	return argument;
}

static void args(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int i = 0; i < 20; i++) {
		call(15);
		wrong |= with_list(3, 1.0, 2.0, (double)i) != 3 + i;
		wrong |= first_jumps(3) < 0;
		wrong |= first_calls(1) != i + 1.5;
		loops_to_call();
	}
}

static void jump(void)
{
	for (volatile int i = 0; i < 20; i++)
		if (!setjmp(back))
			call(i % 3 ? 15 : 16);
}

static void threads(void)
{
	pthread_t all[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&all[i], NULL, calls, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(all[i], NULL);
}

static void children(void)
{
	int status = 0;
	pid_t child;

	for (int i = 0; i < 5; i++)
		call(15);
	child = fork();
	for (int i = 0; !child && i < 7; i++)
		call(15);
	if (!child)
		exit(wrong);
	waitpid(child, &status, 0);
	wrong |= status != 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "args") == 0)
		args();
	if (strcmp(mode, "vectors") == 0)
		vectors();
	if (strcmp(mode, "jump") == 0)
		jump();
	if (strcmp(mode, "threads") == 0)
		threads();
	if (strcmp(mode, "fork") == 0)
		children();
	if (strcmp(mode, "exec") == 0) {
		for (int i = 0; i < 5; i++)
			call(15);
		execl("/proc/self/exe", argv[0], "args", (char *)NULL);
	}
	return wrong;
}
