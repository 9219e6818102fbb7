/*
 * Facts of shapes, if they were recorded: what steps take in which an operator meets a shape for the
 * first time.
 *
 * A shape that comes once says nothing of later ones. So only operators count that are called again
 * with the same shape. A step with a new shape may also be long because its input is large: so only
 * the time counts that it takes beyond nine tenths of the other steps. The warm-up is left out. Where operators were
 * recorded in some of the steps, the first step with a shape is not known.
 */

#include "base/numbers.h"
#include "base/order.h"
#include "facts/work.h"
#include "model/time/calls.h"

#define USUAL 0.9       /* of the other steps are at most this long */
#define WORTH 0.02      /* of the loop; if no more lies beyond usual steps, no step is looked up */

static double shapes_length(const struct dw_step *step)
{
	return (double)(step->end_ns - step->start_ns);
}

/* The step of the loop in which a time lies. SIZE_MAX: none. */
static size_t shapes_find_step(const struct dw_facts_work *work, uint64_t ns)
{
	size_t low = DW_FIRST(i, 0, work->loop->count, work->all[i].end_ns > ns);

	return low < work->loop->count && work->all[low].start_ns <= ns ? low : SIZE_MAX;
}

/* What the steps take beyond the length that nine tenths of the steps without new shapes have. */
static double shapes_excess(struct dw_facts_work *work, const bool *new_in, bool all, size_t *steps)
{
	size_t count = 0;
	double usual, sum = 0;

	*steps = 0;
	for (size_t i = 0; i < work->loop->count; i++)
		if (work->roles[i] & (DW_ROLE_STEADY | DW_ROLE_OUTLIER) && !new_in[i])
			work->values[count++] = shapes_length(&work->all[i]);
	if (!count)
		return 0;
	dw_sort_numbers(work->values, count);
	usual = work->values[(size_t)(USUAL * (double)(count - 1))];
	for (size_t i = 0; i < work->loop->count; i++) {
		double more = shapes_length(&work->all[i]) - usual;

		if (!(work->roles[i] & (DW_ROLE_STEADY | DW_ROLE_OUTLIER)) || (!all && !new_in[i]))
			continue;
		++*steps;
		sum += more > 0 ? more : 0;
	}
	return sum;
}

static void shapes_miss(struct dw_facts_work *work, const char *why)
{
	dw_fact_miss(work, DW_FACT_OPERATORS_FIRST_SHAPES, why);
	dw_fact_miss(work, DW_FACT_OPERATORS_NEW_SHAPES, why);
}

void dw_facts_of_shapes(struct dw_facts_work *work)
{
	const struct dw_calls_ask ask = { .group.shapes = true, .top_level = true };
	const struct dw_calls *calls;
	bool *new_in;
	size_t steps;
	double ns;

	if (!(work->facts->at[DW_FACT_TRACE_SHAPES].value > 0) || !(work->loop_ns > 0)) {
		shapes_miss(work, work->loop_ns > 0 ? "record with dwell run --shapes" : "only part of the run is in scope");
		return;
	}
	if (work->sampled < 1) {
		shapes_miss(work, "operators were recorded in some of the steps: record with dwell run --shapes --cost full");
		return;
	}
	new_in = calloc(work->loop->count + 1, sizeof *new_in);
	work->failed |= !new_in;
	if (new_in && shapes_excess(work, new_in, true, &steps) >= WORTH * work->loop_ns) {
		calls = dw_model_calls(work->model, &ask, NULL);
		work->failed |= !calls;
		for (size_t i = 0; calls && i < calls->count; i++) {
			size_t step = calls->rows[i].stat.count > 1 ? shapes_find_step(work, calls->rows[i].first_ns) : SIZE_MAX;

			if (step != SIZE_MAX)
				new_in[step] = true;
		}
	}
	if (new_in) {
		ns = shapes_excess(work, new_in, false, &steps);
		dw_fact_set_share(work, DW_FACT_OPERATORS_FIRST_SHAPES, ns, work->loop_ns, steps);
		dw_fact_set(work, DW_FACT_OPERATORS_NEW_SHAPES, (double)steps, steps);
	}
	free(new_in);
}
