/*
 * Recording cost: an estimate of the time that recording added to the program.
 *
 * The overview calls it. The estimate is a sum of
 *   - all records, including lost ones, each at the cost that `dwell run` measured on this machine;
 *   - what the recorder and the probes measured of themselves, as changes of chunks: the part "profiler" of the loop;
 *   - PyTorch's callbacks and hooks, if the probe stored their cost; where some steps were recorded without operators,
 *     the probe's own sum of what it did in a step of either kind;
 *   - steps that begin at a function of a native program (--step-on), each at what the process measured;
 *   - calls of libc that may wait, which the sampler measures, each as a range;
 *   - CUPTI's own work in the thread that launches, if dwell recorded devices by it: launches, each at a constant.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"
#include "model/device/sums.h"
#include "views/overview_parts.h"

#define LEAST_CALLS 0.0005 /* of the run, as the least share that is printed */

/* Returns the time of the ranges that the recorder and the probes wrote about themselves: the part "profiler". */
static double cost_own_ranges(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, DW_VIEW_CATEGORY(PROFILER), error);
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
	double callback_ns = dw_view_meta_number(source, DW_KEY_TORCH_CALLBACK_NS),
	hook_ns = dw_view_meta_number(source, DW_KEY_TORCH_HOOK_NS);
	double ns = 0;

	if (callback_ns > range_ns)
		ns += (callback_ns - range_ns) * cost_count_calls(model, DW_VIEW_CATEGORY(OPERATOR), error);
	if (hook_ns > range_ns)
		ns += (hook_ns - range_ns) * cost_count_calls(model, DW_VIEW_CATEGORY(LAYER), error);
	return ns;
}

/* The cost is an estimate: threads that do nothing but record can have more of it than time. */
static double cost_share(double ns, double whole_ns)
{
	return fmin(1, ns / whole_ns);
}

static bool cost_has_cupti(const struct dw_source *source)
{
	return source->events_count > 0 && dw_view_meta(source, DW_KEY_CUDA);
}

/* Calls that caused work of a device in the counted steps, also those of autograd's threads. */
static double cost_launches_of_steps(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_device_work *work = dw_model_device_work(overview->model, error);
	const struct dw_steps *steps = overview->steps;
	const struct dw_device_moment *moments = NULL;
	size_t count = 0, at = 0;
	double launches = 0;

	for (size_t i = 0; i < steps->count; i++) {
		const struct dw_step *step = &steps->steps[i]; /* by thread and begin, as the moments of a thread */

		if (!i || step->thread != step[-1].thread) {
			moments = dw_model_device_moments(overview->model, DW_DEVICE_FOR_THREAD, step->thread, &count, error);
			at = 0;
		}
		for (; work && moments && at < count && moments[at].start_ns < step->end_ns; at++)
			launches += step->counted && moments[at].start_ns >= step->start_ns && !work->calls[moments[at].call].further;
	}
	return launches;
}

static double cost_launches_of_run(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_device_work *work = dw_model_device_work(overview->model, error);
	double launches = 0;

	for (size_t i = 0; work && i < work->call_count; i++)
		launches += work->calls[i].in_scope && work->calls[i].work && !work->calls[i].further;
	return launches;
}

/* Estimates the cost of recording the counted steps, in the threads of the steps. Of all steps, if others were
 * recorded without operators. */
static void cost_of_steps(struct dw_overview *overview, double range_ns, struct dwell_error *error)
{
	const struct dw_steps *steps = overview->steps;
	const struct dw_flat *flat = dw_model_flat(overview->inside, UINT32_MAX, error);
	double recorded_ns = dw_view_meta_number(overview->source, DW_KEY_TORCH_RECORDED_NS),
	       reduced_ns = dw_view_meta_number(overview->source, DW_KEY_TORCH_REDUCED_NS),
	       step_ns = dw_view_meta_number(overview->source, DW_KEY_NATIVE_STEP_NS);
	double count = (double)steps->recorded_count, ns, whole_ns;

	if (!flat || !steps->recorded_count || !steps->recorded_ns)
		return;
	if (steps->reduced_count && isfinite(recorded_ns) && isfinite(reduced_ns))
		ns = recorded_ns * count + reduced_ns * (double)steps->reduced_count;
	else
		ns = (double)flat->ranges * range_ns + cost_torch_ns(overview->source, overview->inside, range_ns, error);
	ns += cost_own_ranges(overview->inside, error);
	if (step_ns > 0)
		ns += step_ns * count;
	if (cost_has_cupti(overview->source))
		overview->cupti_ns = DW_CUPTI_LAUNCH_NS * cost_launches_of_steps(overview, error);
	ns += overview->cupti_ns;
	whole_ns = (double)steps->recorded_ns;
	if (steps->reduced_count) {
		whole_ns = (double)steps->steps_ns;
		count += (double)steps->reduced_count;
	}
	overview->cost_share = cost_share(ns, whole_ns);
	overview->cost_ns = overview->cost_share * whole_ns / count;
	overview->cupti_ns /= count;
}

/* Estimates the cost for the thread with the most records, kept or lost. Other threads recorded at
 * the same time and did not make the run longer. */
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
	ns = cost_own_ranges(overview->model, error) + cost_torch_ns(overview->source, overview->model, range_ns, error);
	if (cost_has_cupti(overview->source))
		overview->cupti_ns = DW_CUPTI_LAUNCH_NS * cost_launches_of_run(overview, error);
	overview->cost_share = cost_share(most / 2 * range_ns + ns * most / all + overview->cupti_ns, (double)overview->wall_ns);
}

/* A call of libc that may wait is measured by two readings of the clock, as a range is. Where they are in time is not
 * known: they are taken as even. */
static double cost_of_calls(const struct dw_overview *overview, double range_ns)
{
	double calls = 0, cpu_ns = 0;

	for (size_t i = 0; i < overview->source->meta_count; i++) {
		const char *key = overview->source->metas[i].key;

		if (strcmp(key, DW_KEY_SAMPLE_CALLS) == 0)
			calls += strtod(overview->source->metas[i].value, NULL);
		else if (strcmp(key, DW_KEY_PROCESS_CPU_NS) == 0)
			cpu_ns += strtod(overview->source->metas[i].value, NULL);
	}
	return calls > 0 ? cost_share(calls * range_ns, fmax(cpu_ns, (double)overview->wall_ns)) : 0;
}

void dw_overview_cost(struct dw_overview *overview, struct dwell_error *error)
{
	double range_ns = dw_view_meta_number(overview->source, DW_KEY_COST_RANGE_NS);

	overview->cost_share = NAN;
	if (!isfinite(range_ns))
		return;
	if (overview->steps && overview->inside)
		cost_of_steps(overview, range_ns, error);
	else if (!dw_model_is_partial(overview->model))
		cost_of_run(overview, range_ns, error);
	if (!dw_model_is_partial(overview->model)) {
		double calls = cost_of_calls(overview, range_ns);

		if (calls >= LEAST_CALLS) {
			overview->cost_share = fmin(1, (isfinite(overview->cost_share) ? overview->cost_share : 0) + calls);
			if (overview->steps && overview->steps->recorded_count)
				overview->cost_ns += calls * (double)overview->steps->recorded_ns / (double)overview->steps->recorded_count;
		}
	}
}
