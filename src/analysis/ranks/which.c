/* Which ranks of a summary are compared, and what restricts the comparison: ranks of other jobs and runs,
 * numbers that are missing or occur twice, ranks that ended early, and lost records. */
#include "base/order.h"
#include "base/text.h"
#include "ranks/ranks.h"

#define MOST_NAMED 8u /* ranks that a note lists, and notes of one kind */
#define START_NS 60000000000u /* ranks of one run begin within this time and that of their steps */

/* ---- jobs and runs --------------------------------------------------------------------------- */

/* The job with the most ranks. */
static const char *which_job(const struct dw_summary *summary)
{
	size_t best = 0, most = 0;

	for (size_t i = 0, from = 0; i <= summary->count; i++) {
		if (i < summary->count && strcmp(summary->ranks[i].job, summary->ranks[from].job) == 0)
			continue;
		if (i - from > most) {
			most = i - from;
			best = from;
		}
		from = i;
	}
	return summary->ranks[best].job;
}

void dw_ranks_choose(struct dw_ranks *ranks, const struct dw_summary *summary)
{
	const char *job = which_job(summary);
	size_t other_jobs = 0, without = 0;

	for (size_t i = 0; i < summary->count; i++) {
		const struct dw_summary_rank *rank = &summary->ranks[i];

		if (strcmp(rank->job, job) != 0)
			other_jobs++;
		else if (!rank->span_count)
			without++;
		else
			ranks->results[ranks->count++].rank = rank;
	}
	if (other_jobs)
		dw_ranks_note(ranks, "%zu rank%s of other jobs than '%.64s' %s not compared.", other_jobs,
		              dw_text_plural(other_jobs), job, other_jobs == 1 ? "is" : "are");
	if (without)
		dw_ranks_note(ranks, "%zu process%s without a counted step %s not compared.", without,
		              without == 1 ? "" : "es", without == 1 ? "is" : "are");
}

DW_ORDER_OF_POINTERS(which_compare_starts, struct dw_rank_result, DW_TEXT(rank->host) DW_UP(rank->start_ns))

/* Not every launcher gives its jobs identifiers. Ranks of one host share a clock: if one of them began long
 * after the steps of another one could have ended, they are of different runs. */
static void which_check_runs(struct dw_ranks *ranks)
{
	const struct dw_rank_result **all = calloc(ranks->count, sizeof *all), *first, *early = NULL, *late = NULL;
	uint64_t most = 0;

	if (!all)
		return;
	for (size_t i = 0; i < ranks->count; i++)
		all[i] = &ranks->results[i];
	qsort(all, ranks->count, sizeof *all, which_compare_starts);
	first = all[0];
	for (size_t i = 1; i < ranks->count; i++) {
		uint64_t since = all[i]->rank->start_ns - first->rank->start_ns;

		if (strcmp(all[i]->rank->host, first->rank->host) != 0) {
			first = all[i];
		} else if (since > most && since > START_NS && since - START_NS > first->rank->wall_ns) {
			most = since;
			early = first;
			late = all[i];
		}
	}
	if (late)
		dw_ranks_note(ranks,
		              "On %.64s rank %d began %s after rank %d, whose steps took %s: they seem to be of "
		              "different runs.",
		              late->rank->host, dw_ranks_number(ranks, (size_t)(late - ranks->results)),
		              dw_text_ns((double)most, " ").at, dw_ranks_number(ranks, (size_t)(early - ranks->results)),
		              dw_text_ns((double)early->rank->wall_ns, " ").at);
	free(all);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void which_check_twice(struct dw_ranks *ranks)
{
	size_t twice = 0;

	for (size_t i = 1; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;
		const struct dw_summary_rank *before = ranks->results[i - 1].rank;

		if (rank->rank < 0 || rank->rank != before->rank || twice++ >= MOST_NAMED)
			continue;
		dw_ranks_note(ranks, "Two processes have rank %d: pid %u on %.64s and pid %u on %.64s.", rank->rank,
		              before->pid, before->host, rank->pid, rank->host);
	}
	if (twice > MOST_NAMED)
		dw_ranks_note(ranks, "%zu more ranks are those of several processes.", twice - MOST_NAMED);
}

static void which_check_missing(struct dw_ranks *ranks)
{
	int32_t world = -1;
	size_t missing = 0;
	char list[128] = "";
	unsigned char *there = NULL; /* by number */

	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->results[i].rank->world_size > world)
			world = ranks->results[i].rank->world_size;
	if (world > 0 && world <= 1 << 20)
		there = calloc((size_t)world, 1);
	if (!there)
		return;
	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->results[i].rank->rank >= 0 && ranks->results[i].rank->rank < world)
			there[ranks->results[i].rank->rank] = 1;
	for (int32_t number = 0; number < world; number++) {
		size_t length = strlen(list);

		if (!there[number] && missing++ < MOST_NAMED)
			snprintf(list + length, sizeof list - length, "%s%d", length ? ", " : "", number);
	}
	free(there);
	if (missing)
		dw_ranks_note(ranks, "%zu of %d ranks are missing: %s%s.", missing, world, list,
		              missing > MOST_NAMED ? " and others" : "");
}

/* ---- ends and losses ------------------------------------------------------------------------- */

static void which_check_ends(struct dw_ranks *ranks)
{
	uint64_t last = 0;
	size_t early = 0, failed = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;

		if (rank->failed && failed++ < MOST_NAMED)
			dw_ranks_note(ranks, "Rank %d ended %s step %llu%s.", dw_ranks_number(ranks, i),
			              rank->last_open ? "within" : "after", (unsigned long long)rank->last_step,
			              dw_summary_failure(rank->failed).at);
	}
	if (failed > MOST_NAMED)
		dw_ranks_note(ranks, "%zu more ranks failed.", failed - MOST_NAMED);
	for (size_t i = 0; i < ranks->count; i++)
		if (ranks->results[i].rank->last_step > last)
			last = ranks->results[i].rank->last_step;
	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_summary_rank *rank = ranks->results[i].rank;

		if (rank->last_step + 1 >= last || early++ >= MOST_NAMED)
			continue;
		dw_ranks_note(ranks, "Rank %d began its last step, %llu, while other ranks came to step %llu%s.",
		              dw_ranks_number(ranks, i), (unsigned long long)rank->last_step,
		              (unsigned long long)last, rank->last_open ? "; that step did not end" : "");
	}
	if (early > MOST_NAMED)
		dw_ranks_note(ranks, "%zu more ranks came to fewer steps.", early - MOST_NAMED);
}

uint64_t dw_ranks_lost(const struct dw_summary_rank *rank)
{
	uint64_t lost = 0;

	for (unsigned cause = 0; cause < DW_LOSS_SLOTS; cause++)
		lost += rank->lost[cause];
	return lost;
}

/* The cause of most of the losses of a rank. */
static const char *which_cause(const struct dw_summary_rank *rank)
{
	static const char *const causes[DW_LOSS_COUNT] = {
#define X(name, label, text) [DW_LOSS_##name] = (text),
		DW_LOSS_CAUSES(X)
#undef X
	};
	unsigned most = 0;

	for (unsigned cause = 1; cause < DW_LOSS_SLOTS; cause++)
		if (rank->lost[cause] > rank->lost[most])
			most = cause;
	return most < DW_LOSS_COUNT ? causes[most] : "a cause that this dwell does not know";
}

static void which_check_losses(struct dw_ranks *ranks)
{
	size_t losing = 0, most = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		uint64_t lost = dw_ranks_lost(ranks->results[i].rank);

		losing += lost != 0;
		if (lost > dw_ranks_lost(ranks->results[most].rank))
			most = i;
	}
	if (losing == 1)
		dw_ranks_note(ranks, "Rank %d lost %s records (%s): times of its operators and parts may be too short.",
		              dw_ranks_number(ranks, most), dw_text_count((int64_t)dw_ranks_lost(ranks->results[most].rank)).at,
		              which_cause(ranks->results[most].rank));
	else if (losing)
		dw_ranks_note(ranks,
		              "%zu ranks lost records, rank %d most of all: %s (%s). Times of their operators and "
		              "parts may be too short.",
		              losing, dw_ranks_number(ranks, most),
		              dw_text_count((int64_t)dw_ranks_lost(ranks->results[most].rank)).at,
		              which_cause(ranks->results[most].rank));
}

void dw_ranks_check(struct dw_ranks *ranks)
{
	which_check_runs(ranks);
	which_check_twice(ranks);
	which_check_missing(ranks);
	which_check_ends(ranks);
	which_check_losses(ranks);
}
