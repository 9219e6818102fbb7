/* How long iterations take, from the begin of a step to the next begin; see struct dw_iteration_times. */
#include <stdlib.h>

#include "base/order.h"
#include "model/steps/steps_build.h"

static bool iteration_counts(const struct dw_step *step, bool any_ended)
{
	return !step->open || !any_ended;
}

void dw_iterations_set_mean(struct dw_iteration_times *times)
{
	times->mean_ns = times->steps ? (times->loop_ns + times->steps / 2) / times->steps : 0;
}

int dw_steps_time_iterations(const struct dw_step *steps, size_t count, struct dw_iteration_times *times)
{
	uint64_t *lengths = malloc((count + 1) * sizeof *lengths);
	bool any_ended = false;
	size_t used = 0;

	*times = (struct dw_iteration_times){ .count = 0 };
	if (!lengths)
		return -1;
	for (size_t i = 0; i < count; i++)
		any_ended |= !steps[i].open;
	for (size_t i = 0; i < count; i++) {
		bool counts = iteration_counts(&steps[i], any_ended), known = counts && steps[i].next_ns;

		times->steps += counts;
		times->loop_ns += !counts ? 0 : known ? steps[i].next_ns - steps[i].start_ns : dw_step_length(&steps[i]);
		if (known)
			lengths[times->count++] = steps[i].next_ns - steps[i].start_ns;
	}
	for (size_t i = 0; !times->count && i < count; i++)
		if (iteration_counts(&steps[i], any_ended))
			lengths[used++] = dw_step_length(&steps[i]);
	used = times->count ? times->count : used;
	qsort(lengths, used, sizeof *lengths, dw_compare_u64);
	dw_iterations_set_mean(times);
	times->p50_ns = dw_steps_quantile(lengths, used, 0.50);
	times->p95_ns = dw_steps_quantile(lengths, used, 0.95);
	times->p99_ns = dw_steps_quantile(lengths, used, 0.99);
	free(lengths);
	return 0;
}
