/*
 * step.c - a training step and an evaluation step: gets a batch and computes with it, divided into
 * the parts that a profiler shows: data, forward, backward, optimizer. Lightning's hooks are called
 * in the same places as in Lightning.
 */
#include <dwell/compat/ignite.h>
#include <dwell/probe.h>

#include "tensorfile.h"
#include "trainer.h"

/* The network uses the batch's memory directly: there is no device to which it would be copied. */
static void step_bind_batch(struct trainer *trainer, struct net *net, const struct batch *batch)
{
	actions_call(trainer->profiler, ACTION_ON_BEFORE_BATCH_TRANSFER);
	ACTION(trainer->profiler, BATCH_TO_DEVICE);
	{
		ACTION(trainer->profiler, TRANSFER_BATCH_TO_DEVICE);
		tensor_bind(net->images, batch->images);
		tensor_bind(net->labels, batch->labels);
	}
	actions_call(trainer->profiler, ACTION_ON_AFTER_BATCH_TRANSFER);
}

static void step_dump_gradients(struct trainer *trainer)
{
	for (int i = 0; i < trainer->params.count; i++)
		if (trainer->params.items[i].trained)
			tensorfile_put(trainer->dump, trainer->options.dump, "grad.", &trainer->dnn,
						   &trainer->params.items[i].gradient);
}

static void step_count_memory(void)
{
	DWELL_COUNTER_UNIT("tensor memory", "bytes", (double)tensor_memory_usage().live_bytes);
}

/* ---- the trainer --------------------------------------------------------- */

int next_batch(void *user, void **batch)
{
	struct trainer *trainer = user;

	{
		ACTION(trainer->profiler, TRAIN_NEXT);
		batch_reset(&trainer->batch);
		loader_take(trainer->loader, &trainer->batch);
	}
	step_bind_batch(trainer, &trainer->training, &trainer->batch);
	*batch = &trainer->batch;
	return 1;
}

/* The closure that Lightning's optimizer_step calls: computes the gradients of a batch. */
static void step_forward_backward(struct trainer *trainer)
{
	struct net *net = &trainer->training;

	{
		ACTION(trainer->profiler, TRAINING_STEP);
		DWELL_PHASE("forward");
		device_execute(&trainer->device, &net->graph, OP_FORWARD);
	}
	step_count_memory();
	actions_call(trainer->profiler, ACTION_ON_BEFORE_ZERO_GRAD);
	actions_call(trainer->profiler, ACTION_OPTIMIZER_ZERO_GRAD); /* nothing to clear: each backward
	                                                              * pass overwrites them */
	{
		ACTION(trainer->profiler, BACKWARD);
		actions_call(trainer->profiler, ACTION_ON_BEFORE_BACKWARD);
		{
			DWELL_PHASE("backward");
			device_execute(&trainer->device, &net->graph, OP_BACKWARD);
		}
		actions_call(trainer->profiler, ACTION_ON_AFTER_BACKWARD);
	}
	step_count_memory();
	if (trainer->dump && trainer->steps == 0)
		step_dump_gradients(trainer);
}

/* Records the operations that an iteration would run. */
static void step_buffer_iteration(struct trainer *trainer)
{
	trainer->device.buffering = true;
	for (int phase = 0; phase < OP_PHASE_COUNT; phase++)
		device_execute(&trainer->device, &trainer->training.graph, phase);
	trainer->device.buffering = false;
}

static void step_replay_iteration(struct trainer *trainer)
{
	if (!trainer->device.count)
		step_buffer_iteration(trainer);
	device_run_graph(&trainer->device);
	if (trainer->dump && trainer->steps == 0)
		step_dump_gradients(trainer);
	step_count_memory();
}

static void step_run_training_batch(struct trainer *trainer)
{
	ACTION(trainer->profiler, RUN_TRAINING_BATCH);
	ACTION(trainer->profiler, OPTIMIZER_STEP);
	if (trainer->options.graph) {
		step_replay_iteration(trainer);
		return;
	}
	step_forward_backward(trainer);
	actions_call(trainer->profiler, ACTION_ON_BEFORE_OPTIMIZER_STEP);
	actions_call(trainer->profiler, ACTION_CONFIGURE_GRADIENT_CLIPPING);
	DWELL_PHASE("optimizer");
	device_execute(&trainer->device, &trainer->training.graph, OP_OPTIMIZER);
}

int train_step(struct dwell_ignite_engine *engine, void *batch, void *user)
{
	struct trainer *trainer = user;
	struct net *net = &trainer->training;

	(void)batch;
	actions_call(trainer->profiler, ACTION_ON_TRAIN_BATCH_START);
	actions_call(trainer->profiler, ACTION_STRATEGY_ON_TRAIN_BATCH_START);
	step_run_training_batch(trainer);
	actions_call(trainer->profiler, ACTION_ON_TRAIN_BATCH_END);
	trainer->losses[trainer->steps++] = net_loss(net);
	dwell_ignite_engine_state(engine)->output = net_loss(net);
	return 0;
}

/* ---- the evaluator ------------------------------------------------------- */

int next_held_out(void *user, void **batch)
{
	struct trainer *trainer = user;
	int result;

	{
		ACTION(trainer->profiler, VALIDATION_NEXT);
		result = held_out_next(&trainer->held_out, batch);
	}
	if (result > 0)
		step_bind_batch(trainer, &trainer->evaluation, *batch);
	return result;
}

int evaluation_step(struct dwell_ignite_engine *engine, void *batch, void *user)
{
	struct trainer *trainer = user;
	struct net *net = &trainer->evaluation;

	(void)batch;
	actions_call(trainer->profiler, ACTION_ON_VALIDATION_BATCH_START);
	{
		ACTION(trainer->profiler, VALIDATION_STEP);
		graph_run(&net->graph, OP_FORWARD);
	}
	actions_call(trainer->profiler, ACTION_ON_VALIDATION_BATCH_END);
	dwell_ignite_engine_state(engine)->output = net_loss(net);
	return 0;
}
