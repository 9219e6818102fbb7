/*
 * Finds the thread for which each call was made, and that thread's ranges around the call.
 *
 * Called by events.c when calls and owners are known. Autograd runs the backward pass in threads of
 * its own, where no range of the program is open. The phase "backward", the step and the actions are
 * in the thread that trains. Only its named ranges matter. The walk that finds the calls has
 * collected those of all threads, in order.
 */
#include "base/free.h"
#include "base/grow.h"
#include "model/device/build.h"
#include "model/steps/steps.h"

/* A range that the program names, of a thread for which calls were made. Those that matter are chosen here. */
struct dw_device_named {
	uint64_t start_ns, end_ns;
	uint32_t thread, symbol;
	uint32_t owner;  /* index, or DW_NO_INDEX: not stored yet */
	uint32_t parent; /* index in the list, or DW_NO_INDEX */
};

struct call_threads {
	struct dw_device_build *build;
	bool *wanted;            /* by thread: some call needs its ranges */
	struct dw_device_named *ranges;
	size_t count, capacity;
	uint32_t *calls;         /* those that were made for another thread, by that and begin */
	size_t call_count;
};

/* ---- the thread of a call ---------------------------------------------------------------------- */

static uint32_t call_find_thread(const struct dw_device_work *work, const struct dw_source *source,
                                 const uint32_t *step_threads, const bool *steps, const struct dw_device_call *call)
{
	uint32_t thread = call->thread, stepping;

	for (uint32_t at = call->owner; at != DW_NO_INDEX; at = work->owners[at].parent)
		if (work->owners[at].forward_thread != DW_NO_INDEX) {
			thread = work->owners[at].forward_thread;
			break;
		}
	stepping = step_threads[source->threads[thread].process];
	return !steps[thread] && stepping != DW_NO_INDEX ? stepping : thread;
}

static bool call_threads_find(struct call_threads *threads)
{
	struct dw_device_work *work = threads->build->work;
	struct dw_model *model = threads->build->model;
	const struct dw_source *source = model->source;
	const uint32_t *step_threads = dw_model_step_threads(model);
	bool *steps = calloc(source->thread_count + 1, sizeof *steps);

	threads->wanted = calloc(source->thread_count + 1, sizeof *threads->wanted);
	threads->calls = calloc(work->call_count + 1, sizeof *threads->calls);
	if (!step_threads || !steps || !threads->wanted || !threads->calls) {
		free(steps);
		return false;
	}
	for (size_t i = 0; i < source->step_count; i++)
		steps[source->steps[i].thread] = true;
	for (size_t i = 0; i < work->call_count; i++) {
		struct dw_device_call *call = &work->calls[i];

		call->around = DW_NO_INDEX;
		call->for_thread = call_find_thread(work, source, step_threads, steps, call);
		if (call->for_thread == call->thread || !call->work)
			continue;
		threads->wanted[call->for_thread] = true;
		threads->calls[threads->call_count++] = (uint32_t)i;
	}
	free(steps);
	return true;
}

/* ---- the named ranges of these threads ------------------------------------------------------------ */

/* Collects the named ranges of these threads. False: out of memory. */
static bool call_threads_take_ranges(struct call_threads *threads)
{
	const struct dw_device_work *work = threads->build->work;
	const struct dw_symbol *symbols = threads->build->model->symbols;

	for (size_t i = 0; i < work->range_count; i++) {
		const struct dw_device_range *from = &work->ranges[i];
		uint32_t category = symbols[from->symbol].category;

		if (threads->wanted[from->thread] && from->depth < DW_DEVICE_DEEPEST && category < 32 && DW_DEVICE_NAMED >> category & 1 &&
		    !DW_APPEND(&threads->ranges, &threads->capacity, &threads->count,
		               (struct dw_device_named){ .start_ns = from->start_ns, .end_ns = from->end_ns, .thread = from->thread,
		                   .symbol = from->symbol, .owner = DW_NO_INDEX, .parent = DW_NO_INDEX }))
			return false;
	}
	return true;
}

static int call_threads_compare(const void *left, const void *right, void *context)
{
	const struct dw_device_work *work = context;
	const struct dw_device_call *a = &work->calls[*(const uint32_t *)left];
	const struct dw_device_call *b = &work->calls[*(const uint32_t *)right];

	if (a->for_thread != b->for_thread)
		return a->for_thread < b->for_thread ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The owner for a named range. Adds it, and those of the ranges around it before it, of which there
 * are at most DW_DEVICE_DEEPEST. */
static uint32_t call_threads_owner(struct call_threads *threads, uint32_t at)
{
	struct dw_device_build *build = threads->build;
	struct dw_device_named *range = &threads->ranges[at];
	uint32_t parent = DW_NO_INDEX;

	if (range->owner != DW_NO_INDEX)
		return range->owner;
	if (range->parent != DW_NO_INDEX) {
		parent = call_threads_owner(threads, range->parent);
		if (parent == DW_NO_INDEX)
			return DW_NO_INDEX;
	}
	if (!DW_APPEND(&build->work->owners, &build->owner_capacity, &build->work->owner_count,
	               (struct dw_device_owner){ .start_ns = range->start_ns, .end_ns = range->end_ns,
	                   .sequence = UINT64_MAX, .forward_thread = DW_NO_INDEX, .parent = parent, .forward = DW_NO_INDEX,
	                   .symbol = range->symbol, .thread = range->thread, .in_scope = true }))
		return DW_NO_INDEX;
	return range->owner = (uint32_t)build->work->owner_count - 1;
}

/* Both lists are sorted. `open` is the innermost range that was open at the time of the last call. */
static bool call_threads_find_ranges(struct call_threads *threads)
{
	struct dw_device_work *work = threads->build->work;
	uint32_t open = DW_NO_INDEX;
	size_t next = 0;

	for (size_t i = 0; i < threads->call_count; i++) {
		struct dw_device_call *call = &work->calls[threads->calls[i]];

		if (i && call->for_thread != work->calls[threads->calls[i - 1]].for_thread)
			open = DW_NO_INDEX;
		for (; next < threads->count && (threads->ranges[next].thread < call->for_thread ||
		                                 (threads->ranges[next].thread == call->for_thread &&
		                                  threads->ranges[next].start_ns <= call->start_ns)); next++) {
			struct dw_device_named *range = &threads->ranges[next];

			if (range->thread != call->for_thread)
				continue;
			/* A range that ends before this one does is not around it. */
			while (open != DW_NO_INDEX && threads->ranges[open].end_ns < range->end_ns)
				open = threads->ranges[open].parent;
			range->parent = open;
			open = (uint32_t)next;
		}
		while (open != DW_NO_INDEX && threads->ranges[open].end_ns <= call->start_ns)
			open = threads->ranges[open].parent;
		if (open == DW_NO_INDEX)
			continue;
		call->around = call_threads_owner(threads, open);
		if (call->around == DW_NO_INDEX)
			return false;
	}
	return true;
}

bool dw_device_find_call_threads(struct dw_device_build *build)
{
	struct call_threads threads = { .build = build };
	bool good = call_threads_find(&threads);

	if (good && threads.call_count) {
		good = call_threads_take_ranges(&threads);
		qsort_r(threads.calls, threads.call_count, sizeof *threads.calls, call_threads_compare, build->work);
		good = good && call_threads_find_ranges(&threads);
	}
	DW_FREE(threads.wanted, threads.ranges, threads.calls);
	return good;
}
