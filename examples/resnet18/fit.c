/*
 * fit.c - the training run as loops with events and handlers (dwell/compat/ignite.h): a trainer, an
 * evaluator that a handler runs after each epoch, and the handlers that print.
 */
#include <stdio.h>

#include <dwell/compat/ignite.h>
#include <dwell/probe.h>

#include "timing.h"
#include "trainer.h"

static int fit_log_loss(struct dwell_ignite_engine *engine, void *user)
{
	(void)user;
	DWELL_COUNTER("loss", dwell_ignite_engine_state(engine)->output);
	return 0;
}

static int fit_begin_epoch(struct dwell_ignite_engine *engine, void *user)
{
	struct trainer *trainer = user;

	(void)engine;
	trainer->epoch_start = now_s();
	actions_call(trainer->profiler, ACTION_ON_TRAIN_EPOCH_START);
	actions_start(trainer->profiler, ACTION_RUN_TRAINING_EPOCH);
	return 0;
}

static int fit_end_epoch(struct dwell_ignite_engine *engine, void *user)
{
	struct trainer *trainer = user;

	(void)engine;
	actions_stop(trainer->profiler, ACTION_RUN_TRAINING_EPOCH);
	actions_call(trainer->profiler, ACTION_ON_TRAIN_EPOCH_END);
	return 0;
}

/* The hooks before and after the evaluation on the held-out digits. */
static void fit_begin_evaluation(struct dwell_lightning_profiler *profiler)
{
	actions_call(profiler, ACTION_ON_VALIDATION_MODEL_ZERO_GRAD);
	actions_call(profiler, ACTION_ON_VALIDATION_MODEL_EVAL);
	actions_call(profiler, ACTION_ON_VALIDATION_START);
	actions_call(profiler, ACTION_STRATEGY_ON_VALIDATION_START);
	actions_call(profiler, ACTION_ON_VALIDATION_EPOCH_START);
}

static void fit_end_evaluation(struct dwell_lightning_profiler *profiler)
{
	actions_call(profiler, ACTION_ON_VALIDATION_EPOCH_END);
	actions_call(profiler, ACTION_ON_VALIDATION_END);
	actions_call(profiler, ACTION_STRATEGY_ON_VALIDATION_END);
}

static int fit_evaluate(struct dwell_ignite_engine *engine, void *user)
{
	struct trainer *trainer = user;
	struct dwell_ignite_data data = { "held-out digits", 0, next_held_out, NULL, trainer };
	int result;

	(void)engine;
	ACTION(trainer->profiler, RUN_EVALUATION);
	held_out_init(&trainer->held_out, &trainer->data.held_out,
				  trainer->options.batch_size / trainer->options.ranks);
	data.length = held_out_batches(&trainer->held_out);
	fit_begin_evaluation(trainer->profiler);
	result = dwell_ignite_engine_run(trainer->evaluator, &data, NULL, NULL);
	fit_end_evaluation(trainer->profiler);
	held_out_reset(&trainer->held_out);
	DWELL_COUNTER("held-out accuracy", dwell_ignite_engine_metric(trainer->evaluator, "accuracy"));
	return result;
}

static int fit_log_results(struct dwell_ignite_engine *engine, void *user)
{
	struct trainer *trainer = user;

	printf("epoch %d: loss %.4f, training accuracy %.2f%%, held-out loss %.4f, accuracy %.2f%%, "
		   "%.1f s\n",
		   (int)dwell_ignite_engine_state(engine)->epoch, dwell_ignite_engine_metric(engine, "loss"),
		   100.0 * dwell_ignite_engine_metric(engine, "accuracy"),
		   dwell_ignite_engine_metric(trainer->evaluator, "loss"),
		   100.0 * dwell_ignite_engine_metric(trainer->evaluator, "accuracy"),
		   now_s() - trainer->epoch_start);
	fflush(stdout);
	return 0;
}

void fit_prepare(struct trainer *trainer)
{
	struct dwell_error error;

	if (dwell_ignite_engine_create(&trainer->trainer, "trainer", train_step, trainer, &error) ||
		dwell_ignite_engine_create(&trainer->evaluator, "evaluator", evaluation_step, trainer, &error) ||
		metrics_attach(&trainer->training_metrics, trainer->trainer, &trainer->training, &error) ||
		metrics_attach(&trainer->held_out_metrics, trainer->evaluator, &trainer->evaluation,
					   &error) ||
		dwell_ignite_engine_on(trainer->trainer, "ITERATION_COMPLETED", fit_log_loss, trainer, &error))
		die("%s", error.message);
	if (ranks_own(trainer->ranks))
		return; /* rank 0 evaluates and prints; the other ranks wait for it in their next step */
	if (dwell_ignite_engine_on(trainer->trainer, "EPOCH_STARTED", fit_begin_epoch, trainer, &error) ||
		/* --max-steps may end the run inside an epoch. */
		dwell_ignite_engine_on(trainer->trainer, "EPOCH_COMPLETED | TERMINATE", fit_evaluate, trainer,
						&error) ||
		dwell_ignite_engine_on(trainer->trainer, "EPOCH_COMPLETED | TERMINATE", fit_log_results, trainer,
						&error) ||
		dwell_ignite_engine_on(trainer->trainer, "EPOCH_COMPLETED | TERMINATE", fit_end_epoch, trainer,
						&error))
		die("%s", error.message);
}

/* Prints the times of the loop's events and handlers in PyTorch-Ignite's format. */
static void fit_print_times(const struct trainer *trainer, struct dwell_ignite_profiler *profiler)
{
	dwell_ignite_engine_print_state(trainer->trainer, stdout);
	dwell_ignite_basic_results_print(dwell_ignite_profiler_basic(profiler, NULL), stdout);
	dwell_ignite_handlers_results_print(dwell_ignite_profiler_handlers(profiler, NULL), stdout);
}

void fit_run(struct trainer *trainer)
{
	uint64_t batches = (uint64_t)loader_batches_per_epoch(trainer->loader);
	struct dwell_ignite_data data = { "loader", batches, next_batch, NULL, trainer };
	struct dwell_ignite_limits limits = DWELL_IGNITE_LIMITS_INIT;
	struct dwell_ignite_profiler *profiler = NULL;
	struct dwell_error error;

	if (trainer->options.max_steps)
		limits.max_iters = (uint64_t)trainer->step_limit;
	else
		limits.max_epochs = (uint64_t)trainer->options.epochs;
	if (trainer->options.times &&
		dwell_ignite_profiler_attach(&profiler, trainer->trainer, false, &error))
		die("%s", error.message);
	actions_call(trainer->profiler, ACTION_ON_FIT_START);
	actions_call(trainer->profiler, ACTION_ON_TRAIN_START);
	actions_call(trainer->profiler, ACTION_STRATEGY_ON_TRAIN_START);
	if (dwell_ignite_engine_run(trainer->trainer, &data, &limits, &error))
		die("%s", error.message);
	actions_call(trainer->profiler, ACTION_ON_TRAIN_END);
	actions_call(trainer->profiler, ACTION_STRATEGY_ON_TRAIN_END);
	actions_call(trainer->profiler, ACTION_ON_FIT_END);
	actions_call(trainer->profiler, ACTION_TEARDOWN);
	batch_reset(&trainer->batch);
	if (profiler)
		fit_print_times(trainer, profiler);
	dwell_ignite_profiler_destroy(profiler);
}
