/*
 * Allocations of an XSpace: what each device holds, and whose an allocation is.
 *
 * Called by xplane.c. An allocation belongs to the innermost operator that is open in its
 * thread, else to the innermost range that people name themselves, as in the view `memory`
 * (model/memory.h). The plugin's memory profile shows it as "op name", from a stat that its
 * op stats count as a call of the operator - but not in a line whose number is one of those
 * that the plugin derives. So all allocations stand in one such line, where no step's event
 * lies around them. The last ones are joined to their step by a context: without the plugin
 * warns of steps that are not whole. They begin behind the peak: what has no step and follows
 * one that has counts as of a later one, and all that is older than the peak's step as unused.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "export/xplane.h"

static int64_t peak_of(struct dw_xplane *xplane, const struct dw_chrome_memory_at *at)
{
	uint32_t process = xplane->chrome.source->threads[at->track / 2].process;
	struct dw_xplane_peak *peak;

	for (size_t i = 0; i < xplane->peak_count; i++) {
		peak = &xplane->peaks[i];
		if (peak->process != process || peak->device != at->device)
			continue;
		if (peak->bytes < at->total)
			peak->bytes = at->total;
		return peak->bytes;
	}
	peak = DW_GROW(&xplane->peaks, &xplane->peak_capacity, xplane->peak_count);
	xplane->chrome.failed |= !peak;
	if (!peak)
		return at->total;
	*peak = (struct dw_xplane_peak){ process, at->device, at->total };
	xplane->peak_count++;
	return at->total;
}

static void add_memory(void *to, const struct dw_chrome_memory_at *at)
{
	struct dw_xplane *xplane = to;
	struct dw_xplane_memory *memory =
	    DW_GROW(&xplane->memory, &xplane->memory_capacity, xplane->memory_count);
	struct dw_xplane_event *event;

	if (!memory) {
		xplane->chrome.failed = true;
		return;
	}
	*memory = (struct dw_xplane_memory){ at->address, at->bytes, at->total, peak_of(xplane, at),
		                          at->symbol, at->track, UINT32_MAX, UINT32_MAX, at->name };
	event = dw_xplane_add(xplane, at->track, MEMORY,
	                      dw_xplane_own(xplane, at->freed ? NAME_DEALLOCATION : NAME_ALLOCATION),
	                      at->ns, at->ns);
	if (event) {
		event->depth = UINT32_MAX;
		event->number = xplane->memory_count;
	}
	xplane->memory_count++;
}

void dw_xplane_add_memory(struct dw_xplane *xplane)
{
	dw_chrome_memory_write(&xplane->chrome, add_memory, xplane);
}

/* Categories of ranges that people name themselves; layers and functions own nothing. */
#define NAMED                                                                                        \
	(1u << DWELL_CATEGORY_ZONE | 1u << DWELL_CATEGORY_PHASE | 1u << DWELL_CATEGORY_ACTION |      \
	 1u << DWELL_CATEGORY_DATA | 1u << DWELL_CATEGORY_CHECKPOINT |                               \
	 1u << DWELL_CATEGORY_EVALUATION | 1u << DWELL_CATEGORY_COMMUNICATION |                      \
	 1u << DWELL_CATEGORY_EVENT | 1u << DWELL_CATEGORY_HANDLER)

/* ---- whose ------------------------------------------------------------------------------- */

struct open {
	uint64_t end_ns;
	uint32_t name;
};

/* Of the open ranges, the one that an allocation at that time belongs to. */
static uint32_t owner_of(const struct dw_xplane *xplane, const struct open *open, size_t count,
                         uint64_t ns)
{
	uint32_t named = UINT32_MAX;

	while (count--) {
		uint32_t category;

		if (open[count].end_ns < ns)
			continue;
		category = xplane->chrome.symbols[open[count].name].category;
		if (category == DWELL_CATEGORY_OPERATOR)
			return open[count].name;
		if (named == UINT32_MAX && category < 32 && (1u << category & NAMED))
			named = open[count].name;
	}
	return named;
}

/* ---- when -------------------------------------------------------------------------------- */

struct step {
	uint64_t start_ns, end_ns;
	uint32_t process, index;
};

static int compare(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The step of a process at that time. */
static uint32_t step_at(const struct step *steps, size_t count, uint32_t process, uint64_t ns)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (steps[middle].process < process ||
		    (steps[middle].process == process && steps[middle].start_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || steps[low - 1].process != process || steps[low - 1].end_ns < ns)
		return UINT32_MAX;
	return steps[low - 1].index;
}

/* Of the last allocations; the plugin looks at the last of a thousand samples. */
static void find_steps(struct dw_xplane *xplane)
{
	const struct dw_source_thread *threads = xplane->chrome.source->threads;
	struct step *steps = NULL, *step;
	size_t count = 0, capacity = 0, last = xplane->memory_count - xplane->memory_count / 500 - 1;

	for (size_t i = 0; i < xplane->count; i++) {
		const struct dw_xplane_event *event = &xplane->events[i];

		if (event->kind != STEP)
			continue;
		step = DW_GROW(&steps, &capacity, count);
		xplane->chrome.failed |= !step;
		if (!step)
			break;
		*step = (struct step){ event->start_ns, event->end_ns,
			                   threads[event->line / 2].process, event->step };
		count++;
	}
	if (count)
		qsort(steps, count, sizeof *steps, compare);
	for (size_t i = last; i < xplane->memory_count; i++)
		if (xplane->memory[i].total == xplane->memory[i].peak)
			last = i + 1;
	for (size_t i = 0; i < xplane->count; i++) {
		const struct dw_xplane_event *event = &xplane->events[i];

		if (event->kind == MEMORY && event->number >= last)
			xplane->memory[event->number].step =
			    step_at(steps, count, threads[event->line / 2].process, event->start_ns);
	}
	free(steps);
}

void dw_xplane_find_owners(struct dw_xplane *xplane)
{
	struct open *open = NULL;
	size_t count = 0, capacity = 0;
	uint32_t line = UINT32_MAX;

	if (!xplane->memory_count)
		return;
	find_steps(xplane);
	for (size_t i = 0; i < xplane->count && !xplane->chrome.failed; i++) {
		struct dw_xplane_event *event = &xplane->events[i];
		struct open *top;

		if (event->line != line)
			count = 0; /* another thread's */
		line = event->line;
		while (count && open[count - 1].end_ns < event->start_ns)
			count--;
		if (event->kind == MEMORY) {
			xplane->memory[event->number].owner =
			    owner_of(xplane, open, count, event->start_ns);
			event->line = dw_xplane_memory_line(xplane);
		}
		if (event->kind > RANGE_OPEN || event->async || event->end_ns == event->start_ns)
			continue;
		top = DW_GROW(&open, &capacity, count);
		xplane->chrome.failed |= !top;
		if (top)
			*top = (struct open){ event->end_ns, event->name };
		count += top != NULL;
	}
	free(open);
	dw_xplane_sort(xplane);
}
