/*
 * The time of a training's graph, compatible with Apache SINGA's time profiling.
 *
 *     dwell_singa_set_verbosity(2, &error);
 *     dwell_singa_set_skip_iteration(5);
 *     ... train: dwell_step(), DWELL_PHASE("forward"), DWELL_OP(...) ...
 *     dwell_singa_print_time_profiling(stdout, &error);
 *
 * An iteration is a step. The listing shows means over the iterations after the skipped ones.
 * The verbosity says what is listed, and so what is recorded:
 *
 *   0  nothing
 *   1  forward and backward propagation: steps and phases
 *   2  each operation in its order: steps, phases, operators and communication
 *   3  only distributed operations, those with "Dist" in their name: steps, phases and
 *      communication
 *
 * If no session runs, the first verbosity above 0 starts one that records only this
 * (PROGRAM-PID.dwell in the current folder). Under `dwell run`, or after dwell_start(), the
 * session's own recording continues. Both numbers are stored in the trace, so that `dwell
 * report --layout singa` prints the same after the program has ended.
 *
 * This is libdwell-singa (`pkg-config dwell-singa`). It uses libdwell-read, because the listing is
 * made from the program's own trace. Only one thread of a process may call these functions at a
 * time. A forked child has verbosity 0 until it sets its own.
 */
#ifndef DWELL_COMPAT_SINGA_H
#define DWELL_COMPAT_SINGA_H

#include <stdio.h>

#include <dwell/dwell.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The default of dwell_singa_set_skip_iteration(). */
#define DWELL_SINGA_SKIP_ITERATION 5

/*
 * Sets the verbosity (0-3) and restarts the statistics. Setting the current value again has no
 * effect. Errors: DWELL_E_ARGUMENT for another number, and those of dwell_start(); the
 * verbosity does not change then.
 */
DWELL_API int dwell_singa_set_verbosity(int verbosity, struct dwell_error *error);

/* Leaves the first `iterations` steps of the process out of the means; the default is
 * DWELL_SINGA_SKIP_ITERATION. */
DWELL_API void dwell_singa_set_skip_iteration(uint64_t iterations);

/*
 * Prints the listing so far; nothing at verbosity 0. On success error->message may hold a note
 * (the graph changes between iterations); otherwise it is not changed. Errors: DWELL_E_NO_DATA
 * if there is no iteration beyond the skipped ones, or no record of what the verbosity prints;
 * DWELL_E_IO.
 */
DWELL_API int dwell_singa_print_time_profiling(FILE *file, struct dwell_error *error);

#ifdef __cplusplus
}
#endif
#endif
