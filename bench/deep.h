/* deep.c: n operators with their stacks. */
#ifndef BENCH_DEEP_H
#define BENCH_DEEP_H

void deep_operators(long n);

#endif
