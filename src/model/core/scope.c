/*
 * Which threads and times are in scope.
 *
 * Called once by dw_model_create() and dw_model_within(), and by products for the wall time. A
 * range is in scope if it begins in a selected thread and inside a selected step of its process. A
 * process without steps (a loader worker) uses the steps of its nearest ancestor that has steps;
 * without such an ancestor it uses the steps of all processes. With profiles, the range must also
 * begin while one of them is open, and while its thread has no other profile of its own open. With
 * an action, it must also begin inside that action. With a window, it must also begin in the window.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/free.h"
#include "base/map.h"
#include "base/nearest.h"
#include "base/order.h"
#include "model/core/scope.h"
#include "model/core/scope_times.h"

/* ---- threads ----------------------------------------------------------------------- */

/* Writes the prefix that identifies a thread's process; empty if the run has only one process. */
static void scope_process_prefix(const struct dw_source *source, uint32_t index, char *room, size_t size)
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

	scope_process_prefix(model->source, from->process, process, sizeof process);
	snprintf(tid, sizeof tid, "%u", from->tid);
	if (*from->name && model->namesakes[thread])
		snprintf(room, size, "%s%.120s [%s]", process, from->name, tid);
	else
		snprintf(room, size, "%s%.120s", process, *from->name ? from->name : tid);
}

bool dw_model_has_namesake(const struct dw_model *model, uint32_t thread)
{
	return model->namesakes[thread];
}

/* Sorts threads with the same process and name next to one another. */
DW_ORDER_OF_POINTERS(scope_compare_names, struct dw_source_thread, DW_UP(process) DW_TEXT(name))

int dw_scope_find_namesakes(struct dw_model *model)
{
	const struct dw_source *source = model->source;
	const struct dw_source_thread **order = calloc(source->thread_count + 1, sizeof *order);

	model->namesakes = dw_arena_alloc(&model->arena, source->thread_count + 1);
	for (size_t i = 0; order && i < source->thread_count; i++)
		order[i] = &source->threads[i];
	DW_SORT(order, source->thread_count, scope_compare_names);
	for (size_t i = 1; order && model->namesakes && i < source->thread_count; i++)
		if (scope_compare_names(&order[i - 1], &order[i]) == 0)
			model->namesakes[order[i - 1] - source->threads] = model->namesakes[order[i] - source->threads] = true;
	free(order);
	return order && model->namesakes ? 0 : -1;
}

static int scope_resolve_thread(struct dw_model *model, struct dwell_error *error)
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
	return dw_error_set(error, DWELL_E_NAME, "no thread '%s' in %s%s (dwell report --view threads lists all)", wanted,
	                    source->files[0].path, dw_nearest_question(&nearest).at);
}

/* ---- lists of intervals -------------------------------------------------------------- */

/* Copies intervals in ns to the arena, as ticks of the process's file, with an end marker. NULL:
 * out of memory. */
static struct dw_interval *scope_keep_intervals(struct dw_model *model, uint32_t process,
                                                const struct dw_interval *intervals, size_t count)
{
	const struct dw_source *source = model->source;
	const struct dw_source_clock *clock = &source->files[source->processes[process].file].clock;
	struct dw_interval *to = dw_arena_alloc(&model->arena, (count + 2) * sizeof *to);

	if (to)
		to++->start_ticks = count; /* see scope_interval_count() */
	for (size_t i = 0; to && i < count; i++) {
		to[i].start_ticks = dw_source_ticks(clock, intervals[i].start_ticks);
		to[i].end_ticks = dw_source_ticks(clock, intervals[i].end_ticks);
	}
	if (to)
		to[count] = (struct dw_interval){ UINT64_MAX, UINT64_MAX };
	return to;
}

/* The length of a list that scope_keep_intervals() made. */
static size_t scope_interval_count(const struct dw_interval *list)
{
	return (size_t)list[-1].start_ticks;
}

/* Used while the scope is resolved. */
struct scratch {
	size_t *first_step;                 /* by process: index of its first step in the source */
	uint32_t *pacemakers;               /* by process: the process whose steps it uses; UNKNOWN:
	                                     * not computed yet */
	struct dw_interval **by_pacemaker;  /* by the process whose steps are used, the last entry
	                                     * for the steps of all: the list made for them */
	bool *thread_steps;                 /* by thread: it has steps */
	struct dw_interval *steps;          /* the steps that apply to the current process, united */
	size_t step_count;
	struct dw_profile_times *profiles;  /* NULL: no profile in the scope */
	struct dw_interval *both;           /* buffer: times in both steps and profiles */
	struct dw_action_times *action;     /* NULL: no action in the scope */
};

#define UNKNOWN (DW_NO_INDEX - 1)

/* ---- steps ------------------------------------------------------------------------------ */

static bool scope_wants_step(const struct dw_model *model, const struct dw_source_step *step)
{
	const struct dw_scope *scope = &model->scope;

	return !scope->has_steps ||
	       (step->number >= scope->steps_from && step->number <= scope->steps_to &&
	        (!scope->steps_counted || scope->steps_counted[step - model->source->steps]));
}

#define OPEN_NS 1000u /* a step that did not end has the trace's last record, at its end, too */

/* Appends the selected steps of a process. With `thread`: only the steps of that thread. */
static void scope_append_steps(const struct dw_model *model, uint32_t process, uint32_t thread, struct scratch *scratch)
{
	const struct dw_source *source = model->source;

	for (size_t i = scratch->first_step[process]; i < scratch->first_step[process + 1]; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (scope_wants_step(model, step) && (thread == DW_NO_INDEX || step->thread == thread))
			scratch->steps[scratch->step_count++] =
			    (struct dw_interval){ step->start_ns, step->end_ns + (step->open ? OPEN_NS : 0) };
	}
}

/* Finds the process whose steps apply to `process`: itself, an ancestor, or DW_NO_INDEX. Each
 * process is visited once, however long the chains of ancestors are. */
static uint32_t scope_find_stepper(const struct dw_source *source, struct scratch *scratch, uint32_t process)
{
	uint32_t at = process, found = DW_NO_INDEX;

	for (size_t hops = 0; at != DW_NO_INDEX && hops <= source->process_count; hops++) {
		if (scratch->pacemakers[at] != UNKNOWN) {
			found = scratch->pacemakers[at];
			break;
		}
		if (scratch->first_step[at + 1] > scratch->first_step[at]) {
			found = at;
			break;
		}
		at = source->processes[at].parent;
	}
	for (uint32_t on = process; on != DW_NO_INDEX && scratch->pacemakers[on] == UNKNOWN;
	     on = source->processes[on].parent)
		scratch->pacemakers[on] = found;
	return found;
}

static void scope_find_steps(const struct dw_model *model, uint32_t process, uint32_t thread, struct scratch *scratch)
{
	const struct dw_source *source = model->source;
	uint32_t by = scope_find_stepper(source, scratch, process);

	if (thread != DW_NO_INDEX && !scratch->thread_steps[thread])
		thread = DW_NO_INDEX; /* use the steps of the process */
	scratch->step_count = 0;
	if (by != DW_NO_INDEX)
		scope_append_steps(model, by, thread, scratch);
	for (uint32_t p = 0; by == DW_NO_INDEX && p < source->process_count; p++)
		scope_append_steps(model, p, thread, scratch);
	scratch->step_count = dw_intervals_unite(scratch->steps, scratch->step_count);
}

static int scope_no_such_steps(const struct dw_model *model, struct dwell_error *error)
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
		                    "%s has no steps: mark them with DWELL_STEP() or dwell_step(), in Python dwell.step(), "
		                    "or record with dwell run --step-on NAME",
		                    source->files[0].path);
	return dw_error_set(error, DWELL_E_NO_DATA, "%s has steps %llu..%llu, none of %llu..%llu",
	                    source->files[0].path, (unsigned long long)first,
	                    (unsigned long long)last, (unsigned long long)model->scope.steps_from,
	                    (unsigned long long)model->scope.steps_to);
}

/* ---- steps, profiles and an action ------------------------------------------------------- */

/* Intersects with the times of the action. `from` NULL: all times. */
static struct dw_interval *scope_keep_action(struct dw_model *model, uint32_t process,
                                             uint32_t thread, const struct scratch *scratch,
                                             const struct dw_interval *from, size_t from_count)
{
	struct dw_interval *action, *both = NULL, *kept = NULL;
	size_t count = dw_action_times_of(scratch->action, model->source, process, thread, &action);

	if (!action)
		return NULL;
	count = dw_intervals_unite(action, count);
	if (!from) {
		kept = scope_keep_intervals(model, process, action, count);
	} else if ((both = malloc((count + from_count + 1) * sizeof *both))) {
		count = dw_intervals_intersect(action, count, from, from_count, both);
		kept = scope_keep_intervals(model, process, both, count);
	}
	DW_FREE(action, both);
	return kept;
}

/* For a scope of steps only: processes that use the same steps share a list. */
static struct dw_interval *scope_resolve_steps(struct dw_model *model, uint32_t process,
                                               uint32_t thread, struct scratch *scratch)
{
	const struct dw_source *source = model->source;
	uint32_t by = scope_find_stepper(source, scratch, process);
	struct dw_interval **shared = &scratch->by_pacemaker[by == DW_NO_INDEX ? source->process_count : by];
	bool own = thread != DW_NO_INDEX && scratch->thread_steps[thread];
	/* Lists are in ticks of the process's file. */
	bool same = by == DW_NO_INDEX ? source->file_count == 1
	                              : source->processes[by].file == source->processes[process].file;

	if (!own && same && *shared)
		return *shared;
	scope_find_steps(model, process, thread, scratch);
	struct dw_interval *kept = scope_keep_intervals(model, process, scratch->steps, scratch->step_count);

	if (!own && same)
		*shared = kept;
	return kept;
}

static struct dw_interval *scope_resolve_one(struct dw_model *model, uint32_t process,
                                             uint32_t thread, struct scratch *scratch)
{
	const struct dw_interval *list = NULL; /* all times */
	size_t count = 0;

	if (model->scope.has_steps && !scratch->profiles && !scratch->action)
		return scope_resolve_steps(model, process, thread, scratch);

	if (model->scope.has_steps) {
		scope_find_steps(model, process, thread, scratch);
		list = scratch->steps;
		count = scratch->step_count;
	}
	if (scratch->profiles) {
		const struct dw_profile_times *profiles = scratch->profiles;

		dw_profile_times_of(scratch->profiles, model->source, process, thread);
		if (list)
			count = dw_intervals_intersect(list, count, profiles->open, profiles->open_count, scratch->both);
		else
			count = profiles->open_count;
		list = list ? scratch->both : profiles->open;
	}
	if (scratch->action)
		return scope_keep_action(model, process, thread, scratch, list, count);
	return scope_keep_intervals(model, process, list, count);
}

static int scope_resolve_all(struct dw_model *model, struct scratch *scratch)
{
	const struct dw_source *source = model->source;

	for (uint32_t p = 0; p < source->process_count; p++) {
		model->intervals[p] = scope_resolve_one(model, p, DW_NO_INDEX, scratch);
		if (!model->intervals[p])
			return -1;
	}
	for (uint32_t t = 0; model->thread_intervals && t < source->thread_count; t++) {
		model->thread_intervals[t] = scope_resolve_one(model, source->threads[t].process, t, scratch);
		if (!model->thread_intervals[t])
			return -1;
	}
	return 0;
}

/* Whether some process has several threads with steps. Then each such thread uses its own steps. */
static bool scope_several_step(const struct dw_source *source)
{
	/* Steps are sorted by process. */
	for (size_t i = 1; i < source->step_count; i++) {
		uint32_t thread = source->steps[i].thread, before = source->steps[i - 1].thread;

		if (thread != before && source->threads[thread].process == source->threads[before].process)
			return true;
	}
	return false;
}

static int scope_make_scratch(struct dw_model *model, struct scratch *scratch)
{
	const struct dw_source *source = model->source;
	bool by_thread = scratch->profiles || scratch->action || scope_several_step(source);
	size_t processes = source->process_count;

	model->intervals = dw_arena_alloc(&model->arena, (processes + 1) * sizeof *model->intervals);
	if (by_thread)
		model->thread_intervals = dw_arena_alloc(
		    &model->arena, (source->thread_count + 1) * sizeof *model->thread_intervals);
	if (!DW_NEW(&scratch->first_step, processes + 2) || !DW_NEW(&scratch->pacemakers, processes + 1) ||
	    !DW_NEW(&scratch->by_pacemaker, processes + 1) || !DW_NEW(&scratch->thread_steps, source->thread_count + 1) ||
	    !DW_NEW(&scratch->steps, source->step_count + 1) || !model->intervals ||
	    !DW_NEW(&scratch->both, source->step_count + 3 * source->profile_count + 1) ||
	    (by_thread && !model->thread_intervals))
		return -1;
	for (size_t i = 0; i < source->step_count; i++) {
		scratch->thread_steps[source->steps[i].thread] = true;
		scratch->first_step[source->threads[source->steps[i].thread].process + 1]++;
	}
	for (size_t p = 0; p < processes; p++) {
		scratch->first_step[p + 1] += scratch->first_step[p];
		scratch->pacemakers[p] = UNKNOWN;
	}
	return 0;
}

/* The end of the last step before `ticks` in a process; `ticks` if there is none. */
static uint64_t scope_step_before(const struct dw_source *source, uint32_t process, uint64_t ticks)
{
	uint64_t end = 0;

	for (size_t i = 0; i < source->step_count; i++) {
		const struct dw_source_step *step = &source->steps[i];

		if (source->threads[step->thread].process == process && step->end_ticks <= ticks && step->end_ticks > end)
			end = step->end_ticks;
	}
	return end ? end : ticks;
}

void dw_model_extend_scope(struct dw_model *model)
{
	const struct dw_source *source = model->source;

	for (uint32_t p = 0; model->intervals && p < source->process_count; p++) {
		struct dw_interval *list = (struct dw_interval *)(uintptr_t)model->intervals[p];
		const struct dw_source_clock *clock = &source->files[source->processes[p].file].clock;

		if (!scope_interval_count(list))
			continue;
		list[0].start_ticks = scope_step_before(source, p, list[0].start_ticks);
		list[0].end_ticks = dw_source_ticks(clock, source->end_ns + OPEN_NS);
		list[1] = (struct dw_interval){ UINT64_MAX, UINT64_MAX };
		list[-1].start_ticks = 1;
	}
	model->thread_intervals = NULL;
}

static bool scope_has_any_step(const struct dw_model *model)
{
	for (size_t i = 0; i < model->source->step_count; i++)
		if (scope_wants_step(model, &model->source->steps[i]))
			return true;
	return false;
}

static int scope_resolve_times(struct dw_model *model, struct dwell_error *error)
{
	struct dw_action_times action = { .threads = NULL };
	struct dw_profile_times profiles = { .wanted = NULL };
	struct scratch scratch = { .steps = NULL };
	int result = 0;

	/* This comes first: it walks the streams and needs all times, so model->intervals must be
	 * unset. */
	if (model->scope.action) {
		scratch.action = &action;
		result = dw_action_times_init(&action, model, error);
	}
	if (result == 0 && (model->scope.profile || model->scope.profile_id)) {
		scratch.profiles = &profiles;
		result = dw_profile_times_init(&profiles, model, error);
	}
	if (result == 0 && (scope_make_scratch(model, &scratch) || scope_resolve_all(model, &scratch)))
		result = dw_model_no_memory(model, error);
	if (result == 0 && model->scope.has_steps && !scope_has_any_step(model))
		result = scope_no_such_steps(model, error);
	dw_action_times_reset(&action);
	dw_profile_times_reset(&profiles);
	DW_FREE(scratch.first_step, scratch.pacemakers, scratch.by_pacemaker, scratch.thread_steps, scratch.steps,
	        scratch.both);
	return result;
}

/* Sets the same window for all processes, in ticks of each file. */
static int scope_resolve_window(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_interval window = { model->scope.from_ns, model->scope.to_ns };
	size_t count = model->source->process_count;

	model->intervals = dw_arena_alloc(&model->arena, (count + 1) * sizeof *model->intervals);
	for (uint32_t p = 0; model->intervals && p < count; p++) {
		model->intervals[p] = scope_keep_intervals(model, p, &window, 1);
		if (!model->intervals[p])
			model->intervals = NULL;
	}
	return model->intervals ? 0 : dw_model_no_memory(model, error);
}

/* Clips a list to a window, in place. Lists may be shared: a second time changes nothing. */
static void scope_clip_list(struct dw_interval *list, uint64_t from_ticks, uint64_t to_ticks)
{
	size_t kept = 0;

	for (struct dw_interval *at = list; at->start_ticks != UINT64_MAX; at++) {
		struct dw_interval both = {
			at->start_ticks > from_ticks ? at->start_ticks : from_ticks,
			at->end_ticks < to_ticks ? at->end_ticks : to_ticks,
		};

		if (both.start_ticks < both.end_ticks)
			list[kept++] = both;
	}
	list[kept] = (struct dw_interval){ UINT64_MAX, UINT64_MAX };
	list[-1].start_ticks = kept; /* see scope_interval_count() */
}

/* Of the times of steps, profiles and an action, keeps those in the window. */
static void scope_clip_times(struct dw_model *model)
{
	const struct dw_source *source = model->source;

	for (uint32_t p = 0; p < source->process_count; p++) {
		const struct dw_source_clock *clock = &source->files[source->processes[p].file].clock;
		uint64_t from = dw_source_ticks(clock, model->scope.from_ns);
		uint64_t to = dw_source_ticks(clock, model->scope.to_ns);

		scope_clip_list(model->intervals[p], from, to);
		for (uint32_t t = 0; model->thread_intervals && t < source->thread_count; t++)
			if (source->threads[t].process == p)
				scope_clip_list(model->thread_intervals[t], from, to);
	}
}

/* Of the selected threads, keeps those with steps. */
static int scope_keep_step_threads(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	bool *wanted = dw_arena_alloc(&model->arena, source->thread_count + 1);

	if (!wanted)
		return dw_model_no_memory(model, error);
	for (size_t i = 0; i < source->step_count; i++) {
		uint32_t thread = source->steps[i].thread;

		wanted[thread] = !model->wanted_threads || model->wanted_threads[thread];
	}
	model->wanted_threads = wanted;
	return 0;
}

static uint32_t scope_stream_hash(uint32_t process, uint32_t stream)
{
	return dw_map_hash((uint64_t)process << 32 | stream);
}

/* Finds the streams of selected threads, including the streams of their signal handlers. */
static int scope_find_streams(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	struct dw_map map = { NULL, 0, 0 };
	bool good;

	model->wanted_streams = dw_arena_alloc(&model->arena, source->stream_count + 1);
	good = model->wanted_streams != NULL;
	for (uint32_t i = 0; good && i < source->thread_count; i++) {
		const struct dw_source_thread *thread = &source->threads[i];
		uint32_t hash = scope_stream_hash(thread->process, thread->stream);

		if (model->wanted_threads[i] &&
		    DW_MAP_FIND(&map, hash, k, source->threads[k].process == thread->process &&
		                               source->threads[k].stream == thread->stream) == DW_MAP_NONE)
			good = dw_map_add(&map, hash, i);
	}
	for (size_t i = 0; good && i < source->stream_count; i++) {
		const struct dw_source_stream *stream = &source->streams[i];
		uint32_t number = stream->stream & ~DW_STREAM_NESTED;

		model->wanted_streams[i] =
			DW_MAP_FIND(&map, scope_stream_hash(stream->process, number), k,
			            source->threads[k].process == stream->process &&
		                    source->threads[k].stream == number) != DW_MAP_NONE;
	}
	dw_map_reset(&map);
	return good ? 0 : dw_model_no_memory(model, error);
}

/* Whether steps, profiles or an action choose times. */
static bool scope_has_times(const struct dw_scope *scope)
{
	return scope->has_steps || scope->profile || scope->profile_id || scope->action;
}

int dw_scope_resolve(struct dw_model *model, struct dwell_error *error)
{
	int result = 0;

	if (model->scope.thread)
		result = scope_resolve_thread(model, error);
	if (result == 0 && model->scope.step_threads)
		result = scope_keep_step_threads(model, error);
	if (result == 0 && model->wanted_threads)
		result = scope_find_streams(model, error);
	if (result == 0 && scope_has_times(&model->scope)) {
		result = scope_resolve_times(model, error);
		if (result == 0 && model->scope.has_window)
			scope_clip_times(model);
	} else if (result == 0 && model->scope.has_window) {
		result = scope_resolve_window(model, error);
	}
	return result;
}

/* ---- questions ---------------------------------------------------------------------------- */

bool dw_model_has_step(const struct dw_model *model, const struct dw_source_step *step)
{
	const struct dw_interval *at = model->thread_intervals ? model->thread_intervals[step->thread] : NULL;
	size_t low;

	if (!scope_wants_step(model, step))
		return false;
	if (model->scope.has_window && (step->start_ns < model->scope.from_ns || step->end_ns > model->scope.to_ns))
		return false;
	if (!scope_has_times(&model->scope) && model->scope.has_window)
		return true;
	if (!at)
		return !model->thread_intervals;
	low = DW_FIRST(i, 0, scope_interval_count(at), at[i].end_ticks > step->start_ticks);
	return at[low].start_ticks <= step->start_ticks; /* the end marker starts later than any step */
}

bool dw_scope_has_stream(const struct dw_model *model, const struct dw_source_stream *stream)
{
	return !model->wanted_streams || model->wanted_streams[stream - model->source->streams];
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
	/* Ranks run at the same time: use the longest, not the sum. */
	for (size_t i = 0; i < source->process_count; i++) {
		const struct dw_source_clock *clock = &source->files[source->processes[i].file].clock;
		uint64_t ticks = 0;

		for (const struct dw_interval *at = model->intervals[i]; at->start_ticks != UINT64_MAX; at++)
			ticks += at->end_ticks - at->start_ticks;
		if (dw_source_span_ns(clock, ticks) > wall_ns)
			wall_ns = dw_source_span_ns(clock, ticks);
	}
	return wall_ns;
}
