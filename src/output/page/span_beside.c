/*
 * What a timeline shows beside the ranges of threads: asynchronous ranges and counters; see span.h.
 *
 * An asynchronous range may begin in one stream and end in another, so the ends are kept, and paired
 * when all has been read. Then a range goes to the first row of its process that is free, so that
 * overlapping ones are below one another. The values of a counter are kept with their times; if
 * there are too many, neighbours become one sample with the least, the greatest and the last value.
 */
#include <math.h>

#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "page/span_inside.h"

#define MOST_ASYNCS (1u << 20)   /* ends, 40 bytes each */
#define MOST_SAMPLES (1u << 19)  /* 32 bytes each */
#define MOST_COUNTERS 1000u

/* ---- counters ----------------------------------------------------------------------------------- */

DW_ORDER(beside_compare_samples, struct dw_span_sample, DW_UP(ns))

/* The samples of a counter may come from several threads. */
static void beside_sort(struct dw_span_counter *counter)
{
	if (counter->unsorted)
		qsort(counter->samples, counter->count, sizeof *counter->samples, beside_compare_samples);
	counter->unsorted = false;
}

static void beside_merge(struct dw_span_sample *sample, const struct dw_span_sample *later)
{
	sample->low = later->low < sample->low ? later->low : sample->low;
	sample->high = later->high > sample->high ? later->high : sample->high;
	sample->last = later->last;
}

/* Merges the samples of all counters two by two. */
static void beside_thin(struct dw_page_spans *spans)
{
	spans->samples = 0;
	for (size_t i = 0; i < spans->counter_count; i++) {
		struct dw_span_counter *counter = &spans->counters[i];
		size_t kept = 0;

		beside_sort(counter);
		for (size_t k = 0; k < counter->count; k += 2) {
			counter->samples[kept] = counter->samples[k];
			if (k + 1 < counter->count)
				beside_merge(&counter->samples[kept], &counter->samples[k + 1]);
			kept++;
		}
		counter->count = kept;
		spans->samples += kept;
	}
}

/* Finds or makes the counter of a name in a process. False: out of memory. NULL: there are too many. */
static bool beside_find(struct dw_page_spans *spans, uint32_t process, uint32_t symbol, struct dw_span_counter **result)
{
	struct dw_span_counter *counter;
	uint32_t number;

	*result = NULL;
	if (!spans->counter_of)
		spans->counter_of = calloc(spans->symbol_count + 1, sizeof *spans->counter_of);
	if (!spans->counter_of)
		return false;
	for (number = spans->counter_of[symbol]; number; number = spans->counters[number - 1].next)
		if (spans->counters[number - 1].process == process) {
			*result = &spans->counters[number - 1];
			return true;
		}
	if (spans->counter_count >= MOST_COUNTERS)
		return true;
	counter = DW_GROW(&spans->counters, &spans->counter_capacity, spans->counter_count);
	if (!counter)
		return false;
	*counter = (struct dw_span_counter){ .process = process, .symbol = symbol,
		.next = spans->counter_of[symbol] };
	spans->counter_of[symbol] = (uint32_t)++spans->counter_count;
	*result = counter;
	return true;
}

static bool beside_add_value(struct dw_page_spans *spans, const struct dw_event *event, uint32_t symbol)
{
	struct dw_span_counter *counter;
	struct dw_span_sample *sample;

	if (!beside_find(spans, spans->source->threads[event->thread].process, symbol, &counter))
		return false;
	if (!counter) {
		spans->counters_left_out++;
		return true;
	}
	if (!isfinite(event->value)) {
		counter->not_finite++;
		return true;
	}
	if (spans->samples >= MOST_SAMPLES)
		beside_thin(spans);
	sample = DW_GROW(&counter->samples, &counter->capacity, counter->count);
	if (!sample)
		return false;
	*sample = (struct dw_span_sample){ event->start_ns, event->value, event->value, event->value };
	counter->low = counter->count && counter->low < event->value ? counter->low : event->value;
	counter->high = counter->count && counter->high > event->value ? counter->high : event->value;
	counter->unsorted |= counter->count && sample[-1].ns > sample->ns;
	counter->count++;
	spans->samples++;
	return true;
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

enum beside_list { BESIDE_AT, BESIDE_LAST, BESIDE_LOW, BESIDE_HIGH };

static void beside_put_list(const struct dw_span_sample *samples, size_t count, uint64_t begin_ns,
                            enum beside_list which, struct dw_writer_out *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct dw_span_sample *sample = &samples[i];

		dw_out_text(out, i ? "," : "");
		if (which == BESIDE_AT)
			dw_out_i64(out, (int64_t)(sample->ns - (i ? sample[-1].ns : begin_ns)));
		else
			dw_out_real(out, which == BESIDE_LAST ? sample->last : which == BESIDE_LOW ? sample->low : sample->high);
	}
}

/* Copies the samples of a window to `to`, merged to a resolution. Returns how many there are. */
static size_t beside_copy(const struct dw_span_counter *counter,
                          const struct dw_page_window *window, uint64_t resolution_ns, struct dw_span_sample *to)
{
	size_t low = DW_FIRST(i, 0, counter->count, counter->samples[i].ns > window->begin_ns), count = 0;
	uint64_t width = resolution_ns ? resolution_ns : 1;

	low -= low > 0;
	for (size_t i = low; i < counter->count && counter->samples[i].ns < window->end_ns; i++) {
		const struct dw_span_sample *sample = &counter->samples[i];

		if (count && sample->ns / width == to[count - 1].ns / width)
			beside_merge(&to[count - 1], sample);
		else
			to[count++] = *sample;
	}
	return count;
}

static bool beside_put_counter(struct dw_span_counter *counter, uint32_t track,
                               const struct dw_page_window *window, uint64_t resolution_ns,
                               bool *any, struct dw_writer_out *out)
{
	static const char *const names[] = { "],\"last\":[", "],\"low\":[", "],\"high\":[" };
	struct dw_span_sample *samples = malloc((counter->count + 1) * sizeof *samples);
	bool merged = false;
	size_t count;

	if (!samples)
		return false;
	beside_sort(counter);
	count = beside_copy(counter, window, resolution_ns, samples);
	for (size_t i = 0; i < count; i++)
		merged |= samples[i].low < samples[i].high;
	if (count) {
		dw_out_text(out, *any ? ",\n{\"track\":" : "\n{\"track\":");
		DW_PAGE_PUT(out, "#,'at':[", track);
		beside_put_list(samples, count, window->begin_ns, BESIDE_AT, out);
		for (unsigned which = BESIDE_LAST; which <= (merged ? BESIDE_HIGH : BESIDE_LAST); which++) {
			dw_out_text(out, names[which - 1]);
			beside_put_list(samples, count, 0, (enum beside_list)which, out);
		}
		dw_out_text(out, "]}");
		*any = true;
	}
	free(samples);
	return true;
}

bool dw_span_put_counters(struct dw_page_spans *spans, const struct dw_page_window *window,
                          uint64_t resolution_ns, struct dw_writer_out *out)
{
	bool any = false, known = true;

	dw_out_text(out, "\"counters\":[");
	for (size_t i = 0; i < spans->counter_count && known; i++)
		if (dw_span_wants(window, dw_span_counter_track(spans, i)))
			known = beside_put_counter(&spans->counters[i], dw_span_counter_track(spans, i), window,
			                           resolution_ns, &any, out);
	dw_out_text(out, "]");
	return known;
}

/* ---- asynchronous ranges ---------------------------------------------------------------------------- */

struct beside_range {
	struct dw_span_item item;
	uint32_t process;
};

struct beside_ranges {
	struct dw_page_spans *spans;
	struct beside_range *ranges;
	size_t count, capacity;
};

static bool beside_keep(struct dw_page_spans *spans, const struct dw_event *event, uint32_t symbol)
{
	if (spans->async_count >= MOST_ASYNCS) {
		spans->asyncs_left_out++;
		return true;
	}
	return DW_APPEND(&spans->asyncs, &spans->async_capacity, &spans->async_count,
	                 (struct dw_events_async){ event->handle, event->start_ns, event->args, symbol, event->thread,
		spans->source->threads[event->thread].process, event->type == DW_EVENT_ASYNC_END, event->nested });
}

static int beside_take_range(void *context, const struct dw_event *event)
{
	struct beside_ranges *to = context;
	const struct beside_range range = {
		.item = { .start_ns = event->start_ns, .end_ns = event->end_ns, .open = event->open,
		          .name = event->symbol, .count = 1 },
		.process = to->spans->source->threads[event->thread].process,
	};

	return !DW_APPEND(&to->ranges, &to->capacity, &to->count, range);
}

DW_ORDER(beside_compare_ranges, struct beside_range, DW_UP(item.start_ns) DW_DOWN(item.end_ns))

bool dw_span_beside_finish(struct dw_page_spans *spans)
{
	struct beside_ranges to = { .spans = spans };
	bool known = !dw_model_events_pair(spans->model, spans->asyncs, spans->async_count, beside_take_range, &to);

	free(spans->asyncs);
	spans->asyncs = NULL;
	spans->async_count = spans->async_capacity = 0;
	if (known && to.count)
		qsort(to.ranges, to.count, sizeof *to.ranges, beside_compare_ranges);
	for (size_t i = 0; i < to.count && known; i++) {
		known = dw_span_rows_add(&spans->tracks[dw_span_async_track(spans, to.ranges[i].process)], 0,
		                         &to.ranges[i].item, 0);
		spans->name_counts[to.ranges[i].item.name]++;
	}
	free(to.ranges);
	return known;
}

/* ---- both --------------------------------------------------------------------------------------------- */

bool dw_span_beside_take(struct dw_page_spans *spans, const struct dw_event *event)
{
	uint32_t symbol = dw_model_row_symbol(spans->model, dw_model_symbol_row(spans->model, event->symbol));

	return event->type == DW_EVENT_COUNTER ? beside_add_value(spans, event, symbol) : beside_keep(spans, event, symbol);
}

void dw_span_beside_reset(struct dw_page_spans *spans)
{
	for (size_t i = 0; i < spans->counter_count; i++)
		free(spans->counters[i].samples);
	DW_FREE(spans->counters, spans->counter_of, spans->asyncs);
}
