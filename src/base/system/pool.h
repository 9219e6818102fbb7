/*
 * Runs tasks in parallel on all cores.
 *
 * dw_pool_run() calls `task` once for every index below `count`, from up to `workers` threads, and
 * returns when all calls have ended. The tasks of one worker run one after another, so data of a
 * worker needs no lock. If no threads can be created, the caller does all the work.
 */
#pragma once

#include <stddef.h>

/* How many workers are useful on this machine for `count` tasks, at least 1. */
unsigned dw_pool_workers(size_t count);
/* Limits the workers of this process, before it has any: other processes use the other cores. */
void dw_pool_limit(unsigned workers);
void dw_pool_run(size_t count, unsigned workers,
                 void (*task)(void *context, unsigned worker, size_t index), void *context);
