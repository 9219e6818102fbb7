/* Jobs of many ranks and of weeks: what is found early, and that steps without a fault have no event. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "watch_job.h"
#include "watch/slow.h"

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
		CHECK_EQ(take(&job->watch, rank, job->now, false), true);
	}
	CHECK_EQ(dw_watch_end_look(&job->watch, large_say, job), true);
}

TEST(one_of_64_ranks_that_is_slower_by_5_percent_is_found_within_200_steps)
{
	static const unsigned steps[] = { 5, 10, 20, 25 };
	static struct large job;

	for (unsigned k = 0; k < 4; k++)
		for (unsigned seed = 1; seed <= (check_is_slow() ? 1u : 25u); seed++) {
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
	for (unsigned k = 0; k < (check_is_slow() ? 1u : 90u) * 2880; k++)
		large_look(&job, 20, -1, 0);
	if (job.events > 1)
		printf("%u events, the last one: %s\n", job.events, job.text);
	CHECK(job.events <= 1);
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

		for (size_t i = 0; i < (k == 2 && !check_is_slow() ? 864000 : 50000); i++) {
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
