/*
 * Facts of arithmetic: what the operators with known FLOPs achieved, and the machine's peak.
 *
 * FLOPs are counted only if the run was recorded with --flops, which measures the peak of the
 * machine.
 */
#include <stdlib.h>

#include "facts/work.h"
#include "format/keys.h"
#include "model/time/flops.h"

#define NO_FLOPS "record with dwell run --flops"

void dw_facts_of_flops(struct dw_facts_work *work)
{
	const char *peak = dw_facts_meta(work, DW_KEY_PEAK_FLOPS);
	const struct dw_flops_sum *sum = NULL;
	double achieved = 0;

	if (peak && dw_flops_are_facts(work->model)) {
		sum = dw_model_flops(work->model, NULL);
		work->failed |= !sum;
	}
	if (!sum || !sum->counted_ns) {
		for (unsigned id = DW_FACT_FLOPS_STEP; id <= DW_FACT_FLOPS_PEAK_SHARE; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, NO_FLOPS);
		return;
	}
	achieved = (double)sum->flops / ((double)sum->counted_ns / 1e9);
	dw_fact_set(work, DW_FACT_FLOPS_STEP, (double)sum->flops / (double)work->loop->count,
	            work->loop->count);
	dw_fact_set(work, DW_FACT_FLOPS_ACHIEVED, achieved, work->loop->count);
	dw_fact_set_share(work, DW_FACT_FLOPS_COUNTED, (double)sum->counted_ns,
	                  (double)sum->counted_ns + (double)sum->missed_ns, work->loop->count);
	dw_fact_set(work, DW_FACT_FLOPS_PEAK, strtod(peak, NULL), 1);
	dw_fact_set_share(work, DW_FACT_FLOPS_PEAK_SHARE, achieved, strtod(peak, NULL),
	                  work->loop->count);
}
