/*
 * Steps of random traces: some threads step, while their ranges are drawn (random_stream.h).
 *
 * Steps of a thread ascend and do not overlap; some begin where the one before ended, some have no
 * length, were not recorded or do not end. Their borders need not lie at records.
 */
#pragma once

#include "random_stream.h"

struct random_step {
	uint32_t thread;
	uint64_t number, start, end;
	bool open, recorded;
};

extern struct random_step *random_steps; /* those of a thread in order */
extern size_t random_step_count;

/* For struct random_ask: forgets the last trace's steps; draws the begin or end of one. */
void random_steps_start(void);
void random_steps_draw(void);
/* Steps that have not ended last until the end of the process. Opens the trace. */
int random_steps_open(void);
