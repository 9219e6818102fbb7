/*
 * Facts of change of the time between a step and the next one, after the warm-up. Something that grows or begins may lie
 * there, as in a callback of a framework. How long a loop waits for data or for other ranks there is their pace.
 */
#include <math.h>

#include "base/numbers.h"
#include "facts/pace_fit.h"
#include "facts/work.h"

#define LEAST_GROWTH 0.1 /* of the loop: what the time between steps takes beyond its length at the begin */

/* The lengths of the gaps, in work->values, and the step after the first one. */
static size_t gaps_collect(struct dw_facts_work *work, size_t *first)
{
	size_t gaps = 0;

	for (size_t i = 0; i + 1 < work->loop->count; i++) {
		if (work->roles[i] == DW_ROLE_WARM_UP)
			continue;
		if (!gaps)
			*first = i + 1;
		work->values[gaps++] = (double)(work->all[i + 1].start_ns - work->all[i].end_ns);
	}
	return gaps;
}

/* Whether the time that a change makes counts. */
static bool gaps_count(const struct dw_facts_work *work, double more_ns, double times)
{
	double waits_ns = (double)(work->loop->outside_ns[DW_SHARE_DATA] + work->loop->outside_ns[DW_SHARE_COMMUNICATION]);

	return more_ns >= LEAST_GROWTH * work->loop_ns && times >= DW_PACE_MOST - 1 && waits_ns <= more_ns / 2;
}

void dw_facts_of_gaps(struct dw_facts_work *work)
{
	const char *missing = "the time between steps does not grow more than the steps";
	double steps_ns = work->facts->at[DW_FACT_STEP_WALL].value, grown_ns, changed_ns, gap_ns;
	size_t first = 0, gaps = gaps_collect(work, &first);
	struct dw_pace_fit fit = dw_pace_fit(work->values, gaps);

	gap_ns = gaps ? dw_median(work->values, gaps) : 0;
	grown_ns = fit.trend / 2 * gap_ns * (double)gaps;
	changed_ns = (fit.after - fit.before) * (double)(gaps - fit.at);
	if (gaps_count(work, grown_ns, fit.trend) && fit.trend * gap_ns > work->facts->at[DW_FACT_DRIFT_SLOPE].value * steps_ns)
		dw_fact_set_share(work, DW_FACT_DRIFT_GAPS, grown_ns, work->loop_ns, gaps);
	else
		dw_fact_miss(work, DW_FACT_DRIFT_GAPS, missing);
	if (fit.change > 0 && gaps_count(work, changed_ns, fit.change) &&
	    fit.after - fit.before > work->facts->at[DW_FACT_DRIFT_CHANGE].value * steps_ns) {
		dw_fact_set_share(work, DW_FACT_DRIFT_GAPS_CHANGE, changed_ns, work->loop_ns, gaps);
		dw_fact_set(work, DW_FACT_DRIFT_GAPS_STEP, (double)work->all[first + fit.at].number, 1);
	} else {
		dw_fact_miss(work, DW_FACT_DRIFT_GAPS_CHANGE, missing);
		dw_fact_miss(work, DW_FACT_DRIFT_GAPS_STEP, missing);
	}
}
