/*
 * Running a program under dwell: the trace made before, the program left alone
 * while it runs, the trace finished after.
 */
#ifndef DW_CLI_RUN_H
#define DW_CLI_RUN_H

#include "dwell/dwell.h"

#define DW_EXIT_RUN_FAILED 125
#define DW_EXIT_CANNOT_RUN 126
#define DW_EXIT_NOT_FOUND 127

struct dw_run_request {
	struct dwell_options options; /* path NULL: a new name after the program */
	char **command;               /* NULL-terminated */
	const char *step_on;          /* what makes a step, or NULL: found by what loops do */
	const char *serve;            /* a port for captures, or NULL */
	int quiet;                    /* nothing but errors on stderr */
};

/*
 * Runs the command and returns the exit status of contracts: the program's, 128 +
 * signal, or one of the above. `trace` (4096 bytes) receives the trace's path, ""
 * when there is none. Says on stderr where the trace is and what was lost.
 */
int dw_run(const struct dw_run_request *request, char *trace);

#endif
