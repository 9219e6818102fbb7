/*
 * Recording cost: an estimate of the time that recording added to the program. It is one figure, which the overview
 * prints and the fact run.profiler is.
 *
 * The estimate is a sum of
 *   - all records, including lost ones, each at the cost that `dwell run` measured on this machine;
 *   - what the recorder and the probes measured of themselves, as changes of chunks: the part "profiler" of the loop;
 *   - PyTorch's callbacks and hooks, if the probe stored their cost; where some steps were recorded without operators,
 *     the probe's own sum of what it did in a step of either kind;
 *   - steps that begin at a function of a native program (--step-on), each at what the process measured;
 *   - samples: the CPU time for them, which the sampler measured;
 *   - calls of libc that may wait, which the sampler measures, each at the cost of a range;
 *   - what the sampler measured of itself where threads, children and programs began and ended;
 *   - what recorded steps take longer than others, where devices are recorded in bursts (bursts.c): CUPTI's own work. Where
 *     everything was recorded that is not known, and not in the estimate.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/facts.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "format/keys.h"
#include "model/core/product.h"
#include "model/time/profiles.h"
#include "model/time/threads.h"

#define LEAST_CALLS 0.0005 /* of the run, as the least share that is printed */

/* NaN: the key is missing. */
static double cost_number(const struct dw_source *source, const char *key)
{
	const char *value = dw_source_meta(source, DW_NO_INDEX, key);

	return value ? strtod(value, NULL) : NAN;
}

/* Returns the time of the ranges that the recorder and the probes wrote about themselves: the part "profiler". */
static double cost_own_ranges(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, DW_FACTS_CATEGORY(PROFILER), error);
	double ns = 0;

	for (size_t i = 0; flat && i < flat->count; i++)
		ns += (double)flat->rows[i].stat.self_ns;
	return ns;
}

static double cost_count_calls(struct dw_model *model, uint32_t categories, struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, categories, error);
	double calls = 0;

	for (size_t i = 0; flat && i < flat->count; i++)
		calls += (double)flat->rows[i].stat.count;
	return calls;
}

/* Returns the cost of PyTorch's callbacks and the layers' hooks, without the cost of the ranges
 * that they write: the caller adds `range_ns` for every range. */
static double cost_torch_ns(const struct dw_source *source, struct dw_model *model, double range_ns,
                            struct dwell_error *error)
{
	double callback_ns = cost_number(source, DW_KEY_TORCH_CALLBACK_NS),
		   hook_ns = cost_number(source, DW_KEY_TORCH_HOOK_NS);
	double ns = 0;

	if (callback_ns > range_ns)
		ns += (callback_ns - range_ns) * cost_count_calls(model, DW_FACTS_CATEGORY(OPERATOR), error);
	if (hook_ns > range_ns)
		ns += (hook_ns - range_ns) * cost_count_calls(model, DW_FACTS_CATEGORY(LAYER), error);
	return ns;
}

static bool cost_has_cupti(const struct dw_source *source)
{
	return source->events_count > 0 && dw_source_meta(source, DW_NO_INDEX, DW_KEY_CUDA);
}

/* What recording one step costs in its thread, apart from the part "profiler". Of a mean step, if others were recorded
 * without operators. */
static double cost_of_step(struct dw_model *model, const struct dw_steps *steps, double range_ns, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	struct dw_model *inside = dw_model_counted(model, DW_COUNTED_STEP_THREADS, error);
	const struct dw_flat *flat = inside ? dw_model_flat(inside, UINT32_MAX, error) : NULL;
	double recorded_ns = cost_number(source, DW_KEY_TORCH_RECORDED_NS),
		   reduced_ns = cost_number(source, DW_KEY_TORCH_REDUCED_NS), brief_ns = cost_number(source, DW_KEY_TORCH_BRIEF_NS);
	double step_ns = cost_number(source, DW_KEY_NATIVE_STEP_NS), count = (double)steps->recorded_count, ns;
	const struct dw_facts_bursts *bursts = cost_has_cupti(source) ? dw_facts_bursts(model, error) : NULL;

	if (!flat || (cost_has_cupti(source) && !bursts))
		return NAN;
	if (steps->reduced_count && isfinite(recorded_ns) && isfinite(reduced_ns))
		ns = recorded_ns * count + reduced_ns * (double)(steps->reduced_count - steps->brief_count) +
		     (isfinite(brief_ns) ? brief_ns : reduced_ns) * (double)steps->brief_count;
	else
		ns = (double)flat->ranges * range_ns + cost_torch_ns(source, inside, range_ns, error);
	if (step_ns > 0)
		ns += step_ns * count;
	/* The measured difference already contains `ns` of the recorded steps. */
	if (bursts && bursts->known)
		ns += fmax(0, bursts->ns * (double)bursts->recorded_steps - ns);
	return ns / (count + (double)steps->reduced_count);
}

/* A call of libc that may wait is measured by two readings of the clock, as a range is. Where samples and calls are in time is not
 * known, nor where threads and processes begin: they are taken as even. Returns a share of the time. */
static double cost_of_sampler(struct dw_model *model, double range_ns, double wall_ns)
{
	const struct dw_source *source = dw_model_source(model);
	double calls = 0, samples_ns = 0, cpu_ns = 0, share;

	if (dw_model_is_partial(model))
		return 0;
	for (size_t i = 0; i < source->meta_count; i++) {
		const char *key = source->metas[i].key;

		if (strcmp(key, DW_KEY_SAMPLE_CALLS) == 0)
			calls += strtod(source->metas[i].value, NULL);
		else if (strcmp(key, DW_KEY_SAMPLE_TOOK_NS) == 0)
			samples_ns += strtod(source->metas[i].value, NULL);
		else if (strcmp(key, DW_KEY_PROCESS_CPU_NS) == 0)
			cpu_ns += strtod(source->metas[i].value, NULL);
	}
	share = fmin(1, (calls * range_ns + samples_ns + (double)source->begins_ns) / fmax(cpu_ns, wall_ns));
	return share >= LEAST_CALLS ? share : 0;
}

static double cost_part_ns(const struct dw_loop_parts *parts)
{
	for (size_t i = 0; i < parts->part_count; i++)
		if (!parts->parts[i].own && strcmp(parts->parts[i].name, dw_facts_part_name(DW_PART_PROFILER)) == 0)
			return parts->parts[i].ns;
	return 0;
}

/* The cost is an estimate: threads that do nothing but record can have more of it than time. */
static bool cost_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_loop_parts *parts = dw_facts_loop_parts(model, NULL);
	const struct dw_steps *steps = dw_model_steps(model, NULL);
	const struct dw_source *source = dw_model_source(model);
	double range_ns = cost_number(source, DW_KEY_COST_RANGE_NS), ns, whole_ns;
	struct dw_facts_cost *to = result;

	(void)request;
	*to = (struct dw_facts_cost){ .share = NAN };
	if (!parts || !steps)
		return false;
	whole_ns = parts->ns - parts->no_cpu_ns;
	if (!isfinite(range_ns) || !steps->recorded_count || !(whole_ns > 0))
		return true;
	ns = cost_of_step(model, steps, range_ns, NULL);
	to->cupti = cost_has_cupti(source);
	to->part_ns = cost_part_ns(parts);
	to->share = fmin(1, (ns + to->part_ns) / whole_ns + cost_of_sampler(model, range_ns, (double)source->end_ns));
	to->ns = to->share * whole_ns;
	return !isnan(ns);
}

const struct dw_facts_cost *dw_facts_cost(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_facts_cost), .compute = cost_compute };

	return dw_product_get(model, &product, 0, NULL, error);
}

void dw_facts_of_cost(struct dw_facts_work *work)
{
	const struct dw_facts_cost *cost = dw_facts_cost(work->model, NULL);

	work->failed |= !cost;
	if (!cost || isnan(cost->share))
		dw_fact_miss(work, DW_FACT_RUN_PROFILER, "the cost was not measured: record with dwell run");
	else
		dw_fact_set(work, DW_FACT_RUN_PROFILER, cost->share, work->steps->recorded_count);
}

/* For the thread with the most records, kept or lost. Other threads recorded at the same time and did not make the run
 * longer. */
struct dw_facts_cost dw_facts_cost_of_run(struct dw_model *model, double wall_ns, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_threads *threads = dw_model_threads(model, error);
	double range_ns = cost_number(source, DW_KEY_COST_RANGE_NS), all = 0, most = 0, ns;
	struct dw_facts_cost cost = { .share = NAN };

	for (size_t i = 0; threads && i < threads->count; i++) {
		double records = (double)threads->rows[i].records + (double)threads->rows[i].lost;

		all += records;
		most = fmax(most, records);
	}
	if (!threads || !isfinite(range_ns) || !(wall_ns > 0) || dw_model_is_partial(model))
		return cost;
	if (all > 0) {
		ns = cost_own_ranges(model, error) + cost_torch_ns(source, model, range_ns, error);
		cost.cupti = cost_has_cupti(source);
		cost.share = fmin(1, (most / 2 * range_ns + ns * most / all) / wall_ns);
	}
	ns = cost_of_sampler(model, range_ns, wall_ns);
	if (ns > 0)
		cost.share = fmin(1, (isfinite(cost.share) ? cost.share : 0) + ns);
	cost.ns = cost.share * wall_ns;
	return cost;
}
