/*
 * Chrome trace: JSON that ui.perfetto.dev, chrome://tracing and tools for PyTorch's
 * traces open.
 *
 * Times are microseconds with three decimals since the run's start, so no nanosecond
 * is lost. Events stand in the order of their streams, not of time, which readers of
 * the format sort anyway. Ranges and steps are "X" where they nest and "b", "e" where
 * not; marks "i"; counters "C"; arrows "s", "f", never an "f" without its "s".
 *
 * Memory: the labels of all names; 40 bytes an allocation or free and 32 an end of an
 * arrow (linked operators have such ends), which have an order only when all streams
 * are read; 24 bytes a live allocation. Nothing for a range.
 */
#include <stdlib.h>

#include "export/chrome.h"
#include "export/export.h"

/* ---- parts of events ---------------------------------------------------------------- */

void dw_chrome_begin(struct dw_chrome *chrome, char phase)
{
	char *to = dw_out_room(chrome->out, DW_CHROME_ROOM);

	to = chrome->any_event ? DW_PUT(to, ",\n{\"ph\":\"") : DW_PUT(to, "{\"ph\":\"");
	*to++ = phase;
	*to++ = '"';
	chrome->any_event = true;
	dw_out_wrote(chrome->out, to);
}

void dw_chrome_name(struct dw_chrome *chrome, const struct dw_chrome_label *label)
{
	dw_out_bytes(chrome->out, ",", 1);
	dw_out_bytes(chrome->out, label->head, label->head_length);
}

void dw_chrome_place(struct dw_chrome *chrome, uint32_t track, uint64_t ns)
{
	const struct dw_chrome_track *at = &chrome->tracks[track];
	char *to = dw_out_room(chrome->out, DW_CHROME_ROOM);

	to = dw_copy(to, at->text, at->length);
	dw_out_wrote(chrome->out, dw_put_us(to, ns));
}

void dw_chrome_async(struct dw_chrome *chrome, const struct dw_chrome_label *label,
                     const struct dw_event *event, uint32_t track, const char *args)
{
	struct dw_writer_out *out = chrome->out;
	uint64_t id = ++chrome->next_id;

	for (unsigned end = 0; end < 2; end++) {
		dw_chrome_begin(chrome, end ? 'e' : 'b');
		dw_chrome_name(chrome, label);
		dw_out_text(out, ",\"id\":");
		dw_out_u64(out, id);
		dw_chrome_place(chrome, track, end ? event->end_ns : event->start_ns);
		if (!end) {
			dw_out_text(out, ",\"args\":{");
			dw_out_text(out, args);
			dw_out_text(out, "}");
		}
		dw_out_text(out, "}");
	}
}

/* ---- the rest ----------------------------------------------------------------------- */

static void write_mark(struct dw_chrome *chrome, const struct dw_event *event)
{
	const struct dw_chrome_label *label = dw_chrome_label(chrome, event->symbol);

	dw_chrome_begin(chrome, 'i');
	dw_chrome_name(chrome, label);
	dw_chrome_place(chrome, event->thread * 2 + chrome->nested, event->start_ns);
	dw_out_text(chrome->out, ",\"s\":\"t\"");
	if (label->args_length) {
		dw_out_text(chrome->out, ",\"args\":{");
		dw_out_bytes(chrome->out, label->args, label->args_length);
		dw_out_bytes(chrome->out, "}", 1);
	}
	dw_out_bytes(chrome->out, "}", 1);
}

static void write_counter(struct dw_chrome *chrome, const struct dw_event *event)
{
	dw_chrome_begin(chrome, 'C');
	dw_chrome_name(chrome, dw_chrome_label(chrome, event->symbol));
	dw_chrome_place(chrome, event->thread * 2 + chrome->nested, event->start_ns);
	dw_out_text(chrome->out, ",\"args\":{");
	dw_out_string(chrome->out, chrome->symbols[event->symbol].name);
	dw_out_text(chrome->out, ":");
	dw_out_real(chrome->out, event->value);
	dw_out_text(chrome->out, "}}");
}

static void write_handle(struct dw_chrome *chrome, const struct dw_event *event)
{
	struct dw_writer_out args;

	dw_out_init_memory(&args);
	dw_out_text(&args, "\"handle\":");
	dw_out_hex(&args, event->handle);
	dw_out_text(&args, event->open ? ",\"open\":true" : "");
	dw_out_bytes(&args, "", 1);
	if (args.error)
		chrome->failed = true;
	else
		dw_chrome_async(chrome, dw_chrome_label(chrome, event->symbol), event,
		                event->thread * 2 + chrome->nested, args.buffer);
	dw_out_reset(&args);
}

static int each(void *context, const struct dw_event *event)
{
	struct dw_chrome *chrome = context;

	if (event->thread >= chrome->source->thread_count || event->symbol >= chrome->symbol_count)
		return 0;
	if (chrome->nested)
		dw_chrome_name_nested(chrome, event->thread);
	switch (event->type) {
	case DW_EVENT_RANGE:
		dw_chrome_put_range(chrome, event);
		if (event->sequence != UINT64_MAX)
			dw_chrome_flow_link(chrome, event);
		break;
	case DW_EVENT_MARK:
		write_mark(chrome, event);
		break;
	case DW_EVENT_COUNTER:
		write_counter(chrome, event);
		break;
	case DW_EVENT_ALLOC:
	case DW_EVENT_FREE:
		dw_chrome_memory_add(chrome, event);
		break;
	case DW_EVENT_ASYNC:
		write_handle(chrome, event);
		break;
	case DW_EVENT_FLOW_OUT:
	case DW_EVENT_FLOW_IN:
		dw_chrome_flow_add(chrome, event);
		break;
	}
	/* Anything but 0 ends the walk: there is no use in going on. */
	return chrome->failed || chrome->out->error;
}

/* ---- what has an order only at the end ---------------------------------------------- */

static void write_memory(void *to, const struct dw_chrome_memory_at *at)
{
	struct dw_chrome *chrome = to;
	struct dw_writer_out *out = chrome->out;

	dw_chrome_begin(chrome, 'i');
	dw_out_text(out, ",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\"");
	dw_chrome_place(chrome, at->track, at->ns);
	dw_out_text(out, ",\"s\":\"t\",\"args\":{\"Device Type\":");
	dw_out_i64(out, at->type);
	dw_out_text(out, ",\"Device Id\":");
	dw_out_i64(out, at->number);
	dw_out_text(out, ",\"Device\":");
	dw_out_string(out, at->name);
	dw_out_text(out, ",\"Kind\":");
	dw_out_string(out, chrome->symbols[at->symbol].name);
	dw_out_text(out, ",\"Addr\":");
	dw_out_big(out, at->address);
	dw_out_text(out, ",\"Bytes\":");
	dw_out_i64(out, at->bytes);
	dw_out_text(out, ",\"Total Allocated\":");
	dw_out_i64(out, at->total);
	dw_out_text(out, "}}");
}

static void write_end(void *to, const struct dw_chrome_end *end, uint64_t id, char phase)
{
	struct dw_chrome *chrome = to;

	dw_chrome_begin(chrome, phase);
	if ((end->name & ~DW_CHROME_IN) == DW_CHROME_LINK)
		dw_out_text(chrome->out, ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\"");
	else
		dw_chrome_name(chrome, dw_chrome_label(chrome, end->symbol));
	dw_out_text(chrome->out, ",\"id\":");
	dw_out_u64(chrome->out, id);
	dw_chrome_place(chrome, end->track, end->ns);
	dw_out_text(chrome->out, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* ---- the document ------------------------------------------------------------------- */

/*
 * The events of either the threads' own streams or those of their signal handlers.
 * Both come under one thread and would overlap on one track, so they are read one
 * after the other.
 */
static int read_streams(struct dw_chrome *chrome, uint32_t nested, struct dwell_error *error)
{
	int result;

	chrome->nested = nested;
	result = dw_model_events_of(chrome->model, nested ? DW_EVENTS_OF_HANDLERS : DW_EVENTS_OF_THREADS,
	                            each, chrome, error);
	return result < 0 ? result : 0;
}

static int read_events(struct dw_chrome *chrome, struct dwell_error *error)
{
	bool any = false;
	int result;

	for (size_t i = 0; i < chrome->source->stream_count; i++)
		any |= chrome->source->streams[i].nested;
	if (!any) {
		result = dw_model_events(chrome->model, each, chrome, error);
		return result < 0 ? result : 0; /* above 0: each() has stopped it */
	}
	result = read_streams(chrome, 0, error);
	return result ? result : read_streams(chrome, 1, error);
}

static int write_document(struct dw_chrome *chrome, struct dwell_error *error)
{
	int result;

	dw_chrome_head(chrome);
	dw_out_text(chrome->out, "\"traceEvents\":[\n");
	dw_chrome_threads(chrome);
	result = read_events(chrome, error);
	if (result)
		return result;
	chrome->nested = 0;
	dw_chrome_put_steps(chrome);
	dw_chrome_window_end(chrome);
	if (!chrome->failed)
		dw_chrome_memory_write(chrome, write_memory, chrome);
	if (!chrome->failed)
		dw_chrome_flows_write(chrome, write_end, chrome);
	dw_out_text(chrome->out, "\n],\n\"traceName\":");
	dw_out_string(chrome->out, dw_out_name(chrome->out));
	dw_out_text(chrome->out, "}\n");
	return 0;
}

int dw_export_chrome(struct dw_model *model, const struct dw_export_options *options,
                     struct dw_writer_out *out, struct dwell_error *error)
{
	struct dw_chrome chrome;
	int result = 0;

	dw_chrome_open(&chrome, model, out);
	if (!chrome.failed)
		result = write_document(&chrome, error);
	return dw_chrome_close(&chrome, result, error);
}
