/*
 * Where the ranks were when the recording ended: which ranges were open, and for how long nothing
 * was recorded. In a job that hangs, some ranks are inside a collective that another one never
 * entered.
 *
 * The end of the recording is the last thing in the trace, or the last sample of the machine that
 * `dwell run` took, which goes on while all ranks wait.
 */
#include <stdlib.h>
#include <string.h>

#include "model/core/events.h"
#include "model/core/share_names.h"
#include "summary/summary.h"

struct where {
	struct dw_summary *summary;
	const uint32_t *ranks; /* by thread */
	const struct dw_symbol *symbols;
	uint64_t *last_ns; /* by thread: its last record */
	uint64_t end_ns;
};

static uint64_t where_end(const struct dw_source *source)
{
	uint64_t end = source->end_ns;

	for (size_t i = 0; i < source->machine_count; i++) {
		const struct dw_source_machine *sample = &source->machines[i];
		uint64_t ns = dw_source_ns(&source->files[sample->file].clock, sample->end_ticks);

		end = ns > end ? ns : end;
	}
	return end;
}

static enum dw_summary_pause where_pause(const struct dw_symbol *symbol)
{
	enum dw_share share = dw_share_of(symbol);

	return share == DW_SHARE_CHECKPOINT ? DW_PAUSE_CHECKPOINT : share == DW_SHARE_EVALUATION ? DW_PAUSE_EVALUATION : DW_PAUSE_NONE;
}

static void where_add_open(struct where *where, struct dw_summary_rank *rank, const struct dw_event *event)
{
	const char *name = where->symbols[event->symbol].name;
	size_t at = rank->open_count;

	if (!rank->open)
		rank->open = dw_arena_alloc(&where->summary->arena, (DW_SUMMARY_OPEN + 1) * sizeof *rank->open);
	name = dw_summary_text(where->summary, name, 255);
	if (!rank->open) {
		where->summary->failed = true;
		return;
	}
	/* The longest open one is outermost. Open ranges are reported in no order. */
	for (; at && rank->open[at - 1].ns < where->end_ns - event->start_ns; at--)
		rank->open[at] = rank->open[at - 1];
	rank->open[at] = (struct dw_summary_open){ name,
		                                       where->symbols[event->symbol].category == DWELL_CATEGORY_COMMUNICATION,
		                                       where->end_ns - event->start_ns,
		                                       where_pause(&where->symbols[event->symbol]) };
	if (rank->open_count < DW_SUMMARY_OPEN)
		rank->open_count++;
}

static int where_see(void *context, const struct dw_event *event)
{
	struct where *where = context;
	uint32_t index = where->ranks[event->thread];
	uint64_t time = event->open ? event->start_ns : event->end_ns;
	struct dw_summary_rank *rank;

	if (index == DW_NO_INDEX || where->symbols[event->symbol].category == DWELL_CATEGORY_PROFILER)
		return 0; /* samples of an endless loop fill chunks, too */
	rank = &where->summary->ranks[index];
	if (time > where->last_ns[event->thread])
		where->last_ns[event->thread] = time;
	if (event->type != DW_EVENT_RANGE)
		return 0;
	rank->communications += where->symbols[event->symbol].category == DWELL_CATEGORY_COMMUNICATION;
	if (event->open && event->start_ns <= where->end_ns)
		where_add_open(where, rank, event);
	return where->summary->failed;
}

bool dw_summary_add_where(struct dw_summary *summary, struct dw_model *model, const uint32_t *ranks,
                          struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	struct where where = { summary, ranks, dw_model_symbols(model, NULL),
		                   calloc(source->thread_count + 1, sizeof *where.last_ns), where_end(source) };
	bool good = where.last_ns && dw_model_events_of(model, DW_EVENTS_OF_THREADS, where_see, &where, error) == 0;

	for (size_t i = 0; good && i < source->thread_count; i++) {
		struct dw_summary_rank *rank = ranks[i] == DW_NO_INDEX ? NULL : &summary->ranks[ranks[i]];

		if (!rank)
			continue;
		rank->where_known = true;
		rank->followed = source->machine_count > 0;
		rank->end_ns = source->realtime_start_ns + where.end_ns;
		rank->silent_ns = where.end_ns > where.last_ns[i] ? where.end_ns - where.last_ns[i] : 0;
	}
	free(where.last_ns);
	return good && !summary->failed;
}
