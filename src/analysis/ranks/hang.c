/*
 * Finds out whether a job hangs, and for what. A job hangs if ranks are inside communication at the
 * end of the recording, for at least a second and ten steps. Those that are elsewhere are what it
 * waits for. A rank that failed is why the others wait.
 *
 * Summaries of a running job are written at different times. A rank waits as long as its own file says, and what it does since
 * then is not known.
 */
#include <string.h>

#include "ranks/ranks.h"

#define LEAST_NS 1e9
#define LEAST_STEPS 10.0

static const struct dw_summary_open *hang_communication(const struct dw_summary_rank *rank)
{
	for (size_t i = 0; i < rank->open_count; i++)
		if (rank->open[i].communication)
			return &rank->open[i];
	return NULL;
}

bool dw_ranks_is_waiting(const struct dw_ranks *ranks, const struct dw_summary_rank *rank)
{
	uint64_t last = ranks->hang.group ? dw_ranks_last_sequence(rank, ranks->hang.group) : 0;

	/* 0: the rank is not of the group of the collective that is waited for */
	return last ? last >= ranks->hang.sequence : hang_communication(rank) != NULL;
}

/* The collective that the rank is inside. If it is in several, the one of the lowest number is waited for
 * first. */
static void hang_find_collective(struct dw_hang *hang, const struct dw_summary_rank *rank)
{
	for (size_t c = 0; c < rank->collective_count; c++) {
		const struct dw_summary_collective *collective = &rank->collectives[c];

		if (!collective->open || !collective->last_sequence ||
		    (hang->group && collective->last_sequence >= hang->sequence))
			continue;
		hang->group = collective->group;
		hang->operation = collective->operation;
		hang->sequence = collective->last_sequence;
	}
}

/* Each trace ends with its last record, and that of a rank that waits may be old. So the latest end
 * counts for all. Clocks of machines differ by less than what counts as waiting. */
static uint64_t hang_end(const struct dw_ranks *ranks)
{
	uint64_t end = 0;

	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->results[i].rank->end_ns > end)
			end = ranks->results[i].rank->end_ns;
	return end;
}

uint64_t dw_ranks_since(const struct dw_ranks *ranks, const struct dw_summary_rank *rank, uint64_t ns)
{
	return ns + (ranks->hang.end_ns > rank->end_ns ? ranks->hang.end_ns - rank->end_ns : 0);
}

/* For how long the rank waits, as far as its file says. A trace of which dwell run did not follow the end ends with its last
 * record, after which the rank waited on. */
static uint64_t hang_wait(const struct dw_ranks *ranks, const struct dw_summary_rank *rank, const struct dw_summary_open *open)
{
	return rank->followed ? open->ns : dw_ranks_since(ranks, rank, open->ns);
}

bool dw_ranks_is_older(const struct dw_ranks *ranks, const struct dw_summary_rank *rank)
{
	return rank->followed && !rank->failed && rank->end_ns < ranks->hang.end_ns - ranks->hang.ns;
}

/* ---- ranks that failed --------------------------------------------------------------------------- */

/* Whether the rank failed by itself: not because a launcher or a person ended a job that hung. */
static bool hang_is_cause(const struct dw_hang *hang, const struct dw_summary_rank *rank)
{
	return rank->failed && dw_summary_failure_order(rank->failed) < 2 &&
	       (!hang->ns || rank->end_ns < hang->end_ns - hang->ns + (uint64_t)LEAST_NS);
}

static bool hang_is_before(const struct dw_summary_rank *a, const struct dw_summary_rank *b)
{
	bool waits[] = { hang_communication(a) != NULL, hang_communication(b) != NULL };

	if (dw_summary_failure_order(a->failed) != dw_summary_failure_order(b->failed))
		return dw_summary_failure_order(a->failed) < dw_summary_failure_order(b->failed);
	return waits[0] != waits[1] ? waits[1] : a->end_ns - a->silent_ns < b->end_ns - b->silent_ns;
}

static size_t hang_find_failed(const struct dw_ranks *ranks)
{
	size_t first = DW_RANKS_NONE;

	for (size_t i = 0; i < ranks->count; i++)
		if (hang_is_cause(&ranks->hang, ranks->results[i].rank) &&
		    (first == DW_RANKS_NONE || hang_is_before(ranks->results[i].rank, ranks->results[first].rank)))
			first = i;
	return first;
}

/* ---- ranks that called different collectives ----------------------------------------------------- */

const char *dw_ranks_operation(const struct dw_summary_rank *rank, const char *group, uint64_t sequence)
{
	for (size_t c = 0; c < rank->collective_count; c++)
		if (rank->collectives[c].last_sequence == sequence && strcmp(rank->collectives[c].group, group) == 0)
			return rank->collectives[c].operation;
	return NULL;
}

/* The lowest number of the group in which a rank is. Others may have gone on from it, as the root of a broadcast. */
static uint64_t hang_lowest(const struct dw_ranks *ranks)
{
	uint64_t lowest = ranks->hang.sequence;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;

		for (size_t c = 0; c < rank->collective_count; c++)
			if (rank->collectives[c].open && rank->collectives[c].last_sequence &&
			    rank->collectives[c].last_sequence < lowest &&
			    strcmp(rank->collectives[c].group, ranks->hang.group) == 0)
				lowest = rank->collectives[c].last_sequence;
	}
	return lowest;
}

static void hang_find_different(struct dw_ranks *ranks)
{
	struct dw_hang *hang = &ranks->hang;
	uint64_t number = hang->group && !dw_summary_is_pair(hang->group, NULL, NULL) ? hang_lowest(ranks) : 0;

	for (size_t i = 0; number && i < ranks->count; i++) {
		const char *operation = dw_ranks_operation(ranks->results[i].rank, hang->group, number);

		if (operation && !hang->operations[0]) {
			hang->operations[0] = operation;
		} else if (operation && strcmp(operation, hang->operations[0]) != 0) {
			hang->operations[1] = operation;
			hang->differ = number;
			return;
		}
	}
}

/* ---- all together -------------------------------------------------------------------------------- */

void dw_ranks_find_hang(struct dw_ranks *ranks)
{
	struct dw_hang *hang = &ranks->hang;
	const struct dw_summary_rank *longest = NULL;

	hang->end_ns = hang_end(ranks);
	ranks->failed = DW_RANKS_NONE;
	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;
		const struct dw_summary_open *open = hang_communication(rank);

		if (!rank->where_known) { /* without all ranks nobody can say which one is missing */
			hang->ns = 0;
			break;
		}
		if (open && hang_wait(ranks, rank, open) > hang->ns) {
			hang->ns = hang_wait(ranks, rank, open);
			hang->name = open->name;
			longest = rank;
		}
	}
	ranks->failed = hang_find_failed(ranks);
	if (!longest || (double)hang->ns < LEAST_NS || (double)hang->ns < LEAST_STEPS * ranks->step_ns)
		return;
	hang->found = true;
	hang_find_collective(hang, longest);
	for (size_t i = 0; i < ranks->count; i++) {
		bool waits = dw_ranks_is_waiting(ranks, ranks->results[i].rank);

		hang->waiting += waits;
		hang->missing += !waits;
		hang->unknown += !waits && dw_ranks_is_older(ranks, ranks->results[i].rank);
	}
	hang_find_different(ranks);
}
