/*
 * How long a program prints to stdout: a library for LD_PRELOAD, for injected_figures.py. oneDNN prints
 * a line within each of its ITT tasks, and the task's time contains that.
 *
 * At the end of the program it writes the time and the number of prints to stderr.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static double printing_us;
static long printing_count;

static double printing_now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/* What printf() is in a program that was built with _FORTIFY_SOURCE. */
int __printf_chk(int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...)
{
	double from = printing_now_us();
	va_list list;
	int length;

	(void)flag;
	va_start(list, format);
	length = vprintf(format, list);
	va_end(list);
	printing_us += printing_now_us() - from;
	printing_count++;
	return length;
}

int fflush(FILE *file)
{
	static int (*next)(FILE *);
	double from = printing_now_us();
	int result;

	if (!next)
		next = (int (*)(FILE *))dlsym(RTLD_NEXT, "fflush");
	result = next(file);
	if (file == stdout)
		printing_us += printing_now_us() - from;
	return result;
}

__attribute__((destructor)) static void printing_end(void)
{
	if (printing_count > 1)
		fprintf(stderr, "printing: %.1f us in %ld lines\n", printing_us, printing_count);
}
