/*
 * Coverage: the share of the scope's time that was recorded.
 *
 * With steps: of the wall time of the step threads. Without: of each thread, from its first to its
 * last record. If neither the file nor a walk so far knows of a missing record, it is all of the
 * time, and no walk is needed to say so.
 */
#include "model/steps/steps.h"
#include "model/time/threads.h"
#include "model/core/model_data.h"

static double coverage_ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)(part < whole ? part : whole) / (double)whole : 1.0;
}

static uint64_t coverage_sum_intervals(const struct dw_interval *at)
{
	uint64_t ticks = 0;

	for (; at->start_ticks != UINT64_MAX; at++)
		ticks += at->end_ticks - at->start_ticks;
	return ticks;
}

/* The end of the last hole; 0: there are none. */
static uint64_t coverage_last_tick(const struct dw_interval *at)
{
	uint64_t last = 0;

	for (; at->start_ticks != UINT64_MAX; at++)
		last = at->end_ticks;
	return last;
}

/* Without steps: of each thread, from its first to its last record or hole. */
static double coverage_of_threads(const struct dw_model *model, const struct dw_threads *threads)
{
	const struct dw_source *source = model->source;
	uint64_t asked = 0, missing = 0;

	for (size_t i = 0; i < threads->count; i++) {
		const struct dw_thread_row *row = &threads->rows[i];
		const struct dw_interval *holes = threads->missing[row->thread];
		uint32_t process = source->threads[row->thread].process;
		const struct dw_source_clock *clock = &source->files[source->processes[process].file].clock;
		uint64_t first_ns = row->first_ns, last_ns = row->last_ns;

		if (row->nested)
			continue;
		if (holes->start_ticks != UINT64_MAX) {
			uint64_t hole_ns = dw_source_ns(clock, holes->start_ticks);
			uint64_t end_ns = dw_source_ns(clock, coverage_last_tick(holes));

			first_ns = first_ns < hole_ns ? first_ns : hole_ns;
			last_ns = last_ns > end_ns ? last_ns : end_ns;
		}
		asked += last_ns - first_ns;
		missing += dw_source_span_ns(clock, coverage_sum_intervals(holes));
	}
	return coverage_ratio(asked > missing ? asked - missing : 0, asked);
}

bool dw_model_is_covered(const struct dw_model *model)
{
	const struct dw_source *source = model->source;

	for (size_t i = 0; i < source->step_count; i++)
		if (!source->steps[i].recorded && !source->steps[i].reduced)
			return false;
	return dw_threads_are_whole(model);
}

double dw_model_coverage(struct dw_model *model)
{
	const struct dw_steps *steps;
	const struct dw_threads *threads;

	if (dw_model_is_covered(model))
		return 1;
	steps = dw_model_steps(model, NULL);
	threads = dw_model_threads(model, NULL);
	if (!steps || !threads)
		return 0;
	if (!steps->count)
		return coverage_of_threads(model, threads);
	return coverage_ratio(steps->wall_ns > steps->missing_ns ? steps->wall_ns - steps->missing_ns : 0, steps->wall_ns);
}
