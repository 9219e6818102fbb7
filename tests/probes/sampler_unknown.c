/*
 * A program that looks like an interpreter of Python 3.MINOR and uses the CPU for some seconds. The fields of this version are not
 * where dwell knows them, so that no frame of Python may be shown.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef FREE_THREADED
#define FREE_THREADED 0
#endif

uint64_t _PyRuntime[200];
void *PyGILState_GetThisThreadState(void);

void *PyGILState_GetThisThreadState(void)
{
	return _PyRuntime;
}

__attribute__((noinline)) static void work_on(double seconds)
{
	while (clock() < seconds * CLOCKS_PER_SEC)
		;
}

int main(int count, char **arguments)
{
	memcpy(_PyRuntime, "xdebugpy", 8);
	_PyRuntime[1] = 3u << 24 | MINOR << 16;
	_PyRuntime[2] = FREE_THREADED;
	puts("ready");
	fflush(stdout);
	work_on(count > 1 ? atof(arguments[1]) : 1);
	return 0;
}
