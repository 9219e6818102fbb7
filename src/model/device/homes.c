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

/* A range that the program names, of a home; homes.c chooses those that matter. */
struct dw_device_named {
	uint64_t start_ns, end_ns;
	uint32_t thread, symbol;
	uint32_t owner;  /* index, or DW_NO_INDEX: not stored yet */
	uint32_t parent; /* index in the list, or DW_NO_INDEX */
};

struct homes {
	struct dw_device_build *build;
	bool *wanted;            /* by thread: some call needs its ranges */
	struct dw_device_named *ranges;
	size_t count, capacity;
	uint32_t *calls;         /* those that have another home, by home and begin */
	size_t call_count;
};

/* ---- the home of a call ---------------------------------------------------------------------- */

static uint32_t homes_of(const struct dw_device_work *work, const struct dw_source *source,
                         const uint32_t *step_threads, const bool *steps, const struct dw_device_call *call)
{
	uint32_t home = call->thread, stepping;

	for (uint32_t at = call->owner; at != DW_NO_INDEX; at = work->owners[at].parent)
		if (work->owners[at].forward_thread != DW_NO_INDEX) {
			home = work->owners[at].forward_thread;
			break;
		}
	stepping = step_threads[source->threads[home].process];
	return !steps[home] && stepping != DW_NO_INDEX ? stepping : home;
}

static bool homes_set(struct homes *homes)
{
	struct dw_device_work *work = homes->build->work;
	struct dw_model *model = homes->build->model;
	const struct dw_source *source = model->source;
	const uint32_t *step_threads = dw_model_step_threads(model);
	bool *steps = calloc(source->thread_count + 1, sizeof *steps);

	homes->wanted = calloc(source->thread_count + 1, sizeof *homes->wanted);
	homes->calls = calloc(work->call_count + 1, sizeof *homes->calls);
	if (!step_threads || !steps || !homes->wanted || !homes->calls) {
		free(steps);
		return false;
	}
	for (size_t i = 0; i < source->step_count; i++)
		steps[source->steps[i].thread] = true;
	for (size_t i = 0; i < work->call_count; i++) {
		struct dw_device_call *call = &work->calls[i];

		call->around = DW_NO_INDEX;
		call->home = homes_of(work, source, step_threads, steps, call);
		if (call->home == call->thread || !call->work)
			continue;
		homes->wanted[call->home] = true;
		homes->calls[homes->call_count++] = (uint32_t)i;
	}
	free(steps);
	return true;
}

/* ---- the named ranges of the homes ------------------------------------------------------------ */

/* Collects the named ranges of the homes. False: out of memory. */
static bool homes_take_ranges(struct homes *homes)
{
	const struct dw_device_work *work = homes->build->work;
	const struct dw_symbol *symbols = homes->build->model->symbols;

	for (size_t i = 0; i < work->range_count; i++) {
		const struct dw_device_range *from = &work->ranges[i];
		uint32_t category = symbols[from->symbol].category;

		if (homes->wanted[from->thread] && from->depth < DW_DEVICE_DEEPEST && category < 32 && DW_DEVICE_NAMED >> category & 1 &&
		    !DW_APPEND(&homes->ranges, &homes->capacity, &homes->count,
		               (struct dw_device_named){ .start_ns = from->start_ns, .end_ns = from->end_ns, .thread = from->thread,
		                   .symbol = from->symbol, .owner = DW_NO_INDEX, .parent = DW_NO_INDEX }))
			return false;
	}
	return true;
}

static int homes_compare_calls(const void *left, const void *right, void *context)
{
	const struct dw_device_work *work = context;
	const struct dw_device_call *a = &work->calls[*(const uint32_t *)left];
	const struct dw_device_call *b = &work->calls[*(const uint32_t *)right];

	if (a->home != b->home)
		return a->home < b->home ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The owner for a named range. Adds it, and those of the ranges around it before it, of which there
 * are at most DW_DEVICE_DEEPEST. */
static uint32_t homes_owner(struct homes *homes, uint32_t at)
{
	struct dw_device_build *build = homes->build;
	struct dw_device_named *range = &homes->ranges[at];
	uint32_t parent = DW_NO_INDEX;

	if (range->owner != DW_NO_INDEX)
		return range->owner;
	if (range->parent != DW_NO_INDEX) {
		parent = homes_owner(homes, range->parent);
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
static bool homes_find_ranges(struct homes *homes)
{
	struct dw_device_work *work = homes->build->work;
	uint32_t open = DW_NO_INDEX;
	size_t next = 0;

	for (size_t i = 0; i < homes->call_count; i++) {
		struct dw_device_call *call = &work->calls[homes->calls[i]];

		if (i && call->home != work->calls[homes->calls[i - 1]].home)
			open = DW_NO_INDEX;
		for (; next < homes->count && (homes->ranges[next].thread < call->home ||
		                               (homes->ranges[next].thread == call->home &&
		                                homes->ranges[next].start_ns <= call->start_ns)); next++) {
			struct dw_device_named *range = &homes->ranges[next];

			if (range->thread != call->home)
				continue;
			/* A range that ends before this one does is not around it. */
			while (open != DW_NO_INDEX && homes->ranges[open].end_ns < range->end_ns)
				open = homes->ranges[open].parent;
			range->parent = open;
			open = (uint32_t)next;
		}
		while (open != DW_NO_INDEX && homes->ranges[open].end_ns <= call->start_ns)
			open = homes->ranges[open].parent;
		if (open == DW_NO_INDEX)
			continue;
		call->around = homes_owner(homes, open);
		if (call->around == DW_NO_INDEX)
			return false;
	}
	return true;
}

bool dw_device_find_homes(struct dw_device_build *build)
{
	struct homes homes = { .build = build };
	bool good = homes_set(&homes);

	if (good && homes.call_count) {
		good = homes_take_ranges(&homes);
		qsort_r(homes.calls, homes.call_count, sizeof *homes.calls, homes_compare_calls, build->work);
		good = good && homes_find_ranges(&homes);
	}
	DW_FREE(homes.wanted, homes.ranges, homes.calls);
	return good;
}
