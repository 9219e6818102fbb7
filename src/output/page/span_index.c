/*
 * Reads a trace into the index of spans; see span.h.
 *
 * The chunks of all streams are read in order of their begin, one at a time. So everything before
 * the begin of the next chunk is complete, and reading can stop after any chunk.
 */

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "base/system/clock.h"
#include "model/samples/samples.h"
#include "page/span_inside.h"
#include "pictures/flamegraph.h"

#define MOST_ITEMS (2u << 20)          /* 24 bytes each; tests set DWELL_TEST_SPAN_ITEMS */
#define MOST_PLACE_BYTES (48u << 20)
#define RELEASE_CHUNKS 512u            /* 32 MiB: a large trace would not stay in memory */
#define MOST_OPEN 4096u                /* ranges in a place that is stored */
#define MOST_ARROW_ENDS (1u << 20)     /* 32 bytes each */
#define MOST_SAMPLED_CHUNKS 4096u      /* 256 MiB, which are walked at once; so many records are ranges */
#define FIRST_RESOLUTION 19            /* the run divided by 2^19 */

/* ---- names ------------------------------------------------------------------------------------- */


static size_t spans_first_function(const struct dw_page_spans *spans)
{
	return spans->symbol_count + (spans->device ? spans->device->name_count : 0);
}

size_t dw_span_name_count(const struct dw_page_spans *spans)
{
	return spans_first_function(spans) + (spans->chart ? spans->chart->symbol_count - spans->symbol_count : 0);
}

/* The symbol of a name; NULL: it is that of an event of a device. */
static const struct dw_symbol *spans_symbol(const struct dw_page_spans *spans, uint32_t name)
{
	size_t functions = spans_first_function(spans);

	if (name < spans->symbol_count)
		return &spans->symbols[name];
	return name < functions ? NULL : &spans->chart->symbols[spans->symbol_count + name - functions];
}

const char *dw_span_name(const struct dw_page_spans *spans, uint32_t name)
{
	const struct dw_symbol *symbol = spans_symbol(spans, name);

	return symbol ? symbol->name : spans->device->names[name - spans->symbol_count].name;
}

bool dw_span_frame_kind(const struct dw_page_spans *spans, uint32_t name, uint32_t *kind)
{
	size_t functions = spans_first_function(spans);

	if (!spans->frame_kinds || name < functions)
		return false;
	*kind = spans->frame_kinds[spans->symbol_count + name - functions];
	return true;
}

uint32_t dw_span_category(const struct dw_page_spans *spans, uint32_t name)
{
	const struct dw_symbol *symbol = spans_symbol(spans, name);

	return symbol ? symbol->category : DW_NO_INDEX;
}

/* ---- create and destroy ------------------------------------------------------------------------- */

DW_ORDER(spans_compare_chunks, struct dw_span_chunk, DW_UP(begin_ns) DW_UP(stream) DW_UP(chunk))

/* Orders the chunks of all streams. The begins of a stream's chunks do not decrease here, even if
 * its clock did, so that the chunks of a stream stay in order. */
static bool spans_order_chunks(struct dw_page_spans *spans)
{
	const struct dw_source *source = spans->source;
	size_t count = 0;

	for (size_t i = 0; i < source->stream_count; i++)
		count += source->streams[i].chunk_count;
	spans->chunks = calloc(count + 1, sizeof *spans->chunks);
	if (!spans->chunks)
		return false;
	for (size_t i = 0; i < source->stream_count; i++) {
		const struct dw_source_stream *stream = &source->streams[i];
		uint64_t latest = 0;

		for (size_t k = 0; k < stream->chunk_count; k++) {
			uint64_t begin = dw_source_ns(&source->files[stream->file].clock, stream->chunks[k].base_ticks);

			latest = begin > latest ? begin : latest;
			spans->chunks[spans->chunk_count++] = (struct dw_span_chunk){ latest, (uint32_t)i, (uint32_t)k };
		}
	}
	if (count)
		qsort(spans->chunks, count, sizeof *spans->chunks, spans_compare_chunks);
	return true;
}

int dw_page_spans_create(struct dw_page_spans **result, struct dw_model *model, struct dwell_error *error)
{
	struct dw_page_spans *spans = calloc(1, sizeof *spans);
	const char *test = getenv("DWELL_TEST_SPAN_ITEMS");

	*result = spans;
	if (!spans)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading events");
	spans->model = model;
	spans->source = dw_model_source(model);
	spans->symbols = dw_model_symbols(model, &spans->symbol_count);
	spans->stride = 1;
	spans->most_items = test && atoi(test) > 0 ? (size_t)atoi(test) : MOST_ITEMS;
	spans->track_count = spans->source->thread_count * DW_TRACKS_OF_THREAD +
	                     spans->source->queue_count + spans->source->process_count;
	spans->tracks = calloc(spans->track_count + 1, sizeof *spans->tracks);
	spans->streams = calloc(spans->source->stream_count + 1, sizeof *spans->streams);
	if (spans->tracks && spans->streams && spans_order_chunks(spans))
		return 0;
	dw_page_spans_destroy(spans);
	*result = NULL;
	return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading events");
}

void dw_span_free_tracks(const struct dw_page_spans *spans, struct dw_span_rows *tracks)
{
	for (size_t i = 0; tracks && i < spans->track_count; i++)
		dw_span_rows_reset(&tracks[i]);
	free(tracks);
}

void dw_page_spans_destroy(struct dw_page_spans *spans)
{
	if (!spans)
		return;
	dw_span_free_tracks(spans, spans->tracks);
	for (size_t i = 0; spans->streams && i < spans->source->stream_count; i++) {
		for (size_t k = 0; k < spans->streams[i].place_count; k++)
			free(spans->streams[i].places[k].open);
		DW_FREE(spans->streams[i].places, spans->streams[i].next.open);
	}
	dw_arrows_reset(&spans->arrows);
	dw_span_beside_reset(spans);
	DW_FREE(spans->flows, spans->chunks, spans->streams, spans->name_counts, spans->frame_kinds, spans);
}

uint64_t dw_page_spans_end_ns(const struct dw_page_spans *spans)
{
	return spans->source->end_ns + 1; /* so that marks at the end are within */
}

uint64_t dw_page_spans_read_ns(const struct dw_page_spans *spans)
{
	if (spans->next_chunk < spans->chunk_count)
		return spans->begun ? spans->chunks[spans->next_chunk].begin_ns : 0;
	return dw_page_spans_end_ns(spans);
}

/* ---- items --------------------------------------------------------------------------------------- */

static void spans_coarsen(struct dw_page_spans *spans)
{
	uint64_t first = dw_page_spans_end_ns(spans) >> FIRST_RESOLUTION;

	spans->resolution_ns = spans->resolution_ns ? spans->resolution_ns * 2 : first ? first : 1;
	spans->items = 0;
	for (uint32_t i = 0; i < spans->track_count; i++)
		if (dw_span_is_merged(spans, i)) {
			dw_span_rows_coarsen(&spans->tracks[i], spans->resolution_ns);
			spans->items += spans->tracks[i].items;
		}
}

static void spans_add_item(struct dw_page_spans *spans, const struct dw_event *event, uint32_t track)
{
	struct dw_span_rows *rows = &spans->tracks[track];
	size_t before = rows->items;
	struct dw_span_item item = { .start_ns = event->start_ns, .end_ns = event->end_ns,
		.open = event->open, .count = 1,
		.name = dw_model_row_symbol(spans->model, dw_model_symbol_row(spans->model, event->symbol)) };

	spans->failed |= !dw_span_rows_add(rows, event->depth, &item, spans->resolution_ns);
	spans->name_counts[item.name]++;
	spans->items += rows->items - before;
	while (spans->items > spans->most_items && !spans->failed)
		spans_coarsen(spans);
}

static void spans_add_flow(struct dw_page_spans *spans, const struct dw_event *event, uint32_t track)
{
	const struct dw_source *source = spans->source;

	if (spans->arrows.count >= MOST_ARROW_ENDS)
		return;
	if (event->type == DW_EVENT_RANGE)
		spans->failed |= !dw_arrows_add_link(&spans->arrows, event, track, source->thread_count);
	else
		spans->failed |= !dw_arrows_add_flow(&spans->arrows, event, track, source->threads[event->thread].process,
		                                     spans->symbols, spans->symbol_count);
}

static int spans_take_event(void *context, const struct dw_event *event)
{
	struct dw_page_spans *spans = context;
	uint32_t track;

	if (event->thread >= spans->source->thread_count || event->symbol >= spans->symbol_count)
		return 0;
	track = dw_span_track_of(event->thread, event->nested ? DW_TRACK_HANDLERS : DW_TRACK_THREAD);
	switch (event->type) {
	case DW_EVENT_RANGE:
		spans_add_item(spans, event, track);
		if (event->sequence != UINT64_MAX)
			spans_add_flow(spans, event, track);
		break;
	case DW_EVENT_MARK: spans_add_item(spans, event, track); break;
	case DW_EVENT_FLOW_OUT:
	case DW_EVENT_FLOW_IN: spans_add_flow(spans, event, track); break;
	case DW_EVENT_COUNTER:
	case DW_EVENT_ASYNC_BEGIN:
	case DW_EVENT_ASYNC_END: spans->failed |= !dw_span_beside_take(spans, event); break;
	default: break;
	}
	return spans->failed;
}

/* ---- steps and devices ----------------------------------------------------------------------------- */

static void spans_add_steps(struct dw_page_spans *spans)
{
	const struct dw_source *source = spans->source;

	for (size_t i = 0; i < source->step_count && !spans->failed; i++) {
		const struct dw_source_step *step = &source->steps[i];
		struct dw_span_item item = { .start_ns = step->start_ns, .end_ns = step->end_ns,
			.open = step->open, .name = (uint32_t)step->number, .count = 1 };

		if (item.end_ns < item.start_ns)
			item.end_ns = item.start_ns;
		if (dw_model_has_step(spans->model, step))
			spans->failed |= !dw_span_rows_add(
			    &spans->tracks[dw_span_track_of(step->thread, DW_TRACK_STEPS)], 0, &item, 0);
	}
}

static void spans_add_devices(struct dw_page_spans *spans)
{
	for (size_t i = 0; spans->device && i < spans->device->event_count && !spans->failed; i++) {
		const struct dw_device_event *event = &spans->device->events[i];
		struct dw_span_item item = { .start_ns = event->start_ns, .end_ns = event->end_ns,
			.name = (uint32_t)spans->symbol_count + event->name, .count = 1 };

		if (item.end_ns < item.start_ns)
			item.end_ns = item.start_ns;
		if (!event->in_scope)
			continue;
		spans->failed |= !dw_span_rows_add(&spans->tracks[dw_span_queue_track(spans, event->queue)], 0, &item, 0);
		spans->name_counts[item.name]++;
	}
}

/* ---- samples --------------------------------------------------------------------------------------- */

/* The time of a thread's outermost ranges, but the profiler's own. */
static uint64_t spans_ranges_ns(const struct dw_page_spans *spans, uint32_t thread)
{
	const struct dw_span_rows *rows = &spans->tracks[dw_span_track_of(thread, DW_TRACK_THREAD)];
	uint64_t sum = 0;

	for (size_t i = 0; rows->count && i < rows->rows[0].count; i++) {
		const struct dw_span_item *item = &rows->rows[0].items[i];

		if (dw_span_category(spans, item->name) != DWELL_CATEGORY_PROFILER)
			sum += item->end_ns - item->start_ns;
	}
	return sum;
}

/* Threads whose ranges take less time than their samples get a track of samples; those with ranges of the profiler
 * alone lose that of ranges. */
static void spans_add_samples(struct dw_page_spans *spans)
{
	const struct dw_sample_chart *chart = spans->chart;
	size_t functions = spans_first_function(spans);
	uint64_t ranges_ns = 0;

	for (size_t i = 0; chart && i < chart->count && !spans->failed; i++) {
		const struct dw_sample_span *span = &chart->spans[i];
		struct dw_span_item item = { .start_ns = span->start_ns, .end_ns = span->end_ns, .name = span->symbol, .count = 1 };

		if (!i || span->thread != span[-1].thread)
			ranges_ns = spans_ranges_ns(spans, span->thread);
		if (chart->sampled_ns[span->thread] <= ranges_ns)
			continue;
		if (!ranges_ns)
			dw_span_rows_reset(&spans->tracks[dw_span_track_of(span->thread, DW_TRACK_THREAD)]);
		if (item.name >= spans->symbol_count)
			item.name += (uint32_t)(functions - spans->symbol_count);
		spans->failed |= !dw_span_rows_add(&spans->tracks[dw_span_track_of(span->thread, DW_TRACK_SAMPLES)], span->depth,
		                                   &item, 0);
		spans->name_counts[item.name]++;
	}
}

/* ---- flows ------------------------------------------------------------------------------------------ */

static bool spans_take_arrow(void *context, const struct dw_arrow_end *end)
{
	struct dw_page_spans *spans = context;
	struct dw_span_flow *flow;

	if (!end->arrives) { /* the first end of an arrow comes directly before the second */
		flow = DW_GROW(&spans->flows, &spans->flow_capacity, spans->flow_count);
		if (!flow)
			return false;
		*flow = (struct dw_span_flow){ .from_ns = end->ns, .from_track = end->track,
			.to_track = DW_NO_INDEX };
		return true;
	}
	flow = &spans->flows[spans->flow_count++];
	flow->to_ns = end->ns;
	flow->to_track = end->track;
	return true;
}

DW_ORDER(spans_compare_flows, struct dw_span_flow, DW_UP(from_ns) DW_UP(to_ns))

static void spans_finish(struct dw_page_spans *spans)
{
	uint64_t last_id = 0;

	spans_add_samples(spans);
	dw_arrows_pair(&spans->arrows, &last_id, spans_take_arrow, spans);
	dw_arrows_reset(&spans->arrows);
	if (spans->flow_count)
		qsort(spans->flows, spans->flow_count, sizeof *spans->flows, spans_compare_flows);
	spans->complete = true;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

/* Drops every second place of all streams. */
static void spans_thin_places(struct dw_page_spans *spans)
{
	spans->stride *= 2;
	spans->place_bytes = 0;
	for (size_t i = 0; i < spans->source->stream_count; i++) {
		struct dw_span_stream *stream = &spans->streams[i];
		size_t kept = 0;

		for (size_t k = 0; k < stream->place_count; k++) {
			if (k % 2) {
				free(stream->places[k].open);
				continue;
			}
			stream->places[kept++] = stream->places[k];
			spans->place_bytes += sizeof *stream->places +
			                      stream->places[k].open_count * sizeof *stream->places[k].open;
		}
		stream->place_count = kept;
	}
}

/* Stores a copy of the place before the next chunk of a stream. */
static bool spans_keep_place(struct dw_page_spans *spans, struct dw_span_stream *stream)
{
	struct dw_events_place *place;
	size_t bytes = stream->next.open_count * sizeof *stream->next.open;

	if (stream->next.chunk % spans->stride)
		return true;
	place = DW_GROW(&stream->places, &stream->place_capacity, stream->place_count);
	if (!place)
		return false;
	if (stream->next.open_count <= MOST_OPEN) {
		*place = stream->next;
		place->open = bytes ? malloc(bytes) : NULL;
		if (bytes && !place->open)
			return false;
		if (bytes)
			memcpy(place->open, stream->next.open, bytes);
		spans->place_bytes += bytes;
	}
	stream->place_count++;
	spans->place_bytes += sizeof *place;
	if (spans->place_bytes > MOST_PLACE_BYTES)
		spans_thin_places(spans);
	return true;
}

static int spans_read_chunk(struct dw_page_spans *spans, const struct dw_span_chunk *chunk, struct dwell_error *error)
{
	struct dw_span_stream *stream = &spans->streams[chunk->stream];
	struct dw_events_place end = { 0 };
	int result;

	if (!spans_keep_place(spans, stream))
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading events");
	result = dw_model_events_between(spans->model, chunk->stream, &stream->next, chunk->chunk + 1,
	                                 &end, spans_take_event, spans, error);
	free(stream->next.open);
	stream->next = end;
	return result < 0 ? result : 0;
}

static int spans_begin(struct dw_page_spans *spans, struct dwell_error *error)
{
	if (dw_model_has_device(spans->model) && !(spans->device = dw_model_device_work(spans->model, error)))
		return DWELL_E_NOMEM;
	if (spans->chunk_count <= MOST_SAMPLED_CHUNKS && dw_source_has_samples(spans->source) &&
	    !(spans->chart = dw_model_sample_chart(spans->model, error)))
		return DWELL_E_NOMEM;
	if (spans->chart)
		spans->frame_kinds = dw_frame_kinds(spans->model, spans->chart->symbols, spans->chart->symbol_count);
	spans->name_counts = calloc(dw_span_name_count(spans) + 1, sizeof *spans->name_counts);
	if (!spans->name_counts)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading events");
	spans->begun = true;
	spans_add_steps(spans);
	spans_add_devices(spans);
	return 0;
}

int dw_page_spans_read(struct dw_page_spans *spans, uint64_t most_ms, struct dwell_error *error)
{
	uint64_t until_ms = dw_clock_monotonic_ms() + most_ms;
	int result = 0;

	if (spans->complete)
		return 1;
	if (!spans->begun)
		result = spans_begin(spans, error);
	while (!result && !spans->failed && spans->next_chunk < spans->chunk_count) {
		result = spans_read_chunk(spans, &spans->chunks[spans->next_chunk], error);
		spans->next_chunk++;
		if (spans->next_chunk % RELEASE_CHUNKS == 0)
			dw_source_release(spans->source);
		if (most_ms && dw_clock_monotonic_ms() >= until_ms)
			break;
	}
	if (!result && spans->failed)
		result = dw_error_set(error, DWELL_E_NOMEM,
		                      "out of memory reading events; look at fewer steps (--steps) or one thread (--thread)");
	if (result)
		return result;
	if (spans->next_chunk < spans->chunk_count)
		return 0;
	spans_finish(spans);
	if (!dw_span_beside_finish(spans))
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory reading asynchronous ranges");
	return 1;
}
