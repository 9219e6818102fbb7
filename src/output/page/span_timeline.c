/*
 * The timeline of a report: tracks, names, and the spans that a file can hold; see span.h.
 *
 * A page that asks a server needs no spans, but all names. A file has the whole run at some
 * levels of detail, and every event of the slowest, the median and the first steady step of the
 * thread with most steps, and of the slowest one after the warm-up. It has only the names of what is in these spans.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/free.h"
#include "model/steps/roles.h"
#include "page/span_inside.h"
#include "pictures/flamegraph.h"

#define MOST_NAME_BYTES 300u /* longer names are cut */
#define FIRST_PIXELS 2000u
#define FINER 32u        /* resolution of the second level, if a run is not small */
#define ITEM_BYTES 16u   /* about, as JSON */
#define SAMPLE_BYTES 40u /* of a counter, about, as JSON */
#define STEP_SPANS 4u

struct timeline_file {
	struct dw_page_spans *spans;
	struct dw_writer_out *out;
	uint32_t *names; /* by name: its number in the file plus 1; 0: not used yet */
	uint32_t *order; /* by number: the name */
	uint32_t count;
};

/* ---- steps ------------------------------------------------------------------------------------ */

static int timeline_compare_lengths(const void *left, const void *right)
{
	const struct dw_span_item *const *a = left, *const *b = right;
	uint64_t x = (*a)->end_ns - (*a)->start_ns, y = (*b)->end_ns - (*b)->start_ns;

	if (x != y)
		return x < y ? -1 : 1;
	return (*a)->start_ns < (*b)->start_ns ? -1 : (*a)->start_ns > (*b)->start_ns;
}

/* The steps of the thread with most of them. */
static const struct dw_span_row *timeline_steps(const struct dw_page_spans *spans)
{
	const struct dw_span_row *most = NULL;

	for (size_t i = 0; i < spans->source->thread_count; i++) {
		const struct dw_span_rows *rows = &spans->tracks[dw_span_track_of((uint32_t)i, DW_TRACK_STEPS)];

		if (rows->count && (!most || rows->rows[0].count > most->count))
			most = &rows->rows[0];
	}
	return most && most->count ? most : NULL;
}

/* The slowest step of all threads, and the track that it is on. NULL: there are no steps. */
static const struct dw_span_item *timeline_slowest(const struct dw_page_spans *spans, uint32_t *track)
{
	const struct dw_span_item *slowest = NULL;

	for (uint32_t i = 0; i < spans->source->thread_count; i++) {
		const struct dw_span_rows *rows = &spans->tracks[dw_span_track_of(i, DW_TRACK_STEPS)];

		for (size_t k = 0; rows->count && k < rows->rows[0].count; k++) {
			const struct dw_span_item *item = &rows->rows[0].items[k];

			if (slowest && item->end_ns - item->start_ns <= slowest->end_ns - slowest->start_ns)
				continue;
			slowest = item;
			*track = dw_span_track_of(i, DW_TRACK_STEPS);
		}
	}
	return slowest;
}

/* Finds the slowest step; of the thread with most steps the slowest and the median after the warm-up, and the first
 * steady one. Returns how many there are: some may be the same. */
static size_t timeline_choose_steps(const struct dw_page_spans *spans, const struct dw_span_item *chosen[STEP_SPANS])
{
	const struct dw_span_row *row = timeline_steps(spans);
	size_t count = row ? row->count : 0, sorted_count = 0, first = count;
	const struct dw_span_item **sorted = calloc(count + 1, sizeof *sorted);
	double *lengths = calloc(count * 2 + 1, sizeof *lengths);
	uint8_t *roles = calloc(count + 1, 1);

	if (count && sorted && lengths && roles) {
		for (size_t i = 0; i < count; i++)
			lengths[i] = (double)(row->items[i].end_ns - row->items[i].start_ns);
		dw_steps_find_roles(lengths, count, true, roles, lengths + count);
		for (size_t i = count; i-- > 0;) {
			first = roles[i] & DW_ROLE_STEADY ? i : first;
			if (!(roles[i] & DW_ROLE_WARM_UP))
				sorted[sorted_count++] = &row->items[i];
		}
		if (!sorted_count)
			sorted[sorted_count++] = &row->items[0];
		qsort(sorted, sorted_count, sizeof *sorted, timeline_compare_lengths);
		chosen[0] = timeline_slowest(spans, &(uint32_t){ 0 });
		chosen[1] = sorted[sorted_count - 1];
		chosen[2] = sorted[sorted_count / 2];
		chosen[3] = &row->items[first < count ? first : 0];
	}
	DW_FREE(sorted, lengths, roles);
	return sorted_count ? STEP_SPANS : 0;
}

/* ---- spans ------------------------------------------------------------------------------------ */

static void timeline_number_names(struct timeline_file *file, const struct dw_span_rows *tracks)
{
	uint32_t of_threads = (uint32_t)file->spans->source->thread_count * DW_TRACKS_OF_THREAD;

	for (uint32_t t = 0; t < file->spans->track_count; t++)
		for (size_t r = 0; r < tracks[t].count; r++)
			for (size_t i = 0; i < tracks[t].rows[r].count; i++) {
				uint32_t name = tracks[t].rows[r].items[i].name;

				if (t < of_threads && t % DW_TRACKS_OF_THREAD == DW_TRACK_STEPS)
					break;
				if (!file->names[name]) {
					file->order[file->count] = name;
					file->names[name] = ++file->count;
				}
			}
}

/* Writes a span with at most `most_items`, at a resolution for which these suffice. */
static int timeline_put_span(struct timeline_file *file, const struct dw_page_window *asked, uint64_t resolution_ns,
                             const char *what, bool *any, struct dwell_error *error)
{
	struct dw_page_spans *spans = file->spans;
	struct dw_page_window window = dw_span_cut(spans, asked);
	struct dw_span_rows *tracks = calloc(spans->track_count + 1, sizeof *tracks);
	bool exact = resolution_ns < spans->resolution_ns && dw_span_chunks_of(spans, &window) < 4096;
	int result;

	if (!tracks)
		return dw_error_set(error, DWELL_E_NOMEM, "out of memory writing the timeline");
	if (!exact && resolution_ns < spans->resolution_ns)
		resolution_ns = spans->resolution_ns;
	result = dw_span_collect(spans, &window, resolution_ns, tracks, exact, error);
	if (!result) {
		struct dw_writer_out *out = file->out;

		resolution_ns = dw_span_limit(spans, &window, resolution_ns, tracks);
		timeline_number_names(file, tracks);
		dw_out_text(out, *any ? ",\n{\"what\":" : "\n{\"what\":");
		dw_out_string(out, what);
		DW_PAGE_PUT(out, ",'begin_ns':#,'end_ns':#,'resolution_ns':#,", window.begin_ns, window.end_ns, resolution_ns);
		dw_span_put_tracks(spans, tracks, window.begin_ns, file->names, out);
		dw_out_text(out, "}");
		*any = true;
	}
	dw_span_free_tracks(spans, tracks);
	return result;
}

static int timeline_put_spans(struct timeline_file *file, size_t most_bytes, struct dwell_error *error)
{
	static const char *const what[STEP_SPANS] = { "slowest step", "slowest step after the warm-up", "median step",
		"first steady step" };
	uint64_t end_ns = dw_page_spans_end_ns(file->spans);
	size_t most = most_bytes / ITEM_BYTES;
	struct dw_page_window window = { .end_ns = end_ns, .pixels = FIRST_PIXELS, .most_items = most / 5 };
	const struct dw_span_item *steps[STEP_SPANS] = { NULL };
	bool any = false;
	int result = timeline_put_span(file, &window, end_ns / FIRST_PIXELS, "run", &any, error);

	/* A small run is stored whole. */
	window.most_items = most * 2 / 5;
	if (!result)
		result = timeline_put_span(
			file, &window,
			dw_span_items(file->spans, file->spans->tracks) > most * 4 ? end_ns / FIRST_PIXELS / FINER : 0,
			"run, finer", &any, error);
	if (timeline_choose_steps(file->spans, steps))
		for (size_t i = 0; i < STEP_SPANS && !result; i++) {
			if ((i > 0 && steps[i] == steps[0]) || (i > 1 && steps[i] == steps[1]) || (i > 2 && steps[i] == steps[2]))
				continue;
			window = (struct dw_page_window){
				.begin_ns = steps[i]->start_ns, .end_ns = steps[i]->end_ns, .pixels = 1, .most_items = most / 10
			};
			if (window.end_ns > window.begin_ns)
				result = timeline_put_span(file, &window, 0, what[i], &any, error);
		}
	return result;
}

/* ---- tracks and names ----------------------------------------------------------------------------- */

static void timeline_begin_track(const struct dw_page_spans *spans, uint32_t track, const char *kind, const char *name,
                                 uint32_t process, struct dw_writer_out *out, bool *any)
{
	const struct dw_source_process *of = &spans->source->processes[process];
	char group[160];

	if (of->rank >= 0)
		snprintf(group, sizeof group, "rank %d: %.100s [%u]", (int)of->rank, of->label, of->pid);
	else
		snprintf(group, sizeof group, "%.100s [%u]", of->label, of->pid);
	dw_out_text(out, *any ? ",\n{\"id\":" : "\n{\"id\":");
	DW_PAGE_PUT(out, "#,'kind':", track);
	DW_OUT_JSON(out, "#,'name':#,'group':#", kind, name, group);
	*any = true;
}

static void timeline_put_track(const struct dw_page_spans *spans, uint32_t track, const char *kind, const char *name,
                               uint32_t process, struct dw_writer_out *out, bool *any)
{
	timeline_begin_track(spans, track, kind, name, process, out, any);
	dw_out_text(out, "}");
}

static bool timeline_has_tracks(const struct dw_page_spans *spans, uint32_t thread)
{
	bool has = false;

	for (unsigned k = 0; k < DW_TRACKS_OF_THREAD; k++)
		has |= spans->tracks[dw_span_track_of(thread, k)].items != 0;
	return has;
}

/* A thread's name, with its number if another thread of the process that is shown has the same name. */
static void timeline_write_thread(char *to, size_t size, const struct dw_page_spans *spans, uint32_t thread)
{
	const struct dw_source_thread *threads = spans->source->threads, *of = &threads[thread];
	bool twice = false;

	for (uint32_t i = 0; i < spans->source->thread_count && !twice; i++)
		twice = i != thread && threads[i].process == of->process && strcmp(threads[i].name, of->name) == 0 &&
		        timeline_has_tracks(spans, i);
	snprintf(to, size, twice ? "%.180s [%u]" : "%.180s", of->name, of->tid);
}

static void timeline_put_thread(const struct dw_page_spans *spans, uint32_t thread, uint32_t process, struct dw_writer_out *out,
                                bool *any)
{
	static const char *const kinds[] = { "steps", "thread", "handlers", "thread" };
	static const char *const more[] = { "", "", " (signal handlers)", " (samples)" };
	char whole[200], name[256];

	timeline_write_thread(whole, sizeof whole, spans, thread);
	for (unsigned k = 0; k < DW_TRACKS_OF_THREAD; k++) {
		if (!spans->tracks[dw_span_track_of(thread, k)].items)
			continue;
		snprintf(name, sizeof name, "%s%s", k == DW_TRACK_STEPS ? "steps" : whole, more[k]);
		timeline_put_track(spans, dw_span_track_of(thread, k), kinds[k], name, process, out, any);
	}
}

/* Threads with steps come first, then the main thread. */
static void timeline_put_threads(const struct dw_page_spans *spans, uint32_t process, struct dw_writer_out *out,
                                 bool *any)
{
	const struct dw_source *source = spans->source;

	for (unsigned pass = 0; pass < 3; pass++)
		for (uint32_t i = 0; i < source->thread_count; i++) {
			bool steps = spans->tracks[dw_span_track_of(i, DW_TRACK_STEPS)].items != 0;
			bool main = source->threads[i].tid == source->processes[process].pid;

			if (source->threads[i].process == process && pass == (steps ? 0 : main ? 1 : 2))
				timeline_put_thread(spans, i, process, out, any);
		}
}

static void timeline_put_queues(const struct dw_page_spans *spans, uint32_t process, struct dw_writer_out *out,
                                bool *any)
{
	for (uint32_t i = 0; i < spans->source->queue_count; i++) {
		const struct dw_source_queue *queue = &spans->source->queues[i];
		const struct dw_source_device *device = &spans->source->devices[queue->device];
		uint32_t track = dw_span_queue_track(spans, i);
		char name[200];

		if (device->process != process || !spans->tracks[track].items)
			continue;
		if (queue->number == DW_QUEUE_NONE)
			snprintf(name, sizeof name, "GPU %u, no stream", device->number);
		else
			snprintf(name, sizeof name, "GPU %u stream %llu%s%.100s", device->number, (unsigned long long)queue->number,
			         queue->name ? " " : "", queue->name ? queue->name : "");
		timeline_put_track(spans, track, "device", name, process, out, any);
	}
}

static void timeline_put_async(const struct dw_page_spans *spans, uint32_t process, struct dw_writer_out *out,
                               bool *any)
{
	uint32_t track = dw_span_async_track(spans, process);
	char name[120] = "asynchronous ranges";

	if (!spans->tracks[track].items)
		return;
	if (spans->asyncs_left_out)
		snprintf(name, sizeof name, "asynchronous ranges (%llu later begins and ends are not shown)",
		         (unsigned long long)spans->asyncs_left_out);
	timeline_put_track(spans, track, "async", name, process, out, any);
}

static void timeline_put_counters(const struct dw_page_spans *spans, uint32_t process, struct dw_writer_out *out,
                                  bool *any)
{
	char name[256];

	for (size_t i = 0; i < spans->counter_count; i++) {
		const struct dw_span_counter *counter = &spans->counters[i];
		const struct dw_symbol *symbol = &spans->symbols[counter->symbol];

		if (counter->process != process || !counter->count)
			continue;
		snprintf(name, sizeof name, "%.200s", symbol->name);
		timeline_begin_track(spans, dw_span_counter_track(spans, i), "counter", name, process, out, any);
		DW_OUT_JSON(out, ",'unit':#,'low':#,'high':#", symbol->detail ? symbol->detail : "", counter->low,
		            counter->high);
		DW_PAGE_PUT(out, ",'not_finite':#}", counter->not_finite);
	}
}

/* The counters of the whole run, for a file. */
static int timeline_put_values(struct dw_page_spans *spans, size_t most_bytes, struct dw_writer_out *out,
                               struct dwell_error *error)
{
	struct dw_page_window window = { .end_ns = dw_page_spans_end_ns(spans), .pixels = 1 };
	size_t most = most_bytes / 10 / SAMPLE_BYTES / (spans->counter_count + 1);

	dw_out_text(out, ",\n");
	return dw_span_put_counters(spans, &window, window.end_ns / (most < FIRST_PIXELS ? most + 1 : FIRST_PIXELS), out)
	           ? 0
	           : dw_error_set(error, DWELL_E_NOMEM, "out of memory writing the timeline");
}

static void timeline_put_name(const struct dw_page_spans *spans, uint32_t name, struct dw_writer_out *out)
{
	const char *text = dw_span_name(spans, name);
	char cut[MOST_NAME_BYTES + 8];
	size_t length = strnlen(text, MOST_NAME_BYTES + 1);

	if (length <= MOST_NAME_BYTES) {
		dw_out_string(out, text);
		return;
	}
	for (length = MOST_NAME_BYTES; length && (text[length] & 0xc0) == 0x80;)
		length--; /* not within a character */
	memcpy(cut, text, length);
	memcpy(cut + length, "...", 4);
	dw_out_string(out, cut);
}

/* The kinds of names: the categories of the host's ranges, the families of devices' events, then the kinds of functions in samples. */
#define CATEGORIES 32u
#define FRAME_KINDS (CATEGORIES + DW_FAMILY_COUNT)

uint32_t dw_span_kind(const struct dw_page_spans *spans, uint32_t name)
{
	uint32_t category = dw_span_category(spans, name), frame;

	if (dw_span_frame_kind(spans, name, &frame))
		return FRAME_KINDS + frame;
	if (category == DW_NO_INDEX)
		return CATEGORIES + (uint32_t)spans->device->names[name - spans->symbol_count].family;
	return category < CATEGORIES ? category : 0;
}

const char *dw_span_kind_name(uint32_t category)
{
	if (category >= FRAME_KINDS)
		return dw_frame_kind_name((enum dw_frame_kind)(category - FRAME_KINDS));
	if (category >= CATEGORIES)
		return dw_family_name((enum dw_family)(category - CATEGORIES));
	return dw_category_name(category) ? dw_category_name(category) : "other";
}

static void timeline_put_names(const struct timeline_file *file, bool all)
{
	const struct dw_page_spans *spans = file->spans;
	struct dw_writer_out *out = file->out;
	size_t count = all ? dw_span_name_count(spans) : file->count;

	dw_out_text(out, ",\n\"names\":[");
	for (size_t i = 0; i < count; i++) {
		uint32_t name = all ? (uint32_t)i : file->order[i];

		dw_out_text(out, i ? "," : "");
		/* Symbols that are not the first of their row name no item. */
		if (all && i < spans->symbol_count &&
		    dw_model_row_symbol(spans->model, dw_model_symbol_row(spans->model, name)) != name)
			dw_out_text(out, "0");
		else
			timeline_put_name(spans, name, out);
	}
	dw_out_text(out, "],\n\"kinds\":[");
	for (size_t i = 0; i < count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_out_u64(out, dw_span_kind(spans, all ? (uint32_t)i : file->order[i]));
	}
	dw_out_text(out, "],\n\"counts\":[");
	for (size_t i = 0; i < count; i++) {
		dw_out_text(out, i ? "," : "");
		dw_out_u64(out, spans->name_counts ? spans->name_counts[all ? (uint32_t)i : file->order[i]] : 0);
	}
	dw_out_text(out, "],\n\"kind_names\":[");
	for (uint32_t i = 0; i < FRAME_KINDS + DW_FRAME_KIND_COUNT; i++) {
		dw_out_text(out, i ? "," : "");
		dw_out_string(out, dw_span_kind_name(i));
	}
	dw_out_text(out, "]");
}

/* Where a page opens: the slowest step, with the track of its thread's steps. */
static void timeline_put_slowest(const struct dw_page_spans *spans, struct dw_writer_out *out)
{
	uint32_t track;
	const struct dw_span_item *step = timeline_slowest(spans, &track);

	if (step)
		DW_PAGE_PUT(out, ",'slowest':{'track':#,'begin_ns':#,'end_ns':#,'name':#,'open':#}", track, step->start_ns,
		            (uint64_t)step->end_ns, step->name, step->open);
}

int dw_page_timeline(struct dw_page_spans *spans, size_t most_bytes, struct dw_writer_out *out,
                     struct dwell_error *error)
{
	size_t names = dw_span_name_count(spans);
	struct timeline_file file = { .spans = spans,
		                          .out = out,
		                          .names = calloc(names + 1, sizeof *file.names),
		                          .order = calloc(names + 1, sizeof *file.order) };
	bool any = false;
	int result = 0;

	if (!file.names || !file.order)
		result = dw_error_set(error, DWELL_E_NOMEM, "out of memory writing the timeline");
	DW_PAGE_PUT(out, "{'begin_ns':0,'end_ns':#,'read_ns':#", dw_page_spans_end_ns(spans), dw_page_spans_read_ns(spans));
	if (spans->counters_left_out)
		DW_PAGE_PUT(out, ",'counter_values_left_out':#", spans->counters_left_out);
	timeline_put_slowest(spans, out);
	dw_out_text(out, ",\"spans\":[");
	if (!result && most_bytes)
		result = timeline_put_spans(&file, most_bytes, error);
	dw_out_text(out, "],\n\"tracks\":[");
	for (uint32_t i = 0; i < spans->source->process_count; i++) {
		timeline_put_threads(spans, i, out, &any);
		timeline_put_queues(spans, i, out, &any);
		timeline_put_async(spans, i, out, &any);
		timeline_put_counters(spans, i, out, &any);
	}
	dw_out_text(out, "]");
	if (!result && most_bytes)
		result = timeline_put_values(spans, most_bytes, out, error);
	if (!result)
		timeline_put_names(&file, !most_bytes);
	dw_out_text(out, "}");
	DW_FREE(file.names, file.order);
	return result;
}
