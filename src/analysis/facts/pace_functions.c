/*
 * The function whose CPU time a step changes over the run, from samples: for programs whose steps have no parts that
 * could have a pace of their own.
 *
 * The CPU time of each function in a step of the first half of the loop is compared with that in the second half. The
 * clock of the processor changes all functions alike, and so does more of the same work; what one changes beyond the pace
 * of all others is its own. Only if one thread works.
 */
#include <math.h>
#include <string.h>

#include "facts/pace_fit.h"
#include "facts/work.h"
#include "model/samples/hot.h"

#define LEAST 60u          /* samples in a half */

/* The functions in the steps of a part of the loop. */
struct half {
	struct dw_hot hot;
	struct dw_model *model;
	double steps;
};

static bool functions_want(void *context, const struct dw_sample_row *row)
{
	const struct dw_facts_work *work = context;

	return row->thread == work->loop->thread && row->where == DW_SAMPLE_IN_STEP;
}

static bool functions_of(struct dw_facts_work *work, uint64_t from_ns, uint64_t to_ns, struct half *half)
{
	struct dw_hot_ask ask = { .wants = functions_want, .context = work };

	for (size_t i = 0; i < work->loop->count; i++)
		half->steps += work->all[i].start_ns >= from_ns && work->all[i].end_ns <= to_ns;
	half->model = dw_facts_loop_model(work->model, from_ns, to_ns, NULL);
	return half->model && dw_hot_make(&half->hot, half->model, &ask) && half->hot.samples >= LEAST && half->steps > 0;
}

static double functions_self(const struct half *half, const char *name)
{
	for (size_t i = 0; i < half->hot.count; i++)
		if (strcmp(half->hot.rows[i].name, name) == 0)
			return (double)half->hot.rows[i].self / half->steps;
	return 0;
}

/* The largest change of one function, as a part of the whole change. NAN: nearly all is one function, whose pace is that of all. */
static double functions_own(const struct half *first, const struct half *second, const char **name)
{
	const struct dw_hot *rows = (double)second->hot.weight * first->steps > (double)first->hot.weight * second->steps
	                                ? &second->hot
	                                : &first->hot;
	double before = (double)first->hot.weight / first->steps, after = (double)second->hot.weight / second->steps, most = 0;

	for (size_t i = 0; i < rows->count; i++) {
		double here = functions_self(first, rows->rows[i].name), then = functions_self(second, rows->rows[i].name);
		double others = before - here, own = then - here * (others > 0 ? (after - then) / others : 1);

		if (others < DW_PACE_LEAST * before)
			return NAN;
		if ((own > 0) != (after > before))
			continue;
		own = fabs(own) / fmax(fabs(own), fabs(after - before));
		if (own > most) {
			most = own;
			*name = rows->rows[i].name;
		}
	}
	return most;
}

double dw_facts_pace_of_functions(struct dw_facts_work *work, const char **name)
{
	uint64_t start = work->loop->start_ns, end = work->loop->end_ns, middle = start + (end - start) / 2;
	struct half first = { .steps = 0 }, second = { .steps = 0 };
	double own = NAN;

	if (work->python || !dw_source_has_samples(work->source) || !(work->loop_ns > 0) || !dw_facts_one_thread_works(work))
		return NAN;
	if (functions_of(work, start, middle, &first) && functions_of(work, middle, end, &second))
		own = functions_own(&first, &second, name);
	if (own > 0)
		*name = dw_facts_text(work, *name, strlen(*name));
	dw_hot_reset(&first.hot);
	dw_hot_reset(&second.hot);
	dw_model_forget(first.model);
	dw_model_forget(second.model);
	return own;
}
