/* Computes the facts of a loop, once for each loop of a model, and has the helpers that fill a
 * fact. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/work.h"
#include "model/core/model_data.h"
#include "model/core/product.h"

#define BLOCK 5u        /* least steps of a block */
#define MOST_BLOCKS 20u

/* ---- filling a fact --------------------------------------------------------------------------- */

struct dw_fact *dw_fact_set(struct dw_facts_work *work, enum dw_fact_id id, double value,
                            size_t samples)
{
	struct dw_fact *fact = &work->facts->at[id];

	*fact = (struct dw_fact){ .measured = true, .value = value, .low = value, .high = value,
		                      .samples = samples, .symbol = DW_NO_INDEX };
	return fact;
}

struct dw_fact *dw_fact_set_share(struct dw_facts_work *work, enum dw_fact_id id, double part,
                                  double whole, size_t samples)
{
	struct dw_fact *fact = dw_fact_set(work, id, whole > 0 ? fmin(1, fmax(0, part / whole)) : 0,
	                                   samples);

	if (!(whole > 0)) {
		fact->measured = false;
		fact->missing = "there is no time that it could be a share of";
	}
	return fact;
}

void dw_fact_miss(struct dw_facts_work *work, enum dw_fact_id id, const char *missing)
{
	work->facts->at[id] = (struct dw_fact){ .missing = missing, .symbol = DW_NO_INDEX };
}

void dw_fact_name(struct dw_facts_work *work, struct dw_fact *fact, uint32_t symbol)
{
	fact->symbol = symbol;
	fact->name = symbol == DW_NO_INDEX ? NULL : work->symbols[symbol].name;
}

static int facts_compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* The median of a sorted array; 0 if it is empty. */
static double facts_middle(const double *sorted, size_t count)
{
	if (!count)
		return 0;
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

double dw_facts_median(double *values, size_t count)
{
	if (count)
		qsort(values, count, sizeof *values, facts_compare);
	return facts_middle(values, count);
}

/* The 95% interval of the median of a sorted array: the order statistics at n/2 - and + 0.98
 * sqrt(n). */
static void facts_put_interval(struct dw_fact *fact, const double *sorted, size_t count)
{
	double rank = floor(((double)count - 1.96 * sqrt((double)count)) / 2);
	size_t low = rank >= 1 ? (size_t)rank - 1 : 0;

	fact->low = fmin(fact->value, sorted[low]);
	fact->high = fmax(fact->value, sorted[count - 1 - low]);
}

struct dw_fact *dw_fact_set_median(struct dw_facts_work *work, enum dw_fact_id id, size_t count)
{
	double median = dw_facts_median(work->values, count);
	struct dw_fact *fact = dw_fact_set(work, id, median, count);

	if (count)
		facts_put_interval(fact, work->values, count);
	return fact;
}

struct dw_fact *dw_fact_set_blocks(struct dw_facts_work *work, enum dw_fact_id id, size_t count)
{
	size_t blocks = count < 2 * BLOCK ? count : count / BLOCK;
	double shares[MOST_BLOCKS], parts = 0, wholes = 0;
	struct dw_fact *fact;

	if (blocks > MOST_BLOCKS)
		blocks = MOST_BLOCKS;
	for (size_t b = 0; b < blocks; b++) {
		double part = 0, whole = 0;

		for (size_t i = b * count / blocks; i < (b + 1) * count / blocks; i++) {
			part += work->values[i];
			whole += work->wholes[i];
		}
		shares[b] = whole > 0 ? fmin(1, part / whole) : 0;
		parts += part;
		wholes += whole;
	}
	fact = dw_fact_set_share(work, id, parts, wholes, count);
	if (blocks && fact->measured) {
		qsort(shares, blocks, sizeof *shares, facts_compare);
		facts_put_interval(fact, shares, blocks);
	}
	return fact;
}

const char *dw_facts_meta(const struct dw_facts_work *work, const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < work->source->meta_count; i++)
		if (strcmp(work->source->metas[i].key, key) == 0)
			value = work->source->metas[i].value;
	return value;
}

/* ---- one loop --------------------------------------------------------------------------------- */

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

static void facts_choose_loop(struct dw_facts_work *work, size_t number)
{
	const struct dw_steps *steps = work->steps;
	uint32_t process;

	work->facts->loop = number;
	work->facts->loop_count = steps->thread_count;
	work->loop = facts_find_loop(steps, number);
	if (!work->loop)
		return;
	work->facts->thread = work->loop->thread;
	work->all = &steps->steps[work->loop->first_step];
	work->usages = dw_model_step_usages(work->model, NULL);
	work->failed |= !work->usages;
	if (work->usages)
		work->usages += work->loop->first_step;
	process = work->source->threads[work->loop->thread].process;
	work->python = work->source->processes[process].flags & DW_PROCESS_PYTHON;
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
			dw_fact_miss(work, (enum dw_fact_id)id, !work->loop ? "the trace has no steps"
			             : !work->steady_count ? "no step was recorded without missing records"
			                                   : "the trace has nothing of it");
}

const char *dw_facts_text(struct dw_facts_work *work, const char *text, size_t length)
{
	const char *copy = dw_arena_text(&work->model->arena, text, length);

	work->failed |= !copy;
	return copy;
}

bool dw_facts_begin(struct dw_facts_work *work, struct dw_model *model, size_t loop,
                    struct dw_facts *facts)
{
	static const struct dw_steps none;
	size_t count;

	*work = (struct dw_facts_work){ .model = model, .source = dw_model_source(model),
		                            .symbols = dw_model_symbols(model, NULL), .facts = facts };
	dw_facts_init(facts);
	work->steps = work->source->step_count ? dw_model_steps(model, NULL) : &none;
	if (!work->steps)
		return false;
	facts_choose_loop(work, loop);
	count = work->loop ? work->loop->count : 0;
	work->roles = calloc(count + 1, sizeof *work->roles);
	work->steady = calloc(count + 1, sizeof *work->steady);
	work->values = calloc(count + 1, sizeof *work->values);
	work->wholes = calloc(count + 1, sizeof *work->wholes);
	return !work->failed && work->roles && work->steady && work->values && work->wholes;
}

void dw_facts_end(struct dw_facts_work *work)
{
	free(work->roles);
	free(work->steady);
	free(work->values);
	free(work->wholes);
}

static void facts_fill(struct dw_facts_work *work)
{
	dw_facts_of_run(work);
	if (!work->loop)
		return;
	dw_facts_of_steps(work);
	dw_facts_of_time_outside(work);
	dw_facts_of_cpu(work);
	dw_facts_of_operators(work);
	dw_facts_of_loader(work);
	dw_facts_of_memory(work);
	dw_facts_of_ranks(work);
	dw_facts_of_pace(work);
	dw_facts_of_shapes(work);
	dw_facts_of_flops(work);
	dw_facts_of_waits(work);
	dw_facts_of_blocked(work);
	dw_facts_of_device(work);
	dw_facts_of_places(work);
	dw_facts_without_communication(work); /* the last one: it takes back what others could not know */
}

static bool facts_compute(struct dw_model *model, const void *request, void *result)
{
	struct dw_facts_work work;
	bool good = dw_facts_begin(&work, model, *(const size_t *)request, result);

	if (good) {
		facts_fill(&work);
		facts_say_why(&work);
	}
	dw_facts_end(&work);
	return good && !work.failed;
}

const struct dw_facts *dw_facts_of_loop(struct dw_model *model, size_t loop,
                                        struct dwell_error *error)
{
	static const struct dw_product product = { .bytes = sizeof(struct dw_facts), .compute = facts_compute };

	return dw_product_get(model, &product, loop, &loop, error);
}

const struct dw_facts *dw_facts(struct dw_model *model, struct dwell_error *error)
{
	return dw_facts_of_loop(model, 0, error);
}
