/*
 * What a sample of a call stack costs, by depth: the handler's work without the kernel's part. Run it under
 * `dwell run --sample off`, so that no timer's signal is counted.
 */
#include <stdio.h>
#include <sys/auxv.h>
#include <time.h>

#include "../probes/sampler/sampler.h"

#define ROUNDS 40
#define SAMPLES 2000
#define STACK_BYTES ((uintptr_t)8 << 20)

static struct dws_stack stack;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double clock_ns(void)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double began = now_ns(), took;

		for (int i = 0; i < SAMPLES; i++)
			(void)now_ns();
		took = (now_ns() - began) / SAMPLES;
		best = took < best ? took : best;
	}
	return best;
}

static double fastest_ns(const ucontext_t *context)
{
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double began = now_ns(), took;

		for (int i = 0; i < SAMPLES; i++)
			dws_sample(context, &stack, 1);
		took = (now_ns() - began) / SAMPLES;
		best = took < best ? took : best;
	}
	return best;
}

static double first_ns(const ucontext_t *context)
{
	double began = now_ns();

	dws_sample(context, &stack, 1);
	return now_ns() - began;
}

static void measure(int depth)
{
	ucontext_t context;
	double first;

	getcontext(&context);
	first = first_ns(&context);
	printf("a sample, %d frames deep: %.0f ns, %.0f us for a new stack\n", depth, fastest_ns(&context), first / 1000);
}

/* Calls itself, so that the stack is `left` frames deeper. */
static __attribute__((noinline)) void descend(int left, int depth)
{
	if (left)
		descend(left - 1, depth);
	else
		measure(depth);
	__asm__ volatile("" : : "r"(left) : "memory"); /* the call above is no jump */
}

int main(void)
{
	const char *lacks = NULL;

	dws_cfi_prepare();
	dws_python_prepare(&lacks);
	stack.high = (uintptr_t)getauxval(AT_RANDOM) & ~(uintptr_t)15;
	stack.low = stack.high - STACK_BYTES;
	printf("a reading of the clock: %.1f ns\n", clock_ns());
	descend(3, 8); /* the first: it opens the trace */
	descend(3, 8);
	descend(15, 20);
	descend(75, 80);
	return 0;
}
