/*
 * Runs a program under dwell: creates the trace, runs the program without intervening, and finishes
 * the trace.
 */
#pragma once

#include "dwell/dwell.h"

struct dw_run_request {
	struct dwell_options options; /* path NULL: a new name derived from the program's */
	char **command;               /* NULL-terminated */
	const char *step_on;          /* NAME of --step-on, or NULL */
	const char *serve;            /* a port for captures, or NULL */
	bool no_itt, no_nvtx, no_cuda; /* leave out what libraries announce by these interfaces */
	const char *cuda;             /* WHICH of --cuda, or NULL */
	bool no_mpi, no_ggml, no_onnx; /* leave out the program's calls of these libraries */
	unsigned sample_hz;           /* call stacks a second of a thread's CPU time; 0: as many as take 0.1% of it, and more at first */
	bool no_samples;              /* leave out call stacks */
	bool sample_perf;             /* take them by perf events, where the kernel permits it */
	uint64_t heap_bytes;          /* mean distance of the points at which blocks of malloc are recorded; 0: none are */
	bool counters;                /* record the processor's counters, where the kernel permits it */
	uint64_t summary_every_ms;    /* time between summaries during the run, or 0 */
	const char *gather;           /* the folder that the trace is moved to at the end, or NULL */
	bool always;                  /* for a long run: keep the newest records, and those around slow steps */
	uint64_t slow_bytes;          /* what those around slow steps may take; 0: they are not kept */
	uint32_t cost;                /* what recording operators may cost, in millionths of the time; 0: any */
	bool cost_given;              /* by the user */
	bool pack;                    /* store the trace at the end */
};

/*
 * Runs the command and returns its status as waitpid() does, or the status of a process that exits with one of DW_EXIT_*;
 * see dw_program_end(). `trace` (4096 bytes) receives the trace's path, or "" if there is none. Prints to stderr
 * where the trace is and what was lost.
 */
int dw_run(const struct dw_run_request *request, char *trace);
