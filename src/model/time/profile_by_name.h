/* The profile by name, for profile_by_name_pass.c and for passes that also compute other products. */
#pragma once

#include "model/core/product.h"
#include "model/core/tally.h"
#include "model/time/profiles.h"

struct dw_flat_all {
	struct dw_tally *tallies; /* by row, in ticks of the first file */
	uint64_t *nested;         /* by row: sum of durations minus the time in which a call is open */
	const uint32_t *row_symbol;
	uint32_t row_count;
	uint32_t categories;      /* bits of the categories that occur, of ranges and other records */
	uint64_t records, ranges, open, orphans, last_ns;
};

/* The product with all categories; its key is the enum dw_by. */
/* Sets the rows of a zeroed profile. Returns the row and kind of each id, by file. NULL: out of
 * memory. */
const struct dw_op **dw_profile_prepare(struct dw_model *model, struct dw_flat_all *all, enum dw_by by);
/* Computes the sums over all rows. Call it when all tallies are complete. */
void dw_profile_finish(const struct dw_model *model, struct dw_flat_all *all);
