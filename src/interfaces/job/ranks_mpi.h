/*
 * `dwell ranks --mpi`: the processes of an MPI job read and summarize the files together.
 */
#pragma once

#include "summary/summary.h"

/* Reads the files, of which each process takes a part, and merges the summaries in process 0.
 * *first: this is process 0, which has the result. Returns 0, or the same exit status in all
 * processes; the process that failed has printed why. Ends MPI. */
int dw_ranks_read_mpi(struct dw_summary *summary, char **paths, size_t count, bool *first);
