/*
 * Steady steps: finds the warm-up and the outliers, and divides the steady steps into parts.
 *
 * The time for which a step waited for a CPU is subtracted from its length if it is known, because the load by other
 * programs changes. Outliers that recur are reported and also stay among the steady steps (model/steps/roles.h).
 *
 * Shares are computed from sums over the steady steps. So they add up to a step, and parts that do
 * not occur in each step count too (a batch that comes in every fourth step).
 */
#include <math.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "facts/parts.h"
#include "facts/work.h"

#define OTHERS_RUN 0.25 /* of the thread's CPU time: it may have waited for a thread that had no CPU, or spun */

/* ---- roles ----------------------------------------------------------------------------------- */

static double steady_length(const struct dw_step *step)
{
	return (double)(step->end_ns - step->start_ns);
}

size_t dw_facts_choose_steady(struct dw_facts_work *work)
{
	const struct dw_loop *loop = work->loop;
	uint8_t *roles = calloc(loop->count + 1, 1);
	size_t counted = 0, at = 0;
	const struct dw_steps *steps = work->steps;
	bool newest = steps->summed_count && loop->count && steps->summed_from < work->all[0].number;
	bool first = loop->count && work->all[0].counted &&
	             (work->all[0].number == 0 || (!dw_model_is_partial(work->model) && !newest));

	work->failed |= !roles;
	for (size_t i = 0; roles && i < loop->count; i++)
		if (work->all[i].counted)
			work->values[counted++] = fmax(0, steady_length(&work->all[i]) - dw_facts_delay(work, &work->all[i]));
	if (roles)
		dw_steps_find_roles(work->values, counted, first, roles, work->wholes);
	for (size_t i = 0; roles && i < loop->count; i++) {
		if (!work->all[i].counted)
			continue;
		work->roles[i] = roles[at++];
		if (work->roles[i] & DW_ROLE_STEADY)
			work->steady[work->steady_count++] = &work->all[i];
	}
	free(roles);
	return counted;
}

/* ---- warm-up and outliers ------------------------------------------------------------------- */

/* Means of the parts of the steps that are steady and not outliers. Returns their mean length. */
static double steady_usual(const struct dw_facts_work *work, double usual[DW_PART_COUNT], double *delay)
{
	double parts[DW_PART_COUNT], length = 0;
	size_t count = 0;

	*delay = 0;

	for (unsigned p = 0; p < DW_PART_COUNT; p++)
		usual[p] = 0;
	for (size_t i = 0; i < work->loop->count; i++) {
		if (work->roles[i] != DW_ROLE_STEADY)
			continue;
		length += dw_facts_divide_running(work, &work->all[i], parts);
		for (unsigned p = 0; p < DW_PART_COUNT; p++)
			usual[p] += parts[p];
		*delay += dw_facts_delay(work, &work->all[i]);
		count++;
	}
	for (unsigned p = 0; p < DW_PART_COUNT && count; p++)
		usual[p] /= (double)count;
	*delay /= count ? (double)count : 1;
	return count ? length / (double)count : 0;
}

/* What steps take beyond usual ones, without waits for a CPU. */
struct excess {
	double ns, parts[DW_PART_COUNT];
	double delay_ns;          /* besides: waiting for a CPU */
	double cpu_ns, others_ns; /* CPU time of the thread, and of the process's other threads */
	double slow_ns;           /* largest slow_extra_ns */
	uint32_t slow_symbol;
	size_t count;
};

/* Computes the time that the steps of a role took beyond usual steps. */
static struct excess steady_excess(const struct dw_facts_work *work, unsigned role)
{
	struct excess excess = { .slow_symbol = DW_NO_INDEX };
	double usual[DW_PART_COUNT], parts[DW_PART_COUNT], delay;
	double length = steady_usual(work, usual, &delay);

	for (size_t i = 0; i < work->loop->count; i++) {
		const struct dw_step *step = &work->all[i];

		if (!(work->roles[i] & role))
			continue;
		excess.count++;
		excess.ns += dw_facts_divide_running(work, step, parts) - length;
		excess.delay_ns += dw_facts_delay(work, step) - delay;
		excess.cpu_ns += work->usages[i].cpu_ns;
		excess.others_ns += work->usages[i].process_cpu_ns - work->usages[i].cpu_ns;
		for (unsigned p = 0; p < DW_PART_COUNT; p++)
			excess.parts[p] += parts[p] - usual[p];
		if (step->slow_symbol != DW_NO_INDEX && (double)step->slow_extra_ns > excess.slow_ns) {
			excess.slow_ns = (double)step->slow_extra_ns;
			excess.slow_symbol = step->slow_symbol;
		}
	}
	return excess;
}

/* The loop without what its steps waited for a CPU. */
static double steady_loop_ns(const struct dw_facts_work *work)
{
	double ns = work->loop_ns;

	for (size_t i = 0; i < work->loop->count; i++)
		ns -= dw_facts_delay(work, &work->all[i]);
	return ns;
}

static enum dw_part steady_largest(const double parts[DW_PART_COUNT])
{
	unsigned largest = 0;

	for (unsigned p = 1; p < DW_PART_COUNT; p++)
		if (parts[p] > parts[largest])
			largest = p;
	return (enum dw_part)largest;
}

static void steady_put_excess(struct dw_facts_work *work, enum dw_fact_id id, const struct excess *excess,
                              double whole_ns)
{
	struct dw_fact *fact;

	if (!(work->loop_ns > 0)) {
		dw_fact_miss(work, id, "only part of the run is in scope");
		return;
	}
	fact = dw_fact_set_share(work, id, fmax(0, excess->ns), whole_ns, excess->count);
	if (!excess->count)
		return;
	fact->note = dw_facts_part_name(steady_largest(excess->parts));
	if (excess->others_ns > OTHERS_RUN * excess->cpu_ns && excess->delay_ns > excess->ns) {
		fact->note = "no CPU";
		return;
	}
	if (excess->slow_ns >= 0.2 * excess->ns)
		dw_fact_name(work, fact, excess->slow_symbol);
}

bool dw_facts_one_thread_works(const struct dw_facts_work *work)
{
	double wall = 0, cpu = 0;

	for (size_t i = 0; i < work->loop->count; i++) {
		cpu += (double)work->all[i].cpu_ns;
		wall += steady_length(&work->all[i]);
	}
	return cpu > 0 && cpu <= (1 + DW_FACTS_TEAM) * wall;
}

#define LEAST 5u /* steps that come back; readings: a wait at the begin of a short loop is none of its short steps */

/* Slow iterations that come back are a phase of the loop: half of them come as many steps after the one before, and the others after
 * some times as many, where one between them was not slow. */
static void steady_put_recurrence(struct dw_facts_work *work)
{
	const struct dw_step_classes *classes = dw_model_step_classes(work->model, NULL);
	size_t count = 0, number = 0, last = 0, equal = 0, others = 0;
	double every;

	work->failed |= !classes;
	for (size_t i = 0; classes && i < work->source->step_count && number < work->loop->count; i++) {
		if (work->source->steps[i].thread != work->loop->thread)
			continue;
		number++;
		if (classes->at[i] != DW_ITERATION_SLOW)
			continue;
		if (last)
			work->values[count++] = (double)(number - last);
		last = number;
	}
	every = floor(dw_median(work->values, count));
	for (size_t i = 0; i < count; i++) {
		equal += work->values[i] == every;
		others += fmod(work->values[i], every) > 0;
	}
	if (count >= LEAST && every > 1 && equal * 2 >= count && !others)
		dw_fact_set(work, DW_FACT_STEP_RECURS, every, count);
	else
		dw_fact_miss(work, DW_FACT_STEP_RECURS, "slow iterations do not come at regular intervals");
}

static void steady_put_long_steps(struct dw_facts_work *work)
{
	struct excess warm_up = steady_excess(work, DW_ROLE_WARM_UP);
	struct excess outliers = steady_excess(work, DW_ROLE_OUTLIER);

	dw_fact_set(work, DW_FACT_STEP_WARM_UP, (double)warm_up.count, warm_up.count);
	steady_put_excess(work, DW_FACT_STEP_WARM_UP_EXCESS, &warm_up, steady_loop_ns(work));
	dw_fact_set(work, DW_FACT_STEP_OUTLIERS, (double)outliers.count, outliers.count);
	steady_put_excess(work, DW_FACT_STEP_OUTLIERS_EXCESS, &outliers, steady_loop_ns(work) * work->sampled);
	steady_put_recurrence(work);
}

/* ---- the steady steps ------------------------------------------------------------------------ */

/* What steps take beyond the median one. */
static void steady_put_above(struct dw_facts_work *work, double median)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < work->loop->count; i++) {
		if (!(work->roles[i] & (DW_ROLE_STEADY | DW_ROLE_OUTLIER)))
			continue;
		sum += fmax(0, steady_length(&work->all[i]) - median);
		count++;
	}
	dw_fact_set_share(work, DW_FACT_STEP_EXCESS, sum, work->loop_ns * work->sampled, count);
}

static void steady_put_lengths(struct dw_facts_work *work, size_t counted)
{
	size_t count = work->steady_count;
	double median;

	dw_fact_set(work, DW_FACT_STEP_COUNT, (double)(work->loop->count), work->loop->count);
	dw_fact_set(work, DW_FACT_STEP_COUNTED, (double)counted, counted);
	dw_fact_set(work, DW_FACT_STEP_STEADY, (double)count, count);
	for (size_t i = 0; i < count; i++)
		work->values[i] = steady_length(work->steady[i]);
	if (!count)
		return;
	median = dw_fact_set_median(work, DW_FACT_STEP_WALL, count)->value;
	/* The values are sorted now. */
	dw_fact_set_share(work, DW_FACT_STEP_SPREAD,
	                  work->values[(size_t)(0.95 * (double)(count - 1) + 0.5)] -
	                      work->values[(size_t)(0.05 * (double)(count - 1) + 0.5)],
	                  median, count);
	steady_put_above(work, median);
}

static void steady_put_mean(struct dw_facts_work *work)
{
	double sum = 0;
	size_t ended = 0;

	for (size_t i = 0; i < work->loop->count; i++)
		if (!work->all[i].open) {
			sum += steady_length(&work->all[i]);
			ended++;
		}
	if (!ended)
		return;
	dw_fact_set(work, DW_FACT_STEP_COUNT, (double)ended, ended);
	dw_fact_set(work, DW_FACT_STEP_MEAN, sum / (double)ended, ended);
}

static const char *steady_part_missing(const struct dw_facts_work *work, enum dw_part part)
{
	switch (part) {
	case DW_PART_LAYERS:
	case DW_PART_FUNCTIONS:
		return work->python ? "in a Python program it is part of step.python" : NULL;
	case DW_PART_PYTHON:
		return work->python ? NULL : "the program is not a Python program";
	case DW_PART_UNNAMED:
		return work->python ? "in a Python program it is part of step.python" : NULL;
	case DW_PART_IDLE:
		return work->cpu_known ? NULL : "the CPU time of the steps was not recorded: steps are too short";
	default:
		return NULL;
	}
}

static void steady_put_parts(struct dw_facts_work *work)
{
	double(*divided)[DW_PART_COUNT] = calloc(work->steady_count + 1, sizeof *divided);

	work->failed |= !divided;
	for (size_t i = 0; divided && i < work->steady_count; i++)
		work->wholes[i] = dw_facts_divide_running(work, work->steady[i], divided[i]);
	for (unsigned p = 0; divided && p < DW_PART_COUNT; p++) {
		enum dw_fact_id id = (enum dw_fact_id)(DW_FACT_STEP_PROFILER + p);
		const char *missing = steady_part_missing(work, (enum dw_part)p);

		if (missing) {
			dw_fact_miss(work, id, missing);
			continue;
		}
		for (size_t i = 0; i < work->steady_count; i++)
			work->values[i] = divided[i][p];
		dw_fact_set_blocks(work, id, work->steady_count);
	}
	free(divided);
}

/* Widens the intervals of idle and interpreter time if the steps' own delay is not known. A part of
 * the idle time may then be waiting for a CPU: at most the delay of the whole run. */
static void steady_widen_idle(struct dw_facts_work *work)
{
	const struct dw_fact *delay = &work->facts->at[DW_FACT_RUN_DELAY];
	struct dw_fact *idle = &work->facts->at[DW_FACT_STEP_IDLE];
	struct dw_fact *python = &work->facts->at[DW_FACT_STEP_PYTHON];
	double doubt;

	if (work->delay_known || !delay->measured || !idle->measured)
		return;
	doubt = fmin(delay->value, idle->value);
	idle->low = fmax(0, fmin(idle->low, idle->value - doubt));
	if (python->measured)
		python->high = fmin(1, fmax(python->high, python->value + doubt));
}

static void steady_put_wholes(struct dw_facts_work *work)
{
	static const enum dw_fact_id ids[DW_WHOLE_COUNT] = {
		DW_FACT_STEP_OPTIMIZER_ALL,
		DW_FACT_STEP_BACKWARD_ALL,
		DW_FACT_STEP_FORWARD_ALL,
	};

	for (unsigned w = 0; w < DW_WHOLE_COUNT; w++) {
		for (size_t i = 0; i < work->steady_count; i++)
			work->values[i] = (double)work->steady[i]->whole_ns[w];
		dw_fact_set_steps(work, ids[w]);
	}
}

/* Whether the account of the steps is their own: each has its CPU time, or they share several readings. */
static bool steady_has_readings(const struct dw_facts_work *work)
{
	size_t own = 0, readings = 0, last = SIZE_MAX;

	for (size_t i = 0; i < work->steady_count; i++) {
		const struct dw_usage_of *usage = &work->usages[work->steady[i] - work->all];

		own += work->steady[i]->cpu_ns > 0;
		readings += usage->known > 0 && usage->reading != last;
		last = usage->known > 0 ? usage->reading : last;
	}
	return own * 2 >= work->steady_count || readings >= LEAST || readings * 2 >= work->steady_count;
}

void dw_facts_of_steps(struct dw_facts_work *work)
{
	size_t counted = dw_facts_choose_steady(work), known = 0, delays = 0;
	bool readings = steady_has_readings(work);

	for (size_t i = 0; i < work->steady_count; i++) {
		const struct dw_usage_of *usage = &work->usages[work->steady[i] - work->all];

		known += dw_facts_unused(work, work->steady[i]) >= 0;
		delays += dw_usage_is_known(usage->known) && usage->delay_known;
	}
	work->cpu_known = readings && work->steady_count && known * 10 >= work->steady_count * 9;
	work->delay_known = readings && work->steady_count && delays * 10 >= work->steady_count * 9;
	steady_put_lengths(work, counted);
	steady_put_mean(work);
	steady_put_long_steps(work);
	if (!work->steady_count)
		return;
	steady_put_parts(work);
	dw_facts_of_named(work);
	steady_widen_idle(work);
	steady_put_wholes(work);
}
