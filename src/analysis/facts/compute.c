/* Computes the facts of a loop, once for each loop of a model. */
#include <math.h>
#include <string.h>

#include "base/free.h"
#include "facts/parts.h"
#include "facts/work.h"
#include "model/core/product.h"
#include "model/steps/iterations.h"
#include "model/steps/step_usages.h"

/* The loop with the given number. Loops are numbered by descending count of steps. NULL: there is
 * none. */
static const struct dw_loop *facts_find_loop(const struct dw_steps *steps, size_t number)
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
static double facts_sampled(const struct dw_facts_work *work)
{
	double all_ns = 0, reduced_ns = 0;

	for (size_t i = 0; i < work->loop->count; i++) {
		double ns = (double)(work->all[i].end_ns - work->all[i].start_ns);

		all_ns += ns;
		reduced_ns += work->all[i].reduced ? ns : 0;
	}
	return reduced_ns < all_ns ? 1 - reduced_ns / all_ns : 1;
}

static void facts_copy_usages(struct dw_facts_work *work)
{
	const struct dw_usage_of *usages = dw_model_step_usages(work->model, NULL);

	work->all_usages = usages ? malloc((work->steps->count + 1) * sizeof *usages) : NULL;
	if (!work->all_usages) {
		work->failed = true;
		return;
	}
	memcpy(work->all_usages, usages, work->steps->count * sizeof *usages);
	work->usages = work->all_usages + work->loop->first_step;
	dw_facts_correct_usages(work);
}

static void facts_choose_loop(struct dw_facts_work *work, size_t number)
{
	const struct dw_steps *steps = work->steps;
	struct dw_machine_of machine;
	uint32_t process;

	work->facts->loop = number;
	work->facts->loop_count = steps->thread_count;
	work->loop = facts_find_loop(steps, number);
	if (!work->loop)
		return;
	work->facts->thread = work->loop->thread;
	work->all = &steps->steps[work->loop->first_step];
	work->sampled = facts_sampled(work);
	machine = dw_machine_between(work->model, work->loop->start_ns, work->loop->end_ns);
	work->per_cpu_ns = dw_machine_per_cpu(&machine);
	facts_copy_usages(work);
	process = work->source->threads[work->loop->thread].process;
	work->python = work->source->processes[process].flags & DW_PROCESS_PYTHON;
	for (size_t i = 0; work->usages && i < work->loop->count; i++)
		work->switches_known |= work->usages[i].waits + work->usages[i].preemptions > 0;
	if (!dw_model_is_partial(work->model))
		work->loop_ns = (double)(work->loop->end_ns - work->loop->start_ns);
}

/* Sets why facts that no file has computed are not measured. */
static void facts_say_why(struct dw_facts_work *work)
{
	static const struct {
		enum dw_fact_id id;
		const char *why;
	} whys[] = {
		{ DW_FACT_CPU_THREADS, "the number of threads that can run is not in the trace" },
		{ DW_FACT_RUN_FUNCTIONS, "record with dwell run --functions" },
		{ DW_FACT_OPERATORS_DISPATCH, "the cost of an empty operator was not measured" },
		{ DW_FACT_COMM_COUNT, "collectives are not counted by step yet" },
	};
	const char *none = dw_facts_missing_default();

	for (size_t i = 0; i < sizeof whys / sizeof *whys; i++)
		if (!work->facts->at[whys[i].id].measured && work->facts->at[whys[i].id].missing == none)
			dw_fact_miss(work, whys[i].id, whys[i].why);
	for (unsigned id = 0; id < DW_FACT_COUNT; id++)
		if (!work->facts->at[id].measured && work->facts->at[id].missing == none)
			dw_fact_miss(work, (enum dw_fact_id)id,
			             !work->loop           ? "the trace has no steps"
			             : !work->steady_count ? "no step was recorded without missing records"
			                                   : "the trace has nothing of it");
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
	work->steps = work->source->step_count ? dw_model_steps(model, NULL) : &none;
	if (!work->steps)
		return false;
	facts_choose_loop(work, loop);
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

static void facts_fill(struct dw_facts_work *work)
{
	work->facts->account = dw_account_of(work->model, NULL);
	if (!work->facts->account) {
		work->failed = true;
		return;
	}
	dw_facts_of_run(work);
	if (!work->loop)
		return;
	dw_facts_of_steps(work);
	dw_facts_of_cpu(work);
	dw_facts_find_fast(work);
	dw_facts_of_time_outside(work);
	dw_facts_of_operators(work);
	dw_facts_of_loader(work);
	dw_facts_of_memory(work);
	dw_facts_of_ranks(work);
	dw_facts_of_pace(work);
	dw_facts_of_shapes(work);
	dw_facts_of_flops(work);
	dw_facts_of_functions(work);
	dw_facts_of_device(work);
	dw_facts_of_samples(work);
	dw_facts_of_places(work);
	dw_facts_without_communication(work); /* the last one: it takes back what others could not know */
}

static bool facts_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_facts *facts = result;
	struct dw_facts_work work;
	bool good = dw_facts_begin(&work, model, *(const size_t *)request, facts);

	if (good) {
		facts_fill(&work);
		facts_say_why(&work);
	}
	dw_facts_end(&work);
	facts->model = model;
	return good && !work.failed;
}

const struct dw_facts *dw_facts_of_loop(struct dw_model *model, size_t loop, struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_facts), .compute = facts_compute };

	return dw_product_get(model, &product, loop, &loop, error);
}

const struct dw_facts *dw_facts(struct dw_model *model, struct dwell_error *error)
{
	return dw_facts_of_loop(model, 0, error);
}
