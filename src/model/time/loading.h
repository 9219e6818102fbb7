/*
 * Counters of data loading: samples, by the thread that makes batches, and how many batches were
 * ready when the loop asked for one. For programs that write the counters of format/keys.h.
 */
#ifndef DW_MODEL_TIME_LOADING_H
#define DW_MODEL_TIME_LOADING_H

#include "model/core/model.h"

struct dw_loading {
	uint64_t samples;
	uint64_t asked, ready;     /* number of times that a batch was requested; sum of the batches
	                            * that were ready at these times */
};

/* By thread, for the model's scope. NULL with `error` if memory ran out. */
const struct dw_loading *dw_model_loading(struct dw_model *model, struct dwell_error *error);

#endif
