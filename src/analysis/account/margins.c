/*
 * For how long the thread was in each state in the iterations of a class; see margins.h.
 *
 * The kernel's readings are at the begin and end of steps, at most every 10 ms: a long iteration has readings of its
 * own, short ones share one. What a reading says of both slow and steady iterations says nothing of either. The CPU
 * time of the process is exact for each step, and the thread's if no other one works.
 */
#include <math.h>

#include "account/margins.h"
#include "model/steps/usage.h"

#define OWN DW_ACCOUNT_MOST /* of a reading, in an iteration: then it is its own; of a class, in such readings: then these bound it */

struct margins_of {
	const struct dw_model *model;
	const struct dw_account *to;
};

/* What the kernel says of iterations with readings of their own. */
struct margins_sums {
	double ns, own_ns; /* of all iterations of the class; in readings of their own */
	double cpu_ns, delay_ns;
};

/* Adds the readings that are a time's own. */
static void margins_add_readings(const struct margins_of *of, uint64_t start, uint64_t end,
                                 struct margins_sums *sums)
{
	const struct dw_source *source = dw_model_source(of->model);
	uint32_t thread = of->to->thread;
	const struct dw_source_clock *clock = &source->files[source->processes[source->threads[thread].process].file].clock;

	for (size_t i = dw_usage_first(source, thread, start); i < source->usage_count; i++) {
		const struct dw_source_usage *at = &source->usages[i];
		uint64_t from = at->start_ticks > start ? at->start_ticks : start,
				 to = at->end_ticks < end ? at->end_ticks : end;
		double part;

		if (at->thread != thread || from >= to)
			break;
		part = (double)(to - from) / (double)(at->end_ticks - at->start_ticks);
		if (part < OWN)
			continue;
		sums->own_ns += (double)dw_source_span_ns(clock, to - from);
		sums->cpu_ns += part * (double)at->cpu_ns;
		sums->delay_ns += part * (double)at->delay_ns;
	}
}

/* Adds an iteration, which ends at end_ns. */
static void margins_add(const struct margins_of *of, const struct dw_step *step, uint64_t end_ns,
                        struct margins_sums *sums)
{
	const struct dw_source *source = dw_model_source(of->model);
	const struct dw_source_clock *clock =
		&source->files[source->processes[source->threads[step->thread].process].file].clock;
	uint64_t start = dw_source_ticks(clock, step->start_ns), middle = dw_source_ticks(clock, step->end_ns);
	struct dw_usage_of usage = dw_usage_between(of->model, step->thread, start, middle);

	sums->ns += (double)(end_ns - step->start_ns);
	if (usage.delay_known && dw_usage_take_cpu(&usage, step->cpu_ns, step->end_ns - step->start_ns)) {
		sums->own_ns += usage.wall_ns;
		sums->cpu_ns += usage.cpu_ns;
		sums->delay_ns += usage.delay_ns;
		start = middle;
	}
	margins_add_readings(of, start, dw_source_ticks(clock, end_ns), sums);
}

static void margins_put(const struct margins_of *of, const struct margins_sums *sums, double per_cpu,
                        struct dw_account_margins *margins, double ns)
{
	double scale = ns / fmax(1, sums->own_ns), taken_ns = sums->cpu_ns * (per_cpu - 1);

	margins->known = of->to->known && ns > 0 && sums->own_ns >= OWN * sums->ns;
	margins->ns = ns;
	margins->state_ns[DW_ACCOUNT_RUNS] = fmin(ns, sums->cpu_ns * scale);
	margins->state_ns[DW_ACCOUNT_NO_CPU] =
		fmin(ns - margins->state_ns[DW_ACCOUNT_RUNS], (sums->delay_ns + taken_ns) * scale);
	margins->state_ns[of->to->waits_known ? DW_ACCOUNT_WAITS : DW_ACCOUNT_UNKNOWN] =
		ns - margins->state_ns[DW_ACCOUNT_RUNS] - margins->state_ns[DW_ACCOUNT_NO_CPU];
}

/* The classes together have no more of a state than the loop: what one has beyond that is in its other states. */
static void margins_limit(struct dw_account_margins *margins, double left_ns[DW_ACCOUNT_STATE_COUNT])
{
	double sum = 0;

	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		sum += margins->state_ns[state] = fmin(margins->state_ns[state], left_ns[state]);
	margins->known &= sum > 0;
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT && margins->known; state++) {
		margins->state_ns[state] *= margins->ns / sum;
		left_ns[state] = fmax(0, left_ns[state] - margins->state_ns[state]);
	}
}

void dw_account_find_margins(const struct dw_model *model, struct dw_account *to, const struct dw_steps *steps,
                             const struct dw_loop *loop, double per_cpu, struct dw_account_margins margins[DW_ITERATION_CLASSES])
{
	const struct margins_of of = { model, to };
	struct margins_sums sums[DW_ITERATION_CLASSES] = { { 0 } };
	double left_ns[DW_ACCOUNT_STATE_COUNT];

	for (size_t i = 0; i < loop->count; i++) {
		const struct dw_step *step = &steps->steps[loop->first_step + i];
		uint64_t end_ns = step->next_ns && i + 1 < loop->count ? step->next_ns : step->end_ns;

		if (step->class != DW_ITERATION_STEADY && end_ns > step->start_ns)
			margins_add(&of, step, end_ns, &sums[step->class]);
	}
	for (unsigned state = 0; state < DW_ACCOUNT_STATE_COUNT; state++)
		left_ns[state] = to->state_ns[state];
	for (unsigned class = DW_ITERATION_STEADY + 1; class < DW_ITERATION_CLASSES; class++) {
		margins_put(&of, &sums[class], per_cpu, &margins[class], to->classes[class].ns);
		if (margins[class].known)
			margins_limit(&margins[class], left_ns);
		to->classes[class].bounded = margins[class].known;
	}
}
