/*
 * Spans: what a timeline shows of a trace between two times.
 *
 * dw_page_spans reads the trace once, chunk by chunk in order of time, and keeps an index of bounded
 * size: the rows of each track (span_rows.h), and for some chunks the ranges that were open at their
 * begin. If a trace has more ranges than the index may hold, ranges that are shorter than its
 * resolution are merged there, and the chunks themselves answer what is asked about less time. So a
 * large trace can be shown while it is still being read, and each answer takes about the same time.
 *
 *   span_index.c      reads the trace
 *   span.c            one span as JSON
 *   span_timeline.c   the timeline of a report: tracks, names, some spans
 *   span_beside.c     asynchronous ranges and counters
 *   span_totals.c     sums of a selection
 *   span_detail.c     one event
 *   span_search.c     search
 *
 * Times are ns of the run. A span as JSON:
 *
 *   {"begin_ns":B,"end_ns":E,"resolution_ns":R,"read_ns":N,"tracks":[
 *     {"track":ID,"rows":[2,1],"begin":[...],"duration":[...],"name":[...],"count":[...],"open":[...]}],
 *    "counters":[{"track":ID,"at":[...],"last":[...],"low":[...],"high":[...]}],
 *    "flows":[[from track,ns,to track,ns],...],"flows_left_out":N}
 *
 * `rows` has the number of items of each row, and the other lists have their items, row after row.
 * `begin` counts from the end of the item before; the first one of a row from B, and it may be
 * negative. `count` is omitted if all are 1, `open` (the numbers of items without an end) if there
 * are none. Ranges shorter than R may be merged; then `count` is above 1 and `name` that of the
 * longest. Asynchronous ranges are there when all has been read. `counters` have one sample before
 * the window; `at` counts as `begin` does, and `low` and `high` are omitted if no samples were merged.
 * What begins after read_ns is not read yet.
 */
#pragma once

#include "export/out.h"
#include "model/model.h"

struct dw_page_spans;

/* Reads nothing yet. The model must outlive it. */
int dw_page_spans_create(struct dw_page_spans **spans, struct dw_model *model, struct dwell_error *error);
void dw_page_spans_destroy(struct dw_page_spans *spans);
/* Reads the trace for about `most_ms`, or to its end if that is 0. Returns 1 when all of it has been
 * read, otherwise 0 or an error. */
int dw_page_spans_read(struct dw_page_spans *spans, uint64_t most_ms, struct dwell_error *error);
/* What begins before this time has been read. */
uint64_t dw_page_spans_read_ns(const struct dw_page_spans *spans);
uint64_t dw_page_spans_end_ns(const struct dw_page_spans *spans);

struct dw_page_window {
	uint64_t begin_ns, end_ns; /* cut to the trace; end_ns > begin_ns */
	uint32_t pixels;           /* at least 1 */
	const uint32_t *tracks;    /* ids; NULL: all */
	size_t track_count;
	size_t most_items;         /* the resolution is lowered until they suffice; 0: no limit */
	bool flows;
};

#define DW_PAGE_MOST_PIXELS 8192u

int dw_page_span(struct dw_page_spans *spans, const struct dw_page_window *window,
                 struct dw_writer_out *out, struct dwell_error *error);

/* Writes {"begin_ns","end_ns","read_ns","tracks":[{"id","kind","name","group"}],"names":[...],
 * "kinds":[...],"counts":[...],"kind_names":[...],"slowest":{"track","begin_ns","end_ns","name"},"spans":[...],
 * "counters":[...]}: `kinds` and `counts` have the kind of each name and how often it has been read so far, in the whole
 * trace. "slowest" is the slowest step of all threads.
 * Tracks of kind "counter" have "unit", "low", "high" and "not_finite" as well.
 * "counter_values_left_out": of further counters, if there are too many. `most_bytes` is
 * about the size of `spans`: the whole run, then the same at a finer level, then all events of some
 * steps. 0: no spans, and the names of all events, for a page that asks a server. */
int dw_page_timeline(struct dw_page_spans *spans, size_t most_bytes, struct dw_writer_out *out,
                     struct dwell_error *error);

/* Writes {"begin_ns","end_ns","exact","names":[{"name","count","ns","self_ns"}],"left_out"}: the time of
 * ranges within the window by name, and without the ranges in them; the longest by self time first. If it is not exact,
 * short ranges count under the names of longer ones next to them. */
int dw_page_span_totals(struct dw_page_spans *spans, const struct dw_page_window *window,
                        struct dw_writer_out *out, struct dwell_error *error);
/* Writes what is known of the range of a track that begins at `begin_ns` in a row: {"name","kind",
 * "begin_ns","end_ns","args","stack","flows"}, or null if there is no such range. A flow has a fifth member: the range at its
 * other end, {"row","begin_ns","end_ns","name","count"}, or null. */
int dw_page_span_event(struct dw_page_spans *spans, uint32_t track, uint32_t row, uint64_t begin_ns,
                       struct dw_writer_out *out, struct dwell_error *error);
/* Writes the next range after `ns`, or the last one before it, whose name contains `text` in any case
 * of letters: {"track","row","begin_ns","end_ns","name","count"}; null: there is none. */
int dw_page_span_find(struct dw_page_spans *spans, const char *text, uint64_t ns, bool forward,
                      struct dw_writer_out *out, struct dwell_error *error);
