/* How long iterations take, from the begin of a step to the next begin; see struct dw_iteration_times. */
#include <stdlib.h>

#include "base/order.h"
#include "model/steps/steps_build.h"

int dw_steps_time_iterations(const struct dw_step *steps, size_t count, struct dw_iteration_times *times)
{
	uint64_t *lengths = malloc((count + 1) * sizeof *lengths);
	size_t known = 0, used;

	*times = (struct dw_iteration_times){ .count = 0 };
	if (!lengths)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (steps[i].next_ns)
			lengths[known++] = steps[i].next_ns - steps[i].start_ns;
	for (size_t i = 0; !known && i < count; i++)
		lengths[i] = dw_step_length(&steps[i]);
	used = known ? known : count;
	qsort(lengths, used, sizeof *lengths, dw_compare_u64);
	times->count = known;
	for (size_t i = 0; i < used; i++)
		times->sum_ns += lengths[i];
	times->mean_ns = used ? (times->sum_ns + used / 2) / used : 0;
	times->p50_ns = dw_steps_quantile(lengths, used, 0.50);
	times->p95_ns = dw_steps_quantile(lengths, used, 0.95);
	times->p99_ns = dw_steps_quantile(lengths, used, 0.99);
	free(lengths);
	return 0;
}
