/*
 * The summary that `dwell run` writes: TRACE.sum, for `dwell ranks`.
 *
 * At the end of a run it is written if the run has ranks. With --summary-every a child process also
 * writes it during the run, from the trace that is being recorded; the program itself pays nothing. The same thread
 * looks once a second whether `dwell capture` asks for some steps (capture_ask.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Starts a thread that has the summary of `program`, which dwell run started, written every `every_ms`, and when its steps
 * stand still (still.h). Does nothing if `every_ms` is 0. `slow_bytes`: what was recorded around slow steps is kept in so many
 * bytes (slow_steps.h), and summaries are rarer if one takes long; 0: it is not kept. */
void dw_run_summary_begin(const char *trace, pid_t program, uint64_t every_ms, uint64_t slow_bytes);
/* Ends the thread. */
void dw_run_summary_end(void);
/* Writes the summary of a finished run. Says where it is, unless it `will_move`. */
void dw_run_summary_write(const char *trace, bool will_move);
