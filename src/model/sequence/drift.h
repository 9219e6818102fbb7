/* Tests whether the times of a position rise or fall over the run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DW_DRIFT_BLOCKS 64u
#define DW_DRIFT_EACH 5u
#define DW_DRIFT_SAMPLES (DW_DRIFT_BLOCKS * DW_DRIFT_EACH)

/* Chooses the iterations to sample from `total` iterations: sets `chosen` to their numbers, in
 * ascending order. Returns how many they are, at most DW_DRIFT_SAMPLES. */
uint32_t dw_drift_choose(uint64_t total, uint64_t chosen[DW_DRIFT_SAMPLES]);
/* Returns by how much the samples of one position change over the run, as a share of their middle;
 * 0 if chance explains the change, NaN if there are too few samples. A sample of 0 is missing.
 * `tests` is the number of positions that are tested: with more tests, chance explains more.
 * *drifts is whether the change is large enough to report. */
double dw_drift_of(const float samples[DW_DRIFT_SAMPLES], uint32_t count, uint32_t tests, bool *drifts);
