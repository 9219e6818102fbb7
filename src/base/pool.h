/*
 * Work side by side on all cores.
 *
 * dw_pool_run() calls `task` for every index below `count`, each once, from up to
 * `workers` threads, and returns when all are done. Tasks of one worker run one
 * after another, so what belongs to a worker needs no lock. Where threads cannot
 * be had, the caller does all the work.
 */
#ifndef DW_BASE_POOL_H
#define DW_BASE_POOL_H

#include <stddef.h>

/* How many workers make sense here for `count` tasks, at least 1. */
unsigned dw_pool_workers(size_t count);
void dw_pool_run(size_t count, unsigned workers,
                 void (*task)(void *context, unsigned worker, size_t index), void *context);

#endif
