/*
 * Finds the capture of each launch of a graph; see chrome_graphs.h.
 *
 * The captured calls are in the order of the program, the events of a launch in that of the device. Each stream of the device
 * has its events in the order of the program. So the next captured call is that of the next event of some stream. Of streams
 * whose next events have its name, the one is taken where most of the next calls fit too.
 *
 * Profilers lose calls and events. A capture may have calls that the launch has no event of, as long as most of them have one.
 * All events of the launch must be in the capture. If several captures fit, the one with the fewest calls without an event is
 * taken. If that leaves several, programs are taken to launch graphs in the order in which they captured them: the first of these
 * captures after the one that the previous launch has.
 */
#include "base/order.h"
#include "import/chrome_match.h"

#define NO_WORK UINT32_MAX
#define LONGEST_RUN 64u
#define MOST_STEPS ((uint64_t)1 << 27) /* comparisons in all; made files could ask for many more */
#define NO_FIT SIZE_MAX

struct match {
	struct chrome_work *works; /* of a launch, in order of their starts */
	size_t count;
	uint32_t heads[CHROME_MOST_GRAPH_STREAMS];
	uint32_t stream_count;     /* more than there is room for: not known */
	uint64_t steps;
	uint32_t *to, *best;       /* by event: index of the captured call */
};

/* Finds the first event of each stream, and the next one of each event. */
static void match_streams(struct match *match)
{
	uint32_t last[CHROME_MOST_GRAPH_STREAMS];

	match->stream_count = 0;
	for (uint32_t i = 0; i < match->count; i++) {
		uint32_t s = 0;

		match->works[i].next = NO_WORK;
		while (s < match->stream_count && match->works[last[s]].stream != match->works[i].stream)
			s++;
		if (s == CHROME_MOST_GRAPH_STREAMS) {
			match->stream_count++;
			return;
		}
		if (s < match->stream_count)
			match->works[last[s]].next = i;
		else
			match->heads[match->stream_count++] = i;
		last[s] = i;
	}
}

static bool match_is(const struct chrome_captured *captured, const struct chrome_work *work)
{
	return captured->kind == work->kind &&
	       (captured->kind != CHROME_WORK_KERNEL || !captured->name || captured->name == work->name);
}

/* How many captured calls from `captured` on are those of the events of a stream from `at` on. */
static uint32_t match_run(const struct match *match, const struct chrome_captured *captured, size_t count, uint32_t at)
{
	uint32_t run = 0;

	while (at != NO_WORK && run < count && run < LONGEST_RUN && match_is(&captured[run], &match->works[at])) {
		at = match->works[at].next;
		run++;
	}
	return run;
}

/* The stream whose next event is of the captured call, or NO_WORK. */
static uint32_t match_stream(const struct match *match, const uint32_t *heads, const struct chrome_captured *captured, size_t count)
{
	uint32_t found = NO_WORK, found_run = 0;

	for (uint32_t s = 0; s < match->stream_count; s++) {
		uint32_t run;

		if (heads[s] == NO_WORK || !match_is(captured, &match->works[heads[s]]))
			continue;
		run = match->stream_count == 1 ? 1 : match_run(match, captured, count, heads[s]);
		if (run > found_run) {
			found = s;
			found_run = run;
		}
	}
	return found;
}

/* Fills match->to. Returns how many captured calls have no event, or NO_FIT. */
static size_t match_try(struct match *match, const struct chrome_captured *captured, const struct chrome_capture *capture)
{
	uint32_t heads[CHROME_MOST_GRAPH_STREAMS];
	size_t left = 0, count = capture->count, most;

	match->steps++;
	captured += capture->first;
	if (count < match->count || match->stream_count > CHROME_MOST_GRAPH_STREAMS ||
	    (capture->unnamed && (count != match->count || match->stream_count != 1)))
		return NO_FIT;
	most = count - match->count;
	if (most >= match->count || match->steps > MOST_STEPS)
		return NO_FIT;
	memcpy(heads, match->heads, match->stream_count * sizeof *heads);
	for (size_t i = 0; i < count; i++) {
		uint32_t stream = match_stream(match, heads, &captured[i], count - i);

		match->steps += match->stream_count;
		if (stream == NO_WORK && ++left > most)
			return NO_FIT;
		if (stream == NO_WORK)
			continue;
		match->to[heads[stream]] = (uint32_t)i;
		heads[stream] = match->works[heads[stream]].next;
	}
	return left;
}

/* Matches the events of a launch. `*next`: the capture to try first. */
static void match_launch(struct chrome_graphs *graphs, struct match *match, size_t *next)
{
	size_t best = NO_FIT, best_capture = 0;

	match_streams(match);
	for (size_t i = 0; i < graphs->all_count && best; i++) {
		size_t at = (*next + i) % graphs->all_count, left;
		uint32_t *swap = match->to;

		left = match_try(match, graphs->captured, &graphs->all[at]);
		if (left == NO_FIT || left >= best)
			continue;
		best = left;
		best_capture = at;
		match->to = match->best;
		match->best = swap;
	}
	if (best == NO_FIT) {
		graphs->without_works = graphs->without++ ? graphs->without_works : match->count;
		return;
	}
	graphs->joined++;
	graphs->unnamed += graphs->all[best_capture].unnamed;
	graphs->all[best_capture].used = true;
	for (size_t i = 0; i < match->count; i++)
		match->works[i].node = (uint32_t)(graphs->all[best_capture].first + match->best[i]) + 1;
	*next = best_capture + 1;
}

DW_ORDER(match_compare_launches, struct chrome_graph_launch, DW_UP(start_ns) DW_UP(correlation))

void chrome_graphs_match(struct chrome_graphs *graphs)
{
	struct match match = { .to = calloc(graphs->work_count + 1, sizeof *match.to),
		.best = calloc(graphs->work_count + 1, sizeof *match.best) };
	size_t next = 0;

	graphs->failed |= !match.to || !match.best;
	DW_SORT(graphs->launched, graphs->launched_count, match_compare_launches);
	for (size_t i = 0; i < graphs->launched_count && !graphs->failed; i++) {
		uint64_t id = graphs->launched[i].correlation;
		size_t first = DW_FIRST(w, 0, graphs->work_count, graphs->works[w].correlation >= id), end = first;

		while (end < graphs->work_count && graphs->works[end].correlation == id)
			end++;
		match.works = end > first ? &graphs->works[first] : NULL;
		match.count = end - first;
		if (match.count && match.count < NO_WORK && graphs->captured_count < NO_WORK)
			match_launch(graphs, &match, &next);
	}
	free(match.to);
	free(match.best);
	graphs->matched = true;
}

/* ---- what the importer asks of each event ------------------------------------------------------------- */

void chrome_graphs_count(struct chrome *chrome, const struct chrome_event *event)
{
	if (chrome_name_has(&event->name, "GraphLaunch"))
		chrome->graphs->launches++;
	else if (chrome_name_has(&event->name, "StreamBeginCapture"))
		chrome->graphs->captures++;
}

size_t chrome_graphs_first_work(const struct chrome_graphs *graphs, uint64_t correlation)
{
	return DW_FIRST(i, 0, graphs->work_count, graphs->works[i].correlation >= correlation);
}

uint64_t chrome_graphs_node(const struct chrome *chrome, const struct chrome_event *event)
{
	const struct chrome_graphs *graphs = chrome->graphs;
	uint64_t correlation = chrome_unsigned(event, CHROME_CORRELATION, 0);
	int64_t stream;

	if (!graphs || !graphs->matched || !correlation || correlation > UINT32_MAX)
		return 0;
	stream = chrome_stream_of(event);
	for (size_t i = DW_FIRST(w, chrome_graphs_first_work(graphs, correlation), graphs->work_count,
	                         graphs->works[w].correlation != correlation || graphs->works[w].start_ns >= event->start_ns);
	     i < graphs->work_count && graphs->works[i].correlation == correlation && graphs->works[i].start_ns == event->start_ns; i++)
		if (graphs->works[i].stream == stream)
			return graphs->works[i].node;
	return 0;
}
