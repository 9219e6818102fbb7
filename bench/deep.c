/* Operators called 20 frames deep, for cost.c. This is a separate file because it is built with
 * frame pointers, like programs that want stacks. */
#include "deep.h"

#include "dwell/probe.h"

#define DEEP 16 /* in addition to the frames of the thread and the benchmark */

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

/* Two operators in turn, each with two call sites. */
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
