/*
 * Facts of threads that share the work of a program's steps, from samples of call stacks: where only the loop's thread
 * works and the others of its team rest, and for how long it spins until they are ready.
 *
 * What other threads do is known by time only, so one sample says nothing: the CPU time of all threads while the loop's
 * thread is in a part of the step, divided by its own and its waits, is the number of CPUs that work there. Time in
 * OpenMP's runtime, or in a loop that only another thread can end, is no work. Programs in Python are left out: most of their steps are the interpreter's, which is one
 * thread.
 */
#include <stdlib.h>
#include <string.h>

#include "facts/work.h"

#define LEAST 20u       /* samples of the loop's thread in a part */
#define LEAST_PART 0.1  /* of the steps' CPU time: a smaller part shows no team */
#define LEAST_TEAM 1.5  /* CPUs that work in some part */
#define MOST_ALONE 0.67 /* of them, in a part where one thread works alone */

/* A part of the step: the ranges of one name, or all others of one share. */
struct team_part {
	uint64_t samples, weight; /* of the loop's thread, with its waits in functions of libc */
	double work;              /* weight of all threads, without what is in OpenMP's runtime */
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

static void team_add(const struct dw_facts_work *work, const struct dw_samples *samples, enum team_kind kind, size_t names,
                     struct team_part *parts)
{
	uint32_t process = work->source->threads[work->loop->thread].process;

	for (size_t i = 0; samples && i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];
		struct team_part *part;

		if (row->where != DW_SAMPLE_IN_STEP ||
		    (kind == TEAM_OTHERS ? work->source->threads[row->thread].process != process : row->thread != work->loop->thread))
			continue;
		part = &parts[row->share == DW_SHARE_NAMED && row->named != DW_NO_INDEX
		                  ? dw_model_symbol_row(work->model, row->named) : names + row->share];
		part->samples += kind == TEAM_LEADS ? row->count : 0;
		part->weight += kind == TEAM_OTHERS ? 0 : row->weight;
		part->work += kind == TEAM_WAITS || dw_facts_team_waits(work, row) ? 0 : (double)row->weight;
	}
}

double *dw_facts_team_cpus(struct dw_facts_work *work, double *most)
{
	struct team_part *parts;
	double all = 0, *cpus;
	size_t names;

	*most = 0;
	if (work->python)
		return NULL;
	dw_model_symbols(work->model, &names);
	parts = calloc(names + DW_SHARE_COUNT, sizeof *parts);
	cpus = calloc(names + 1, sizeof *cpus);
	work->failed |= !parts || !cpus;
	if (parts && cpus) {
		team_add(work, dw_model_samples(work->model, NULL), TEAM_LEADS, names, parts);
		team_add(work, dw_model_wait_samples(work->model, NULL), TEAM_WAITS, names, parts);
		team_add(work, dw_model_team_samples(work->model, NULL), TEAM_OTHERS, names, parts);
		for (size_t i = 0; i < names + DW_SHARE_COUNT; i++)
			all += (double)parts[i].weight;
		for (size_t i = 0; i < names + DW_SHARE_COUNT; i++) {
			double here = parts[i].samples >= LEAST ? parts[i].work / (double)parts[i].weight : 0;

			if ((double)parts[i].weight >= LEAST_PART * all && here > *most)
				*most = here;
			if (i < names)
				cpus[i] = here;
		}
	}
	free(parts);
	return cpus;
}

double dw_facts_team_rests(double cpus, double most)
{
	return most >= LEAST_TEAM && cpus > 0 && cpus < MOST_ALONE * most ? 1 - cpus / most : 0;
}
