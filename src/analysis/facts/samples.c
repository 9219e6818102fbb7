/*
 * Facts from samples of call stacks: the function that takes most of the loop's thread's CPU time in
 * a part of the step, with its line.
 *
 * A share is of the CPU time that was sampled in that part. Its interval is that of the samples. With
 * fewer than LEAST samples it is not measured. The function is named only if it certainly has NAMED.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "facts/work.h"
#include "model/samples/hot.h"

#define LEAST 20u    /* samples of a part */
#define NAMED 0.15   /* of the part's CPU time */

struct samples_part {
	const struct dw_facts_work *work;
	bool in_step, between;     /* which of both count */
	uint32_t shares;           /* bits of enum dw_share */
	uint32_t named;            /* row of the name that the program gave; DW_NO_INDEX: any */
};

static bool samples_want(void *context, const struct dw_sample_row *row)
{
	const struct samples_part *part = context;

	return row->thread == part->work->loop->thread && part->shares >> row->share & 1 &&
	       ((part->in_step && row->where == DW_SAMPLE_IN_STEP) ||
	        (part->between && row->where == DW_SAMPLE_BETWEEN)) &&
	       (part->named == DW_NO_INDEX || (row->named != DW_NO_INDEX &&
	                                       dw_model_symbol_row(part->work->model, row->named) == part->named));
}

static void samples_put(struct dw_facts_work *work, enum dw_fact_id id, const struct dw_hot *hot,
                        const struct dw_hot_row *top, double weight)
{
	double share = hot->weight ? weight / (double)hot->weight : 0;
	double error = dw_samples_error(share, hot->weight, hot->squares);
	char place[300];
	struct dw_fact *fact;

	if (hot->samples < LEAST) {
		dw_fact_miss(work, id, "fewer than 20 samples of call stacks lie there");
		return;
	}
	fact = dw_fact_set_share(work, id, share, 1, hot->samples);
	fact->low = fmax(0, share - error);
	fact->high = fmin(1, share + error);
	if (!top || fact->low < NAMED)
		return;
	fact->name = dw_facts_text(work, top->name, strlen(top->name));
	if (*dw_hot_place(top, place, sizeof place))
		fact->where = dw_facts_text(work, place, strlen(place));
}

/* The function with most self time in a part. */
static void samples_put_top(struct dw_facts_work *work, enum dw_fact_id id, struct samples_part part, bool python)
{
	struct dw_hot_ask ask = { .by = python ? DW_HOT_PYTHON : 0, .wants = samples_want, .context = &part };
	size_t top = 0;
	struct dw_hot hot;

	if (dw_hot_make(&hot, work->model, &ask)) {
		while (python && top < hot.count && !hot.rows[top].file)
			top++;
		samples_put(work, id, &hot, top < hot.count ? &hot.rows[top] : NULL,
		            top < hot.count ? (double)hot.rows[top].self : 0);
	} else {
		work->failed = true;
	}
	dw_hot_reset(&hot);
}

/* The functions whose names begin with one of a list. */
static void samples_put_kind(struct dw_facts_work *work, enum dw_fact_id id, struct samples_part part,
                             const char *const *names)
{
	struct dw_hot_ask ask = { .wants = samples_want, .context = &part };
	double weight = 0;
	struct dw_hot hot;

	if (!dw_hot_make(&hot, work->model, &ask))
		work->failed = true;
	for (size_t i = 0; i < hot.count; i++)
		for (const char *const *name = names; *name; name++)
			if (strncmp(hot.rows[i].name, *name, strlen(*name)) == 0) {
				weight += (double)hot.rows[i].self;
				break;
			}
	samples_put(work, id, &hot, NULL, weight);
	dw_hot_reset(&hot);
}

void dw_facts_of_samples(struct dw_facts_work *work)
{
	static const char *const allocators[] = { "malloc", "free", "calloc", "realloc", "_int_malloc", "_int_free", "cfree",
		"__libc_malloc", "__libc_calloc", "__libc_free", "operator new", "operator delete", NULL };
	static const char *const copies[] = { "memcpy", "memmove", "memset", "__memcpy", "__memmove", "__memset", NULL };
	static const enum dw_fact_id ids[] = { DW_FACT_SAMPLES_STEP, DW_FACT_SAMPLES_FUNCTION, DW_FACT_SAMPLES_PYTHON,
		DW_FACT_SAMPLES_UNNAMED, DW_FACT_SAMPLES_NAMED, DW_FACT_SAMPLES_BETWEEN, DW_FACT_SAMPLES_ALLOCATION,
		DW_FACT_SAMPLES_COPY };
	const struct dw_samples *samples = dw_model_samples(work->model, NULL);
	struct samples_part part = { work, true, false, UINT32_MAX, DW_NO_INDEX }, python = part, unnamed = part,
	                    named = part, between = part;
	const struct dw_fact *largest = &work->facts->at[DW_FACT_STEP_NAMED_LARGEST];
	uint64_t count = 0;

	work->failed |= !samples;
	if (!samples || !samples->count) {
		for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
			dw_fact_miss(work, ids[i], "record with dwell run --sample 100");
		return;
	}
	for (size_t i = 0; i < samples->count; i++)
		count += samples_want(&part, &samples->rows[i]) ? samples->rows[i].count : 0;
	dw_fact_set(work, DW_FACT_SAMPLES_STEP, (double)count / (double)(work->loop->count ? work->loop->count : 1), count);
	samples_put_top(work, DW_FACT_SAMPLES_FUNCTION, part, false);
	python.between = true;
	python.shares = 1u << DW_SHARE_PYTHON;
	samples_put_top(work, DW_FACT_SAMPLES_PYTHON, python, true);
	unnamed.shares = 1u << DW_SHARE_OTHER;
	samples_put_top(work, DW_FACT_SAMPLES_UNNAMED, unnamed, false);
	between.in_step = false;
	between.between = true;
	samples_put_top(work, DW_FACT_SAMPLES_BETWEEN, between, work->python);
	if (largest->measured && largest->symbol != DW_NO_INDEX)
		named.named = dw_model_symbol_row(work->model, largest->symbol);
	named.shares = 1u << DW_SHARE_NAMED;
	samples_put_top(work, DW_FACT_SAMPLES_NAMED, named, work->python);
	samples_put_kind(work, DW_FACT_SAMPLES_ALLOCATION, part, allocators);
	samples_put_kind(work, DW_FACT_SAMPLES_COPY, part, copies);
}
