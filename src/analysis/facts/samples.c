/*
 * Facts from samples of call stacks: the function that takes most of the loop's thread's CPU time in
 * a part of the step, with its line.
 *
 * A share is of the CPU time that was sampled in that part. Its interval is that of the samples. With
 * fewer than DW_FACTS_LEAST_SAMPLES samples it is not measured. The function is named only if it certainly has NAMED.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "facts/samples_part.h"

#define NAMED 0.15   /* of the part's CPU time */
#define WITH_CALLED 0.3 /* the same, with what a function calls: if none has NAMED of its own */
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
	if (top && fact->low >= NAMED)
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
	unsigned copies = DW_ACTIVITIES_OF_COPIES | DW_ACTIVITY_SET(UNKNOWN); /* some of its functions have no names */

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

/* The function of Python with most time, and with `engine` the part of the time in which no code of Python runs: the engine
 * of autograd, products of NumPy, or memory that is returned. Returns the function's weight. */
static double samples_put_python(struct dw_facts_work *work, enum dw_fact_id id, struct samples_part part, bool engine)
{
	struct dw_hot_ask ask = { .by = DW_HOT_PYTHON, .wants = dw_facts_sample_wanted, .context = &part };
	const struct dw_hot_row *top = NULL;
	double in_engine = 0, in_top; /* sums of whole numbers */
	struct dw_hot hot;

	if (!dw_hot_make(&hot, work->model, &ask))
		work->failed = true;
	for (size_t i = 0; i < hot.count; i++) {
		const struct dw_hot_row *row = &hot.rows[i];

		if (engine && samples_is_engine(row))
			in_engine += (double)row->self;
		else if (!top && row->file)
			top = row;
	}
	if (engine)
		samples_put(work, DW_FACT_SAMPLES_ENGINE, &hot, NULL, fmax(in_engine, samples_in_native(work, part)));
	hot.weight -= (uint64_t)in_engine;
	in_top = top ? (double)top->self : 0;
	samples_put(work, id, &hot, top, in_top);
	dw_hot_reset(&hot);
	return in_top;
}

static bool samples_in_team(const struct dw_facts_work *work, const struct dw_sample_row *row)
{
	uint32_t within;

	return !work->python && dw_sample_spins(work->source, row, &within) == DW_SPIN_TEAM;
}

static void samples_put_rows(struct dw_facts_work *work, enum dw_fact_id id, const struct dw_samples *samples, struct samples_part part,
                             bool (*is)(const struct dw_facts_work *work, const struct dw_sample_row *row))
{
	struct dw_hot all = { 0 };
	double weight = 0;

	for (size_t i = 0; i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];

		if (!dw_facts_sample_wanted(&part, row))
			continue;
		all.samples += row->count;
		all.weight += row->weight;
		all.squares += row->squares;
		weight += is(work, row) ? (double)row->weight : 0;
	}
	samples_put(work, id, &all, NULL, weight);
}

static bool samples_copies(const struct dw_facts_work *work, const struct dw_sample_row *row)
{
	return dw_activity_in(row->activity, DW_ACTIVITIES_OF_COPIES);
}

/* Whether the program's innermost function has called one that allocates or frees memory. What these call to get pages
 * from the system and to return them is part of the page faults. */
static bool samples_allocates(const struct dw_facts_work *work, const struct dw_sample_row *row)
{
	return row->activity != DW_ACTIVITY_RETURNS && dw_sample_activities(work->source, row) & DW_ACTIVITIES_OF_MEMORY;
}

static bool samples_want_allocation(void *context, const struct dw_sample_row *row)
{
	const struct samples_part *part = context;

	return dw_facts_sample_wanted(context, row) && samples_allocates(part->work, row);
}

#define MOST_OF 0.5 /* of the allocator's time, which the named function has at least */

/* A program without PyTorch has no operators that allocate: the allocator's part of a step is that of its samples. */
static void samples_put_allocator(struct dw_facts_work *work, struct samples_part part)
{
	const struct dw_fact *samples = &work->facts->at[DW_FACT_SAMPLES_ALLOCATION], *waiting = &work->facts->at[DW_FACT_CPU_WAITING];
	struct dw_hot_ask ask = { .by = DW_HOT_OWN, .wants = samples_want_allocation, .context = &part };
	double runs = 1 - (waiting->measured ? waiting->value : 0);
	struct dw_fact *fact;
	struct dw_hot hot;

	if (work->python || work->facts->at[DW_FACT_TRACE_TORCH].value > 0 || !samples->measured)
		return;
	fact = dw_fact_set(work, DW_FACT_MEMORY_ALLOCATOR, samples->value * runs, samples->samples);
	fact->low = samples->low * runs;
	fact->high = samples->high * runs;
	if (!dw_hot_make(&hot, work->model, &ask))
		work->failed = true;
	else if (hot.count && (double)hot.rows[0].self >= MOST_OF * (double)hot.weight)
		dw_facts_name_sampled(work, fact, &hot.rows[0]);
	dw_hot_reset(&hot);
}

/* ---- the named range that is least likely work ----------------------------------------------------- */

#define LEAST_PART 0.2 /* of a step: a smaller range is no cause */

/* What samples show of the ranges under one name. */
struct samples_loss {
	double waited_ns;
	uint64_t waits, samples, weight, in_library, moves, spins;
	uint32_t symbol;
};

static void samples_add_losses(const struct dw_facts_work *work, const struct dw_samples *samples, bool waits,
                               struct samples_loss *losses)
{
	const struct samples_part part = { work, true, false, 1u << DW_SHARE_NAMED, DW_NO_INDEX };

	for (size_t i = 0; samples && i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];
		struct samples_loss *loss;
		uint32_t within;

		if (row->named == DW_NO_INDEX || !dw_facts_sample_wanted((void *)&part, row))
			continue;
		loss = &losses[dw_model_symbol_row(work->model, row->named)];
		loss->symbol = row->named;
		if (waits) {
			loss->waited_ns += (double)row->cpu_ns;
			loss->waits += row->count;
			continue;
		}
		loss->samples += row->count;
		loss->weight += row->weight;
		loss->in_library += dw_facts_sample_in_library(work, row) ? row->weight : 0;
		loss->moves += dw_facts_sample_moves(work, row) ? row->weight : 0;
		loss->spins += dw_sample_spins(work->source, row, &within) == DW_SPIN_OWN ? row->weight : 0;
	}
}

/* Replaces the largest named range by one that waits, spins, calls the C library, moves data or leaves CPUs unused for more
 * time. */
static void samples_choose_named(struct dw_facts_work *work, const struct dw_samples *samples, const double *cpus, double most_cpus)
{
	double steps_ns = work->facts->at[DW_FACT_LOOP_STEPS].value * work->loop_ns, most = 0;
	const struct dw_fact largest = work->facts->at[DW_FACT_STEP_NAMED_PART];
	struct dw_fact chosen = largest;
	struct samples_loss *losses;
	size_t count;

	dw_model_symbols(work->model, &count);
	losses = work->python || !(steps_ns > 0) ? NULL : calloc(count + 1, sizeof *losses);
	work->failed |= !losses && !work->python && steps_ns > 0;
	if (!losses)
		return;
	samples_add_losses(work, samples, false, losses);
	samples_add_losses(work, dw_model_wait_samples(work->model, NULL), true, losses);
	for (size_t i = 0; i < count; i++) {
		const struct samples_loss *loss = &losses[i];
		double waited = loss->waits >= DW_FACTS_LEAST_WAITS ? loss->waited_ns / steps_ns : 0, lost, part;
		double rests = cpus ? dw_facts_team_rests(cpus[i], most_cpus) : 0;

		if (!loss->samples && !waited)
			continue;
		part = dw_facts_put_named(work, DW_FACT_STEP_NAMED_PART, loss->symbol)->value;
		if (loss->samples >= DW_FACTS_LEAST_SAMPLES) {
			rests = fmax(rests, (double)(loss->in_library + loss->spins) / (double)loss->weight);
			rests = fmax(rests, loss->moves >= DW_FACTS_LEAST_MOVES * (double)loss->weight ? (double)loss->moves / (double)loss->weight : 0);
		}
		lost = waited + rests * fmax(0, part - waited);
		if (part >= LEAST_PART && lost >= DW_FACTS_LEAST_LOSS * part && lost > most) {
			chosen = work->facts->at[DW_FACT_STEP_NAMED_PART];
			most = lost;
		}
	}
	work->facts->at[DW_FACT_STEP_NAMED_PART] = chosen;
	free(losses);
}

/* In how many CPUs the named range works, if most of a team rests there. */
static void samples_put_team(struct dw_facts_work *work, const double *cpus, double most)
{
	const struct dw_fact *named = &work->facts->at[DW_FACT_STEP_NAMED_PART];
	double here = cpus && named->measured && named->symbol != DW_NO_INDEX
	                  ? cpus[dw_model_symbol_row(work->model, named->symbol)] : 0;

	if (dw_facts_team_rests(here, most) > 0) {
		dw_fact_set(work, DW_FACT_SAMPLES_NAMED_CPUS, here, 1);
		dw_fact_set(work, DW_FACT_SAMPLES_TEAM_CPUS, most, 1);
		return;
	}
	dw_fact_miss(work, DW_FACT_SAMPLES_NAMED_CPUS, "no team of threads rests there and works in another part");
	dw_fact_miss(work, DW_FACT_SAMPLES_TEAM_CPUS, "no team of threads rests in step.named_part");
}

#define LEAST_FOR_ONE 40u /* samples in the steps: then a function without a few of them takes next to nothing */

/* ---- all ----------------------------------------------------------------------------------------- */

void dw_facts_of_samples(struct dw_facts_work *work)
{
	static const enum dw_fact_id ids[] = { DW_FACT_SAMPLES_STEP, DW_FACT_SAMPLES_FUNCTION, DW_FACT_SAMPLES_PYTHON,
		DW_FACT_SAMPLES_PYTHON_ONE, DW_FACT_SAMPLES_ENGINE,
		DW_FACT_SAMPLES_UNNAMED, DW_FACT_SAMPLES_NAMED, DW_FACT_SAMPLES_BETWEEN, DW_FACT_SAMPLES_ALLOCATION,
		DW_FACT_SAMPLES_COPY, DW_FACT_SAMPLES_TEAM, DW_FACT_SAMPLES_FILES, DW_FACT_SAMPLES_NAMED_LIBRARY,
		DW_FACT_SAMPLES_NAMED_MOVES, DW_FACT_SAMPLES_NAMED_CPUS, DW_FACT_SAMPLES_TEAM_CPUS,
		DW_FACT_STEP_NAMED_WAITING, DW_FACT_LOADER_THREADS };
	const struct dw_samples *samples = dw_model_samples(work->model, NULL);
	struct samples_part part = { work, true, false, UINT32_MAX, DW_NO_INDEX }, python = part, unnamed = part,
	                    named = part, between = part;
	const struct dw_fact *chosen = &work->facts->at[DW_FACT_STEP_NAMED_PART];
	double *cpus, most_cpus, in_python;
	uint64_t count = 0, weight = 0;

	work->failed |= !samples;
	if (!samples || !samples->count) {
		for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
			dw_fact_miss(work, ids[i], "record with dwell run --sample 100");
		return;
	}
	for (size_t i = 0; i < samples->count; i++) {
		if (!dw_facts_sample_wanted(&part, &samples->rows[i]))
			continue;
		count += samples->rows[i].count;
		weight += samples->rows[i].weight;
	}
	dw_fact_set(work, DW_FACT_SAMPLES_STEP, (double)count / (double)(work->loop->count ? work->loop->count : 1), count);
	samples_put_top(work, DW_FACT_SAMPLES_FUNCTION, part);
	python.between = true;
	python.shares = 1u << DW_SHARE_PYTHON;
	in_python = samples_put_python(work, DW_FACT_SAMPLES_PYTHON, python, true);
	if (work->facts->at[DW_FACT_SAMPLES_ENGINE].measured) /* the function's part of it is not known */
		in_python *= 1 - work->facts->at[DW_FACT_SAMPLES_ENGINE].value;
	if (count >= LEAST_FOR_ONE)
		dw_fact_set_share(work, DW_FACT_SAMPLES_PYTHON_ONE, in_python, (double)weight, count);
	else
		dw_fact_miss(work, DW_FACT_SAMPLES_PYTHON_ONE, "fewer than 40 samples of call stacks lie in the steps");
	unnamed.shares = 1u << DW_SHARE_OTHER;
	samples_put_top(work, DW_FACT_SAMPLES_UNNAMED, unnamed);
	between.in_step = false;
	between.between = true;
	if (work->python)
		samples_put_python(work, DW_FACT_SAMPLES_BETWEEN, between, false);
	else
		samples_put_top(work, DW_FACT_SAMPLES_BETWEEN, between);
	cpus = dw_facts_team_cpus(work, &most_cpus);
	samples_choose_named(work, samples, cpus, most_cpus);
	samples_put_team(work, cpus, most_cpus);
	free(cpus);
	if (chosen->measured && chosen->symbol != DW_NO_INDEX)
		named.named = dw_model_symbol_row(work->model, chosen->symbol);
	named.shares = 1u << DW_SHARE_NAMED;
	if (work->python)
		samples_put_python(work, DW_FACT_SAMPLES_NAMED, named, false);
	else
		samples_put_top(work, DW_FACT_SAMPLES_NAMED, named);
	samples_put_rows(work, DW_FACT_SAMPLES_NAMED_LIBRARY, samples, named, dw_facts_sample_in_library);
	samples_put_rows(work, DW_FACT_SAMPLES_NAMED_MOVES, samples, named, dw_facts_sample_moves);
	samples_put_rows(work, DW_FACT_SAMPLES_TEAM, samples, unnamed, samples_in_team);
	dw_facts_of_sampled_waits(work, samples, unnamed, named);
	samples_put_rows(work, DW_FACT_SAMPLES_ALLOCATION, samples, part, samples_allocates);
	samples_put_allocator(work, part);
	samples_put_rows(work, DW_FACT_SAMPLES_COPY, samples, part, samples_copies);
}
