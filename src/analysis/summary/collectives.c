/* The collectives of a rank: sums by group and operation, and when it entered and left each. */

#include "base/error.h"
#include "base/grow.h"
#include "base/order.h"
#include "model/collectives/collectives.h"
#include "summary/summary.h"

struct build {
	struct dw_summary *summary;
	const struct dw_collectives *from;
	const struct dw_symbol *symbols;
	uint64_t start_ns, end_ns; /* of the loop */
	uint64_t realtime_ns;      /* of the run's begin, since 1970 */
	struct dw_summary_collective rows[DW_SUMMARY_COLLECTIVES];
	size_t capacities[DW_SUMMARY_COLLECTIVES], count;
};

/* The row of a group and an operation; further ones than there is place for have none. */
static struct dw_summary_collective *collectives_row(struct build *build, const struct dw_collective *collective)
{
	const char *group = build->from->groups[collective->group];
	const char *operation = build->symbols[collective->symbol].name;

	for (size_t i = 0; i < build->count; i++)
		if (strcmp(build->rows[i].group, group) == 0 && strcmp(build->rows[i].operation, operation) == 0)
			return &build->rows[i];
	if (build->count == DW_SUMMARY_COLLECTIVES)
		return NULL;
	build->rows[build->count].group = dw_summary_text(build->summary, group, 255);
	build->rows[build->count].operation = dw_summary_text(build->summary, operation, 255);
	return &build->rows[build->count++];
}

static void collectives_add(struct build *build, const struct dw_collective *collective)
{
	struct dw_summary_collective *row = collectives_row(build, collective);

	if (!row)
		return;
	if (collective->sequence > row->last_sequence) {
		row->last_sequence = collective->sequence;
		row->open = collective->open;
	}
	if (collective->enter_ns < build->start_ns || collective->enter_ns >= build->end_ns)
		return;
	row->count++;
	row->bytes += collective->bytes;
	row->flight_ns += collective->leave_ns - collective->enter_ns;
	row->blocked_ns += collective->blocked_ns;
	if (!collective->sequence || collective->open)
		return;
	build->summary->failed |= !DW_APPEND(&row->arrivals, &build->capacities[row - build->rows], &row->arrival_count,
	    (struct dw_summary_arrival){ collective->sequence, build->realtime_ns + collective->enter_ns,
	                                 collective->leave_ns - collective->enter_ns, collective->blocked_ns });
}

DW_ORDER(collectives_compare_rows, struct dw_summary_collective, DW_TEXT(group) DW_TEXT(operation))

DW_ORDER(collectives_compare_enter, struct dw_collective, DW_UP(enter_ns))

/* The time of the loop in which at least one collective was under way. Sorts by time. */
static uint64_t collectives_in_flight(const struct build *build, struct dw_collective *own, size_t count)
{
	uint64_t sum = 0, until = build->start_ns;

	DW_SORT(own, count, collectives_compare_enter);
	for (size_t i = 0; i < count; i++) {
		uint64_t from = own[i].enter_ns > until ? own[i].enter_ns : until;
		uint64_t to = own[i].leave_ns < build->end_ns ? own[i].leave_ns : build->end_ns;

		if (!own[i].sequence || to <= from)
			continue;
		sum += to - from;
		until = to;
	}
	return sum;
}

/* Moves the rows into the summary's memory. */
static void collectives_keep(struct build *build, struct dw_summary_rank *rank)
{
	rank->collectives = dw_arena_alloc(&build->summary->arena, (build->count + 1) * sizeof *rank->collectives);
	build->summary->failed |= !rank->collectives;
	for (size_t i = 0; i < build->count; i++) {
		struct dw_summary_collective *row = &build->rows[i];
		size_t bytes = row->arrival_count * sizeof *row->arrivals;
		void *copy = dw_arena_alloc(&build->summary->arena, bytes + 1);

		build->summary->failed |= !copy;
		if (copy && bytes)
			memcpy(copy, row->arrivals, bytes);
		free(row->arrivals);
		row->arrivals = copy;
		row->arrival_count = copy ? row->arrival_count : 0;
		if (rank->collectives)
			rank->collectives[rank->collective_count++] = *row;
	}
	DW_SORT(rank->collectives, rank->collective_count, collectives_compare_rows);
}

bool dw_summary_is_pair(const char *group, int *from, int *to)
{
	return dw_group_is_pair(group, from, to);
}

bool dw_summary_add_collectives(struct dw_summary *summary, struct dw_summary_rank *rank,
                                struct dw_model *model, uint32_t process, const struct dw_loop *loop,
                                struct dwell_error *error)
{
	struct build build = { .summary = summary,
		                   .from = dw_model_collectives(model, error), .symbols = dw_model_symbols(model, NULL),
		                   .start_ns = loop->start_ns, .end_ns = loop->end_ns,
		                   .realtime_ns = dw_model_source(model)->realtime_start_ns };
	size_t first = 0, last;
	struct dw_collective *own;

	if (!build.from)
		return false;
	while (first < build.from->count && build.from->collectives[first].process != process)
		first++;
	for (last = first; last < build.from->count && build.from->collectives[last].process == process;)
		last++;
	if (first == last)
		return true;
	/* Collectives of more than two ranks come first: there may be more pairs than there is place for. */
	for (unsigned pairs = 0; pairs < 2; pairs++)
		for (size_t i = first; i < last; i++)
			if (dw_group_is_pair(build.from->groups[build.from->collectives[i].group], NULL, NULL) == (pairs == 1))
				collectives_add(&build, &build.from->collectives[i]);
	own = malloc((last - first) * sizeof *own);
	if (own) {
		memcpy(own, &build.from->collectives[first], (last - first) * sizeof *own);
		rank->in_flight_ns = collectives_in_flight(&build, own, last - first);
	}
	summary->failed |= !own;
	free(own);
	collectives_keep(&build, rank);
	dw_summary_thin_arrivals(rank, DW_SUMMARY_ARRIVALS);
	return !summary->failed;
}
