/* Jobs in which no step ends: ranks that hang, and ranks that work. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "watch_job.h"

enum { HANG_RANKS = 64 };

/* A rank's file: it is written every `every` ns, at a time of its own. */
struct hanging {
	struct dw_summary_rank rank;
	struct dw_summary_span span;
	struct dw_summary_bucket bucket;
	struct dw_summary_collective collective;
	struct dw_summary_open open;
	uint64_t next;
};

/* What a file says at `now` of a rank that hangs since `since`; the culprit did not come to collective 512. */
static void hanging_write(struct hanging *one, uint64_t now, uint64_t since, uint64_t step_ns, bool culprit,
                          unsigned place)
{
	bool hangs = now >= since;
	uint64_t done = (hangs ? since - start : now - start) / step_ns;

	one->rank.steps = done;
	one->rank.last_step = done + 1;
	one->rank.ns = one->span.ns = done * step_ns;
	one->span.steps = done;
	one->rank.where_known = true;
	one->rank.followed = place % 2;
	one->rank.end_ns = now;
	one->rank.silent_ns = hangs ? now - since : step_ns / 10;
	one->collective.last_sequence = done + (hangs && !culprit);
	one->collective.open = hangs && !culprit;
	one->open = (struct dw_summary_open){ culprit ? "data" : "all_reduce", !culprit, hangs ? now - since : 0, 0 };
	one->rank.open_count = hangs && !(culprit && place) ? 1 : 0;
}

/* Whether an event names the culprit, as the rank that did not come. */
struct named {
	char want[80];
	int culprit;
	bool found, wrong;
};

static void named_say(void *context, const struct dw_watch_event *event)
{
	struct named *named = context;

	if (event->kind != DW_WATCH_HANG || !event->watched->pid)
		return;
	if (strstr(event->text, "did not enter it") || strstr(event->text, "wrote no summary since then")) {
		named->found |= strstr(event->text, named->want) != NULL;
		named->wrong |= strstr(event->text, named->want) == NULL;
	} else if (strstr(event->text, "it did not enter all_reduce")) {
		named->found |= event->watched->rank == named->culprit;
		named->wrong |= event->watched->rank != named->culprit;
	} else {
		named->wrong |= event->watched->rank != named->culprit;
	}
}

/* When dwell run writes a summary because no step begins (rank/still.c), in ns after that: up to a second and a half
 * late. */
static uint64_t hang_summary_after(uint64_t step_ns, uint64_t *seed, uint64_t limit_ns)
{
	double after = 1.1e10;

	while (after + 0.5e9 < (double)limit_ns || after < 2.5 * (double)step_ns)
		after *= 1.25;
	return (uint64_t)(after + 1.5e9 * uniform(seed));
}

/* After how many ns the culprit is named; 0: it is not, or another one is. `stopped`: its dwell run is stopped with it.
 */
static uint64_t hang_named_after(uint64_t seed, uint64_t every, uint64_t look_every, uint64_t step_ns, bool stopped)
{
	uint64_t limit_ns = 20 * step_ns > 10 * second ? 20 * step_ns : 10 * second;
	static struct hanging all[HANG_RANKS];
	uint64_t still[HANG_RANKS];
	struct dw_watch watch = { 0 };
	struct named named = { .culprit = (int)(uniform(&seed) * HANG_RANKS) };
	unsigned place = uniform(&seed) < 0.5;
	uint64_t since = start + 20 * every + 30 * step_ns + (uint64_t)(uniform(&seed) * 1e11), now = start;

	snprintf(named.want, sizeof named.want,
	         stopped ? "rank %d on node%d wrote no summary" : "rank %d on node%d did not enter it", named.culprit,
	         named.culprit / 8);
	for (int i = 0; i < HANG_RANKS; i++) {
		static char hosts[HANG_RANKS][16];

		snprintf(hosts[i], sizeof hosts[i], "node%d", i / 8);
		still[i] = since + hang_summary_after(step_ns, &seed, limit_ns);
		all[i] = (struct hanging){ .next = start + 1 + (uint64_t)(uniform(&seed) * (double)every) };
		all[i].bucket = (struct dw_summary_bucket){ (uint32_t)((log2((double)step_ns) - 8) * 4), 1 };
		all[i].collective = (struct dw_summary_collective){ .group = "world", .operation = "all_reduce" };
		all[i].rank = (struct dw_summary_rank){ .job = "",
			                                    .host = hosts[i],
			                                    .command = "",
			                                    .rank = i,
			                                    .pid = 100 + (uint32_t)i,
			                                    .durations = &all[i].bucket,
			                                    .duration_count = 1,
			                                    .spans = &all[i].span,
			                                    .span_count = 1,
			                                    .collectives = &all[i].collective,
			                                    .collective_count = 1,
			                                    .open = &all[i].open };
	}
	while (!named.found && !named.wrong && now < since + 20 * every + 100 * step_ns) {
		now += look_every;
		dw_watch_begin_look(&watch, now);
		for (int i = 0; i < HANG_RANKS; i++) {
			uint64_t written = 0;

			for (; all[i].next <= now; all[i].next += every)
				if (!stopped || i != named.culprit || all[i].next < since)
					hanging_write(&all[i], written = all[i].next, since, step_ns, i == named.culprit, place);
			if (still[i] <= now && still[i] > written && (!stopped || i != named.culprit)) {
				hanging_write(&all[i], written = still[i], since, step_ns, i == named.culprit, place);
				still[i] = UINT64_MAX;
			}
			if (written)
				take(&watch, &all[i].rank, written, false);
		}
		dw_watch_end_look(&watch, named_say, &named);
	}
	dw_watch_reset(&watch);
	return named.found && !named.wrong && now > since ? now - since : 0;
}

/* Looks each 5 s. Steps take 50 ms to 2 s; the limit is 20 of them, and at least 10 s. */
TEST(of_100_hangs_each_names_the_rank_that_did_not_come_within_twice_the_limit)
{
	static const uint64_t every[] = { 5, 30, 30, 600 };
	const unsigned seeds = check_is_slow() ? 10 : 100;

	for (unsigned k = 0; k < 4; k++) {
		bool stopped = k == 2;
		unsigned good = 0;

		for (uint64_t seed = 1; seed <= seeds; seed++) {
			uint64_t step_ns = (uint64_t)(5e7 * exp2((double)(seed % 21) / 4)), limit = 20 * step_ns;
			uint64_t after = hang_named_after(seed * 7919, every[k] * second, 5 * second, step_ns, stopped);

			limit = limit > 10 * second ? limit : 10 * second;
			good += after && after <= 2 * limit;
			if (getenv("SHOW_HANGS"))
				printf("%u, step %.3g s: named after %.3g s, limit %.3g s\n", k, (double)step_ns / 1e9,
				       (double)after / 1e9, (double)limit / 1e9);
		}
		CHECK_EQ(good, seeds);
	}
}

/* ---- long work without steps -------------------------------------------------------------------------- */

/* The ranks first do steps; then 20 looks follow in which no step ends. At each of these looks a rank is blocked and
 * records nothing, unless `fill` changes the summary of rank `i` at look `k`. `first`: makes the job; without it an
 * earlier call's job goes on. Returns the first look at which a rank hangs, or -1. */
static int pause_looks(struct job *job, void (*fill)(struct job *job, int i, int k), bool first)
{
	int found = -1;

	if (first)
		make(job);
	for (int k = -4; k < 20; k++) {
		for (int i = 0; i < RANKS; i++) {
			struct dw_summary_rank *rank = &job->ranks[i];

			rank->where_known = true;
			rank->end_ns = job->now + 10 * second;
			rank->cpu_ns += (k < 0 ? 9 : 0) * second + 1;
			rank->silent_ns = k < 0 ? 1000 : (uint64_t)(k + 1) * 10 * second;
			rank->open_count = 0;
			if (k < 0)
				step(job, i, 100, 100, 20);
			else
				fill(job, i, k);
		}
		if (strstr(look(job), "hang") && !strstr(job->said, "over") && found < 0)
			found = k;
	}
	return found;
}

static void pause_open(struct job *job, int i, const char *name, bool communication, enum dw_summary_pause pause)
{
	static struct dw_summary_open open[RANKS];

	open[i] = (struct dw_summary_open){ name, communication, job->ranks[i].silent_ns, pause };
	job->ranks[i].open = &open[i];
	job->ranks[i].open_count = 1;
}

static void pause_blocked(struct job *job, int i, int k)
{
	pause_open(job, i, "evaluation", false, DW_PAUSE_EVALUATION);
}

static void pause_lock(struct job *job, int i, int k)
{
}

static void pause_records(struct job *job, int i, int k)
{
	job->ranks[i].silent_ns = second;
}

static void pause_cpu(struct job *job, int i, int k)
{
	job->ranks[i].cpu_ns += 9 * second;
}

static void pause_evaluates(struct job *job, int i, int k)
{
	pause_blocked(job, i, k);
	pause_cpu(job, i, k);
}

/* All spin in one collective. */
static void pause_collective(struct job *job, int i, int k)
{
	pause_cpu(job, i, k);
	pause_open(job, i, "all_reduce", true, DW_PAUSE_EVALUATION);
}

static void pause_data(struct job *job, int i, int k)
{
	pause_cpu(job, i, k);
	pause_open(job, i, "data", false, DW_PAUSE_NONE);
}

/* An endless loop, or work that is not recorded: it is named later. */
TEST(a_rank_that_computes_without_records_hangs_after_five_minutes)
{
	struct job job;

	CHECK_EQ(pause_looks(&job, pause_cpu, true), -1);
	for (int k = 20; k < 36; k++) {
		for (int i = 0; i < RANKS; i++) {
			job.ranks[i].end_ns += 10 * second;
			job.ranks[i].silent_ns += 10 * second;
			pause_cpu(&job, i, k);
		}
		CHECK_EQ(strstr(look(&job), "hang 0") != NULL, k == 29);
		if (k == 29)
			CHECK_HAS(job.text, "it computes: an endless loop, or work that is not recorded");
	}
	dw_watch_reset(&job.watch);
}

/* Rank 0 writes a checkpoint, and the others wait for it. */
static void pause_checkpoint(struct job *job, int i, int k)
{
	pause_open(job, i, i ? "barrier" : "torch.save", i, i ? DW_PAUSE_NONE : DW_PAUSE_CHECKPOINT);
}

/* Rank 0 evaluates, and records it; the others wait. */
static void pause_others_wait(struct job *job, int i, int k)
{
	if (i)
		pause_open(job, i, "barrier", true, DW_PAUSE_NONE);
	else
		pause_records(job, i, k);
}

/* The same, until rank 0 hangs from look 5 on. */
static void pause_then_hangs(struct job *job, int i, int k)
{
	pause_others_wait(job, i, k);
	if (!i && k >= 5)
		job->ranks[i].silent_ns = (uint64_t)(k - 4) * 10 * second;
}

static void pause_unrecorded(struct job *job, int i, int k)
{
	static struct dw_unrecorded nccl = { .id = "nccl", .why = "" };

	pause_cpu(job, i, k);
	job->ranks[i].unrecorded = &nccl;
	job->ranks[i].unrecorded_count = 1;
}

TEST(a_rank_without_steps_hangs_unless_it_works)
{
	static const struct {
		void (*fill)(struct job *, int, int);
		int first, last;
	} all[] = {
		{ pause_lock, 0, 1 },        { pause_blocked, 0, 1 },      { pause_collective, 0, 1 },    { pause_data, 0, 1 },
		{ pause_unrecorded, 0, 1 },  { pause_then_hangs, 5, 6 },   { pause_records, -1, -1 },     { pause_cpu, -1, -1 },
		{ pause_evaluates, -1, -1 }, { pause_checkpoint, -1, -1 }, { pause_others_wait, -1, -1 },
	};
	struct job job;

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		int found = pause_looks(&job, all[i].fill, true);

		if (found < all[i].first || found > all[i].last)
			printf("case %zu: look %d\n", i, found);
		CHECK(found >= all[i].first && found <= all[i].last);
		dw_watch_reset(&job.watch);
	}
}

/* Rank 0 went on, as its file says, and those of the others are old. */
TEST(ranks_that_waited_for_one_that_worked_do_not_hang_when_it_goes_on)
{
	struct job job;

	CHECK_EQ(pause_looks(&job, pause_others_wait, true), -1);
	for (int i = 1; i < RANKS; i++)
		job.silent[i] = true;
	for (int k = 0; k < 2; k++) {
		job.ranks[0].end_ns += 10 * second;
		step(&job, 0, 100, 100, 20);
		pause_open(&job, 0, "all_reduce", true, DW_PAUSE_NONE);
		CHECK_STR(look(&job), "");
	}
	dw_watch_reset(&job.watch);
}

/* It is named the first time, when nothing says that it works. The second time comes as many steps later, the third one
 * does not. */
TEST(what_took_as_long_before_is_no_hang)
{
	struct job job;

	CHECK(pause_looks(&job, pause_lock, true) >= 0);
	CHECK_EQ(pause_looks(&job, pause_lock, false), -1);
	for (int i = 0; i < RANKS; i++) {
		step(&job, i, 100, 100, 20);
		job.ranks[i].silent_ns = 0;
		job.ranks[i].end_ns += 10 * second;
	}
	look(&job);
	CHECK(pause_looks(&job, pause_lock, false) >= 0);
	CHECK(pause_looks(&job, pause_collective, false) >= 0);
	dw_watch_reset(&job.watch);
}

/* Looks of a job that does steps, or stands still without a reason, at the place `name`. Returns whether rank 0 hangs.
 */
static bool pause_go(struct job *job, int looks, bool stands, const char *name, uint64_t *state)
{
	bool found = false;

	for (int k = 0; k < looks; k++) {
		uint64_t steps = 98 + (uint64_t)(4 * uniform(state));

		for (int i = 0; i < RANKS; i++) {
			struct dw_summary_rank *rank = &job->ranks[i];

			rank->where_known = true;
			rank->end_ns = job->now + 10 * second;
			rank->cpu_ns += (stands ? 0 : 9) * second + 1;
			rank->silent_ns = stands ? rank->silent_ns + 10 * second : 0;
			rank->open_count = 0;
			if (!stands)
				step(job, i, steps, 100, 20);
			else if (name)
				pause_open(job, i, name, false, DW_PAUSE_NONE);
		}
		look(job);
		found |= strstr(job->said, "hang 0") && !strstr(job->said, "over");
	}
	return found;
}

/* The file of a rank that hangs is written earlier or later after the end of its recording, whose clock is measured
 * again. It has the same last record in all of them, works at times, and stood still before. */
TEST(a_hang_is_over_only_when_the_rank_records_something)
{
	for (int followed = 0; followed < 2; followed++) {
		struct job job;
		uint64_t state = 3;

		make(&job);
		CHECK(pause_looks(&job, pause_lock, true) >= 0);
		for (int k = 0; k < 60; k++) {
			for (int i = 0; i < RANKS; i++) {
				struct dw_summary_rank *rank = &job.ranks[i];
				uint64_t end = job.now + 6 * second + (uint64_t)(4e9 * uniform(&state)),
						 before = rank->end_ns - rank->silent_ns;

				rank->followed = followed;
				rank->cpu_ns += (k / 5 % 2 ? 9 : 0) * second + 1;
				rank->end_ns = end;
				rank->silent_ns = end - before - (uint64_t)(2e8 * (uniform(&state) - 0.5));
			}
			CHECK_STR(look(&job), "");
		}
		for (int i = 0; i < RANKS; i++)
			job.ranks[i].silent_ns = second;
		CHECK_HAS(look(&job), "hang 0 over, hang 1 over");
		dw_watch_reset(&job.watch);
	}
}

/* Rank 2 is in a barrier, and the others are in a broadcast of the same number; or its root has gone on from it. */
TEST(ranks_in_different_collectives_are_named_with_both)
{
	for (int goes_on = 0; goes_on < 2; goes_on++) {
		struct dw_summary_collective rows[RANKS][2];
		struct job job;

		make(&job);
		usual_look(&job);
		for (int i = 0; i < RANKS; i++) {
			rows[i][0] = (struct dw_summary_collective){ .group = "world",
				                                         .operation = i == 2 ? "barrier" : "broadcast",
				                                         .last_sequence = 31,
				                                         .open = i == 2 || !goes_on };
			rows[i][1] = (struct dw_summary_collective){ .group = "world",
				                                         .operation = "all_reduce",
				                                         .last_sequence = 30 + 2 * (i != 2 && goes_on),
				                                         .open = i != 2 && goes_on };
			job.ranks[i].where_known = true;
			job.ranks[i].end_ns = job.now + 10 * second;
			job.ranks[i].silent_ns = 50 * second;
			job.ranks[i].collectives = rows[i];
			job.ranks[i].collective_count = 2;
		}
		CHECK_HAS(look(&job), "hang 0");
		CHECK_HAS(job.text, "; collective number 31 is ");
		CHECK_HAS(job.text, "barrier in rank 2");
		CHECK_HAS(job.text, "broadcast in rank 0, 1, 3, 4, ...");
		dw_watch_reset(&job.watch);
	}
}

/* Rank 0 receives what rank 2 does not send, for as long as all others are in an all_reduce. */
TEST(a_rank_that_receives_what_nobody_sends_is_missing_in_the_collective_of_the_others)
{
	struct dw_summary_collective rows[RANKS][2];
	struct job job;

	make(&job);
	usual_look(&job);
	for (int i = 0; i < RANKS; i++) {
		rows[i][0] = (struct dw_summary_collective){ .group = "world", .operation = "all_reduce",
			                                         .last_sequence = 31 - !i, .open = i != 0 };
		rows[i][1] = (struct dw_summary_collective){ .group = "2 -> 0 of world", .operation = "MPI_Recv",
			                                         .last_sequence = 1, .open = true };
		job.ranks[i].where_known = true;
		job.ranks[i].end_ns = job.now + 10 * second;
		job.ranks[i].silent_ns = 50 * second;
		job.ranks[i].collectives = rows[i];
		job.ranks[i].collective_count = i == 0 ? 2 : 1;
	}
	CHECK_HAS(look(&job), "hang 0, hang 1");
	CHECK_HAS(job.text, "rank 0 on a did not enter it");
	dw_watch_reset(&job.watch);
}

/* A month in which the job stands still for 70 s each 3,600 steps, more or less; each third time in another place.
 * Three are reported, until their distances are known. Once a day it hangs as long between two of them, at the place of
 * the others. */
TEST(a_month_of_regular_pauses_has_no_event_but_the_first_ones_and_the_hangs)
{
	const unsigned days = check_is_slow() ? 1 : 30;
	unsigned pauses = 0, hangs = 0;
	uint64_t state = 5;
	struct job job;

	make(&job);
	for (unsigned k = 0; k < 24 * days; k++) {
		bool hangs_today = k % 24 == 20;

		pause_go(&job, hangs_today ? 13 : 36, false, NULL, &state);
		if (hangs_today) {
			hangs += pause_go(&job, 7, true, NULL, &state);
			pause_go(&job, 23, false, NULL, &state);
		}
		pauses += pause_go(&job, 7, true, k % 3 == 2 ? "upload" : NULL, &state);
	}
	CHECK(pauses <= 3);
	CHECK_EQ(hangs, days);
	dw_watch_reset(&job.watch);
}

CHECK_MAIN
