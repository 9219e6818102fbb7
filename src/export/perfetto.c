/*
 * Perfetto: track events as protocol buffers, for ui.perfetto.dev and trace_processor.
 *
 * A file is a row of packets: what tracks there are, then events with nanoseconds since
 * the run's start. Begins and ends of a thread nest by their order alone, also within
 * one nanosecond, so the ranges of an outermost range are kept until it ends and then
 * written from the outermost in; packets otherwise come as their streams do, which readers
 * sort. What does not nest (asynchronous ranges, ends out of order) has a track of its
 * own. Steps lie on a track beside their thread. Arrows end in instants at the begin of
 * the calls they join; memory is a counter by process and device.
 *
 * Called through export.c; what it shares with the Chrome trace is in chrome.h. Memory:
 * 80 bytes a range of one outermost range, and what memory and arrows need there.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "base/proto.h"
#include "export/chrome.h"
#include "export/export.h"
#include "export/perfetto.h"
#include "export/stacks.h"
#include "frameworks/torch.h"

/* ---- ranges ------------------------------------------------------------------------- */

static void put_slice_end(struct dw_perfetto *perfetto, uint64_t track, uint64_t ns)
{
	dw_perfetto_close(perfetto, dw_perfetto_open(perfetto, DW_PERFETTO_END, track, ns));
}

static void put_slice(struct dw_perfetto *perfetto, const struct dw_perfetto_slice *slice,
                      uint64_t track, uint32_t thread)
{
	struct dw_proto *message = &perfetto->message;
	struct dw_perfetto_event event;

	dw_perfetto_intern(perfetto, slice->symbol);
	event = dw_perfetto_open(perfetto, DW_PERFETTO_BEGIN, track, slice->start_ns);
	dw_perfetto_name(perfetto, slice->symbol);
	dw_perfetto_args(perfetto, slice->symbol);
	if (slice->args)
		dw_perfetto_annotate(perfetto, "args", slice->args, dw_json_valid(slice->args));
	if (slice->stack) {
		struct dw_writer_out *text = &perfetto->chrome.scratch;

		text->used = 0;
		dw_stack_text(text, dw_stack_at(perfetto->chrome.source, thread, slice->stack));
		dw_out_bytes(text, "", 1);
		perfetto->chrome.failed |= text->error != 0;
		dw_perfetto_annotate(perfetto, "Call stack", text->error ? "" : text->buffer, false);
		text->used = 0;
	}
	if (slice->sequence != UINT64_MAX)
		dw_perfetto_annotate_u64(perfetto, "Sequence number", slice->sequence);
	if (slice->open)
		dw_perfetto_annotate(perfetto, "open", "true", true);
	perfetto->chrome.failed |= message->failed;
	dw_perfetto_close(perfetto, event);
}

/*
 * Slices come as they end: those within one right before it. What is written first is
 * the outermost: a slice stands behind all that lies in front of its subtree and behind
 * those around it.
 */
static bool find_order(struct dw_perfetto *perfetto)
{
	struct dw_perfetto_slice *slices = perfetto->slices;
	size_t count = 0;

	for (size_t i = 0; i < perfetto->slice_count; i++) {
		/* Below, all of them may lie in one another. */
		if (!DW_GROW(&perfetto->open, &perfetto->open_capacity, i) ||
		    !DW_GROW(&perfetto->order, &perfetto->order_capacity, i))
			return false;
		slices[i].first = i;
		while (count && slices[perfetto->open[count - 1]].depth > slices[i].depth)
			slices[i].first = slices[perfetto->open[--count]].first;
		perfetto->open[count++] = i;
	}
	count = 0;
	for (size_t i = perfetto->slice_count; i-- > 0;) {
		while (count && slices[perfetto->open[count - 1]].first > i)
			count--;
		perfetto->order[slices[i].first + count] = i;
		perfetto->open[count++] = i;
	}
	return true;
}

/* All that is kept, in order of time: an end before the begin beside it, a begin before
 * what lies in it. */
static void put_slices(struct dw_perfetto *perfetto)
{
	const struct dw_perfetto_slice *slices = perfetto->slices;
	uint64_t track = 1 + perfetto->chrome.nest.track;
	size_t count = 0;

	if (!find_order(perfetto)) {
		perfetto->chrome.failed = true;
		return;
	}
	for (size_t i = 0; i < perfetto->slice_count && !perfetto->chrome.failed; i++) {
		size_t at = perfetto->order[i];

		while (count && perfetto->open[count - 1] < at) /* it ended before this one */
			put_slice_end(perfetto, track, slices[perfetto->open[--count]].end_ns);
		put_slice(perfetto, &slices[at], track, perfetto->chrome.nest.track / 2);
		perfetto->open[count++] = at;
	}
	while (count)
		put_slice_end(perfetto, track, slices[perfetto->open[--count]].end_ns);
	perfetto->slice_count = 0;
}

/* On a track of its own. */
static void put_apart(struct dw_perfetto *perfetto, const struct dw_perfetto_slice *slice,
                      uint32_t thread)
{
	uint64_t track = dw_perfetto_new_track(perfetto, 1 + (uint64_t)thread * 2,
	                                       perfetto->chrome.symbols[slice->symbol].name);

	put_slice(perfetto, slice, track, thread);
	put_slice_end(perfetto, track, slice->end_ns);
}

static void add_range(struct dw_perfetto *perfetto, const struct dw_event *event)
{
	const struct dw_perfetto_slice slice = {
		.start_ns = event->start_ns, .end_ns = event->end_ns, .sequence = event->sequence,
		.args = event->args, .symbol = event->symbol, .stack = event->stack,
		.depth = event->depth, .open = event->open,
	};
	uint32_t track = event->thread * 2 + event->nested;
	struct dw_perfetto_slice *kept;
	int nests;

	if (perfetto->chrome.nest.track != track) {
		put_slices(perfetto);
		dw_chrome_nest_start(&perfetto->chrome.nest, track);
	}
	nests = dw_chrome_nest_add(&perfetto->chrome.nest, event->start_ns, event->end_ns, event->depth);
	kept = nests > 0 ? DW_GROW(&perfetto->slices, &perfetto->slice_capacity,
	                           perfetto->slice_count)
	                 : NULL;
	perfetto->chrome.failed |= nests < 0 || (nests > 0 && !kept);
	if (kept) {
		*kept = slice;
		perfetto->slice_count++;
		if (event->depth == 0)
			put_slices(perfetto);
	} else if (nests == 0) {
		put_apart(perfetto, &slice, event->thread);
	}
}

/* ---- the rest ----------------------------------------------------------------------- */

static void put_mark(struct dw_perfetto *perfetto, const struct dw_event *event)
{
	struct dw_perfetto_event opened;

	dw_perfetto_intern(perfetto, event->symbol);
	opened = dw_perfetto_open(perfetto, DW_PERFETTO_INSTANT,
	                          1 + (uint64_t)event->thread * 2 + event->nested, event->start_ns);
	dw_perfetto_name(perfetto, event->symbol);
	dw_perfetto_args(perfetto, event->symbol);
	dw_perfetto_close(perfetto, opened);
}

static void put_handle(struct dw_perfetto *perfetto, const struct dw_event *event)
{
	const struct dw_perfetto_slice slice = { .start_ns = event->start_ns,
		.end_ns = event->end_ns, .sequence = UINT64_MAX, .symbol = event->symbol,
		.open = event->open };

	put_apart(perfetto, &slice, event->thread);
}

static int each(void *context, const struct dw_event *event)
{
	struct dw_perfetto *perfetto = context;
	struct dw_chrome *chrome = &perfetto->chrome;

	if (event->thread >= chrome->source->thread_count || event->symbol >= chrome->symbol_count)
		return 0;
	chrome->nested = event->nested;
	switch (event->type) {
	case DW_EVENT_RANGE:
		add_range(perfetto, event);
		if (event->sequence != UINT64_MAX)
			dw_chrome_flow_link(chrome, event);
		break;
	case DW_EVENT_MARK:
		put_mark(perfetto, event);
		break;
	case DW_EVENT_COUNTER:
		if (isfinite(event->value))
			dw_perfetto_count(perfetto, event);
		break;
	case DW_EVENT_ALLOC:
	case DW_EVENT_FREE:
		dw_chrome_memory_add(chrome, event);
		break;
	case DW_EVENT_ASYNC:
		put_handle(perfetto, event);
		break;
	case DW_EVENT_FLOW_OUT:
	case DW_EVENT_FLOW_IN:
		dw_chrome_flow_add(chrome, event);
		break;
	}
	return chrome->failed || chrome->out->error;
}

static void put_steps(struct dw_perfetto *perfetto)
{
	const struct dw_chrome_steps *steps = &perfetto->chrome.steps;
	uint64_t track = 0;
	char name[64];

	for (size_t i = 0; i < steps->count; i++) {
		const struct dw_chrome_step *step = &steps->steps[i];
		struct dw_perfetto_event event;

		if (i == 0 || i >= steps->apart || step->track != step[-1].track)
			track = dw_perfetto_new_track(perfetto, 1 + step->track, "steps");
		snprintf(name, sizeof name, DW_TORCH_STEP "%llu", (unsigned long long)step->step->number);
		event = dw_perfetto_open(perfetto, DW_PERFETTO_BEGIN, track, step->start_ns);
		dw_perfetto_name_text(perfetto, name);
		if (step->step->open)
			dw_perfetto_annotate(perfetto, "open", "true", true);
		if (!step->step->recorded)
			dw_perfetto_annotate(perfetto, "recorded", "false", true);
		dw_perfetto_close(perfetto, event);
		put_slice_end(perfetto, track, step->end_ns);
	}
}

static void put_end(void *to, const struct dw_chrome_end *end, uint64_t id, char phase)
{
	dw_perfetto_arrow(to, end, id, phase == 'f');
}

static void put_memory(void *to, const struct dw_chrome_memory_at *at)
{
	dw_perfetto_hold(to, at);
}

/* ---- the document ------------------------------------------------------------------- */

static int put_all(struct dw_perfetto *perfetto, struct dwell_error *error)
{
	struct dw_chrome *chrome = &perfetto->chrome;
	int result;

	dw_perfetto_head(perfetto);
	result = dw_model_events(chrome->model, each, perfetto, error);
	if (result < 0)
		return result;
	put_slices(perfetto);
	put_steps(perfetto);
	if (!chrome->failed)
		dw_chrome_memory_write(chrome, put_memory, perfetto);
	if (!chrome->failed)
		dw_chrome_flows_write(chrome, put_end, perfetto);
	return 0;
}

int dw_export_perfetto(struct dw_model *model, const struct dw_export_options *options,
                       struct dw_writer_out *out, struct dwell_error *error)
{
	struct dw_perfetto perfetto = { .slices = NULL };
	struct dw_chrome *chrome = &perfetto.chrome;
	int result = 0;

	dw_chrome_open(chrome, model, out);
	perfetto.interned = calloc(chrome->symbol_count + 1, sizeof *perfetto.interned);
	chrome->failed |= !perfetto.interned;
	if (!chrome->failed)
		result = put_all(&perfetto, error);
	dw_proto_reset(&perfetto.message);
	free(perfetto.slices);
	free(perfetto.open);
	free(perfetto.order);
	free(perfetto.interned);
	free(perfetto.counters);
	return dw_chrome_close(chrome, result, error);
}
