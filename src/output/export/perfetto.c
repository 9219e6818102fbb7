/*
 * Perfetto: track events as protocol buffers, for ui.perfetto.dev and trace_processor.
 *
 * Times are nanoseconds since the start of the run. Perfetto nests the begins and ends of a track
 * by their order alone, also within one nanosecond. Therefore the ranges inside an outermost range
 * are kept until it ends and are then written from the outermost to the innermost. All other
 * packets are in the order of the streams; readers sort them. Ranges that do not nest (asynchronous
 * ranges, ranges ended out of order) have tracks of their own. The steps of a thread have a track
 * next to the thread's. The ends of arrows are instants at the begin of the calls that they join.
 * Memory is a counter by process and device. Devices have tracks in their processes.
 *
 * Called through export.c. Memory: that of the timeline, and 80 bytes per range inside one
 * outermost range; of a trace with devices also 16 bytes per call and 5 per event of a device.
 */
#include <math.h>

#include "base/free.h"
#include "base/grow.h"
#include "export/export.h"
#include "export/json.h"
#include "export/perfetto_device.h"
#include "frameworks/torch.h"

/* A range that is kept until the outermost range around it ends. */
struct slice {
	uint64_t start_ns, end_ns;
	uint64_t sequence; /* UINT64_MAX: none */
	const char *args;
	uint32_t symbol, stack, depth;
	bool open;
	size_t first; /* index of the first slice inside it, or its own */
};

struct perfetto {
	struct dw_timeline timeline;
	struct dw_perfetto packets;
	struct dw_launches launches;
	struct slice *slices; /* slices of the track `kept_track` in the order of their ends */
	size_t slice_count, slice_capacity;
	uint32_t kept_track;
	size_t *open; /* indices of slices, the innermost last */
	size_t open_capacity;
	size_t *order; /* indices of slices in the order of writing */
	size_t order_capacity;
	uint64_t samples_track; /* of the last track with samples */
	uint64_t step_track, step_of; /* the track of the last step, and its thread's track + 1 */
};

/* ---- ranges ------------------------------------------------------------------------------ */

static void perfetto_put_end(struct perfetto *perfetto, uint64_t track, uint64_t ns)
{
	dw_perfetto_close(&perfetto->packets, dw_perfetto_open(&perfetto->packets, DW_PERFETTO_END, track, ns));
}

static void perfetto_put_begin(struct perfetto *perfetto, const struct slice *slice, uint64_t track, uint32_t thread)
{
	struct dw_perfetto *packets = &perfetto->packets;
	struct dw_perfetto_event event;
	struct dw_launched launched;

	dw_perfetto_intern(packets, slice->symbol);
	event = dw_perfetto_open(packets, DW_PERFETTO_BEGIN, track, slice->start_ns);
	dw_perfetto_name(packets, slice->symbol);
	dw_perfetto_args(packets, slice->symbol);
	if (slice->args)
		dw_perfetto_annotate(packets, "args", slice->args, dw_json_valid(slice->args));
	if (slice->stack)
		dw_perfetto_annotate(packets, "Call stack", dw_label_stack(&perfetto->timeline, thread, slice->stack), false);
	if (slice->sequence != UINT64_MAX)
		dw_perfetto_annotate_u64(packets, "Sequence number", slice->sequence);
	if (slice->open)
		dw_perfetto_annotate(packets, "open", "true", true);
	launched = dw_launches_of(&perfetto->launches, thread, slice->start_ns, slice->symbol);
	if (launched.correlation)
		dw_perfetto_annotate_u64(packets, "correlation", launched.correlation);
	for (size_t i = 0; i < launched.count; i++)
		dw_perfetto_launch(packets, launched.events[i], false);
	dw_perfetto_close(packets, event);
}

/*
 * Slices are stored in the order of their ends, so those inside a slice come directly before it.
 * The outermost slice is written first: the position of a slice is the first position of its
 * subtree, plus the number of slices around it.
 */
static bool perfetto_find_order(struct perfetto *perfetto)
{
	struct slice *slices = perfetto->slices;
	size_t count = 0;

	for (size_t i = 0; i < perfetto->slice_count; i++) {
		/* In the second loop each slice may be inside the previous one. */
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

/* Writes all kept slices in order of time: an end before the begin of the next slice, a begin
 * before the slices inside it. */
static void perfetto_put_slices(struct perfetto *perfetto)
{
	const struct slice *slices = perfetto->slices;
	const struct dw_source *source = perfetto->timeline.source;
	uint32_t thread = dw_timeline_thread(source, perfetto->kept_track);
	bool samples = perfetto->kept_track >= source->thread_count * 2;
	uint64_t track = samples ? perfetto->samples_track : 1 + (uint64_t)perfetto->kept_track;
	size_t count = 0;

	if (!perfetto_find_order(perfetto)) {
		perfetto->timeline.failed = true;
		return;
	}
	for (size_t i = 0; i < perfetto->slice_count && !perfetto->timeline.failed; i++) {
		size_t at = perfetto->order[i];

		while (count && perfetto->open[count - 1] < at) /* it ended before this one */
			perfetto_put_end(perfetto, track, slices[perfetto->open[--count]].end_ns);
		perfetto_put_begin(perfetto, &slices[at], track, thread);
		perfetto->open[count++] = at;
	}
	while (count)
		perfetto_put_end(perfetto, track, slices[perfetto->open[--count]].end_ns);
	perfetto->slice_count = 0;
}

/* Writes a slice on a track of its own. */
static void perfetto_put_apart(struct perfetto *perfetto, const struct slice *slice, uint32_t thread)
{
	uint64_t track = dw_perfetto_new_track(&perfetto->packets, 1 + (uint64_t)thread * 2,
	                                       perfetto->timeline.symbols[slice->symbol].name);

	perfetto_put_begin(perfetto, slice, track, thread);
	perfetto_put_end(perfetto, track, slice->end_ns);
}

static void perfetto_put_range(void *to, const struct dw_event *event, uint32_t track, bool nests)
{
	struct perfetto *perfetto = to;
	const struct slice slice = {
		.start_ns = event->start_ns, .end_ns = event->end_ns, .sequence = event->sequence,
		.args = event->args, .symbol = event->symbol, .stack = event->stack,
		.depth = event->depth, .open = event->open,
	};

	if (perfetto->kept_track != track) {
		perfetto_put_slices(perfetto);
		perfetto->kept_track = track;
	}
	if (!nests) {
		perfetto_put_apart(perfetto, &slice, event->thread);
		return;
	}
	if (!DW_APPEND(&perfetto->slices, &perfetto->slice_capacity, &perfetto->slice_count, slice)) {
		perfetto->timeline.failed = true;
		return;
	}
	if (event->depth == 0)
		perfetto_put_slices(perfetto);
}

static void perfetto_put_samples(void *to, uint32_t track)
{
	struct perfetto *perfetto = to;
	uint32_t thread = dw_timeline_thread(perfetto->timeline.source, track);

	perfetto_put_slices(perfetto); /* of the track before */
	perfetto->samples_track = dw_perfetto_new_track(&perfetto->packets, 1 + (uint64_t)thread * 2, "samples");
}

static void perfetto_put_step(void *to, const struct dw_nest_step *step)
{
	struct perfetto *perfetto = to;
	struct dw_perfetto *packets = &perfetto->packets;
	struct dw_perfetto_event event;
	char name[64];

	/* Steps that overlap other steps are at the end of the list; each has a track of its own. */
	if (step >= perfetto->timeline.steps.steps + perfetto->timeline.steps.apart ||
	    perfetto->step_of != (uint64_t)step->track + 1)
		perfetto->step_track = dw_perfetto_new_track(packets, 1 + step->track, "steps");
	perfetto->step_of = (uint64_t)step->track + 1;
	snprintf(name, sizeof name, DW_TORCH_STEP "%llu", (unsigned long long)step->step->number);
	event = dw_perfetto_open(packets, DW_PERFETTO_BEGIN, perfetto->step_track, step->start_ns);
	dw_perfetto_name_text(packets, name);
	if (step->step->open)
		dw_perfetto_annotate(packets, "open", "true", true);
	if (!step->step->recorded)
		dw_perfetto_annotate(packets, "recorded", "false", true);
	dw_perfetto_close(packets, event);
	perfetto_put_end(perfetto, perfetto->step_track, step->end_ns);
}

/* ---- other events ------------------------------------------------------------------------ */

static void perfetto_put_mark(void *to, const struct dw_event *event, uint32_t track)
{
	struct perfetto *perfetto = to;
	struct dw_perfetto *packets = &perfetto->packets;
	struct dw_perfetto_event opened;

	dw_perfetto_intern(packets, event->symbol);
	opened = dw_perfetto_open(packets, DW_PERFETTO_INSTANT, 1 + (uint64_t)track, event->start_ns);
	dw_perfetto_name(packets, event->symbol);
	dw_perfetto_args(packets, event->symbol);
	if (event->args)
		dw_perfetto_annotate(packets, "args", event->args, dw_json_valid(event->args));
	dw_perfetto_close(packets, opened);
}

static void perfetto_put_async(void *to, const struct dw_event *event, uint32_t track)
{
	const struct slice slice = { .start_ns = event->start_ns, .end_ns = event->end_ns,
		.sequence = UINT64_MAX, .args = event->args, .symbol = event->symbol, .open = event->open };

	perfetto_put_apart(to, &slice, event->thread);
}

static void perfetto_put_counter(void *to, const struct dw_event *event, uint32_t track)
{
	struct perfetto *perfetto = to;

	if (isfinite(event->value))
		dw_perfetto_put_counter(&perfetto->packets, event);
}

static void perfetto_put_memory(void *to, const struct dw_memory_total *total)
{
	struct perfetto *perfetto = to;

	dw_perfetto_put_memory(&perfetto->packets, total);
}

static void perfetto_put_arrow(void *to, const struct dw_arrow_end *end)
{
	struct perfetto *perfetto = to;

	dw_perfetto_put_arrow(&perfetto->packets, end);
}

/* ---- the document ------------------------------------------------------------------------ */

static const struct dw_timeline_format perfetto_format = {
	.put_samples = perfetto_put_samples, .put_range = perfetto_put_range, .put_mark = perfetto_put_mark,
	.put_counter = perfetto_put_counter, .put_async = perfetto_put_async, .put_step = perfetto_put_step,
	.put_memory = perfetto_put_memory, .put_arrow = perfetto_put_arrow,
};

static int perfetto_put_document(struct perfetto *perfetto, struct dwell_error *error)
{
	struct dw_timeline *timeline = &perfetto->timeline;
	int result;

	dw_perfetto_put_tracks(&perfetto->packets);
	result = dw_timeline_events(timeline, error);
	if (result)
		return result;
	perfetto_put_slices(perfetto);
	dw_timeline_steps(timeline);
	dw_timeline_samples(timeline);
	perfetto_put_slices(perfetto);
	dw_timeline_memory(timeline);
	dw_timeline_arrows(timeline);
	dw_perfetto_put_devices(&perfetto->packets, &perfetto->launches);
	return 0;
}

static int perfetto_write(struct dw_model *model, const struct dwell_export_options *options,
                          struct dw_writer_out *out, struct dwell_error *error)
{
	struct perfetto perfetto = { .slices = NULL };
	int result = 0;

	dw_timeline_open(&perfetto.timeline, &perfetto_format, &perfetto, model, options, out);
	dw_perfetto_init(&perfetto.packets, &perfetto.timeline);
	dw_launches_make(&perfetto.launches, &perfetto.timeline);
	if (!perfetto.timeline.failed)
		result = perfetto_put_document(&perfetto, error);
	dw_perfetto_reset(&perfetto.packets);
	dw_launches_reset(&perfetto.launches);
	DW_FREE(perfetto.slices, perfetto.open, perfetto.order);
	return dw_timeline_close(&perfetto.timeline, result, error);
}

const struct dw_export_format dw_export_perfetto = {
	.name = "perfetto", .what = "a Perfetto trace, for ui.perfetto.dev and trace_processor", .takes_filter = true,
	.write = perfetto_write,
};
