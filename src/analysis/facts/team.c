/*
 * Facts of threads that share the work of a program's steps, from samples of call stacks: where only the loop's thread
 * works and the others of its team rest, and for how long it spins until they are ready.
 *
 * What other threads do is known by time only, so one sample says nothing: the CPU time of all threads while the loop's
 * thread is in a part of the step, divided by its own and its waits, is the number of CPUs that work there. Time in
 * OpenMP's runtime, or in a loop that only another thread can end, is no work. Other programs make waits longer, but not the
 * work: next to them, that of each thread is compared with that of the thread with most. Programs in Python are left out: most
 * of their steps are the interpreter's, which is one thread.
 *
 * The kernel checks timers of CPU time only every few milliseconds. A thread that works for a shorter time and then sleeps may
 * therefore be sampled later, while the loop's thread is in the next part. Samples then show more CPUs in that part than it has
 * threads. The surplus may belong to any other part.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "facts/work.h"

#define LEAST 20u       /* samples of the loop's thread in a part */
#define LEAST_PART 0.1  /* of the steps' CPU time: a smaller part shows no team */
#define LEAST_TEAM 1.5  /* CPUs that work in some part */
#define MOST_ALONE 0.70 /* of them, in a part where one thread works alone */

/* A part of the step: the ranges of one name, or all others of one share. */
struct team_part {
	uint64_t samples, weight; /* of the loop's thread, with its waits in functions of libc */
	double work;              /* weight of all threads, without what is in OpenMP's runtime */
	double own, most;         /* of it, that of the loop's thread, and of the thread with most */
	uint32_t threads;         /* how many threads work there */
};

/* The work of one thread in a part. */
struct team_work {
	uint32_t part, thread;
	uint64_t weight;
};

struct team {
	struct team_part *parts; /* by the row of a name, then by share */
	size_t names, count;
	struct team_work *works;
	size_t work_count;
};

bool dw_facts_team_waits(const struct dw_facts_work *work, const struct dw_sample_row *row)
{
	uint32_t within;

	return dw_sample_spins(work->source, row, &within) != DW_SPIN_NONE;
}

double dw_facts_spun(const struct dw_facts_work *work, enum dw_sample_spin kind)
{
	const struct dw_samples *samples = work->python ? NULL : dw_model_samples(work->model, NULL);
	uint64_t count = 0;
	uint32_t within;
	double ns = 0;

	for (size_t i = 0; samples && i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];

		if (row->thread == work->loop->thread && row->where != DW_SAMPLE_OUTSIDE &&
		    dw_sample_spins(work->source, row, &within) == kind) {
			count += row->count;
			ns += (double)row->cpu_ns;
		}
	}
	return count >= LEAST ? ns : 0;
}

enum team_kind { TEAM_LEADS, TEAM_WAITS, TEAM_OTHERS };

static void team_add(const struct dw_facts_work *work, const struct dw_samples *samples, enum team_kind kind, struct team *team)
{
	uint32_t process = work->source->threads[work->loop->thread].process;

	for (size_t i = 0; samples && i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];
		struct team_part *part;
		size_t at;

		if (row->where != DW_SAMPLE_IN_STEP ||
		    (kind == TEAM_OTHERS ? work->source->threads[row->thread].process != process : row->thread != work->loop->thread))
			continue;
		at = row->share == DW_SHARE_NAMED && row->named != DW_NO_INDEX ? dw_model_symbol_row(work->model, row->named)
		                                                               : team->names + row->share;
		part = &team->parts[at];
		part->samples += kind == TEAM_LEADS ? row->count : 0;
		part->weight += kind == TEAM_OTHERS ? 0 : row->weight;
		if (kind == TEAM_WAITS || dw_facts_team_waits(work, row))
			continue;
		part->work += (double)row->weight;
		part->own += kind == TEAM_LEADS ? (double)row->weight : 0;
		team->works[team->work_count++] = (struct team_work){ (uint32_t)at, row->thread, row->weight };
	}
}

DW_ORDER(team_compare, struct team_work, DW_UP(part) DW_UP(thread))

/* Counts the threads of each part, and finds the one with most work. */
static void team_find_most(struct team *team)
{
	double sum = 0;

	qsort(team->works, team->work_count, sizeof *team->works, team_compare);
	for (size_t i = 0; i < team->work_count; i++) {
		const struct team_work *work = &team->works[i];
		struct team_part *part = &team->parts[work->part];

		bool again = i && team_compare(work, work - 1) == 0;

		sum = again ? sum + (double)work->weight : (double)work->weight;
		part->threads += !again;
		part->most = fmax(part->most, sum);
	}
}

/* False: out of memory, or a program in Python. Call team_reset() in any case. */
static bool team_make(struct dw_facts_work *work, struct team *team)
{
	const struct dw_samples *samples[] = { dw_model_samples(work->model, NULL), dw_model_wait_samples(work->model, NULL),
		                                   dw_model_team_samples(work->model, NULL) };
	size_t rows = 0;

	*team = (struct team){ 0 };
	if (work->python)
		return false;
	dw_model_symbols(work->model, &team->names);
	team->count = team->names + DW_SHARE_COUNT;
	for (unsigned kind = 0; kind < sizeof samples / sizeof *samples; kind++)
		rows += samples[kind] ? samples[kind]->count : 0;
	team->parts = calloc(team->count, sizeof *team->parts);
	team->works = calloc(rows + 1, sizeof *team->works);
	work->failed |= !team->parts || !team->works;
	if (!team->parts || !team->works)
		return false;
	for (unsigned kind = 0; kind < sizeof samples / sizeof *samples; kind++)
		team_add(work, samples[kind], kind, team);
	team_find_most(team);
	return true;
}

static void team_reset(struct team *team)
{
	free(team->parts);
	free(team->works);
}

/* How many CPUs work in a part. Other programs take CPUs away, so that threads wait for each other longer: then as many as
 * the thread with most work there has others beside it, by their work. */
static double team_cpus(const struct dw_facts_work *work, const struct team_part *part, double late)
{
	if (part->samples < LEAST)
		return 0;
	return work->facts->at[DW_FACT_CPU_OTHERS].value >= DW_FACTS_OTHERS ? part->work / fmax(1, part->most)
	                                                               : (part->work + late) / (double)part->weight;
}

/* The surplus: work that samples show in parts beyond what the threads of these parts can do. */
static double team_late(const struct team *team)
{
	double late = 0;

	for (size_t i = 0; i < team->count; i++)
		late += fmax(0, team->parts[i].work - (double)team->parts[i].threads * (double)team->parts[i].weight);
	return late;
}

double *dw_facts_team_cpus(struct dw_facts_work *work, double *most)
{
	double all = 0, late = 0, *cpus = NULL;
	struct team team;

	*most = 0;
	if (team_make(work, &team)) {
		cpus = calloc(team.names + 1, sizeof *cpus);
		work->failed |= !cpus;
		late = team_late(&team);
	}
	for (size_t i = 0; cpus && i < team.count; i++)
		all += (double)team.parts[i].weight;
	for (size_t i = 0; cpus && i < team.count; i++) {
		if ((double)team.parts[i].weight >= LEAST_PART * all)
			*most = fmax(*most, fmin(team_cpus(work, &team.parts[i], 0), team.parts[i].threads));
		if (i < team.names)
			cpus[i] = team_cpus(work, &team.parts[i], late);
	}
	team_reset(&team);
	return cpus;
}

#define DEVIATIONS 1.96 /* of a count of samples: the ends of its 95% interval */

double dw_facts_team_late(struct dw_facts_work *work)
{
	double late = 0, all = 0;
	struct team team;

	if (team_make(work, &team))
		for (size_t i = 0; i < team.count; i++) {
			const struct team_part *part = &team.parts[i];

			late += fmax(0, part->most - part->own - DEVIATIONS * (sqrt(part->most) + sqrt(part->own)));
			all += part->most;
		}
	team_reset(&team);
	return late / fmax(1, all);
}

double dw_facts_team_rests(double cpus, double most)
{
	return most >= LEAST_TEAM && cpus > 0 && cpus < MOST_ALONE * most ? 1 - cpus / most : 0;
}
