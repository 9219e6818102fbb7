/*
 * Facts from samples of call stacks: the function that takes most of the loop's thread's CPU time in
 * a part of the step, with its line.
 *
 * A share is of the CPU time that was sampled in that part. Its interval is that of the samples. With
 * fewer than DW_FACTS_LEAST_SAMPLES samples it is not measured. The function is named only if it certainly has
 * DW_SAMPLES_NAMED.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/sampled.h"

#define WITH_CALLED 0.3 /* of the part's CPU time, with what a function calls: if none has enough of its own */
#define OF_ALL 0.7   /* more is the function that contains the part */

static void samples_put(struct dw_facts_work *work, enum dw_fact_id id, const struct dw_hot *hot,
                        const struct dw_hot_row *top, double weight)
{
	double share = hot->weight ? weight / (double)hot->weight : 0;
	double error = dw_samples_error(share, hot->weight, hot->squares);
	struct dw_fact *fact;

	if (hot->samples < DW_FACTS_LEAST_SAMPLES) {
		dw_fact_miss(work, id, "fewer than 20 samples of call stacks lie there");
		return;
	}
	fact = dw_fact_set_share(work, id, share, 1, hot->samples);
	fact->low = fmax(0, share - error);
	fact->high = fmin(1, share + error);
	if (top && fact->low >= DW_SAMPLES_NAMED)
		dw_facts_name_sampled(work, fact, top);
}

/* ---- the use of CPUs ----------------------------------------------------------------------------- */

/* Where the time of many functions comes from: the innermost function with a large part of it. NULL: there is none. */
static const struct dw_hot_row *samples_calls_most(const struct dw_hot *hot)
{
	const struct dw_hot_row *found = NULL;

	for (size_t i = 0; i < hot->count; i++) {
		double share = (double)hot->rows[i].total / (double)hot->weight;

		if (share - dw_samples_error(share, hot->weight, hot->squares) >= WITH_CALLED && share <= OF_ALL &&
		    (!found || hot->rows[i].total < found->total))
			found = &hot->rows[i];
	}
	return found;
}

/* The function with most self time in a part; or the one that calls most of it. */
static void samples_put_top(struct dw_facts_work *work, enum dw_fact_id id, struct samples_part part)
{
	struct dw_hot_ask ask = { .by = DW_HOT_OWN, .wants = dw_facts_sample_wanted, .context = &part };
	const struct dw_hot_row *calls;
	struct dw_hot hot;

	if (dw_hot_make(&hot, work->model, &ask)) {
		samples_put(work, id, &hot, hot.rows, hot.count ? (double)hot.rows[0].self : 0);
		if (work->facts->at[id].measured && !work->facts->at[id].name && (calls = samples_calls_most(&hot)) != NULL)
			samples_put(work, id, &hot, calls, (double)calls->total);
	} else {
		work->failed = true;
	}
	dw_hot_reset(&hot);
}

/* A function of Python that runs the engine of autograd. */
static bool samples_is_engine(const struct dw_hot_row *row)
{
	return row->file && dw_activity_of(row->file, row->name, dw_library_role_of(row->file) == DW_LIBRARY_OWN) == DW_ACTIVITY_ALGEBRA;
}

/* Whether a sample lies in libraries of linear algebra or their teams of threads, in NumPy's loops over the elements of
 * arrays, in a copy for these in the C library, or in a call that returns memory, as when Python drops a large tensor. */
static bool samples_is_native(const struct dw_facts_work *work, const struct dw_sample_row *row)
{
	const struct dw_sample_stack stack = dw_sample_stack_of(work->source, row);
	enum dw_library_role role = dw_sample_role(&stack, 0);
	dw_activity_set copies = DW_ACTIVITIES_OF_COPIES | DW_ACTIVITY_SET(UNKNOWN); /* some of its functions have no names */

	return dw_activity_in(row->activity, DW_ACTIVITY_SET(ALGEBRA) | DW_ACTIVITY_SET(RETURNS)) || role == DW_LIBRARY_TEAM ||
	       (role == DW_LIBRARY_SYSTEM && dw_activity_in(row->activity, copies) && dw_sample_role(&stack, 1) == DW_LIBRARY_ARRAY);
}

/* The weight of these samples. */
static double samples_in_native(const struct dw_facts_work *work, struct samples_part part)
{
	const struct dw_samples *samples = dw_model_samples(work->model, NULL);
	double weight = 0;

	for (size_t i = 0; samples && i < samples->count; i++)
		if (dw_facts_sample_wanted(&part, &samples->rows[i]) && samples_is_native(work, &samples->rows[i]))
			weight += (double)samples->rows[i].weight;
	return weight;
}

/* The function of Python with most time, and the part of the time in which no code of Python runs: the engine of autograd,
 * products of NumPy, or memory that is returned. */
static void samples_put_python(struct dw_facts_work *work, struct samples_part part)
{
	struct dw_hot_ask ask = { .by = DW_HOT_PYTHON, .wants = dw_facts_sample_wanted, .context = &part };
	const struct dw_hot_row *top = NULL;
	double in_engine = 0; /* a sum of whole numbers */
	struct dw_hot hot;

	if (!dw_hot_make(&hot, work->model, &ask))
		work->failed = true;
	for (size_t i = 0; i < hot.count; i++) {
		const struct dw_hot_row *row = &hot.rows[i];

		if (samples_is_engine(row))
			in_engine += (double)row->self;
		else if (!top && row->file)
			top = row;
	}
	samples_put(work, DW_FACT_SAMPLES_ENGINE, &hot, NULL, fmax(in_engine, samples_in_native(work, part)));
	hot.weight -= (uint64_t)in_engine;
	samples_put(work, DW_FACT_SAMPLES_PYTHON, &hot, top, top ? (double)top->self : 0);
	dw_hot_reset(&hot);
}

/* Whether the loop waits for threads of the program where it asks for data. */
static void samples_put_loader(struct dw_facts_work *work)
{
	const struct dw_account *account = work->facts->account;
	double ns = 0;

	for (size_t i = 0; i < account->count; i++)
		if (account->cells[i].share == DW_SHARE_DATA &&
		    (dw_account_is_for_threads(&account->cells[i]) || account->cells[i].state == DW_ACCOUNT_OTHERS))
			ns += account->cells[i].ns;
	if (work->loop_ns > 0)
		dw_fact_set_share(work, DW_FACT_LOADER_THREADS, ns, work->loop_ns, 1);
	else
		dw_fact_miss(work, DW_FACT_LOADER_THREADS, "only part of the run is in scope");
}

static bool samples_is_of_thread(void *context, const struct dw_sample_row *row)
{
	const struct samples_part *part = context;

	return row->thread == part->work->loop->thread;
}

/* The function that the loop is in. */
static void samples_put_loop(struct dw_facts_work *work)
{
	struct samples_part part = { work, true, true, UINT32_MAX, DW_NO_INDEX };
	const struct dw_sampled_function *function;
	struct dw_sampled loop, all;
	struct dw_fact *fact;
	char name[200];

	dw_sampled_find(work, dw_facts_sample_wanted, &part, &loop);
	dw_sampled_find(work, samples_is_of_thread, &part, &all);
	function = dw_sampled_region(&loop, &all);
	if (!function) {
		dw_fact_miss(work, DW_FACT_SAMPLES_LOOP, "no function of Python has most samples of the loop");
		return;
	}
	fact = dw_fact_set_share(work, DW_FACT_SAMPLES_LOOP, (double)function->total, (double)loop.weight, loop.weight);
	dw_sampled_name(function->name, name);
	fact->name = *name ? dw_facts_text(work, name, strlen(name)) : NULL;
	name[0] = '\0';
	fact->where = dw_sampled_text(work, &(struct dw_sampled_function){ .name = name, .file = function->file, .line = function->line });
}

/* ---- all ----------------------------------------------------------------------------------------- */

void dw_facts_of_samples(struct dw_facts_work *work)
{
	static const enum dw_fact_id ids[] = { DW_FACT_SAMPLES_STEP, DW_FACT_SAMPLES_PYTHON, DW_FACT_SAMPLES_ENGINE,
		DW_FACT_SAMPLES_UNNAMED, DW_FACT_LOADER_THREADS, DW_FACT_SAMPLES_LOOP };
	const struct dw_samples *samples = dw_model_samples(work->model, NULL);
	struct samples_part part = { work, true, false, UINT32_MAX, DW_NO_INDEX }, python = part, unnamed = part;
	uint64_t count = 0;

	work->failed |= !samples;
	if (!samples || !samples->count) {
		for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
			dw_fact_miss(work, ids[i], "record with dwell run --sample 100");
		return;
	}
	for (size_t i = 0; i < samples->count; i++)
		count += dw_facts_sample_wanted(&part, &samples->rows[i]) ? samples->rows[i].count : 0;
	dw_fact_set(work, DW_FACT_SAMPLES_STEP, (double)count / (double)(work->loop->count ? work->loop->count : 1), count);
	python.between = true;
	python.shares = 1u << DW_SHARE_PYTHON;
	samples_put_python(work, python);
	unnamed.shares = 1u << DW_SHARE_OTHER;
	samples_put_top(work, DW_FACT_SAMPLES_UNNAMED, unnamed);
	samples_put_loader(work);
	samples_put_loop(work);
}
