/*
 * Ranks that are the stages of a pipeline: each exchanges messages with the ranks next to it, and waits for them.
 *
 * Their work differs by design, so what is of interest is which stage works longest, because all others wait for it, and
 * how long each stage has nothing to do, its bubble.
 */
#include <stdlib.h>

#include "ranks/ranks.h"

#define LEAST_MESSAGES 0.5 /* of the communication: what is in messages */

/* Messages of a rank: how much of its communication they are, and whether all of them are with ranks next to it. The times of
 * messages are of the whole run, in which the first one waits until all ranks have started: their share of the communication
 * is also that of the steps that are compared. */
static bool pipeline_add_rank(struct dw_rank_result *result, double *all_ns, double *messages_ns)
{
	const struct dw_summary_rank *rank = result->rank;
	double own_ns = 0, blocked_ns = 0;
	bool neighbours = true;
	int from, to;

	for (size_t c = 0; c < rank->collective_count; c++) {
		blocked_ns += (double)rank->collectives[c].blocked_ns;
		if (!dw_summary_is_pair(rank->collectives[c].group, &from, &to))
			continue;
		own_ns += (double)rank->collectives[c].blocked_ns;
		neighbours &= abs(from - to) == 1;
	}
	result->message_ns = blocked_ns > 0 ? result->communication_ns * own_ns / blocked_ns : 0;
	*all_ns += blocked_ns;
	*messages_ns += own_ns;
	return neighbours && own_ns > 0;
}

void dw_ranks_find_pipeline(struct dw_ranks *ranks)
{
	double all_ns = 0, messages_ns = 0, work_ns = 0;
	bool neighbours = ranks->waits_known && ranks->step_ns > 0;

	for (size_t i = 0; i < ranks->count; i++) {
		struct dw_rank_result *result = &ranks->results[i];

		neighbours &= pipeline_add_rank(result, &all_ns, &messages_ns);
		work_ns += result->work_ns;
		if (result->work_ns > ranks->results[ranks->longest_stage].work_ns)
			ranks->longest_stage = i;
	}
	ranks->pipeline = neighbours && messages_ns > 0 && messages_ns >= LEAST_MESSAGES * all_ns;
	ranks->pipeline_gain = (ranks->results[ranks->longest_stage].work_ns - work_ns / (double)ranks->count) / ranks->step_ns;
}
