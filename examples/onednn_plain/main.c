/*
 * The ResNet-18 of ../resnet18 without any probe: what dwell shows of a program that uses oneDNN and
 * knows nothing of dwell.
 *
 *     onednn_plain [STEPS]          trains for so many steps (default 20) and prints the last loss
 *     dwell onednn_plain            the same; oneDNN's primitives are the operators
 *
 * Its sources are those of ../resnet18, built with -DDWELL_DISABLE; it does not link dwell. oneDNN
 * announces each primitive through ITT.
 */
#include <stdio.h>
#include <stdlib.h>

#include "data.h"
#include "loader.h"
#include "net.h"
#include "optim.h"

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 20;
	struct optimizer optimizer = { OPTIMIZER_SGD, 0.01f, 0.9f };
	struct net_shape shape = { .batch = 8 };
	struct loader_settings settings = { .batch_size = 8, .parts = 1, .prefetch = 2, .seed = 1 };
	static struct data_set data;
	static struct params params;
	static struct dnn dnn;
	static struct net net;
	struct loader *loader;

	if (argc > 2 || steps < 1) {
		fprintf(stderr, "usage: onednn_plain [STEPS]\n");
		return 2;
	}
	data_load(&data, NULL);
	shape.height = data.train.height;
	shape.width = data.train.width;
	dnn_init(&dnn, 0);
	params_init(&params, &dnn);
	net_init(&net, &dnn, &params, &shape, true);
	optimizer_append(&optimizer, &net.graph);
	graph_finish(&net.graph);
	params_fill(&params, 1);
	loader = loader_create(&data.train, &settings);
	for (int step = 0; step < steps; step++) {
		struct batch batch = { 0 };

		loader_take(loader, &batch);
		tensor_bind(net.images, batch.images);
		tensor_bind(net.labels, batch.labels);
		graph_run(&net.graph, OP_FORWARD);
		graph_run(&net.graph, OP_BACKWARD);
		graph_run(&net.graph, OP_OPTIMIZER);
		batch_reset(&batch);
	}
	printf("loss after %d steps: %.4f\n", steps, (double)net_loss(&net));
	loader_destroy(loader);
	net_reset(&net);
	params_reset(&params);
	data_reset(&data);
	dnn_reset(&dnn);
	return 0;
}
