/*
 * The fast step of a loop whose steps waited for a CPU for much of their time, because other programs had it.
 *
 * An operator that lost its CPU, or that waits for a thread without one, takes a thousand times what it computes, by the
 * clock and often by its CPU time, too. The pieces of a fast step were not disturbed.
 */
#include <math.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "model/steps/fast_step.h"

/* The fast step of the steady steps that are not reduced; with the time up to the next step, if asked. */
static double contended_iteration(struct dw_facts_work *work, bool with_gap, double *of_symbols)
{
	struct dw_step *iterations = calloc(work->steady_count + 1, sizeof *iterations);
	const struct dw_step **steps = calloc(work->steady_count + 1, sizeof *steps);
	size_t chosen = 0;
	double ns = 0;

	for (size_t i = 0; iterations && steps && i < work->steady_count; i++) {
		const struct dw_step *step = work->steady[i];

		if (step->reduced || (with_gap && step + 1 == work->all + work->loop->count))
			continue;
		iterations[chosen] = *step;
		iterations[chosen].end_ns = with_gap ? step[1].start_ns : step->end_ns;
		steps[chosen] = &iterations[chosen];
		chosen++;
	}
	if (iterations && steps)
		ns = dw_model_fast_step_ns(work->model, work->loop->thread, steps, chosen, of_symbols);
	free(iterations);
	free(steps);
	return fmax(0, ns);
}

/* Whether half of the steps' time is in steps that call another number of operators than the median one: the pieces of such steps are
 * not the same, and the fast step is of the more frequent kind. */
static bool contended_steps_differ(const struct dw_facts_work *work)
{
	double *counts = malloc((work->steady_count + 1) * sizeof *counts), all = 0, other = 0, usual;

	for (size_t i = 0; counts && i < work->steady_count; i++)
		counts[i] = work->steady[i]->operator_count;
	usual = counts ? dw_median(counts, work->steady_count) : 0;
	for (size_t i = 0; counts && i < work->steady_count; i++) {
		const struct dw_step *step = work->steady[i];
		double ns = (double)(step->end_ns - step->start_ns) - dw_facts_delay(work, step);

		all += ns;
		other += (double)step->operator_count != usual ? ns : 0;
	}
	free(counts);
	return other >= DW_ACCOUNT_MOST * all;
}

void dw_facts_find_fast(struct dw_facts_work *work)
{
	const struct dw_fact *others = &work->facts->at[DW_FACT_CPU_OTHERS], *delay = &work->facts->at[DW_FACT_CPU_DELAY];
	size_t count;

	if (!others->measured || !delay->measured || others->value < DW_FACTS_OTHERS || delay->value < DW_FACTS_OTHERS)
		return;
	dw_model_symbols(work->model, &count);
	work->fast = calloc(count + 1, sizeof *work->fast);
	work->failed |= !work->fast;
	if (work->fast)
		work->fast_ns = contended_iteration(work, false, work->fast);
	if (work->fast_ns > 0 && !contended_steps_differ(work))
		return;
	free(work->fast);
	work->fast = NULL;
}

double dw_facts_fast_gap(struct dw_facts_work *work)
{
	size_t count;
	double *of_symbols, ns;

	if (!work->fast)
		return -1;
	dw_model_symbols(work->model, &count);
	of_symbols = calloc(count + 1, sizeof *of_symbols);
	work->failed |= !of_symbols;
	ns = of_symbols ? contended_iteration(work, true, of_symbols) : 0;
	free(of_symbols);
	return ns >= work->fast_ns ? 1 - work->fast_ns / ns : -1;
}
