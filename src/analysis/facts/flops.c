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

#define LEAST_WITH_CPU 0.25
#define FLOPS_SLOW 0.3 /* of the peak: products reach more if their matrices are large enough */

/* The part of the operators' time in which their thread had a CPU: other programs do not make a product slow. */
static double flops_with_cpu(const struct dw_facts_work *work)
{
	const struct dw_fact *delay = &work->facts->at[DW_FACT_CPU_DELAY];

	return delay->measured && delay->value < 1 - LEAST_WITH_CPU ? 1 - delay->value
	       : delay->measured                                     ? LEAST_WITH_CPU : 1;
}

/* Only products: other operators wait for memory, whatever the processor could compute. By name,
 * because fast products would hide a slow one in a sum of all. */
static void flops_put_slow(struct dw_facts_work *work, const struct dw_flops_sum *sum, double peak_per_ns)
{
	double ns = 0, flops = 0, all_ns = (double)sum->counted_ns + (double)sum->missed_ns;
	const struct dw_fact *operators = &work->facts->at[DW_FACT_OPERATORS_SHARE];
	const struct dw_flops_row *largest = NULL;
	struct dw_fact *fact;

	peak_per_ns *= flops_with_cpu(work);
	if (operators->missing) {
		dw_fact_miss(work, DW_FACT_FLOPS_SLOW, operators->missing);
		dw_fact_miss(work, DW_FACT_FLOPS_SLOW_SHARE, operators->missing);
		return;
	}
	for (size_t i = 0; i < sum->count; i++) {
		const struct dw_flops_row *row = &sum->rows[i];

		if (!dw_flops_is_product(work->symbols[row->symbol].name) ||
		    !((double)row->flops < FLOPS_SLOW * peak_per_ns * (double)row->ns))
			continue;
		ns += (double)row->ns;
		flops += (double)row->flops;
		if (!largest || row->ns > largest->ns)
			largest = row;
	}
	fact = dw_fact_set_share(work, DW_FACT_FLOPS_SLOW, ns * operators->value, all_ns, work->loop->count);
	dw_fact_miss(work, DW_FACT_FLOPS_SLOW_SHARE, "all products reach 30% of the peak");
	if (!largest)
		return;
	dw_fact_name(work, fact, largest->symbol);
	dw_fact_set_share(work, DW_FACT_FLOPS_SLOW_SHARE, flops, peak_per_ns * ns, work->loop->count);
}

void dw_facts_of_flops(struct dw_facts_work *work)
{
	const char *peak = dw_facts_meta(work, DW_KEY_PEAK_FLOPS);
	const struct dw_flops_sum *sum = NULL;

	if (peak && dw_flops_are_facts(work->model)) {
		sum = dw_model_flops(work->model, NULL);
		work->failed |= !sum;
	}
	if (!sum || !sum->counted_ns) {
		for (unsigned id = DW_FACT_FLOPS_STEP; id <= DW_FACT_FLOPS_SLOW_SHARE; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, NO_FLOPS);
		return;
	}
	dw_fact_set(work, DW_FACT_FLOPS_STEP, (double)sum->flops / (double)work->loop->count, work->loop->count);
	flops_put_slow(work, sum, strtod(peak, NULL) / 1e9);
}
