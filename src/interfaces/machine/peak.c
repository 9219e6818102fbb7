/* Measures the peak of this machine's cores in FLOP/s; see peak.h. */
#include "machine/peak.h"

#include <pthread.h>

#include "base/system/clock.h"
#include "base/system/limits.h"

#define ROUNDS 6          /* the fastest round counts */
#define ROUND_NS 7e6
#define LOOPS 2000        /* between two readings of the clock */
#define CHAINS 12         /* enough to hide the latency of an addition */
#define MOST_THREADS 1024

/* Computes CHAINS sums in registers for LOOPS rounds. The result depends on all sums, so the
 * compiler cannot remove them. */
#define PEAK_LOOP(name, attributes, width)                                                   \
	typedef float name##_vector __attribute__((vector_size(width)));                         \
	attributes static float name(void)                                                       \
	{                                                                                        \
		name##_vector a = { 0 }, b = a, c = a, d = a, e = a, f = a, g = a, h = a, i = a,     \
		              j = a, k = a, l = a, scale = a + 0.999f, add = a + 0.001f;             \
                                                                                             \
		for (int n = 0; n < LOOPS; n++) {                                                    \
			a = a * scale + add, b = b * scale + add, c = c * scale + add;                   \
			d = d * scale + add, e = e * scale + add, f = f * scale + add;                   \
			g = g * scale + add, h = h * scale + add, i = i * scale + add;                   \
			j = j * scale + add, k = k * scale + add, l = l * scale + add;                   \
			/* keeps the compiler from merging them */                                       \
			__asm__ volatile("" : "+" VECTOR(a), "+" VECTOR(b), "+" VECTOR(c), "+" VECTOR(d), \
			                 "+" VECTOR(e), "+" VECTOR(f));                                  \
			__asm__ volatile("" : "+" VECTOR(g), "+" VECTOR(h), "+" VECTOR(i), "+" VECTOR(j), \
			                 "+" VECTOR(k), "+" VECTOR(l));                                  \
		}                                                                                    \
		a = a + b + c + d + e + f + g + h + i + j + k + l;                                   \
		return a[0];                                                                         \
	}

struct loop {
	float (*run)(void);
	unsigned lanes;
	const char *vectors;
};

#if defined(__x86_64__)
#define VECTOR(value) "x"(value)
PEAK_LOOP(loop_sse2, , 16)
PEAK_LOOP(loop_avx2, __attribute__((target("avx2,fma"))), 32)
#undef VECTOR
#define VECTOR(value) "v"(value)
PEAK_LOOP(loop_avx512, __attribute__((target("avx512f"))), 64)

static struct loop peak_widest_vector(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f"))
		return (struct loop){ loop_avx512, 16, "AVX-512" };
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return (struct loop){ loop_avx2, 8, "AVX2" };
	return (struct loop){ loop_sse2, 4, "SSE2" };
}
#elif defined(__aarch64__)
#define VECTOR(value) "w"(value)
PEAK_LOOP(loop_neon, , 16)

static struct loop peak_widest_vector(void)
{
	return (struct loop){ loop_neon, 4, "NEON" };
}
#else
#error "only x86-64 and aarch64"
#endif

struct worker {
	struct loop loop;
	double flops_per_second;
	pthread_t thread;
};

/* Uses the thread's CPU time, because other programs may use the core at the same time. */
static void *peak_work(void *pointer)
{
	struct worker *worker = pointer;
	volatile float sink;

	for (int round = 0; round < ROUNDS; round++) {
		double start = (double)dw_clock_ns(CLOCK_THREAD_CPUTIME_ID), took, loops = 0, speed;

		do {
			sink = worker->loop.run();
			loops++;
			took = (double)dw_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start;
		} while (took < ROUND_NS);
		speed = loops * LOOPS * CHAINS * worker->loop.lanes * 2 / took * 1e9;
		if (speed > worker->flops_per_second)
			worker->flops_per_second = speed;
	}
	(void)sink;
	return NULL;
}

void dw_peak_measure(struct dw_peak *peak)
{
	static struct worker workers[MOST_THREADS];
	struct loop loop = peak_widest_vector();
	unsigned wanted = dw_limits_cpus();

	*peak = (struct dw_peak){ .vectors = loop.vectors };
	for (unsigned i = 0; i < wanted && i < MOST_THREADS; i++) {
		workers[i] = (struct worker){ .loop = loop };
		if (pthread_create(&workers[i].thread, NULL, peak_work, &workers[i]) != 0)
			break;
		peak->threads++;
	}
	for (unsigned i = 0; i < peak->threads; i++) {
		pthread_join(workers[i].thread, NULL);
		peak->flops_per_second += workers[i].flops_per_second;
		if (workers[i].flops_per_second > peak->one_thread)
			peak->one_thread = workers[i].flops_per_second;
	}
}
