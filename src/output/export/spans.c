/* Ranges as begins and ends in order of time; see spans.h. */
#include "export/spans.h"

#include "base/grow.h"
#include "base/order.h"
#include "model/core/model_data.h"

#define MOST_OVERLAPPING 256u /* ranges open at once while some of them overlap */

/* ---- which ranges -------------------------------------------------------------------- */

/* A number that grows with the length: eight for each power of two. */
static uint32_t spans_bucket(uint64_t ns)
{
	unsigned log;

	if (ns < 8)
		return (uint32_t)ns;
	log = 63u - (unsigned)__builtin_clzll(ns);
	return (log - 2) * 8 + (uint32_t)(ns >> (log - 3) & 7);
}

static void spans_leave_out(struct dw_spans *spans, uint64_t ns)
{
	spans->left_out++;
	if (ns > spans->longest_left_out_ns)
		spans->longest_left_out_ns = ns;
}

/* Leaves out the shortest ranges, so that at most half of the list remains. */
static void spans_thin(struct dw_spans *spans)
{
	uint64_t remain = spans->count;
	size_t kept = 0;

	while (remain > spans->most / 2 && spans->least_bucket + 1 < DW_SPAN_BUCKETS) {
		remain -= spans->counts[spans->least_bucket];
		spans->counts[spans->least_bucket++] = 0;
	}
	for (size_t i = 0; i < spans->count; i++) {
		uint64_t ns = spans->list[i].end_ns - spans->list[i].start_ns;

		if (spans_bucket(ns) >= spans->least_bucket)
			spans->list[kept++] = spans->list[i];
		else
			spans_leave_out(spans, ns);
	}
	spans->count = kept;
}

static int spans_add(void *context, const struct dw_event *event)
{
	struct dw_spans *spans = context;
	uint32_t bucket = spans_bucket(event->end_ns - event->start_ns);
	struct dw_span span = { event->start_ns, event->end_ns, event->symbol, event->depth,
		                    event->thread * 2 + event->nested };

	if (event->type != DW_EVENT_RANGE || event->symbol >= spans->symbol_count ||
	    !dw_export_wants(&spans->filter, spans->symbols[event->symbol].name, event->start_ns, event->end_ns))
		return 0;
	if (spans->count >= spans->most)
		spans_thin(spans);
	if (bucket < spans->least_bucket || spans->count >= spans->most) {
		spans_leave_out(spans, event->end_ns - event->start_ns);
		return 0;
	}
	spans->counts[bucket]++;
	spans->failed |= !DW_APPEND(&spans->list, &spans->capacity, &spans->count, span);
	return spans->failed;
}

DW_ORDER(spans_compare, struct dw_span, DW_UP(track) DW_UP(start_ns) DW_DOWN(end_ns) DW_UP(depth) DW_UP(symbol))

int dw_spans_collect(struct dw_spans *spans, struct dw_model *model, const struct dw_export_filter *filter, size_t most,
                     struct dwell_error *error)
{
	int result;

	*spans = (struct dw_spans){ .most = most, .filter = *filter };
	spans->symbols = dw_model_symbols(model, &spans->symbol_count);
	result = dw_model_events(model, spans_add, spans, error);
	if (result < 0 || spans->failed)
		return result < 0 ? result : dw_model_no_memory(model, error);
	DW_SORT(spans->list, spans->count, spans_compare);
	return 0;
}

size_t dw_spans_of_track(const struct dw_spans *spans, size_t at)
{
	size_t end = at;

	while (end < spans->count && spans->list[end].track == spans->list[at].track)
		end++;
	return end - at;
}

void dw_spans_reset(struct dw_spans *spans)
{
	free(spans->list);
	memset(spans, 0, sizeof *spans);
}

/* ---- begins and ends ----------------------------------------------------------------- */

struct replay {
	struct dw_span *open; /* outermost first */
	size_t count, capacity;
	bool overlapping; /* some range ends after one around it */
	void (*put)(void *to, bool opens, uint32_t symbol, uint64_t ns);
	void *to;
};

/* The open range that ends first; of several the innermost. */
static size_t replay_first_to_end(const struct replay *replay)
{
	size_t first = replay->count - 1;

	for (size_t i = first; replay->overlapping && i-- > 0;)
		if (replay->open[i].end_ns < replay->open[first].end_ns)
			first = i;
	return first;
}

static void replay_close_at(struct replay *replay, size_t at)
{
	uint64_t ns = replay->open[at].end_ns;

	for (size_t i = replay->count; i-- > at;)
		replay->put(replay->to, false, replay->open[i].symbol, ns);
	memmove(&replay->open[at], &replay->open[at + 1], (replay->count - at - 1) * sizeof *replay->open);
	replay->count--;
	for (size_t i = at; i < replay->count; i++)
		replay->put(replay->to, true, replay->open[i].symbol, ns);
	if (!replay->overlapping)
		return;
	replay->overlapping = false;
	for (size_t i = 1; i < replay->count; i++)
		replay->overlapping |= replay->open[i].end_ns > replay->open[i - 1].end_ns;
}

static void replay_close_until(struct replay *replay, uint64_t ns)
{
	while (replay->count) {
		size_t first = replay_first_to_end(replay);

		if (replay->open[first].end_ns > ns)
			return;
		replay_close_at(replay, first);
	}
}

/* With many open ranges that overlap, a further one is cut at the end of the range around it: each end would close and
 * open all of them. */
static bool replay_open(struct replay *replay, struct dw_span span)
{
	const struct dw_span *around = replay->count ? &replay->open[replay->count - 1] : NULL;

	if (around && span.end_ns > around->end_ns && replay->count >= MOST_OVERLAPPING)
		span.end_ns = around->end_ns;
	replay->overlapping |= around && span.end_ns > around->end_ns;
	replay->put(replay->to, true, span.symbol, span.start_ns);
	return DW_APPEND(&replay->open, &replay->capacity, &replay->count, span);
}

bool dw_spans_replay(const struct dw_span *spans, size_t count,
                     void (*put)(void *to, bool opens, uint32_t symbol, uint64_t ns), void *to)
{
	struct replay replay = { .put = put, .to = to };
	bool good = true;

	for (size_t i = 0; i < count && good; i++) {
		replay_close_until(&replay, spans[i].start_ns);
		good = replay_open(&replay, spans[i]);
	}
	if (good)
		replay_close_until(&replay, UINT64_MAX);
	free(replay.open);
	return good;
}
