/*
 * Finds out whether a job hangs, and for what. A job hangs if ranks are inside communication at the
 * end of the recording, for at least a second and ten steps. Those that are elsewhere are what it
 * waits for.
 */
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

void dw_ranks_find_hang(struct dw_ranks *ranks)
{
	struct dw_hang *hang = &ranks->hang;
	const struct dw_summary_rank *longest = NULL;

	hang->end_ns = hang_end(ranks);
	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;
		const struct dw_summary_open *open = hang_communication(rank);

		if (!rank->where_known)
			return; /* without all ranks nobody can say which one is missing */
		if (open && dw_ranks_since(ranks, rank, open->ns) > hang->ns) {
			hang->ns = dw_ranks_since(ranks, rank, open->ns);
			hang->name = open->name;
			longest = rank;
		}
	}
	if (!longest || (double)hang->ns < LEAST_NS || (double)hang->ns < LEAST_STEPS * ranks->step_ns)
		return;
	hang->found = true;
	hang_find_collective(hang, longest);
	for (size_t i = 0; i < ranks->count; i++) {
		bool waits = dw_ranks_is_waiting(ranks, ranks->results[i].rank);

		hang->waiting += waits;
		hang->missing += !waits;
	}
}
