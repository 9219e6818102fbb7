/*
 * How fast this machine multiplies and adds: what the flops view calls the peak.
 *
 * run.c measures it once before the program starts, with --flops, in about 50 ms. It is
 * what a plain loop of fused multiply-adds in registers reaches in single precision,
 * with the widest vectors that the processor has, one thread on each core that the
 * program may use, all at once. No network can go faster with such instructions; one
 * that uses others (bfloat16, int8, AMX) may.
 */
#ifndef DW_CLI_PEAK_H
#define DW_CLI_PEAK_H

struct dw_peak {
	double flops_per_second; /* of all threads together; 0: could not be measured */
	double one_thread;       /* the fastest of them, while the others ran */
	unsigned threads;
	const char *vectors;     /* "AVX-512", "AVX2", "SSE2", "NEON" */
};

void dw_peak_measure(struct dw_peak *peak);

#endif
