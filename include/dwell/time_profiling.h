/*
 * The time of a training's graph, as Apache SINGA's time profiling has it.
 *
 *     dwell_set_verbosity(2, &error);
 *     dwell_set_skip_iteration(5);
 *     ... train: dwell_step(), DWELL_PHASE("forward"), DWELL_OP(...) ...
 *     dwell_print_time_profiling(stdout, &error);
 *
 * An iteration is a step. What is printed are means over the iterations after the
 * skipped ones, by verbosity:
 *
 *   0  nothing is recorded for it, nothing printed
 *   1  forward and backward propagation: steps and phases are recorded
 *   2  each operation in its order: operators and communication too
 *   3  the distributed operations alone: those named with "Dist"; steps, phases and
 *      communication are recorded
 *
 * Where nothing records yet, the first verbosity over 0 starts a session of which only
 * this is kept (PROGRAM-PID.dwell in the current folder). Under `dwell run`, or after
 * dwell_start(), what the session records goes on beside it. Both numbers go into the
 * trace, so that `dwell report --layout singa` prints the same when the program is gone.
 *
 * This is a part of libdwell-profiler (`pkg-config dwell-profiler`): what is printed is
 * read from the program's own trace. The functions belong to one thread of a process at a
 * time. A child of fork has verbosity 0 until it sets its own.
 */
#ifndef DWELL_TIME_PROFILING_H
#define DWELL_TIME_PROFILING_H

#include <stdio.h>

#include <dwell/dwell.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What dwell_set_skip_iteration() has not changed. */
#define DWELL_SKIP_ITERATION 5

/*
 * From here on, 0 to 3: what is printed are the iterations since. The same verbosity again
 * is nothing. Errors: DWELL_E_ARGUMENT for another number, and those of dwell_start(); the verbosity
 * is then what it was.
 */
DWELL_API int dwell_set_verbosity(int verbosity, struct dwell_error *error);

/* The first `iterations` steps of the process are not in the means. */
DWELL_API void dwell_set_skip_iteration(uint64_t iterations);

/*
 * The listing so far. At verbosity 0 nothing. With result 0, error->message may hold a note
 * (the graph changes between iterations), else it is as it was. Errors: DWELL_E_NO_DATA when there is no
 * iteration beyond the skipped ones, or nothing of what the verbosity prints; DWELL_E_IO.
 */
DWELL_API int dwell_print_time_profiling(FILE *file, struct dwell_error *error);

#ifdef __cplusplus
}
#endif
#endif
