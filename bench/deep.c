/* Operators called 20 frames deep, for cost.c: a file of its own because it is built
 * with frame pointers, as programs that want stacks are. */
#include "deep.h"

#include "dwell/probe.h"

#define DEEP 16 /* and those of the thread and the benchmark around it */

static __attribute__((noinline)) void leaf(void)
{
	DWELL_OP("conv2d");
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) void other(void)
{
	DWELL_OP("relu");
	__asm__ volatile("" ::: "memory");
}

/* Two operators in turn, each called in two places. */
static __attribute__((noinline)) void down(int depth, long n)
{
	if (depth) {
		down(depth - 1, n);
		__asm__ volatile("" ::: "memory");
		return;
	}
	for (long i = 0; i < n; i += 4) {
		leaf();
		other();
		leaf();
		other();
	}
}

void deep_operators(long n)
{
	down(DEEP, n);
}
