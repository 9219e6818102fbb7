/* What the program's other threads and its child processes use CPUs for, while the loop's thread wants one: the function of the program
 * that has most of their time, and whether they only wait. */
#include <string.h>

#include "base/text.h"
#include "facts/sampled.h"

static bool taken_by_others(void *context, const struct dw_sample_row *row)
{
	return row->thread != ((const struct dw_facts_work *)context)->loop->thread;
}

static bool taken_by_loop(void *context, const struct dw_sample_row *row)
{
	return !taken_by_others(context, row);
}

static bool taken_by_all(void *context, const struct dw_sample_row *row)
{
	(void)context;
	(void)row;
	return true;
}

/* Leaves out functions in which the loop's thread mostly is, too, as main(). */
static void taken_leave_out(const struct dw_facts_work *work, struct dw_sampled *of)
{
	struct dw_sampled loop;

	dw_sampled_find(work, taken_by_loop, (void *)work, &loop);
	for (size_t k = 0; k < loop.count; k++)
		for (size_t i = 0; i < of->count && (double)loop.at[k].total >= DW_SAMPLED_MOST * (double)loop.weight; i++)
			if (strcmp(of->at[i].name, loop.at[k].name) == 0 && dw_text_same(of->at[i].file, loop.at[k].file))
				of->at[i].total = 0;
}

/* A function of Python may have most of it with what it calls. One that is on the loop's stack, too, is no work of the others: a child
 * process has the frames of the function that forked it. */
static bool taken_in_python(struct dw_facts_work *work)
{
	const struct dw_sampled_function *function;
	struct dw_sampled sampled, all;
	struct dw_fact *fact;

	dw_sampled_find(work, taken_by_others, work, &sampled);
	dw_sampled_find(work, taken_by_all, work, &all);
	taken_leave_out(work, &sampled);
	function = dw_sampled_region(&sampled, &all);
	if (!function)
		return false;
	fact = dw_fact_set_share(work, DW_FACT_CPU_TAKEN, (double)function->total, (double)sampled.weight, 1);
	fact->name = dw_sampled_text(work, function);
	return true;
}

static bool taken_in_native(struct dw_facts_work *work)
{
	const struct dw_hot_ask ask = { .by = DW_HOT_OWN, .wants = taken_by_others, .context = work };
	const struct dw_hot_row *most;
	bool found = false;
	double low, high;
	struct dw_hot hot;

	work->failed |= !dw_hot_make(&hot, work->model, &ask);
	most = hot.count && dw_hot_is_function(&hot.rows[0]) && hot.rows[0].file ? &hot.rows[0] : NULL;
	if (most) {
		double self = (double)most->self, all = (double)hot.weight;

		dw_samples_interval(self / all, hot.weight, hot.squares, &low, &high);
		found = self >= DW_SAMPLED_MOST * all && low >= DW_SAMPLES_NAMED;
		if (found)
			dw_facts_name_sampled(work, dw_fact_set_share(work, DW_FACT_CPU_TAKEN, self, all, 1), most);
	}
	dw_hot_reset(&hot);
	return found;
}

static void taken_put_spun(struct dw_facts_work *work)
{
	const struct dw_samples *samples = dw_model_samples(work->model, NULL);
	double spun = 0, all = 0;
	uint32_t within;

	for (size_t i = 0; samples && i < samples->count; i++)
		if (taken_by_others(work, &samples->rows[i])) {
			all += (double)samples->rows[i].weight;
			spun += dw_sample_spins(work->source, &samples->rows[i], &within) ? (double)samples->rows[i].weight : 0;
		}
	if (spun >= DW_SAMPLED_MOST * all && spun > 0)
		dw_fact_set_share(work, DW_FACT_CPU_SPUN, spun, all, 1);
	else
		dw_fact_miss(work, DW_FACT_CPU_SPUN, "less than half of it");
}

void dw_facts_of_taken(struct dw_facts_work *work)
{
	dw_fact_miss(work, DW_FACT_CPU_TAKEN, "no function of the program has half of it");
	dw_fact_miss(work, DW_FACT_CPU_SPUN, "no samples");
	if (!dw_source_has_samples(work->source))
		return;
	if (!taken_in_python(work))
		taken_in_native(work);
	taken_put_spun(work);
}
