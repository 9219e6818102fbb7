/*
 * The time of a selection by name; see span.h.
 *
 * Of a range that is only partly in the selection, that part counts.
 */
#include <stdlib.h>

#include "base/error.h"
#include "page/span_inside.h"

#define MOST_EXACT_CHUNKS 4096u /* 256 MiB: a second or two */
#define MOST_TOTALS 200u

struct totals_sum {
	uint64_t ns, count, within_ns; /* the last one: of the ranges in it */
	uint32_t name;
};

static uint64_t totals_self(const struct totals_sum *sum)
{
	return sum->ns > sum->within_ns ? sum->ns - sum->within_ns : 0;
}

static int totals_compare(const void *left, const void *right)
{
	const struct totals_sum *a = left, *b = right;
	uint64_t x = totals_self(a), y = totals_self(b);

	if (x != y)
		return x > y ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return a->name < b->name ? -1 : a->name > b->name;
}

/* The part of an item that is in the window. */
static uint64_t totals_part(const struct dw_page_window *window, const struct dw_span_item *item)
{
	uint64_t from = item->start_ns > window->begin_ns ? item->start_ns : window->begin_ns;
	uint64_t to = item->end_ns < window->end_ns ? item->end_ns : window->end_ns;

	return to > from ? to - from : 0;
}

/* Adds the items of a row to what is within those of the row above it. */
static void totals_add_within(const struct dw_page_window *window, const struct dw_span_row *above,
                              const struct dw_span_row *row, struct totals_sum *sums)
{
	size_t at = 0;

	for (size_t i = 0; i < row->count; i++) {
		const struct dw_span_item *item = &row->items[i];

		while (at < above->count && above->items[at].end_ns < item->end_ns)
			at++;
		if (at < above->count && above->items[at].start_ns <= item->start_ns)
			sums[above->items[at].name].within_ns += totals_part(window, item);
	}
}

/* Only the rows of threads are nested. */
static void totals_add(const struct dw_page_spans *spans, const struct dw_page_window *window,
                       const struct dw_span_rows *tracks, struct totals_sum *sums)
{
	uint32_t of_threads = (uint32_t)spans->source->thread_count * DW_TRACKS_OF_THREAD;

	for (uint32_t t = 0; t < spans->track_count; t++) {
		if (t < of_threads && t % DW_TRACKS_OF_THREAD == DW_TRACK_STEPS)
			continue;
		for (size_t r = 0; r < tracks[t].count; r++) {
			const struct dw_span_row *row = &tracks[t].rows[r];

			for (size_t i = 0; i < row->count; i++) {
				sums[row->items[i].name].count += row->items[i].count;
				sums[row->items[i].name].ns += totals_part(window, &row->items[i]);
			}
			if (r && t < of_threads)
				totals_add_within(window, row - 1, row, sums);
		}
	}
}

static void totals_put(const struct dw_page_spans *spans, const struct dw_page_window *window,
                       bool exact, struct totals_sum *sums, struct dw_writer_out *out)
{
	size_t count = 0, names = dw_span_name_count(spans);

	for (size_t i = 0; i < names; i++)
		if (sums[i].count) {
			sums[i].name = (uint32_t)i;
			sums[count++] = sums[i];
		}
	if (count)
		qsort(sums, count, sizeof *sums, totals_compare);
	DW_PAGE_PUT(out, "{'begin_ns':#,'end_ns':#", window->begin_ns, window->end_ns);
	dw_out_text(out, exact ? ",\"exact\":true,\"names\":[" : ",\"exact\":false,\"names\":[");
	for (size_t i = 0; i < count && i < MOST_TOTALS; i++) {
		dw_out_text(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		DW_PAGE_PUT(out, "#,'count':#,'ns':#,'self_ns':#}", sums[i].name, sums[i].count, sums[i].ns, totals_self(&sums[i]));
	}
	DW_PAGE_PUT(out, "],'left_out':#}\n", count > MOST_TOTALS ? count - MOST_TOTALS : 0);
}

int dw_page_span_totals(struct dw_page_spans *spans, const struct dw_page_window *asked,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	struct dw_page_window window = dw_span_cut(spans, asked);
	bool exact = !spans->resolution_ns || dw_span_chunks_of(spans, &window) <= MOST_EXACT_CHUNKS;
	struct dw_span_rows *tracks = calloc(spans->track_count + 1, sizeof *tracks);
	struct totals_sum *sums = calloc(dw_span_name_count(spans) + 1, sizeof *sums);
	int result = tracks && sums ? dw_span_collect(spans, &window, 0, tracks, exact, error)
	                            : dw_error_set(error, DWELL_E_NOMEM, "out of memory adding up a selection");

	if (!result) {
		totals_add(spans, &window, tracks, sums);
		totals_put(spans, &window, exact, sums, out);
	}
	dw_span_free_tracks(spans, tracks);
	free(sums);
	return result;
}
