/* What a summary says of one rank: where it is, and what its steps usually take. For files of this folder. */
#pragma once

#include "summary/summary.h"

/* What the thread of the rank's steps is in: "in all_reduce of group world, number 512"; "" if that is not known. */
void dw_watch_where(const struct dw_summary_rank *rank, char *text, size_t size);
/* The median of a rank's steps, by their buckets; 0: it has none. */
double dw_watch_usual(const struct dw_summary_rank *rank);
/* The time of the rank's counted steps and between them, without communication. */
uint64_t dw_watch_work(const struct dw_summary_rank *rank);
