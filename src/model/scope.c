/*
 * Which threads and which times a scope means.
 *
 * Called by dw_model_create() once and by products for their walls. A range is in
 * scope when it begins in a wanted thread and inside one of the wanted steps of
 * its process; a process without steps of its own (a loader worker) goes with the
 * nearest ancestor that has some, else with all steps of the run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "model/inside.h"

/* ---- threads ----------------------------------------------------------------------- */

static int resolve_thread(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	const char *wanted = model->scope.thread;
	struct dw_nearest nearest;
	char *end;
	unsigned long tid = strtoul(wanted, &end, 10);
	bool is_tid = *wanted && !*end, found = false;

	model->wanted_threads = dw_arena_alloc(&model->arena, source->thread_count + 1);
	if (!model->wanted_threads)
		return dw_model_no_memory(model, error);
	dw_nearest_init(&nearest, wanted);
	for (size_t i = 0; i < source->thread_count; i++) {
		const struct dw_source_thread *thread = &source->threads[i];

		model->wanted_threads[i] =
		    strcmp(thread->name, wanted) == 0 || (is_tid && thread->tid == tid);
		found |= model->wanted_threads[i];
		dw_nearest_try(&nearest, thread->name);
	}
	if (found)
		return 0;
	if (!nearest.best)
		return dw_error_set(error, DWELL_E_NAME,
		                    "no thread '%s' in %s (dwell report --view threads lists all)", wanted,
		                    source->files[0].path);
	return dw_error_set(error, DWELL_E_NAME,
	                    "no thread '%s' in %s; did you mean '%s'? (dwell report --view threads "
	                    "lists all)", wanted, source->files[0].path, nearest.best);
}

/* ---- steps ------------------------------------------------------------------------------ */

/* A process's wanted steps as intervals in ns, steps that touch made one. */
static size_t collect(const struct dw_model *model, uint32_t process, struct dw_interval *to)
{
	const struct dw_source *source = model->source;
	size_t count = 0;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (source->threads[step->thread].process != process ||
		    step->number < model->scope.steps_from || step->number > model->scope.steps_to)
			continue;
		if (count && step->start_ns <= to[count - 1].end_ticks) {
			if (step->end_ns > to[count - 1].end_ticks)
				to[count - 1].end_ticks = step->end_ns;
			continue;
		}
		to[count++] = (struct dw_interval){ step->start_ns, step->end_ns };
	}
	return count;
}

static int compare_intervals(const void *left, const void *right)
{
	const struct dw_interval *a = left, *b = right;

	return (a->start_ticks > b->start_ticks) - (a->start_ticks < b->start_ticks);
}

static size_t unite(struct dw_interval *intervals, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(intervals, count, sizeof *intervals, compare_intervals);
	for (size_t i = 0; i < count; i++) {
		if (kept && intervals[i].start_ticks <= intervals[kept - 1].end_ticks) {
			if (intervals[i].end_ticks > intervals[kept - 1].end_ticks)
				intervals[kept - 1].end_ticks = intervals[i].end_ticks;
		} else {
			intervals[kept++] = intervals[i];
		}
	}
	return kept;
}

static bool has_steps(const struct dw_source *source, uint32_t process)
{
	for (size_t i = 0; i < source->step_count; i++)
		if (source->threads[source->steps[i].thread].process == process)
			return true;
	return false;
}

/* Who sets the pace of a process: itself, an ancestor, or nobody. */
static uint32_t pacemaker(const struct dw_source *source, const bool *steps, uint32_t process)
{
	for (size_t hops = 0; process != DW_NO_INDEX && hops <= source->process_count; hops++) {
		if (steps[process])
			return process;
		process = source->processes[process].parent;
	}
	return DW_NO_INDEX;
}

static int resolve_process(struct dw_model *model, uint32_t process, const bool *steps,
                           struct dw_interval *scratch)
{
	const struct dw_source *source = model->source;
	const struct dw_source_clock *clock =
	    &source->files[source->processes[process].file].clock;
	uint32_t by = pacemaker(source, steps, process);
	size_t count = 0;

	for (uint32_t p = 0; p < source->process_count; p++)
		if (by == DW_NO_INDEX || p == by)
			count += collect(model, p, scratch + count);
	count = unite(scratch, count);
	struct dw_interval *to =
	    dw_arena_alloc(&model->arena, (count + 1) * sizeof *model->intervals[process]);
	if (!to)
		return -1;
	for (size_t i = 0; i < count; i++) {
		to[i].start_ticks = dw_source_ticks(clock, scratch[i].start_ticks);
		to[i].end_ticks = dw_source_ticks(clock, scratch[i].end_ticks);
	}
	to[count] = (struct dw_interval){ UINT64_MAX, UINT64_MAX };
	model->intervals[process] = to;
	return 0;
}

static int no_such_steps(const struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < source->step_count; i++) {
		if (source->steps[i].number < first)
			first = source->steps[i].number;
		if (source->steps[i].number > last)
			last = source->steps[i].number;
	}
	if (!source->step_count)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "%s has no steps: mark them with DWELL_STEP() or dwell_step()",
		                    source->files[0].path);
	return dw_error_set(error, DWELL_E_NO_DATA, "%s has steps %llu..%llu, none of %llu..%llu",
	                    source->files[0].path, (unsigned long long)first,
	                    (unsigned long long)last, (unsigned long long)model->scope.steps_from,
	                    (unsigned long long)model->scope.steps_to);
}

static int resolve_steps(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	bool *steps = calloc(source->process_count + 1, sizeof *steps), any = false;
	struct dw_interval *scratch = calloc(source->step_count + 1, sizeof *scratch);
	int result = 0;

	model->intervals =
	    dw_arena_alloc(&model->arena, (source->process_count + 1) * sizeof *model->intervals);
	if (!steps || !scratch || !model->intervals)
		result = -1;
	for (uint32_t p = 0; result == 0 && p < source->process_count; p++) {
		steps[p] = has_steps(source, p);
		any |= collect(model, p, scratch) > 0;
	}
	for (uint32_t p = 0; result == 0 && p < source->process_count; p++)
		result = resolve_process(model, p, steps, scratch);
	free(steps);
	free(scratch);
	if (result)
		return dw_model_no_memory(model, error);
	return any ? 0 : no_such_steps(model, error);
}

int dw_scope_resolve(struct dw_model *model, struct dwell_error *error)
{
	int result = 0;

	if (model->scope.thread)
		result = resolve_thread(model, error);
	if (result == 0 && model->scope.has_steps)
		result = resolve_steps(model, error);
	return result;
}

/* ---- questions ---------------------------------------------------------------------------- */

bool dw_scope_has_stream(const struct dw_model *model, const struct dw_source_stream *stream)
{
	const struct dw_source *source = model->source;

	if (!model->wanted_threads)
		return true;
	for (size_t i = 0; i < source->thread_count; i++)
		if (model->wanted_threads[i] && source->threads[i].process == stream->process &&
		    source->threads[i].stream == (stream->stream & ~DW_STREAM_NESTED))
			return true;
	return false;
}

uint64_t dw_scope_wall_ns(const struct dw_model *model)
{
	const struct dw_source *source = model->source;
	uint64_t wall_ns = 0;

	if (!model->intervals) {
		uint64_t start_ns = UINT64_MAX, end_ns = 0;

		for (size_t i = 0; i < source->process_count; i++) {
			if (source->processes[i].flags & DW_PROCESS_RUNNER)
				continue;
			if (source->processes[i].start_ns < start_ns)
				start_ns = source->processes[i].start_ns;
			if (source->processes[i].end_ns > end_ns)
				end_ns = source->processes[i].end_ns;
		}
		return end_ns > start_ns ? end_ns - start_ns : 0;
	}
	/* Ranks step side by side: the longest of them, not the sum. */
	for (size_t i = 0; i < source->process_count; i++) {
		const struct dw_source_clock *clock =
		    &source->files[source->processes[i].file].clock;
		uint64_t ticks = 0;

		for (const struct dw_interval *at = model->intervals[i]; at->start_ticks != UINT64_MAX; at++)
			ticks += at->end_ticks - at->start_ticks;
		if (dw_source_span_ns(clock, ticks) > wall_ns)
			wall_ns = dw_source_span_ns(clock, ticks);
	}
	return wall_ns;
}
