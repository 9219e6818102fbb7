/*
 * One event with all that is known of it: arguments, call stack, flows; see span.h.
 *
 * The index has only its name and times, so its chunk is read again.
 */

#include <stdlib.h>

#include "export/json.h"
#include "export/timeline.h"
#include "page/span_inside.h"

#define MOST_EVENT_FLOWS 50u

struct detail {
	struct dw_page_spans *spans;
	struct dw_timeline *timeline;
	struct dw_writer_out *out;
	uint32_t track, row;
	uint64_t begin_ns, end_ns; /* as the index knows the end */
	bool found;
};

/* The item of a track at a time: the one that begins then, else the innermost. NULL: there is none. */
static const struct dw_span_item *detail_find(const struct dw_span_rows *rows, uint64_t ns, size_t *row)
{
	const struct dw_span_item *innermost = NULL;

	for (size_t r = 0; r < rows->count; r++)
		for (size_t i = 0; i < rows->rows[r].count; i++) {
			const struct dw_span_item *item = &rows->rows[r].items[i];

			if (item->start_ns > ns || item->end_ns < ns)
				continue;
			innermost = item;
			*row = r;
			if (item->start_ns == ns)
				return item;
		}
	return innermost;
}

/* What a flow leads to or comes from. */
static void detail_put_end(const struct detail *detail, uint32_t track, uint64_t ns)
{
	struct dw_page_spans *spans = detail->spans;
	struct dw_page_window window = { .begin_ns = ns, .end_ns = ns + 1, .pixels = 1, .tracks = &track, .track_count = 1 };
	struct dw_span_rows *tracks = calloc(spans->track_count + 1, sizeof *tracks);
	const struct dw_span_item *item = NULL;
	size_t row = 0;

	if (tracks && track < spans->track_count && !dw_span_collect(spans, &window, 0, tracks, true, NULL))
		item = detail_find(&tracks[track], ns, &row);
	dw_out_text(detail->out, item ? ",{\"row\":" : ",null");
	if (item)
		DW_PAGE_PUT(detail->out, "#,'begin_ns':#,'end_ns':#,'name':#,'count':#}", row, item->start_ns,
		            (uint64_t)item->end_ns, item->name, item->count);
	dw_span_free_tracks(spans, tracks);
}

static void detail_put_flow(const struct detail *detail, const struct dw_span_flow *flow, bool leaves, bool first)
{
	dw_out_text(detail->out, first ? "[" : ",[");
	DW_PAGE_PUT(detail->out, "#,#,#,#", flow->from_track, flow->from_ns, flow->to_track, flow->to_ns);
	detail_put_end(detail, leaves ? flow->to_track : flow->from_track, leaves ? flow->to_ns : flow->from_ns);
	dw_out_text(detail->out, "]");
}

/* The call of the host that submitted a device's work, and the work that a call submitted. */
static size_t detail_put_launches(const struct detail *detail, size_t put)
{
	const struct dw_page_spans *spans = detail->spans;
	const struct dw_device_work *work = spans->device;

	for (size_t i = 0; work && i < work->event_count && put < MOST_EVENT_FLOWS; i++) {
		const struct dw_device_event *event = &work->events[i];
		const struct dw_device_call *call = event->call < work->call_count ? &work->calls[event->call] : NULL;
		struct dw_span_flow flow = { .to_ns = event->start_ns,
			.to_track = dw_span_queue_track(spans, event->queue) };

		if (!call)
			continue;
		flow.from_ns = call->start_ns;
		flow.from_track = dw_span_track_of(call->thread, DW_TRACK_THREAD);
		bool leaves = flow.from_track == detail->track && flow.from_ns == detail->begin_ns;

		if (leaves || (flow.to_track == detail->track && flow.to_ns == detail->begin_ns)) {
			detail_put_flow(detail, &flow, leaves, !put);
			put++;
		}
	}
	return put;
}

static void detail_put_flows(const struct detail *detail)
{
	const struct dw_page_spans *spans = detail->spans;
	size_t put = 0;

	dw_out_text(detail->out, ",\"flows\":[");
	for (size_t i = 0; i < spans->flow_count && put < MOST_EVENT_FLOWS; i++) {
		const struct dw_span_flow *flow = &spans->flows[i];
		bool from = flow->from_track == detail->track && flow->from_ns >= detail->begin_ns &&
		            flow->from_ns <= detail->end_ns;
		bool to = flow->to_track == detail->track && flow->to_ns >= detail->begin_ns && flow->to_ns <= detail->end_ns;

		if (from || to) {
			detail_put_flow(detail, flow, from, !put);
			put++;
		}
	}
	detail_put_launches(detail, put);
	dw_out_text(detail->out, "]");
}

static void detail_put_head(const struct detail *detail, uint32_t name)
{
	struct dw_writer_out *out = detail->out;

	DW_OUT_JSON(out, "{'name':#,'kind':#", dw_span_name(detail->spans, name),
	            dw_span_kind_name(dw_span_kind(detail->spans, name)));
	DW_PAGE_PUT(out, ",'begin_ns':#,'end_ns':#", detail->begin_ns, detail->end_ns);
}

/* "args" has what all calls of the symbol share, then what the program added to this one. */
static void detail_put_range(struct detail *detail, const struct dw_event *event)
{
	struct dw_timeline *timeline = detail->timeline;
	struct dw_writer_out *out = detail->out;
	struct dw_label label = dw_label_args(timeline, event->symbol);

	detail_put_head(detail, event->symbol);
	dw_out_text(out, ",\"args\":{");
	dw_out_bytes(out, label.text, label.length);
	if (event->args) {
		dw_out_text(out, label.length ? ",\"args\":" : "\"args\":");
		if (dw_json_valid(event->args))
			dw_out_text(out, event->args);
		else
			dw_out_string(out, event->args);
	}
	DW_OUT_JSON(out, "},'stack':#", event->stack ? dw_label_stack(timeline, event->thread, event->stack) : "");
	detail_put_flows(detail);
	dw_out_text(out, "}\n");
	detail->found = true;
}

static int detail_take(void *context, const struct dw_event *event)
{
	struct detail *detail = context;
	uint32_t track = dw_span_track_of(event->thread, event->nested ? DW_TRACK_HANDLERS : DW_TRACK_THREAD);

	if (track != detail->track || event->start_ns != detail->begin_ns || event->symbol >= detail->spans->symbol_count ||
	    (event->type != DW_EVENT_RANGE && event->type != DW_EVENT_MARK) || event->depth != detail->row)
		return 0;
	if (!event->open)
		detail->end_ns = event->end_ns;
	detail_put_range(detail, event);
	return 1;
}

static void detail_put_device(struct detail *detail)
{
	const struct dw_device_work *work = detail->spans->device;

	for (size_t i = 0; work && i < work->event_count && !detail->found; i++) {
		const struct dw_device_event *event = &work->events[i];
		struct dw_writer_out *out = detail->out;

		if (dw_span_queue_track(detail->spans, event->queue) != detail->track || event->start_ns != detail->begin_ns)
			continue;
		detail->end_ns = event->end_ns;
		detail_put_head(detail, (uint32_t)detail->spans->symbol_count + event->name);
		DW_PAGE_PUT(out, ",'args':{'correlation':#", event->correlation);
		if (event->bytes)
			DW_PAGE_PUT(out, ",'bytes':#", event->bytes);
		dw_out_text(out, "},\"stack\":\"\"");
		detail_put_flows(detail);
		dw_out_text(out, "}\n");
		detail->found = true;
	}
}

/* A function of samples, as the index has it. */
static void detail_put_sampled(struct detail *detail)
{
	const struct dw_span_rows *rows = &detail->spans->tracks[detail->track];
	const struct dw_span_row *row = detail->row < rows->count ? &rows->rows[detail->row] : NULL;
	size_t at = row ? dw_span_row_find(row, detail->begin_ns) : 0;

	if (!row || at == row->count || row->items[at].start_ns != detail->begin_ns)
		return;
	detail_put_head(detail, row->items[at].name);
	dw_out_text(detail->out, ",\"args\":{},\"stack\":\"\",\"flows\":[]}\n");
	detail->found = true;
}

/* The end of a long range as the index has it: its chunk may be far away. */
static uint64_t detail_index_end(const struct dw_page_spans *spans, uint32_t track, uint32_t row, uint64_t begin_ns)
{
	const struct dw_span_rows *rows = &spans->tracks[track];
	size_t at;

	if (row >= rows->count)
		return begin_ns;
	at = dw_span_row_find(&rows->rows[row], begin_ns);
	if (at < rows->rows[row].count && rows->rows[row].items[at].start_ns == begin_ns)
		return rows->rows[row].items[at].end_ns;
	return begin_ns;
}

int dw_page_span_event(struct dw_page_spans *spans, uint32_t track, uint32_t row, uint64_t begin_ns,
                       struct dw_writer_out *out, struct dwell_error *error)
{
	static const struct dw_timeline_format none;
	struct dw_page_window window = { .begin_ns = begin_ns, .end_ns = begin_ns + 1, .pixels = 1 };
	struct dw_timeline timeline;
	struct detail detail = { spans, &timeline, out, track, row, begin_ns, begin_ns, false };
	int result = 0;

	if (track >= spans->track_count) {
		dw_out_text(out, "null\n");
		return 0;
	}
	detail.end_ns = detail_index_end(spans, track, row, begin_ns);
	dw_timeline_open(&timeline, &none, NULL, spans->model, NULL, out);
	if (track >= spans->source->thread_count * DW_TRACKS_OF_THREAD)
		detail_put_device(&detail);
	else if (track % DW_TRACKS_OF_THREAD == DW_TRACK_SAMPLES)
		detail_put_sampled(&detail);
	else if (!timeline.failed && track % DW_TRACKS_OF_THREAD != DW_TRACK_STEPS)
		result = dw_span_walk(spans, &window, detail_take, &detail, error);
	if (!detail.found)
		dw_out_text(out, "null\n");
	return dw_timeline_close(&timeline, result < 0 ? result : 0, error);
}
