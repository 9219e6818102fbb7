/*
 * One span: collects the rows of tracks in a window, and writes them as JSON; see span.h.
 *
 * If the index holds all ranges, or those that are asked for are longer than its resolution, it
 * alone answers. Otherwise the ranges that it has merged are read from their chunks again: the
 * long ones come from the index, and the short ones begin and end near the window.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "page/span_inside.h"

#define MOST_FLOWS 400u /* of a span */

struct dw_page_window dw_span_cut(const struct dw_page_spans *spans, const struct dw_page_window *window)
{
	struct dw_page_window cut = *window;
	uint64_t end = dw_page_spans_end_ns(spans);

	cut.end_ns = cut.end_ns < end ? cut.end_ns : end;
	cut.begin_ns = cut.begin_ns < cut.end_ns ? cut.begin_ns : cut.end_ns;
	cut.pixels = !cut.pixels ? 1 : cut.pixels < DW_PAGE_MOST_PIXELS ? cut.pixels : DW_PAGE_MOST_PIXELS;
	return cut;
}

/* ---- chunks ------------------------------------------------------------------------------------- */

/* The chunks of a stream that have records in the window: from the last one that begins before
 * it to the first one that begins after short ranges of the window have ended. */
static void span_find_chunks(const struct dw_page_spans *spans, size_t index,
                             const struct dw_page_window *window, size_t *from, size_t *to)
{
	const struct dw_source_stream *stream = &spans->source->streams[index];
	const struct dw_source_clock *clock = &spans->source->files[stream->file].clock;
	uint64_t begin = dw_source_ticks(clock, window->begin_ns);
	uint64_t end = dw_source_ticks(clock, window->end_ns + spans->resolution_ns);
	size_t low = DW_FIRST(i, 0, stream->chunk_count, stream->chunks[i].base_ticks > begin), high;

	*from = low ? low - 1 : 0;
	for (high = low; high < stream->chunk_count && stream->chunks[high].base_ticks <= end;)
		high++;
	*to = high;
}

size_t dw_span_chunks_of(const struct dw_page_spans *spans, const struct dw_page_window *window)
{
	size_t count = 0, from, to;

	for (size_t i = 0; i < spans->source->stream_count; i++) {
		span_find_chunks(spans, i, window, &from, &to);
		count += to - from;
	}
	return count;
}

/* The last stored place of a stream at or before a chunk. */
static const struct dw_events_place *span_place(const struct dw_page_spans *spans, size_t index, size_t chunk)
{
	static const struct dw_events_place begin;
	const struct dw_span_stream *stream = &spans->streams[index];
	size_t at = chunk / spans->stride;

	if (stream->next.chunk <= chunk)
		return &stream->next; /* this stream has been read up to here only */
	at = at < stream->place_count ? at : stream->place_count - 1;
	for (; stream->place_count && at; at--)
		if (stream->places[at].chunk == at * spans->stride)
			return &stream->places[at];
	return &begin;
}

int dw_span_walk(struct dw_page_spans *spans, const struct dw_page_window *window,
                 int (*each)(void *context, const struct dw_event *event), void *context, struct dwell_error *error)
{
	int result = 0;

	for (size_t i = 0; i < spans->source->stream_count && !result; i++) {
		size_t from, to;

		span_find_chunks(spans, i, window, &from, &to);
		/* What is not read yet has no places, and would have to be read from the frontier on. */
		if (to > spans->streams[i].next.chunk)
			to = spans->streams[i].next.chunk;
		if (from >= to)
			continue;
		result = dw_model_events_between(spans->model, i, span_place(spans, i, from), to, NULL, each, context, error);
		dw_source_release_chunks(&spans->source->streams[i], from, to);
	}
	return result;
}

/* ---- collecting ----------------------------------------------------------------------------------- */

struct span_collect {
	struct dw_page_spans *spans;
	const struct dw_page_window *window;
	uint64_t resolution_ns;
	struct dw_span_rows *exact; /* by track: ranges that the index merged */
	bool failed;
};

static int span_take_short(void *context, const struct dw_event *event)
{
	struct span_collect *collect = context;
	struct dw_page_spans *spans = collect->spans;
	struct dw_span_item item = { .start_ns = event->start_ns, .end_ns = event->end_ns, .count = 1,
		.open = event->open };
	uint32_t track;

	if ((event->type != DW_EVENT_RANGE && event->type != DW_EVENT_MARK) ||
	    event->thread >= spans->source->thread_count || event->symbol >= spans->symbol_count ||
	    event->end_ns - event->start_ns >= spans->resolution_ns ||
	    event->start_ns >= collect->window->end_ns || event->end_ns < collect->window->begin_ns)
		return 0;
	track = dw_span_track_of(event->thread, event->nested ? DW_TRACK_HANDLERS : DW_TRACK_THREAD);
	if (!dw_span_wants(collect->window, track))
		return 0;
	item.name = dw_model_row_symbol(spans->model, dw_model_symbol_row(spans->model, event->symbol));
	collect->failed |= !dw_span_rows_add(&collect->exact[track], event->depth, &item, collect->resolution_ns);
	return collect->failed;
}

/* Adds the items of a row of the index and of the same row of exact items, in order of time. With
 * exact items, merged ones of the index are left out. */
static bool span_add_row(const struct span_collect *collect, uint32_t at, const struct dw_span_row *row,
                         const struct dw_span_row *exact, struct dw_span_rows *to)
{
	size_t i = dw_span_row_find(row, collect->window->begin_ns), k = 0;
	bool known = true;

	while (known) {
		const struct dw_span_item *item = i < row->count ? &row->items[i] : NULL;
		const struct dw_span_item *other = exact && k < exact->count ? &exact->items[k] : NULL;

		if (item && item->start_ns >= collect->window->end_ns)
			item = NULL;
		if (item && exact && (item->count > 1 || item->end_ns - item->start_ns < collect->spans->resolution_ns)) {
			i++;
			continue;
		}
		if (!item && !other)
			return true;
		if (other && (!item || other->start_ns < item->start_ns)) {
			known = dw_span_rows_add(to, at, other, collect->resolution_ns);
			k++;
		} else {
			known = dw_span_rows_add(to, at, item, collect->resolution_ns);
			i++;
		}
	}
	return false;
}

/* Adds ranges whose ends have not been read yet. */
static bool span_add_open(struct dw_page_spans *spans, const struct dw_page_window *window,
                          uint64_t resolution_ns, struct dw_span_rows *tracks)
{
	uint64_t read_ns = dw_page_spans_read_ns(spans);
	bool known = true;

	for (size_t i = 0; i < spans->source->stream_count && !spans->complete; i++) {
		const struct dw_source_stream *stream = &spans->source->streams[i];
		const struct dw_source_file *file = &spans->source->files[stream->file];
		const struct dw_events_place *next = &spans->streams[i].next;
		uint32_t track = dw_span_track_of(next->thread, stream->nested ? DW_TRACK_HANDLERS : DW_TRACK_THREAD);

		for (uint32_t k = 0; k < next->open_count && known; k++) {
			uint32_t id = next->open[k].id < file->symbol_count ? next->open[k].id : 0;
			struct dw_span_item item = { .start_ns = dw_source_ns(&file->clock, next->open[k].start),
				.end_ns = read_ns, .open = 1, .count = 1 };

			item.end_ns = item.end_ns < item.start_ns ? item.start_ns : item.end_ns;
			item.name = dw_model_symbol_of_id(spans->model, stream->file, id);
			if (dw_span_wants(window, track) && item.start_ns < window->end_ns && item.end_ns > window->begin_ns)
				known = dw_span_rows_add(&tracks[track], k, &item, resolution_ns);
		}
	}
	return known;
}

static bool span_add_tracks(const struct span_collect *collect, struct dw_span_rows *tracks)
{
	struct dw_page_spans *spans = collect->spans;
	const struct dw_span_rows *exact = collect->exact;

	for (uint32_t i = 0; i < spans->track_count; i++) {
		const struct dw_span_rows *rows = &spans->tracks[i];
		bool merged = exact && dw_span_is_merged(spans, i);
		static const struct dw_span_row none;
		size_t count = merged && exact[i].count > rows->count ? exact[i].count : rows->count;

		if (!dw_span_wants(collect->window, i))
			continue;
		for (uint32_t k = 0; k < count; k++)
			if (!span_add_row(collect, k, k < rows->count ? &rows->rows[k] : &none,
			                  !merged ? NULL : k < exact[i].count ? &exact[i].rows[k] : &none, &tracks[i]))
				return false;
	}
	return span_add_open(spans, collect->window, collect->resolution_ns, tracks);
}

int dw_span_collect(struct dw_page_spans *spans, const struct dw_page_window *window,
                    uint64_t resolution_ns, struct dw_span_rows *tracks, bool exact, struct dwell_error *error)
{
	struct span_collect collect = { spans, window, resolution_ns, NULL, false };
	bool known = true;
	int result = 0;

	if (exact && spans->resolution_ns) {
		collect.exact = calloc(spans->track_count + 1, sizeof *collect.exact);
		known = collect.exact != NULL;
		if (known)
			result = dw_span_walk(spans, window, span_take_short, &collect, error);
	}
	if (known && !collect.failed && result >= 0)
		known = span_add_tracks(&collect, tracks);
	dw_span_free_tracks(spans, collect.exact);
	if (result < 0)
		return result;
	return known && !collect.failed ? 0 : dw_error_set(error, DWELL_E_NOMEM,
	                                                   "out of memory reading a part of the trace");
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

enum span_list { SPAN_BEGIN, SPAN_DURATION, SPAN_NAME, SPAN_COUNT, SPAN_OPEN };

static void span_put_list(const struct dw_span_rows *rows, enum span_list which, uint64_t begin_ns,
                          const uint32_t *names, bool steps, struct dw_writer_out *out)
{
	size_t number = 0;
	bool any = false;

	for (size_t r = 0; r < rows->count; r++) {
		const struct dw_span_row *row = &rows->rows[r];

		for (size_t i = 0; i < row->count; i++, number++) {
			const struct dw_span_item *item = &row->items[i];
			int64_t value = 0;

			if (which == SPAN_BEGIN)
				value = (int64_t)(item->start_ns - (i ? row->items[i - 1].end_ns : begin_ns));
			else if (which == SPAN_DURATION)
				value = (int64_t)(item->end_ns - item->start_ns);
			else if (which == SPAN_NAME)
				value = names && !steps ? (int64_t)names[item->name] - 1 : item->name;
			else if (which == SPAN_COUNT)
				value = item->count;
			else if (item->open)
				value = (int64_t)number;
			else
				continue;
			dw_out_text(out, any ? "," : "");
			dw_out_i64(out, value);
			any = true;
		}
	}
}

static void span_put_track(const struct dw_span_rows *rows, uint32_t track, uint64_t begin_ns,
                           const uint32_t *names, bool steps, struct dw_writer_out *out)
{
	bool merged = false, open = false;

	DW_PAGE_PUT(out, "{'track':#,'rows':[", track);
	for (size_t r = 0; r < rows->count; r++) {
		dw_out_text(out, r ? "," : "");
		dw_out_u64(out, rows->rows[r].count);
		for (size_t i = 0; i < rows->rows[r].count; i++) {
			merged |= rows->rows[r].items[i].count > 1;
			open |= rows->rows[r].items[i].open;
		}
	}
	dw_out_text(out, "],\"begin\":[");
	span_put_list(rows, SPAN_BEGIN, begin_ns, names, steps, out);
	dw_out_text(out, "],\"duration\":[");
	span_put_list(rows, SPAN_DURATION, begin_ns, names, steps, out);
	dw_out_text(out, "],\"name\":[");
	span_put_list(rows, SPAN_NAME, begin_ns, names, steps, out);
	if (merged) {
		dw_out_text(out, "],\"count\":[");
		span_put_list(rows, SPAN_COUNT, begin_ns, names, steps, out);
	}
	if (open) {
		dw_out_text(out, "],\"open\":[");
		span_put_list(rows, SPAN_OPEN, begin_ns, names, steps, out);
	}
	dw_out_text(out, "]}");
}

void dw_span_put_tracks(const struct dw_page_spans *spans, const struct dw_span_rows *tracks,
                        uint64_t begin_ns, const uint32_t *names, struct dw_writer_out *out)
{
	uint32_t of_threads = (uint32_t)spans->source->thread_count * DW_TRACKS_OF_THREAD;
	bool any = false;

	dw_out_text(out, "\"tracks\":[");
	for (uint32_t i = 0; i < spans->track_count; i++) {
		if (!tracks[i].items)
			continue;
		dw_out_text(out, any ? ",\n" : "\n");
		span_put_track(&tracks[i], i, begin_ns, names,
		               i < of_threads && i % DW_TRACKS_OF_THREAD == DW_TRACK_STEPS, out);
		any = true;
	}
	dw_out_text(out, "]");
}

/* Writes the flows that begin or end in the window, if they are few enough to be drawn. */
static void span_put_flows(const struct dw_page_spans *spans, const struct dw_page_window *window,
                           struct dw_writer_out *out)
{
	size_t count = 0;

	for (unsigned write = 0; write < 2; write++) {
		size_t put = 0;

		if (write)
			dw_out_text(out, count > MOST_FLOWS ? "],\"flows_left_out\":" : "");
		if (write && count > MOST_FLOWS) {
			dw_out_u64(out, count);
			return;
		}
		for (size_t i = 0; i < spans->flow_count; i++) {
			const struct dw_span_flow *flow = &spans->flows[i];
			bool from = flow->from_ns >= window->begin_ns && flow->from_ns < window->end_ns;
			bool to = flow->to_ns >= window->begin_ns && flow->to_ns < window->end_ns;

			if ((!from || !dw_span_wants(window, flow->from_track)) && (!to || !dw_span_wants(window, flow->to_track)))
				continue;
			count += !write;
			if (!write)
				continue;
			dw_out_text(out, put++ ? ",[" : "[");
			DW_PAGE_PUT(out, "#,#,#,#]", flow->from_track, flow->from_ns, flow->to_track, flow->to_ns);
		}
	}
	dw_out_text(out, "]");
}

size_t dw_span_items(const struct dw_page_spans *spans, const struct dw_span_rows *tracks)
{
	size_t items = 0;

	for (size_t i = 0; i < spans->track_count; i++)
		items += tracks[i].items;
	return items;
}

uint64_t dw_span_limit(const struct dw_page_spans *spans, const struct dw_page_window *window, uint64_t resolution_ns,
                       struct dw_span_rows *tracks)
{
	while (dw_span_items(spans, tracks) > window->most_items && resolution_ns < window->end_ns - window->begin_ns) {
		resolution_ns = resolution_ns ? resolution_ns * 2 : 1;
		for (size_t i = 0; i < spans->track_count; i++)
			dw_span_rows_coarsen(&tracks[i], resolution_ns);
	}
	return resolution_ns;
}

int dw_page_span(struct dw_page_spans *spans, const struct dw_page_window *asked,
                 struct dw_writer_out *out, struct dwell_error *error)
{
	struct dw_page_window window = dw_span_cut(spans, asked);
	struct dw_span_rows *tracks = calloc(spans->track_count + 1, sizeof *tracks);
	uint64_t resolution_ns = (window.end_ns - window.begin_ns) / window.pixels;
	int result;

	if (!tracks)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading a part of the trace");
	result = dw_span_collect(spans, &window, resolution_ns, tracks, resolution_ns < spans->resolution_ns, error);
	if (!result && window.most_items)
		resolution_ns = dw_span_limit(spans, &window, resolution_ns, tracks);
	if (!result) {
		DW_PAGE_PUT(out, "{'begin_ns':#,'end_ns':#,'resolution_ns':#,'read_ns':#,", window.begin_ns, window.end_ns,
		            resolution_ns, dw_page_spans_read_ns(spans));
		dw_span_put_tracks(spans, tracks, window.begin_ns, NULL, out);
		dw_out_text(out, ",");
		if (!dw_span_put_counters(spans, &window, resolution_ns, out))
			result = dw_error_set(error, DWELL_E_NOMEM, "out of memory reading a part of the trace");
		dw_out_text(out, ",\"flows\":[");
		if (window.flows)
			span_put_flows(spans, &window, out);
		else
			dw_out_text(out, "]");
		dw_out_text(out, "}\n");
	}
	dw_span_free_tracks(spans, tracks);
	return result;
}
