/*
 * The accounts of what a loop's thread does before its first iteration and after its last one; see account.h.
 *
 * No reading of the kernel's account begins with the thread. What the whole thread used is known, and what it used in
 * the loop. The rest is divided between start and end by samples. So the three accounts together do not contradict the
 * kernel.
 */
#include <math.h>
#include <stdlib.h>

#include "account/make.h"
#include "model/core/product.h"
#include "model/steps/iterations.h"
#include "model/steps/usage.h"

/* What the thread and its process used outside the loop. Negative: not known. */
struct ends_used {
	double cpu_ns, delay_ns, others_ns;
};

static const enum dw_sample_where wheres[2] = { DW_SAMPLE_OUTSIDE, DW_SAMPLE_AFTER };

static struct ends_used ends_find_used(struct dw_model *model, const struct dw_account *loop)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_source_thread *thread = &source->threads[loop->thread];
	double process_ns = dw_process_cpu_ns(source, thread->process),
		   delay_ns = dw_iterations_delay_ns(source, thread->process);
	struct ends_used used = { -1, -1, 0 };

	if (!loop->known || !thread->cpu_ns)
		return used;
	used.cpu_ns = fmax(0, (double)thread->cpu_ns - loop->state_ns[DW_ACCOUNT_RUNS] - loop->state_ns[DW_ACCOUNT_SPINS]);
	if (process_ns > 0)
		used.others_ns = fmax(0, process_ns - (double)thread->cpu_ns - loop->others_cpu_ns);
	if (delay_ns >= 0)
		used.delay_ns = fmax(0, delay_ns - loop->state_ns[DW_ACCOUNT_NO_CPU]);
	return used;
}

/* How much of a time that both ends used is the first one's: by samples, or without them by length. */
static double ends_first(const struct dw_samples *samples, const struct dw_account *loop, bool others,
                         const double wall_ns[2])
{
	double ns[2] = { 0 }, all = wall_ns[0] + wall_ns[1];

	for (size_t i = 0; i < samples->count; i++)
		for (unsigned end = 0; end < 2; end++)
			if ((samples->rows[i].thread == loop->thread) != others && samples->rows[i].where == wheres[end])
				ns[end] += (double)samples->rows[i].cpu_ns;
	return ns[0] + ns[1] > 0 ? ns[0] / (ns[0] + ns[1]) : all > 0 ? wall_ns[0] / all : 0;
}

/* Gives each end its part of a time. Neither can have more than `most_ns`. */
static void ends_share(double used_ns, double first, const double most_ns[2], double to[2])
{
	to[0] = fmin(most_ns[0], used_ns * first);
	to[1] = fmin(most_ns[1], used_ns - to[0]);
	to[0] = fmin(most_ns[0], used_ns - to[1]);
}

static void ends_put_states(struct dw_account *to, bool known, bool waits_known, double cpu_ns, double delay_ns,
                            double others_ns)
{
	to->known = known;
	to->waits_known = waits_known;
	to->own_ns = to->wall_ns - delay_ns;
	to->state_ns[DW_ACCOUNT_RUNS] = cpu_ns;
	to->state_ns[DW_ACCOUNT_NO_CPU] = delay_ns;
	to->state_ns[waits_known ? DW_ACCOUNT_WAITS : DW_ACCOUNT_UNKNOWN] = fmax(0, to->wall_ns - cpu_ns - delay_ns);
	to->others_cpu_ns = to->others_ns = others_ns;
}

static bool ends_make(struct dw_model *model, struct dw_account_run *run, const struct dw_account *loop,
                      const double wall_ns[2])
{
	struct ends_used used = ends_find_used(model, loop);
	struct dw_making making[2];
	double cpu_ns[2] = { 0 }, delay_ns[2] = { 0 }, rest_ns[2], others = 0;
	bool good = true;

	for (unsigned end = 0; end < 2; end++) {
		good &= dw_making_begin(&making[end], model, &run->ends[end], loop->thread, wall_ns[end], 1u << wheres[end]);
		dw_account_parts_add_rest(&making[end].parts, wheres[end], fmax(1, wall_ns[end]));
		good &= !making[end].parts.failed;
	}
	if (good) {
		ends_share(fmax(0, used.cpu_ns), ends_first(making->samples, loop, false, wall_ns), wall_ns, cpu_ns);
		others = ends_first(making->team, loop, true, wall_ns);
		for (unsigned end = 0; end < 2; end++)
			rest_ns[end] = wall_ns[end] - cpu_ns[end];
		ends_share(fmax(0, used.delay_ns), cpu_ns[0] / fmax(1, cpu_ns[0] + cpu_ns[1]), rest_ns, delay_ns);
	}
	for (unsigned end = 0; end < 2; end++) {
		if (good && wall_ns[end] > 0) {
			ends_put_states(&run->ends[end], used.cpu_ns >= 0, used.delay_ns >= 0, cpu_ns[end], delay_ns[end],
			                used.others_ns * (end ? 1 - others : others));
			dw_making_divide(&making[end]);
		}
		good &= dw_making_end(&making[end]);
	}
	return good;
}

static bool ends_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_account_run *run = result;
	const struct dw_iterated *iterated = dw_model_iterated(model, NULL);
	const struct dw_account *account = dw_account_of(model, NULL);
	const struct dw_source_process *process;
	const struct dw_steps *steps;
	const struct dw_loop *loop;
	double wall_ns[2];

	if (!iterated || !account)
		return false;
	if (account->thread == DW_NO_INDEX || dw_model_is_partial(model))
		return true;
	steps = dw_model_steps(iterated->model, NULL);
	loop = steps ? dw_making_loop(steps) : NULL;
	if (!loop || steps->summed_count)
		return steps != NULL;
	process =
		&dw_model_source(iterated->model)->processes[dw_model_source(iterated->model)->threads[loop->thread].process];
	wall_ns[0] = loop->start_ns > process->start_ns ? (double)(loop->start_ns - process->start_ns) : 0;
	wall_ns[1] = process->end_ns > loop->end_ns ? (double)(process->end_ns - loop->end_ns) : 0;
	run->wall_ns = wall_ns[0] + account->wall_ns + wall_ns[1];
	run->phases[DW_ACCOUNT_LOOP] = account;
	run->phases[DW_ACCOUNT_START] = &run->ends[0];
	run->phases[DW_ACCOUNT_END] = &run->ends[1];
	return ends_make(iterated->model, run, account, wall_ns);
}

static void ends_free(void *result)
{
	free(((struct dw_account_run *)result)->ends[0].cells);
	free(((struct dw_account_run *)result)->ends[1].cells);
}

const struct dw_account_run *dw_account_of_run(struct dw_model *model, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_account_run),
		                                       .compute = ends_compute,
		                                       .free = ends_free };

	return dw_product_get(model, &product, 0, NULL, error);
}
