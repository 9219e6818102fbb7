/*
 * Time between steps: from the end of a step to the begin of the next one, in which the others may wait as
 * they do in a step. A checkpoint, an evaluation or a log is often there.
 *
 * What the process was blocked in collectives is not its work and is left out. A process that recorded no
 * collectives has no such time: how much of it was communication is not known.
 */

#include "base/error.h"
#include "base/order.h"
#include "model/collectives/collectives.h"
#include "summary/summary.h"

struct interval {
	uint64_t start_ns, end_ns;
};

DW_ORDER(between_compare, struct interval, DW_UP(start_ns))

/* When the process was blocked: sorted, and apart from each other. */
static size_t between_blocked(const struct dw_collectives *collectives, uint32_t process, struct interval *blocked)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < collectives->count; i++) {
		const struct dw_collective *one = &collectives->collectives[i];

		if (one->process == process && one->blocked_ns)
			blocked[count++] = (struct interval){ one->leave_ns - one->blocked_ns, one->leave_ns };
	}
	DW_SORT(blocked, count, between_compare);
	for (size_t i = 0; i < count; i++) {
		struct interval *last = kept ? &blocked[kept - 1] : NULL;

		if (!last || blocked[i].start_ns > last->end_ns)
			blocked[kept++] = blocked[i];
		else if (blocked[i].end_ns > last->end_ns)
			last->end_ns = blocked[i].end_ns;
	}
	return kept;
}

/* The time before a step, which begins at the end of the step with the number before. */
static struct interval between_gap(const struct dw_loop *loop, const struct dw_step *all, const struct dw_step *step)
{
	size_t at = (size_t)(step - all);
	const struct dw_step *before = at > loop->first_step ? step - 1 : NULL;

	if (!before || before->open || before->number + 1 != step->number || before->end_ns > step->start_ns)
		return (struct interval){ step->start_ns, step->start_ns };
	return (struct interval){ before->end_ns, step->start_ns };
}

bool dw_summary_find_between(struct dw_model *model, uint32_t process, const struct dw_divided_loop *divided,
                             const struct dw_step *all, uint64_t *between_ns, struct dwell_error *error)
{
	const struct dw_collectives *collectives = dw_model_collectives(model, error);
	struct interval *blocked = collectives ? malloc((collectives->count + 1) * sizeof *blocked) : NULL;
	size_t count = blocked ? between_blocked(collectives, process, blocked) : 0;

	for (size_t i = 0, from = 0; count && i < divided->count; i++) {
		struct interval gap = between_gap(divided->loop, all, divided->steps[i].step);

		between_ns[i] = gap.end_ns - gap.start_ns;
		while (from < count && blocked[from].end_ns <= gap.start_ns)
			from++;
		for (size_t k = from; k < count && blocked[k].start_ns < gap.end_ns; k++) {
			uint64_t start = blocked[k].start_ns > gap.start_ns ? blocked[k].start_ns : gap.start_ns;
			uint64_t end = blocked[k].end_ns < gap.end_ns ? blocked[k].end_ns : gap.end_ns;

			between_ns[i] -= end > start ? end - start : 0;
		}
	}
	free(blocked);
	return blocked != NULL;
}
