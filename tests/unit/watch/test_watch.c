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
	unsigned events; /* of all looks */
};

static void say(void *context, const struct dw_watch_event *event)
{
	struct job *job = context;
	size_t length = strlen(job->said);

	job->events++;
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
		job.ranks[i].end_ns = start;
		job.ranks[i].silent_ns = 50 * second;
	}
	CHECK_HAS(look(&job), "hang 0, hang 1");
	CHECK_EQ(job.watch.ranks[0].written_ns - job.watch.ranks[0].moved_ns, 60 * second);
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

TEST(a_file_that_is_not_written_any_more_is_a_lost_rank)
{
	struct job job;

	make(&job);
	usual_look(&job);
	usual_look(&job);
	job.silent[3] = true;
	CHECK_STR(usual_look(&job), "");
	usual_look(&job);
	usual_look(&job);
	CHECK_STR(usual_look(&job), "lost 3");
	job.silent[3] = false;
	CHECK_HAS(usual_look(&job), "lost 3 over");
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
