/* Operators that a function begins, which is inlined into another one. For lines_test.py. */
#include <dwell/probe.h>

static inline __attribute__((always_inline)) void inner(void)
{
	DWELL_OP("work");
	for (volatile int i = 0; i < 1000; i++)
		;
}

__attribute__((noinline)) void outer(void)
{
	inner(); /* the line of the test */
	__asm__ volatile("");
}

int main(void)
{
	for (int i = 0; i < 3; i++)
		outer();
	return 0;
}
