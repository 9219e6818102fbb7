/*
 * Chrome trace: JSON for ui.perfetto.dev, chrome://tracing and tools for PyTorch's traces.
 *
 * Times are microseconds since the start of the run with three decimals, so nanoseconds are kept.
 * Events are in the order of their streams; readers of the format sort them by time. Ranges and
 * steps that nest are "X" events, others are "b" and "e"; marks are "i", counters "C", arrows "s"
 * and "f". Every "f" has an "s". The "args" of ranges contain what tools for PyTorch's traces
 * expect (ids, shapes, call stack, sequence number), then the program's own arguments.
 *
 * Called through export.c. Memory: that of the timeline and 32 bytes per symbol.
 */
#include <stdlib.h>

#include "export/chrome_device.h"
#include "export/chrome_metadata.h"
#include "export/export.h"
#include "export/json.h"
#include "frameworks/torch.h"

#define EVENT_BYTES 512u /* maximum size of an event without its name and args */

/* The members of an event that all events of a symbol share, without braces. */
struct chrome_label {
	struct dw_label head; /* "cat":"cpu_op","name":"aten::add"; text is NULL until first used */
	struct dw_label args;
};

/* ,"pid":N,"tid":N,"ts": for a track */
struct chrome_track {
	char text[76];
	uint32_t length;
};

struct chrome {
	struct dw_timeline timeline;
	struct dw_writer_out *out;
	struct chrome_label *labels; /* by symbol */
	struct dw_launches launches;
	struct chrome_track *tracks;
	uint64_t last_range;
	bool any_event;
};

/* ---- parts of events --------------------------------------------------------------------- */

static void chrome_begin(struct chrome *chrome, char phase)
{
	char *to = dw_out_reserve(chrome->out, EVENT_BYTES);

	if (!to)
		return;
	to = chrome->any_event ? DW_PUT(to, ",\n{\"ph\":\"") : DW_PUT(to, "{\"ph\":\"");
	*to++ = phase;
	*to++ = '"';
	chrome->any_event = true;
	dw_out_wrote(chrome->out, to);
}

static void chrome_put_head(struct chrome *chrome, struct dw_label head)
{
	dw_out_bytes(chrome->out, ",", 1);
	dw_out_bytes(chrome->out, head.text, head.length);
}

/* ,"pid":N,"tid":N,"ts":T */
static void chrome_put_place(struct chrome *chrome, uint32_t track, uint64_t ns)
{
	const struct chrome_track *at = &chrome->tracks[track];
	char *to = dw_out_reserve(chrome->out, EVENT_BYTES);

	if (!to)
		return;
	to = dw_copy(to, at->text, at->length);
	dw_out_wrote(chrome->out, dw_put_us(to, ns));
}

static const struct chrome_label *chrome_label(struct chrome *chrome, uint32_t index)
{
	struct chrome_label *label = &chrome->labels[index];
	const struct dw_symbol *symbol = &chrome->timeline.symbols[index];
	struct dw_writer_out *scratch = &chrome->timeline.scratch;
	char buffer[24];

	if (__builtin_expect(label->head.text != NULL, 1))
		return label;
	dw_out_text(scratch, "\"cat\":\"");
	dw_out_text(scratch, index < chrome->timeline.range_symbols ? dw_label_category(symbol->category, buffer) : "sample");
	DW_OUT_JSON(scratch, "','name':#", symbol->name);
	label->head = dw_label_take(&chrome->timeline);
	label->args = dw_label_args(&chrome->timeline, index);
	return label;
}

/* Writes a range that does not nest, as "b" and "e" with an id of its own. `args` has no braces. */
static void chrome_put_apart(struct chrome *chrome, struct dw_label head, uint32_t track,
                             uint64_t start_ns, uint64_t end_ns, const char *args)
{
	struct dw_writer_out *out = chrome->out;
	uint64_t id = ++chrome->timeline.last_id;

	for (unsigned end = 0; end < 2; end++) {
		chrome_begin(chrome, end ? 'e' : 'b');
		chrome_put_head(chrome, head);
		DW_OUT_JSON(out, ",'id':#", id);
		chrome_put_place(chrome, track, end ? end_ns : start_ns);
		if (!end) {
			dw_out_text(out, ",\"args\":{");
			dw_out_text(out, args);
			dw_out_text(out, "}");
		}
		dw_out_text(out, "}");
	}
}

/* ---- names and order of processes and threads -------------------------------------------- */

/* Writes a metadata event about the thread (`of_thread`) or its process. If `name` is NULL, it
 * contains `sort_index`. */
static void chrome_put_fact(struct chrome *chrome, const char *what, struct dw_timeline_track at,
                            bool of_thread, const char *name, uint64_t sort_index)
{
	bool labels = strcmp(what, "process_labels") == 0;
	struct dw_writer_out *out = chrome->out;

	chrome_begin(chrome, 'M');
	dw_out_text(out, ",\"name\":\"");
	dw_out_text(out, what);
	DW_OUT_JSON(out, "','pid':#,'tid':#,'ts':0,'args':{'", at.pid, of_thread ? at.tid : 0);
	dw_out_text(out, labels ? "labels" : name ? "name" : "sort_index");
	dw_out_text(out, "\":");
	if (name)
		dw_out_string(out, name);
	else
		dw_out_u64(out, sort_index);
	dw_out_text(out, "}}");
}

/* Returns the position of a process: ranks in their order, each followed by the processes that it
 * started, then all other processes. */
static uint64_t chrome_sort_index(const struct dw_source *source, uint32_t index)
{
	uint32_t at = index;

	for (size_t hops = 0; at != DW_NO_INDEX && hops <= source->process_count; hops++) {
		if (source->processes[at].rank >= 0)
			return (uint64_t)(source->processes[at].rank % 100000) * 10000 + index % 10000;
		at = source->processes[at].parent;
	}
	return 1000000000 + index;
}

static void chrome_put_process(struct chrome *chrome, uint32_t index)
{
	const struct dw_source *source = chrome->timeline.source;
	const struct dw_timeline_track at = { .pid = chrome->timeline.pids[index] };
	char name[128];

	dw_timeline_process_name(source, index, name);
	chrome_put_fact(chrome, "process_name", at, false, name, 0);
	chrome_put_fact(chrome, "process_labels", at, false, "CPU", 0);
	chrome_put_fact(chrome, "process_sort_index", at, false, NULL, chrome_sort_index(source, index));
}

static void chrome_put_track(struct chrome *chrome, uint32_t track, const char *name)
{
	const struct dw_timeline_track at = chrome->timeline.tracks[track];

	chrome_put_fact(chrome, "thread_name", at, true, name, 0);
	chrome_put_fact(chrome, "thread_sort_index", at, true, NULL, track);
}

static void chrome_put_name(void *to, uint32_t track)
{
	struct chrome *chrome = to;
	char name[256];

	dw_timeline_track_name(chrome->timeline.source, track, name);
	chrome_put_track(chrome, track, name);
}

/* Writes an instant event for the whole trace, on the first thread that has a track. */
static void chrome_put_instant(struct chrome *chrome, const char *name, uint64_t ns)
{
	const struct dw_source *source = chrome->timeline.source;

	for (uint32_t i = 0; i < source->thread_count; i++) {
		if (dw_timeline_is_silent(source, source->threads[i].process))
			continue;
		chrome_begin(chrome, 'i');
		dw_out_text(chrome->out, ",\"s\":\"g\",\"name\":\"");
		dw_out_text(chrome->out, name);
		dw_out_text(chrome->out, "\"");
		chrome_put_place(chrome, i * 2, ns);
		dw_out_text(chrome->out, "}");
		return;
	}
}

static void chrome_put_tracks(struct chrome *chrome)
{
	const struct dw_source *source = chrome->timeline.source;

	for (uint32_t i = 0; i < source->process_count; i++)
		if (!dw_timeline_is_silent(source, i))
			chrome_put_process(chrome, i);
	for (uint32_t i = 0; i < source->thread_count; i++)
		if (!dw_timeline_is_silent(source, source->threads[i].process))
			chrome_put_track(chrome, i * 2, source->threads[i].name);
}

/* ---- ranges and steps -------------------------------------------------------------------- */

/* Writes the three numbers by which tools identify calls. All come from one counter: the first two
 * start at 1, the last at 0. */
static void chrome_put_ids(struct chrome *chrome, struct dw_writer_out *out)
{
	uint64_t id = ++chrome->last_range;
	char *to = dw_out_reserve(out, EVENT_BYTES);

	if (!to)
		return;
	to = DW_PUT(to, "\"External id\":");
	to = dw_put_u64(to, id);
	to = DW_PUT(to, ",\"Record function id\":");
	to = dw_put_u64(to, id);
	to = DW_PUT(to, ",\"Ev Idx\":");
	dw_out_wrote(out, dw_put_u64(to, id - 1));
}

/* What the program gave as arguments, if it did. */
static void chrome_put_given_args(struct dw_writer_out *out, const char *args)
{
	if (!args)
		return;
	dw_out_text(out, "\"args\":");
	if (dw_json_valid(args))
		dw_out_text(out, args);
	else
		dw_out_string(out, args);
}

/* Writes the arguments that differ between two calls of one symbol. */
static void chrome_put_own_args(struct chrome *chrome, struct dw_writer_out *out, const struct dw_event *event)
{
	const struct dw_timeline *timeline = &chrome->timeline;
	struct dw_launched launched;

	if (event->stack) {
		dw_out_text(out, ",\"Call stack\":");
		dw_out_string(out, dw_label_stack(&chrome->timeline, event->thread, event->stack));
	}
	dw_out_text(out, event->args ? "," : "");
	chrome_put_given_args(out, event->args);
	if (event->sequence != UINT64_MAX) {
		dw_out_text(out, ",\"Sequence number\":");
		dw_out_big(out, event->sequence);
		dw_out_text(out, ",\"Fwd thread id\":");
		dw_out_u64(out, event->forward_thread < timeline->source->thread_count
		                    ? timeline->tracks[event->forward_thread * 2].tid
		                    : 0);
	}
	if (event->open)
		dw_out_text(out, ",\"open\":true");
	if (event->type == DW_EVENT_RANGE) {
		launched = dw_launches_of(&chrome->launches, event->thread, event->start_ns, event->symbol);
		if (launched.correlation) {
			dw_out_text(out, ",\"correlation\":");
			dw_out_u64(out, launched.correlation);
		}
	}
}

static void chrome_put_args(struct chrome *chrome, struct dw_writer_out *out,
                            const struct chrome_label *label, const struct dw_event *event)
{
	chrome_put_ids(chrome, out);
	dw_out_text(out, label->args.length ? "," : "");
	dw_out_bytes(out, label->args.text, label->args.length);
	chrome_put_own_args(chrome, out, event);
}

static void chrome_put_overlapping(struct chrome *chrome, const struct chrome_label *label,
                                   const struct dw_event *event, uint32_t track)
{
	struct dw_writer_out args;

	dw_out_init_memory(&args);
	chrome_put_args(chrome, &args, label, event);
	dw_out_bytes(&args, "", 1);
	if (args.error)
		chrome->timeline.failed = true;
	else
		chrome_put_apart(chrome, label->head, track, event->start_ns, event->end_ns, args.buffer);
	dw_out_reset(&args);
}

static void chrome_put_range(void *to, const struct dw_event *event, uint32_t track, bool nests)
{
	struct chrome *chrome = to;
	const struct chrome_label *label = chrome_label(chrome, event->symbol);
	const struct chrome_track *place = &chrome->tracks[track];
	struct dw_writer_out *out = chrome->out;
	char *at;

	if (!nests) {
		chrome_put_overlapping(chrome, label, event, track);
		return;
	}
	chrome_begin(chrome, 'X');
	chrome_put_head(chrome, label->head);
	at = dw_out_reserve(out, EVENT_BYTES);
	if (!at)
		return;
	at = dw_copy(at, place->text, place->length);
	at = dw_put_us(at, event->start_ns);
	at = DW_PUT(at, ",\"dur\":");
	at = dw_put_us(at, event->end_ns - event->start_ns);
	dw_out_wrote(out, DW_PUT(at, ",\"args\":{"));
	chrome_put_args(chrome, out, label, event);
	dw_out_bytes(out, "}}", 2);
}

static void chrome_put_step(void *to, const struct dw_nest_step *at)
{
	struct chrome *chrome = to;
	struct dw_writer_out *out = chrome->out;
	const char *args = at->step->open ? ",\"open\":true" : "";
	struct dw_label name;
	char head[80];

	if (!at->step->recorded)
		args = at->step->open ? ",\"recorded\":false,\"open\":true" : ",\"recorded\":false";
	name.text = head;
	name.length = (uint32_t)snprintf(head, sizeof head,
	                                 "\"cat\":\"user_annotation\",\"name\":\"" DW_TORCH_STEP "%llu\"",
	                                 (unsigned long long)at->step->number);
	if (at->overlaps) {
		chrome_put_apart(chrome, name, at->track, at->start_ns, at->end_ns, *args ? args + 1 : args);
		return;
	}
	chrome_begin(chrome, 'X');
	chrome_put_head(chrome, name);
	chrome_put_place(chrome, at->track, at->start_ns);
	dw_out_text(out, ",\"dur\":");
	dw_out_us(out, at->end_ns - at->start_ns);
	dw_out_text(out, ",\"args\":{");
	chrome_put_ids(chrome, out);
	dw_out_text(out, args);
	dw_out_text(out, "}}");
}

/* ---- other events ------------------------------------------------------------------------ */

static void chrome_put_mark(void *to, const struct dw_event *event, uint32_t track)
{
	struct chrome *chrome = to;
	const struct chrome_label *label = chrome_label(chrome, event->symbol);

	chrome_begin(chrome, 'i');
	chrome_put_head(chrome, label->head);
	chrome_put_place(chrome, track, event->start_ns);
	dw_out_text(chrome->out, ",\"s\":\"t\"");
	if (label->args.length || event->args) {
		dw_out_text(chrome->out, ",\"args\":{");
		dw_out_bytes(chrome->out, label->args.text, label->args.length);
		dw_out_text(chrome->out, label->args.length && event->args ? "," : "");
		chrome_put_given_args(chrome->out, event->args);
		dw_out_bytes(chrome->out, "}", 1);
	}
	dw_out_bytes(chrome->out, "}", 1);
}

static void chrome_put_counter(void *to, const struct dw_event *event, uint32_t track)
{
	struct chrome *chrome = to;

	chrome_begin(chrome, 'C');
	chrome_put_head(chrome, chrome_label(chrome, event->symbol)->head);
	chrome_put_place(chrome, track, event->start_ns);
	DW_OUT_JSON(chrome->out, ",'args':{#:#}}", chrome->timeline.symbols[event->symbol].name, event->value);
}

static void chrome_put_async(void *to, const struct dw_event *event, uint32_t track)
{
	struct chrome *chrome = to;
	struct dw_writer_out args;

	dw_out_init_memory(&args);
	dw_out_text(&args, "\"handle\":");
	dw_out_hex(&args, event->handle);
	dw_out_text(&args, event->open ? ",\"open\":true" : "");
	dw_out_text(&args, event->args ? "," : "");
	chrome_put_given_args(&args, event->args);
	dw_out_bytes(&args, "", 1);
	if (args.error)
		chrome->timeline.failed = true;
	else
		chrome_put_apart(chrome, chrome_label(chrome, event->symbol)->head, track, event->start_ns,
		                 event->end_ns, args.buffer);
	dw_out_reset(&args);
}

static void chrome_put_memory(void *to, const struct dw_memory_total *at)
{
	struct chrome *chrome = to;
	struct dw_writer_out *out = chrome->out;

	chrome_begin(chrome, 'i');
	dw_out_text(out, ",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\"");
	chrome_put_place(chrome, at->track, at->ns);
	DW_OUT_JSON(out, ",'s':'t','args':{'Device Type':#,'Device Id':#,'Device':#,'Kind':#,'Addr':", at->device_type,
	            at->device_number, at->device_name, chrome->timeline.symbols[at->symbol].name);
	dw_out_big(out, at->address);
	DW_OUT_JSON(out, ",'Bytes':#,'Total Allocated':#}}", at->bytes, at->total);
}

static void chrome_put_arrow(void *to, const struct dw_arrow_end *end)
{
	struct chrome *chrome = to;

	chrome_begin(chrome, end->arrives ? 'f' : 's');
	if (end->link)
		dw_out_text(chrome->out, ",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\"");
	else
		chrome_put_head(chrome, chrome_label(chrome, end->symbol)->head);
	DW_OUT_JSON(chrome->out, ",'id':#", end->id);
	chrome_put_place(chrome, end->track, end->ns);
	dw_out_text(chrome->out, end->arrives ? ",\"bp\":\"e\"}" : "}");
}

/* ---- the document ------------------------------------------------------------------------ */

static const struct dw_timeline_format chrome_format = {
	.handlers_last = true, .put_handlers = chrome_put_name, .put_samples = chrome_put_name,
	.put_range = chrome_put_range,
	.put_mark = chrome_put_mark, .put_counter = chrome_put_counter, .put_async = chrome_put_async,
	.put_step = chrome_put_step, .put_memory = chrome_put_memory, .put_arrow = chrome_put_arrow,
};

static void chrome_make_tracks(struct chrome *chrome)
{
	struct dw_timeline *timeline = &chrome->timeline;
	size_t count = timeline->track_count;

	chrome->labels = calloc(timeline->symbol_count + 1, sizeof *chrome->labels);
	chrome->tracks = calloc(count + 1, sizeof *chrome->tracks);
	timeline->failed |= !chrome->labels || !chrome->tracks;
	for (size_t i = 0; i < count && !timeline->failed; i++)
		chrome->tracks[i].length =
			(uint32_t)snprintf(chrome->tracks[i].text, sizeof chrome->tracks[i].text,
		                       ",\"pid\":%llu,\"tid\":%llu,\"ts\":", (unsigned long long)timeline->tracks[i].pid,
		                       (unsigned long long)timeline->tracks[i].tid);
}

static int chrome_put_document(struct chrome *chrome, struct dwell_error *error)
{
	struct dw_timeline *timeline = &chrome->timeline;
	struct dw_writer_out *out = chrome->out;
	int result;

	dw_chrome_put_metadata(timeline);
	dw_out_text(out, "\"traceEvents\":[\n");
	chrome_put_tracks(chrome);
	chrome_put_instant(chrome, "Iteration Start: PyTorch Profiler", 0);
	result = dw_timeline_events(timeline, error);
	if (result)
		return result;
	dw_timeline_steps(timeline);
	dw_timeline_samples(timeline);
	chrome_put_instant(chrome, "Record Window End", timeline->source->end_ns);
	dw_timeline_memory(timeline);
	dw_timeline_arrows(timeline);
	dw_chrome_put_devices(timeline, &chrome->any_event);
	DW_OUT_JSON(out, "\n],\n'traceName':#}\n", dw_out_name(out));
	return 0;
}

static int chrome_write(struct dw_model *model, const struct dwell_export_options *options,
                        struct dw_writer_out *out, struct dwell_error *error)
{
	struct chrome chrome = { .out = out };
	int result = 0;

	dw_timeline_open(&chrome.timeline, &chrome_format, &chrome, model, options, out);
	dw_launches_make(&chrome.launches, &chrome.timeline);
	if (!chrome.timeline.failed)
		chrome_make_tracks(&chrome);
	if (!chrome.timeline.failed)
		result = chrome_put_document(&chrome, error);
	dw_launches_reset(&chrome.launches);
	free(chrome.labels);
	free(chrome.tracks);
	return dw_timeline_close(&chrome.timeline, result, error);
}

const struct dw_export_format dw_export_chrome = {
	.name = "chrome", .what = "Chrome trace JSON, for ui.perfetto.dev and chrome://tracing", .takes_filter = true,
	.write = chrome_write,
};
