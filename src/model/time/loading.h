/*
 * What is counted of data loading: samples by who makes batches, and how many batches lay
 * ready when the loop asked for one. Two counters say so where a program writes them.
 */
#ifndef DW_MODEL_TIME_LOADING_H
#define DW_MODEL_TIME_LOADING_H

#include "model/model.h"

/* The counters' names: in the range that makes a batch, its samples; when one is asked for,
 * those that are ready. */
#define DW_LOADING_SAMPLES "batch samples"
#define DW_LOADING_QUEUE "DataLoader queue"

struct dw_loading {
	uint64_t samples;
	uint64_t asked, ready;     /* ready ones, summed over the times that one was asked for */
};

/* By thread, of the scope; NULL with `error` when out of memory. */
const struct dw_loading *dw_model_loading(struct dw_model *model, struct dwell_error *error);

#endif
