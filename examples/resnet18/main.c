/*
 * main.c - trains ResNet-18 on digits: reads the options, prepares data, network and optimizer,
 * trains (fit.c), and writes the requested files.
 */
#include <stdio.h>
#include <stdlib.h>

#include <dwell/probe.h>

#include "profile.h"
#include "tensorfile.h"
#include "timing.h"
#include "trainer.h"

static void main_prepare_networks(struct trainer *trainer)
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

static void main_prepare_optimizer(struct trainer *trainer)
{
	ACTION(trainer->profiler, CONFIGURE_OPTIMIZERS);
	optimizer_append(&trainer->options.optimizer, &trainer->training.graph);
	graph_finish(&trainer->training.graph);
}

static void main_prepare_data(struct trainer *trainer)
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

static void main_print_start(const struct trainer *trainer)
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

static void main_finish_dump(struct trainer *trainer)
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

static void main_release(struct trainer *trainer)
{
	device_reset(&trainer->device);
	dwell_ignite_engine_destroy(trainer->trainer);
	dwell_ignite_engine_destroy(trainer->evaluator);
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
static void main_start_ranks(struct trainer *trainer)
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
	main_start_ranks(&trainer);
	tensor_memory_keep_freed();
	trainer.profiler = actions_create(trainer.options.profiler, trainer.options.old_names);
	actions_call(trainer.profiler, ACTION_CONFIGURE_CALLBACKS);
	actions_begin_fit(trainer.profiler);
	dnn_init(&trainer.dnn, trainer.options.threads);
	if (trainer.options.dump)
		trainer.dump = tensorfile_create(trainer.options.dump);
	main_prepare_data(&trainer);
	main_prepare_networks(&trainer);
	main_prepare_optimizer(&trainer);
	fit_prepare(&trainer);
	profile_run_metadata(&trainer.options, trainer.data.folder);
	if (ranks_own(trainer.ranks) == 0)
		main_print_start(&trainer);
	fit_run(&trainer);
	actions_end_fit(trainer.profiler);
	if (ranks_own(trainer.ranks) == 0)
		printf("%d steps in %.1f s; tensors took %.0f MB at their peak\n", trainer.steps,
		   now_s() - start, (double)tensor_memory_usage().peak_bytes / 1e6);
	main_finish_dump(&trainer);
	if (trainer.options.save_weights)
		tensorfile_save_params(trainer.options.save_weights, &trainer.params);
	rank = ranks_own(trainer.ranks);
	ranks_finish(trainer.ranks);
	main_release(&trainer);
	if (rank == 0)
		timing_print();
	return 0;
}
