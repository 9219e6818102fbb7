/* What samples.c and operators.c share: which samples count, and what is too few of them. */
#pragma once

#include "facts/work.h"
#include "model/samples/hot.h"

#define DW_FACTS_LEAST_SAMPLES 20u /* of a part */
#define DW_FACTS_LEAST_MOVES 0.6   /* the same, of a range whose loops only move data */

/* Of the loop's thread. */
struct samples_part {
	const struct dw_facts_work *work;
	bool in_step, between;     /* which of both count */
	uint32_t shares;           /* bits of enum dw_share */
	uint32_t named;            /* row of the name that the program gave; DW_NO_INDEX: any */
};

/* `context` is a struct samples_part. For dw_hot_make(), too. */
bool dw_facts_sample_wanted(void *context, const struct dw_sample_row *row);
/* Whether the innermost function is in a loop that only moves data. */
bool dw_facts_sample_moves(const struct dw_facts_work *work, const struct dw_sample_row *row);
/* Names a function by its short name, with its line. */
void dw_facts_name_sampled(struct dw_facts_work *work, struct dw_fact *fact, const struct dw_hot_row *row);
