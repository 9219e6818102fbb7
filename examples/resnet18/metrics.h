/*
 * metrics.h - Accuracy and Loss over an engine's epoch, as Ignite's metrics: reset
 * at EPOCH_STARTED, fed at ITERATION_COMPLETED, results of the engine ("accuracy",
 * "loss") at EPOCH_COMPLETED. Also the held-out digits as an engine's data.
 */
#pragma once

#include <dwell/compat/ignite.h>

#include "loader.h"
#include "net.h"

struct metrics {
	const struct net *net; /* that the engine's step has run */
	double loss, correct;
	int images;
};

/* `metrics` and `net` must live as long as the engine. */
int metrics_attach(struct metrics *metrics, struct dwell_ignite_engine *engine, const struct net *net,
				   struct dwell_error *error);

/* One pass over digits in their order; the last batch may be padded. */
struct held_out {
	const struct digits *digits;
	struct batch batch;
	int first;
};
void held_out_init(struct held_out *held_out, const struct digits *digits, int batch_size);
void held_out_reset(struct held_out *held_out);
uint64_t held_out_batches(const struct held_out *held_out);
/* 1, or 0 at the end, as a source of an engine. */
int held_out_next(struct held_out *held_out, void **batch);
