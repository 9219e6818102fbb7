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
#include "model/scope_action.h"

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

/* ---- lists of intervals, in ns until they are resolved ------------------------------------ */

static int compare_intervals(const void *left, const void *right)
{
	const struct dw_interval *a = left, *b = right;

	return (a->start_ticks > b->start_ticks) - (a->start_ticks < b->start_ticks);
}

/* In place: ascending, what touches made one. */
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

/* `from` without `less`, both united; at most the sum of both. */
static size_t subtract(const struct dw_interval *from, size_t count, const struct dw_interval *less,
                       size_t less_count, struct dw_interval *to)
{
	size_t kept = 0, at = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t start = from[i].start_ticks, end = from[i].end_ticks;

		while (at < less_count && less[at].end_ticks <= start)
			at++;
		for (size_t l = at; l < less_count && less[l].start_ticks < end; l++) {
			if (less[l].start_ticks > start)
				to[kept++] = (struct dw_interval){ start, less[l].start_ticks };
			start = less[l].end_ticks;
		}
		if (start < end)
			to[kept++] = (struct dw_interval){ start, end };
	}
	return kept;
}

/* What lies in both, both united; at most the sum of both. */
static size_t intersect(const struct dw_interval *a, size_t a_count, const struct dw_interval *b,
                        size_t b_count, struct dw_interval *to)
{
	size_t kept = 0;

	for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
		uint64_t start = a[i].start_ticks > b[j].start_ticks ? a[i].start_ticks : b[j].start_ticks;
		uint64_t end = a[i].end_ticks < b[j].end_ticks ? a[i].end_ticks : b[j].end_ticks;

		if (start < end)
			to[kept++] = (struct dw_interval){ start, end };
		if (a[i].end_ticks < b[j].end_ticks)
			i++;
		else
			j++;
	}
	return kept;
}

/* The arena's, in the ticks of the process's file, with its last; NULL: out of memory. */
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

/* Room for lists while the scope is resolved. */
struct scratch {
	bool *steps;              /* by process: it has some of its own */
	bool *profiles;           /* by profile: it is wanted; NULL: no scope of profiles */
	struct dw_interval *lists[5];
	size_t counts[5];
	struct dw_action_times *action; /* NULL: no scope of an action */
};
enum { BY_STEPS, BY_PROFILES, OWN, REST, BOTH };

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
	struct dw_interval *to = scratch->lists[BY_STEPS];

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (source->threads[step->thread].process == process && is_wanted(&model->scope, step))
			to[scratch->counts[BY_STEPS]++] = (struct dw_interval){ step->start_ns, step->end_ns };
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
static uint32_t pacemaker(const struct dw_source *source, const bool *steps, uint32_t process)
{
	for (size_t hops = 0; process != DW_NO_INDEX && hops <= source->process_count; hops++) {
		if (steps[process])
			return process;
		process = source->processes[process].parent;
	}
	return DW_NO_INDEX;
}

static void steps_of(const struct dw_model *model, uint32_t process, struct scratch *scratch)
{
	const struct dw_source *source = model->source;
	uint32_t by = pacemaker(source, scratch->steps, process);

	scratch->counts[BY_STEPS] = 0;
	for (uint32_t p = 0; p < source->process_count; p++)
		if (by == DW_NO_INDEX || p == by)
			collect(model, p, scratch);
	scratch->counts[BY_STEPS] = unite(scratch->lists[BY_STEPS], scratch->counts[BY_STEPS]);
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

/* ---- profiles --------------------------------------------------------------------------- */

static bool is_profile(const struct dw_scope *scope, const struct dw_source_profile *profile)
{
	char *end;
	unsigned long id;

	if (scope->profile_id)
		return profile->id == scope->profile_id;
	id = strtoul(scope->profile, &end, 10);
	return strcmp(profile->name, scope->profile) == 0 || (!*end && profile->id == id);
}

static int find_profiles(struct dw_model *model, struct scratch *scratch, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	struct dw_nearest nearest;
	bool found = false;

	dw_nearest_init(&nearest, model->scope.profile ? model->scope.profile : "");
	for (size_t i = 0; i < source->profile_count; i++) {
		scratch->profiles[i] = is_profile(&model->scope, &source->profiles[i]);
		found |= scratch->profiles[i];
		dw_nearest_try(&nearest, source->profiles[i].name);
	}
	if (found)
		return 0;
	if (!source->profile_count)
		return dw_error_set(error, DWELL_E_NO_DATA,
		                    "%s has no profiles: they are made with dwell_profile_create()",
		                    source->files[0].path);
	return dw_error_set(error, DWELL_E_NAME, "no profile '%.100s' in %s%s%s%s (dwell info lists all)",
	                    model->scope.profile ? model->scope.profile : "of that id",
	                    source->files[0].path, nearest.best ? "; did you mean '" : "",
	                    nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

static bool descends(const struct dw_source *source, uint32_t process, uint32_t from)
{
	for (size_t hops = 0; process != DW_NO_INDEX && hops <= source->process_count; hops++) {
		if (process == from)
			return true;
		process = source->processes[process].parent;
	}
	return false;
}

/* The wanted profiles that a process, or one of its threads, lies in. */
static void profiles_of(const struct dw_model *model, uint32_t process, uint32_t thread,
                        struct scratch *scratch)
{
	const struct dw_source *source = model->source;
	struct dw_interval **lists = scratch->lists;
	size_t all = 0, own = 0;

	for (size_t i = 0; i < source->profile_count; i++) {
		const struct dw_source_profile *profile = &source->profiles[i];
		struct dw_interval interval = { profile->start_ns, profile->end_ns };
		bool is_own = profile->thread == thread;

		if (is_own)
			lists[OWN][own++] = interval;
		if (scratch->profiles[i] && !is_own &&
		    descends(source, process, source->threads[profile->thread].process))
			lists[REST][all++] = interval;
	}
	own = unite(lists[OWN], own);
	all = unite(lists[REST], all);
	/* A thread inside a profile of its own is that one's affair. */
	all = subtract(lists[REST], all, lists[OWN], own, lists[BY_PROFILES]);
	for (size_t i = 0; i < source->profile_count; i++)
		if (scratch->profiles[i] && source->profiles[i].thread == thread)
			lists[BY_PROFILES][all++] =
			    (struct dw_interval){ source->profiles[i].start_ns, source->profiles[i].end_ns };
	scratch->counts[BY_PROFILES] = unite(lists[BY_PROFILES], all);
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
	count = unite(action, count);
	if (!from) {
		kept = keep(model, process, action, count);
	} else if ((both = malloc((count + from_count + 1) * sizeof *both))) {
		count = intersect(action, count, from, from_count, both);
		kept = keep(model, process, both, count);
	}
	free(action);
	free(both);
	return kept;
}

static struct dw_interval *resolve_one(struct dw_model *model, uint32_t process, uint32_t thread,
                                       struct scratch *scratch)
{
	enum { STEPS = 1, PROFILES = 2 };
	unsigned by = (model->scope.has_steps ? STEPS : 0) | (scratch->profiles ? PROFILES : 0);
	size_t list = by == STEPS ? BY_STEPS : BY_PROFILES;

	if (by & STEPS)
		steps_of(model, process, scratch);
	if (by & PROFILES)
		profiles_of(model, process, thread, scratch);
	if (by == (STEPS | PROFILES)) {
		list = BOTH;
		scratch->counts[BOTH] =
		    intersect(scratch->lists[BY_STEPS], scratch->counts[BY_STEPS],
		              scratch->lists[BY_PROFILES], scratch->counts[BY_PROFILES],
		              scratch->lists[BOTH]);
	}
	if (scratch->action)
		return keep_in_action(model, process, thread, scratch, by ? scratch->lists[list] : NULL,
		                      scratch->counts[list]);
	return keep(model, process, scratch->lists[list], scratch->counts[list]);
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

static int make_scratch(struct dw_model *model, struct scratch *scratch, bool profiles)
{
	const struct dw_source *source = model->source;
	size_t room = source->step_count + 3 * source->profile_count + 2;
	bool failed;

	scratch->steps = calloc(source->process_count + 1, sizeof *scratch->steps);
	failed = !scratch->steps;
	for (size_t i = 0; i < sizeof scratch->lists / sizeof *scratch->lists; i++) {
		scratch->lists[i] = calloc(room, sizeof *scratch->lists[i]);
		failed |= !scratch->lists[i];
	}
	model->intervals =
	    dw_arena_alloc(&model->arena, (source->process_count + 1) * sizeof *model->intervals);
	failed |= !model->intervals;
	if (profiles) {
		scratch->profiles = calloc(source->profile_count + 1, sizeof *scratch->profiles);
		failed |= !scratch->profiles;
	}
	if (profiles || scratch->action) {
		model->thread_intervals = dw_arena_alloc(
		    &model->arena, (source->thread_count + 1) * sizeof *model->thread_intervals);
		failed |= !model->thread_intervals;
	}
	return failed ? -1 : 0;
}

static int resolve_times(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	bool profiles = model->scope.profile || model->scope.profile_id, any = false;
	struct dw_action_times action = { NULL, 0 };
	struct scratch scratch = { .action = model->scope.action ? &action : NULL };
	int result = 0;

	/* First: it walks the streams, which are all in scope so far. */
	if (scratch.action)
		result = dw_action_times_init(&action, model, error);
	if (result) {
		dw_action_times_reset(&action);
		return result;
	}
	result = make_scratch(model, &scratch, profiles);
	for (uint32_t p = 0; result == 0 && p < source->process_count; p++)
		scratch.steps[p] = has_steps(source, p);
	if (result)
		result = dw_model_no_memory(model, error);
	else if (profiles)
		result = find_profiles(model, &scratch, error);
	if (result == 0 && resolve_all(model, &scratch))
		result = dw_model_no_memory(model, error);
	for (size_t i = 0; result == 0 && model->scope.has_steps && i < source->step_count; i++)
		any |= is_wanted(&model->scope, &source->steps[i]);
	if (result == 0 && model->scope.has_steps && !any)
		result = no_such_steps(model, error);
	dw_action_times_reset(&action);
	free(scratch.steps);
	free(scratch.profiles);
	for (size_t i = 0; i < sizeof scratch.lists / sizeof *scratch.lists; i++)
		free(scratch.lists[i]);
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
