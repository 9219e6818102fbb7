/*
 * Facts of the operators that the loop's own thread called, without those of the data set.
 *
 * Times by name cover the loop's usual steps (struct dw_loop). Names of PyTorch and oneDNN show
 * which operators wait for a result, copy or change a layout.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/order.h"
#include "facts/parts.h"
#include "facts/samples_part.h"
#include "facts/work.h"
#include "format/keys.h"
#include "model/core/product.h"

#define SMALL_IN_C_NS 300 /* the same in C, where a call costs some nanoseconds */

enum group { OTHER, SYNCHRONISING, LAYOUT, COPY, CLEAR, ELEMENTWISE, GROUPS };

static const char *operators_name(const struct dw_facts_work *work, const struct dw_loop_row *row)
{
	return work->symbols[row->symbol].name;
}

static enum dw_operator_family operators_family(const struct dw_facts_work *work, const struct dw_loop_row *row)
{
	return dw_operator_family_of(operators_name(work, row));
}

/* Samples in an operator. */
struct sampled {
	uint64_t count, weight, moves;
};

/* By row of the model: samples in operators, in the steps of a program in C. NULL: there are none. The caller frees it. */
static struct sampled *operators_sampled(struct dw_facts_work *work)
{
	const struct samples_part steps = { work, true, false, UINT32_MAX, DW_NO_INDEX };
	const struct dw_samples *samples = dw_source_has_samples(work->source) ? dw_model_samples(work->model, NULL) : NULL;
	struct sampled *sampled = NULL;
	size_t symbols;

	if (!samples || work->facts->framework != DW_FACTS_C)
		return NULL;
	dw_model_symbols(work->model, &symbols);
	sampled = calloc(symbols + 1, sizeof *sampled);
	work->failed |= !sampled;
	for (size_t i = 0; sampled && i < samples->count; i++) {
		const struct dw_sample_row *row = &samples->rows[i];
		struct sampled *to;

		if (row->range == DW_NO_INDEX || !dw_facts_sample_wanted((void *)&steps, row))
			continue;
		to = &sampled[dw_model_symbol_row(work->model, row->range)];
		to->count += row->count;
		to->weight += row->weight;
		to->moves += dw_facts_sample_moves(work, row) ? row->weight : 0;
	}
	return sampled;
}

/* Of an operator to which the program gave a name, the samples say whether it only moves data. */
static enum group operators_group(enum dw_operator_family family, const struct sampled *sampled)
{
	switch (family) {
	case DW_OPERATOR_SYNC: return SYNCHRONISING;
	case DW_OPERATOR_LAYOUT: return LAYOUT;
	case DW_OPERATOR_COPY: return COPY;
	case DW_OPERATOR_CLEAR: return CLEAR;
	case DW_OPERATOR_ELEMENTWISE: return ELEMENTWISE;
	case DW_OPERATOR_OTHER:
		return sampled && sampled->count >= DW_FACTS_LEAST_SAMPLES &&
		               (double)sampled->moves >= DW_FACTS_LEAST_MOVES * (double)sampled->weight
		           ? LAYOUT : OTHER;
	default: return OTHER;
	}
}

static const struct dw_loop_row *operators_find(const struct dw_facts_work *work, const char *name)
{
	for (size_t i = 0; i < work->loop->operator_count; i++)
		if (strcmp(work->symbols[work->loop->operators[i].symbol].name, name) == 0)
			return &work->loop->operators[i];
	return NULL;
}

/* contiguous() is implemented by a clone, which is implemented by a copy. */
struct copies {
	const struct dw_loop_row *contiguous, *clone, *copy;
};

static struct copies operators_copies(const struct dw_facts_work *work)
{
	return (struct copies){ operators_find(work, "aten::contiguous"), operators_find(work, "aten::clone"),
		                    operators_find(work, "aten::copy_") };
}

/* Moves their self times from the copies to the layout, in proportion to the calls. */
static double operators_layout_copies(const struct dw_facts_work *work)
{
	const struct copies copies = operators_copies(work);
	const struct dw_loop_row *of[2] = { copies.clone, copies.copy };
	double ns = 0;

	for (unsigned i = 0; copies.contiguous && i < 2; i++)
		if (of[i] && of[i]->count)
			ns += (double)of[i]->ns * fmin(1, (double)copies.contiguous->count / (double)of[i]->count);
	return ns;
}

struct sums {
	double ns[GROUPS], counts[GROUPS];
	uint32_t largest[GROUPS];
	double small_ns, small_count, all_ns, all_count, fused_count, foreach_count;
};

/* The time by the clock of an operator that takes so long of a CPU: it is longer if the thread loses its CPU while it
 * works, and does not give it up itself. */
static double operators_small_ns(const struct dw_facts_work *work)
{
	const struct dw_fact *facts = work->facts->at;
	double lost = facts[DW_FACT_CPU_SWITCHES_FORCED].value, all = lost + facts[DW_FACT_CPU_SWITCHES_WAIT].value;
	double ns = work->facts->framework == DW_FACTS_C ? SMALL_IN_C_NS : DW_FACTS_SMALL_NS;

	if (!facts[DW_FACT_CPU_DELAY].measured || !(all > 0))
		return ns;
	return ns / fmax(0.1, 1 - facts[DW_FACT_CPU_DELAY].value * lost / all);
}

static struct sums operators_sum(struct dw_facts_work *work)
{
	struct sums sums = { .ns = { 0 } };
	double small_ns = operators_small_ns(work);
	const struct copies copies = operators_copies(work);
	struct sampled *sampled = operators_sampled(work);

	for (unsigned g = 0; g < GROUPS; g++)
		sums.largest[g] = DW_NO_INDEX;
	for (size_t i = 0; i < work->loop->operator_count; i++) {
		const struct dw_loop_row *row = &work->loop->operators[i];
		enum dw_operator_family family = operators_family(work, row);
		enum group group = operators_group(family, sampled ? &sampled[dw_model_symbol_row(work->model, row->symbol)] : NULL);
		double ns = (double)row->ns, count = (double)row->count;

		/* Copies of a few bytes cost their call: they are small operators. */
		if ((group == COPY || group == LAYOUT || group == CLEAR) && ns < small_ns * count && row != copies.contiguous &&
		    row != copies.clone)
			group = OTHER;
		sums.ns[group] += ns;
		sums.counts[group] += count;
		if (sums.largest[group] == DW_NO_INDEX)
			sums.largest[group] = row->symbol;
		sums.all_ns += ns;
		sums.all_count += count;
		if (ns < small_ns * count) {
			sums.small_ns += ns;
			sums.small_count += count;
		}
		sums.fused_count += family == DW_OPERATOR_FUSED ? count : 0;
		sums.foreach_count += family == DW_OPERATOR_FOREACH ? count : 0;
	}
	free(sampled);
	return sums;
}

static void operators_put_groups(struct dw_facts_work *work, const struct sums *sums, double whole_ns, double steps)
{
	static const struct {
		enum dw_fact_id id;
		enum group group;
	} shares[] = {
		{ DW_FACT_OPERATORS_SYNCHRONISING, SYNCHRONISING },
		{ DW_FACT_OPERATORS_LAYOUT, LAYOUT },
		{ DW_FACT_OPERATORS_COPIES, COPY },
		{ DW_FACT_OPERATORS_CLEARS, CLEAR },
		{ DW_FACT_OPERATORS_ELEMENTWISE, ELEMENTWISE },
	};
	double moved = operators_layout_copies(work);

	for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
		enum group group = shares[i].group;
		double ns = sums->ns[group];
		struct dw_fact *fact;

		ns += group == LAYOUT ? moved : group == COPY ? -moved : 0;
		fact = dw_fact_set_share(work, shares[i].id, ns, whole_ns, work->loop->usual_count);
		dw_fact_name(work, fact, sums->largest[group]);
	}
	dw_fact_set(work, DW_FACT_OPERATORS_SYNCHRONISING_COUNT, sums->counts[SYNCHRONISING] / steps,
	            work->loop->usual_count);
}

/* The operator for which most memory was copied or cleared. */
static void operators_put_moved(struct dw_facts_work *work, const struct sums *sums, double whole_ns)
{
	double moves_ns = sums->ns[LAYOUT] + sums->ns[COPY] + sums->ns[CLEAR], all_ns = 0;
	const struct dw_loop_row *most = work->loop->operators;

	for (size_t i = 0; i < work->loop->operator_count; i++) {
		const struct dw_loop_row *row = &work->loop->operators[i];

		all_ns += (double)row->moved_ns;
		most = row->moved_ns > most->moved_ns ? row : most;
	}
	if (most->moved_ns && 2 * (double)most->moved_ns >= all_ns)
		dw_fact_name(work,
		             dw_fact_set_share(work, DW_FACT_OPERATORS_MOVED, moves_ns * (double)most->moved_ns / all_ns, whole_ns,
		                               work->loop->usual_count), most->symbol);
	else
		dw_fact_miss(work, DW_FACT_OPERATORS_MOVED, "no operator has half of that");
}

#define LEAST_UNCOMMON 0.25 /* of a step */

/* Decompositions, orders of elements and distances of all pairs cost far more than what they are needed for. */
static bool operators_is_uncommon(const struct dw_facts_work *work, const struct dw_loop_row *row)
{
	enum dw_operator_family family = operators_family(work, row);

	return (family == DW_OPERATOR_DECOMPOSITION || family == DW_OPERATOR_ORDER) &&
	       dw_known_framework_of(operators_name(work, row)) == DW_KNOWN_PYTORCH;
}

static void operators_put_uncommon(struct dw_facts_work *work, double whole_ns, double steps)
{
	const struct dw_loop_row *largest = NULL;
	struct dw_fact *fact;

	for (size_t i = 0; i < work->loop->operator_count; i++) {
		const struct dw_loop_row *row = &work->loop->operators[i];

		if ((double)row->ns >= LEAST_UNCOMMON * whole_ns && (!largest || row->ns > largest->ns) &&
		    operators_is_uncommon(work, row))
			largest = row;
	}
	if (!largest) {
		dw_fact_miss(work, DW_FACT_OPERATORS_UNCOMMON, "no such operator takes a quarter of a step");
		dw_fact_miss(work, DW_FACT_OPERATORS_UNCOMMON_COUNT, "no such operator takes a quarter of a step");
		return;
	}
	fact = dw_fact_set_share(work, DW_FACT_OPERATORS_UNCOMMON, (double)largest->ns, whole_ns, work->loop->usual_count);
	dw_fact_name(work, fact, largest->symbol);
	dw_fact_set(work, DW_FACT_OPERATORS_UNCOMMON_COUNT, (double)largest->count / steps, work->loop->usual_count);
}

/* The operator with the most self time. */
static void operators_put_largest(struct dw_facts_work *work, double whole_ns, double steps)
{
	const struct dw_loop_row *row = work->loop->operators;
	struct dw_fact *fact = dw_fact_set_share(work, DW_FACT_OPERATORS_LARGEST, (double)row->ns, whole_ns, work->loop->usual_count);

	dw_fact_name(work, fact, row->symbol);
	fact = dw_fact_set(work, DW_FACT_OPERATORS_LARGEST_COUNT, (double)row->count / steps, work->loop->usual_count);
	dw_fact_name(work, fact, row->symbol);
	operators_put_uncommon(work, whole_ns, steps);
}

/* Sets the facts that are medians over the steady steps. */
static void operators_put_steady(struct dw_facts_work *work)
{
	size_t count = work->steady_count;

	for (size_t i = 0; i < count; i++)
		work->values[i] = (double)work->steady[i]->operator_ns;
	dw_fact_set_steps(work, DW_FACT_OPERATORS_SHARE);
	for (size_t i = 0; i < count; i++)
		work->values[i] = work->steady[i]->operator_count;
	dw_fact_set_median(work, DW_FACT_OPERATORS_COUNT, count);
	for (size_t i = 0; i < count; i++)
		work->values[i] = work->steady[i]->optimizer_count;
	dw_fact_set_median(work, DW_FACT_OPTIMIZER_COUNT, count);
}

#define COMPILING_RATIO 1.4 /* a step that compiles takes at least so many times the median step */

/* What the `count` longest steps after the warm-up took beyond the median of the others, in ns: where more than a fifth
 * of the steps compile, none of them is an outlier. */
static double operators_compiling_ns(struct dw_facts_work *work, size_t count)
{
	double median, sum = 0;
	size_t steps = 0;

	for (size_t i = 0; i < work->loop->count; i++)
		if (work->roles[i] && !(work->roles[i] & DW_ROLE_WARM_UP))
			work->values[steps++] = (double)(work->all[i].end_ns - work->all[i].start_ns);
	dw_median(work->values, steps); /* sorts them */
	median = dw_median(work->values, count < steps ? steps - count : steps);
	for (; steps && count && work->values[steps - 1] > COMPILING_RATIO * median; steps--, count--)
		sum += work->values[steps - 1] - median;
	return sum;
}

static const char *operators_recompiled(const struct dw_facts_work *work)
{
	return dw_facts_meta(work, DW_KEY_TORCH_RECOMPILED);
}

/* Names are those of recorded calls; Dynamo itself, asked when the program ended, knows all compilations, and why. */
static void operators_put_compilations(struct dw_facts_work *work, double *again)
{
	const char *said = operators_recompiled(work);
	char *why = NULL;

	if (said)
		*again = fmax(*again, strtod(said, &why));
	dw_fact_set(work, DW_FACT_OPERATORS_COMPILATIONS, *again, 1)->note = why && *why == ' ' ? why + 1 : NULL;
}

/*
 * torch.compile: a call of a compiled region is an operator "Torch-Compiled Region: A/B". A is the
 * number of the code, which a graph break divides into several; B counts its compilations.
 */
static void operators_put_compiled(struct dw_facts_work *work, double steps)
{
	const struct dw_fact *outliers = &work->facts->at[DW_FACT_STEP_OUTLIERS_EXCESS];
	double calls = 0, again = 0;
	struct dw_fact *fact;
	size_t count;

	for (size_t i = 0; i < work->loop->operator_count; i++)
		if (operators_family(work, &work->loop->operators[i]) == DW_OPERATOR_COMPILED)
			calls += (double)work->loop->operators[i].count;
	dw_fact_set(work, DW_FACT_OPERATORS_COMPILED, calls / steps, work->loop->usual_count);
	if (!(calls > 0)) {
		for (unsigned id = DW_FACT_OPERATORS_COMPILATION; id <= DW_FACT_OPERATORS_GRAPH_BREAKS; id++)
			if (id != DW_FACT_OPERATORS_COMPILED)
				dw_fact_miss(work, (enum dw_fact_id)id, "no compiled region was called");
		if (!operators_recompiled(work)) /* else the calls were in steps without operators */
			return;
	}
	dw_model_symbols(work->model, &count);
	for (size_t i = 0; i < count; i++) {
		const char *name = work->symbols[i].name, *slash = strchr(name, '/');

		again += dw_operator_family_of(name) == DW_OPERATOR_COMPILED && slash && strtol(slash + 1, NULL, 10) > 0;
	}
	if (calls > 0)
		dw_fact_set(work, DW_FACT_OPERATORS_GRAPH_BREAKS, fmax(0, round(calls / steps) - 1), work->loop->usual_count);
	operators_put_compilations(work, &again);
	if (again > 0 && outliers->measured && outliers->value > 0) {
		work->facts->at[DW_FACT_OPERATORS_COMPILATION] = *outliers;
		return;
	}
	if (again > 0 && outliers->measured) {
		dw_fact_set_share(work, DW_FACT_OPERATORS_COMPILATION, operators_compiling_ns(work, (size_t)again),
		                  work->loop_ns, (size_t)again);
		return;
	}
	fact = dw_fact_set(work, DW_FACT_OPERATORS_COMPILATION, 0, 1);
	if (again > 0) {
		fact->measured = false;
		fact->missing = outliers->missing;
	}
}

/* ---- types ----------------------------------------------------------------------------------- */

/* Of the recorded forms of an operator: the part whose first tensor is in 32-bit floating point. */
static double operators_float32_part(const struct dw_facts_work *work, const char *name)
{
	double all = 0, float32 = 0;
	size_t count;

	dw_model_symbols(work->model, &count);
	for (size_t i = 0; i < count; i++) {
		const struct dw_symbol *symbol = &work->symbols[i];

		if (symbol->category != DWELL_CATEGORY_OPERATOR || !symbol->shapes ||
		    symbol->shapes->entry.bytes <= sizeof *symbol->shapes || strcmp(symbol->name, name) != 0)
			continue;
		all++;
		float32 += symbol->shapes->tensors[0] == DWELL_FLOAT32; /* the first field is the type */
	}
	return all > 0 ? float32 / all : 0;
}

static void operators_put_float32(struct dw_facts_work *work, double whole_ns)
{
	const char *fast = dw_facts_meta(work, DW_KEY_BFLOAT16);
	double ns = 0;

	if (!(work->facts->at[DW_FACT_TRACE_SHAPES].value > 0)) {
		dw_fact_miss(work, DW_FACT_OPERATORS_FLOAT32, "record with dwell run --shapes");
		return;
	}
	if (!fast) {
		dw_fact_miss(work, DW_FACT_OPERATORS_FLOAT32,
		             "the processor has no instructions for 16-bit floating point, or they are not in the trace");
		return;
	}
	for (size_t i = 0; i < work->loop->operator_count; i++) {
		const char *name = work->symbols[work->loop->operators[i].symbol].name;

		/* What a program in C calls a product may be more than that. */
		if (dw_operator_family_of(name) == DW_OPERATOR_PRODUCT && dw_known_framework_of(name) == DW_KNOWN_PYTORCH)
			ns += (double)work->loop->operators[i].ns * operators_float32_part(work, name);
	}
	dw_fact_set_share(work, DW_FACT_OPERATORS_FLOAT32, ns, whole_ns, work->loop->usual_count);
}

/* What DW_KEY_TORCH_FLOAT64 says of a name, as a ratio. */
static double operators_float64_part(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
		if ((at == list || at[-1] == ' ') && at[length] == '=')
			return fmin(1, fmax(0, strtod(at + length + 1, NULL) / 100));
	return 0;
}

static void operators_put_float64(struct dw_facts_work *work, double whole_ns)
{
	const char *list = dw_facts_meta(work, DW_KEY_TORCH_FLOAT64);
	const struct dw_loop_row *largest = NULL;
	double ns = 0, largest_ns = 0;
	struct dw_fact *fact;

	if (!list) {
		dw_fact_miss(work, DW_FACT_OPERATORS_FLOAT64, "the types of operators are not in the trace");
		return;
	}
	for (size_t i = 0; i < work->loop->operator_count; i++) {
		const struct dw_loop_row *row = &work->loop->operators[i];
		double own_ns = operators_float64_part(list, work->symbols[row->symbol].name) * (double)row->ns;

		ns += own_ns;
		if (own_ns > largest_ns) {
			largest_ns = own_ns;
			largest = row;
		}
	}
	fact = dw_fact_set_share(work, DW_FACT_OPERATORS_FLOAT64, ns, whole_ns, work->loop->usual_count);
	if (largest)
		dw_fact_name(work, fact, largest->symbol);
}

/* ---- other programs -------------------------------------------------------------------------- */

DW_ORDER(operators_compare, struct dw_loop_row, DW_DOWN(ns) DW_UP(symbol))

/* Where other programs use the CPUs, an operator that lost its own, or that waits for a thread without one, takes a
 * thousand times what it computes. Then the loop's operators have the times of its fast step. */
static bool operators_of_fast_step(struct dw_facts_work *work, struct dw_loop *loop)
{
	struct dw_loop_row *rows;
	double *by_row; /* of the model: what the fast step has of each name */
	size_t count;

	if (!work->fast)
		return false;
	dw_model_symbols(work->model, &count);
	*loop = *work->loop;
	loop->operators = rows = dw_arena_alloc(&work->model->arena, loop->operator_count * sizeof *rows);
	by_row = calloc(count + 1, sizeof *by_row);
	work->failed |= !rows || !by_row;
	for (size_t i = 0; by_row && i < count; i++)
		if (work->fast[i] > 0 && work->symbols[i].category == DWELL_CATEGORY_OPERATOR)
			by_row[dw_model_symbol_row(work->model, (uint32_t)i)] += work->fast[i];
	for (size_t row = 0; !work->failed && row < loop->operator_count; row++) {
		double ns = by_row[dw_model_symbol_row(work->model, work->loop->operators[row].symbol)];

		rows[row] = work->loop->operators[row];
		rows[row].ns = (uint64_t)(ns * (double)loop->usual_count);
	}
	if (!work->failed)
		DW_SORT(rows, loop->operator_count, operators_compare);
	loop->usual_ns = (uint64_t)(work->fast_ns * (double)loop->usual_count);
	free(by_row);
	return !work->failed;
}

static void operators_put_usual(struct dw_facts_work *work)
{
	const struct dw_loop *loop = work->loop;
	double whole_ns = (double)loop->usual_ns, steps = (double)loop->usual_count;
	struct sums sums = operators_sum(work);

	operators_put_largest(work, whole_ns, steps);
	dw_fact_set_share(work, DW_FACT_OPERATORS_SMALL, sums.small_ns, whole_ns, loop->usual_count);
	dw_fact_set(work, DW_FACT_OPERATORS_SMALL_COUNT, sums.small_count / steps, loop->usual_count);
	if (sums.small_count > 0)
		dw_fact_set(work, DW_FACT_OPERATORS_SMALL_MEAN, sums.small_ns / sums.small_count, loop->usual_count);
	operators_put_groups(work, &sums, whole_ns, steps);
	operators_put_moved(work, &sums, whole_ns);
	operators_put_compiled(work, steps);
	/* A few steps of another optimizer before the loop do not count. */
	dw_fact_set(work, DW_FACT_OPTIMIZER_FUSED, 2 * sums.fused_count >= steps, loop->usual_count);
	dw_fact_set(work, DW_FACT_OPTIMIZER_FOREACH, 2 * sums.foreach_count >= steps, loop->usual_count);
	operators_put_float64(work, whole_ns);
	operators_put_float32(work, whole_ns);
}

void dw_facts_of_operators(struct dw_facts_work *work)
{
	const struct dw_loop *all = work->loop;
	struct dw_loop loop;

	if (!work->steady_count)
		return;
	operators_put_steady(work);
	if (!all->operator_count || !all->usual_count) {
		for (unsigned id = DW_FACT_OPERATORS_LARGEST; id <= DW_FACT_OPERATORS_ELEMENTWISE; id++)
			dw_fact_miss(work, (enum dw_fact_id)id, "the steps have no operators");
		return;
	}
	if (operators_of_fast_step(work, &loop))
		work->loop = &loop;
	operators_put_usual(work);
	work->loop = all;
}
