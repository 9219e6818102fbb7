/*
 * What is counted of data loading: samples by who makes batches, and how many batches lay
 * ready when the loop asked for one. Programs that write the counters of format/keys.h have them.
 */
#ifndef DW_MODEL_TIME_LOADING_H
#define DW_MODEL_TIME_LOADING_H

#include "model/core/model.h"

struct dw_loading {
	uint64_t samples;
	uint64_t asked, ready;     /* ready ones, summed over the times that one was asked for */
};

/* By thread, of the scope; NULL with `error` when out of memory. */
const struct dw_loading *dw_model_loading(struct dw_model *model, struct dwell_error *error);

#endif
