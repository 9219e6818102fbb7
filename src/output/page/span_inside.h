/* The index of spans, for the files that answer from it; see span.h. */
#pragma once

#include "export/arrows.h"
#include "model/device/device.h"
#include "model/samples/chart.h"
#include "page/put.h"
#include "page/span.h"
#include "page/span_rows.h"

/* Tracks by id: for each thread its steps, its ranges, the ranges of its signal handlers, its samples; then the
 * queues of devices; for each process its asynchronous ranges; then the counters, which have no
 * rows. */
enum { DW_TRACK_STEPS, DW_TRACK_THREAD, DW_TRACK_HANDLERS, DW_TRACK_SAMPLES, DW_TRACKS_OF_THREAD };

/* A chunk of the trace, in the order in which it is read. */
struct dw_span_chunk {
	uint64_t begin_ns;
	uint32_t stream, chunk;
};

struct dw_span_stream {
	struct dw_events_place *places; /* before chunks number 0, stride, 2 * stride, ... as far as read;
	                                 * a place that would be too large is not stored: its chunk is
	                                 * 0 and the number of its place is not */
	size_t place_count, place_capacity;
	struct dw_events_place next;    /* up to where it is read */
};

struct dw_span_flow {
	uint64_t from_ns, to_ns;
	uint32_t from_track, to_track;
};

/* A value of a counter, or some that follow one another. */
struct dw_span_sample {
	uint64_t ns;            /* of the first */
	double low, high, last;
};

struct dw_span_counter {
	uint32_t process, symbol; /* the first symbol of its row */
	uint32_t next;            /* the next counter of the symbol plus 1; 0: none */
	bool unsorted;
	struct dw_span_sample *samples;
	size_t count, capacity;
	uint64_t not_finite;      /* values that are no numbers, or infinite; these have no sample */
	double low, high;         /* of all samples */
};

struct dw_page_spans {
	struct dw_model *model;
	const struct dw_source *source;
	const struct dw_symbol *symbols;
	size_t symbol_count;
	const struct dw_device_work *device; /* NULL: the trace has none */
	const struct dw_sample_chart *chart; /* NULL: not read yet */
	uint8_t *frame_kinds;                /* by symbol of the chart: enum dw_frame_kind */
	struct dw_span_rows *tracks;         /* by id */
	size_t track_count;
	struct dw_span_stream *streams;
	size_t stride;                       /* chunks from one place to the next */
	size_t place_bytes;
	struct dw_span_chunk *chunks;
	size_t chunk_count, next_chunk;
	uint64_t resolution_ns;              /* of the tracks of threads and handlers; 0: all ranges */
	size_t items, most_items;            /* in these tracks */
	struct dw_arrows arrows;             /* until all has been read */
	struct dw_span_flow *flows;          /* then */
	size_t flow_count, flow_capacity;
	struct dw_events_async *asyncs;      /* ends of asynchronous ranges, until all has been read */
	size_t async_count, async_capacity;
	uint64_t asyncs_left_out;            /* ends for which there was no space */
	struct dw_span_counter *counters;
	size_t counter_count, counter_capacity;
	uint32_t *counter_of;                /* by symbol: its first counter plus 1; 0: none */
	size_t samples;                      /* of all counters */
	uint64_t counters_left_out;          /* values of counters for which there was no space */
	uint64_t *name_counts;               /* by name: its ranges, marks and events so far */
	bool begun, complete, failed;
};

static inline uint32_t dw_span_track_of(uint32_t thread, unsigned which)
{
	return thread * DW_TRACKS_OF_THREAD + which;
}

static inline uint32_t dw_span_queue_track(const struct dw_page_spans *spans, uint32_t queue)
{
	return (uint32_t)spans->source->thread_count * DW_TRACKS_OF_THREAD + queue;
}

static inline uint32_t dw_span_async_track(const struct dw_page_spans *spans, uint32_t process)
{
	return dw_span_queue_track(spans, (uint32_t)spans->source->queue_count) + process;
}

static inline uint32_t dw_span_counter_track(const struct dw_page_spans *spans, size_t counter)
{
	return (uint32_t)(spans->track_count + counter);
}

/* Whether its short ranges may be merged in the index. */
static inline bool dw_span_is_merged(const struct dw_page_spans *spans, uint32_t track)
{
	return spans->resolution_ns && track < spans->source->thread_count * DW_TRACKS_OF_THREAD &&
	       (track % DW_TRACKS_OF_THREAD == DW_TRACK_THREAD || track % DW_TRACKS_OF_THREAD == DW_TRACK_HANDLERS);
}

/* Names by number: symbols, then those of devices, then functions of samples. The items of a track of steps have numbers instead. */
const char *dw_span_name(const struct dw_page_spans *spans, uint32_t name);
/* DW_NO_INDEX: an event of a device. */
uint32_t dw_span_category(const struct dw_page_spans *spans, uint32_t name);
/* Whether the name is that of a function in samples, and what this is: enum dw_frame_kind. */
bool dw_span_frame_kind(const struct dw_page_spans *spans, uint32_t name, uint32_t *kind);
size_t dw_span_name_count(const struct dw_page_spans *spans);

/* The kind of a name, an index of what the timeline calls kind_names: the category of a range, or
 * the family of a device's event. */
uint32_t dw_span_kind(const struct dw_page_spans *spans, uint32_t name);
const char *dw_span_kind_name(uint32_t kind);

/* ---- span_beside.c: asynchronous ranges and counters -------------------------------------------- */

/* Takes the value of a counter, or an end of an asynchronous range. False: out of memory. */
bool dw_span_beside_take(struct dw_page_spans *spans, const struct dw_event *event);
/* Pairs the asynchronous ranges when all has been read, and gives them rows. */
bool dw_span_beside_finish(struct dw_page_spans *spans);
void dw_span_beside_reset(struct dw_page_spans *spans);
/* Writes `"counters":[{"track":ID,"at":[...],"last":[...],"low":[...],"high":[...]}]` of a window, with
 * one sample before it. `at` counts from the sample before, the first one from the window's begin. `low`
 * and `high` are omitted if each sample is one value. */
bool dw_span_put_counters(struct dw_page_spans *spans, const struct dw_page_window *window,
                          uint64_t resolution_ns, struct dw_writer_out *out);

/* ---- span.c ------------------------------------------------------------------------------------ */

/*
 * The rows of `track` in a window, in their order; `exact`: also the ranges that the index merged,
 * from the chunks. The caller zeroes *rows and resets it.
 */
int dw_span_collect(struct dw_page_spans *spans, const struct dw_page_window *window,
                    uint64_t resolution_ns, struct dw_span_rows *tracks, bool exact, struct dwell_error *error);
/* How many chunks an exact answer reads. */
size_t dw_span_chunks_of(const struct dw_page_spans *spans, const struct dw_page_window *window);
/* Walks the chunks of all streams that have records in the window, from places before it. */
int dw_span_walk(struct dw_page_spans *spans, const struct dw_page_window *window,
                 int (*each)(void *context, const struct dw_event *event), void *context, struct dwell_error *error);
/* Cuts a window to the trace. */
struct dw_page_window dw_span_cut(const struct dw_page_spans *spans, const struct dw_page_window *window);
static inline bool dw_span_wants(const struct dw_page_window *window, uint32_t track)
{
	for (size_t i = 0; i < window->track_count; i++)
		if (window->tracks[i] == track)
			return true;
	return !window->tracks;
}
/* The number of items of all tracks. */
size_t dw_span_items(const struct dw_page_spans *spans, const struct dw_span_rows *tracks);
/* Makes the tracks coarser until they have at most the items of the window. Returns the resolution. */
uint64_t dw_span_limit(const struct dw_page_spans *spans, const struct dw_page_window *window, uint64_t resolution_ns,
                       struct dw_span_rows *tracks);
void dw_span_free_tracks(const struct dw_page_spans *spans, struct dw_span_rows *tracks); /* may be NULL */
/* Writes collected tracks as `"tracks":[...]`. `names` NULL: names as they are; otherwise each name
 * is replaced by names[name] - 1. */
void dw_span_put_tracks(const struct dw_page_spans *spans, const struct dw_span_rows *tracks,
                        uint64_t begin_ns, const uint32_t *names, struct dw_writer_out *out);
