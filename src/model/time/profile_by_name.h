/* Profile by name, shared by profile_by_name.c (rows) and profile_by_name_walk.c (the pass over the records). */
#ifndef DW_MODEL_TIME_PROFILE_BY_NAME_H
#define DW_MODEL_TIME_PROFILE_BY_NAME_H

#include "model/core/model_data.h"
#include "model/core/tally.h"
#include "model/time/profiles.h"

struct dw_flat_all {
	struct dw_tally *tallies; /* by row, in ticks of the first file */
	uint64_t *nested;         /* by row: what durations sum to beyond the time in the row */
	const uint32_t *row_symbol;
	uint32_t row_count;
	uint32_t categories;      /* that occur, ranges or not */
	uint64_t records, ranges, open, orphans, last_ns;
};

/* Adds up all streams into `all`, whose tallies are there and empty; `ranges` and the
 * categories of ranges are the caller's to find. `ops`: by file, then id. -1: out of memory. */
int dw_flat_walk(struct dw_model *model, const struct dw_op **ops, struct dw_flat_all *all);

#endif
