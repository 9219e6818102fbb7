/*
 * Facts of what the loop's thread waits for, from samples: of waits, and of the CPU time that it spends waiting, in
 * loops that only another thread can end, at the barriers of a team, and in the C library's calls for files.
 */
#include <math.h>
#include <string.h>

#include "facts/samples_part.h"

#define ANY_WAIT UINT32_MAX

/* For how long the loop's thread waits in a part in functions of these activities. *samples: their number. */
static double waits_sampled_ns(const struct dw_facts_work *work, struct samples_part part, unsigned activities, double *samples)
{
	const struct dw_samples *waits = dw_model_wait_samples(work->model, NULL);
	double ns = 0;
	uint64_t count = 0;

	for (size_t i = 0; waits && i < waits->count; i++)
		if (dw_facts_sample_wanted(&part, &waits->rows[i]) && dw_activity_in(waits->rows[i].activity, activities)) {
			ns += (double)waits->rows[i].cpu_ns;
			count += waits->rows[i].count;
		}
	if (samples)
		*samples = (double)count;
	return count >= DW_FACTS_LEAST_WAITS ? ns : 0;
}

#define LEAST_SPUN 0.12 /* of the loop; with less, threads that share equal work only end at slightly different moments */
#define LEAST_MET 0.2 /* of the loop, at barriers; more than LEAST_SPUN, because a thread sleeps there and is woken late */
#define EXPLAINED (1u << DW_SHARE_DATA | 1u << DW_SHARE_COMMUNICATION | 1u << DW_SHARE_DEVICE | \
                   1u << DW_SHARE_CHECKPOINT | 1u << DW_SHARE_EVALUATION)

double dw_facts_waited_for_disks(const struct dw_facts_work *work, double *low)
{
	const struct samples_part loop = { work, true, true, ~EXPLAINED, DW_NO_INDEX };
	double samples = 0, share;

	if (!dw_source_has_samples(work->source) || !(work->loop_ns > 0))
		return *low = 0;
	share = fmin(1, waits_sampled_ns(work, loop, DW_ACTIVITY_SET(DISK), &samples) / work->loop_ns);
	*low = share * fmax(0, 1 - 1.96 / sqrt(fmax(1, samples)));
	return share;
}

double dw_facts_waited_for_locks(struct dw_facts_work *work, double *low)
{
	const struct samples_part loop = { work, true, true, ~EXPLAINED, DW_NO_INDEX };
	double share, samples, spun, met;

	*low = 0;
	if (!dw_source_has_samples(work->source) || !(work->loop_ns > 0))
		return 0;
	share = waits_sampled_ns(work, loop, DW_ACTIVITY_SET(LOCK), &samples) / work->loop_ns;
	*low = share * fmax(0, 1 - 1.96 / sqrt(fmax(1, samples)));
	spun = dw_facts_spun(work, DW_SPIN_OWN) / work->loop_ns;
	share += spun;
	*low += spun / 2;
	met = waits_sampled_ns(work, loop, DW_ACTIVITY_SET(BARRIER), NULL) / work->loop_ns;
	spun = dw_facts_spun(work, DW_SPIN_TEAM) / work->loop_ns + (met >= LEAST_MET ? met : 0);
	/* Another program may have the CPU of the thread that is waited for. */
	if (work->facts->at[DW_FACT_CPU_OTHERS].value >= DW_FACTS_OTHERS)
		spun = fmin(spun, dw_facts_team_late(work));
	if (spun >= LEAST_SPUN) {
		share += spun;
		*low += spun / 2;
	}
	return fmin(1, share);
}

/* ---- files ------------------------------------------------------------------------------------------ */

#define LEAST_OPENED 0.1 /* of the time in these calls: without it, they may read and write sockets */

/* Whether the program's function has called one for files. What a stream calls counts, too: making text takes longer than
 * writing it. */
static bool waits_is_of_files(const struct dw_facts_work *work, const struct dw_sample_row *row)
{
	return dw_facts_sample_in_library(work, row) && dw_sample_activities(work->source, row) & DW_ACTIVITIES_OF_FILES;
}

/* The same, and certainly not for a socket. */
static bool waits_opens(const struct dw_facts_work *work, const struct dw_sample_row *row)
{
	return dw_sample_activities(work->source, row) & (DW_ACTIVITY_SET(FILE) | DW_ACTIVITY_SET(DISK));
}

/* Names the function of the program that calls most of the waits of the loop's thread in functions of these activities; and most of the CPU time that `ran` counts as such waits, if it is not NULL. */
static void waits_name(struct dw_facts_work *work, struct dw_fact *fact, unsigned activities,
                       bool (*ran)(const struct dw_facts_work *work, const struct dw_sample_row *row))
{
	const struct dw_samples *of[2] = { dw_model_wait_samples(work->model, NULL), ran ? dw_model_samples(work->model, NULL) : NULL };
	const struct samples_part loop = { work, true, true, ~EXPLAINED, DW_NO_INDEX };
	const struct dw_source_function *most = NULL;
	double all = 0, named = 0, longest = 0;

	if (!fact->measured || fact->name)
		return;
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned kind = 0; kind < 2; kind++)
			for (size_t i = 0; of[kind] && i < of[kind]->count; i++) {
				const struct dw_sample_row *row = &of[kind]->rows[i];
				const struct dw_source_function *function;

				if (!dw_facts_sample_wanted((void *)&loop, row) ||
				    !(kind ? ran(work, row) : dw_activity_in(row->activity, activities)))
					continue;
				function = dw_sample_own_function(work->source, row, kind == 0);
				all += pass ? 0 : (double)row->cpu_ns;
				if (!pass && function && (double)row->cpu_ns > longest) {
					longest = (double)row->cpu_ns;
					most = function;
				}
				if (pass && function && most && strcmp(function->name, most->name) == 0)
					named += (double)row->cpu_ns;
			}
	if (!most || named < all / 2)
		return;
	dw_facts_name_sampled(work, fact, &(struct dw_hot_row){ .name = most->name, .file = most->file, .line = most->line });
}

double dw_facts_waited_between(const struct dw_facts_work *work)
{
	const struct samples_part between = { work, false, true, ~EXPLAINED, DW_NO_INDEX };

	return dw_source_has_samples(work->source) ? waits_sampled_ns(work, between, ANY_WAIT, NULL) : 0;
}

double dw_facts_ran_between(const struct dw_facts_work *work)
{
	const struct samples_part between = { work, false, true, UINT32_MAX, DW_NO_INDEX }, loop = { work, true, true, UINT32_MAX, DW_NO_INDEX };
	const struct dw_samples *samples = dw_source_has_samples(work->source) ? dw_model_samples(work->model, NULL) : NULL;
	uint64_t count = 0, weight = 0, squares = 0, there = 0;
	double share;

	for (size_t i = 0; samples && i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];

		if (!dw_facts_sample_wanted((void *)&loop, row))
			continue;
		count += row->count;
		weight += row->weight;
		squares += row->squares;
		there += dw_facts_sample_wanted((void *)&between, row) ? row->weight : 0;
	}
	share = (double)there / fmax(1, (double)weight);
	return count >= DW_FACTS_LEAST_SAMPLES ? fmin(1, share + dw_samples_error(share, weight, squares)) : 1;
}

#define MOST_OF_WAITS 0.75 /* lie in the named part: then it is named with them */

static void waits_put_named(struct dw_facts_work *work, struct samples_part named)
{
	const struct samples_part data = { work, true, true, 1u << DW_SHARE_DATA, DW_NO_INDEX },
	                          steps = { work, true, false, UINT32_MAX, DW_NO_INDEX };
	const struct dw_fact *facts = work->facts->at, *waiting = &facts[DW_FACT_CPU_WAITING];
	double steps_ns = facts[DW_FACT_LOOP_STEPS].value * work->loop_ns, in_it, elsewhere;
	struct dw_fact *fact;

	if (!(steps_ns > 0)) {
		dw_fact_miss(work, DW_FACT_STEP_NAMED_WAITING, "only part of the run is in scope");
		dw_fact_miss(work, DW_FACT_LOADER_THREADS, "only part of the run is in scope");
		return;
	}
	dw_fact_set_share(work, DW_FACT_LOADER_THREADS, waits_sampled_ns(work, data, DW_ACTIVITIES_OF_THREADS, NULL), work->loop_ns, 1);
	in_it = named.named == DW_NO_INDEX ? 0 : waits_sampled_ns(work, named, ANY_WAIT, NULL) / steps_ns;
	elsewhere = waits_sampled_ns(work, steps, ANY_WAIT, NULL) / steps_ns - in_it;
	fact = dw_fact_set(work, DW_FACT_STEP_NAMED_WAITING,
	                   fmin(facts[DW_FACT_STEP_NAMED_PART].value,
	                        fmax(in_it, waiting->measured ? waiting->value - elsewhere : 0)), 1);
	if (waiting->measured && fact->value > MOST_OF_WAITS * waiting->value)
		fact->name = facts[DW_FACT_STEP_NAMED_PART].name;
}

/* For how long the loop's thread runs in calls of libc for files. It opens and closes them, or uses a FILE; else 0. */
static double waits_files_ns(const struct dw_facts_work *work, const struct dw_samples *samples, struct samples_part part, uint64_t *count)
{
	double opened = 0, ns = 0;

	*count = 0;
	for (size_t i = 0; i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];

		if (!dw_facts_sample_wanted(&part, row) || !waits_is_of_files(work, row))
			continue;
		opened += waits_opens(work, row) ? (double)row->cpu_ns : 0;
		ns += (double)row->cpu_ns;
		*count += row->count;
	}
	return opened >= LEAST_OPENED * ns ? ns : 0;
}

/* For how long the thread spins in a part until another thread does something. */
static double waits_spun_ns(const struct dw_facts_work *work, const struct dw_samples *samples, struct samples_part part, uint64_t *count)
{
	double ns = 0;
	uint32_t within;

	*count = 0;
	for (size_t i = 0; i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];

		if (!dw_facts_sample_wanted(&part, row) || dw_sample_spins(work->source, row, &within) == DW_SPIN_NONE)
			continue;
		ns += (double)row->cpu_ns;
		*count += row->count;
	}
	return ns;
}

/* Adds CPU time of the named part that is a wait to its waits, if it is much of the part. `all`: of such waits in the loop. */
static void waits_add_named(struct dw_facts_work *work, double ns, uint64_t count, enum dw_fact_id all)
{
	const struct dw_fact *facts = work->facts->at, *part = &facts[DW_FACT_STEP_NAMED_PART];
	struct dw_fact *waiting = &work->facts->at[DW_FACT_STEP_NAMED_WAITING];
	double steps_ns = facts[DW_FACT_LOOP_STEPS].value * work->loop_ns, all_ns = facts[all].value * work->loop_ns;

	if (!waiting->measured || count < DW_FACTS_LEAST_SAMPLES || ns < DW_FACTS_LEAST_LOSS * part->value * steps_ns)
		return;
	waiting->value = fmin(part->value, waiting->value + ns / steps_ns);
	waiting->low = waiting->high = waiting->value;
	if (ns > MOST_OF_WAITS * all_ns)
		waiting->name = part->name;
}

/* Adds the CPU time of calls for files to the waits for them, and sets which part of the time in no range it is. */
static void waits_put_files(struct dw_facts_work *work, const struct dw_samples *samples, struct samples_part unnamed)
{
	const struct samples_part loop = { work, true, true, ~EXPLAINED, DW_NO_INDEX };
	struct dw_fact *wait = &work->facts->at[DW_FACT_WAIT_FILE], *rest = &work->facts->at[DW_FACT_STEP_UNNAMED];
	uint64_t count;
	double share = waits_files_ns(work, samples, loop, &count) / fmax(1, work->loop_ns), error = 1.96 * share / sqrt(fmax(1, (double)count));

	if (wait->measured && count >= DW_FACTS_LEAST_SAMPLES) {
		wait->value = fmin(1, wait->value + share);
		wait->low = fmin(1, wait->low + fmax(0, share - error));
		wait->high = fmin(1, wait->high + share + error);
	}
	share = waits_files_ns(work, samples, unnamed, &count) / fmax(1, rest->value * work->facts->at[DW_FACT_LOOP_STEPS].value * work->loop_ns);
	if (rest->measured && count >= DW_FACTS_LEAST_SAMPLES)
		dw_fact_set_share(work, DW_FACT_SAMPLES_FILES, fmin(1, share), 1, count);
	else
		dw_fact_miss(work, DW_FACT_SAMPLES_FILES, "fewer than 20 samples of call stacks lie there");
}

/* ---- all ----------------------------------------------------------------------------------------- */

void dw_facts_of_sampled_waits(struct dw_facts_work *work, const struct dw_samples *samples, struct samples_part unnamed,
                               struct samples_part named)
{
	struct dw_fact *facts = work->facts->at;
	uint64_t count;
	double ns;

	waits_put_named(work, named);
	if (work->python) {
		dw_fact_miss(work, DW_FACT_SAMPLES_FILES, "in a Python program it is part of step.python");
		return;
	}
	waits_put_files(work, samples, unnamed);
	if (named.named != DW_NO_INDEX) {
		ns = waits_files_ns(work, samples, named, &count);
		waits_add_named(work, ns, count, DW_FACT_WAIT_FILE);
		/* Other programs make teams uneven, which wait.lock leaves out. */
		ns = fmin(waits_spun_ns(work, samples, named, &count), facts[DW_FACT_WAIT_LOCK].value * work->loop_ns);
		waits_add_named(work, ns, count, DW_FACT_WAIT_LOCK);
	}
	waits_name(work, &facts[DW_FACT_WAIT_LOCK], DW_ACTIVITIES_OF_THREADS, dw_facts_team_waits);
	waits_name(work, &facts[DW_FACT_WAIT_FILE], DW_ACTIVITIES_OF_FILES, waits_is_of_files);
	waits_name(work, &facts[DW_FACT_WAIT_OTHER], ~DW_ACTIVITIES_OF_THREADS, NULL);
}
