/*
 * How often the comparison of ranks is right: summaries of jobs with and without a slow rank.
 *
 *     simulate RUNS RANKS STEPS SLOWER NOISE BETWEEN CORRELATION [SINCE]
 *
 * RUNS jobs have a rank that is SLOWER percent of a step slower, in a part that is drawn; as many
 * have none. NOISE: standard deviation of each part of a step, in percent of the part. BETWEEN:
 * standard deviation of the constant difference between ranks, in percent. CORRELATION: of the
 * noise of a part in following steps (0: independent). SINCE: the step from which on it is slow (0). Prints how often the slow rank was found,
 * with the right part, its excess within 10%, and how often another rank was named. A rank that may be slow is named,
 * too. Exit status 1
 * if fewer than 99% are found, the part is right in fewer than 95% of them, or more than 1% of the
 * runs have a false alarm.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "ranks/ranks.h"

#define PARTS 4
static const enum dw_part simulated_parts[PARTS] = { DW_PART_DATA, DW_PART_FORWARD,
	                                                 DW_PART_BACKWARD, DW_PART_OPTIMIZER };
static const double simulated_ms[PARTS] = { 2, 10, 20, 3 };
#define WORK_MS 35.0
#define STEP_MS 36.0

static struct {
	unsigned ranks, steps, since;
	double slower, noise, between, correlation;
} job;

static struct {
	unsigned found, part, excess, false_alarms;
} counts;

static void simulate_rank(struct dw_summary *summary, unsigned number, int slow_part)
{
	struct dw_summary_rank *rank = &summary->ranks[number];
	double noises[PARTS] = { 0 }, between = 1 + job.between / 100 * normal();
	double fresh = sqrt(1 - job.correlation * job.correlation);

	*rank = (struct dw_summary_rank){ .job = "",
		                              .host = "",
		                              .command = "",
		                              .rank = (int32_t)number,
		                              .local_rank = -1,
		                              .world_size = -1,
		                              .steps = job.steps };
	rank->spans = dw_arena_alloc(&summary->arena, job.steps * sizeof *rank->spans);
	rank->span_count = job.steps;
	rank->last_step = job.steps - 1;
	for (unsigned s = 0; s < job.steps; s++) {
		struct dw_summary_span *span = &rank->spans[s];

		span->index = span->longest = s;
		span->steps = 1;
		for (int p = 0; p < PARTS; p++) {
			double ms;

			noises[p] = s ? job.correlation * noises[p] + fresh * normal() : normal();
			ms = simulated_ms[p] * between * fmax(0.1, 1 + job.noise / 100 * noises[p]);
			if (p == slow_part && s >= job.since)
				ms += STEP_MS * job.slower / 100;
			span->part_ns[simulated_parts[p]] = (uint64_t)(ms * 1e6);
			span->ns += (uint64_t)(ms * 1e6);
		}
		span->longest_ns = span->ns;
	}
}

/* All ranks leave a step together, 1 ms after the last one arrived. */
static void simulate_waits(struct dw_summary *summary)
{
	for (unsigned s = 0; s < job.steps; s++) {
		uint64_t last = 0;

		for (unsigned r = 0; r < job.ranks; r++)
			if (summary->ranks[r].spans[s].ns > last)
				last = summary->ranks[r].spans[s].ns;
		for (unsigned r = 0; r < job.ranks; r++) {
			struct dw_summary_span *span = &summary->ranks[r].spans[s];

			span->part_ns[DW_PART_COMMUNICATION] = last + 1000000 - span->ns;
			span->ns = span->longest_ns = last + 1000000;
		}
	}
}

static void simulate_count(const struct dw_ranks *ranks, unsigned slow_rank, int slow_part)
{
	double planted = STEP_MS * job.slower / 100 / WORK_MS;
	bool other = false;

	for (size_t i = 0; i < ranks->count; i++) {
		const struct dw_rank_result *result = &ranks->results[i];

		if (!result->slow && !result->may)
			continue;
		if (slow_part < 0 || i != slow_rank) {
			other = true;
			continue;
		}
		counts.found++;
		counts.part += result->part == simulated_parts[slow_part];
		counts.excess += fabs((result->by_part ? result->part_excess * STEP_MS / WORK_MS : result->excess) - planted) <= planted / 10;
	}
	counts.false_alarms += other;
}

static bool simulate_job(bool planted)
{
	struct dw_summary summary = { .count = job.ranks, .capacity = job.ranks };
	unsigned slow_rank = (unsigned)(uniform() * job.ranks);
	int slow_part = planted ? (int)(uniform() * PARTS) : -1;
	struct dwell_error error = { 0, "" };
	struct dw_ranks ranks;
	bool good;

	summary.ranks = calloc(job.ranks, sizeof *summary.ranks);
	if (!summary.ranks)
		return false;
	for (unsigned r = 0; r < job.ranks; r++)
		simulate_rank(&summary, r, r == slow_rank ? slow_part : -1);
	simulate_waits(&summary);
	good = dw_summary_finish(&summary, &error) && dw_ranks_compare(&ranks, &summary, &error);
	if (good) {
		simulate_count(&ranks, slow_rank, slow_part);
		dw_ranks_reset(&ranks);
	}
	dw_summary_reset(&summary);
	return good;
}

int main(int count, char **values)
{
	unsigned runs, wrong;

	if (count != 8 && count != 9) {
		fprintf(stderr, "usage: simulate RUNS RANKS STEPS SLOWER NOISE BETWEEN CORRELATION [SINCE]\n");
		return 2;
	}
	random_state = 20261122;
	runs = (unsigned)atoi(values[1]);
	job.ranks = (unsigned)atoi(values[2]);
	job.steps = (unsigned)atoi(values[3]);
	job.slower = atof(values[4]);
	job.noise = atof(values[5]);
	job.between = atof(values[6]);
	job.correlation = atof(values[7]);
	job.since = count > 8 ? (unsigned)atoi(values[8]) : 0;
	for (unsigned i = 0; i < 2 * runs; i++)
		if (!simulate_job(i % 2))
			return 2;
	wrong = counts.found * 100 < runs * 99 || counts.part * 100 < counts.found * 95 ||
	        counts.false_alarms * 100 > 2 * runs;
	printf("%u ranks, %u steps, %s%% slower, noise %s%%, between %s%%, correlation %s: "
	       "found %.1f%%, its part right %.1f%%, excess within 10%% %.1f%%, false alarms %.1f%%\n",
	       job.ranks, job.steps, values[4], values[5], values[6], values[7],
	       100.0 * counts.found / runs, counts.found ? 100.0 * counts.part / counts.found : 0,
	       counts.found ? 100.0 * counts.excess / counts.found : 0,
	       100.0 * counts.false_alarms / (2.0 * runs));
	return wrong;
}
