/*
 * Figures of a job's ranks for Prometheus, in its text format (version 0.0.4).
 *
 * Names begin with dwell_. Times are in seconds, sizes in bytes, and what only grows ends with _total. Each figure of a
 * rank has the labels run (the job's id from its launcher), rank and host. Other labels have the values of a small
 * table: a part of the step, a collective's group and operation (at most DW_SUMMARY_COLLECTIVES a rank), a cause of
 * loss.
 */
#pragma once

#include <stdio.h>

#include "watch/watch.h"

/* Writes the figures of the ranks, and what is reported now of the jobs that are watched. */
void dw_metrics_write(const struct dw_summary *summary, const struct dw_watch *watches, size_t watch_count, FILE *file);
