/* See work.h. */
#include "watch/work.h"

uint64_t dw_watch_work(const struct dw_summary_rank *rank)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < rank->span_count; i++)
		ns += rank->spans[i].ns - rank->spans[i].part_ns[DW_PART_COMMUNICATION] + rank->spans[i].between_ns;
	return ns;
}
