/*
 * The memory bandwidth of this machine in bytes a second: reading and writing together.
 *
 * run.c measures it once before the program starts if --flops is set, in about 100 ms. Each core that
 * the program may use copies a block that is larger than its share of the caches, all at the same
 * time; the fastest round counts. An operator that only moves data cannot be faster than its bytes
 * divided by this.
 */
#pragma once

/* 0 means it could not be measured. */
double dw_bandwidth_measure(void);
