/* What is said of a job that hangs, or of which a rank failed: before anything else. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "ranks/ranks.h"

#define MOST_LISTED 8u
#define MOST_SHOWN 4u

/* The numbers of the ranks for which `is` holds: "0, 1, 3". */
static void hang_list(const struct dw_ranks *ranks,
                      bool (*is)(const struct dw_ranks *ranks, const struct dw_summary_rank *rank), char *text,
                      size_t size)
{
	size_t listed = 0, length = 0;

	*text = '\0';
	for (size_t i = 0; i < ranks->count; i++) {
		if (!is(ranks, ranks->results[i].rank))
			continue;
		if (listed++ == MOST_LISTED) {
			snprintf(text + length, size - length, ", ...");
			return;
		}
		length += (size_t)snprintf(text + length, size - length, "%s%d", length ? ", " : "", dw_ranks_number(ranks, i));
	}
}

static bool hang_calls(const struct dw_ranks *ranks, const struct dw_summary_rank *rank, unsigned which)
{
	const char *operation = dw_ranks_operation(rank, ranks->hang.group, ranks->hang.differ);

	return operation && strcmp(operation, ranks->hang.operations[which]) == 0;
}

static bool hang_calls_one(const struct dw_ranks *ranks, const struct dw_summary_rank *rank) { return hang_calls(ranks, rank, 0); }

static bool hang_calls_other(const struct dw_ranks *ranks, const struct dw_summary_rank *rank) { return hang_calls(ranks, rank, 1); }

static void hang_put_different(struct dwell_table *table, const struct dw_ranks *ranks)
{
	char lists[2][160];

	hang_list(ranks, hang_calls_one, lists[0], sizeof lists[0]);
	hang_list(ranks, hang_calls_other, lists[1], sizeof lists[1]);
	dw_table_head(
		table,
		"Collective number %llu of group %.100s is %.100s in rank%s %s and %.100s in rank%s %s: ranks must call the same "
		"collectives in the same order.",
		(unsigned long long)ranks->hang.differ, *ranks->hang.group ? ranks->hang.group : "(unknown)",
		ranks->hang.operations[0], strchr(lists[0], ',') ? "s" : "", lists[0], ranks->hang.operations[1],
		strchr(lists[1], ',') ? "s" : "", lists[1]);
}

/* A rank that is inside a collective of its own waits for ranks that will not come. */
static void hang_put_other_operation(struct dwell_table *table, const struct dw_summary_rank *rank)
{
	for (size_t c = 0; c < rank->collective_count; c++)
		if (rank->collectives[c].open && rank->collectives[c].last_sequence)
			dw_table_head(table,
			              "It is in %s number %llu of group %s: ranks must call the same collectives in "
			              "the same order.",
			              rank->collectives[c].operation, (unsigned long long)rank->collectives[c].last_sequence,
			              rank->collectives[c].group);
}

static void hang_put_missing(struct dwell_table *table, const struct dw_ranks *ranks, size_t i)
{
	const struct dw_summary_rank *rank = ranks->results[i].rank;
	const struct dw_summary_open *open = rank->open_count ? &rank->open[rank->open_count - 1] : NULL;

	if (dw_ranks_is_older(ranks, rank)) {
		dw_table_head(table, "What rank %d does is not known: its summary is %s older, and the others began to wait after it.",
		              dw_ranks_number(ranks, i), dw_text_ns((double)(ranks->hang.end_ns - rank->end_ns), " ").at);
		return;
	}
	dw_table_head(table, "Rank %d did not enter it: %s%s%s, %s %llu, without a record for %s%s.",
	              dw_ranks_number(ranks, i), open ? "it is in " : "it is outside all recorded ranges",
	              open ? open->name : "", open && rank->open_count == DW_SUMMARY_OPEN ? " or deeper" : "",
	              rank->last_open ? "in step" : "after step", (unsigned long long)rank->last_step,
	              dw_text_ns((double)dw_ranks_since(ranks, rank, rank->silent_ns), " ").at, dw_summary_failure(rank->failed).at);
	if (!ranks->hang.differ)
		hang_put_other_operation(table, rank);
}

/* The first rank that failed: the others cannot go on without it. */
static void hang_put_failed(struct dwell_table *table, const struct dw_ranks *ranks)
{
	const struct dw_summary_rank *rank = ranks->results[ranks->failed].rank;
	const struct dw_summary_open *open = rank->open_count ? &rank->open[rank->open_count - 1] : NULL;
	size_t more = 0;

	for (size_t i = 0; i < ranks->count; i++)
		more += i != ranks->failed && ranks->results[i].rank->failed;
	dw_table_head(table, "Rank %d ended %s step %llu%s%.120s%s%s.", dw_ranks_number(ranks, ranks->failed),
	              rank->last_open ? "within" : "after", (unsigned long long)rank->last_step, open ? ", in " : "",
	              open ? open->name : "", dw_summary_failure(rank->failed).at,
	              more ? ", before the others failed" : "");
}

void dw_ranks_put_hang(struct dwell_table *table, const struct dw_ranks *ranks)
{
	bool failed = ranks->failed != DW_RANKS_NONE;
	char list[160], which[400] = "";

	if (failed)
		hang_put_failed(table, ranks);
	if (!ranks->hang.found)
		return;
	hang_list(ranks, dw_ranks_is_waiting, list, sizeof list);
	if (ranks->hang.group)
		snprintf(which, sizeof which, ",%s%.100s number %llu of group %.100s",
		         strcmp(ranks->hang.operation, ranks->hang.name) == 0 ? "" : " ",
		         strcmp(ranks->hang.operation, ranks->hang.name) == 0 ? "" : ranks->hang.operation,
		         (unsigned long long)ranks->hang.sequence, *ranks->hang.group ? ranks->hang.group : "(unknown)");
	dw_table_head(table, "%s: rank%s %s wait%s in %s%s, for %s.", failed ? "The others wait for it" : "The job hangs",
	              ranks->hang.waiting == 1 ? "" : "s", list, ranks->hang.waiting == 1 ? "s" : "",
	              ranks->hang.name, which, dw_text_ns((double)ranks->hang.ns, " ").at);
	if (ranks->hang.differ)
		hang_put_different(table, ranks);
	else if (!ranks->hang.missing)
		dw_table_head(table,
		              "No rank is elsewhere: look at the network, and at whether all ranks call the same collective.");
	for (size_t i = 0, shown = 0; i < ranks->count && shown < MOST_SHOWN; i++)
		if (!dw_ranks_is_waiting(ranks, ranks->results[i].rank) && i != ranks->failed) {
			hang_put_missing(table, ranks, i);
			shown++;
		}
	if (ranks->hang.missing > MOST_SHOWN)
		dw_table_head(table, "%zu more ranks did not enter it.", ranks->hang.missing - MOST_SHOWN);
}
