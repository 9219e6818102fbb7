/* Threads that come and go, and ranges that are tasks; see tasks.h. */
#include "model/samples/tasks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/map.h"
#include "base/order.h"
#include "format/keys.h"
#include "model/core/events.h"
#include "model/core/model_data.h"
#include "model/time/threads.h"

#define LEAST 5u /* of fewer nobody can tell a usual one from a slow one */

/* A thread that may be a task, or a range that is one. */
struct lived {
	uint32_t thread, kind;
	uint64_t start_ns, end_ns;
};

struct collected {
	const struct dw_model *model;
	struct lived *items;
	size_t count, capacity;
	struct dw_task_kind *kinds; /* of any number of threads */
	size_t kind_count, kind_capacity;
	struct dw_map by_name;
};

DW_ORDER(tasks_compare_lived, struct lived, DW_UP(kind) DW_UP(start_ns) DW_UP(thread))
DW_ORDER(tasks_compare_kinds, struct dw_task_kind, DW_DOWN(sum_ns) DW_UP(process))

/* ---- which threads ---------------------------------------------------------------------------------- */

/* Writes the name with '#' in place of each number. */
static void tasks_name_kind(const char *name, char *to, size_t size)
{
	size_t used = 0;

	for (; *name && used + 1 < size; name++)
		if (!isdigit((unsigned char)*name) || !used || to[used - 1] != '#')
			to[used++] = isdigit((unsigned char)*name) ? '#' : *name;
	to[used] = '\0';
}

/* Returns the index of the kind in `all->kinds`, which it adds if it is new. DW_MAP_NONE: out of memory. */
static uint32_t tasks_find_kind(struct collected *all, const struct dw_task_kind *made)
{
	uint32_t hash = dw_map_hash_bytes(made->process ^ made->symbol, made->name, strlen(made->name)), found;
	struct dw_task_kind *kind;

	found = DW_MAP_FIND(&all->by_name, hash, i, all->kinds[i].process == made->process && all->kinds[i].symbol == made->symbol &&
	                                                strcmp(all->kinds[i].name, made->name) == 0);
	if (found != DW_MAP_NONE)
		return found;
	kind = DW_GROW(&all->kinds, &all->kind_capacity, all->kind_count);
	if (!kind || !dw_map_add(&all->by_name, hash, (uint32_t)all->kind_count))
		return DW_MAP_NONE;
	*kind = *made;
	return (uint32_t)all->kind_count++;
}

static bool tasks_add(struct collected *all, const struct dw_task_kind *made, uint32_t thread, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t kind = tasks_find_kind(all, made);

	return kind != DW_MAP_NONE &&
	       DW_APPEND(&all->items, &all->capacity, &all->count, (struct lived){ thread, kind, start_ns, end_ns });
}

/* By thread: when it ended, by its last record if the end is not in the trace. NULL: out of memory. */
static uint64_t *tasks_find_ends(struct dw_model *model)
{
	const struct dw_source *source = model->source;
	uint64_t *ends = calloc(source->thread_count + 1, sizeof *ends);
	const struct dw_threads *rows = ends ? dw_model_threads(model, NULL) : NULL;

	for (size_t i = 0; rows && i < rows->count; i++)
		if (!rows->rows[i].nested)
			ends[rows->rows[i].thread] = rows->rows[i].last_ns;
	for (size_t i = 0; rows && i < source->thread_count; i++)
		if (source->threads[i].lived_ns)
			ends[i] = source->threads[i].start_ns + source->threads[i].lived_ns;
	if (!rows)
		DW_FREE(ends);
	return rows ? ends : NULL;
}

static bool tasks_may_be(const struct dw_model *model, const struct dw_source_thread *thread)
{
	const struct dw_source_process *process = &model->source->processes[thread->process];
	const struct dw_scope *scope = &model->scope;

	return thread->end & DW_THREAD_ENDED && thread->tid != process->pid && !(process->flags & DW_PROCESS_RUNNER) &&
	       !(scope->has_window && (thread->start_ns < scope->from_ns || thread->start_ns >= scope->to_ns));
}

static bool tasks_collect(struct collected *all, struct dw_model *model)
{
	const struct dw_source *source = model->source;
	uint64_t *ends = tasks_find_ends(model);
	bool good = ends != NULL;

	for (uint32_t i = 0; good && i < source->thread_count; i++) {
		const struct dw_source_thread *thread = &source->threads[i];
		struct dw_task_kind kind = { .process = thread->process, .symbol = DW_NO_INDEX, .turns = DW_NO_INDEX };

		if ((model->wanted_threads && !model->wanted_threads[i]) || !tasks_may_be(model, thread) || ends[i] <= thread->start_ns)
			continue;
		tasks_name_kind(thread->name, kind.name, sizeof kind.name);
		good = tasks_add(all, &kind, i, thread->start_ns, ends[i]);
	}
	free(ends);
	return good;
}

/* ---- which ranges ------------------------------------------------------------------------------------ */

static bool tasks_is_symbol(const struct dw_symbol *symbol, const char *detail)
{
	return symbol->category == DWELL_CATEGORY_ZONE && symbol->detail && strcmp(symbol->detail, detail) == 0;
}

static bool tasks_is_request(const struct dw_symbol *symbol)
{
	return tasks_is_symbol(symbol, DW_DETAIL_REQUEST) || tasks_is_symbol(symbol, DW_DETAIL_ANSWERED);
}

/* Whether the range is a task. */
static bool tasks_is_task(const struct dw_symbol *symbol)
{
	return tasks_is_symbol(symbol, DW_DETAIL_TASK) || tasks_is_request(symbol);
}

static uint32_t tasks_find_turns(const struct dw_model *model, const char *name)
{
	for (uint32_t i = 0; i < model->symbol_count; i++)
		if (tasks_is_symbol(&model->symbols[i], DW_DETAIL_TURN) && strcmp(model->symbols[i].name, name) == 0)
			return i;
	return DW_NO_INDEX;
}

static int tasks_see(void *context, const struct dw_event *event)
{
	struct collected *all = context;
	const struct dw_symbol *symbol = &all->model->symbols[event->symbol];
	struct dw_task_kind kind = { .process = all->model->source->threads[event->thread].process, .symbol = event->symbol,
		                         .turns = DW_NO_INDEX };

	if ((event->type != DW_EVENT_RANGE && event->type != DW_EVENT_ASYNC) || event->open || event->nested ||
	    !tasks_is_task(symbol))
		return 0;
	kind.request = tasks_is_request(symbol);
	if (event->type == DW_EVENT_ASYNC)
		kind.turns = tasks_find_turns(all->model, symbol->name);
	snprintf(kind.name, sizeof kind.name, "%s", symbol->name);
	return tasks_add(all, &kind, event->thread, event->start_ns, event->end_ns) ? 0 : DWELL_E_NOMEM;
}

static bool tasks_collect_ranges(struct collected *all, struct dw_model *model)
{
	bool any = false;

	for (uint32_t i = 0; i < model->symbol_count && !any; i++)
		any = tasks_is_task(&model->symbols[i]);
	return !any || dw_model_events_of(model, DW_EVENTS_OF_THREADS, tasks_see, all, NULL) == 0;
}

/* ---- kinds --------------------------------------------------------------------------------------------- */

/* Fills the kind from its threads, which are in the order of their begins. False: out of memory. */
static bool tasks_fill(struct dw_task_kind *kind, const struct dw_source *source, const struct lived *threads)
{
	uint64_t *ends = malloc((kind->count + 1) * sizeof *ends);
	size_t ended = 0;

	if (!ends)
		return false;
	for (size_t i = 0; i < kind->count; i++) {
		ends[i] = threads[i].end_ns;
		kind->ns[i] = threads[i].end_ns - threads[i].start_ns;
		kind->sum_ns += kind->ns[i];
		kind->cpu_ns += kind->symbol == DW_NO_INDEX ? source->threads[threads[i].thread].cpu_ns : 0;
	}
	qsort(ends, kind->count, sizeof *ends, dw_compare_u64);
	qsort(kind->ns, kind->count, sizeof *kind->ns, dw_compare_u64);
	for (size_t i = 0; i < kind->count; i++) {
		while (ended < i && ends[ended] <= threads[i].start_ns)
			ended++;
		kind->at_once = i + 1 - ended > kind->at_once ? i + 1 - ended : kind->at_once;
	}
	free(ends);
	return true;
}

/* Keeps the kinds whose tasks follow one another, and what the program or a probe says to be requests, however few there are. False:
 * out of memory. */
static bool tasks_keep(struct dw_tasks *tasks, const struct collected *all, const struct dw_source *source)
{
	bool good = (tasks->kinds = calloc(all->kind_count + 1, sizeof *tasks->kinds)) != NULL &&
	            (tasks->ns = calloc(all->count + 1, sizeof *tasks->ns)) != NULL;

	for (size_t i = 0, next; good && i < all->count; i = next) {
		struct dw_task_kind *kind = &tasks->kinds[tasks->count];

		*kind = all->kinds[all->items[i].kind];
		for (next = i; next < all->count && all->items[next].kind == all->items[i].kind; next++)
			;
		kind->ns = tasks->ns + i;
		kind->count = next - i;
		good = tasks_fill(kind, source, all->items + i);
		if (!kind->request && (kind->count < LEAST || kind->count <= 2 * kind->at_once))
			continue;
		for (size_t at = i; at < next && kind->symbol == DW_NO_INDEX; at++)
			tasks->of[all->items[at].thread] = all->items[i].kind;
		kind->first = all->items[i].kind;
		tasks->count++;
	}
	return good;
}

enum dw_task_wait dw_task_wait_of(const struct dw_sample_row *row)
{
	if (row->activity == DW_ACTIVITY_GIL)
		return DW_TASK_GIL;
	if (dw_activity_in(row->activity, DW_ACTIVITIES_OF_THREADS))
		return DW_TASK_THREADS;
	if (dw_activity_in(row->activity, DW_ACTIVITIES_OF_FILES | DW_ACTIVITY_SET(SOCKET) | DW_ACTIVITY_SET(DELAYED)))
		return DW_TASK_FILES;
	return row->activity == DW_ACTIVITY_SLEEP ? DW_TASK_SLEEPS : DW_TASK_OTHERS;
}

/* Whether a range of a sample, which may have any symbol of its name, is of the kind. */
static bool tasks_is_range(const struct dw_task_kind *kind, uint32_t symbol)
{
	return symbol != DW_NO_INDEX && (symbol == kind->symbol || symbol == kind->turns);
}

bool dw_task_has(const struct dw_tasks *tasks, const struct dw_model *model, uint32_t kind, const struct dw_sample_row *row)
{
	const struct dw_task_kind *of = &tasks->kinds[kind];

	if (of->symbol == DW_NO_INDEX)
		return tasks->of[row->thread] == kind;
	return model->source->threads[row->thread].process == of->process &&
	       (tasks_is_range(of, row->range) || tasks_is_range(of, row->named));
}

/* Puts the kinds in order, and adds what each used and waited for. False: out of memory. */
static bool tasks_finish(struct dw_tasks *tasks, struct dw_model *model, size_t kind_count)
{
	const struct dw_samples *waits = tasks->count ? dw_model_wait_samples(model, NULL) : NULL;
	const struct dw_samples *runs = waits ? dw_model_samples(model, NULL) : NULL;
	uint32_t *places = malloc((kind_count + 1) * sizeof *places);

	DW_SORT(tasks->kinds, tasks->count, tasks_compare_kinds);
	for (size_t i = 0; places && i < tasks->count; i++)
		places[tasks->kinds[i].first] = (uint32_t)i;
	for (size_t i = 0; places && i < model->source->thread_count; i++)
		if (tasks->of[i] != DW_NO_INDEX)
			tasks->of[i] = places[tasks->of[i]];
	for (uint32_t kind = 0; places && runs && kind < tasks->count; kind++) {
		for (size_t i = 0; i < waits->count; i++)
			if (dw_task_has(tasks, model, kind, &waits->rows[i]))
				tasks->kinds[kind].wait_ns[dw_task_wait_of(&waits->rows[i])] += waits->rows[i].cpu_ns;
		for (size_t i = 0; i < runs->count && tasks->kinds[kind].symbol != DW_NO_INDEX; i++)
			if (dw_task_has(tasks, model, kind, &runs->rows[i]))
				tasks->kinds[kind].cpu_ns += runs->rows[i].cpu_ns;
	}
	free(places);
	return places && (runs || !tasks->count);
}

bool dw_tasks_make(struct dw_tasks *tasks, struct dw_model *model)
{
	struct collected all = { .model = model };
	size_t bytes = (model->source->thread_count + 1) * sizeof *tasks->of;
	bool good;

	*tasks = (struct dw_tasks){ .of = malloc(bytes) };
	if (tasks->of)
		memset(tasks->of, 0xff, bytes);
	good = tasks->of && tasks_collect(&all, model) && tasks_collect_ranges(&all, model);
	DW_SORT(all.items, good ? all.count : 0, tasks_compare_lived);
	good = good && tasks_keep(tasks, &all, model->source) &&
	       tasks_finish(tasks, model, all.kind_count);
	dw_map_reset(&all.by_name);
	DW_FREE(all.items, all.kinds);
	return good;
}

void dw_tasks_reset(struct dw_tasks *tasks)
{
	DW_FREE(tasks->kinds, tasks->of, tasks->ns);
	*tasks = (struct dw_tasks){ .kinds = NULL };
}
