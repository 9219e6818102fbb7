/*
 * The timeline of a trace; see timeline.h.
 *
 * Called by chrome.c, perfetto.c and xplane.c. It numbers the tracks and passes every event with
 * its track to the functions of the format.
 */

#include "base/error.h"
#include "base/free.h"
#include "base/order.h"
#include "base/text.h"
#include "export/timeline.h"

/* ---- numbers of processes and threads ---------------------------------------------------- */

/* Several processes may have the same pid: on different hosts, in different containers, before and
 * after exec. Pids have at most seven digits; the n-th further process with a pid gets the number n
 * before its digits. The same applies to threads. */
#define AGAIN 10000000u
#define MOST_AGAIN 99u
#define HANDLERS_AGAIN 100u /* added to n for the signal handlers of a thread, twice for its samples */

#define TRACKS_OF_THREAD 3u

struct timeline_number {
	uint32_t process, number, index;
};

DW_ORDER(timeline_compare_numbers, struct timeline_number, DW_UP(process) DW_UP(number) DW_UP(index))

/* Returns how many earlier entries of the process have the same number as entry `i`; `before` is
 * the result for i - 1. */
static uint64_t timeline_users_before(const struct timeline_number *numbers, size_t i, uint64_t before)
{
	bool same = i && numbers[i].process == numbers[i - 1].process && numbers[i].number == numbers[i - 1].number;

	/* Above the limit the kernel has reused the tid; such threads never overlap. */
	return !same ? 0 : before < MOST_AGAIN ? before + 1 : before;
}

static void timeline_number_processes(struct dw_timeline *timeline, struct timeline_number *numbers)
{
	const struct dw_source *source = timeline->source;
	uint64_t times = 0;

	for (uint32_t i = 0; i < source->process_count; i++)
		numbers[i] = (struct timeline_number){ 0, source->processes[i].pid, i };
	qsort(numbers, source->process_count, sizeof *numbers, timeline_compare_numbers);
	for (size_t i = 0; i < source->process_count; i++) {
		/* Processes with the same pid may overlap, so there is no limit. */
		times = i && numbers[i].number == numbers[i - 1].number ? times + 1 : 0;
		timeline->pids[numbers[i].index] = numbers[i].number + times * AGAIN;
	}
}

static uint32_t timeline_samples_track(const struct dw_source *source, uint32_t thread)
{
	return (uint32_t)source->thread_count * 2 + thread;
}

static void timeline_number_threads(struct dw_timeline *timeline, struct timeline_number *numbers)
{
	const struct dw_source *source = timeline->source;
	uint64_t times = 0;

	for (uint32_t i = 0; i < source->thread_count; i++)
		numbers[i] = (struct timeline_number){ source->threads[i].process, source->threads[i].tid, i };
	qsort(numbers, source->thread_count, sizeof *numbers, timeline_compare_numbers);
	for (size_t i = 0; i < source->thread_count; i++) {
		const struct timeline_number *number = &numbers[i];

		times = timeline_users_before(numbers, i, times);
		for (uint32_t which = 0; which < TRACKS_OF_THREAD; which++) {
			uint32_t at = which < 2 ? number->index * 2 + which : timeline_samples_track(source, number->index);

			timeline->tracks[at].pid = timeline->pids[number->process];
			timeline->tracks[at].tid = number->number + (times + which * HANDLERS_AGAIN) * AGAIN;
		}
	}
}

static int timeline_make_tracks(struct dw_timeline *timeline)
{
	const struct dw_source *source = timeline->source;
	size_t most = source->process_count > source->thread_count ? source->process_count : source->thread_count;
	struct timeline_number *numbers = calloc(most + 1, sizeof *numbers);

	timeline->pids = calloc(source->process_count + 1, sizeof *timeline->pids);
	timeline->track_count = (uint32_t)source->thread_count * TRACKS_OF_THREAD;
	timeline->tracks = calloc(timeline->track_count + 1, sizeof *timeline->tracks);
	timeline->begun = calloc(timeline->track_count + 1, sizeof *timeline->begun);
	timeline->has_ranges = calloc(source->thread_count + 1, sizeof *timeline->has_ranges);
	if (numbers && timeline->pids && timeline->tracks && timeline->begun && timeline->has_ranges) {
		timeline_number_processes(timeline, numbers);
		timeline_number_threads(timeline, numbers);
		free(numbers);
		return 0;
	}
	free(numbers);
	return -1;
}

/* ---- names ------------------------------------------------------------------------------- */

bool dw_timeline_is_silent(const struct dw_source *source, uint32_t process)
{
	if (!(source->processes[process].flags & DW_PROCESS_RUNNER))
		return false;
	for (size_t i = 0; i < source->stream_count; i++)
		if (source->streams[i].process == process)
			return false;
	return true;
}

bool dw_timeline_has_handlers(const struct dw_source *source, uint32_t thread)
{
	for (size_t i = 0; i < source->stream_count; i++)
		for (size_t k = 0; source->streams[i].nested && k < source->streams[i].chunk_count; k++)
			if (source->streams[i].chunks[k].thread == thread)
				return true;
	return false;
}

void dw_timeline_process_name(const struct dw_source *source, uint32_t index, char name[128])
{
	const struct dw_source_process *process = &source->processes[index];

	if (process->rank >= 0)
		snprintf(name, 128, "rank %d: %.100s", (int)process->rank, process->label);
	else
		snprintf(name, 128, "%.100s", process->label);
}

uint32_t dw_timeline_thread(const struct dw_source *source, uint32_t track)
{
	return track < source->thread_count * 2 ? track / 2 : track - (uint32_t)source->thread_count * 2;
}

void dw_timeline_track_name(const struct dw_source *source, uint32_t track, char name[256])
{
	bool samples = track >= source->thread_count * 2;

	snprintf(name, 256, "%.200s%s", source->threads[dw_timeline_thread(source, track)].name,
	         samples ? " (samples)" : track % 2 ? " (signal handlers)" : "");
}

/* ---- open and close ---------------------------------------------------------------------- */

/* Functions of samples are symbols, so that a format writes them as ranges. */
static void timeline_take_chart(struct dw_timeline *timeline)
{
	timeline->chart = dw_model_sample_chart(timeline->model, NULL);
	timeline->failed |= !timeline->chart;
	if (!timeline->chart)
		return;
	timeline->symbols = timeline->chart->symbols;
	timeline->symbol_count = timeline->chart->symbol_count;
}

void dw_timeline_open(struct dw_timeline *timeline, const struct dw_timeline_format *format,
                      void *to, struct dw_model *model, const struct dwell_export_options *options,
                      struct dw_writer_out *out)
{
	const char *end;

	*timeline = (struct dw_timeline){ .format = format, .to = to, .model = model,
		.source = dw_model_source(model), .out = out, .nest_track = DW_NO_INDEX };
	timeline->filter.pattern = options ? options->named : NULL;
	if (options && options->min_duration) /* dw_export_run() has checked it */
		dw_text_parse_ns(options->min_duration, &end, &timeline->filter.least_ns);
	timeline->symbols = dw_model_symbols(model, &timeline->symbol_count);
	timeline->range_symbols = timeline->symbol_count;
	if (format->put_samples)
		timeline_take_chart(timeline);
	timeline->args = calloc(timeline->symbol_count + 1, sizeof *timeline->args);
	timeline->nest.never_joined = dw_model_is_partial(model);
	dw_out_init_memory(&timeline->scratch);
	timeline->failed |= !timeline->symbols || !timeline->args || timeline_make_tracks(timeline) ||
	                    dw_nest_steps_make(&timeline->steps, model);
}

int dw_timeline_close(struct dw_timeline *timeline, int result, struct dwell_error *error)
{
	if (!result && timeline->failed)
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory while exporting to %s; export fewer steps (--steps) "
		                      "or one thread (--thread)", dw_out_name(timeline->out));
	dw_nest_steps_reset(&timeline->steps);
	dw_nest_reset(&timeline->nest);
	dw_memory_totals_reset(&timeline->memory);
	dw_arrows_reset(&timeline->arrows);
	dw_out_reset(&timeline->scratch);
	dw_arena_reset(&timeline->arena);
	DW_FREE(timeline->args, timeline->begun, timeline->tracks, timeline->pids, timeline->has_ranges);
	return result;
}

/* ---- events in the order of the streams -------------------------------------------------- */

/* Whether writing should stop. */
static bool timeline_is_over(const struct dw_timeline *timeline)
{
	return timeline->failed || timeline->out->error;
}

static bool timeline_wants(const struct dw_timeline *timeline, const struct dw_event *event)
{
	const char *name = timeline->symbols[event->symbol].name;

	switch (event->type) {
	case DW_EVENT_RANGE:
	case DW_EVENT_ASYNC: return dw_export_wants(&timeline->filter, name, event->start_ns, event->end_ns);
	case DW_EVENT_ALLOC:
	case DW_EVENT_FREE: return true;
	default: return dw_export_wants_name(&timeline->filter, name);
	}
}

/* A range that the filter leaves out still decides which others nest: as without a filter. */
static void timeline_add_range(struct dw_timeline *timeline, const struct dw_event *event, uint32_t track)
{
	int nests;

	if (timeline->nest_track != track) {
		timeline->nest_track = track;
		dw_nest_start(&timeline->nest);
	}
	nests = dw_nest_add(&timeline->nest, event->start_ns, event->end_ns, event->depth);
	if (nests < 0) {
		timeline->failed = true;
		return;
	}
	timeline->has_ranges[event->thread] |= timeline->symbols[event->symbol].category != DWELL_CATEGORY_PROFILER;
	if (nests && !event->nested)
		dw_nest_steps_add_range(&timeline->steps, event->thread, event->start_ns, event->end_ns);
	if (!timeline_wants(timeline, event))
		return;
	timeline->format->put_range(timeline->to, event, track, nests);
	if (event->sequence != UINT64_MAX)
		timeline->failed |= !dw_arrows_add_link(&timeline->arrows, event, track, timeline->source->thread_count);
}

static void timeline_add_flow(struct dw_timeline *timeline, const struct dw_event *event, uint32_t track)
{
	uint32_t process = timeline->source->threads[event->thread].process;

	timeline->failed |= !dw_arrows_add_flow(&timeline->arrows, event, track, process,
	                                        timeline->symbols, timeline->symbol_count);
}

static void timeline_begin_handlers(struct dw_timeline *timeline, uint32_t track)
{
	timeline->begun[track] = true;
	if (timeline->format->put_handlers)
		timeline->format->put_handlers(timeline->to, track);
}

static int timeline_add(void *context, const struct dw_event *event)
{
	struct dw_timeline *timeline = context;
	const struct dw_timeline_format *format = timeline->format;
	uint32_t track = event->thread * 2 + event->nested;

	if (event->thread >= timeline->source->thread_count || event->symbol >= timeline->symbol_count)
		return 0;
	if (event->type != DW_EVENT_RANGE && !timeline_wants(timeline, event))
		return 0;
	if (event->nested && !timeline->begun[track])
		timeline_begin_handlers(timeline, track);
	switch (event->type) {
	case DW_EVENT_RANGE: timeline_add_range(timeline, event, track); break;
	case DW_EVENT_MARK: format->put_mark(timeline->to, event, track); break;
	case DW_EVENT_COUNTER: format->put_counter(timeline->to, event, track); break;
	case DW_EVENT_ASYNC: format->put_async(timeline->to, event, track); break;
	case DW_EVENT_ALLOC:
	case DW_EVENT_FREE: timeline->failed |= !dw_memory_totals_add(&timeline->memory, event, track); break;
	case DW_EVENT_FLOW_OUT:
	case DW_EVENT_FLOW_IN: timeline_add_flow(timeline, event, track); break;
	case DW_EVENT_ASYNC_BEGIN:
	case DW_EVENT_ASYNC_END: break; /* of windows alone */
	}
	return timeline_is_over(timeline); /* 1 ends the walk */
}

int dw_timeline_events(struct dw_timeline *timeline, struct dwell_error *error)
{
	static const enum dw_event_streams orders[2][2] = {
		{ DW_EVENTS_ALL }, { DW_EVENTS_OF_THREADS, DW_EVENTS_OF_HANDLERS }
	};
	bool handlers = false;
	int result = 0;

	for (size_t i = 0; i < timeline->source->stream_count; i++)
		handlers |= timeline->source->streams[i].nested;
	handlers &= timeline->format->handlers_last;
	for (unsigned i = 0; i < 1u + handlers && !result; i++)
		result = dw_model_events_of(timeline->model, orders[handlers][i], timeline_add, timeline, error);
	return result < 0 ? result : 0;
}

/* ---- events that can be ordered only after all streams were read ------------------------- */

void dw_timeline_steps(struct dw_timeline *timeline)
{
	for (size_t i = 0; i < timeline->steps.count && !timeline_is_over(timeline); i++)
		timeline->format->put_step(timeline->to, &timeline->steps.steps[i]);
}

void dw_timeline_samples(struct dw_timeline *timeline)
{
	const struct dw_sample_chart *chart = timeline->chart;

	for (size_t i = 0; i < chart->count && !timeline_is_over(timeline); i++) {
		const struct dw_sample_span *span = &chart->spans[i];
		uint32_t track = timeline_samples_track(timeline->source, span->thread);
		struct dw_event event = { .type = DW_EVENT_RANGE, .start_ns = span->start_ns, .end_ns = span->end_ns,
			                      .thread = span->thread, .symbol = span->symbol, .depth = span->depth,
			                      .sequence = UINT64_MAX };

		if (timeline->has_ranges[span->thread] || !timeline_wants(timeline, &event))
			continue;
		if (!timeline->begun[track])
			timeline->format->put_samples(timeline->to, track);
		timeline->begun[track] = true;
		timeline->format->put_range(timeline->to, &event, track, true);
	}
}

static bool timeline_put_total(void *context, const struct dw_memory_total *total)
{
	struct dw_timeline *timeline = context;

	timeline->format->put_memory(timeline->to, total);
	return !timeline_is_over(timeline);
}

void dw_timeline_memory(struct dw_timeline *timeline)
{
	if (!timeline_is_over(timeline))
		timeline->failed |= !dw_memory_totals_replay(&timeline->memory, timeline->source,
		                                             timeline->symbols, timeline->symbol_count,
		                                             timeline_put_total, timeline);
}

static bool timeline_put_arrow(void *context, const struct dw_arrow_end *end)
{
	struct dw_timeline *timeline = context;

	timeline->format->put_arrow(timeline->to, end);
	return !timeline_is_over(timeline);
}

void dw_timeline_arrows(struct dw_timeline *timeline)
{
	if (!timeline_is_over(timeline))
		dw_arrows_pair(&timeline->arrows, &timeline->last_id, timeline_put_arrow, timeline);
}
