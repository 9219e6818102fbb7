/*
 * Facts of ranks: which rank takes longest without communication, and why.
 *
 * Steps with the same number in different processes belong together. What a rank does between two steps
 * belongs to the second one: the others wait for it in that step. The work of a step is the time from the
 * end of the step before it to its end, without communication. In a step, a rank waits for others at most
 * as long as the work of the rank with the most work exceeds its own work.
 */
#include <math.h>

#include "base/numbers.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "model/collectives/collectives.h"

#define ONE_RANK "the trace has steps of only one process"

struct ranks {
	const struct dw_loop **loops;   /* one of each process: the one with the most steps */
	uint8_t **roles;
	size_t count;
};

static bool ranks_find(struct dw_facts_work *work, struct ranks *ranks)
{
	const struct dw_steps *steps = work->steps;

	ranks->loops = calloc(steps->thread_count + 1, sizeof *ranks->loops);
	for (size_t i = 0; ranks->loops && i < steps->thread_count; i++) {
		uint32_t process = work->source->threads[steps->loops[i].thread].process;
		size_t at = 0;

		while (at < ranks->count && work->source->threads[ranks->loops[at]->thread].process != process)
			at++;
		if (at == ranks->count)
			ranks->loops[ranks->count++] = &steps->loops[i];
		else if (steps->loops[i].count > ranks->loops[at]->count)
			ranks->loops[at] = &steps->loops[i];
	}
	return ranks->loops != NULL;
}

static const struct dw_step *ranks_step(const struct dw_facts_work *work, const struct dw_loop *loop, size_t i)
{
	const struct dw_step *step = i < loop->count ? &work->steps->steps[loop->first_step + i] : NULL;

	return step && step->counted ? step : NULL;
}

/* The length of the loop's step `i` with the time before it. */
static double ranks_length(const struct dw_facts_work *work, const struct dw_loop *loop, size_t i)
{
	const struct dw_step *step = &work->steps->steps[loop->first_step + i];
	uint64_t from_ns = i && step[-1].end_ns < step->start_ns ? step[-1].end_ns : step->start_ns;

	return (double)(step->end_ns - from_ns);
}

/* In the step and in the time before it. */
static double ranks_communication(const struct dw_step *step)
{
	return (double)(step->share_ns[DW_SHARE_COMMUNICATION] + step->before_ns);
}

static double ranks_work(const struct dw_facts_work *work, const struct dw_loop *loop, size_t i)
{
	const struct dw_step *step = &work->steps->steps[loop->first_step + i];

	return ranks_length(work, loop, i) - ranks_communication(step);
}

/* Sums over all ranks. */
struct last {
	size_t steps;
	size_t *times;        /* by rank: steps in which it worked longest */
	double *excess;       /* by rank: sum of its work beyond the median rank's */
	double wait, length;  /* of this loop's rank: the time that it waits, the length of its steps */
};

static void ranks_compare_step(const struct dw_facts_work *work, const struct ranks *ranks, size_t i,
                               struct last *last, double *works, double *sorted)
{
	size_t slowest = 0;
	double median, own = 0, length = 0, communication = 0;

	for (size_t r = 0; r < ranks->count; r++) {
		const struct dw_step *step = ranks_step(work, ranks->loops[r], i);

		if (!step)
			return;
		works[r] = sorted[r] = ranks_work(work, ranks->loops[r], i);
		if (works[r] > works[slowest])
			slowest = r;
		if (ranks->loops[r] == work->begun) {
			own = works[r];
			length = ranks_length(work, ranks->loops[r], i);
			communication = ranks_communication(step);
		}
	}
	median = dw_median(sorted, ranks->count);
	if (ranks->count == 2)
		median = sorted[0]; /* of two ranks, the one with less work */
	for (size_t r = 0; r < ranks->count; r++)
		last->excess[r] += works[r] - median;
	last->times[slowest]++;
	last->wait += fmin(communication, works[slowest] - own);
	last->length += length;
	last->steps++;
}

static bool ranks_have_step(const struct dw_facts_work *work, const struct ranks *ranks, size_t i)
{
	for (size_t r = 0; r < ranks->count; r++)
		if (!ranks_step(work, ranks->loops[r], i))
			return false;
	return true;
}

/* The part of the step in which this rank is slower than the other ranks by most. Each rank chooses for itself which
 * steps are recorded in full: only those that all ranks recorded are compared. */
static const char *ranks_part(const struct dw_facts_work *work, const struct ranks *ranks, size_t rank)
{
	double excess[DW_PART_COUNT] = { 0 };
	unsigned largest = 0;

	for (size_t i = 0; i < ranks->loops[0]->count; i++)
		for (size_t r = 0; ranks_have_step(work, ranks, i) && r < ranks->count; r++) {
			double weight = r == rank ? 1 : -1.0 / (double)(ranks->count - 1);
			double parts[DW_PART_COUNT];

			dw_facts_divide(work, ranks_step(work, ranks->loops[r], i), parts);
			for (unsigned p = 0; p < DW_PART_COUNT; p++)
				excess[p] += weight * parts[p];
		}
	for (unsigned p = 1; p < DW_PART_COUNT; p++)
		if (p != DW_PART_COMMUNICATION && excess[p] > excess[largest])
			largest = p;
	return dw_facts_part_name((enum dw_part)largest);
}

static void ranks_put(struct dw_facts_work *work, const struct ranks *ranks, const struct last *last)
{
	size_t slowest = 0;
	struct dw_fact *fact;
	int32_t rank;

	for (size_t r = 1; r < ranks->count; r++)
		if (last->times[r] > last->times[slowest])
			slowest = r;
	rank = work->source->processes[work->source->threads[ranks->loops[slowest]->thread].process].rank;
	fact = dw_fact_set(work, DW_FACT_COMM_LAST_RANK, rank >= 0 ? rank : (double)slowest, last->steps);
	fact->note = ranks_part(work, ranks, slowest);
	dw_fact_set_share(work, DW_FACT_COMM_LAST_RANK_SHARE, (double)last->times[slowest],
	                  (double)last->steps, last->steps);
	dw_fact_set_share(work, DW_FACT_COMM_LAST_RANK_EXCESS, last->excess[slowest], last->length, last->steps);
	dw_fact_set_share(work, DW_FACT_COMM_WAIT, last->wait, last->length, last->steps);
}

/* The largest share of communication over the loops, in the steps and between them. */
static void ranks_put_exposed(struct dw_facts_work *work, const struct ranks *ranks)
{
	const struct dw_fact *own = &work->facts->at[DW_FACT_STEP_COMMUNICATION];
	struct dw_fact *fact = &work->facts->at[DW_FACT_COMM_EXPOSED];

	if (!own->measured)
		return;
	*fact = *own;
	fact->value = fact->low = fact->high = 0;
	for (size_t r = 0; r < ranks->count; r++) {
		double part = 0, whole = 0;

		for (size_t i = 0; i < ranks->loops[r]->count; i++) {
			const struct dw_step *step = ranks_step(work, ranks->loops[r], i);

			part += step ? ranks_communication(step) : 0;
			whole += step ? ranks_length(work, ranks->loops[r], i) : 0;
		}
		if (whole > 0 && part / whole > fact->value)
			fact->value = fact->low = fact->high = part / whole;
	}
}

/* Which part of the time in numbered communication is in messages of two ranks. */
static void ranks_put_messages(struct dw_facts_work *work)
{
	const struct dw_collectives *all = dw_model_collectives(work->model, NULL);
	uint32_t process = work->source->threads[work->loop->thread].process;
	double messages = 0, sum = 0;

	work->failed |= !all;
	for (size_t i = 0; all && i < all->count; i++) {
		const struct dw_collective *one = &all->collectives[i];

		if (one->process != process || !one->sequence)
			continue;
		sum += (double)one->blocked_ns;
		messages += dw_group_is_pair(all->groups[one->group], NULL, NULL) ? (double)one->blocked_ns : 0;
	}
	if (sum > 0)
		dw_fact_set_share(work, DW_FACT_COMM_MESSAGES, messages, sum, work->loop->count);
}

void dw_facts_of_ranks(struct dw_facts_work *work)
{
	struct ranks ranks = { .count = 0 };
	struct last last = { .steps = 0 };
	double *works = NULL, *sorted = NULL;
	bool good = ranks_find(work, &ranks);

	ranks_put_messages(work);
	if (good)
		ranks_put_exposed(work, &ranks);
	if (good && ranks.count > 1) {
		last.times = calloc(ranks.count, sizeof *last.times);
		last.excess = calloc(ranks.count, sizeof *last.excess);
		works = calloc(ranks.count, sizeof *works);
		sorted = calloc(ranks.count, sizeof *sorted);
		good = last.times && last.excess && works && sorted;
		for (size_t i = 0; good && i < work->loop->count; i++)
			if (work->roles[i] & DW_ROLE_STEADY)
				ranks_compare_step(work, &ranks, i, &last, works, sorted);
		if (good && last.steps)
			ranks_put(work, &ranks, &last);
	}
	for (unsigned id = DW_FACT_COMM_WAIT; id <= DW_FACT_COMM_LAST_RANK_EXCESS; id++)
		if (!work->facts->at[id].measured)
			dw_fact_miss(work, (enum dw_fact_id)id, ONE_RANK);
	work->failed |= !good;
	free(ranks.loops);
	free(last.times);
	free(last.excess);
	free(works);
	free(sorted);
}
