/* See where.h. */
#include "watch/where.h"

#include <math.h>
#include <stdio.h>

void dw_watch_where(const struct dw_summary_rank *rank, char *text, size_t size)
{
	const struct dw_summary_open *open = NULL;

	*text = '\0';
	for (size_t c = 0; c < rank->collective_count; c++) {
		const struct dw_summary_collective *collective = &rank->collectives[c];

		if (collective->open && collective->last_sequence) {
			snprintf(text, size, "in %s of group %s, number %llu", collective->operation, collective->group,
			         (unsigned long long)collective->last_sequence);
			return;
		}
	}
	for (size_t i = 0; i < rank->open_count && !(open && open->communication); i++)
		open = &rank->open[i];
	if (open)
		snprintf(text, size, "in %s", open->name);
}

double dw_watch_usual(const struct dw_summary_rank *rank)
{
	uint64_t all = 0, until = 0;

	for (size_t i = 0; i < rank->duration_count; i++)
		all += rank->durations[i].steps;
	for (size_t i = 0; i < rank->duration_count; i++) {
		until += rank->durations[i].steps;
		if (until * 2 >= all)
			return exp2(8.0 + (rank->durations[i].bucket + 0.5) / 4);
	}
	return 0;
}

uint64_t dw_watch_work(const struct dw_summary_rank *rank)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < rank->span_count; i++)
		ns += rank->spans[i].ns - rank->spans[i].part_ns[DW_PART_COMMUNICATION] + rank->spans[i].between_ns;
	return ns;
}
