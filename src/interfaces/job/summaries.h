/* Reads traces and summaries into one summary, for `dwell summarize`, `dwell ranks` and `dwell watch`. */
#pragma once

#include "summary/summary.h"

/* Adds each file, which is a trace or a summary, and finishes the summary. Traces are opened one
 * after another, so that memory is needed for one of them only. Returns 0, or an exit status after
 * an error message. */
int dw_summaries_read(struct dw_summary *summary, char **paths, size_t count);
/* How many ranks the files that are summaries have at least. 0: not counted, because there are few files. */
size_t dw_summaries_count_ranks(char **paths, size_t count);
/* The same with one file that is read again and again. *is_live is set if it is a trace that is being written. */
int dw_summaries_read_one(struct dw_summary *summary, const char *path, bool *is_live);
/* The same with many files in several processes, as many as the cores that this one may use. No other thread
 * may run. */
int dw_summaries_read_parallel(struct dw_summary *summary, char **paths, size_t count);
/* Makes the summary of a trace whose earlier summary is at `path`, or is not there: what the trace has of later
 * steps is added to that. `before` is empty and must be reset after the summary. */
int dw_summaries_continue(struct dw_summary *summary, const char *trace, struct dw_summary *before, const char *path);
/* Writes the file of a summary. Returns 0, or an exit status after an error message. */
int dw_summaries_write(const struct dw_summary *summary, const char *path);
