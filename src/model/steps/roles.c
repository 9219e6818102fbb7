/* Roles of steps and classes of iterations; see roles.h. */
#include "model/steps/roles.h"

#include <math.h>
#include <stdlib.h>

#include "base/free.h"
#include "base/numbers.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/steps/usage.h"

#define LONG_RATIO 1.4
#define LONG_DEVIATIONS 6
#define MOST_LONG 0.22   /* part of the steps; if more are long, none is an outlier. Each fifth may be */
#define LEAST_CHANGED 20 /* long steps that follow each other */
#define MOST_CHANGED 0.8 /* of the steps between them and the loop's begin or end */
#define MOST_RARE 0.05   /* part of the steps; if more are outliers, they are steady steps too */
#define LEAST_STEPS 3u
#define MOST_WARM_UP 5u /* steps, or a tenth of the run if that is more */

/* ---- roles ----------------------------------------------------------------------------------- */

static double roles_find_bar(const double *lengths, size_t count, double *space)
{
	size_t from = count >= 8 ? count / 4 : 1, n = count - from;
	double median, deviation;

	for (size_t i = 0; i < n; i++)
		space[i] = lengths[from + i];
	median = dw_select_median(space, n);
	for (size_t i = 0; i < n; i++)
		space[i] = fabs(lengths[from + i] - median);
	deviation = 1.4826 * dw_select_median(space, n);
	return fmax(LONG_RATIO * median, median + LONG_DEVIATIONS * deviation);
}

/* The number of steps of the warm-up: at most a tenth of the run or MOST_WARM_UP, whichever is
 * more, and at most half of the run. A single usual step between long ones belongs to it. */
static size_t roles_count_warm_up(const double *lengths, size_t count, double bar)
{
	size_t most = count / 10 > MOST_WARM_UP ? count / 10 : MOST_WARM_UP, end = 0;

	if (most > (count + 1) / 2)
		most = (count + 1) / 2;
	for (size_t i = 0; i < most && i < end + 2; i++)
		if (lengths[i] > bar)
			end = i + 1;
	return end;
}

/* Whether the steps beyond the bar are nearly all of those from some step on, or up to one: then the steps change
 * there, and none of them is an outlier. A few single ones lie elsewhere. */
static bool roles_change(const double *lengths, size_t from, size_t count, double bar)
{
	size_t outliers = 0, seen = 0, first = count, last = from;

	for (size_t i = from; i < count; i++)
		outliers += lengths[i] > bar;
	for (size_t i = from; i < count; i++) {
		if (lengths[i] <= bar)
			continue;
		seen++;
		if (first == count && (double)seen >= (1 - MOST_CHANGED) / 2 * (double)outliers)
			first = i;
		if ((double)seen <= (1 + MOST_CHANGED) / 2 * (double)outliers)
			last = i + 1;
	}
	return outliers >= LEAST_CHANGED && ((double)outliers >= MOST_CHANGED * (double)(count - first) ||
	                                     (double)outliers >= MOST_CHANGED * (double)(last - from));
}

void dw_steps_find_roles(const double *lengths, size_t count, bool first, uint8_t *roles, double *space)
{
	double bar = count >= LEAST_STEPS ? roles_find_bar(lengths, count, space) : INFINITY;
	size_t warm_up = first && count >= LEAST_STEPS ? roles_count_warm_up(lengths, count, bar) : 0;
	size_t outliers = 0, rest = count - warm_up;
	bool rare;

	for (size_t i = warm_up; i < count; i++)
		outliers += lengths[i] > bar;
	if ((double)outliers > MOST_LONG * (double)rest || roles_change(lengths, warm_up, count, bar))
		bar = INFINITY;
	rare = (double)outliers <= MOST_RARE * (double)rest;
	for (size_t i = 0; i < count; i++) {
		bool outlier = i >= warm_up && lengths[i] > bar;

		roles[i] = i < warm_up ? DW_ROLE_WARM_UP
		           : !outlier  ? DW_ROLE_STEADY
		           : rare      ? DW_ROLE_OUTLIER
		                       : DW_ROLE_OUTLIER | DW_ROLE_STEADY;
	}
}

/* ---- classes of iterations ------------------------------------------------------------------- */

const char *dw_iteration_class_name(enum dw_iteration_class class)
{
	static const char *const names[DW_ITERATION_CLASSES] = { "steady", "warm-up", "slow" };

	return names[class];
}

/* The steps of one thread. */
struct roles_thread {
	const struct dw_model *model;
	uint32_t thread;
	size_t from, to; /* the source's steps of its process */
	size_t *steps;   /* indexes of the source's steps in scope that ended */
	size_t count;
	double *lengths, *owns, *space; /* `owns`: of the steps alone */
	uint8_t *roles;
};

/* For how long the thread had no CPU in a time of its file's clock. `cpu_ns`: of the process, if it is known exactly.
 */
static double roles_delay(const struct dw_model *model, uint32_t thread, uint64_t from_ticks, uint64_t to_ticks,
                          double length_ns, uint64_t cpu_ns)
{
	struct dw_usage_of usage = { .known = 0 };

	if (to_ticks > from_ticks)
		usage = dw_usage_between(model, thread, from_ticks, to_ticks);
	if (!(usage.wall_ns > 0) || !usage.delay_known)
		return 0;
	dw_usage_take_cpu(&usage, cpu_ns, (uint64_t)length_ns);
	return fmin(length_ns, usage.delay_ns * length_ns / usage.wall_ns);
}

/* The length of a step without the time for which the thread had no CPU. */
static double roles_measure(const struct dw_model *model, const struct dw_source_step *step)
{
	double step_ns = step->end_ns > step->start_ns ? (double)(step->end_ns - step->start_ns) : 0;

	return step_ns - roles_delay(model, step->thread, step->start_ticks, step->end_ticks, step_ns, step->cpu_ns);
}

/* The same of the time up to the thread's next step. */
static double roles_measure_after(const struct dw_model *model, const struct dw_source_step *step, const struct dw_source_step *next)
{
	double after_ns = next->start_ns > step->end_ns ? (double)(next->start_ns - step->end_ns) : 0;

	return after_ns - (after_ns > 0 ? roles_delay(model, step->thread, step->end_ticks, next->start_ticks, after_ns, 0) : 0);
}

/* Collects the steps of the thread and the lengths of their iterations. */
static void roles_collect(struct roles_thread *at)
{
	const struct dw_source *source = at->model->source;
	const struct dw_source_step *step = NULL;

	at->count = 0;
	for (size_t i = at->from; i < at->to; i++) {
		const struct dw_source_step *next = &source->steps[i];

		if (next->thread != at->thread)
			continue;
		if (step)
			at->lengths[at->count - 1] += roles_measure_after(at->model, step, next);
		step = NULL;
		if (!dw_model_has_step(at->model, next) || next->open)
			continue;
		at->owns[at->count] = at->lengths[at->count] = roles_measure(at->model, next);
		at->steps[at->count++] = i;
		step = next;
	}
}

/* Whether the first step in scope is the first one of the loop. */
static bool roles_begin_loop(const struct roles_thread *at)
{
	const struct dw_source *source = at->model->source;
	const struct dw_source_step *first = &source->steps[at->steps[0]];

	if (first->number == 0)
		return true;
	for (size_t i = 0; i < source->step_summary_count; i++)
		if (source->step_summaries[i].thread == at->thread &&
		    source->step_summaries[i].start_ticks < first->start_ticks)
			return false;
	return !at->model->intervals;
}

static void roles_classify(struct roles_thread *at, const struct dw_step_classes *classes)
{
	bool first;

	roles_collect(at);
	if (!at->count)
		return;
	first = roles_begin_loop(at);
	dw_steps_find_roles(at->lengths, at->count, first, at->roles, at->space);
	for (size_t i = 0; i < at->count; i++)
		classes->at[at->steps[i]] = at->roles[i] & DW_ROLE_WARM_UP   ? DW_ITERATION_WARM_UP
		                            : at->roles[i] & DW_ROLE_OUTLIER ? DW_ITERATION_SLOW
		                                                             : DW_ITERATION_STEADY;
	dw_steps_find_roles(at->owns, at->count, first, at->roles, at->space);
	for (size_t i = 0; i < at->count; i++)
		classes->roles[at->steps[i]] = at->roles[i];
}

/* Finds the steps of the process that step `i` is of. They follow each other. */
static void roles_find_process(struct roles_thread *at, size_t i)
{
	const struct dw_source *source = at->model->source;
	uint32_t process = source->threads[source->steps[i].thread].process;

	if (i < at->to)
		return;
	at->from = i;
	for (at->to = i; at->to < source->step_count && source->threads[source->steps[at->to].thread].process == process;)
		at->to++;
}

static bool step_classes_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_source *source = model->source;
	struct dw_step_classes *classes = result;
	struct roles_thread at = { .model = model };
	bool *done = calloc(source->thread_count + 1, sizeof *done);
	bool good = done && DW_NEW(&at.steps, source->step_count + 1) && DW_NEW(&at.lengths, source->step_count + 1) &&
	            DW_NEW(&at.owns, source->step_count + 1) && DW_NEW(&at.space, source->step_count + 1) &&
	            DW_NEW(&at.roles, source->step_count + 1);

	classes->at = dw_arena_alloc(&model->arena, source->step_count + 1);
	classes->roles = dw_arena_alloc(&model->arena, source->step_count + 1);
	good = good && classes->at && classes->roles;
	for (size_t i = 0; good && i < source->step_count; i++) {
		at.thread = source->steps[i].thread;
		roles_find_process(&at, i);
		if (!done[at.thread])
			roles_classify(&at, classes);
		done[at.thread] = true;
	}
	DW_FREE(at.steps, at.lengths, at.owns, at.space, at.roles, done);
	return good;
}

DW_PRODUCT(step_classes, struct dw_step_classes, step_classes_compute, NULL);

DW_PRODUCT_GETTER(step_classes, struct dw_step_classes)
