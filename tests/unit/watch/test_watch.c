/* What is reported of a job whose summaries are made here, look by look. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "watch/slow.h"
#include "watch/watch.h"

enum { RANKS = 8 };

static const uint64_t second = 1000000000, start = UINT64_C(1800000000) * 1000000000;

struct job {
	struct dw_watch watch;
	struct dw_summary_rank ranks[RANKS];
	struct dw_summary_span spans[RANKS];
	struct dw_summary_bucket buckets[RANKS];
	uint64_t now;
	bool gone[RANKS], silent[RANKS];
	char said[2000]; /* "hang 2", "hang 2 over": of the last look */
	char text[400];  /* of the last event */
	unsigned events; /* of all looks */
};

static void say(void *context, const struct dw_watch_event *event)
{
	struct job *job = context;
	size_t length = strlen(job->said);

	job->events++;
	snprintf(job->text, sizeof job->text, "%s", event->text);
	if (length < sizeof job->said - 64)
		snprintf(job->said + length, sizeof job->said - length, "%s%s %d%s", length ? ", " : "",
		         dw_watch_kind_name(event->kind), event->watched->pid ? event->watched->rank : -1, event->over ? " over" : "");
}

static void make(struct job *job)
{
	*job = (struct job){ .now = start };
	for (int i = 0; i < RANKS; i++) {
		job->buckets[i] = (struct dw_summary_bucket){ (uint32_t)(26.575 - 8) * 4, 1 }; /* 100 ms */
		job->ranks[i] = (struct dw_summary_rank){ .job = "", .host = "a", .command = "", .rank = i,
			.pid = 100 + (uint32_t)i, .durations = &job->buckets[i], .duration_count = 1, .spans = &job->spans[i],
			.span_count = 1 };
	}
}

/* The rank did so many steps of `ms`, of which `wait_ms` are communication. */
static void step(struct job *job, int i, uint64_t steps, double ms, double wait_ms)
{
	struct dw_summary_rank *rank = &job->ranks[i];

	rank->steps += steps;
	rank->last_step = rank->steps;
	rank->ns += (uint64_t)((double)steps * ms * 1e6);
	job->spans[i].steps = rank->steps;
	job->spans[i].ns = rank->ns;
	job->spans[i].part_ns[DW_PART_COMMUNICATION] += (uint64_t)((double)steps * wait_ms * 1e6);
}

/* A look ten seconds later. Returns what it reports. */
static const char *look(struct job *job)
{
	job->now += 10 * second;
	*job->said = '\0';
	dw_watch_begin_look(&job->watch, job->now);
	for (int i = 0; i < RANKS; i++)
		if (!job->silent[i])
			CHECK_EQ(dw_watch_take(&job->watch, &job->ranks[i], job->now, job->gone[i]), true);
	CHECK_EQ(dw_watch_end_look(&job->watch, say, job), true);
	return job->said;
}

static const char *usual_look(struct job *job)
{
	for (int i = 0; i < RANKS; i++)
		step(job, i, 100, 100, 20);
	return look(job);
}

TEST(ranks_that_stop_hang_and_go_on)
{
	struct job job;

	make(&job);
	CHECK_STR(usual_look(&job), "");
	CHECK_STR(usual_look(&job), "");
	for (int i = 0; i < RANKS; i++)
		if (i != 2)
			step(&job, i, 100, 100, 20);
	CHECK_STR(look(&job), "hang 2");
	CHECK_STR(look(&job), "hang 0, hang 1, hang 3, hang 4, hang 5, hang 6, hang 7");
	CHECK_STR(look(&job), "");
	CHECK_HAS(usual_look(&job), "hang 0 over, hang 1 over");
	dw_watch_reset(&job.watch);
}

TEST(a_job_that_hangs_already_is_seen_at_the_first_look)
{
	struct job job;

	make(&job);
	for (int i = 0; i < RANKS; i++) {
		step(&job, i, 100, 100, 20);
		job.ranks[i].where_known = true;
		job.ranks[i].end_ns = start + 4 * second;
		job.ranks[i].silent_ns = 50 * second;
	}
	CHECK_HAS(look(&job), "hang 0, hang 1");
	CHECK_EQ(job.watch.ranks[0].written_ns - job.watch.ranks[0].moved_ns, 56 * second);
	dw_watch_reset(&job.watch);
}

/* A rank that asks again and again whether a collective has ended writes records all the time. */
TEST(a_rank_that_writes_records_while_it_waits_hangs_since_it_waits)
{
	struct dw_summary_open open[2] = { { "epoch", false, 500 * second, 0 }, { "all_reduce", true, 12 * second, 0 } };
	struct job job;

	make(&job);
	for (int i = 0; i < RANKS; i++) {
		step(&job, i, 100, 100, 20);
		job.ranks[i].where_known = true;
		job.ranks[i].silent_ns = 1000;
		job.ranks[i].open = open;
		job.ranks[i].open_count = 2;
		job.ranks[i].end_ns = start + 10 * second;
	}
	CHECK_HAS(look(&job), "hang 0, hang 1");
	CHECK_EQ(job.watch.ranks[0].written_ns - job.watch.ranks[0].moved_ns, 12 * second);
	dw_watch_reset(&job.watch);
}

TEST(a_process_that_ends_within_a_step_is_lost_and_one_that_ends_after_it_is_not)
{
	struct job job;

	make(&job);
	usual_look(&job);
	job.gone[1] = job.gone[5] = true;
	job.ranks[5].where_known = true;
	CHECK_STR(usual_look(&job), "lost 5");
	CHECK_STR(usual_look(&job), "");
	dw_watch_reset(&job.watch);
}

/* The last summary that dwell run writes has no memory of the process. */
TEST(processes_of_another_machine_that_ended_and_one_that_ended_within_a_step)
{
	struct job job;

	make(&job);
	for (int i = 0; i < RANKS; i++) {
		job.ranks[i].resident_bytes = 1000000;
		job.ranks[i].left_bytes = UINT64_C(4000000000);
		job.ranks[i].where_known = true;
		job.ranks[i].end_ns = job.now + 10 * second;
	}
	CHECK_STR(usual_look(&job), "");
	for (int i = 0; i < RANKS; i++)
		job.ranks[i].end_ns = job.now + 10 * second;
	job.ranks[1].resident_bytes = job.ranks[1].left_bytes = job.ranks[5].resident_bytes = job.ranks[5].left_bytes = 0;
	job.ranks[5].last_open = true;
	CHECK_STR(usual_look(&job), "lost 5");
	job.silent[1] = job.silent[5] = true;
	for (int k = 0; k < 10; k++) {
		for (int i = 0; i < RANKS; i++)
			job.ranks[i].end_ns = job.now + 10 * second;
		CHECK_STR(usual_look(&job), "");
	}
	dw_watch_reset(&job.watch);
}

/* Rank 3 is killed between two steps. The others end in the next step, or wait there; or (2) all ended after the same step. */
TEST(a_process_that_failed_is_lost_after_its_last_step_too)
{
	struct job job;

	make(&job);
	usual_look(&job);
	for (int i = 0; i < RANKS; i++)
		job.gone[i] = true;
	job.ranks[2].failed = DW_SUMMARY_SIGNAL + 9;
	job.ranks[4].failed = 3;
	CHECK_STR(look(&job), "lost 2, lost 4");
	CHECK_HAS(job.text, "its process ended after step 100, with exit status 3");
	CHECK_STR(look(&job), "");
	dw_watch_reset(&job.watch);
}

/* The file of another machine says that the process does not live. */
TEST(a_file_that_says_that_its_process_failed_is_a_lost_rank)
{
	struct job job;

	make(&job);
	usual_look(&job);
	job.ranks[2].failed = DW_SUMMARY_SIGNAL + 9;
	CHECK_STR(usual_look(&job), "lost 2");
	CHECK_HAS(job.text, "its process ended after step 200, by signal 9 (Killed)");
	dw_watch_reset(&job.watch);
}

TEST(a_process_that_ended_between_steps_is_lost_when_others_need_it)
{
	for (int ends = 0; ends < 3; ends++) {
		struct job job;

		make(&job);
		for (int i = 0; i < RANKS; i++)
			job.ranks[i].resident_bytes = job.ranks[i].left_bytes = UINT64_C(4000000000);
		usual_look(&job);
		usual_look(&job);
		job.ranks[3].resident_bytes = job.ranks[3].left_bytes = 0;
		for (int i = 0; i < RANKS; i++)
			if (ends == 2)
				step(&job, i, 100, 100, 20);
			else
				job.ranks[i].last_step += i != 3;
		CHECK_STR(look(&job), "");
		job.silent[3] = true;
		for (int i = 0; i < RANKS; i++)
			if (i != 3 && ends != 1) {
				job.ranks[i].resident_bytes = job.ranks[i].left_bytes = 0;
				job.ranks[i].last_open = !ends && i != 5;
			}
		if (ends == 1)
			CHECK_STR(look(&job), "hang 0, hang 1, hang 2, hang 4, hang 5, hang 6, hang 7, lost 3");
		else
			CHECK_STR(look(&job), ends ? "" : "lost 0, lost 1, lost 2, lost 3, lost 4, lost 6, lost 7");
		dw_watch_reset(&job.watch);
	}
}

/* The processes of these ranks end, as the caller sees; their files are not found any more. */
static void end_ranks(struct job *job, int from, int to)
{
	for (size_t i = 0; i < job->watch.count; i++)
		job->watch.ranks[i].gone |= job->watch.ranks[i].rank >= from && job->watch.ranks[i].rank < to;
	for (int i = from; i < to; i++)
		job->silent[i] = true;
}

/* These ranks have new processes, which count their steps from 0. */
static void start_ranks(struct job *job, int from, int to)
{
	for (int i = from; i < to; i++) {
		struct dw_summary_rank *rank = &job->ranks[i];

		job->silent[i] = false;
		job->spans[i] = (struct dw_summary_span){ .index = 0 };
		rank->pid += 1000;
		rank->steps = rank->last_step = rank->ns = 0;
	}
}

TEST(a_job_that_starts_again_with_the_same_ranks_has_no_event)
{
	struct job job;

	make(&job);
	for (int generation = 0; generation < 3; generation++) {
		for (int k = 0; k < 20; k++)
			CHECK_STR(usual_look(&job), "");
		end_ranks(&job, 0, RANKS);
		CHECK_STR(look(&job), "");
		start_ranks(&job, 0, RANKS);
	}
	CHECK_EQ(job.watch.count, 3 * RANKS);
	dw_watch_reset(&job.watch);
}

TEST(a_job_that_shrinks_and_grows_has_no_event)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 20; k++)
		CHECK_STR(usual_look(&job), "");
	end_ranks(&job, 4, RANKS);
	for (int k = 0; k < 20; k++)
		CHECK_STR(usual_look(&job), "");
	start_ranks(&job, 4, RANKS);
	for (int k = 0; k < 20; k++)
		CHECK_STR(usual_look(&job), "");
	for (int i = 0; i < RANKS; i++) /* and a hang is seen then as before */
		step(&job, i, i == 5 ? 0 : 100, 100, 20);
	CHECK_STR(look(&job), "hang 5");
	dw_watch_reset(&job.watch);
}

TEST(clocks_that_differ_by_minutes_make_no_hang_and_hide_none)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 30; k++) {
		for (int i = 0; i < RANKS; i++) {
			bool hangs = k >= 26 && i == 2;

			job.ranks[i].where_known = true;
			job.ranks[i].end_ns = job.now + 10 * second + (uint64_t)(i - 4) * (i % 2 ? 120 : 15) * second;
			job.ranks[i].silent_ns = hangs ? (uint64_t)(k - 25) * 10 * second : second / 10;
			step(&job, i, hangs ? 0 : 100, 100, 20);
		}
		CHECK_STR(look(&job), k == 26 ? "hang 2" : "");
	}
	dw_watch_reset(&job.watch);
}

TEST(a_folder_that_stalls_makes_no_hang_and_hides_none)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 40; k++) {
		/* The copies of look 10 come 20 seconds after they were made, and those meanwhile do not. */
		bool stalls = k == 8 || k == 9, late = k == 10, hangs = k >= 30;

		for (int i = 0; i < RANKS; i++) {
			job.silent[i] = stalls;
			job.ranks[i].where_known = job.ranks[i].followed = true;
			job.ranks[i].end_ns = job.now + (late ? 0 : 10) * second - (late ? 10 : 0) * second;
			job.ranks[i].silent_ns = hangs && i == 2 ? (uint64_t)(k - 29) * 10 * second : second / 10;
			if (!stalls)
				step(&job, i, late || (hangs && i == 2) ? 0 : 100, 100, 20);
		}
		CHECK_STR(look(&job), k == 30 ? "hang 2" : "");
	}
	dw_watch_reset(&job.watch);
}

TEST(a_file_that_is_not_written_any_more_is_a_lost_rank)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 9; k++)
		usual_look(&job);
	job.silent[3] = true;
	CHECK_STR(usual_look(&job), "");
	usual_look(&job);
	usual_look(&job);
	CHECK_STR(usual_look(&job), "lost 3");
	job.silent[3] = false;
	CHECK_HAS(usual_look(&job), "lost 3 over");
	usual_look(&job);
	job.silent[3] = true; /* the time in which it was lost is no usual time */
	for (int k = 0; k < 3; k++)
		CHECK_STR(usual_look(&job), "");
	CHECK_STR(usual_look(&job), "lost 3");
	dw_watch_reset(&job.watch);
}

TEST(a_rank_that_works_longer_is_slow_after_three_looks)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 6; k++) {
		for (int i = 0; i < RANKS; i++)
			step(&job, i, 60, 130, i == 6 ? 10 : 50); /* they wait for it */
		CHECK_STR(look(&job), k == 3 ? "slow 6" : ""); /* the first look has nothing to compare with */
	}
	CHECK_STR(usual_look(&job), "");
	CHECK_STR(usual_look(&job), "");
	CHECK_STR(usual_look(&job), "slow 6 over");
	dw_watch_reset(&job.watch);
}

TEST(steps_of_a_job_that_take_longer_than_before)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 10; k++)
		CHECK_STR(usual_look(&job), "");
	for (int k = 0; k < 4; k++) {
		for (int i = 0; i < RANKS; i++)
			step(&job, i, 40, 250, 20);
		CHECK_STR(look(&job), k == 2 ? "slower -1" : "");
	}
	CHECK_STR(usual_look(&job), "slower -1 over");
	dw_watch_reset(&job.watch);
}

/* Rank 3 takes 30 MB in each look, of 3 GB that its machine has left. */
TEST(memory_that_ends_within_an_hour)
{
	struct job job;
	uint64_t left = UINT64_C(3000000000);

	make(&job);
	for (int k = 0; k < 10; k++) {
		left -= 30000000;
		for (int i = 0; i < RANKS; i++) {
			job.ranks[i].resident_bytes = 1000000000 + (i == 3 ? UINT64_C(3000000000) - left : 0);
			job.ranks[i].left_bytes = left;
		}
		CHECK_STR(usual_look(&job), k == 7 ? "memory 3" : "");
	}
	for (int k = 0; k < 8; k++) /* nothing becomes less any more */
		CHECK_STR(usual_look(&job), k == 6 ? "memory 3 over" : "");
	dw_watch_reset(&job.watch);
}

/* Rank 3 takes 60 MB in each look, and other programs of the machine take and leave up to 400 MB. */
TEST(memory_that_a_rank_takes_while_that_of_the_machine_comes_and_goes)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 10; k++) {
		for (int i = 0; i < RANKS; i++) {
			job.ranks[i].resident_bytes = 1000000000 + (i == 3 ? (uint64_t)k * 60000000 : (uint64_t)(k % 3) * 1000000);
			job.ranks[i].left_bytes = UINT64_C(4000000000) - (uint64_t)k * 60000000 - (uint64_t)(k * 7 % 3) * 200000000;
		}
		CHECK_STR(usual_look(&job), k == 7 ? "memory 3" : "");
	}
	dw_watch_reset(&job.watch);
}

/* The trace is full: as many old steps leave its summary as new ones come. */
TEST(a_slow_rank_is_found_where_old_steps_are_lost)
{
	struct dw_summary_span spans[RANKS][4];
	struct job job;

	make(&job);
	for (uint64_t k = 0; k < 6; k++) {
		for (int i = 0; i < RANKS; i++) {
			for (uint64_t n = 0; n < 4; n++) {
				spans[i][n] = (struct dw_summary_span){ .index = 10 * k + n, .steps = 60, .ns = 60 * UINT64_C(130000000) };
				spans[i][n].part_ns[DW_PART_COMMUNICATION] = 60 * UINT64_C(1000000) * (i == 6 ? 10 : 50);
			}
			job.ranks[i].spans = spans[i];
			job.ranks[i].span_count = 4;
			job.ranks[i].steps = 240;
			job.ranks[i].ns = 240 * UINT64_C(130000000);
			job.ranks[i].last_step = 60 * (10 * k + 4);
		}
		CHECK_STR(look(&job), k == 3 ? "slow 6" : "");
	}
	dw_watch_reset(&job.watch);
}

/* While other programs use the machine, what a rank works differs by 30% from look to look. Rank 3 takes twice as long then. */
TEST(a_rank_that_takes_twice_as_long_after_noisy_looks_is_slow_within_six_looks)
{
	for (int seed = 0; seed < 20; seed++) {
		int found = 0, looks = 0;
		struct job job;

		make(&job);
		for (int k = 0; k < 4; k++) {
			for (int i = 0; i < RANKS; i++)
				step(&job, i, 60, 100 + (seed + k * 5 + i * 3) % 7 * 15, 10);
			look(&job);
		}
		for (; looks < 6 && !found; looks++) {
			for (int i = 0; i < RANKS; i++)
				step(&job, i, 60, 200, i == 3 ? 10 : 105 + (seed + i + looks) % 5);
			found = strcmp(look(&job), "slow 3") == 0;
		}
		CHECK(found);
		dw_watch_reset(&job.watch);
	}
}

static double uniform(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (double)(*state >> 11) / 9007199254740992.0;
}

/* Mean steps vary by 10% from look to look and rank to rank, and one look in 200 has a step of 4 seconds. What the
 * machine has left of its memory varies by 2%, and a rank's own memory by 20 MB. */
TEST(a_week_without_a_fault_has_no_event)
{
	static struct job job;
	uint64_t state = 7;

	make(&job);
	for (int k = 0; k < 7 * 8640; k++) {
		double more = uniform(&state) < 0.005 ? 40 : 0, all = 0.9 + 0.2 * uniform(&state);

		for (int i = 0; i < RANKS; i++) {
			job.ranks[i].resident_bytes = 1000000000 + (uint64_t)(20e6 * uniform(&state));
			job.ranks[i].left_bytes = (uint64_t)(5e9 * (0.98 + 0.02 * uniform(&state)));
			step(&job, i, 90, 100 * all * (0.95 + 0.1 * uniform(&state)) + more, 20 * uniform(&state));
		}
		look(&job);
	}
	CHECK_EQ(job.events, 0);
	dw_watch_reset(&job.watch);
}

/* Normal with mean 0 and deviation 1. */
static double normal(uint64_t *state)
{
	double sum = -6;

	for (int n = 0; n < 12; n++)
		sum += uniform(state);
	return sum;
}

/* A job whose ranks do `steps` steps between two looks. Each of the four parts of a step varies by 5%, and so a step by 3.2%.
 * Steps that follow each other are correlated by 0.3: the mean of n varies as that of n / 1.8. One step in a hundred takes
 * half as long again. Ranks differ by 0.3% for ever. */
struct large {
	struct dw_watch watch;
	struct dw_summary_rank ranks[64];
	struct dw_summary_span spans[64];
	struct dw_summary_bucket bucket;
	double constant[64], noise[64];
	unsigned count, events, right;
	int looked_for; /* the rank whose event is right */
	char text[400]; /* of the last event */
	uint64_t now, state;
};

static void large_say(void *context, const struct dw_watch_event *event)
{
	struct large *job = context;

	job->events += !event->over;
	job->right += event->watched->pid && event->watched->rank == job->looked_for;
	snprintf(job->text, sizeof job->text, "%s", event->text);
}

static void large_make(struct large *job, unsigned count, uint64_t seed)
{
	*job = (struct large){ .now = start, .count = count, .looked_for = -1, .state = seed, .bucket = { (26 - 8) * 4, 1 } };
	for (unsigned i = 0; i < count; i++) {
		job->constant[i] = 1 + 0.003 * normal(&job->state);
		job->ranks[i] = (struct dw_summary_rank){ .job = "", .host = "a", .command = "", .rank = (int32_t)i, .pid = 100 + i,
			.durations = &job->bucket, .duration_count = 1, .spans = &job->spans[i], .span_count = 1 };
	}
}

static void large_look(struct large *job, unsigned steps, int slow_rank, double slower)
{
	double work[64], longest = 0, root = sqrt(steps / 1.8);

	job->now += 10 * second;
	for (unsigned i = 0; i < job->count; i++) {
		unsigned long_steps = 0;

		for (unsigned k = 0; k < steps; k++)
			long_steps += uniform(&job->state) < 0.01;
		job->noise[i] = 0.05 * job->noise[i] + normal(&job->state);
		work[i] = 1e8 * job->constant[i] * (1 + 0.032 / root * job->noise[i] + 0.5 * long_steps / steps) *
		          ((int)i == slow_rank ? 1 + slower : 1);
		longest = fmax(longest, work[i]);
	}
	dw_watch_begin_look(&job->watch, job->now);
	for (unsigned i = 0; i < job->count; i++) {
		struct dw_summary_rank *rank = &job->ranks[i];

		rank->steps += steps;
		rank->last_step = rank->steps;
		rank->ns += (uint64_t)(steps * (longest + 1e6));
		job->spans[i].steps = rank->steps;
		job->spans[i].ns = rank->ns;
		job->spans[i].part_ns[DW_PART_COMMUNICATION] += (uint64_t)(steps * (longest + 1e6 - work[i]));
		CHECK_EQ(dw_watch_take(&job->watch, rank, job->now, false), true);
	}
	CHECK_EQ(dw_watch_end_look(&job->watch, large_say, job), true);
}

TEST(one_of_64_ranks_that_is_slower_by_5_percent_is_found_within_200_steps)
{
	static const unsigned steps[] = { 5, 10, 20, 25 };
	static struct large job;

	for (unsigned k = 0; k < 4; k++)
		for (unsigned seed = 1; seed <= (check_is_slow() ? 5u : 25u); seed++) {
			unsigned done = 0;

			large_make(&job, 64, seed * 977);
			job.looked_for = (int)(seed * 5 % 64);
			for (unsigned i = 0; i < 3; i++)
				large_look(&job, steps[k], -1, 0);
			for (; done < 200 && !job.right; done += steps[k])
				large_look(&job, steps[k], job.looked_for, 0.05);
			if (getenv("SHOW_SLOW"))
				printf("%u steps a look: found after %u\n", steps[k], job.right ? done : 9999);
			CHECK_EQ(job.right, 1);
			CHECK_EQ(job.events, 1);
			dw_watch_reset(&job.watch);
		}
}

/* Rank 7 writes its file when no other one does, and is stopped for 75 s. What that does to its work is no noise: afterwards a
 * rank that works 20% longer is found as soon as without it. */
TEST(a_rank_that_was_stopped_does_not_hide_a_slow_one)
{
	for (int stopped = 0; stopped < 2; stopped++) {
		int found = -1;
		struct job job;

		make(&job);
		for (int k = 0; k < 60; k++) {
			for (int i = 0; i < RANKS; i++) {
				job.silent[i] = k % 3 != (i == 7);
				if (!job.silent[i])
					step(&job, i, 50, 100 + (k % 2) + (i == 1 && k >= 30 ? 16 : 0) + (stopped && i == 7 && k == 16 ? 1500 : 0), 20);
			}
			if (strstr(look(&job), "slow 1") && found < 0)
				found = k;
		}
		CHECK_EQ(found, 36);
		dw_watch_reset(&job.watch);
	}
}

TEST(a_month_of_8_ranks_without_a_fault_has_at_most_one_event)
{
	static struct large job;

	large_make(&job, 8, 4711);
	for (unsigned k = 0; k < (check_is_slow() ? 2u : 30u) * 8640; k++)
		large_look(&job, 20, -1, 0);
	if (job.events > 1)
		printf("%u events, the last one: %s\n", job.events, job.text);
	CHECK(job.events <= 1);
	dw_watch_reset(&job.watch);
}

/* ---- what is read of a file ------------------------------------------------------------------------- */

static void glance_found(void *context, const struct dw_glance *glance)
{
	struct dw_glance *to = context;

	*to = *glance;
}

TEST(a_glance_at_a_file_sees_what_the_whole_summary_says)
{
	static struct dw_glance scratch, of_file, of_rank;
	struct dw_summary_span spans[3] = { { .index = 4, .steps = 2 }, { .index = 5, .steps = 2 }, { .index = 7, .steps = 1 } };
	struct dw_summary_bucket buckets[2] = { { 70, 3 }, { 75, 2 } };
	struct dw_summary_open open[2] = { { "step", false, 9, 0 }, { "eval", false, 5, DW_PAUSE_EVALUATION } };
	struct dw_summary_collective collectives[2] = { { .group = "world", .operation = "all_reduce", .last_sequence = 9, .open = true },
		{ .group = "pipe", .operation = "broadcast", .last_sequence = 4 } };
	struct dw_summary_name name = { "aten::mm", false, 5, 5000 };
	struct dw_summary_rank rank = { .job = "job", .host = "a", .command = "c", .rank = 3, .pid = 7, .steps = 5, .last_step = 15,
		.durations = buckets, .duration_count = 2, .span_log2 = 1, .spans = spans, .span_count = 3, .names = &name,
		.name_count = 1, .where_known = true, .end_ns = start, .silent_ns = 12, .open = open, .open_count = 2,
		.collectives = collectives, .collective_count = 2, .resident_bytes = 100, .left_bytes = 200, .cpu_ns = 300, .failed = 265, .followed = true,
		.unrecorded = &(struct dw_unrecorded){ .id = "nccl", .file = "libnccl.so", .why = "" }, .unrecorded_count = 1 };
	struct dw_summary summary = { .ranks = &rank, .count = 1 };
	struct dw_proto proto = { 0 };
	struct dw_glance_sum of_newest[2], sum[2];
	uint64_t newest[2];

	for (unsigned i = 0; i < 3; i++) {
		spans[i].part_ns[DW_PART_FORWARD] = 1000 * (i + 1);
		spans[i].part_ns[DW_PART_COMMUNICATION] = 77;
		spans[i].between_ns = 5;
		rank.ns += spans[i].ns = spans[i].longest_ns = 1000 * (i + 1) + 77;
	}
	dw_summary_encode(&summary, &proto);
	dw_glance_take(&of_rank, &rank);
	CHECK(dw_glance_read(&scratch, proto.bytes, proto.used, glance_found, &of_file));
	for (uint64_t from = 4; from < 9; from++) {
		sum[0] = dw_glance_sum(&of_file, from, &newest[0], &of_newest[0]);
		sum[1] = dw_glance_sum(&of_rank, from, &newest[1], &of_newest[1]);
		CHECK(memcmp(&sum[0], &sum[1], sizeof *sum) == 0);
		CHECK(memcmp(&of_newest[0], &of_newest[1], sizeof *sum) == 0);
		CHECK_EQ(newest[0], 7);
		CHECK_EQ(of_newest[0].work_ns, 3005);
		CHECK_EQ(of_newest[0].ns, 3077);
	}
	sum[0] = dw_glance_sum(&of_file, 5, &newest[0], &of_newest[0]);
	CHECK_EQ(sum[0].work_ns, 5010);
	CHECK_EQ(sum[0].steps, 3);
	of_rank.made = NULL;
	CHECK(memcmp(&of_file, &of_rank, offsetof(struct dw_glance, spans)) == 0);
	CHECK_STR(of_file.where, "in all_reduce of group world, number 9");
	CHECK_EQ(of_file.group_count, 2);
	CHECK_EQ(of_file.pause, DW_PAUSE_EVALUATION);
	CHECK_EQ(of_file.cpu_ns, 300);
	CHECK_EQ(of_file.failed, 265);
	CHECK(of_file.followed);
	CHECK(of_file.spins);
	for (size_t length = 0; length < proto.used; length++)
		if (length != 24)
			CHECK(!dw_glance_read(&scratch, proto.bytes, length, glance_found, &of_file));
	dw_proto_reset(&proto);
}

/* ---- hangs ------------------------------------------------------------------------------------------ */

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
static void hanging_write(struct hanging *one, uint64_t now, uint64_t since, uint64_t step_ns, bool culprit, unsigned place)
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

/* When dwell run writes a summary because no step begins (run_still.c), in ns after that: up to a second and a half late. */
static uint64_t hang_summary_after(uint64_t step_ns, uint64_t *seed, uint64_t limit_ns)
{
	double after = 1.1e10;

	while (after + 0.5e9 < (double)limit_ns || after < 2.5 * (double)step_ns)
		after *= 1.25;
	return (uint64_t)(after + 1.5e9 * uniform(seed));
}

/* After how many ns the culprit is named; 0: it is not, or another one is. `stopped`: its dwell run is stopped with it. */
static uint64_t hang_named_after(uint64_t seed, uint64_t every, uint64_t look_every, uint64_t step_ns, bool stopped)
{
	uint64_t limit_ns = 20 * step_ns > 10 * second ? 20 * step_ns : 10 * second;
	static struct hanging all[HANG_RANKS];
	uint64_t still[HANG_RANKS];
	struct dw_watch watch = { 0 };
	struct named named = { .culprit = (int)(uniform(&seed) * HANG_RANKS) };
	unsigned place = uniform(&seed) < 0.5;
	uint64_t since = start + 20 * every + 30 * step_ns + (uint64_t)(uniform(&seed) * 1e11), now = start;

	snprintf(named.want, sizeof named.want, stopped ? "rank %d on node%d wrote no summary" : "rank %d on node%d did not enter it",
	         named.culprit, named.culprit / 8);
	for (int i = 0; i < HANG_RANKS; i++) {
		static char hosts[HANG_RANKS][16];

		snprintf(hosts[i], sizeof hosts[i], "node%d", i / 8);
		still[i] = since + hang_summary_after(step_ns, &seed, limit_ns);
		all[i] = (struct hanging){ .next = start + 1 + (uint64_t)(uniform(&seed) * (double)every) };
		all[i].bucket = (struct dw_summary_bucket){ (uint32_t)((log2((double)step_ns) - 8) * 4), 1 };
		all[i].collective = (struct dw_summary_collective){ .group = "world", .operation = "all_reduce" };
		all[i].rank = (struct dw_summary_rank){ .job = "", .host = hosts[i], .command = "", .rank = i, .pid = 100 + (uint32_t)i,
			.durations = &all[i].bucket, .duration_count = 1, .spans = &all[i].span, .span_count = 1,
			.collectives = &all[i].collective, .collective_count = 1, .open = &all[i].open };
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
				dw_watch_take(&watch, &all[i].rank, written, false);
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

	for (unsigned k = 0; k < 4; k++) {
		bool stopped = k == 2;
		unsigned good = 0;

		for (uint64_t seed = 1; seed <= 100; seed++) {
			uint64_t step_ns = (uint64_t)(5e7 * exp2((double)(seed % 21) / 4)), limit = 20 * step_ns;
			uint64_t after = hang_named_after(seed * 7919, every[k] * second, 5 * second, step_ns, stopped);

			limit = limit > 10 * second ? limit : 10 * second;
			good += after && after <= 2 * limit;
			if (getenv("SHOW_HANGS"))
				printf("%u, step %.3g s: named after %.3g s, limit %.3g s\n", k, (double)step_ns / 1e9, (double)after / 1e9,
				       (double)limit / 1e9);
		}
		CHECK_EQ(good, 100);
	}
}

/* ---- long work without steps -------------------------------------------------------------------------- */

/* The ranks first do steps; then 20 looks follow in which no step ends. At each of these looks a rank is blocked and records
 * nothing, unless `fill` changes the summary of rank `i` at look `k`. `first`: makes the job; without it an earlier call's job
 * goes on. Returns the first look at which a rank hangs, or -1. */
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

static void pause_blocked(struct job *job, int i, int k) { pause_open(job, i, "evaluation", false, DW_PAUSE_EVALUATION); }

static void pause_lock(struct job *job, int i, int k) { }

static void pause_records(struct job *job, int i, int k) { job->ranks[i].silent_ns = second; }

static void pause_cpu(struct job *job, int i, int k) { job->ranks[i].cpu_ns += 9 * second; }

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
	static const struct { void (*fill)(struct job *, int, int); int first, last; } all[] = {
		{ pause_lock, 0, 1 }, { pause_blocked, 0, 1 }, { pause_collective, 0, 1 }, { pause_data, 0, 1 },
		{ pause_unrecorded, 0, 1 }, { pause_then_hangs, 5, 6 }, { pause_records, -1, -1 }, { pause_cpu, -1, -1 },
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

/* It is named the first time, when nothing says that it works. The second time comes as many steps later, the third one does not. */
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

/* Looks of a job that does steps, or stands still without a reason, at the place `name`. Returns whether rank 0 hangs. */
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

/* A month in which the job stands still for 70 s each 3,600 steps, more or less; each third time in another place. Three are
 * reported, until their distances are known. Once a day it hangs as long between two of them, at the place of the others. */
TEST(a_month_of_regular_pauses_has_no_event_but_the_first_ones_and_the_hangs)
{
	const unsigned days = check_is_slow() ? 3 : 30;
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

/* They came soon after each other, and the third one takes as long as usual. */
TEST(a_rank_is_not_lost_after_its_first_files)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 8; k++) {
		for (int i = 0; i < RANKS; i++)
			job.silent[i] = k >= 2 && k < 7;
		CHECK_STR(usual_look(&job), "");
	}
	dw_watch_reset(&job.watch);
}

/* The folder is full, so no summary is written for ten looks. This pause must not count as the usual time between two
 * summaries: a rank that is killed afterwards would be named later. */
TEST(a_killed_rank_is_lost_as_soon_after_the_folder_was_full)
{
	struct job job;

	make(&job);
	for (int k = 0; k < 40; k++) {
		for (int i = 0; i < RANKS; i++)
			job.silent[i] = (k >= 10 && k < 20) || (i == 3 && k >= 25);
		usual_look(&job);
		if (k == 24)
			job.events = 0;
		CHECK_EQ(strstr(job.said, "lost 3") && !strstr(job.said, "over"), k == 13 || k == 28);
	}
	CHECK_EQ(job.events, 1);
	dw_watch_reset(&job.watch);
}

/* A day of steps without a fault, ten a second, and parts of two others: lengths of a normal distribution, of which one in a hundred is half as long
 * again, as where other programs take a CPU now and then. */
TEST(steps_without_a_fault_are_not_slow)
{
	static double all[DW_SLOW_BEFORE], before[DW_SLOW_BEFORE];
	unsigned alarms[3] = { 0 };

	for (int k = 0; k < 3; k++) {
		const double deviation = (double[]){ 0.002, 0.05, 0.2 }[k];
		uint64_t state = 11 + (uint64_t)k;

		for (size_t i = 0; i < (k == 2 ? 864000 : 50000); i++) {
			double sum = -6, length;

			for (int n = 0; n < 12; n++)
				sum += uniform(&state); /* of mean 0 and deviation 1 */
			length = fmax(0.1, 1 + deviation * sum) * (uniform(&state) < 0.01 ? 1.5 : 1);
			memcpy(before, all, sizeof before);
			alarms[k] += dw_slow_is(length, before, i < DW_SLOW_BEFORE ? i : DW_SLOW_BEFORE);
			all[i % DW_SLOW_BEFORE] = length;
		}
	}
	for (int k = 0; k < 3; k++)
		CHECK(alarms[k] <= 1);
}

TEST(a_step_of_twice_the_usual_length_is_slow)
{
	double before[64];

	for (int k = 0; k < 4; k++) {
		for (size_t i = 0; i < 64; i++)
			before[i] = 10 + 0.1 * (double)(i % 7);
		CHECK_EQ(dw_slow_is((double[]){ 10.5, 20, 21, 300 }[k], before, 64), k >= 2);
	}
	CHECK(!dw_slow_is(300, before, DW_SLOW_LEAST - 1));
}

CHECK_MAIN
