/*
 * Data loading: who makes batches, who waits for them.
 *
 * Ranges of category data are the loop's on a thread that steps, and a worker's
 * anywhere else. Two counters say more where a program writes them: "loader queue", in the
 * loop's thread, batches that lay ready when it asked for one; and "batch samples", by
 * whoever makes a batch, within its range.
 */
#ifndef DW_MODEL_LOADING_H
#define DW_MODEL_LOADING_H

#include "model/model.h"

/* The names of the two counters. */
#define DW_LOADING_QUEUE "loader queue"
#define DW_LOADING_SAMPLES "batch samples"

struct dw_loading_row {
	uint32_t symbol, thread;    /* indices */
	bool worker;                /* of a thread that does not step */
	bool leads;                 /* the first row of its thread */
	uint64_t count, samples;    /* samples 0: not known */
	uint64_t total_ns, max_ns;
	uint64_t sampled_ns;        /* of total_ns, of ranges whose samples are known */
	uint64_t first_ns, last_ns; /* from the first one's begin to the last one's end */
};

struct dw_loading {
	struct dw_loading_row *rows; /* the loop's first, then by total time, descending */
	size_t count;
	size_t workers;              /* most threads that loaded at the same stretch of time */
	uint64_t worker_count, worker_ns; /* ranges of workers */
	uint64_t own_count, own_ns;  /* batches that the loop made itself: with samples */
	uint64_t asked, empty;       /* "loader queue": times asked, times nothing was ready */
	double ready;                /* the sum of what was ready */
};

/* In the model's arena, computed anew at each call; NULL with `error` when out of memory. */
const struct dw_loading *dw_model_loading(struct dw_model *model, struct dwell_error *error);

#endif
