/*
 * The peak of this machine in FLOP/s, which the flops view compares with.
 *
 * run.c measures it once before the program starts if --flops is set, in about 50 ms. It is the
 * speed of a loop of fused multiply-adds in registers, in single precision, with the widest vectors
 * of the processor, with one thread on each core that the program may use, all at the same time. No
 * network is faster with such instructions; one that uses others (bfloat16, int8, AMX) may be.
 */
#pragma once

struct dw_peak {
	double flops_per_second; /* of all threads together; 0 means it could not be measured */
	double one_thread;       /* the fastest thread while the others ran */
	unsigned threads;
	const char *vectors;     /* "AVX-512", "AVX2", "SSE2", "NEON" */
};

void dw_peak_measure(struct dw_peak *peak);
