/*
 * trainer.h - a training run: all that main.c prepares and releases, step.c computes
 * with and fit.c drives by engines.
 */
#pragma once

#include <stdio.h>

#include <dwell/compat/ignite.h>

#include "actions.h"
#include "device.h"
#include "loader.h"
#include "metrics.h"
#include "net.h"
#include "optim.h"
#include "options.h"
#include "ranks.h"

struct trainer {
	struct options options;
	struct ranks *ranks; /* NULL: this process alone */
	struct dnn dnn;
	struct device device;
	struct data_set data;
	struct params params;
	struct net training, evaluation;
	struct loader *loader;
	float *losses; /* of every step so far */
	int steps, step_limit;
	FILE *dump; /* NULL without --dump */

	struct dwell_lightning_profiler *profiler; /* NULL without --profiler */
	struct dwell_ignite_engine *trainer, *evaluator;
	struct batch batch;      /* the trainer's */
	struct held_out held_out; /* the evaluator's data */
	struct metrics training_metrics, held_out_metrics;
	double epoch_start;
};

/* ---- step.c: a batch of each engine, and what the engine does with it --------- */

int next_batch(void *trainer, void **batch);
int train_step(struct dwell_ignite_engine *engine, void *batch, void *trainer);
int next_held_out(void *trainer, void **batch);
int evaluation_step(struct dwell_ignite_engine *engine, void *batch, void *trainer);

/* ---- fit.c -------------------------------------------------------------------- */

void fit_prepare(struct trainer *trainer);
void fit_run(struct trainer *trainer);
