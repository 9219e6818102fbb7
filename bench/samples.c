/*
 * What a sample of a call stack costs, by depth: the handler's work without the kernel's part. Run it under
 * `dwell run --sample off`, so that no timer's signal is counted.
 *
 * With the word "gaps", for how long a thread is interrupted that does nothing but read the clock, 80 frames deep: by the
 * timer's signal with all of the kernel's part in it, and by the kernel's own ticks. Longer interruptions are other programs.
 */
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include <dwell/dwell.h>

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
			dws_sample(context, &stack, &(struct dws_kernel){ 0 }, 1);
		took = (now_ns() - began) / SAMPLES;
		best = took < best ? took : best;
	}
	return best;
}

#define GAP_NS 700       /* a reading of the clock takes less, also with a miss of the cache */
#define MOST_GAP_NS 30000
#define GAPS_NS 1500000000

static double cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static __attribute__((noinline)) void gaps(void)
{
	double all = 0, begin = cpu_ns(), end = begin + GAPS_NS, last;
	long count = 0;

	while (cpu_ns() < end) {
		last = now_ns();
		for (int i = 0; i < 100000; i++) {
			double now = now_ns(), took = now - last;

			if (took > GAP_NS && took < MOST_GAP_NS) {
				all += took;
				count++;
			}
			last = now;
		}
	}
	printf("interrupted for %.1f us a second of CPU time, %.0f times\n", all / 1e3 / ((cpu_ns() - begin) / 1e9),
	       (double)count / ((cpu_ns() - begin) / 1e9));
}

static double first_ns(const ucontext_t *context)
{
	double began = now_ns();

	dws_sample(context, &stack, &(struct dws_kernel){ 0 }, 1);
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
	else if (depth)
		measure(depth);
	else
		gaps();
	__asm__ volatile("" : : "r"(left) : "memory"); /* the call above is no jump */
}

int main(int words_count, char **words)
{
	const char *lacks = NULL;

	if (words_count > 1 && strcmp(words[1], "gaps") == 0) {
		descend(75, 0);
		return 0;
	}

	dws_cfi_prepare();
	dws_python_prepare(&lacks);
	stack.high = (uintptr_t)getauxval(AT_RANDOM) & ~(uintptr_t)15;
	stack.low = stack.high - STACK_BYTES;
	printf("a reading of the clock: %.1f ns\n", clock_ns());
	dwell_meta("bench", "samples"); /* opens the trace, and links the recorder */
	descend(3, 8);
	descend(3, 8);
	descend(15, 20);
	descend(75, 80);
	return 0;
}
