/*
 * Arrows: from where a handle went out to where it came in, and from the forward to
 * the backward call of one sequence number.
 *
 * Both ends may be in any stream, so ends are collected (32 bytes each), sorted by
 * what they share and time, and put together when the streams are done. A handle
 * that is used again starts anew with each way out. Each way in gets an arrow of its
 * own, whose id no other of its kind has; a way out that nothing took is an "s" alone, a way in
 * that nothing preceded is left out: viewers take it for damage.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "export/chrome.h"

static void add(struct dw_chrome *chrome, const struct dw_chrome_end *end)
{
	struct dw_chrome_flows *flows = &chrome->flows;
	struct dw_chrome_end *to = DW_GROW(&flows->ends, &flows->capacity, flows->count);

	if (!to) {
		chrome->failed = true;
		return;
	}
	*to = *end;
	flows->count++;
}

/* ---- names -------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right, void *context)
{
	const struct dw_symbol *symbols = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	int order = strcmp(symbols[a].name, symbols[b].name);

	return order ? order : a < b ? -1 : 1;
}

/* The two ends are different places in the program: symbols differ, names do not. */
static bool make_names(struct dw_chrome *chrome)
{
	size_t count = chrome->symbol_count;
	uint32_t *sorted = calloc(count + 1, sizeof *sorted), first = 0;

	chrome->flows.names = calloc(count + 1, sizeof *chrome->flows.names);
	if (!sorted || !chrome->flows.names) {
		free(sorted);
		return false;
	}
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof *sorted, compare_names, (void *)(uintptr_t)chrome->symbols);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(chrome->symbols[sorted[i]].name, chrome->symbols[first].name) != 0)
			first = sorted[i];
		chrome->flows.names[sorted[i]] = first;
	}
	free(sorted);
	return true;
}

void dw_chrome_flow_add(struct dw_chrome *chrome, const struct dw_event *event)
{
	if (!chrome->flows.names && !make_names(chrome)) {
		chrome->failed = true;
		return;
	}
	add(chrome, &(struct dw_chrome_end){ .handle = event->handle,
	                                     .ns = event->start_ns,
	                                     .owner = chrome->source->threads[event->thread].process,
	                                     .track = event->thread * 2 + chrome->nested,
	                                     .name = chrome->flows.names[event->symbol] |
	                                             (event->type == DW_EVENT_FLOW_IN ? DW_CHROME_IN : 0),
	                                     .symbol = event->symbol });
}

void dw_chrome_flow_link(struct dw_chrome *chrome, const struct dw_event *event)
{
	bool backward = event->forward_thread < chrome->source->thread_count;

	add(chrome, &(struct dw_chrome_end){ .handle = event->sequence,
	                                     .ns = event->start_ns,
	                                     .owner = backward ? event->forward_thread : event->thread,
	                                     .track = event->thread * 2 + chrome->nested,
	                                     .name = DW_CHROME_LINK | (backward ? DW_CHROME_IN : 0),
	                                     .symbol = event->symbol });
}

/* ---- arrows ------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
	const struct dw_chrome_end *a = left, *b = right;

	if ((a->name & ~DW_CHROME_IN) != (b->name & ~DW_CHROME_IN))
		return (a->name & ~DW_CHROME_IN) < (b->name & ~DW_CHROME_IN) ? -1 : 1;
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->handle != b->handle)
		return a->handle < b->handle ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if ((a->name & DW_CHROME_IN) != (b->name & DW_CHROME_IN))
		return a->name & DW_CHROME_IN ? 1 : -1;
	return a->track < b->track ? -1 : a->track > b->track;
}

static bool same(const struct dw_chrome_end *a, const struct dw_chrome_end *b)
{
	return (a->name & ~DW_CHROME_IN) == (b->name & ~DW_CHROME_IN) && a->owner == b->owner &&
	       a->handle == b->handle;
}

void dw_chrome_flows_write(struct dw_chrome *chrome, dw_chrome_put_end *put, void *to)
{
	struct dw_chrome_end *ends = chrome->flows.ends;
	size_t count = chrome->flows.count;
	const struct dw_chrome_end *from = NULL; /* the last way out */
	bool taken = false;

	if (count)
		qsort(ends, count, sizeof *ends, compare);
	for (size_t i = 0; i < count && !chrome->out->error; i++) {
		const struct dw_chrome_end *end = &ends[i];
		bool link = (end->name & ~DW_CHROME_IN) == DW_CHROME_LINK;
		uint64_t id;

		if (from && !same(from, end))
			from = NULL;
		if (!(end->name & DW_CHROME_IN)) {
			from = end;
			taken = false;
			/* Many forward calls have no backward one: nothing is missing then. */
			if (!link && (i + 1 == count || !same(end, end + 1) || !(end[1].name & DW_CHROME_IN)))
				put(to, end, ++chrome->next_id, 's');
			continue;
		}
		if (!from || (link && taken))
			continue; /* a backward call that repeats is not a second one */
		taken = true;
		id = link ? ++chrome->next_link : ++chrome->next_id;
		put(to, from, id, 's');
		put(to, end, id, 'f');
	}
}
