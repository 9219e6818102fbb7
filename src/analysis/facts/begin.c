/* The begin and the end of what computes facts of a loop: which loop it is, and what is known of its steps. */
#include <math.h>
#include <string.h>

#include "base/free.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "model/steps/iterations.h"
#include "model/steps/step_usages.h"

/* The loop with the given number. Loops are numbered by descending count of steps. NULL: there is
 * none. */
static const struct dw_loop *begin_find_loop(const struct dw_steps *steps, size_t number)
{
	for (size_t i = 0; i < steps->thread_count; i++) {
		size_t before = 0;

		for (size_t k = 0; k < steps->thread_count; k++)
			before += steps->loops[k].count > steps->loops[i].count ||
			          (steps->loops[k].count == steps->loops[i].count && k < i);
		if (before == number)
			return &steps->loops[i];
	}
	return NULL;
}

/* Operators and layers of reduced steps are not known: sums of the others are divided by their part of the time. */
static double begin_sampled(const struct dw_facts_work *work)
{
	double all_ns = 0, reduced_ns = 0;

	for (size_t i = 0; i < work->loop->count; i++) {
		double ns = (double)(work->all[i].end_ns - work->all[i].start_ns);

		all_ns += ns;
		reduced_ns += work->all[i].reduced ? ns : 0;
	}
	return reduced_ns < all_ns ? 1 - reduced_ns / all_ns : 1;
}

static void begin_copy_usages(struct dw_facts_work *work)
{
	const struct dw_usage_of *usages = dw_model_step_usages(work->model, NULL);

	/* Without a reading all are zero, and the memory stays untouched. */
	work->all_usages = usages ? calloc(work->steps->count + 1, sizeof *usages) : NULL;
	if (!work->all_usages) {
		work->failed = true;
		return;
	}
	if (work->source->usage_count)
		memcpy(work->all_usages, usages, work->steps->count * sizeof *usages);
	work->usages = work->all_usages + work->loop->first_step;
	dw_facts_correct_usages(work);
}

static void begin_choose_loop(struct dw_facts_work *work, size_t number)
{
	const struct dw_steps *steps = work->steps;
	struct dw_machine_of machine;
	uint32_t process;

	work->facts->loop = number;
	work->facts->loop_count = steps->thread_count;
	work->begun = begin_find_loop(steps, number);
	if (!work->begun)
		return;
	work->ended = *work->begun;
	work->ended.count = work->begun->ended_count;
	work->loop = &work->ended;
	work->facts->thread = work->loop->thread;
	work->all = &steps->steps[work->loop->first_step];
	work->sampled = begin_sampled(work);
	machine = dw_machine_between(work->model, work->loop->start_ns, work->loop->end_ns);
	work->per_cpu_ns = dw_machine_per_cpu(&machine);
	begin_copy_usages(work);
	process = work->source->threads[work->loop->thread].process;
	work->python = work->source->processes[process].flags & DW_PROCESS_PYTHON;
	for (size_t i = 0; work->usages && i < work->loop->count; i++)
		work->switches_known |= work->usages[i].waits + work->usages[i].preemptions > 0;
	if (!dw_model_is_partial(work->model))
		work->loop_ns = (double)(work->loop->end_ns - work->loop->start_ns);
}

bool dw_facts_begin(struct dw_facts_work *work, struct dw_model *model, size_t loop, struct dw_facts *facts)
{
	static const struct dw_steps none;
	size_t count;
	const struct dw_iterated *iterations = dw_model_iterated(model, NULL);

	dw_facts_init(facts);
	*work = (struct dw_facts_work){ .facts = facts };
	if (!iterations)
		return false;
	model = iterations->model;
	work->model = model;
	work->source = dw_model_source(model);
	work->symbols = dw_model_symbols(model, NULL);
	facts->iterations = iterations->kind;
	facts->iteration_name = iterations->name;
	facts->one_process = iterations->one_process;
	facts->follows = iterations->follows;
	work->steps = work->source->step_count ? dw_model_steps(model, NULL) : &none;
	if (!work->steps)
		return false;
	begin_choose_loop(work, loop);
	count = work->loop ? work->loop->count : 0;
	return !work->failed && DW_NEW(&work->roles, count + 1) && DW_NEW(&work->steady, count + 1) &&
	       DW_NEW(&work->values, count + 1) && DW_NEW(&work->wholes, count + 1);
}

void dw_facts_end(struct dw_facts_work *work)
{
	free(work->all_usages);
	free(work->fast);
	free(work->roles);
	free(work->steady);
	free(work->values);
	free(work->wholes);
}
