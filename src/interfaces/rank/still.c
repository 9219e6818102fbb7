/* See still.h. */
#include "rank/still.h"

#include <math.h>
#include <string.h>

#include "base/system/clock.h"
#include "watch/watch.h"

#define STILL_FIRST 1.1   /* of the shortest limit of dwell watch, whose clock begins up to a look later */
#define STILL_AGAIN 1.25
#define STILL_LAST 1.5
#define STILL_USUAL 2.5   /* usual steps that pass at least */
#define STILL_CHANGE 1.05 /* of the median at a look */

void dw_still_begin(struct dw_still *still, const char *trace)
{
	struct dwell_error error = { 0, "" };

	memset(still, 0, sizeof *still);
	dw_serve_control_open(&still->control, trace, &error);
}

/* Whether a summary should be written because of a process that has begun so many steps. */
static bool still_gate(struct dw_still_gate *gate, uint64_t steps, uint64_t now_ms)
{
	double still_ms = (double)(now_ms - gate->moved_ms), least_ms = (double)DW_WATCH_LEAST_HANG_NS / 1e6, next_ms;

	if (steps != gate->steps) {
		double one_ms = still_ms / (double)(steps - gate->steps);

		if (steps < gate->steps) /* another process has the gate */
			*gate = (struct dw_still_gate){ 0 };
		else if (gate->steps && !gate->summaries)
			gate->usual_ms = !gate->usual_ms ? one_ms
			                                 : gate->usual_ms * (one_ms > gate->usual_ms ? STILL_CHANGE : 1 / STILL_CHANGE);
		gate->steps = steps;
		gate->moved_ms = now_ms;
		gate->summaries = 0;
		return false;
	}
	/* dwell watch counts usual steps without the time between them, which is not known here. So its limit lies between the
	 * shortest one and that for the time from step to step. */
	next_ms = STILL_FIRST * pow(STILL_AGAIN, gate->summaries) * least_ms;
	if (!gate->usual_ms || next_ms > STILL_LAST * STILL_FIRST * fmax(least_ms, DW_WATCH_HANG_STEPS * gate->usual_ms) ||
	    still_ms < fmax(next_ms, STILL_USUAL * gate->usual_ms))
		return false;
	gate->summaries++;
	return true;
}

bool dw_still_look(struct dw_still *still)
{
	uint32_t count = still->control.head ? dw_serve_gate_count(&still->control) : 0;
	uint64_t now_ms = dw_clock_monotonic_ms();
	bool is = false;

	for (uint32_t i = 0; i < count; i++)
		is |= still_gate(&still->gates[i], __atomic_load_n(&still->control.page->gates[i].step, __ATOMIC_RELAXED), now_ms);
	return is;
}

void dw_still_end(struct dw_still *still)
{
	dw_serve_control_close(&still->control);
}
