/* What the ranks of a summary worked, for the command that captures the slowest one. */
#pragma once

#include "summary/summary.h"

/* The time of the rank's counted steps and between them, without communication. */
uint64_t dw_watch_work(const struct dw_summary_rank *rank);
