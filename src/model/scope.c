/*
 * Which threads and which times a scope means.
 *
 * Called by dw_model_create() once and by products for their walls. A range is in
 * scope when it begins in a wanted thread and inside one of the wanted steps of
 * its process; a process without steps of its own (a loader worker) goes with the
 * nearest ancestor that has some, else with all steps of the run. With profiles it
 * begins inside one of those too, and its thread is not inside another of its own; with
 * an action, inside that one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "model/scope_inside.h"

/* ---- threads ----------------------------------------------------------------------- */

/* What tells the processes of this run apart. */
static void tell_process(const struct dw_source *source, uint32_t index, char *room, size_t size)
{
	const struct dw_source_process *process = &source->processes[index];
	size_t recorded = 0;

	for (size_t i = 0; i < source->process_count; i++)
		recorded += !(source->processes[i].flags & DW_PROCESS_RUNNER);
	room[0] = '\0';
	if (recorded < 2)
		return;
	if (process->rank >= 0)
		snprintf(room, size, "rank %d ", process->rank);
	else
		snprintf(room, size, "%.60s[%u] ", process->label, process->pid);
}

void dw_model_thread_name(const struct dw_model *model, uint32_t thread, char *room, size_t size)
{
	const struct dw_source_thread *from = &model->source->threads[thread];
	char process[80], tid[24];

	tell_process(model->source, from->process, process, sizeof process);
	snprintf(tid, sizeof tid, "%u", from->tid);
	snprintf(room, size, "%s%.120s", process, *from->name ? from->name : tid);
}

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
		char name[224];

		dw_model_thread_name(model, (uint32_t)i, name, sizeof name);
		model->wanted_threads[i] = strcmp(thread->name, wanted) == 0 || strcmp(name, wanted) == 0 ||
		                           (is_tid && thread->tid == tid);
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

/* ---- lists of intervals -------------------------------------------------------------- */

/* From ns: the arena's, in the ticks of the process's file, with its last; NULL: out of
 * memory. */
static struct dw_interval *keep(struct dw_model *model, uint32_t process,
                                const struct dw_interval *intervals, size_t count)
{
	const struct dw_source *source = model->source;
	const struct dw_source_clock *clock = &source->files[source->processes[process].file].clock;
	struct dw_interval *to = dw_arena_alloc(&model->arena, (count + 1) * sizeof *to);

	for (size_t i = 0; to && i < count; i++) {
		to[i].start_ticks = dw_source_ticks(clock, intervals[i].start_ticks);
		to[i].end_ticks = dw_source_ticks(clock, intervals[i].end_ticks);
	}
	if (to)
		to[count] = (struct dw_interval){ UINT64_MAX, UINT64_MAX };
	return to;
}

/* While the scope is resolved. */
struct scratch {
	bool *has_steps;                    /* by process: it has some of its own */
	struct dw_interval *steps;          /* those that a process goes by, united */
	size_t step_count;
	struct dw_profile_times *profiles;  /* NULL: no scope of profiles */
	struct dw_interval *both;           /* room for what lies in steps and profiles */
	struct dw_action_times *action;     /* NULL: no scope of an action */
};

/* ---- steps ------------------------------------------------------------------------------ */

static bool is_wanted(const struct dw_scope *scope, const struct dw_source_step *step)
{
	return !scope->has_steps ||
	       (step->number >= scope->steps_from && step->number <= scope->steps_to);
}

/* Appends a process's wanted steps. */
static void collect(const struct dw_model *model, uint32_t process, struct scratch *scratch)
{
	const struct dw_source *source = model->source;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (source->threads[step->thread].process == process && is_wanted(&model->scope, step))
			scratch->steps[scratch->step_count++] =
			    (struct dw_interval){ step->start_ns, step->end_ns };
	}
}

static bool has_steps(const struct dw_source *source, uint32_t process)
{
	for (size_t i = 0; i < source->step_count; i++)
		if (source->threads[source->steps[i].thread].process == process)
			return true;
	return false;
}

/* Who sets the pace of a process: itself, an ancestor, or nobody. */
static uint32_t pacemaker(const struct dw_source *source, const bool *has_steps, uint32_t process)
{
	for (size_t hops = 0; process != DW_NO_INDEX && hops <= source->process_count; hops++) {
		if (has_steps[process])
			return process;
		process = source->processes[process].parent;
	}
	return DW_NO_INDEX;
}

static void steps_of(const struct dw_model *model, uint32_t process, struct scratch *scratch)
{
	const struct dw_source *source = model->source;
	uint32_t by = pacemaker(source, scratch->has_steps, process);

	scratch->step_count = 0;
	for (uint32_t p = 0; p < source->process_count; p++)
		if (by == DW_NO_INDEX || p == by)
			collect(model, p, scratch);
	scratch->step_count = dw_intervals_unite(scratch->steps, scratch->step_count);
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
		                    "%s has no steps: mark them with DWELL_STEP() or dwell_step(), in Python dwell.step()",
		                    source->files[0].path);
	return dw_error_set(error, DWELL_E_NO_DATA, "%s has steps %llu..%llu, none of %llu..%llu",
	                    source->files[0].path, (unsigned long long)first,
	                    (unsigned long long)last, (unsigned long long)model->scope.steps_from,
	                    (unsigned long long)model->scope.steps_to);
}

/* ---- both -------------------------------------------------------------------------------- */

/* What lies in the action as well; `from` NULL: all times do. */
static struct dw_interval *keep_in_action(struct dw_model *model, uint32_t process, uint32_t thread,
                                          const struct scratch *scratch,
                                          const struct dw_interval *from, size_t from_count)
{
	struct dw_interval *action, *both = NULL, *kept = NULL;
	size_t count =
	    dw_action_times_of(scratch->action, model->source, process, thread, &action);

	if (!action)
		return NULL;
	count = dw_intervals_unite(action, count);
	if (!from) {
		kept = keep(model, process, action, count);
	} else if ((both = malloc((count + from_count + 1) * sizeof *both))) {
		count = dw_intervals_intersect(action, count, from, from_count, both);
		kept = keep(model, process, both, count);
	}
	free(action);
	free(both);
	return kept;
}

static struct dw_interval *resolve_one(struct dw_model *model, uint32_t process, uint32_t thread,
                                       struct scratch *scratch)
{
	const struct dw_interval *list = NULL; /* all times */
	size_t count = 0;

	if (model->scope.has_steps) {
		steps_of(model, process, scratch);
		list = scratch->steps;
		count = scratch->step_count;
	}
	if (scratch->profiles) {
		const struct dw_profile_times *profiles = scratch->profiles;

		dw_profile_times_of(scratch->profiles, model->source, process, thread);
		if (list)
			count = dw_intervals_intersect(list, count, profiles->open, profiles->open_count,
			                               scratch->both);
		else
			count = profiles->open_count;
		list = list ? scratch->both : profiles->open;
	}
	if (scratch->action)
		return keep_in_action(model, process, thread, scratch, list, count);
	return keep(model, process, list, count);
}

static int resolve_all(struct dw_model *model, struct scratch *scratch)
{
	const struct dw_source *source = model->source;

	for (uint32_t p = 0; p < source->process_count; p++) {
		model->intervals[p] = resolve_one(model, p, DW_NO_INDEX, scratch);
		if (!model->intervals[p])
			return -1;
	}
	for (uint32_t t = 0; model->thread_intervals && t < source->thread_count; t++) {
		model->thread_intervals[t] = resolve_one(model, source->threads[t].process, t, scratch);
		if (!model->thread_intervals[t])
			return -1;
	}
	return 0;
}

static int make_scratch(struct dw_model *model, struct scratch *scratch)
{
	const struct dw_source *source = model->source;
	bool by_thread = scratch->profiles || scratch->action;

	scratch->has_steps = calloc(source->process_count + 1, sizeof *scratch->has_steps);
	scratch->steps = calloc(source->step_count + 1, sizeof *scratch->steps);
	scratch->both =
	    calloc(source->step_count + 3 * source->profile_count + 1, sizeof *scratch->both);
	model->intervals =
	    dw_arena_alloc(&model->arena, (source->process_count + 1) * sizeof *model->intervals);
	if (by_thread)
		model->thread_intervals = dw_arena_alloc(
		    &model->arena, (source->thread_count + 1) * sizeof *model->thread_intervals);
	if (!scratch->has_steps || !scratch->steps || !scratch->both || !model->intervals ||
	    (by_thread && !model->thread_intervals))
		return -1;
	for (uint32_t p = 0; p < source->process_count; p++)
		scratch->has_steps[p] = has_steps(source, p);
	return 0;
}

static bool has_any_step(const struct dw_model *model)
{
	for (size_t i = 0; i < model->source->step_count; i++)
		if (is_wanted(&model->scope, &model->source->steps[i]))
			return true;
	return false;
}

static int resolve_times(struct dw_model *model, struct dwell_error *error)
{
	struct dw_action_times action = { .threads = NULL };
	struct dw_profile_times profiles = { .wanted = NULL };
	struct scratch scratch = { .steps = NULL };
	int result = 0;

	/* First: it walks the streams, which are all in scope so far. */
	if (model->scope.action) {
		scratch.action = &action;
		result = dw_action_times_init(&action, model, error);
	}
	if (result == 0 && (model->scope.profile || model->scope.profile_id)) {
		scratch.profiles = &profiles;
		result = dw_profile_times_init(&profiles, model, error);
	}
	if (result == 0 && (make_scratch(model, &scratch) || resolve_all(model, &scratch)))
		result = dw_model_no_memory(model, error);
	if (result == 0 && model->scope.has_steps && !has_any_step(model))
		result = no_such_steps(model, error);
	dw_action_times_reset(&action);
	dw_profile_times_reset(&profiles);
	free(scratch.has_steps);
	free(scratch.steps);
	free(scratch.both);
	return result;
}

/* The same window for all processes, in the ticks of each. */
static int resolve_window(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_interval window = { model->scope.from_ns, model->scope.to_ns };
	size_t count = model->source->process_count;

	model->intervals = dw_arena_alloc(&model->arena, (count + 1) * sizeof *model->intervals);
	for (uint32_t p = 0; model->intervals && p < count; p++) {
		model->intervals[p] = keep(model, p, &window, 1);
		if (!model->intervals[p])
			model->intervals = NULL;
	}
	return model->intervals ? 0 : dw_model_no_memory(model, error);
}

int dw_scope_resolve(struct dw_model *model, struct dwell_error *error)
{
	int result = 0;

	if (model->scope.thread)
		result = resolve_thread(model, error);
	if (result == 0 && (model->scope.has_steps || model->scope.profile || model->scope.profile_id ||
	                    model->scope.action))
		result = resolve_times(model, error);
	else if (result == 0 && model->scope.has_window)
		result = resolve_window(model, error);
	return result;
}

/* ---- questions ---------------------------------------------------------------------------- */

bool dw_model_has_step(const struct dw_model *model, const struct dw_source_step *step)
{
	const struct dw_interval *at =
	    model->thread_intervals ? model->thread_intervals[step->thread] : NULL;

	if (!is_wanted(&model->scope, step))
		return false;
	if (model->scope.has_window)
		return step->start_ns >= model->scope.from_ns && step->start_ns < model->scope.to_ns;
	for (; at && at->start_ticks != UINT64_MAX; at++)
		if (step->start_ticks >= at->start_ticks && step->start_ticks < at->end_ticks)
			return true;
	return !model->thread_intervals;
}

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
