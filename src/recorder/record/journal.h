/* When the journal's clock is looked at. */
#pragma once

#include "record/process_state.h"
#include "record/record.h"

void dw_journal_clock_due(uint64_t now); /* of dw_journal_look() */
/* Writes a CLOCK entry if one is due. Called where recording takes a slow path. */
static inline void dw_journal_look(uint64_t now)
{
	if (now >= DW_LOAD(dw_process->clock_ticks) || DW_LOAD(dw_process->clock_due))
		dw_journal_clock_due(now);
}
