/*
 * What recording cost: the time that the program would not have taken without it.
 *
 * Called by the overview. Estimated from what is known: the records, those that were lost
 * too, each at the cost of one that `dwell run` measured on this machine; chunks at their
 * usual time, because one that was preempted says nothing about its cost; PyTorch's
 * callbacks and hooks, where the probe stored what one takes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"
#include "views/overview.h"

#define OWN_CHUNK "dwell: new chunk"

/* The last value of a fact that is a number; NaN: there is none. */
static double cost_find_fact(const struct dw_source *source, const char *key)
{
	double value = NAN;

	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, key) == 0)
			value = strtod(source->metas[i].value, NULL);
	return value;
}

/* The time that ranges of the recorder and of probes stand for. */
static double cost_own_ranges(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, DW_VIEW_CATEGORY(PROFILER), error);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	double ns = 0;

	for (size_t i = 0; flat && i < flat->count; i++) {
		const struct dw_stat *stat = &flat->rows[i].stat;
		double usual = stat->p50_ns == DW_NOT_KEPT ? (double)stat->self_ns
		                                           : (double)stat->count * (double)stat->p50_ns;

		if (strcmp(symbols[flat->rows[i].symbol].name, OWN_CHUNK) != 0)
			usual = (double)stat->self_ns;
		ns += fmin(usual, (double)stat->self_ns);
	}
	return ns;
}

static double cost_count_calls(struct dw_model *model, uint32_t categories,
                               struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, categories, error);
	double calls = 0;

	for (size_t i = 0; flat && i < flat->count; i++)
		calls += (double)flat->rows[i].stat.count;
	return calls;
}

/* What PyTorch's callbacks and the layers' hooks take, less the ranges that they write: those
 * are counted with all others at `range_ns`. */
static double cost_torch_ns(const struct dw_source *source, struct dw_model *model, double range_ns,
                            struct dwell_error *error)
{
	double callback_ns = cost_find_fact(source, DW_KEY_TORCH_CALLBACK_NS),
	hook_ns = cost_find_fact(source, DW_KEY_TORCH_HOOK_NS);
	double ns = 0;

	if (callback_ns > range_ns)
		ns += (callback_ns - range_ns) * cost_count_calls(model, DW_VIEW_CATEGORY(OPERATOR), error);
	if (hook_ns > range_ns)
		ns += (hook_ns - range_ns) * cost_count_calls(model, DW_VIEW_CATEGORY(LAYER), error);
	return ns;
}

/* Of the counted steps, in their own threads. */
static void cost_of_steps(struct dw_overview *overview, double range_ns, struct dwell_error *error)
{
	const struct dw_steps *steps = overview->steps;
	const struct dw_flat *flat = dw_model_flat(overview->inside, UINT32_MAX, error);
	double ns;

	if (!flat || !steps->recorded_count || !steps->recorded_ns)
		return;
	ns = (double)flat->ranges * range_ns + cost_own_ranges(overview->inside, error) +
	     cost_torch_ns(overview->source, overview->inside, range_ns, error);
	overview->cost_ns = ns / (double)steps->recorded_count;
	overview->cost_share = ns / (double)steps->recorded_ns;
}

/* Of the thread that recorded most, kept or lost: others ran at the same time. */
static void cost_of_run(struct dw_overview *overview, double range_ns, struct dwell_error *error)
{
	const struct dw_threads *threads = dw_model_threads(overview->model, error);
	double all = 0, most = 0, ns;

	for (size_t i = 0; threads && i < threads->count; i++) {
		double records = (double)threads->rows[i].records + (double)threads->rows[i].lost;

		all += records;
		most = fmax(most, records);
	}
	if (!threads || !overview->wall_ns || !(all > 0))
		return;
	ns = cost_own_ranges(overview->model, error) + cost_torch_ns(overview->source, overview->model,
	                                                             range_ns, error);
	overview->cost_share =
	    (most / 2 * range_ns + ns * most / all) / (double)overview->wall_ns;
}

void dw_overview_cost(struct dw_overview *overview, struct dwell_error *error)
{
	double range_ns = cost_find_fact(overview->source, DW_KEY_COST_RANGE_NS);

	overview->cost_share = NAN;
	if (!isfinite(range_ns))
		return;
	if (overview->steps && overview->inside)
		cost_of_steps(overview, range_ns, error);
	else if (!dw_model_is_partial(overview->model))
		cost_of_run(overview, range_ns, error);
}
