/*
 * Facts of ranges under names that the program gave, other than those of forward, backward, data and so on: the name
 * that takes most of the steady steps. A program may use any number of names; a step keeps the time of each.
 */
#include <stdlib.h>

#include "facts/parts.h"
#include "facts/work.h"

/* In Lightning and Ignite, actions, events and handlers have the framework's names: they do not say that the program
 * itself named a part of its step. */
static bool named_by_framework(const struct dw_facts_work *work, uint32_t symbol)
{
	uint32_t category = work->symbols[symbol].category;

	return (work->facts->framework == DW_FACTS_LIGHTNING || work->facts->framework == DW_FACTS_IGNITE) &&
	       category != DWELL_CATEGORY_ZONE && category != DWELL_CATEGORY_PHASE;
}

/* Names with most time in the steady steps; DW_NO_INDEX: there is none. */
struct named {
	uint32_t all;  /* of all names */
	uint32_t own;  /* of those that no framework gave */
};

static void named_find(struct dw_facts_work *work, struct named *named)
{
	size_t symbol_count;
	uint64_t *ns;

	*named = (struct named){ DW_NO_INDEX, DW_NO_INDEX };
	dw_model_symbols(work->model, &symbol_count);
	ns = calloc(symbol_count + 1, sizeof *ns);
	work->failed |= !ns;
	for (size_t i = 0; ns && i < work->steady_count; i++)
		for (uint32_t p = 0; p < work->steady[i]->part_count; p++)
			ns[work->steady[i]->parts[p].symbol] += work->steady[i]->parts[p].ns;
	for (uint32_t symbol = 0; ns && symbol < symbol_count; symbol++) {
		if (!ns[symbol])
			continue;
		if (named->all == DW_NO_INDEX || ns[symbol] > ns[named->all])
			named->all = symbol;
		if (!named_by_framework(work, symbol) && (named->own == DW_NO_INDEX || ns[symbol] > ns[named->own]))
			named->own = symbol;
	}
	free(ns);
}

struct dw_fact *dw_facts_put_named(struct dw_facts_work *work, enum dw_fact_id id, uint32_t symbol)
{
	struct dw_fact *fact;

	for (size_t i = 0; i < work->steady_count; i++) {
		const struct dw_step *step = work->steady[i];

		work->values[i] = 0;
		for (uint32_t p = 0; p < step->part_count; p++)
			if (step->parts[p].symbol == symbol)
				work->values[i] += (double)step->parts[p].ns;
	}
	fact = dw_fact_set_steps(work, id);
	dw_fact_name(work, fact, symbol);
	return fact;
}

void dw_facts_of_named(struct dw_facts_work *work)
{
	struct named named;

	named_find(work, &named);
	dw_facts_put_named(work, DW_FACT_STEP_NAMED_LARGEST, named.own);
	if (work->facts->at[DW_FACT_STEP_NAMED].value > 0)
		dw_fact_name(work, &work->facts->at[DW_FACT_STEP_NAMED], named.all);
}
