/*
 * The next range with a name; see span.h.
 *
 * The index answers for the ranges that it holds. Names of short ranges that it merged are
 * searched in the chunks, window by window, up to the range that the index found.
 */
#include <stdlib.h>

#include "base/error.h"
#include "page/span_inside.h"

#define MOST_CHUNKS 8192u /* 512 MiB: some seconds */

struct search {
	struct dw_page_spans *spans;
	const bool *wanted;       /* by name */
	uint64_t ns;
	bool forward, found;
	struct dw_span_item best;
	uint32_t track, row;
};

/* Whether the item is one range: a merged item has the name of one of many, at an unknown time. */
static bool search_is_range(const struct search *search, const struct dw_span_item *item, uint32_t track)
{
	return !dw_span_is_merged(search->spans, track) ||
	       (item->count == 1 && item->end_ns - item->start_ns >= search->spans->resolution_ns);
}

static void search_offer(struct search *search, const struct dw_span_item *item, uint32_t track, uint32_t row)
{
	bool better = search->forward ? item->start_ns > search->ns : item->start_ns < search->ns;

	if (!better || !search->wanted[item->name])
		return;
	if (search->found && (search->forward ? item->start_ns >= search->best.start_ns
	                                      : item->start_ns <= search->best.start_ns))
		return;
	search->found = true;
	search->best = *item;
	search->track = track;
	search->row = row;
}

static void search_row(struct search *search, const struct dw_span_row *row, uint32_t track, uint32_t number)
{
	size_t at = dw_span_row_find(row, search->ns);

	if (search->forward) {
		for (size_t i = at; i < row->count; i++) {
			const struct dw_span_item *item = &row->items[i];

			if (search->found && item->start_ns >= search->best.start_ns)
				return;
			if (!search_is_range(search, item, track))
				continue;
			search_offer(search, item, track, number);
			if (search->wanted[item->name] && item->start_ns > search->ns)
				return;
		}
		return;
	}
	for (size_t i = at < row->count ? at + 1 : row->count; i-- > 0;) {
		const struct dw_span_item *item = &row->items[i];

		if (search->found && item->start_ns <= search->best.start_ns)
			return;
		if (!search_is_range(search, item, track))
			continue;
		search_offer(search, item, track, number);
		if (search->wanted[item->name] && item->start_ns < search->ns)
			return;
	}
}

static int search_take(void *context, const struct dw_event *event)
{
	struct search *search = context;
	struct dw_page_spans *spans = search->spans;
	struct dw_span_item item = { .start_ns = event->start_ns, .end_ns = event->end_ns, .count = 1 };

	if ((event->type != DW_EVENT_RANGE && event->type != DW_EVENT_MARK) ||
	    event->symbol >= spans->symbol_count || event->open)
		return 0;
	item.name = dw_model_row_symbol(spans->model, dw_model_symbol_row(spans->model, event->symbol));
	search_offer(search, &item, dw_span_track_of(event->thread, event->nested ? DW_TRACK_HANDLERS : DW_TRACK_THREAD),
	             event->depth);
	return 0;
}

/* Looks into chunks for ranges that the index merged, in windows from `ns` on or backwards, until
 * one is found that is nearer than what the index found. */
static int search_chunks(struct search *search, struct dwell_error *error)
{
	struct dw_page_spans *spans = search->spans;
	uint64_t width = spans->resolution_ns << 8, end = dw_page_spans_end_ns(spans), at = search->ns;
	size_t chunks = 0;
	int result = 0;

	while (!result && chunks < MOST_CHUNKS && (search->forward ? at < end : at > 0)) {
		uint64_t from = search->forward ? at : at > width ? at - width : 0;
		uint64_t to = search->forward ? at + width : at;
		struct dw_page_window window = { .begin_ns = from, .end_ns = to, .pixels = 1 };

		if (search->found && (search->forward ? search->best.start_ns <= from : search->best.start_ns >= to))
			break;
		result = dw_span_walk(spans, &window, search_take, search, error);
		chunks += dw_span_chunks_of(spans, &window) + 1;
		at = search->forward ? to : from;
	}
	return result;
}

static void search_put(const struct search *search, struct dw_writer_out *out)
{
	if (!search->found) {
		dw_out_text(out, "null\n");
		return;
	}
	DW_PAGE_PUT(out, "{'track':#,'row':#,'begin_ns':#,'end_ns':#,'name':#,'count':#", search->track, search->row,
	            search->best.start_ns, search->best.end_ns, search->best.name, search->best.count);
	dw_out_text(out, "}\n");
}

int dw_page_span_find(struct dw_page_spans *spans, const char *text, uint64_t ns, bool forward,
                      struct dw_writer_out *out, struct dwell_error *error)
{
	size_t names = dw_span_name_count(spans);
	bool *wanted = calloc(names + 1, sizeof *wanted), any = false;
	struct search search = { .spans = spans, .wanted = wanted, .ns = ns, .forward = forward };
	int result = 0;

	if (!wanted)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory searching");
	for (uint32_t i = 0; i < names; i++) {
		wanted[i] = strcasestr(dw_span_name(spans, i), text) != NULL;
		any |= wanted[i];
	}
	for (uint32_t t = 0; any && t < spans->track_count; t++) {
		if (t < spans->source->thread_count * DW_TRACKS_OF_THREAD && t % DW_TRACKS_OF_THREAD == DW_TRACK_STEPS)
			continue;
		for (uint32_t r = 0; r < spans->tracks[t].count; r++)
			search_row(&search, &spans->tracks[t].rows[r], t, r);
	}
	if (any && spans->resolution_ns)
		result = search_chunks(&search, error);
	if (!result)
		search_put(&search, out);
	free(wanted);
	return result;
}
