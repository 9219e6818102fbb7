/* Divides each counted step of a loop, for those who compare steps of several runs. */
#include <stdlib.h>

#include "base/error.h"
#include "facts/parts.h"
#include "facts/work.h"

/* Rounding changes the sum by some ns; the largest part takes them. */
static void divided_round(const double *parts, struct dw_divided_step *to)
{
	uint64_t length = to->step->end_ns - to->step->start_ns, sum = 0;
	unsigned largest = 0;

	for (unsigned p = 0; p < DW_PART_COUNT; p++) {
		to->part_ns[p] = (uint64_t)(parts[p] > 0 ? parts[p] : 0);
		sum += to->part_ns[p];
		if (to->part_ns[p] > to->part_ns[largest])
			largest = p;
	}
	if (to->part_ns[largest] + length >= sum)
		to->part_ns[largest] += length - sum;
}

static bool divided_fill(struct dw_facts_work *work, struct dw_divided_loop *divided)
{
	double parts[DW_PART_COUNT];

	divided->loop = work->begun;
	divided->steps = calloc(work->loop->count + 1, sizeof *divided->steps);
	if (!divided->steps)
		return false;
	dw_facts_choose_steady(work);
	for (size_t i = 0; i < work->loop->count; i++) {
		struct dw_divided_step *to = &divided->steps[divided->count];
		const struct dw_step *step = &work->all[i];

		to->alone = step->reduced && dw_step_has_phases(step) && step->whole && !step->open;
		if (!work->roles[i] && !to->alone)
			continue;
		to->step = step;
		to->warm_up = work->roles[i] == DW_ROLE_WARM_UP;
		dw_facts_divide(work, to->step, parts);
		divided_round(parts, to);
		divided->count++;
	}
	return true;
}

bool dw_facts_divide_loop(struct dw_model *model, size_t loop, struct dw_divided_loop *divided,
                          struct dwell_error *error)
{
	struct dw_facts *facts = malloc(sizeof *facts);
	struct dw_facts_work work;
	bool good = false;

	*divided = (struct dw_divided_loop){ NULL, 0, NULL, 0 };
	if (facts) {
		good = dw_facts_begin(&work, model, loop, facts);
		divided->loop_count = facts->loop_count;
		if (good && work.loop)
			good = divided_fill(&work, divided);
		dw_facts_end(&work);
	}
	free(facts);
	if (!good)
		dw_error_set(error, DWELL_E_NOMEM, "no memory for the steps of a loop");
	return good;
}
