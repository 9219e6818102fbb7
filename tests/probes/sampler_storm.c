/*
 * Loaded before the sampler: its timers of CPU time, which fire at the scheduler's ticks, become timers of wall time
 * that fire every 60 to 120 us, at any instruction.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LEAST_NS 60000

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	static unsigned seed = 1;
	struct itimerspec often = { { 0, 0 }, { 0, 0 } };
	long given[6];
	va_list list;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	va_start(list, number);
	for (int i = 0; i < 6; i++)
		given[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_timer_create && given[0] == CLOCK_THREAD_CPUTIME_ID)
		given[0] = CLOCK_MONOTONIC;
	if (number == SYS_timer_settime && given[2]) {
		seed = seed * 1103515245 + 12345;
		often.it_interval.tv_nsec = often.it_value.tv_nsec = LEAST_NS + (long)(seed >> 8) % LEAST_NS;
		given[2] = (long)&often;
	}
	return next(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}
