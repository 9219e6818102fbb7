/* Fills a fact: its value, interval and name, or why it is not measured. */
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "facts/work.h"
#include "model/core/model_data.h"

#define BLOCK 5u        /* least steps of a block */
#define MOST_BLOCKS 20u

struct dw_fact *dw_fact_set(struct dw_facts_work *work, enum dw_fact_id id, double value, size_t samples)
{
	struct dw_fact *fact = &work->facts->at[id];

	*fact = (struct dw_fact){ .measured = true, .value = value, .low = value, .high = value,
		                      .samples = samples, .symbol = DW_NO_INDEX };
	return fact;
}

struct dw_fact *dw_fact_set_share(struct dw_facts_work *work, enum dw_fact_id id, double part,
                                  double whole, size_t samples)
{
	struct dw_fact *fact = dw_fact_set(work, id, whole > 0 ? fmin(1, fmax(0, part / whole)) : 0, samples);

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

/* The 95% interval of the median of a sorted array: the order statistics at n/2 - and + 0.98
 * sqrt(n). */
static void work_put_interval(struct dw_fact *fact, const double *sorted, size_t count)
{
	double rank = floor(((double)count - DW_DEVIATIONS * sqrt((double)count)) / 2);
	size_t low = rank >= 1 ? (size_t)rank - 1 : 0;

	fact->low = fmin(fact->value, sorted[low]);
	fact->high = fmax(fact->value, sorted[count - 1 - low]);
}

struct dw_fact *dw_fact_set_median(struct dw_facts_work *work, enum dw_fact_id id, size_t count)
{
	double median = dw_median(work->values, count);
	struct dw_fact *fact = dw_fact_set(work, id, median, count);

	if (count)
		work_put_interval(fact, work->values, count);
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
		dw_sort_numbers(shares, blocks);
		work_put_interval(fact, shares, blocks);
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

const char *dw_facts_text(struct dw_facts_work *work, const char *text, size_t length)
{
	const char *copy = dw_arena_text(&work->model->arena, text, length);

	work->failed |= !copy;
	return copy;
}
