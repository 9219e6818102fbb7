/*
 * Whether the steps of a program that dwell run started stand still, from the counts in the trace's control page.
 *
 * `dwell watch` reports a hang after a number of usual steps, and knows of no later time than that of the newest summary. So
 * a summary is written when no step has begun for about the shortest time that is a hang, and again after a quarter more,
 * until it would be one for the longest steps: a summary every ten minutes is enough to learn of a hang in time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "serve/control.h"

/* Of a process that steps. Zeroed at the begin. */
struct dw_still_gate {
	uint64_t steps, moved_ms; /* begun at the newest look at which they moved, and when that was */
	double usual_ms;          /* the median time from step to step; 0: not known yet */
	unsigned summaries;       /* that were asked for since */
};

struct dw_still {
	struct dw_serve_control control;
	struct dw_still_gate gates[DW_GATES];
};

/* Opens the control page of a trace. If that fails, the program never counts as standing still. */
void dw_still_begin(struct dw_still *still, const char *trace);
/* Whether a summary should be written because a process stands still. To be called about once a second. */
bool dw_still_look(struct dw_still *still);
void dw_still_end(struct dw_still *still);
