/*
 * main.c - trains ResNet-18 on digits: a trainer and an evaluator (loops with
 * events and handlers, see dwell/engine.h), what their handlers print, and the
 * parts of a step that a profiler divides it into: the trainer's fetch, then
 * forward, backward, optimizer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dwell/engine.h>
#include <dwell/probe.h>

#include "actions.h"
#include "device.h"
#include "loader.h"
#include "metrics.h"
#include "net.h"
#include "optim.h"
#include "options.h"
#include "profile.h"
#include "ranks.h"
#include "tensorfile.h"
#include "timing.h"

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

	struct dwell_actions *profiler; /* NULL without --profiler */
	struct dwell_engine *trainer, *evaluator;
	struct batch batch;      /* the trainer's */
	struct held_out held_out; /* the evaluator's data */
	struct metrics training_metrics, held_out_metrics;
	double epoch_start;
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The network takes the batch's memory for its own: there is no device to transfer to. */
static void bind_batch(struct trainer *trainer, struct net *net, const struct batch *batch)
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

static void dump_gradients(struct trainer *trainer)
{
	for (int i = 0; i < trainer->params.count; i++)
		if (trainer->params.items[i].trained)
			tensorfile_put(trainer->dump, trainer->options.dump, "grad.", &trainer->dnn,
						   &trainer->params.items[i].gradient);
}

static void count_memory(void)
{
	DWELL_COUNTER_UNIT("tensor memory", "bytes", (double)tensor_memory_usage().live_bytes);
}

/* ---- the trainer --------------------------------------------------------- */

static int next_batch(void *user, void **batch)
{
	struct trainer *trainer = user;

	{
		ACTION(trainer->profiler, TRAIN_NEXT);
		batch_reset(&trainer->batch);
		loader_take(trainer->loader, &trainer->batch);
	}
	bind_batch(trainer, &trainer->training, &trainer->batch);
	*batch = &trainer->batch;
	return 1;
}

/* The closure that Lightning's optimizer_step runs: the gradients of a batch. */
static void forward_backward(struct trainer *trainer)
{
	struct net *net = &trainer->training;

	{
		ACTION(trainer->profiler, TRAINING_STEP);
		DWELL_PHASE("forward");
		device_execute(&trainer->device, &net->graph, OP_FORWARD);
	}
	count_memory();
	actions_call(trainer->profiler, ACTION_ON_BEFORE_ZERO_GRAD);
	actions_call(trainer->profiler, ACTION_OPTIMIZER_ZERO_GRAD); /* each backward writes anew */
	{
		ACTION(trainer->profiler, BACKWARD);
		actions_call(trainer->profiler, ACTION_ON_BEFORE_BACKWARD);
		{
			DWELL_PHASE("backward");
			device_execute(&trainer->device, &net->graph, OP_BACKWARD);
		}
		actions_call(trainer->profiler, ACTION_ON_AFTER_BACKWARD);
	}
	count_memory();
	if (trainer->dump && trainer->steps == 0)
		dump_gradients(trainer);
}

/* What an iteration would run, recorded. */
static void buffer_iteration(struct trainer *trainer)
{
	trainer->device.buffering = true;
	for (int phase = 0; phase < OP_PHASE_COUNT; phase++)
		device_execute(&trainer->device, &trainer->training.graph, phase);
	trainer->device.buffering = false;
}

static void replay_iteration(struct trainer *trainer)
{
	if (!trainer->device.count)
		buffer_iteration(trainer);
	device_run_graph(&trainer->device);
	if (trainer->dump && trainer->steps == 0)
		dump_gradients(trainer);
	count_memory();
}

static void run_training_batch(struct trainer *trainer)
{
	ACTION(trainer->profiler, RUN_TRAINING_BATCH);
	ACTION(trainer->profiler, OPTIMIZER_STEP);
	if (trainer->options.graph) {
		replay_iteration(trainer);
		return;
	}
	forward_backward(trainer);
	actions_call(trainer->profiler, ACTION_ON_BEFORE_OPTIMIZER_STEP);
	actions_call(trainer->profiler, ACTION_CONFIGURE_GRADIENT_CLIPPING);
	DWELL_PHASE("optimizer");
	device_execute(&trainer->device, &trainer->training.graph, OP_OPTIMIZER);
}

static int train_step(struct dwell_engine *engine, void *batch, void *user)
{
	struct trainer *trainer = user;
	struct net *net = &trainer->training;

	(void)batch;
	actions_call(trainer->profiler, ACTION_ON_TRAIN_BATCH_START);
	actions_call(trainer->profiler, ACTION_STRATEGY_ON_TRAIN_BATCH_START);
	run_training_batch(trainer);
	actions_call(trainer->profiler, ACTION_ON_TRAIN_BATCH_END);
	trainer->losses[trainer->steps++] = net_loss(net);
	dwell_engine_state(engine)->output = net_loss(net);
	return 0;
}

/* ---- the evaluator ------------------------------------------------------- */

static int next_held_out(void *user, void **batch)
{
	struct trainer *trainer = user;
	int result;

	{
		ACTION(trainer->profiler, VALIDATION_NEXT);
		result = held_out_next(&trainer->held_out, batch);
	}
	if (result > 0)
		bind_batch(trainer, &trainer->evaluation, *batch);
	return result;
}

static int evaluation_step(struct dwell_engine *engine, void *batch, void *user)
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
	dwell_engine_state(engine)->output = net_loss(net);
	return 0;
}

/* ---- handlers ------------------------------------------------------------ */

static int log_loss(struct dwell_engine *engine, void *user)
{
	(void)user;
	DWELL_COUNTER("loss", dwell_engine_state(engine)->output);
	return 0;
}

static int begin_epoch(struct dwell_engine *engine, void *user)
{
	struct trainer *trainer = user;

	(void)engine;
	trainer->epoch_start = now_s();
	actions_call(trainer->profiler, ACTION_ON_TRAIN_EPOCH_START);
	actions_start(trainer->profiler, ACTION_RUN_TRAINING_EPOCH);
	return 0;
}

static int end_epoch(struct dwell_engine *engine, void *user)
{
	struct trainer *trainer = user;

	(void)engine;
	actions_stop(trainer->profiler, ACTION_RUN_TRAINING_EPOCH);
	actions_call(trainer->profiler, ACTION_ON_TRAIN_EPOCH_END);
	return 0;
}

/* The hooks before and after the held-out digits. */
static void begin_evaluation(struct dwell_actions *profiler)
{
	actions_call(profiler, ACTION_ON_VALIDATION_MODEL_ZERO_GRAD);
	actions_call(profiler, ACTION_ON_VALIDATION_MODEL_EVAL);
	actions_call(profiler, ACTION_ON_VALIDATION_START);
	actions_call(profiler, ACTION_STRATEGY_ON_VALIDATION_START);
	actions_call(profiler, ACTION_ON_VALIDATION_EPOCH_START);
}

static void end_evaluation(struct dwell_actions *profiler)
{
	actions_call(profiler, ACTION_ON_VALIDATION_EPOCH_END);
	actions_call(profiler, ACTION_ON_VALIDATION_END);
	actions_call(profiler, ACTION_STRATEGY_ON_VALIDATION_END);
}

static int evaluate(struct dwell_engine *engine, void *user)
{
	struct trainer *trainer = user;
	struct dwell_data data = { "held-out digits", 0, next_held_out, NULL, trainer };
	int result;

	(void)engine;
	ACTION(trainer->profiler, RUN_EVALUATION);
	held_out_init(&trainer->held_out, &trainer->data.held_out,
				  trainer->options.batch_size / trainer->options.ranks);
	data.length = held_out_batches(&trainer->held_out);
	begin_evaluation(trainer->profiler);
	result = dwell_engine_run(trainer->evaluator, &data, NULL, NULL);
	end_evaluation(trainer->profiler);
	held_out_reset(&trainer->held_out);
	DWELL_COUNTER("held-out accuracy", dwell_engine_metric(trainer->evaluator, "accuracy"));
	return result;
}

static int log_results(struct dwell_engine *engine, void *user)
{
	struct trainer *trainer = user;

	printf("epoch %d: loss %.4f, training accuracy %.2f%%, held-out loss %.4f, accuracy %.2f%%, "
		   "%.1f s\n",
		   (int)dwell_engine_state(engine)->epoch, dwell_engine_metric(engine, "loss"),
		   100.0 * dwell_engine_metric(engine, "accuracy"),
		   dwell_engine_metric(trainer->evaluator, "loss"),
		   100.0 * dwell_engine_metric(trainer->evaluator, "accuracy"),
		   now_s() - trainer->epoch_start);
	fflush(stdout);
	return 0;
}

static void prepare_engines(struct trainer *trainer)
{
	struct dwell_error error;

	if (dwell_engine_create(&trainer->trainer, "trainer", train_step, trainer, &error) ||
		dwell_engine_create(&trainer->evaluator, "evaluator", evaluation_step, trainer, &error) ||
		metrics_attach(&trainer->training_metrics, trainer->trainer, &trainer->training, &error) ||
		metrics_attach(&trainer->held_out_metrics, trainer->evaluator, &trainer->evaluation,
					   &error) ||
		dwell_engine_on(trainer->trainer, "ITERATION_COMPLETED", log_loss, trainer, &error))
		die("%s", error.message);
	if (ranks_own(trainer->ranks))
		return; /* rank 0 evaluates and prints, the others wait for it in their next step */
	if (dwell_engine_on(trainer->trainer, "EPOCH_STARTED", begin_epoch, trainer, &error) ||
		/* --max-steps may end the run within an epoch. */
		dwell_engine_on(trainer->trainer, "EPOCH_COMPLETED | TERMINATE", evaluate, trainer,
						&error) ||
		dwell_engine_on(trainer->trainer, "EPOCH_COMPLETED | TERMINATE", log_results, trainer,
						&error) ||
		dwell_engine_on(trainer->trainer, "EPOCH_COMPLETED | TERMINATE", end_epoch, trainer,
						&error))
		die("%s", error.message);
}

static void print_start(const struct trainer *trainer)
{
	const struct options *options = &trainer->options;
	const struct digits *train = &trainer->data.train;

	printf("ResNet-18, %d training and %d held-out digits of %dx%d from %s\n", train->count,
		   trainer->data.held_out.count, train->height, train->width, trainer->data.folder);
	printf("%d epochs of %d steps, batch %d, %s (learning rate %g, momentum %g), seed %llu, "
		   "%d threads\n",
		   options->epochs, loader_batches_per_epoch(trainer->loader), options->batch_size,
		   optimizer_name(options->optimizer.kind), (double)options->optimizer.learning_rate,
		   (double)options->optimizer.momentum, (unsigned long long)options->seed,
		   dnn_thread_count());
	fflush(stdout);
}

/* What the loop's events and handlers took, as PyTorch-Ignite prints it. */
static void print_times(const struct trainer *trainer, struct dwell_profiler *profiler)
{
	dwell_engine_print_state(trainer->trainer, stdout);
	dwell_basic_results_print(dwell_profiler_basic(profiler, NULL), stdout);
	dwell_handlers_results_print(dwell_profiler_handlers(profiler, NULL), stdout);
}

static void train(struct trainer *trainer)
{
	uint64_t batches = (uint64_t)loader_batches_per_epoch(trainer->loader);
	struct dwell_data data = { "loader", batches, next_batch, NULL, trainer };
	struct dwell_limits limits = DWELL_LIMITS_INIT;
	struct dwell_profiler *profiler = NULL;
	struct dwell_error error;

	if (trainer->options.max_steps)
		limits.max_iters = (uint64_t)trainer->step_limit;
	else
		limits.max_epochs = (uint64_t)trainer->options.epochs;
	if (trainer->options.times &&
		dwell_profiler_attach(&profiler, trainer->trainer, false, &error))
		die("%s", error.message);
	actions_call(trainer->profiler, ACTION_ON_FIT_START);
	actions_call(trainer->profiler, ACTION_ON_TRAIN_START);
	actions_call(trainer->profiler, ACTION_STRATEGY_ON_TRAIN_START);
	if (dwell_engine_run(trainer->trainer, &data, &limits, &error))
		die("%s", error.message);
	actions_call(trainer->profiler, ACTION_ON_TRAIN_END);
	actions_call(trainer->profiler, ACTION_STRATEGY_ON_TRAIN_END);
	actions_call(trainer->profiler, ACTION_ON_FIT_END);
	actions_call(trainer->profiler, ACTION_TEARDOWN);
	batch_reset(&trainer->batch);
	if (profiler)
		print_times(trainer, profiler);
	dwell_profiler_destroy(profiler);
}

static void prepare_networks(struct trainer *trainer)
{
	const struct options *options = &trainer->options;
	ACTION(trainer->profiler, SETUP);
	struct net_shape shape = { options->batch_size / options->ranks, trainer->data.train.height,
							   trainer->data.train.width,
							   options->sync_norm ? trainer->ranks : NULL, options->frozen_norm };
	struct tensor *scalars[2];

	params_init(&trainer->params, &trainer->dnn);
	net_init(&trainer->training, &trainer->dnn, &trainer->params, &shape, true);
	scalars[0] = trainer->training.loss;
	scalars[1] = trainer->training.correct;
	ranks_append(trainer->ranks, &trainer->training.graph, scalars, 2);
	net_init(&trainer->evaluation, &trainer->dnn, &trainer->params, &shape, false);
	graph_finish(&trainer->evaluation.graph);
	params_fill(&trainer->params, options->seed);
	if (options->load_weights)
		tensorfile_load_params(options->load_weights, &trainer->params);
}

static void prepare_optimizer(struct trainer *trainer)
{
	ACTION(trainer->profiler, CONFIGURE_OPTIMIZERS);
	optimizer_append(&trainer->options.optimizer, &trainer->training.graph);
	graph_finish(&trainer->training.graph);
}

static void prepare_data(struct trainer *trainer)
{
	const struct options *options = &trainer->options;
	long long steps;

	ACTION(trainer->profiler, PREPARE_DATA);
	data_load(&trainer->data, options->data_folder);
	trainer->loader = loader_create(&trainer->data.train,
									&(struct loader_settings){ .batch_size = options->batch_size /
																			 options->ranks,
															   .parts = options->ranks,
															   .part = ranks_own(trainer->ranks),
															   .prefetch = options->prefetch,
															   .delay_ms = options->loader_delay_ms,
															   .shuffle = options->shuffle,
															   .seed = options->seed });
	steps = (long long)options->epochs * loader_batches_per_epoch(trainer->loader);
	if (options->max_steps && steps > options->max_steps)
		steps = options->max_steps;
	if (steps > 100000000)
		die("%lld steps are too many: lower --epochs or set --max-steps", steps);
	trainer->step_limit = (int)steps;
	trainer->losses = calloc((size_t)steps, sizeof *trainer->losses);
	if (!trainer->losses)
		die("no memory for the losses of %lld steps", steps);
}

static void finish_dump(struct trainer *trainer)
{
	const char *path = trainer->options.dump;

	DWELL_SCOPE(DWELL_CATEGORY_CHECKPOINT, "dump");
	if (!trainer->dump)
		return;
	tensorfile_put_values(trainer->dump, path, "losses", trainer->losses, trainer->steps);
	for (int i = 0; i < trainer->params.count; i++)
		tensorfile_put(trainer->dump, path, "", &trainer->dnn, &trainer->params.items[i].value);
	tensorfile_close(trainer->dump, path);
}

static void release(struct trainer *trainer)
{
	device_reset(&trainer->device);
	dwell_engine_destroy(trainer->trainer);
	dwell_engine_destroy(trainer->evaluator);
	loader_destroy(trainer->loader);
	net_reset(&trainer->evaluation);
	net_reset(&trainer->training);
	params_reset(&trainer->params);
	data_reset(&trainer->data);
	dnn_reset(&trainer->dnn);
	free(trainer->losses);
}

/* A session for the time profiling begins before the ranks part, so that they share it;
 * the verbosity is a process's own. */
static void start_ranks(struct trainer *trainer)
{
	struct options *options = &trainer->options;

	if (options->ranks > 1)
		dwell_rank(0, 0, options->ranks);
	timing_begin(options);
	if (options->ranks > 1 || options->sync_norm)
		trainer->ranks = ranks_start(options->ranks);
	timing_begin(options);
	if (options->ranks > 1 && !options->threads)
		options->threads = dnn_thread_count() / options->ranks + (dnn_thread_count() < options->ranks);
	if (ranks_own(trainer->ranks)) {
		options->dump = options->save_weights = options->profiler = NULL;
		options->times = false;
	}
}

int main(int argc, char **argv)
{
	static struct trainer trainer; /* too large for a stack */
	double start = now_s();
	int rank;

	options_parse(&trainer.options, argc, argv);
	start_ranks(&trainer);
	tensor_memory_keep_freed();
	trainer.profiler = actions_create(trainer.options.profiler, trainer.options.old_names);
	actions_call(trainer.profiler, ACTION_CONFIGURE_CALLBACKS);
	actions_begin_fit(trainer.profiler);
	dnn_init(&trainer.dnn, trainer.options.threads);
	if (trainer.options.dump)
		trainer.dump = tensorfile_create(trainer.options.dump);
	prepare_data(&trainer);
	prepare_networks(&trainer);
	prepare_optimizer(&trainer);
	prepare_engines(&trainer);
	profile_run_facts(&trainer.options, trainer.data.folder);
	if (ranks_own(trainer.ranks) == 0)
		print_start(&trainer);
	train(&trainer);
	actions_end_fit(trainer.profiler);
	if (ranks_own(trainer.ranks) == 0)
		printf("%d steps in %.1f s; tensors took %.0f MB at their peak\n", trainer.steps,
		   now_s() - start, (double)tensor_memory_usage().peak_bytes / 1e6);
	finish_dump(&trainer);
	if (trainer.options.save_weights)
		tensorfile_save_params(trainer.options.save_weights, &trainer.params);
	rank = ranks_own(trainer.ranks);
	ranks_finish(trainer.ranks);
	release(&trainer);
	if (rank == 0)
		timing_print();
	return 0;
}
