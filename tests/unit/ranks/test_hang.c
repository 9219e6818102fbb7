/* What is said first of a job that hangs or of which a rank failed. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "ranks/ranks.h"

enum { RANKS = 4, STEPS = 60 };

static const uint64_t ms = 1000000, second = 1000000000, now = UINT64_C(1800000000) * 1000000000;

/* Four ranks wait in collective 31 for 20 s, until `change` says otherwise. */
struct job {
	struct dw_summary summary;
	struct dw_summary_collective rows[RANKS];
	struct dw_summary_open open[RANKS];
};

static void make_rank(struct job *job, int i)
{
	struct dw_summary_rank *rank = &job->summary.ranks[i];

	job->rows[i] = (struct dw_summary_collective){ .group = "world", .operation = "all_reduce", .last_sequence = 31, .open = true };
	job->open[i] = (struct dw_summary_open){ "all_reduce", true, 20 * second, DW_PAUSE_NONE };
	*rank = (struct dw_summary_rank){ .job = "", .host = "a", .command = "", .rank = i, .local_rank = i, .world_size = RANKS,
		.pid = 100 + (uint32_t)i, .steps = STEPS, .last_step = STEPS, .last_open = true, .span_count = STEPS, .where_known = true,
		.followed = true, .end_ns = now, .silent_ns = 20 * second, .open = &job->open[i], .open_count = 1,
		.collectives = &job->rows[i], .collective_count = 1 };
	rank->spans = dw_arena_alloc(&job->summary.arena, STEPS * sizeof *rank->spans);
	for (unsigned s = 0; rank->spans && s < STEPS; s++) {
		rank->spans[s] = (struct dw_summary_span){ .index = s, .steps = 1, .longest = s, .ns = 20 * ms };
		rank->spans[s].part_ns[DW_PART_FORWARD] = 15 * ms;
		rank->spans[s].part_ns[DW_PART_COMMUNICATION] = 5 * ms;
	}
}

/* The sentences, one after another. */
static const char *said(void (*change)(struct job *job))
{
	static char text[2000];
	struct job job = { .summary = { .count = RANKS, .capacity = RANKS } };
	struct dwell_error error = { 0, "" };
	struct dwell_table *table;
	struct dw_ranks ranks;

	job.summary.ranks = calloc(RANKS, sizeof *job.summary.ranks);
	for (int i = 0; job.summary.ranks && i < RANKS; i++)
		make_rank(&job, i);
	change(&job);
	if (!job.summary.ranks || !dw_summary_finish(&job.summary, &error) || !dw_ranks_compare(&ranks, &job.summary, &error) ||
	    !(table = dw_ranks_table(&ranks)))
		abort();
	*text = '\0';
	for (size_t i = 0; i < table->head_count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s ", table->heads[i].text);
	dw_table_destroy(table);
	dw_ranks_reset(&ranks);
	dw_summary_reset(&job.summary);
	return text;
}

/* Rank 2 did not come to the collective. */
static void leave(struct job *job)
{
	job->rows[2].open = false;
	job->rows[2].last_sequence = 30;
	job->summary.ranks[2].open_count = 0;
}

static void kill_one(struct job *job)
{
	leave(job);
	job->summary.ranks[2].failed = DW_SUMMARY_SIGNAL + 9;
	job->summary.ranks[2].end_ns = now - 20 * second;
	job->summary.ranks[2].silent_ns = 0;
	job->summary.ranks[0].failed = DW_SUMMARY_SIGNAL + 15;
}

/* Somebody ended the job after it hung. */
static void kill_all(struct job *job)
{
	leave(job);
	for (int i = 0; i < RANKS; i++)
		job->summary.ranks[i].failed = DW_SUMMARY_SIGNAL + 9;
}

static void call_other(struct job *job)
{
	job->rows[1].operation = "barrier";
}

/* The file of rank 3 is from 40 s before, when it was in a collective for a moment. */
static void write_before(struct job *job)
{
	job->rows[3].last_sequence = 25;
	job->open[3].ns = ms;
	job->summary.ranks[3].end_ns = now - 40 * second;
	job->summary.ranks[3].silent_ns = ms;
}

TEST(the_rank_that_did_not_come)
{
	CHECK_HAS(said(leave), "The job hangs: ranks 0, 1, 3 wait in all_reduce, number 31 of group world, for 20.0 s. Rank 2 did not enter it");
}

TEST(a_rank_that_failed_comes_first)
{
	const char *text = said(kill_one);

	CHECK_EQ(strncmp(text, "Rank 2 ended within step 60, by signal 9 (Killed), before the others failed. The others wait for it: ranks 0, 1, 3", 110), 0);
	CHECK_EQ(strncmp(said(kill_all), "The job hangs: ranks 0, 1, 3 wait", 33), 0);
}

TEST(ranks_in_different_collectives)
{
	CHECK_HAS(said(call_other), "Collective number 31 of group world is all_reduce in ranks 0, 2, 3 and barrier in rank 1: ");
}

TEST(summaries_of_different_times)
{
	const char *text = said(write_before);

	CHECK_HAS(text, "The job hangs: ranks 0, 1, 2 wait in all_reduce, number 31");
	CHECK_HAS(text, "What rank 3 does is not known: its summary is 40.0 s older, and the others began to wait after it.");
}

CHECK_MAIN
