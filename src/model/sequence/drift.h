/* Whether the times of a position go one way over the run. */
#ifndef DW_MODEL_SEQUENCE_DRIFT_H
#define DW_MODEL_SEQUENCE_DRIFT_H

#include <stdbool.h>
#include <stdint.h>

#define DW_DRIFT_BLOCKS 64u
#define DW_DRIFT_EACH 5u
#define DW_DRIFT_SAMPLES (DW_DRIFT_BLOCKS * DW_DRIFT_EACH)

/* Which of `total` iterations are sampled: an ascending list of their numbers, at most
 * DW_DRIFT_SAMPLES; returns how many. */
uint32_t dw_drift_choose(uint64_t total, uint64_t chosen[DW_DRIFT_SAMPLES]);
/* Of the samples (0: none) of one of `tests` positions; NaN without enough of them. */
double dw_drift_of(const float samples[DW_DRIFT_SAMPLES], uint32_t count, uint32_t tests,
                   bool *drifts);

#endif
