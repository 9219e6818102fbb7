/*
 * main.c - trains ResNet-18 on digits: options, the training loop, evaluation
 * and what is printed. One step is the four parts that a profiler divides it
 * into: data, forward, backward, optimizer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <dwell/probe.h>

#include "loader.h"
#include "net.h"
#include "optim.h"
#include "options.h"
#include "profile.h"
#include "tensorfile.h"

struct trainer {
	struct options options;
	struct dnn dnn;
	struct data_set data;
	struct params params;
	struct net training, evaluation;
	struct loader *loader;
	float *losses; /* of every step so far */
	int steps, step_limit;
	FILE *dump; /* NULL without --dump */
};

struct epoch_sums {
	double loss;
	int correct, images, steps;
};

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void bind_batch(struct net *net, const struct batch *batch)
{
	tensor_bind(net->images, batch->images);
	tensor_bind(net->labels, batch->labels);
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

static void train_step(struct trainer *trainer, struct epoch_sums *sums)
{
	struct net *net = &trainer->training;
	struct batch batch;

	DWELL_STEP();
	{
		DWELL_SCOPE(DWELL_CATEGORY_DATA, "data");
		loader_take(trainer->loader, &batch);
		bind_batch(net, &batch);
	}
	{
		DWELL_PHASE("forward");
		graph_run(&net->graph, OP_FORWARD);
	}
	count_memory();
	{
		DWELL_PHASE("backward");
		graph_run(&net->graph, OP_BACKWARD);
	}
	count_memory();
	if (trainer->dump && trainer->steps == 0)
		dump_gradients(trainer);
	{
		DWELL_PHASE("optimizer");
		graph_run(&net->graph, OP_OPTIMIZER);
	}
	DWELL_COUNTER("loss", net_loss(net));
	trainer->losses[trainer->steps++] = net_loss(net);
	sums->loss += net_loss(net);
	sums->correct += net_correct(net);
	sums->images += batch.size;
	sums->steps++;
	batch_reset(&batch);
}

/* The share of the held-out images that are recognized. */
static double evaluate(struct trainer *trainer)
{
	const struct digits *digits = &trainer->data.held_out;
	struct net *net = &trainer->evaluation;
	int size = trainer->options.batch_size, correct = 0;
	struct batch batch;

	DWELL_SCOPE(DWELL_CATEGORY_EVALUATION, "evaluation");
	batch_init(&batch, digits, size);
	bind_batch(net, &batch);
	for (int first = 0; first < digits->count; first += size) {
		for (int i = 0; i < size; i++)
			batch_set(&batch, digits, i, first + i < digits->count ? first + i : -1);
		graph_run(&net->graph, OP_FORWARD);
		correct += net_correct(net);
	}
	batch_reset(&batch);
	DWELL_COUNTER("held-out accuracy", (double)correct / digits->count);
	return (double)correct / digits->count;
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

static void train(struct trainer *trainer)
{
	int batches = loader_batches_per_epoch(trainer->loader);

	for (int epoch = 1; trainer->steps < trainer->step_limit; epoch++) {
		struct epoch_sums sums = { 0 };
		double start = now_s(), held_out;

		for (int i = 0; i < batches && trainer->steps < trainer->step_limit; i++)
			train_step(trainer, &sums);
		held_out = evaluate(trainer);
		printf("epoch %d: loss %.4f, training accuracy %.2f%%, held-out accuracy %.2f%%, %.1f s\n",
			   epoch, sums.loss / sums.steps, 100.0 * sums.correct / sums.images, 100.0 * held_out,
			   now_s() - start);
		fflush(stdout);
	}
}

static void prepare_networks(struct trainer *trainer)
{
	const struct options *options = &trainer->options;
	struct net_shape shape = { options->batch_size, trainer->data.train.height,
							   trainer->data.train.width };

	params_init(&trainer->params, &trainer->dnn);
	net_init(&trainer->training, &trainer->dnn, &trainer->params, &shape, true);
	optimizer_append(&options->optimizer, &trainer->training.graph);
	graph_finish(&trainer->training.graph);
	net_init(&trainer->evaluation, &trainer->dnn, &trainer->params, &shape, false);
	graph_finish(&trainer->evaluation.graph);
	params_fill(&trainer->params, options->seed);
	if (options->load_weights)
		tensorfile_load_params(options->load_weights, &trainer->params);
}

static void prepare_loader(struct trainer *trainer)
{
	const struct options *options = &trainer->options;
	long long steps;

	trainer->loader = loader_create(&trainer->data.train,
									&(struct loader_settings){ .batch_size = options->batch_size,
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
	loader_destroy(trainer->loader);
	net_reset(&trainer->evaluation);
	net_reset(&trainer->training);
	params_reset(&trainer->params);
	data_reset(&trainer->data);
	dnn_reset(&trainer->dnn);
	free(trainer->losses);
}

int main(int argc, char **argv)
{
	static struct trainer trainer; /* too large for a stack */
	double start = now_s();

	options_parse(&trainer.options, argc, argv);
	tensor_memory_keep_freed();
	data_load(&trainer.data, trainer.options.data_folder);
	dnn_init(&trainer.dnn, trainer.options.threads);
	if (trainer.options.dump)
		trainer.dump = tensorfile_create(trainer.options.dump);
	prepare_loader(&trainer);
	prepare_networks(&trainer);
	profile_run_facts(&trainer.options, trainer.data.folder);
	print_start(&trainer);
	train(&trainer);
	printf("%d steps in %.1f s; tensors took %.0f MB at their peak\n", trainer.steps,
		   now_s() - start, (double)tensor_memory_usage().peak_bytes / 1e6);
	finish_dump(&trainer);
	if (trainer.options.save_weights)
		tensorfile_save_params(trainer.options.save_weights, &trainer.params);
	release(&trainer);
	return 0;
}
