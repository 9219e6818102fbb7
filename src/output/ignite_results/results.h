/*
 * Ignite's printouts and files, made from summaries and single times.
 *
 * libdwell-ignite uses it for its profilers; the reader's views and layout use it with the same
 * figures from a trace. print.c prints summaries; rows.c arranges single times as the rows of the
 * two CSV files. Includes only public headers and base.
 */
#pragma once

#include <dwell/compat/ignite.h>

#include "base/time_stat.h"

/* The names of enum dwell_ignite_event. */
extern const char *const dw_ignite_event_names[DWELL_IGNITE_EVENT_COUNT];

/* The public form of a summary whose unit is `unit_s` seconds. */
struct dwell_ignite_time_stat dw_ignite_time_stat(const struct dw_time_stat *stat, double unit_s);

/* Prints exactly what BasicTimeProfiler.print_results and HandlersTimeProfiler.print_results print,
 * except "None" where these print "Nones". */
void dw_ignite_print_basic(const struct dwell_ignite_basic_results *results, FILE *out);
void dw_ignite_print_handlers(const struct dwell_ignite_handlers_results *results, FILE *out);
